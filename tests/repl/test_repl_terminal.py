"""The chat as a person has it: the real program on a real pseudo-terminal, with a server on loopback."""

from __future__ import annotations

import signal
import termios
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from golem_cli.store.store import Store
from tests.support.chat_replies import answer, dropped, hanging
from tests.support.chat_terminal import PROMPT, at_prompt, chat, kept, say, sent
from tests.support.golem_runs import GOLEM
from tests.support.http_server import HttpServer, Reply
from tests.support.terminal import Terminal


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


def test_seven_stops_alternate_with_finished_answers(server: HttpServer, home: Path) -> None:
    for number in range(7):
        server.reply(hanging(f"begun {number}"), answer(f"finished {number}"))
    with chat(server) as terminal:
        for number in range(7):
            at_prompt(terminal)
            terminal.type(f"stop {number}\r")
            terminal.wait_for(f"begun {number}")
            terminal.type("\x03" if number % 2 else "\x1b")
            terminal.wait_for_count("Stopped in mid-answer", number + 1)
            say(terminal, f"go {number}", f"finished {number}")
        terminal.type("\x04")
        assert terminal.wait_end() == 0
    messages = kept(home)["messages"]
    assert len(messages) == 28
    assert [m["content"] for m in messages[:4]] == ["stop 0", "begun 0", "go 0", "finished 0"]
    assert messages[1]["interrupted"] is True


def test_a_stop_before_the_first_fragment_keeps_the_prompt(server: HttpServer, home: Path) -> None:
    server.reply(Reply(silent=True))
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("anybody?\r")
        terminal.wait_for("Ctrl-C stops")
        terminal.wait_until(lambda: server.requests)
        terminal.type("\x03")
        terminal.wait_for("Stopped before the first word; your prompt is kept.")
        at_prompt(terminal)
        assert "Ctrl-C stops" not in terminal.text, "the sign is taken back"
        terminal.type("\x04")
        terminal.wait_end()
    (run,) = kept(home)["runs"]
    assert (run["status"], run["prompt"]) == ("interrupted", "anybody?")


def test_a_draft_is_cleared_into_history_and_two_ctrl_c_leave(server: HttpServer) -> None:
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("a draft")
        terminal.wait_for("a draft")
        terminal.type("\x03")
        at_prompt(terminal)
        terminal.type("\x1b[A")
        terminal.wait_for("a draft")
        terminal.type("\x04")  # on a line that is not empty it does not leave
        terminal.type("\x03")
        at_prompt(terminal)
        terminal.type("\x03")
        terminal.wait_for("Ctrl-C again leaves")
        terminal.type("\x03")
        assert terminal.wait_end() == 0


def test_a_pasted_block_is_one_message_bracketed_or_not(server: HttpServer) -> None:
    server.reply(answer("one"), answer("two"))
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("\x1b[200~first\rsecond\x1b[201~")
        terminal.wait_for("second")
        terminal.type("\r")
        terminal.wait_for("one")
        at_prompt(terminal)
        assert sent(server) == ["first\nsecond"]
        terminal.type("third\rfourth")
        terminal.wait_for("fourth")
        terminal.type("\r")
        terminal.wait_for("two")
        assert sent(server)[-1] == "third\nfourth"


def test_pasted_escape_codes_show_no_traceback(server: HttpServer) -> None:
    server.reply(answer("fine"))
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("red \x1b[31m text")
        terminal.wait_for("text")
        terminal.type("\r")
        terminal.wait_for("fine")
        assert "Traceback" not in terminal.text
        assert "exception" not in terminal.text


