"""What golem has imported when its first prompt shows; benchmarks/startup.py measures how long that takes."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from golem_cli.cli.preload import NEEDED
from golem_cli.providers.local import weights_path
from tests.support.terminal import Terminal

# Stands in for what comes after the first prompt: writes the names of the modules that are there, and ends.
PROBE = """
import os, sys
import golem_cli.cli.preload, golem_cli.cli.start_chat

def report():
    with open(sys.argv.pop(), "w") as file:
        file.write("\\n".join(sys.modules))
    os._exit(0)

golem_cli.cli.preload.preload = report
golem_cli.cli.start_chat.warm_up = lambda model: None
from golem_cli.cli.process import run_in_this_process
run_in_this_process([])
"""
NOBODY = "http://127.0.0.1:9/v1"
LATER = {"typer", "rich", "pygments", "markdown_it", "httpx", "filelock", "tomllib", "difflib"}
OURS_LATER = {"core.run", "core.codec", "core.history", "chat.turn", "chat.request", "render.answer"}


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


def test_no_large_library_is_there_when_a_provider_s_first_prompt_shows(tmp_path: Path) -> None:
    """Rich, httpx, Typer and what they bring are imported while the person types."""
    modules = modules_at_the_first_prompt(tmp_path, {"OPENAI_API_KEY": "k"})
    assert "prompt_toolkit" in modules
    assert not modules & LATER


def test_the_embedded_model_s_first_prompt_shows_before_anything_of_a_run_is_there(
    tmp_path: Path, weights_cache: Path
) -> None:
    """Neither the run loop, the codec nor the history passes, nor any adapter."""
    pytest.importorskip("xllamacpp")
    if not weights_path(weights_cache).is_file():
        pytest.skip("the weights are not there: golem models fetch")
    modules = modules_at_the_first_prompt(tmp_path, {})
    later = {f"golem_cli.{name}" for name in (*OURS_LATER, "providers.openai", "providers.local.engine")}
    assert "golem_cli.providers.local.model" in modules
    assert not modules & (LATER | later)


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
