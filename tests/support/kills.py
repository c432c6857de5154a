"""Kills a chat at a moment, and holds what its store has against what the world had seen until then.

Two witnesses know what has to be there: the server, since whatever is in a request was kept before it left,
and the chat's own words, which come after the keeping. Every content is unique, so that nothing can be there
twice unseen.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from golem_cli.chat import lineage, resuming
from golem_cli.chat.chat_settings import ChatSettings
from golem_cli.chat.session import Session, utc_now
from golem_cli.core.conversation import Conversation
from golem_cli.core.message import Message
from golem_cli.core.recovery import last_stop, messages_of
from golem_cli.core.run_status import FAILED
from golem_cli.providers.openai.client import OpenAIModel
from golem_cli.store.store import Store
from golem_cli.testing import ScriptedTool
from tests.support.chat_replies import chunk
from tests.support.http_server import HttpServer, Reply, Request
from tests.support.killed_chat import plain_http

MOMENTS: Final = {"prompt": "asking", "stream": "delta", "tool": "tool", "fold": "folding"}
"""What the chat says at each kind of moment."""
TIMES: Final = {"prompt": 3, "stream": 10, "tool": 4, "fold": 2}
"""Moments of a kind among which one is chosen."""
EARLIER: Final = 300
"""Messages that the conversation has from the beginning, so that a fold takes its time."""
LONGEST: Final = {"prompt": 0.012, "stream": 0.006, "tool": 0.008, "fold": 0.02}
"""Seconds at most between the word and the kill."""
ANSWER: Final = 6
"""Pieces of an answer."""


@dataclass
class Kill:
    """One kill: what the world had seen, and what was found afterwards."""

    moment: str
    said: list[str] = field(default_factory=list)
    requests: list[list[dict[str, object]]] = field(default_factory=list)
    found: str = ""
    left: tuple[str, ...] = ()


class Killer:
    """Runs chats in `root` and kills them. Use it with `with`."""

    def __init__(self, root: Path) -> None:
        self.store = Store(root)
        self._root = root
        self._server = HttpServer(respond=self._respond)
        self._requests: dict[str, list[list[dict[str, object]]]] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.killed_chat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate("", timeout=30)
        self._server.close()

    def kill(self, moment: str, chance: random.Random) -> Kill:
        """Let a chat begin, kill it at such a moment, check what is left and go on with it."""
        conversation = self._begin()
        done = Kill(moment)
        self._run(
            conversation, done, at=chance.randint(1, TIMES[moment]), wait=chance.uniform(0, LONGEST[moment])
        )
        done.requests = list(self._requests.get(conversation, []))
        done.left = tuple(sorted(path.suffix for path in self.store.conversations.glob(f"*{conversation}*")))
        kept = self.store.read(conversation)
        check(kept, done)
        done.found = _where(kept)
        self._go_on(conversation, kept)
        return done

    def _begin(self) -> str:
        earlier = tuple(Message(role="user", content=f"earlier {number}") for number in range(EARLIER))
        new = lineage.start(now=utc_now(), model="openai:scripted")
        with self.store.create(
            Conversation(conversation_id=new.conversation_id, title="t", messages=earlier)
        ) as writer:
            writer.save()
        return writer.path.stem

    def _run(self, conversation: str, done: Kill, *, at: int, wait: float) -> None:
        order = {"root": str(self._root), "url": self._url(conversation), "conversation": conversation}
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(order)}\n")
        self._process.stdin.flush()
        lines = self._lines()
        pid, seen = 0, 0
        for line in lines:
            done.said.append(line)
            pid = int(line.split()[1]) if line.startswith("pid ") else pid
            seen += line.split()[0] == MOMENTS[done.moment]
            if pid and seen >= at:
                break
        time.sleep(wait)
        os.kill(pid, signal.SIGKILL)
        done.said.extend(lines)

    def _lines(self) -> Iterator[str]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line == "gone\n":
                return
            yield line.rstrip("\n")
        raise AssertionError("the chats' own process has ended")

    def _go_on(self, conversation: str, kept: Conversation) -> None:
        """What `golem resume` does: the run goes on, and the conversation has one file again."""

        async def resume() -> None:
            http = plain_http()
            model = OpenAIModel(model="scripted", base_url=self._url(conversation), http=http)
            writer = self.store.open(conversation)
            settings = ChatSettings(tools=(ScriptedTool("look", "result afterwards").tool,))
            session = Session(library=self.store, writer=writer, model=model, settings=settings)
            assert session.conversation == kept
            result = await (resuming.resume(session) if session.stop else session.ask("prompt after"))
            assert result.output == "".join(answer_pieces(result.output.split()[1]))
            session.close()
            await http.aclose()

        asyncio.run(resume())
        after = self.store.read(conversation)
        assert after.runs[-1].status == "done"
        before = [message for message in kept.messages if message.content]
        assert [message for message in after.messages if message in before] == before
        names = sorted(path.name for path in self.store.conversations.glob(f"*{conversation}*"))
        assert names == [f"{conversation}.json"], names

    def _url(self, conversation: str) -> str:
        return f"{self._server.url}/{conversation}/v1"

    def _respond(self, request: Request) -> Reply:
        try:
            messages = json.loads(request.body)["messages"]
        except ValueError:  # killed while it was sending
            return Reply(silent=True)
        self._requests.setdefault(request.path.split("/")[1], []).append(messages)
        return scripted(messages)


def scripted(messages: list[dict[str, object]]) -> Reply:
    """Two calls for a prompt, an answer for their results; both in pieces that take a moment."""
    prompt = next(str(each["content"]) for each in reversed(messages) if each["role"] == "user")
    of = prompt.removeprefix("prompt ")
    if messages[-1]["role"] == "user":
        pieces = [chunk(f"looking {of}"), *(_call(number, f"{of}{'ab'[number]}") for number in range(2))]
        finish = "tool_calls"
    else:
        pieces = [chunk(piece) for piece in answer_pieces(of)]
        finish = "stop"
    body = [part for piece in pieces for part in (piece, 0.001)]
    return Reply(
        headers={"Content-Type": "text/event-stream"},
        body=[*body, chunk("", finish), b"data: [DONE]\n\n"],
    )


def answer_pieces(of: str) -> list[str]:
    """The answer to a prompt."""
    return [f"answer {of}", *(f" word {number}" for number in range(1, ANSWER))]


def _call(number: int, of: str) -> bytes:
    call = {
        "index": number,
        "id": f"call_{of}",
        "type": "function",
        "function": {"name": "look", "arguments": json.dumps({"of": of})},
    }
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def check(kept: Conversation, done: Kill) -> None:
    """Everything that was seen is there, once, in its order, and nothing else; a run that died is marked."""
    contents = [message.content for message in kept.messages]
    assert contents[:EARLIER] == [f"earlier {number}" for number in range(EARLIER)]
    new = contents[EARLIER:]
    prompts = [run.prompt for run in kept.runs if run.prompt]
    assert len(set(new) | set(prompts)) == len(new) + len(prompts), "something is there twice"
    assert new == _script(len(new), kept), "not what was asked and answered, in its order"
    missing = _witnessed(done) - set(new) - set(prompts)
    assert not missing, f"seen by the world, and not kept: {missing}"
    assert done.said.count("asking") - 1 <= len(kept.runs) <= done.said.count("asking")
    for run in kept.runs[:-1]:
        assert run.status == "done"
    if kept.runs and kept.runs[-1].status != "done":
        _check_crashed(kept, done)


def _script(length: int, kept: Conversation) -> list[str]:
    """The first `length` contents of the chat as it should be; parallel tools may end in either order."""
    script: list[str] = []
    for turn in range(length // 5 + 1):
        results = [f"result {turn}a", f"result {turn}b"]
        found = [message.content for message in kept.messages if message.content in results]
        ordered = sorted(results, key=lambda each: found.index(each) if each in found else 2)
        script += [f"prompt {turn}", f"looking {turn}", *ordered, "".join(answer_pieces(str(turn)))]
    return script[:length]


def _witnessed(done: Kill) -> set[str]:
    sent = {str(message["content"]) for request in done.requests for message in request}
    told = {line.split(" ", 2)[2] for line in done.said if line.startswith("done ")}
    return {content for content in sent | told if content and not content.startswith("earlier ")}


def _check_crashed(kept: Conversation, done: Kill) -> None:
    run = kept.runs[-1]
    assert (run.status, run.stage) == (FAILED, "crashed")
    steps = [line.split()[0] for line in done.said if line.split()[0] in {"asking", "delta", "done"}]
    if steps[-2:] == ["asking", "delta"] and not messages_of(kept, run.run_id):
        # a run's first fragment is kept before it is shown; later ones are once a second
        assert run.partial_text, "of an answer that was seen nothing is kept"
    turn = len([line for line in done.said if line == "asking"]) - 1
    texts = (f"looking {turn}", "".join(answer_pieces(str(turn))))
    assert any(text.startswith(run.partial_text) for text in texts)


def _where(kept: Conversation) -> str:
    stop = last_stop(kept)
    return stop.where if stop else "between two runs"
