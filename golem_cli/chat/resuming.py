"""Going on after a run that stopped short, or was cut by its length: resume, go on, try again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.chat import rewind
from golem_cli.core.errors import ConfigurationError
from golem_cli.core.run_status import DROPPED

if TYPE_CHECKING:
    from golem_cli.chat.session import Session
    from golem_cli.core.conversation import Conversation
    from golem_cli.core.events import OnEvent
    from golem_cli.core.model import OnDelta
    from golem_cli.core.result import Result

_CONTINUE: Final = "continue"
"""The prompt that goes on where there is nothing else to say."""


async def resume(
    session: Session, text: str = "", *, on_delta: OnDelta | None = None, on_event: OnEvent | None = None
) -> Result[str]:
    """Continue from what a stopped run left, with `text` (default `continue`) as the next prompt.

    A run that left nothing but its prompt is simply tried again, unless there is a text. Raises as `go_on`
    does.
    """
    stop = session.stop
    if not session.conversation.runs:
        raise ConfigurationError("there is nothing to resume yet: type a prompt")
    _refuse_dropped(session.conversation)
    if stop is None:
        raise ConfigurationError("the last run ended well: there is nothing to resume; just go on")
    if not text and not stop.added and not stop.run.partial_text:
        return await try_again(session, on_delta=on_delta, on_event=on_event)
    return await go_on(session, text, on_delta=on_delta, on_event=on_event)


async def go_on(
    session: Session, text: str = "", *, on_delta: OnDelta | None = None, on_event: OnEvent | None = None
) -> Result[str]:
    """Have the model go on from the last message seen, with `text` (default `continue`) as the prompt.

    Raises `ConfigurationError`, and changes nothing, when `continue` would go alone, or after a turn that was
    dropped: then nobody would know with what.
    """
    seen = session.seen
    if not text:
        _refuse_dropped(seen)
        await _refuse_alone(session, seen)
    return await session.ask(text or _CONTINUE, after=seen, on_delta=on_delta, on_event=on_event)


async def try_again(
    session: Session, *, on_delta: OnDelta | None = None, on_event: OnEvent | None = None
) -> Result[str]:
    """Ask the last prompt again, as if its run had not been; what that run left stays as a fork."""
    _, prompt = rewind.last_prompt(session.seen)
    session.look_at(prompt.content, prompt.parts)  # before a cut
    prompt = session.take_back()
    return await session.ask(prompt.content, parts=prompt.parts, on_delta=on_delta, on_event=on_event)


def _refuse_dropped(conversation: Conversation) -> None:
    if conversation.runs and conversation.runs[-1].status == DROPPED:
        raise ConfigurationError("the last turn was dropped: there is nothing to go on with; type a prompt")


async def _refuse_alone(session: Session, seen: Conversation) -> None:
    if not seen.messages or not await session.planner.goes_alone(seen, session.model, _CONTINUE):
        return
    budget = session.planner.budget(seen)
    bound = f"the budget of {budget:,} tokens" if budget else "what the model can take"
    raise ConfigurationError(
        f"not sent: nothing of what it would go on from fits into {bound}; allow more, or ask the "
        "prompt again"
    )
