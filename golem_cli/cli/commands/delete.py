"""`golem delete`: move conversations of the store to its trash."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from golem_cli.cli.exit_codes import DONE, epilog
from golem_cli.cli.failures import report_error
from golem_cli.core.errors import GolemError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.cli.environment import Environment

EPILOG = epilog("golem delete 0193", exit_1="the store could not do it")


def command(
    context: typer.Context,
    *,
    conversations: Annotated[
        list[str], typer.Argument(metavar="ID|NAME...", help="Ids, starts of ids, or titles.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Report in JSON.")] = False,
) -> int:
    """Move conversations to the trash. Nothing is erased; it says where each went and how it comes back."""
    from golem_cli.cli.home import open_store, tell_losses

    environment = context.obj
    store = open_store(environment)
    code, moved = DONE, []
    for reference in conversations:
        try:
            conversation_id = store.resolve(reference)
            with suppress(GolemError):  # what cannot be read can go all the same
                tell_losses(conversation_id, store.look(conversation_id).losses, environment)
            trash = store.delete(conversation_id)
            moved.append({"conversationId": conversation_id, "trash": str(trash), "entry": trash.stem})
        except GolemError as error:
            code = max(code, report_error(error, environment))
    entries = " ".join(entry["entry"] for entry in moved)
    with environment.told(f"deleted; golem trash restore {entries} undoes it" if moved else ""):
        _report(moved, as_json=as_json, environment=environment)
    return code


def _report(moved: Sequence[dict[str, str]], *, as_json: bool, environment: Environment) -> None:
    if as_json:
        environment.say_json(moved)
        return
    for entry in moved:
        environment.say(f"{entry['conversationId']} is in the trash now: {entry['trash']}")
        environment.say(f"  golem trash restore {entry['entry']} brings it back")
