"""`golem export`: three forms, nothing replaced, secrets pointed out, refused or replaced."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from golem_cli.core.codec import dump_messages, load_conversation
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message
from golem_cli.core.run_status import FAILED
from golem_cli.store.store import Store
from tests.support.chat_replies import answer
from tests.support.chat_terminal import PROMPT, at_prompt, chat, say
from tests.support.golem_runs import golem, golem_process
from tests.support.http_server import HttpServer
from tests.support.secrets import HEX, example

IDENTITY: Final = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11"
KEY: Final = example("an Anthropic key")[1]


def kept(home: Path, *contents: str, run: RunRecord | None = None) -> Conversation:
    """A conversation in the store with these prompts."""
    conversation = Conversation(
        conversation_id=IDENTITY,
        title="Bread",
        messages=tuple(Message(role="user", content=content) for content in contents),
        runs=(run,) if run else (),
    )
    with Store(home / "golem").create(conversation) as writer:
        writer.save()
    return writer.conversation


def test_the_ending_of_the_file_says_which_form(home: Path, tmp_path: Path) -> None:
    conversation = kept(home, "Knead it.")
    for name, beginning in (("a.md", "# Bread"), ("a.html", "<!DOCTYPE html>"), ("a.json", '{"golem":1')):
        done = golem("export", "Bread", "-o", tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert (done.code, done.out) == (0, "")
        assert text.startswith(beginning)
        assert "Knead it." in text
    assert load_conversation((tmp_path / "a.json").read_bytes()) == conversation


def test_the_form_can_be_named_and_the_output_be_standard_output(home: Path, tmp_path: Path) -> None:
    kept(home, "Knead it.")
    assert golem("export", "--format", "markdown").out.startswith("# Bread")
    assert golem("export", IDENTITY[:6], "--format", "html", "-o", "-").out.startswith("<!DOCTYPE html>")
    golem("export", "-o", tmp_path / "page.txt", "--format", "html")
    assert (tmp_path / "page.txt").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_without_a_form_it_says_how_to_name_one(home: Path, tmp_path: Path) -> None:
    kept(home, "Knead it.")
    assert (golem("export").code, golem("export", "-o", tmp_path / "a.txt").code) == (2, 2)
    assert "--format markdown, html or json" in golem("export").error_line


def test_an_empty_store_says_how_to_begin() -> None:
    done = golem("export", "--format", "json")
    assert (done.code, done.out) == (2, "")
    assert "golem opens the first one" in done.error_line


def test_what_exists_is_never_replaced(home: Path, tmp_path: Path) -> None:
    kept(home, "Knead it.")
    there = tmp_path / "a.md"
    there.write_text("mine", encoding="utf-8")
    done = golem("export", "-o", there)
    assert (done.code, there.read_text(encoding="utf-8")) == (1, "mine")
    assert "exists already" in done.error_line


def test_a_file_keeps_its_form_in_json_and_the_store_is_not_touched(home: Path, tmp_path: Path) -> None:
    source = tmp_path / "talk.json"
    source.write_bytes(dump_messages([Message(role="user", content="hi")]))
    done = golem("export", source, "--format", "json")
    assert done.raw == source.read_bytes()
    assert not (home / "golem").exists()


def test_what_a_stopped_run_left_is_in_the_document(home: Path) -> None:
    run = RunRecord(run_id=IDENTITY, status=FAILED, prompt="And then?", partial_text="Then you")
    kept(home, "Knead it.", run=run)
    document = golem("export", "--format", "markdown").out
    assert "And then?" in document
    assert "Then you" in document


def test_a_secret_is_pointed_out_before_it_is_written(home: Path) -> None:
    kept(home, "hi", f"my key {KEY}")
    done = golem("export", "--format", "json")
    assert done.code == 0
    assert KEY in done.out
    assert done.error_line == (
        "golem: what looks like an Anthropic key stands in message 2, text; it is written as it is, "
        "golem export --redact replaces it"
    )
    assert KEY not in done.err


def test_a_secret_is_refused_where_that_is_set(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(home, f"my key {KEY}")
    monkeypatch.setenv("GOLEM_SECRETS", "block")
    done = golem("export", "-o", tmp_path / "a.md")
    assert done.code == 2
    assert "not written" in done.error_line
    assert not (tmp_path / "a.md").exists()
    assert golem("export", "--redact", "-o", tmp_path / "a.md").code == 0


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_redacting_replaces_secrets_in_every_form(form: str, home: Path) -> None:
    kept(home, f"my key {KEY}", f"{KEY} again")
    done = golem("export", "--redact", "--format", form)
    assert (done.code, done.error_line) == (0, "golem: 1 secret replaced")
    assert KEY[:20] not in done.out
    assert done.out.count("secret-1") == 2


def test_redacting_refuses_what_looks_random_and_names_the_place(home: Path, tmp_path: Path) -> None:
    kept(home, "hi", f"it is {HEX[:40]}")
    done = golem("export", "--redact", "-o", tmp_path / "a.md")
    assert done.code == 1
    assert done.error_line == (
        "golem: not written: message 2, text: a string of 40 characters looks random, and no known pattern "
        "explains it; look at it, or --redact-random replaces such strings too"
    )
    assert not (tmp_path / "a.md").exists()
    golem("export", "--redact-random", "-o", tmp_path / "a.md")
    assert "it is [random-1]" in (tmp_path / "a.md").read_text(encoding="utf-8")


def test_a_prompt_that_is_blocked_is_one_line_and_leaves_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a pipe, over a real server, which is not asked."""
    with HttpServer([answer("Hello")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("GOLEM_SECRETS", "block")
        done = golem_process("ask", "-m", "openai:test", "look", stdin=f"log\n{KEY}".encode())
        assert (done.code, done.out, server.requests) == (2, "", [])
        assert "stands in the prompt, line 4" in done.error_line
        monkeypatch.setenv("GOLEM_SECRETS", "warn")
        done = golem_process(
            "ask", "-m", "openai:test", "--output-format", "json", "look", stdin=KEY.encode()
        )
        assert (done.code, done.json["output"], len(server.requests)) == (0, "Hello", 1)
        assert "it is sent as it is" in done.error_line
    assert KEY not in done.err
    assert len(list((home / "golem" / "conversations").glob("*.json"))) == 1


def test_in_the_chat_a_blocked_prompt_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLEM_SECRETS", "block")
    with HttpServer([answer("Hello")]) as server, chat(server, columns=120) as terminal:
        at_prompt(terminal)
        terminal.type(f"my key is {KEY[:40]}\r")
        terminal.wait_for("not sent: what looks like an Anthropic key")
        at_prompt(terminal)
        terminal.type("\x1b[A")
        terminal.wait_until(lambda: f"{PROMPT} my key is {KEY[:40]}" in terminal.rows[terminal.cursor_row])
        assert server.requests == []


def test_in_the_chat_a_key_in_instructions_that_a_flag_gave_is_pointed_out_before_it_goes() -> None:
    """In a new conversation, and in one that goes on; once in each."""
    told = "what looks like an Anthropic key stands in the instructions, line 1; it is sent as it is"
    for goes_on in ((), ("-c",)):
        with (
            HttpServer([answer("Hello"), answer("Again")]) as server,
            chat(server, "-s", KEY, *goes_on, columns=120) as terminal,
        ):
            say(terminal, "hi", "Hello")
            assert terminal.text.index(told) < terminal.text.index("Hello")
            say(terminal, "hi", "Again")
            assert terminal.text.count(told) == 1
            assert KEY in str(server.requests[0].body)
        with HttpServer([answer("Kept")]) as server, chat(server, columns=120) as terminal:
            say(terminal, "something to go on with", "Kept")


def test_in_the_chat_an_export_points_a_secret_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with HttpServer([answer("Hello")]) as server, chat(server, columns=120) as terminal:
        at_prompt(terminal)
        say(terminal, f"my key is {KEY[:40]}", "it is sent as it is")
        say(terminal, "/export it.md", "Written: it.md")
        assert "stands in title; it is written as it is" in terminal.text


def test_a_key_in_a_file_that_is_attached_is_placed_in_that_file(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key.txt").write_text(f"a\nb\n{KEY}\n", encoding="utf-8")
    with HttpServer([answer("Hello"), answer("Again")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        asking = ("ask", "-m", "openai:test", "-f", str(tmp_path / "key.txt"))
        done = golem_process(*asking, "look\nat")
        assert done.error_line == (
            "golem: what looks like an Anthropic key stands in key.txt, line 3; it is sent as it is"
        )
        assert golem_process(*asking, "-c", "look\nat").err == ""
        monkeypatch.setenv("GOLEM_SECRETS", "block")
        done = golem_process("ask", "-m", "openai:test", "-c", "--system", KEY, "hi")
        assert (done.code, len(server.requests)) == (2, 2)
        assert "not kept: what looks like an Anthropic key stands in the instructions" in done.error_line
    assert not any('"instructions":"sk-' in path.read_text() for path in home.rglob("conversations/*"))


@pytest.mark.parametrize("policy", ["block", "warn", "off"])
def test_a_line_with_a_key_is_in_no_file_of_prompts(
    policy: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused or sent, named or instructed: Up brings it back in this sitting, and nothing in the next."""
    monkeypatch.setenv("GOLEM_SECRETS", policy)
    key = KEY[:40]
    with HttpServer([answer("Hello")] * 2) as server, chat(server, columns=120) as terminal:
        refused = policy == "block"
        say(terminal, f"my key is {key}", "not sent" if refused else "Hello")
        say(terminal, f"/rename {key}", "Renamed to")
        say(terminal, f"/system {key}", "not kept" if refused else "These are the instructions")
        say(terminal, "/trim", "All are kept")
        terminal.type(f"a draft {key}")
        terminal.wait_until(lambda: f"{PROMPT} a draft {key}" in terminal.rows[terminal.cursor_row])
        terminal.type("\x03")
        at_prompt(terminal)
        terminal.type("\x1b[A")
        terminal.wait_until(lambda: f"{PROMPT} a draft {key}" in terminal.rows[terminal.cursor_row])
    (history,) = home.rglob("history")
    assert "/trim" in history.read_text(encoding="utf-8")
    assert "sk-ant" not in history.read_text(encoding="utf-8")
