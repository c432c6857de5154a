"""The real program, stopped in the middle: by signals, by kill -9, by readers that leave, by a full disk."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from golem_cli.core.conversation import RunRecord
from golem_cli.core.run_status import DONE, FAILED, INTERRUPTED
from golem_cli.providers.local import have_weights
from golem_cli.store.store import Store
from tests.support.chat_replies import answer, hanging
from tests.support.golem_runs import GOLEM, NEEDS_FULL_DEVICE, golem_in_shell, golem_into_full, golem_process
from tests.support.http_server import HttpServer, Reply

TRANSCRIPTS = Path(__file__).parents[2] / "transcripts"
MOMENTS = random.Random(20_261_202).sample(range(1, 40), 4)  # noqa: S311 (a seed, not a secret)
WORDS = [f"word{number} " for number in range(40)]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    with HttpServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("GOLEM_MODEL", "openai:test")
        yield server


@pytest.fixture
def store(home: Path) -> Store:
    return Store(home / "golem")


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [GOLEM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def read_until(process: subprocess.Popen[bytes], text: str) -> str:
    """What the process has written by the time that `text` is in it."""
    assert process.stdout is not None
    written = b""
    while text.encode() not in written:
        piece = os.read(process.stdout.fileno(), 4096)
        assert piece, written
        written += piece
    return written.decode()


def wait_for_request(server: HttpServer, number: int = 1) -> None:
    """Wait until the server has read so many requests."""
    deadline = time.monotonic() + 30
    while len(server.requests) < number:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def last_run(store: Store) -> RunRecord:
    return store.read(store.ids()[0]).runs[-1]


def sent(server: HttpServer) -> list[tuple[str, str]]:
    messages = json.loads(server.requests[-1].body)["messages"]
    return [(message["role"], message["content"]) for message in messages]


# -- signals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_in_mid_answer_keeps_what_there_is(
    server: HttpServer, store: Store, name: str, code: int
) -> None:
    server.reply(hanging("Hello ", "wor"), answer("ld."))
    process = start("ask", "hi")
    read_until(process, "Hello wor")
    process.send_signal(getattr(signal, name))
    rest, err = process.communicate(timeout=30)
    identity = store.ids()[0]
    assert (process.returncode, rest) == (code, b"\n")
    assert err.decode() == (
        f"golem: stopped by {name}; the conversation is kept: golem resume {identity} goes on\n"
    )
    assert (last_run(store).status, last_run(store).partial_text) == (INTERRUPTED, "Hello wor")
    done = golem_process("resume", identity)
    assert (done.code, done.out) == (0, "ld.\n")
    assert sent(server) == [("user", "hi"), ("assistant", "Hello wor"), ("user", "continue")]


def test_a_signal_before_the_first_word_leaves_the_prompt_to_be_asked_again(
    server: HttpServer, store: Store
) -> None:
    server.reply(Reply(body=[gate := threading.Event()]), answer("Hello."))
    process = start("ask", "--output-format", "stream-json", "hi")
    read_until(process, "model_start")
    wait_for_request(server)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    gate.set()
    assert process.returncode == 130
    result = json.loads(rest.decode().splitlines()[-1])
    assert (result["type"], result["output"]) == ("result", "")
    assert result["error"] == {"stage": "model", "message": "stopped by SIGINT"}
    assert golem_process("resume", result["conversationId"]).out == "Hello.\n"
    assert sent(server) == [("user", "hi")]
    assert last_run(store).status == DONE


def test_a_signal_that_was_ignored_stays_ignored(server: HttpServer) -> None:
    """`nohup golem ask` outlives its terminal."""
    server.reply(Reply(headers={"Content-Type": "text/event-stream"}, body=[gate := threading.Event()]))
    process = subprocess.Popen(
        ["/bin/sh", "-c", 'trap "" HUP; exec "$0" ask --output-format stream-json hi', GOLEM],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    read_until(process, "model_start")
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)  # comes after it, and is heard
    process.communicate(timeout=30)
    gate.set()
    assert process.returncode == 143


# -- readers that leave ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_a_reader_that_leaves_stops_the_run_which_is_kept(
    server: HttpServer, store: Store, form: str
) -> None:
    """As in `golem ask … | head -1`; JSON comes in one piece after the run, which is then complete."""
    gates = [threading.Event() for _ in range(2)]
    server.reply(answer("one\n", gates[0], "two\n", gates[1], "three\n"))
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [GOLEM, "ask", "--output-format", form, "hi"],
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    if form != "json":
        written = b""
        while b"one" not in written:
            written += os.read(reading, 4096)
    os.close(reading)
    for gate in gates:
        gate.set()
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (141, b"")
    if form == "json":
        assert last_run(store).status == DONE
    else:
        assert last_run(store).status == INTERRUPTED
        assert last_run(store).partial_text.startswith("one\n")


@NEEDS_FULL_DEVICE
def test_a_full_disk_behind_the_output_stops_the_run_which_is_kept(server: HttpServer, store: Store) -> None:
    server.reply(answer("one\n", "two\n"))
    done = golem_into_full("ask", "hi")
    assert done.code == 1
    assert "the output cannot be written" in done.err
    assert f"golem resume {store.ids()[0]} goes on" in done.err
    assert "Traceback" not in done.err
    assert last_run(store).partial_text == "one\n"


@NEEDS_FULL_DEVICE
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at the end", "at once"])
def test_an_object_that_cannot_be_written_leaves_the_id_of_its_conversation(
    server: HttpServer, store: Store, unbuffered: str
) -> None:
    server.reply(answer("one\n"))
    done = golem_into_full("ask", "--output-format", "json", "hi", unbuffered=unbuffered)
    assert done.code == 1
    kept, reason = done.err.splitlines()
    assert kept.endswith(f"; the conversation is kept: golem resume {store.ids()[0]} goes on")
    assert reason == "golem: standard output: the disk is full; free some space and try again"
    assert last_run(store).status == DONE


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's redirections")
def test_an_answer_that_nobody_could_see_is_no_success(server: HttpServer, store: Store) -> None:
    server.reply(answer("one\n", "two\n"))
    done = golem_in_shell("ask hi >&-")
    assert done.code == 1
    assert "the output cannot be written" in done.err
    assert f"golem resume {store.ids()[0]} goes on" in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_an_answer_that_could_not_be_kept_is_on_stdout_and_the_exit_code_says_so(
    server: HttpServer, store: Store
) -> None:
    """No file may have more than 2,000 bytes: the prompt fits, the answer does not."""
    server.reply(answer("x" * 5000))
    limit = "import resource, os, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000));"
    done = subprocess.run(
        [sys.executable, "-c", f"{limit} os.execv(sys.argv[1], sys.argv[1:])", GOLEM, "ask", "hi"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert (done.returncode, done.stdout) == (1, "x" * 5000 + "\n")
    assert "the newest of the conversation was not kept" in done.stderr
    assert "x" * 5000 not in store.path_of(store.ids()[0]).read_text()


# -- kill -9 -----------------------------------------------------------------------------------------------


def test_kill_9_before_the_first_byte(server: HttpServer, store: Store) -> None:
    server.reply(Reply(body=[gate := threading.Event()]), answer("Hello."))
    process = start("ask", "--output-format", "stream-json", "hi")
    read_until(process, "model_start")
    wait_for_request(server)
    process.kill()
    process.communicate(timeout=30)
    gate.set()
    run = last_run(store)
    assert (run.status, run.stage, run.prompt) == (FAILED, "crashed", "hi")
    assert golem_process("list", "--json").json[0]["status"] == "failed"
    done = golem_process("resume", store.ids()[0])
    assert (done.code, done.out) == (0, "Hello.\n")
    assert "the last run failed before the first word (stage crashed)" in done.error_line
    assert sent(server) == [("user", "hi")]


@pytest.mark.parametrize("moment", MOMENTS)
def test_kill_9_in_mid_answer(server: HttpServer, store: Store, moment: int) -> None:
    """After `moment` words; what is kept is a beginning of what was seen, and never nothing."""
    server.reply(hanging(*WORDS[:moment]), answer("The end."))
    process = start("ask", "hi")
    seen = read_until(process, WORDS[moment - 1])
    process.kill()
    process.communicate(timeout=30)
    run = last_run(store)
    assert (run.status, run.stage, run.prompt) == (FAILED, "crashed", "hi")
    assert run.partial_text
    assert seen.startswith(run.partial_text)
    done = golem_process("resume", store.ids()[0])
    assert (done.code, done.out) == (0, "The end.\n")
    assert "the last run failed in mid-answer (stage crashed)" in done.error_line
    assert sent(server) == [("user", "hi"), ("assistant", run.partial_text), ("user", "continue")]


def test_kill_9_between_turns_loses_nothing_of_the_first(server: HttpServer, store: Store) -> None:
    server.reply(answer("First."), Reply(body=[gate := threading.Event()]), answer("Third."))
    assert golem_process("ask", "one").code == 0
    process = start("ask", "-c", "--output-format", "stream-json", "two")
    read_until(process, "model_start")
    wait_for_request(server, 2)
    process.kill()
    process.communicate(timeout=30)
    gate.set()
    kept = store.read(store.ids()[0])
    assert [message.content for message in kept.messages] == ["one", "First."]
    assert [run.status for run in kept.runs] == [DONE, FAILED]
    assert golem_process("resume", store.ids()[0]).out == "Third.\n"
    assert sent(server) == [("user", "one"), ("assistant", "First."), ("user", "two")]


# -- as pasted, offline, on the embedded model -------------------------------------------------------------


def test_the_sequence_works_as_pasted_on_the_embedded_model(
    weights_cache: Path, home: Path, store: Store, tmp_path: Path
) -> None:
    if not have_weights(weights_cache):
        pytest.skip("the weights are not there; golem models fetch brings them")
    settings = home / "golem" / "config.toml"
    settings.parent.mkdir()
    settings.write_text('model = "local:"\nmax_tokens = 12\n', encoding="utf-8")
    assert golem_process("-p", "Name a colour.").code == 0
    assert golem_process("ask", "-c", "And another?").code == 0
    parent = store.ids()[0]
    assert len(store.read(parent).messages) == 4

    forked = golem_process("fork", parent[:13]).out.splitlines()
    child = forked[0]
    assert child in store.ids()
    assert forked[-1].split() == ["golem", "resume", parent, "goes", "back"]

    settings.write_text('model = "local:"\nmax_tokens = 400\n', encoding="utf-8")
    process = start("ask", "-r", child, "--output-format", "stream-json", "Tell me a very long story.")
    read_until(process, '"delta"')
    process.kill()
    process.communicate(timeout=30)
    settings.write_text('model = "local:"\nmax_tokens = 12\n', encoding="utf-8")
    assert (store.read(child).runs[-1].stage, store.read(child).runs[-1].status) == ("crashed", FAILED)
    done = golem_process("resume", child)
    assert done.code == 0
    assert done.out.strip()
    assert "(stage crashed)" in done.err
    assert len(store.read(parent).messages) == 4

    lines = golem_process("ask", "--output-format", "stream-json", stdin=b"Say hello.\n").out.splitlines()
    assert json.loads(lines[-1])["usage"]["outputTokens"] > 0

    sample = tmp_path / "interrupted-batch.json"
    sample.write_bytes((TRANSCRIPTS / sample.name).read_bytes())
    assert golem_process("normalize", "--check", str(sample)).code == 1
    assert golem_process("normalize", "-w", str(sample)).code == 0
    assert golem_process("normalize", "--check", str(sample)).code == 0
