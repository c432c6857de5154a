"""Paths that people write: `~` of somebody who is not there is one line, wherever a path may stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from golem_cli.core.errors import ConfigurationError
from golem_cli.store.paths import user_path
from tests.support.golem_runs import golem

NOBODY = "~nobody-of-that-name/x"


@pytest.mark.parametrize(
    "arguments", [["ask", "-m", f"local:{NOBODY}.gguf", "hi"], ["ask", "-m", "local:", "-f", NOBODY, "hi"]]
)
def test_the_home_of_nobody_is_named(arguments: list[str]) -> None:
    done = golem(*arguments)
    assert "nobody of that name has a home folder" in done.error_line
    assert done.code == 2


def test_the_home_of_nobody_as_golems_own_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLEM_HOME", NOBODY)
    done = golem("list")
    assert "nobody of that name has a home folder" in done.error_line
    assert done.code == 2


def test_what_a_person_writes_has_its_home_filled_in_or_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert user_path("~/notes.md") == tmp_path / "notes.md"
    with pytest.raises(ConfigurationError, match="nobody of that name"):
        user_path(f"{NOBODY}.md")
