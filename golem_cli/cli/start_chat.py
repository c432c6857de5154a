"""From the flags of `golem chat` to a running chat. Knows no Typer, so that a bare `golem` starts at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment


@dataclass(frozen=True, kw_only=True)
class ChatOptions:
    """The flags of `golem chat`. None and "" mean: not given.

    `resume` is the id, name or file after `-r`; "" when `-r` stood alone, which opens a picker.
    """

    continue_newest: bool = False
    resume: str | None = None
    model: str = ""
    system: str | None = None
    trim: int | None = None
    budget: int | None = None
    tools: tuple[str, ...] = ()
    save: bool = True
    plain: bool = False


def start_chat(options: ChatOptions, environment: Environment) -> int:
    """Open the chat and return the exit code."""
    raise ConfigurationError("the chat is not part of this build yet; golem --help lists what is")
