"""The final answer: where it stands, whether the decoder takes it, and what the model is told when not."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Final

from golem_cli.core.errors import ModelRetry
from golem_cli.core.message import TOOL, USER, Message, ToolCall
from golem_cli.core.run.active import ActiveRun
from golem_cli.core.run.batch import closing
from golem_cli.core.run.tool_call import spoken_word

RECORDED_TEXT: Final = "Result recorded."


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A final answer: its text, or the arguments of the call of the output tool."""

    text: str
    call: ToolCall | None = None


def answer_in(run: ActiveRun, turn: Message) -> Answer | None:
    """Return the final answer that `turn` holds, None when its calls must run first.

    The first call of the output tool is the answer, whatever other calls stand beside it.
    """
    if not turn.tool_calls:
        return Answer(text=turn.content)
    output_tool = run.configuration.output_tool
    for call in turn.tool_calls if output_tool is not None else ():
        if output_tool is not None and call.name == output_tool.name:
            return Answer(text=call.args, call=call)
    return None


def close_siblings(run: ActiveRun, turn: Message, answer: Answer) -> None:
    """Close the calls that stand beside the output tool's: they never run.

    Calls that share the answer's id are left to its own result, since a result names nothing but the id.
    """
    if answer.call is not None:
        run.ledger.append([closing(run, call) for call in turn.tool_calls if call.id != answer.call.id])


async def decode(run: ActiveRun, answer: Answer) -> Any:
    """Return the output that the decoder makes of `answer`: the text itself without a decoder."""
    if run.configuration.decoder is None:
        return answer.text
    output = run.configuration.decoder(run.context, answer.text)
    return await output if inspect.isawaitable(output) else output


def rejection_in(error: Exception) -> ModelRetry | None:
    """Return the decoder's rejection, None when it failed otherwise."""
    word = spoken_word(error)
    return word if isinstance(word, ModelRetry) else None


def record(run: ActiveRun, answer: Answer) -> None:
    """Close the output tool's call after its arguments were taken."""
    if answer.call is not None:
        run.ledger.add(_to_call(answer.call, RECORDED_TEXT))


def correction(answer: Answer, reason: str) -> Message:
    """Return what tells the model that its answer was rejected."""
    if answer.call is None:
        text = f"Your previous response was rejected: {reason}. Correct it and respond again."
        return Message(role=USER, content=text)
    name = answer.call.name
    text = f"Your result was rejected: {reason}. Correct the arguments and call {name} again."
    return _to_call(answer.call, text)


def _to_call(call: ToolCall, text: str) -> Message:
    return Message(role=TOOL, content=text, tool_call_id=call.id, tool_name=call.name)
