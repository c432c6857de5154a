"""A process that chats until it is killed: a real session, with tools, on a real store and over HTTP.

    python -m tests.support.killed_chat

It reads a JSON object a line, `{"root", "url", "conversation"}`, and forks a chat for each, which is quicker
than to start one; then it says `pid N`, and `gone` once that process has ended. What the chat says in between
is true when it is said: `done KIND CONTENT` only after the session has kept it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx

from golem_cli.chat.chat_settings import ChatSettings
from golem_cli.chat.session import Session
from golem_cli.core.events import RunEvent
from golem_cli.core.model import Delta
from golem_cli.core.tool import RunContext, Tool
from golem_cli.providers.openai.client import OpenAIModel
from golem_cli.store.store import Store

FOLD_EVERY = 2
"""Prompts after which the conversation is closed and opened again."""


def say(*words: object) -> None:
    os.write(1, f"{' '.join(map(str, words))}\n".encode())  # unbuffered: it is said before what comes next


def plain_http() -> httpx.AsyncClient:
    return httpx.AsyncClient(verify=False)  # noqa: S501 (no TLS on loopback; to load certificates is slow)


async def look(_: RunContext[Any], args: str) -> str:
    """The tool; its answer names its question."""
    say("tool", args)
    await asyncio.sleep(0.003)
    return f"result {json.loads(args)['of']}"


TOOL = Tool(name="look", description="Looks.", function=look)


def on_event(event: RunEvent) -> None:
    if event.kind in {"model_end", "tool_end"} and event.message is not None:
        say("done", event.message.role, event.message.content)


def on_delta(delta: Delta) -> None:
    if delta.content:
        say("delta", delta.content.strip())


async def chat(root: str, url: str, conversation: str) -> None:
    """Ask prompt after prompt; leave the conversation and come back to it now and then."""
    store = Store(Path(root))
    for turns in itertools.count():
        say("opening")
        http = plain_http()
        model = OpenAIModel(model="scripted", base_url=url, http=http)
        session = Session(
            library=store, writer=store.open(conversation), model=model, settings=ChatSettings(tools=(TOOL,))
        )
        for turn in range(FOLD_EVERY):
            say("asking")
            await session.ask(f"prompt {turns * FOLD_EVERY + turn}", on_event=on_event, on_delta=on_delta)
        say("folding")
        session.close()
        await http.aclose()


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if not pid:
            asyncio.run(chat(order["root"], order["url"], order["conversation"]))
            os._exit(1)  # it never ends by itself
        say("pid", pid)
        os.waitpid(pid, 0)
        say("gone")


if __name__ == "__main__":
    main()
