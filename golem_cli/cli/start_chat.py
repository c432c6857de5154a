"""From the flags of `golem chat` to a running chat. Knows no Typer, so that a bare `golem` starts at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec

from golem_cli.cli.exit_codes import DONE, TERMINATED
from golem_cli.cli.exporting import export
from golem_cli.cli.failures import WrongUsage
from golem_cli.cli.home import paths_of
from golem_cli.cli.model_choice import EMBEDDED
from golem_cli.cli.model_opening import model_names, open_model, warm_up
from golem_cli.cli.opening import by_reference, make_session, newest
from golem_cli.cli.preparing import Prepared, Wanted, prepare

if TYPE_CHECKING:
    from golem_cli.chat.ports import ChatModel
    from golem_cli.chat.session import Session
    from golem_cli.cli.environment import Environment
    from golem_cli.core.conversation import Conversation
    from golem_cli.repl.room import Room

Before = Callable[["Room"], Awaitable[None] | None]


class ChatOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The flags of `golem chat`. None and "" mean: not given.

    `resume` is the id, name or file after `-r`; "" when `-r` stood alone, which opens a picker.
    """

    continue_newest: bool = False
    resume: str | None = None
    model: str = ""
    system: str | None = None
    trim: int | None = None
    budget: int | None = None
    save: bool = True
    plain: bool = False
    trust: bool = False
    salvage: bool = False


def start_chat(options: ChatOptions, environment: Environment, *, before: Before | None = None) -> int:
    """Open the chat and return the exit code. `before` runs in it before the first prompt."""
    if not environment.stdin_is_terminal:
        raise WrongUsage('the chat needs a terminal; golem -p "text" asks without one')
    wanted = Wanted(
        model=options.model,
        system=options.system,
        trim=options.trim,
        budget=options.budget,
        save=options.save,
        conversation=_existing(options, environment),
    )
    prepared = prepare(wanted, environment)
    session = make_session(prepared, environment)
    try:
        return _run(prepared, session, options, environment, before)
    finally:
        session.close()


def _existing(options: ChatOptions, environment: Environment) -> str | Conversation | None:
    """The conversation that the flags name; None for a new one."""
    if options.continue_newest:
        return newest(environment)
    if options.resume is None:
        return None
    reference = options.resume
    if not reference:
        from golem_cli.cli.picker import pick_conversation

        reference = pick_conversation(environment)
    return by_reference(reference, environment, trust=options.trust, salvage=options.salvage)


def _run(
    prepared: Prepared,
    session: Session,
    options: ChatOptions,
    environment: Environment,
    before: Before | None,
) -> int:
    from golem_cli.render.console import appearance
    from golem_cli.repl.chat import Chat
    from golem_cli.repl.terminal import Terminal

    settings = prepared.configuration.settings
    look = appearance(
        is_terminal=environment.stdout_is_terminal,
        environment=environment.variables,
        plain=options.plain or settings.plain,
    )
    chat = Chat(
        session=session,
        terminal=Terminal(out=environment.stdout, plain=look.plain, color=look.color),
        open_model=lambda name: open_model(name, settings, environment),
        export=lambda name, conversation: export(
            name, conversation, policy=settings.secrets, notice=session.notice
        ),
        model_names=model_names(),
        history_file=paths_of(environment).prompt_history if options.save else None,
        vi_mode=settings.vi_mode,
        once_shown=lambda: _get_ready(session.model),
    )
    asyncio.run(chat.run(greeting=[_introduction(prepared)], before=before))
    return TERMINATED if chat.terminated else DONE


def _get_ready(model: ChatModel) -> None:
    """While the person reads and types: let the model load, and import what its first answer needs."""
    from golem_cli.cli.preload import preload

    warm_up(model)
    preload()


def _introduction(prepared: Prepared) -> str:
    """Which model answers, why that one, and how to change it, in one line."""
    name, why = prepared.model.name, prepared.choice.why
    small = ", a small demonstration model that runs on this machine" if name.startswith(EMBEDDED) else ""
    return f"{name}{small} ({why}). /model or -m changes it, /help lists commands."
