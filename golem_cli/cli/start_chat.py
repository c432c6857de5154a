"""From the flags of `golem chat` to a running chat. Knows no Typer, so that a bare `golem` starts at once.

Two steps, so that the first prompt waits for no more than it must: `prepare` finds whatever may be wrong, and
the prompt is painted; then the session is made, unless what is in it must be shown above the prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, NamedTuple

from golem_cli.cli.exit_codes import DONE, FAILED, TERMINATED
from golem_cli.cli.failures import WrongUsage
from golem_cli.cli.home import paths_of
from golem_cli.cli.model_choice import EMBEDDED
from golem_cli.cli.model_opening import model_names, open_model
from golem_cli.cli.preparing import Prepared, Wanted, prepare

if TYPE_CHECKING:
    from pathlib import Path

    from golem_cli.chat.ports import OnNotice
    from golem_cli.chat.session import Session
    from golem_cli.cli.environment import Environment
    from golem_cli.core.conversation import Conversation
    from golem_cli.render.syntax_theme import SyntaxTheme
    from golem_cli.repl.chat import Before, Chat


class ChatOptions(NamedTuple):
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
    salvage: bool | None = None


def start_chat(options: ChatOptions, environment: Environment, *, before: Before | None = None) -> int:
    """Open the chat and return the exit code. `before` runs in it before the first prompt."""
    if not environment.stdin_is_terminal:
        raise WrongUsage('the chat needs a terminal; golem -p "text" asks without one')
    prepared = prepare(_wanted(options, environment), environment)
    opened: list[Session] = []
    with ExitStack() as at_the_end:

        def open_session() -> Session:
            from golem_cli.cli.opening import make_session

            session = make_session(prepared, environment)
            at_the_end.callback(session.close)
            opened.append(session)
            return session

        chat = _chat(prepared, options, environment, open_session)
        arriving = prepared.kept is not None
        greeting = [_introduction(prepared)]
        terminated = asyncio.run(chat.run(greeting=greeting, arriving=arriving, before=before))
    if terminated:
        return TERMINATED
    return FAILED if any(session.writer.unsaved for session in opened) else DONE


def _wanted(options: ChatOptions, environment: Environment) -> Wanted:
    return Wanted(
        model=options.model,
        system=options.system,
        trim=options.trim,
        budget=options.budget,
        save=options.save,
        conversation=_existing(options, environment),
    )


def _existing(options: ChatOptions, environment: Environment) -> str | Conversation | None:
    """The conversation that the flags name; None for a new one."""
    if not options.continue_newest and options.resume is None:
        return None
    from golem_cli.cli.going_on import by_reference, newest

    if options.resume is None:
        return newest(environment)
    reference = options.resume
    if not reference:
        from golem_cli.cli.picker import pick_conversation

        reference = pick_conversation(environment)
    return by_reference(reference, environment, trust=options.trust, salvage=options.salvage)


def _chat(
    prepared: Prepared, options: ChatOptions, environment: Environment, open_session: Callable[[], Session]
) -> Chat:
    from golem_cli.render.console import appearance
    from golem_cli.repl.chat import Chat
    from golem_cli.repl.end_notice import EndNotice
    from golem_cli.repl.terminal import Terminal

    settings = prepared.configuration.settings

    def export_file(name: str, conversation: Conversation, notice: OnNotice) -> Path:
        from golem_cli.cli.exporting import export

        return export(name, conversation, policy=settings.secrets, notice=notice)

    look = appearance(
        is_terminal=environment.stdout_is_terminal,
        environment=environment.variables,
        plain=options.plain or settings.plain,
    )
    return Chat(
        terminal=Terminal(
            out=environment.stdout,
            plain=look.plain,
            color=look.color,
            theme=_theme(settings.theme, environment),
        ),
        open_session=open_session,
        open_model=lambda name: open_model(name, settings, environment),
        export=export_file,
        model_names=model_names(),
        history_file=_prompt_history(environment) if options.save else None,
        vi_mode=settings.vi_mode,
        end_notice=EndNotice(settings.notify, settings.notify_after),
        once_open=_get_ready,
    )


def _prompt_history(environment: Environment) -> Path:
    """Where earlier prompts are kept, its folder made where that can be."""
    from golem_cli.store.atomic import make_folder

    path = paths_of(environment).prompt_history
    with suppress(OSError):  # then those of this sitting are kept in memory
        make_folder(path.parent)
    return path


def _theme(name: str, environment: Environment) -> SyntaxTheme | None:
    """The colours of code that were asked for; None, without any import, for the terminal's own."""
    if name == "ansi":
        return None
    from golem_cli.render.syntax_theme import load_theme

    return load_theme(name, environment.variables)


def _get_ready(session: Session) -> None:
    """While the person reads and types: let the model load, and import what its first answer needs."""
    from golem_cli.chat.ports import warm_up
    from golem_cli.cli.preload import preload

    warm_up(session.model)
    preload()


def _introduction(prepared: Prepared) -> str:
    """Which model answers, why that one, and how to change it, in one line."""
    name, why = prepared.model.name, prepared.choice.why
    small = ", a small demonstration model that runs on this machine" if name.startswith(EMBEDDED) else ""
    return f"{name}{small} ({why}). /model or -m changes it, /help lists commands."
