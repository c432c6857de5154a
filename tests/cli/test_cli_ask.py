"""`golem ask`: what it reads, what it sends, what it writes; over a real server on loopback."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from golem_cli.core.codec import load_conversation
from golem_cli.providers.local import have_weights
from golem_cli.store.store import Store
from tests.support.chat_replies import answer, chunk, dropped
from tests.support.golem_runs import GOLEM, Finished, golem, golem_process
from tests.support.http_server import HttpServer, Reply

HOSTILE = "a\x1b[31mred\x1b]0;owned\x07\u202ecba\x9b1m\r\x08\U000e0041"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    """A server that says `Hello`, at OpenAI's base URL."""
    with HttpServer([answer("Hel", "lo")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def ask(*arguments: str | Path, stdin: bytes = b"", in_terminal: bool = True) -> Finished:
    return golem("ask", "-m", "openai:test", *arguments, stdin=stdin, in_terminal=in_terminal)


def sent(server: HttpServer) -> list[dict[str, Any]]:
    """The messages of the last request."""
    messages: list[dict[str, Any]] = json.loads(server.requests[-1].body)["messages"]
    return messages


def prompt(server: HttpServer) -> Any:
    return sent(server)[-1]["content"]


# -- what it writes ----------------------------------------------------------------------------------------


def test_text_is_the_bare_answer_and_a_newline(server: HttpServer) -> None:
    done = ask("hi")
    assert (done.code, done.out, done.err) == (0, "Hello\n", "")
    assert prompt(server) == "hi"


def test_an_answer_that_ends_its_line_gets_no_second_newline(server: HttpServer) -> None:
    server.reply(answer("one\n"))
    ask("hi")
    assert ask("hi").out == "one\n"


@pytest.mark.usefixtures("server")
def test_json_is_one_object_with_the_documented_fields(home: Path) -> None:
    done = ask("--output-format", "json", "hi")
    found = done.json
    identity = found["conversationId"]
    kept = Store(home / "golem").read(identity)
    assert done.code == 0
    assert list(found.items()) == [
        ("conversationId", identity),
        ("runId", kept.runs[0].run_id),
        ("model", "openai:test"),
        ("output", "Hello"),
        ("usage", {"inputTokens": 9, "outputTokens": 4}),
        ("requests", 1),
        ("toolCalls", 0),
        ("finishReason", "stop"),
        ("file", str(home / "golem" / "conversations" / f"{identity}.json")),
    ]
    assert load_conversation(Path(found["file"]).read_bytes()) == kept


@pytest.mark.usefixtures("server")
def test_stream_json_is_one_object_a_line_and_the_result_last() -> None:
    lines = [json.loads(line) for line in ask("--output-format", "stream-json", "hi").out.splitlines()]
    assert [line["type"] for line in lines] == [
        "run_start",
        "model_start",
        "delta",
        "delta",
        "model_end",
        "result",
    ]
    start, _, first, second, _, result = lines
    assert (first["text"], second["text"]) == ("Hel", "lo")
    assert (start["runId"], start["conversationId"]) == (result["runId"], result["conversationId"])
    assert result["output"] == "Hello"
    assert result["usage"] == {"inputTokens": 9, "outputTokens": 4}


def test_a_failure_in_json_names_the_conversation_and_what_had_arrived(server: HttpServer) -> None:
    server.reply(dropped("Hel"))
    ask("hi")
    done = ask("--output-format", "json", "hi")
    assert done.code == 1
    assert done.json["output"] == "Hel"
    assert done.json["error"]["stage"] == "model"
    assert "dropped" in done.json["error"]["message"]
    assert done.json["conversationId"] in done.error_line


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_a_prompt_that_cannot_be_kept_is_not_sent_and_programs_are_told(
    server: HttpServer, home: Path, form: str
) -> None:
    """A file in the place of the folder; the object names a conversation, without a run or a file."""
    (home / "golem").mkdir(exist_ok=True)
    (home / "golem" / "conversations").write_bytes(b"")
    done = ask("--output-format", form, "hi")
    reason = "a file stands where a folder is needed"
    assert done.code == 1
    assert reason in done.error_line
    assert done.error_line.endswith("golem ask --no-save asks without keeping")
    assert server.requests == []
    if form == "text":
        assert done.out == ""
        return
    found = json.loads(done.out)
    assert found["conversationId"]
    assert found["error"]["stage"] == ""
    assert reason in found["error"]["message"]
    assert found.keys() & {"runId", "file", "usage"} == set()


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_no_control_character_of_an_answer_reaches_the_output(server: HttpServer, form: str) -> None:
    server.reply(answer(HOSTILE[:6], HOSTILE[6:]))
    ask("hi")
    done = ask("--output-format", form, "hi")
    assert done.code == 0
    assert not set(done.out) & set("\x1b\x07\u202e\x9b\r\x08\U000e0041")
    if form == "json":
        assert done.json["output"] == HOSTILE


def test_a_lone_surrogate_in_an_answer_is_written_as_its_replacement(server: HttpServer) -> None:
    server.reply(
        Reply(
            headers={"Content-Type": "text/event-stream"},
            body=[chunk("a\ud800b", "stop"), b"data: [DONE]\n\n"],
        )
    )
    ask("hi")
    assert ask("hi").out == "a\N{REPLACEMENT CHARACTER}b\n"


def test_an_answer_without_words_and_one_that_was_cut_are_remarked_on(server: HttpServer) -> None:
    server.reply(answer(), answer("cut of", finish="length"))
    ask("hi")
    empty = ask("hi")
    assert (empty.code, empty.raw, empty.error_line) == (0, b"", "golem: the model gave an empty answer")
    cut = ask("hi")
    assert (cut.code, cut.out) == (0, "cut of\n")
    assert "ended by its length: golem ask -r " in cut.error_line


def test_a_stream_that_only_ends_is_an_empty_answer_that_is_remarked_on(server: HttpServer) -> None:
    server.reply(Reply(body=b"data: [DONE]\n\n", headers={"Content-Type": "text/event-stream"}))
    ask("hi")
    done = ask("hi")
    assert (done.code, done.raw, done.error_line) == (0, b"", "golem: the model gave an empty answer")


# -- what it reads -----------------------------------------------------------------------------------------


def test_piped_text_follows_the_words(server: HttpServer) -> None:
    assert ask("Sum", "up", stdin=b"one\ntwo\n", in_terminal=False).code == 0
    assert prompt(server) == "Sum up\n\none\ntwo"


def test_a_dash_within_a_prompt_is_a_dash(server: HttpServer) -> None:
    assert ask("What is 2 - 1 ?").code == 0
    assert prompt(server) == "What is 2 - 1 ?"


def test_a_word_that_is_a_dash_reads_standard_input(server: HttpServer) -> None:
    assert ask("-", stdin=b"typed until the end").code == 0
    assert prompt(server) == "typed until the end"


def test_golem_without_a_terminal_asks(server: HttpServer) -> None:
    done = golem("-m", "openai:test", stdin=b"piped\n", in_terminal=False)
    assert (done.code, done.out) == (0, "Hello\n")
    assert prompt(server) == "piped"


@pytest.mark.parametrize("arguments", [("-p", "hi"), ("-p", "hi", "-m", "openai:test"), ("ask", "hi")])
def test_minus_p_is_ask(
    server: HttpServer, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLEM_MODEL", "openai:test")
    assert golem(*arguments).out == "Hello\n"
    assert prompt(server) == "hi"


@pytest.mark.parametrize(
    ("arguments", "stdin"), [((), b""), (("  ",), b""), ((), b"\n \n"), (("x",), b"\xff\xfe\x00\x81")]
)
def test_nothing_to_ask_and_bytes_that_are_no_text_are_wrong_usage(
    server: HttpServer, arguments: tuple[str, ...], stdin: bytes, home: Path
) -> None:
    done = ask(*arguments, stdin=stdin, in_terminal=False)
    assert (done.code, done.raw) == (2, b"")
    assert done.error_line
    assert server.requests == []
    assert Store(home / "golem").ids() == []


def test_a_prompt_of_5_mb_is_sent_whole(server: HttpServer) -> None:
    text = "word " * 1_000_000
    assert ask(stdin=text.encode(), in_terminal=False).code == 0
    assert prompt(server) == text


def test_the_program_does_not_wait_for_a_silent_pipe(server: HttpServer) -> None:
    """The writing end stays open and silent: golem answers all the same, and says so on stderr."""
    silent, writing = os.pipe()
    try:
        done = subprocess.run(
            [GOLEM, "ask", "-m", "openai:test", "hi"],
            stdin=silent,
            capture_output=True,
            check=False,
            timeout=60,
        )
    finally:
        os.close(silent)
        os.close(writing)
    assert (done.returncode, done.stdout) == (0, b"Hello\n")
    assert done.stderr.startswith(b"golem: standard input is silent")
    assert prompt(server) == "hi"


@pytest.mark.parametrize("closing", ["<&-", "2>&-"])
@pytest.mark.usefixtures("server")
def test_closed_input_is_empty_and_closed_standard_error_hides_nothing_of_the_answer(closing: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" ask -m openai:test hi {closing}', GOLEM],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello\n", "")


def test_files_are_attached_as_text_or_as_parts(server: HttpServer, tmp_path: Path) -> None:
    note, picture = tmp_path / "note.txt", tmp_path / "dot.png"
    note.write_text("the note", encoding="utf-8")
    picture.write_bytes(b"\x89PNG\r\n")
    assert ask("look", "-f", note, "-f", picture).code == 0
    text, image = prompt(server)
    assert text == {"type": "text", "text": "look\n\nnote.txt:\n\nthe note"}
    assert image == {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0K"}}


def test_a_file_alone_is_a_prompt(server: HttpServer, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("the note", encoding="utf-8")
    assert ask("-f", note).code == 0
    assert prompt(server) == "note.txt:\n\nthe note"


def test_a_file_that_cannot_be_attached_is_wrong_usage(server: HttpServer, tmp_path: Path) -> None:
    unknown = tmp_path / "blob"
    unknown.write_bytes(b"\x00\xff")
    for path, said in (
        (tmp_path, "is a folder; name a file to attach"),
        (tmp_path / "missing.txt", "there is no such file"),
        (unknown, "is no text"),
    ):
        done = ask("hi", "-f", path)
        assert done.code == 2
        assert said in done.error_line
    assert server.requests == []


# -- which conversation ------------------------------------------------------------------------------------


def test_flags_of_a_conversation_hold_for_its_later_turns(server: HttpServer, home: Path) -> None:
    assert ask("-s", "Be brief.", "--trim", "2", "--budget", "900", "one").code == 0
    for text in ("two", "three"):
        done = golem("ask", "-c", text)
        assert done.code == 0
        # That older messages stay behind is what --trim asked for; a budget that binds nothing is said.
        assert done.err == "golem: the budget of 900 tokens waits: openai:test has no token counter\n"
    assert [message["content"] for message in sent(server)] == ["Be brief.", "two", "Hello", "three"]
    store = Store(home / "golem")
    kept = store.read(store.ids()[0])
    assert (kept.instructions, kept.settings.trim, kept.settings.budget) == ("Be brief.", 2, 900)
    assert [message.content for message in kept.messages] == [
        "one",
        "Hello",
        "two",
        "Hello",
        "three",
        "Hello",
    ]


def test_the_beginning_of_an_id_and_a_title_name_a_conversation(server: HttpServer, home: Path) -> None:
    ask("one")
    identity = Store(home / "golem").ids()[0]
    assert golem("ask", "-r", identity[:8], "two").code == 0
    assert golem("ask", "-r", "one", "three").code == 0
    assert len(sent(server)) == 5


def test_no_save_keeps_nothing_and_never_says_that_it_does(server: HttpServer, home: Path) -> None:
    server.reply(Reply(status=401))
    done = ask("--no-save", "--output-format", "json", "hi")
    assert done.code == 0
    assert "file" not in done.json
    assert Store(home / "golem").ids() == []
    refused = ask("--no-save", "hi")
    assert refused.code == 1
    assert "kept" not in refused.error_line


def test_no_save_goes_on_with_a_kept_conversation_and_leaves_it_alone(server: HttpServer, home: Path) -> None:
    ask("one")
    store = Store(home / "golem")
    before = store.path_of(store.ids()[0]).read_bytes()
    for which in (("-c",), ("-r", "one")):
        assert golem("ask", "--no-save", *which, "two").out == "Hello\n"
        assert [message["content"] for message in sent(server)] == ["one", "Hello", "two"]
    assert store.path_of(store.ids()[0]).read_bytes() == before


@pytest.mark.usefixtures("server")
def test_there_is_nothing_to_continue_in_an_empty_store() -> None:
    assert "no conversation to continue" in golem("ask", "-c", "hi").error_line
    done = golem("ask", "-r", "nothing-like-it", "hi")
    assert done.code == 2
    assert "golem list" in done.error_line


@pytest.mark.usefixtures("server")
def test_a_conversation_that_another_process_writes_is_told_with_its_holder(home: Path) -> None:
    ask("one")
    store = Store(home / "golem")
    with store.open(store.ids()[0]):
        done = golem_process("ask", "-c", "two")
    assert done.code == 1
    assert f"process {os.getpid()}" in done.error_line
    assert "fork it" in done.error_line


# -- the embedded model ------------------------------------------------------------------------------------


def test_two_prompts_get_two_answers_from_the_embedded_model(weights_cache: Path, home: Path) -> None:
    if not have_weights(weights_cache):
        pytest.skip("the weights are not there; golem models fetch brings them")
    (home / "golem").mkdir()
    (home / "golem" / "config.toml").write_text("max_tokens = 16\n", encoding="utf-8")
    first, second = (
        golem("ask", "-m", "local:", "--output-format", "json", text).json
        for text in ("Name a colour.", "Tell me about the sea.")
    )
    for found in (first, second):
        assert found["output"]
        assert found["model"] == "local:smollm2-135m-instruct"
        assert found["usage"]["inputTokens"] > 0
        assert found["usage"]["outputTokens"] > 0
    assert first["output"] != second["output"]


@pytest.mark.parametrize(
    ("option", "said"), [("-m", "-m needs a value: PROVIDER:NAME"), ("-f", "-f needs a value: FILE")]
)
def test_an_option_with_nothing_in_it_is_wrong_usage(option: str, said: str) -> None:
    done = golem("ask", "hi", option, "")
    assert (done.code, done.out, done.error_line) == (2, "", f"golem: {said}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", ""], "[FILE|ID|NAME] is empty; name one, or leave it out"),
        (["resume", ""], "[FILE|ID|NAME] is empty; name one, or leave it out"),
        (["resume", "x", "--prompt", ""], "-p needs a value: TEXT"),
        (["-r", ""], "-r needs an id; without one it lets you pick"),
        (["ask", "--resume", "", "hi"], "--resume needs an id; without one it lets you pick"),
    ],
    ids=["show", "resume", "prompt", "short", "long"],
)
def test_nothing_is_never_taken_for_what_may_be_left_out(arguments: list[str], said: str) -> None:
    done = golem(*arguments)
    assert (done.code, done.out, done.error_line) == (2, "", f"golem: {said}")
