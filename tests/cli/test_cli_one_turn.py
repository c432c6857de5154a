"""One turn: what is said of a run names that run, and no earlier one when none began."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from golem_cli.chat import lineage
from golem_cli.chat.session import Session
from golem_cli.cli.answer_output import WatchedOutput
from golem_cli.cli.one_turn import Work, output_for, take_turn
from golem_cli.core.errors import ConfigurationError
from golem_cli.core.result import Result
from golem_cli.store.store import Store
from golem_cli.testing import ScriptedModel
from tests.support.golem_runs import Finished, environment_for_tests

NOW = "2026-01-02T03:04:05.000Z"


def asked_once(tmp_path: Path, model: ScriptedModel) -> Session:
    """A session whose first run ended well."""
    store = Store(tmp_path)
    session = Session(library=store, writer=store.create(lineage.start(now=NOW)), model=model)
    asyncio.run(session.ask("Hi"))
    return session


def taken(session: Session, work: Work) -> tuple[int, Finished]:
    environment, written = environment_for_tests()
    code = take_turn(session, work, output_for("json", environment), environment)
    return code, written()


async def stopped() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.Event().wait()


@pytest.mark.skipif(os.name == "nt", reason="Windows sends a process no signals")
def test_a_turn_that_is_stopped_before_its_run_names_no_run(tmp_path: Path) -> None:
    async def work(session: Session, output: WatchedOutput) -> Result[str]:
        await stopped()
        return await session.ask("And?")

    code, done = taken(asked_once(tmp_path, ScriptedModel("first")), work)
    assert code == 128 + signal.SIGINT
    assert done.json["error"]["message"] == "stopped by SIGINT"
    assert not {"runId", "usage", "requests", "file"} & done.json.keys()


@pytest.mark.skipif(os.name == "nt", reason="Windows sends a process no signals")
def test_a_run_that_is_stopped_is_named(tmp_path: Path) -> None:
    session = asked_once(tmp_path, ScriptedModel("first").hang("half"))

    async def work(session: Session, output: WatchedOutput) -> Result[str]:
        return await session.ask("And?", on_delta=lambda _: os.kill(os.getpid(), signal.SIGINT))

    code, done = taken(session, work)
    assert code == 128 + signal.SIGINT
    first, second = session.conversation.runs
    assert done.json["runId"] == second.run_id != first.run_id


def test_a_turn_that_goes_back_and_is_refused_names_no_run(tmp_path: Path) -> None:
    """What was cut off takes its run along: the last one then is an earlier one, and none began."""
    session = asked_once(tmp_path, ScriptedModel("first", "second"))
    asyncio.run(session.ask("And?"))

    async def work(session: Session, output: WatchedOutput) -> Result[str]:
        session.take_back()
        return await session.ask(" ")

    environment, written = environment_for_tests()
    with pytest.raises(ConfigurationError, match="the prompt is empty"):
        take_turn(session, work, output_for("json", environment), environment)
    assert "runId" not in written().json