def test_hostile_model_text_reaches_the_terminal_as_marks_only(server: HttpServer) -> None:
    server.reply(answer("\x1b]0;owned\x07\x1b]52;c;eA==\x07\x9b2J [red]x[/red]"))
    with chat(server) as terminal:
        say(terminal, "attack", "\u27e6U+001B\u27e7]0;owned", "[red]x[/red]")
        assert b"]0;owned\x07" not in terminal.raw
        assert b"\x1b]" not in terminal.raw
        assert "\x9b".encode() not in terminal.raw


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        (Reply(status=401, body=b'{"error":{"message":"bad key"}}', framing="length"), "401"),
        (Reply(status=404, body=b'{"error":{"message":"no such model"}}', framing="length"), "404"),
        (dropped("half a wo"), "dropped"),
    ],
)
def test_a_failed_run_is_kept_said_and_asked_again(
    server: HttpServer, home: Path, reply: Reply, shown: str
) -> None:
    server.reply(reply, answer("now it works"))
    with chat(server) as terminal:
        say(terminal, "question", shown, "The run failed")
        say(terminal, "/retry", "now it works")
        assert "Traceback" not in terminal.text
        terminal.type("\x04")
        assert terminal.wait_end() == 0
    conversation = kept(home)
    assert [m["content"] for m in conversation["messages"]] == ["question", "now it works"]
    assert shown in conversation["runs"][0]["error"]


def test_resume_goes_on_from_the_partial_text(server: HttpServer) -> None:
    server.reply(dropped("half a wo"), answer("rd and more"))
    with chat(server) as terminal:
        say(terminal, "question", "/resume goes on from there")
        say(terminal, "/resume", "rd and more")
    assert sent(server) == ["question", "half a wo", "continue"]


def test_every_view_shows_what_a_stopped_answer_left(server: HttpServer, tmp_path: Path) -> None:
    server.reply(answer("the first"), hanging("begun"))
    with chat(server, folder=tmp_path) as terminal:
        say(terminal, "question", "the first")
        terminal.type("second\r")
        terminal.wait_for("begun")
        terminal.type("\x03")
        terminal.wait_for("Stopped in mid-answer")
        at_prompt(terminal)
        terminal.wait_for("2 sent / 4 kept")
        say(terminal, "/history", "3  user       second", "4  assistant  (interrupted) begun")
        say(terminal, "/show", "4 assistant (interrupted)")
        say(terminal, "/copy", "5 characters handed to the terminal")
        say(terminal, "/usage", "2 runs, 2 requests")
        say(terminal, "/export it.md", "Written")
    assert "begun" in (tmp_path / "it.md").read_text(encoding="utf-8")


def test_a_failed_turn_that_a_prompt_went_without_is_seen_beside_the_conversation(
    server: HttpServer, tmp_path: Path
) -> None:
    server.reply(answer("the first"), dropped("half a wo"), answer("the third"))
    with chat(server, folder=tmp_path, rows=50) as terminal:
        say(terminal, "one", "the first")
        say(terminal, "two", "A new prompt goes without it; it stays", "beside the conversation.")
        say(terminal, "three", "the third")
        assert sent(server) == ["one", "the first", "three"]
        say(terminal, "/history", "4  assistant  the third", "What has no number is kept beside")
        start = terminal.rows.index("1  user       one")
        assert terminal.rows[start : start + 6] == [
            "1  user       one",
            "2  assistant  the first",
            "   user       (left out: failed) two",
            "   assistant  (left out: failed) (interrupted) half a wo",
            "3  user       three",
            "4  assistant  the third",
        ]
        say(terminal, "/context", "What 1 turn left stays beside the conversation")
        say(terminal, "/show 3", "3 user", "three")
        say(terminal, "/export it.md", "Written")
        say(terminal, "/export it.html", "Written")
        terminal.type("\x04")
        terminal.wait_end()
    assert "## user (left out: failed)\n\ntwo" in (tmp_path / "it.md").read_text(encoding="utf-8")
    assert "user (left out: failed)" in (tmp_path / "it.html").read_text(encoding="utf-8")


def test_opening_a_conversation_shows_its_last_exchange(server: HttpServer) -> None:
    server.reply(answer("the first"), answer("the **second** answer"))
    with chat(server) as terminal:
        say(terminal, "question one", "the first")
        say(terminal, "question two", "the second answer")
        terminal.type("\x04")
        terminal.wait_for("Kept. golem -r ")
        terminal.wait_end()
    with chat(server, "-c") as terminal:
        terminal.wait_for("3  user       question two", "the second answer")
        at_prompt(terminal)
        assert "the first" not in terminal.text


