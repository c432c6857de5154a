"""The chat with the embedded model: real answers, and a real death in the middle of one."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from golem_cli.providers.local import have_weights
from golem_cli.store.store import Store
from tests.support.golem_runs import GOLEM
from tests.support.terminal import Terminal

SIGN = chr(0x203A)


def at_prompt(terminal: Terminal) -> None:
    terminal.wait_until(lambda: terminal.rows[terminal.cursor_row] == SIGN and bool(terminal.rows[-1]))


@pytest.fixture(autouse=True)
def short_answers(home: Path, weights_cache: Path) -> None:
    if not have_weights(weights_cache):
        pytest.skip("the weights are not there; golem models fetch brings them")
    settings = home / "golem" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("max_tokens = 16\n", encoding="utf-8")


def test_two_prompts_get_two_answers(home: Path) -> None:
    with Terminal(GOLEM, "-m", "local:") as terminal:
        at_prompt(terminal)
        assert "demonstration model" in " ".join(terminal.text.split())
        for number, prompt in enumerate(("Name a colour.", "Tell me about the sea."), 1):
            terminal.type(f"{prompt}\r")
            terminal.wait_for_count(" out · ", number)
            at_prompt(terminal)
        terminal.type("\x04")
        assert terminal.wait_end() == 0
    store = Store(home / "golem")
    kept = store.read(store.ids()[0])
    first, second = (message.content for message in kept.messages[1::2])
    assert first
    assert second
    assert first != second
    assert all(run.usage.input_tokens > 0 and run.usage.output_tokens > 0 for run in kept.runs)


def test_kill_9_in_mid_answer_then_resume_goes_on(home: Path) -> None:
    (home / "golem" / "config.toml").write_text("max_tokens = 400\n", encoding="utf-8")
    with Terminal(GOLEM, "-m", "local:") as terminal:
        at_prompt(terminal)
        terminal.type("Tell me a very long story about a dragon.\r")
        terminal.wait_for("── local:smollm2")
        terminal.kill(signal.SIGKILL)
        assert terminal.wait_end() == -signal.SIGKILL
    (home / "golem" / "config.toml").write_text("max_tokens = 16\n", encoding="utf-8")
    with Terminal(GOLEM, "-c") as terminal:
        terminal.wait_for("golem ended before the run did")
        at_prompt(terminal)
        terminal.type("/resume\r")
        terminal.wait_for(" out · ")
        at_prompt(terminal)
        terminal.type("\x04")
        assert terminal.wait_end() == 0
    store = Store(home / "golem")
    kept = store.read(store.ids()[0])
    assert [run.status for run in kept.runs][-1] == "done"
    assert kept.messages[0].content == "Tell me a very long story about a dragon."
