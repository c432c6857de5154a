"""Opening a session for chat, ask and resume: what `preparing` found, made into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from golem_cli.chat import lineage
from golem_cli.chat.chat_settings import ChatSettings
from golem_cli.chat.session import Session, utc_now
from golem_cli.cli.home import open_library
from golem_cli.cli.preparing import Kept, Prepared, Wanted, prepare
from golem_cli.core.model_settings import ModelSettings
from golem_cli.core.usage import UsageLimit

if TYPE_CHECKING:
    from golem_cli.chat.ports import OnNotice, Writer
    from golem_cli.cli.environment import Environment
    from golem_cli.store.settings import Configuration


def open_session(wanted: Wanted, environment: Environment, notice: OnNotice) -> Session:
    """Open the session that the flags describe, both steps at once."""
    return make_session(prepare(wanted, environment), environment, notice)


def make_session(prepared: Prepared, environment: Environment, notice: OnNotice | None = None) -> Session:
    """The second step: make the session. Flags about the conversation are kept with it."""
    library, writer = prepared.kept or _begin(prepared, environment)
    try:
        model = prepared.model.make()
        settings = _chat_settings(prepared.configuration)
        session = Session(library=library, writer=writer, model=model, settings=settings, notice=notice)
        instructions = prepared.wanted.system
        if instructions not in {None, writer.conversation.instructions}:
            session.guard.check_instructions(instructions)
        _keep_flags(writer, prepared.wanted, prepared.model.name)
    except BaseException:  # a Ctrl-C too gives the conversation's lock back
        writer.close()
        raise
    return session


def _begin(prepared: Prepared, environment: Environment) -> Kept:
    """Begin a new conversation."""
    library = open_library(environment, save=prepared.wanted.save)
    instructions = prepared.configuration.settings.system
    new = lineage.start(now=utc_now(), model=prepared.model.name, instructions=instructions)
    return Kept(library, library.create(new))


def _keep_flags(writer: Writer, wanted: Wanted, model: str) -> None:
    given = {"trim": wanted.trim, "budget": wanted.budget}
    changes = {name: value for name, value in given.items() if value is not None}
    settings = msgspec.structs.replace(writer.conversation.settings, **changes)
    writer.update(model=model, instructions=wanted.system, settings=settings)


def _chat_settings(configuration: Configuration) -> ChatSettings:
    """What a session needs of the settings. Only a trim that somebody set overrules a model's own window."""
    settings = configuration.settings
    return ChatSettings(
        trim=None if configuration.origins["trim"] == "default" else settings.trim,
        budget=settings.budget,
        model=ModelSettings(
            temperature=settings.temperature,
            top_p=settings.top_p,
            max_tokens=settings.max_tokens,
            thinking=settings.thinking,
        ),
        max_attempts=settings.max_attempts,
        max_iterations=settings.max_iterations,
        retry_jitter=settings.retry_jitter,
        usage_limit=None if settings.max_cost is None else UsageLimit(cost=settings.max_cost),
        prices=dict(settings.prices),
        secrets=settings.secrets,
    )
