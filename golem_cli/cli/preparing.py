"""The first step of opening a session: settings, conversation and model. What may be wrong is found here."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from golem_cli.cli.home import open_library, paths_of
from golem_cli.cli.model_choice import ASKED, ModelChoice, choose_model
from golem_cli.cli.model_opening import FoundModel, find_model
from golem_cli.core.errors import ConfigurationError
from golem_cli.store.settings import Configuration, load_settings

if TYPE_CHECKING:
    from golem_cli.chat.ports import Library, Writer
    from golem_cli.cli.environment import Environment
    from golem_cli.core.conversation import Conversation


class Wanted(NamedTuple):
    """What the flags ask for; None and "" mean: not given.

    `conversation` is the id of one in the store, or a copy that is to go there; None begins a new one.
    """

    model: str = ""
    system: str | None = None
    trim: int | None = None
    budget: int | None = None
    save: bool = True
    conversation: str | Conversation | None = None


class Kept(NamedTuple):
    """A conversation that is there already, opened, and the library that it is from."""

    library: Library
    writer: Writer


class Prepared(NamedTuple):
    """All that a session is made of: the settings in force, its model and why that one, and what is kept.

    `kept` is None when the conversation is a new one, which nothing is made for yet.
    """

    wanted: Wanted
    configuration: Configuration
    choice: ModelChoice
    model: FoundModel
    kept: Kept | None


def prepare(wanted: Wanted, environment: Environment) -> Prepared:
    """Find what the flags ask for. Raises what is wrong with the settings, the conversation or the model."""
    configuration = load_settings(env=environment.variables, file=paths_of(environment).settings_file)
    kept = _open_kept(wanted, environment)
    try:
        own = kept.writer.conversation.model if kept else ""
        choice = choose_model(wanted.model, own, configuration, environment.variables)
        model = _find_chosen(choice, configuration, environment)
    except BaseException:  # a Ctrl-C too gives the conversation's lock back
        if kept is not None:
            kept.writer.close()
        raise
    return Prepared(wanted, configuration, choice, model, kept)


def _open_kept(wanted: Wanted, environment: Environment) -> Kept | None:
    if wanted.conversation is None:
        return None
    from golem_cli.cli.going_on import open_writer

    library = open_library(environment, save=wanted.save)
    return Kept(library, open_writer(wanted.conversation, library, environment))


def _find_chosen(choice: ModelChoice, configuration: Configuration, environment: Environment) -> FoundModel:
    """Find the model; one that nobody asked for just now comes with a hint at how to take another."""
    try:
        return find_model(choice.name, configuration.settings, environment)
    except ConfigurationError as error:
        if choice.why == ASKED:
            raise
        raise ConfigurationError(f"{error} ({choice.name}, {choice.why}; -m takes another)") from error
