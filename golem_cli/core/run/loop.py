"""The loop: model turns and batches until an answer is accepted, the run pauses, or it fails."""

from __future__ import annotations

from typing import Any

from golem_cli.core.errors import LoopLimitError, RunError
from golem_cli.core.result import PendingCall, Result
from golem_cli.core.run.active import ActiveRun, described
from golem_cli.core.run.batch import run_batch
from golem_cli.core.run.limits import check_request, check_response
from golem_cli.core.run.model_call import call_model
from golem_cli.core.run.output import (
    Answer,
    answer_in,
    close_siblings,
    correction,
    decode,
    record,
    rejection_in,
)
from golem_cli.core.run.tool_call import Rejections


async def converse(run: ActiveRun) -> Result[Any]:
    """Go on from what the ledger holds to a result. Raises `RunError`, with the evidence, at any stage.

    A rejected answer starts a new round: turns, and the tools' retry budgets, count from zero again.
    """
    rejected = 0
    while True:
        end = await take_turns(run)
        if not isinstance(end, Answer):
            return run.ledger.result(None, end)
        with run.stage("decode"):
            try:
                output = await decode(run, end)
            except Exception as error:  # the application's decoder may raise anything, a rejection in it
                rejection = rejection_in(error)
                if rejection is None or rejected >= run.configuration.output_retries:
                    raise
                rejected += 1
                told = run.ledger.add(correction(end, rejection.reason))
                run.emit("output_rejected", attempt=rejected, error=described(error), message=told)
                continue
            await run.cancellation.checkpoint()
            record(run, end)
            return run.ledger.result(output)


async def take_turns(run: ActiveRun) -> Answer | list[PendingCall]:
    """Take model turns, each with its batch, until one holds an answer or calls wait for somebody."""
    rejections: Rejections = {}
    limit = run.configuration.max_iterations
    for turn in range(limit):
        with run.stage("usage"):
            await check_request(run)
        with run.stage("model"):
            await run.cancellation.checkpoint()
            message = await call_model(run, turn)
            await run.cancellation.checkpoint()
        answer = answer_in(run, message)
        with run.stage("usage"):
            check_response(run, len(message.tool_calls) if answer is None else 0)
        if answer is not None:
            close_siblings(run, message, answer)
            return answer
        pending = await run_batch(run, turn, message.tool_calls, rejections)
        if pending:
            return pending
    cause = LoopLimitError(f"model turn limit exceeded after {limit} turns")
    raise RunError("loop", cause, run.ledger.partial()) from cause