def test_fork_shows_both_ids_and_parent_goes_back(server: HttpServer, home: Path) -> None:
    server.reply(answer("an answer"))
    with chat(server) as terminal:
        say(terminal, "question", "an answer")
        say(terminal, "/fork", "Forked: you are in", "/parent, or /open")
        store = Store(home / "golem")
        first, second = sorted(store.ids())
        say(terminal, "/parent", f"2 messages · {first}")
        terminal.type("\x04")
        assert terminal.wait_end() == 0
        assert store.read(second).forked_from == first
        assert first in terminal.text
        assert second in terminal.text


def test_undo_offers_the_prompt_for_editing_and_leaves_a_fork(server: HttpServer, home: Path) -> None:
    server.reply(answer("an answer"), answer("another"))
    with chat(server) as terminal:
        say(terminal, "question", "an answer")
        terminal.type("/undo\r")
        terminal.wait_until(lambda: terminal.rows[terminal.cursor_row] == f"{PROMPT} question")
        terminal.type(" two\r")
        terminal.wait_for("another")
        assert sent(server) == ["question two"]
        assert len(Store(home / "golem").ids()) == 2


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("/forkk", "did you mean /fork?"),
        ("/show 9", "there is no message yet"),
        ("/show x", "there is no message yet"),
        ("/open zzz", "there is no conversation 'zzz'; /sessions lists them"),
        ("/fork", "there is nothing to fork yet"),
        ("/undo 1", "there is no message yet"),
        ("/system", "There are no instructions."),
        ("/parent", "not forked"),
        ("/export", "into which file?"),
        ("/export /no-such/x.md", "there is no folder /no-such; make it first"),
        ("/export x.txt", "end the name in .md, .html or .json"),
        ("/model foo", "did you mean openai:foo?"),
        ("/model local:/nowhere.gguf", "no such file"),
        ("/trim x", "no number"),
        ("/trim", "The newest 20 messages are sent."),
        ("/trim 3", "The newest 3 messages are sent."),
        ("/budget 5", "has no token counter"),
        ("/retry", "no prompt yet"),
        ("/resume", "there is nothing to resume yet"),
        ("/rename", "/rename TITLE"),
        ("/copy", "no answer yet"),
        ("/context", "0 of 0 kept messages stay"),
        ("/sessions", "No conversation is kept yet."),
    ],
)
def test_a_command_answers_in_a_line(server: HttpServer, line: str, shown: str) -> None:
    with chat(server, columns=120) as terminal:
        say(terminal, line, shown)
        assert "Traceback" not in terminal.text
        assert "internal error" not in terminal.text


def test_two_slashes_send_a_prompt_that_begins_with_one(server: HttpServer) -> None:
    server.reply(answer("a path"))
    with chat(server) as terminal:
        say(terminal, "//etc/hosts", "a path")
    assert sent(server) == ["/etc/hosts"]


def test_export_never_replaces_a_file(server: HttpServer, tmp_path: Path) -> None:
    server.reply(answer("an answer"))
    with chat(server, folder=tmp_path) as terminal:
        say(terminal, "question", "an answer")
        say(terminal, "/export chat.md", "Written: chat.md")
        say(terminal, "/export chat.md", "exists already")
        say(terminal, '/export "two words.md"', "Written: two words.md")
        say(terminal, "/export 'two words.md'", "exists already")
    assert "an answer" in (tmp_path / "chat.md").read_text(encoding="utf-8")


