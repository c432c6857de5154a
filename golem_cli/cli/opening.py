"""Opening a session for chat, ask and resume: settings, a conversation, and the model that answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from golem_cli.chat import lineage
from golem_cli.chat.memory import MemoryLibrary
from golem_cli.chat.session import ChatSettings, Session, utc_now
from golem_cli.cli.failures import WrongUsage
from golem_cli.cli.home import open_store, paths_of
from golem_cli.cli.model_choice import ASKED, ModelChoice, choose_model
from golem_cli.cli.model_opening import open_model
from golem_cli.core.errors import ConfigurationError
from golem_cli.core.model_settings import ModelSettings
from golem_cli.store.settings import Configuration, load_settings

if TYPE_CHECKING:
    from golem_cli.chat.ports import ChatModel, Library, OnNotice, Writer
    from golem_cli.cli.environment import Environment
    from golem_cli.core.conversation import Conversation


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the flags ask for; None and "" mean: not given.

    `conversation` is the id of one in the store, or a copy that is to go there; None begins a new one.
    """

    model: str = ""
    system: str | None = None
    trim: int | None = None
    budget: int | None = None
    save: bool = True
    conversation: str | Conversation | None = None


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A session that is ready, the model's name with the reason for it, and the settings in force."""

    session: Session
    choice: ModelChoice
    configuration: Configuration


def open_session(wanted: Wanted, environment: Environment, notice: OnNotice) -> Opened:
    """Open the session that the flags describe. Flags about the conversation are kept with it."""
    configuration = load_settings(env=environment.variables, file=paths_of(environment).settings_file)
    library = open_store(environment) if wanted.save else MemoryLibrary()
    existing = None if wanted.conversation is None else open_writer(wanted.conversation, library, environment)
    try:
        kept = existing.conversation.model if existing else ""
        choice = choose_model(wanted.model, kept, configuration, environment.variables)
        model = _open_chosen(choice, configuration, environment)
        writer = existing or library.create(
            lineage.start(now=utc_now(), model=model.name, instructions=configuration.settings.system)
        )
    except BaseException:
        if existing is not None:
            existing.close()
        raise
    _keep_flags(writer, wanted, model.name)
    session = Session(
        library=library, writer=writer, model=model, settings=_chat_settings(configuration), notice=notice
    )
    return Opened(session=session, choice=choice, configuration=configuration)


def newest(environment: Environment) -> str:
    """The id of the conversation that was changed last."""
    conversation_id = open_store(environment).newest()
    if conversation_id is None:
        raise WrongUsage("there is no conversation to continue yet; golem opens the first one")
    return conversation_id


def by_reference(
    reference: str, environment: Environment, *, trust: bool = False, salvage: bool = False
) -> str | Conversation:
    """The id of a conversation of the store, or a copy for the store of a file outside it.

    A file is never written: its sanitized copy goes into the store, and the same file leads there again.
    """
    from golem_cli.cli.sources import find_conversation

    conversation_id = find_conversation(reference, environment)
    return conversation_id or _copy_of(Path(reference), environment, trust=trust, salvage=salvage)


def open_writer(conversation: str | Conversation, library: Library, environment: Environment) -> Writer:
    """Open what is kept, or keep the copy. In a library that keeps nothing, what is kept stays untouched."""
    if not isinstance(conversation, str):
        writer = library.create(conversation)
        writer.save()
        if writer.path is not None:
            environment.complain(
                f"golem: the file stays as it is; its copy is {conversation.conversation_id}"
            )
        return writer
    if isinstance(library, MemoryLibrary):
        return library.create(open_store(environment).read(conversation))
    return library.open(conversation)


def _copy_of(path: Path, environment: Environment, *, trust: bool, salvage: bool) -> str | Conversation:
    from golem_cli.cli.sanitize import summary_of
    from golem_cli.cli.sources import read_source
    from golem_cli.store.imports import note_import

    source = read_source(str(path), environment, salvage=salvage)
    if earlier := earlier_copy(path, source.original, environment, trust=trust):
        return earlier
    if source.transcript.salvaged:
        environment.complain(f"golem: {path}: {source.transcript.salvaged}")
    adopted = lineage.adopt(source.transcript, now=utc_now(), source=path.name, trust=trust)
    if adopted.report is not None:
        environment.complain(f"golem: {path} comes from outside: {summary_of(adopted.report)}")
    return note_import(adopted.conversation, path, source.original)


def earlier_copy(path: Path, data: bytes, environment: Environment, *, trust: bool) -> str:
    """Return the id of the copy that the store has of the file at `path`, "" when there is none; say so.

    `data` is what the file holds now.
    """
    from golem_cli.store.imports import is_copy_of

    store = open_store(environment)
    earlier = store.copy_of(path)
    if earlier is None:
        return ""
    same = is_copy_of(store.read(earlier), path, data)
    anew = " the file has changed since," if not same else " --trust changes nothing in it;" if trust else ""
    hint = f";{anew} golem fork copies the file anew" if anew else ""
    environment.complain(f"golem: going on with the copy made earlier, {earlier}{hint}")
    return earlier


def _open_chosen(choice: ModelChoice, configuration: Configuration, environment: Environment) -> ChatModel:
    """Open the model; one that nobody asked for just now comes with a hint at how to take another."""
    try:
        return open_model(choice.name, configuration.settings, environment)
    except ConfigurationError as error:
        if choice.why == ASKED:
            raise
        raise ConfigurationError(f"{error} ({choice.name}, {choice.why}; -m takes another)") from error


def _keep_flags(writer: Writer, wanted: Wanted, model: str) -> None:
    import msgspec

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
            temperature=settings.temperature, top_p=settings.top_p, max_tokens=settings.max_tokens
        ),
        max_attempts=settings.max_attempts,
        max_iterations=settings.max_iterations,
        secrets=settings.secrets,
    )
