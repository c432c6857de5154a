"""`golem models`: what can be used now, and why not; and the embedded model's weights."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from golem_cli.cli.exit_codes import DONE, FAILED, epilog

if TYPE_CHECKING:
    from golem_cli.cli.availability import Availability
    from golem_cli.cli.environment import Environment

EPILOG = epilog("golem models", "golem models fetch", exit_1="the weights could not be fetched")

SHOWN_MODELS = 8
"""Names that a line of the list shows of a server that has many; --json has all."""


class Action(StrEnum):
    """What to do."""

    LIST = "list"
    FETCH = "fetch"


def command(
    context: typer.Context,
    action: Annotated[
        Action, typer.Argument(help="List the providers, or fetch the embedded model's weights.")
    ] = Action.LIST,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON array.")] = False,
) -> int:
    """Say which providers can be used now and why not. Only servers on this machine are asked."""
    environment = context.obj
    if action == Action.FETCH:
        return fetch(environment)
    providers = available(environment)
    if as_json:
        environment.say_json(
            [
                {"name": each.name, "usable": each.usable, "reason": each.reason, "models": list(each.models)}
                for each in providers
            ]
        )
        return DONE
    width = max(len(each.name) for each in providers)
    for each in sorted(providers, key=lambda one: not one.usable):
        environment.say(f"{'yes' if each.usable else 'no ':3}  {each.name:{width}}  {_words(each)}")
    environment.say(
        "\nUse one as golem -m PROVIDER:MODEL; without -m golem takes the first that can be used."
    )
    return DONE


def available(environment: Environment) -> list[Availability]:
    """Return what is known of every provider, the embedded model last."""
    from golem_cli.cli.availability import of_embedded, of_service
    from golem_cli.cli.home import paths_of
    from golem_cli.providers.services import SERVICES
    from golem_cli.store.settings import load_settings

    paths = paths_of(environment)
    settings = load_settings(env=environment.variables, file=paths.settings_file).settings
    listed = [of_service(service, settings, environment.variables) for service in SERVICES]
    return [*listed, of_embedded(paths.cache)]


def fetch(environment: Environment) -> int:
    """Bring the weights into the cache; a progress line on a terminal, else one line on stderr."""
    from golem_cli.cli.home import paths_of
    from golem_cli.cli.weights import fetched_weights
    from golem_cli.core.errors import GolemError

    try:
        path = fetched_weights(paths_of(environment).cache, environment)
    except GolemError as error:
        from golem_cli.cli.failures import report_error

        report_error(error, environment)
        return FAILED
    environment.say(str(path))
    return DONE


def _words(each: Availability) -> str:
    if not each.models:
        return each.reason
    more = f" and {len(each.models) - SHOWN_MODELS} more" if len(each.models) > SHOWN_MODELS else ""
    return f"{each.reason}: {', '.join(each.models[:SHOWN_MODELS])}{more}"