def test_the_second_golem_is_told_who_holds_the_conversation(server: HttpServer, home: Path) -> None:
    server.reply(answer("an answer"))
    with chat(server) as first:
        say(first, "question", "an answer")
        with chat(server, "-c", columns=200) as second:
            assert second.wait_end() != 0
            assert f"process {first.pid}" in second.text
        say(first, "/usage", "9 in, 4 out")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_mid_answer_keeps_it_and_restores_the_terminal(
    server: HttpServer, home: Path, number: signal.Signals
) -> None:
    server.reply(hanging("begun"))
    with chat(server) as terminal:
        before = termios.tcgetattr(terminal.descriptor)
        at_prompt(terminal)
        terminal.type("question\r")
        terminal.wait_for("begun")
        terminal.kill(number)
        assert terminal.wait_end() == 143
        assert termios.tcgetattr(terminal.descriptor) == before
    (run,) = kept(home)["runs"]
    assert (run["status"], run["partialText"]) == ("interrupted", "begun")


def test_a_terminal_that_closes_in_mid_answer_loses_nothing(server: HttpServer, home: Path) -> None:
    server.reply(hanging("begun"))
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("question\r")
        terminal.wait_for("begun")
        terminal.hang_up()
        assert terminal.wait_end() == 143
    assert kept(home)["runs"][0]["partialText"] == "begun"


def test_after_kill_9_in_mid_answer_the_chat_says_so_and_goes_on(server: HttpServer) -> None:
    server.reply(hanging("begun"), answer("again"))
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("question\r")
        terminal.wait_for("begun")
        terminal.kill(signal.SIGKILL)
        assert terminal.wait_end() == -signal.SIGKILL
    with chat(server, "-c") as terminal:
        terminal.wait_for("question", "begun", "golem ended before the run did", "/retry asks again")
        say(terminal, "/retry", "again")
    assert sent(server) == ["question"]


def test_the_prompt_history_is_private(server: HttpServer, home: Path) -> None:
    with chat(server) as terminal:
        say(terminal, "/ids", "conversation ")
    kept = home / "golem" / "state" / "history"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert [folder.stat().st_mode & 0o777 for folder in (kept.parent, home / "golem")] == [0o700, 0o700]


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"NO_COLOR": "1"}, {}])
def test_twenty_columns_and_poor_terminals_show_the_answer(
    server: HttpServer, variables: dict[str, str]
) -> None:
    server.reply(answer("# Head\n\n- one\n- two\n"))
    with chat(server, columns=20, variables=variables) as terminal:
        terminal.wait_for(PROMPT)
        terminal.wait_until(lambda: not termios.tcgetattr(terminal.descriptor)[3] & termios.ICANON, "keys")
        terminal.type("hi\r")
        terminal.wait_for("Head", "one", "two", "9 in")
        if variables.get("TERM") == "dumb":
            assert b"\x1b" not in terminal.raw
        if variables.get("NO_COLOR"):
            assert b"\x1b[3" not in terminal.raw


def test_the_editor_gives_the_draft_back_unsent(server: HttpServer, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "edited text" > "$1"\n', encoding="utf-8")
    editor.chmod(0o700)
    with chat(server, variables={"EDITOR": str(editor), "VISUAL": ""}) as terminal:
        at_prompt(terminal)
        terminal.type("\x18\x05")
        terminal.wait_until(lambda: terminal.rows[terminal.cursor_row] == f"{PROMPT} edited text")
    assert not server.requests


def test_ctrl_z_in_mid_answer_and_fg_go_on(server: HttpServer, tmp_path: Path) -> None:
    """The shell's lines in between are not erased by the open paragraph."""
    gate = threading.Event()
    server.reply(answer("A paragraph that is open ", gate, "and then ends."))
    variables = {"OPENAI_BASE_URL": f"{server.url}/v1", "PS1": "READY$ "}
    with Terminal("bash", "--norc", "--noprofile", "-i", variables=variables) as terminal:
        terminal.wait_for("READY$")
        terminal.type(f"{GOLEM} -m openai:test\r")
        at_prompt(terminal)
        terminal.type("hello\r")
        terminal.wait_for("A paragraph that is open")
        terminal.type("\x1a")
        terminal.wait_for("Stopped")
        terminal.type("fg\r")
        gate.set()
        terminal.wait_for("and then ends.", "READY$ fg")
        at_prompt(terminal)
