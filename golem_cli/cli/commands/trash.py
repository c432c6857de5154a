"""`golem trash`: see what was deleted, bring it back, or erase it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from golem_cli.cli.exit_codes import DONE, epilog
from golem_cli.cli.failures import WrongUsage, report_error
from golem_cli.core.errors import ConversationNotFound, GolemError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.cli.environment import Environment
    from golem_cli.store.store import Store
    from golem_cli.store.summary import Summary

EPILOG = epilog(
    "golem trash", "golem trash restore 0193", "golem trash empty", exit_1="the store could not do it"
)


class Action(StrEnum):
    """What to do."""

    LIST = "list"
    RESTORE = "restore"
    EMPTY = "empty"


def command(
    context: typer.Context,
    action: Annotated[
        Action, typer.Argument(help="List what was deleted, bring some of it back, or erase all of it.")
    ] = Action.LIST,
    entries: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID|NAME]...", help="What to restore: ids, starts of ids, or titles."),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="The list as a JSON array.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Empty without asking.")] = False,
) -> int:
    """See the deleted conversations, bring them back, or erase them. Nothing is erased by age.

    Restoring overwrites nothing: a conversation that exists again is left as it is.
    """
    from golem_cli.cli.home import open_store

    environment = context.obj
    store = open_store(environment)
    if entries and action != Action.RESTORE:
        raise WrongUsage(f"golem trash {action} takes no id")
    if action == Action.RESTORE:
        return _restore(entries or [], store, environment)
    if action == Action.EMPTY:
        return _empty(store, environment, sure=yes)
    _list(store.deleted.summaries(), environment, as_json=as_json)
    return DONE


def _list(deleted: Sequence[Summary], environment: Environment, *, as_json: bool) -> None:
    if as_json:
        environment.say_json([_json_entry(summary) for summary in deleted])
    elif not deleted:
        environment.say("The trash is empty.")
    else:
        from golem_cli.render.listing import conversation_lines

        names = [summary.conversation_id for summary in deleted]
        width = environment.columns if environment.stdout_is_terminal else None
        for line in conversation_lines(deleted, names, width=width):
            environment.say(line)


def _json_entry(summary: Summary) -> dict[str, object]:
    """The shape of `list --json`, and the name that restores it."""
    from golem_cli.cli.listed import json_summary
    from golem_cli.store.trash import conversation_of

    name = summary.conversation_id
    return json_summary(summary) | {"conversationId": conversation_of(name), "entry": name}


def _way_on(conversation_id: str, store: Store) -> str:
    try:
        store.read(conversation_id)
    except GolemError:
        return ", and cannot be read, as before: golem doctor says what helps"
    return f": golem resume {conversation_id} goes on with it"


def _restore(references: Sequence[str], store: Store, environment: Environment) -> int:
    if not references:
        raise WrongUsage("restore what? golem trash list shows what there is")
    code = DONE
    for reference in references:
        try:
            conversation_id = store.deleted.restore(_resolve(reference, store))
            environment.say_done(f"{conversation_id} is back{_way_on(conversation_id, store)}")
        except GolemError as error:
            code = max(code, report_error(error, environment))
    return code


def _resolve(reference: str, store: Store) -> str:
    from golem_cli.core.quote import quoted
    from golem_cli.store.references import resolve_reference

    try:
        return resolve_reference(reference, store.deleted.names(), store.deleted.summaries)
    except ConversationNotFound as error:
        near = f"; did you mean {quoted(error.nearest[0])}?" if error.nearest else "; see golem trash list"
        raise WrongUsage(f"there is no {quoted(reference)} in the trash{near}") from error


def _empty(store: Store, environment: Environment, *, sure: bool) -> int:
    from golem_cli.render.words import counted

    count = len(store.deleted.names())
    if not count:
        environment.say("The trash is empty.")
        return DONE
    many = counted(count, "conversation")
    if not sure:
        if not environment.stdin_is_terminal:
            raise WrongUsage(f"the trash holds {many}; without a terminal to ask on, --yes erases them")
        environment.write(f"Erase {many} for good? [y/N] ")
        environment.stdout.flush()
        if environment.stdin.readline().strip().lower() not in {"y", "yes"}:
            environment.say("Nothing was erased.")
            return DONE
    store.empty_trash()
    environment.say_done(f"Erased {many}.")
    return DONE
