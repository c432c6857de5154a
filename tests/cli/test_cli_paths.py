"""Paths that people write: `~` of somebody who is not there is one line, wherever a path may stand."""

from __future__ import annotations

import pytest

from golem_cli.cli.exporting import export
from golem_cli.core.conversation import Conversation
from golem_cli.core.errors import ConfigurationError
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


def test_nothing_is_exported_to_the_home_of_nobody() -> None:
    with pytest.raises(ConfigurationError, match="nobody of that name"):
        export(f"{NOBODY}.md", Conversation())
