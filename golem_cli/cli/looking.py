"""`golem resume --no-run`: where a conversation stopped, what its last run left, how to go on. Only looks."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from golem_cli.render.neutralize import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from golem_cli.cli.environment import Environment
    from golem_cli.cli.sources import Source
    from golem_cli.core.conversation import Conversation


def look(reference: str, environment: Environment, *, trust: bool, salvage: bool) -> None:
    """Say what `golem resume` would go on from. Nothing is written, locked or copied."""
    from golem_cli.cli.going_on import earlier_copy
    from golem_cli.cli.home import open_store
    from golem_cli.cli.sources import read_source

    source = read_source(reference, environment, salvage=salvage)
    if source.path is not None:
        copy = earlier_copy(source.path, source.original, environment, trust=trust)
        source = read_source(copy, environment) if copy else source
    holder = open_store(environment).holder(source.conversation_id) if source.conversation_id else ""
    for line in _lines(source, reference, trust=trust, holder=holder):
        environment.say(line)


def _lines(source: Source, reference: str, *, trust: bool, holder: str) -> Iterator[str]:
    from golem_cli.cli.showing import conversation_of, head_line, message_lines
    from golem_cli.core.recovery import messages_of, settle

    conversation = conversation_of(source.transcript)
    yield head_line(source)
    if source.transcript.salvaged:
        yield source.transcript.salvaged
    stopped = stop_line(conversation)
    line = stopped or end_line(conversation)
    yield f"{line[0].upper()}{line[1:]}."
    seen = settle(conversation)
    left = messages_of(seen, seen.runs[-1].run_id) if stopped else []
    for number, message in enumerate(left, len(seen.messages) - len(left) + 1):
        yield ""
        yield from message_lines(message, number)
    yield ""
    if holder:
        yield from _ways_beside(source, holder)
    else:
        yield from _ways_on(source, reference, trust=trust, stopped=bool(stopped))


def _ways_beside(source: Source, holder: str) -> Iterator[str]:
    """Yield what can be done with a conversation that another process writes."""
    yield f"It is open in {one_line(holder)}: close it there to go on with it here."
    yield "To go on with what there is in a copy:"
    yield f"  golem fork --chat {source.conversation_id}"


def _ways_on(source: Source, reference: str, *, trust: bool, stopped: bool) -> Iterator[str]:
    """Yield the commands that go on, each on a line of its own, fit to be pasted."""
    from golem_cli.cli.cleaning.sanitizing import waiting_runs

    outside = not source.conversation_id
    if outside:
        yield f"The file stays as it is: {'a copy' if trust else 'a sanitized copy'} of it goes on."
        if not trust and waiting_runs(source.transcript.conversation):
            yield "Nothing waits for an answer in that copy; --trust lets it wait."
    flags = (("--trust", trust and outside), ("--salvage", source.transcript.salvaged))
    words = [*(flag for flag, needed in flags if needed), source.conversation_id or reference]
    command = shlex.join(["golem", "resume", *words])
    asks = "To be asked what next (try again, continue from what there is, drop the turn):"
    yield asks if stopped else "To go on with it:"
    yield f"  {command}"
    yield "To continue at once, or with a prompt of yours:"
    yield f"  {command} --prompt continue"


def stop_line(conversation: Conversation) -> str:
    """Say where the last run stopped short, and what its record says of the reason; "" when it did not."""
    from golem_cli.core.recovery import last_stop
    from golem_cli.core.run_status import INTERRUPTED, RUNNING
    from golem_cli.render.words import record_says

    stop = last_stop(conversation)
    if stop is None:
        return ""
    stage = f" (stage {stop.run.stage})" if stop.run.stage else ""
    why = f"; {record_says(stop.run)}" if stop.run.error else ""
    if stop.run.status == RUNNING:
        return f"the last run has not ended: it stands {stop.where}"
    what = "was interrupted" if stop.run.status == INTERRUPTED else "failed"
    return f"the last run {what} {stop.where}{stage}{why}"


def end_line(conversation: Conversation) -> str:
    """Say how a last run ended that did not stop short."""
    from golem_cli.render.words import counted

    if not conversation.runs:
        return "no run is on record"
    waiting = len(conversation.runs[-1].pending)
    return f"the last run waits for {counted(waiting, 'answer')}" if waiting else "the last run ended well"
