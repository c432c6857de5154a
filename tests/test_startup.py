"""What golem has imported when its first prompt shows; benchmarks/startup.py measures how long that takes."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from golem_cli.cli.preload import NEEDED
from golem_cli.providers.local import weights_path
from tests.support.terminal import Terminal

# Stands in for what opens behind the first prompt: writes the names of the modules that are there, and ends.
PROBE = """
import os, sys

def report(*_):
    with open(sys.argv.pop(), "w") as file:
        file.write("\\n".join(sys.modules))
    os._exit(0)

from golem_cli.repl.chat import Chat
Chat._open_room = report
from golem_cli.cli.process import run_in_this_process
run_in_this_process([])
"""
NOBODY = "http://127.0.0.1:9/v1"
LATER = {"typer", "rich", "pygments", "markdown_it", "httpx", "filelock", "tomllib", "difflib"}
LATER |= {"msgspec", "uuid_utils"}
OURS_LATER = {"core.message", "core.run", "core.codec", "core.history", "chat.session", "store.store"}
OURS_LATER |= {"render.answer", "repl.command_table", "providers.openai", "providers.local.engine"}


def modules_at_the_first_prompt(folder: Path, variables: dict[str, str]) -> set[str]:
    report = folder / "modules"
    alone = {
        "OLLAMA_BASE_URL": NOBODY,
        "LMSTUDIO_BASE_URL": NOBODY,
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }
    with Terminal(sys.executable, "-c", PROBE, report, variables={**alone, **variables}) as terminal:
        assert terminal.wait_end() == 0, terminal.text
        assert "›" in terminal.text  # noqa: RUF001 (the prompt's sign)
    return set(report.read_text(encoding="utf-8").split("\n"))


def ours_later() -> set[str]:
    return {f"golem_cli.{name}" for name in OURS_LATER}


def test_no_large_library_is_there_when_a_provider_s_first_prompt_shows(tmp_path: Path) -> None:
    """Rich, httpx, Typer and what they bring are imported while the person types, and so is the adapter."""
    modules = modules_at_the_first_prompt(tmp_path, {"OPENAI_API_KEY": "k"})
    assert "prompt_toolkit" in modules
    assert not modules & (LATER | ours_later())


def test_the_embedded_model_s_first_prompt_shows_before_anything_of_a_run_is_there(
    tmp_path: Path, weights_cache: Path
) -> None:
    """Neither messages, the run loop, the store nor any adapter: the weights are there, and that is known."""
    pytest.importorskip("xllamacpp")
    if not weights_path(weights_cache).is_file():
        pytest.skip("the weights are not there: golem models fetch")
    modules = modules_at_the_first_prompt(tmp_path, {})
    assert "golem_cli.providers.local.weights" in modules
    assert not modules & (LATER | ours_later())


@pytest.mark.parametrize("name", NEEDED)
def test_what_is_preloaded_exists(name: str) -> None:
    """A name that cannot be imported would be passed over in silence."""
    assert import_module(name).__name__ == name


def test_a_file_that_is_no_model_is_refused_before_the_chat_opens(tmp_path: Path) -> None:
    """One line and exit code 2, though models load only after the first prompt."""
    missing = tmp_path / "no.gguf"
    with Terminal(sys.executable, "-m", "golem_cli", "-m", f"local:{missing}", columns=200) as terminal:
        assert terminal.wait_end() == 2
        assert "there is no such file" in terminal.text
        assert "›" not in terminal.text  # noqa: RUF001 (the prompt's sign)
