"""A call's arguments: verbatim text in memory, `args` and `argsText` in the file."""

from __future__ import annotations

from typing import Final

from golem_cli.core.codec.record import is_json
from golem_cli.core.codec.scan import compact
from golem_cli.core.message import ToolCall

ARGS_DEPTH: Final = 4
"""Levels around a call's args in an array of messages: array, message, list of calls, call."""

_SPACE: Final = " \t\r\n"


def read_args(*, args: str = "", args_text: str = "") -> str:
    """The verbatim text that the two fields stand for: `argsText` wins, null is empty."""
    return args_text or ("" if args == "null" else args)


def written_args(text: str) -> tuple[str, str]:
    """How `text` is written: the JSON value of `args` and the text of `argsText`, "" for a field left out.

    The text is embedded as the value itself when reading that gives back the identical text.

    >>> written_args('{"a": 1.0}'), written_args('{"a": 1')
    (('{"a": 1.0}', ''), ('null', '{"a": 1'))
    """
    if not text:
        return "", ""
    if not is_json(text, depth=ARGS_DEPTH):
        return "null", text
    one_line = "\n" not in text and "\r" not in text
    if one_line and text[0] not in _SPACE and text[-1] not in _SPACE and text != "null":
        return text, ""
    return compact(text), text


def build_call(
    *,
    id: str = "",  # noqa: A002 (the contract's name)
    name: str = "",
    args: str = "",
    args_text: str = "",
    signature: str = "",
    extra: dict[str, str] | None = None,
) -> ToolCall:
    """A call from its fields in the file."""
    text = read_args(args=args, args_text=args_text)
    return ToolCall(id=id, name=name, args=text, signature=signature, extra=extra or {})


class WrittenCall:
    """A call as its fields in the file."""

    __slots__ = ("args", "args_text", "extra", "id", "name", "signature")

    def __init__(self, call: ToolCall) -> None:
        self.id = call.id
        self.name = call.name
        self.args, self.args_text = written_args(call.args)
        self.signature = call.signature
        self.extra = call.extra
