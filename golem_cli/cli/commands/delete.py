"""`golem delete`: move conversations of the store to its trash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from golem_cli.cli.exit_codes import DONE, epilog
from golem_cli.cli.failures import report_error
from golem_cli.core.errors import GolemError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from golem_cli.cli.environment import Environment

EPILOG = epilog("golem delete 0193", exit_1="the store could not do it")


class _Moved(NamedTuple):
    """A conversation, where it is in the trash, and what stays that was kept of it."""

    conversation_id: str
    trash: Path
    kept: list[Path]

    def as_json(self) -> dict[str, object]:
        return {
            "conversationId": self.conversation_id,
            "trash": str(self.trash),
            "entry": self.trash.stem,
            "kept": [str(path) for path in self.kept],
        }


def command(
    context: typer.Context,
    *,
    conversations: Annotated[
        list[str], typer.Argument(metavar="ID|NAME...", help="Ids, starts of ids, or titles.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Report in JSON.")] = False,
) -> int:
    """Move conversations to the trash. Nothing is erased; it says where each went and how it comes back."""
    from golem_cli.cli.home import open_store
    from golem_cli.store.inspection import kept_aside

    environment = context.obj
    store = open_store(environment)
    code = DONE
    moved: list[_Moved] = []
    for reference in conversations:
        try:
            conversation_id = store.resolve(reference)
            trash = store.delete(conversation_id)
            moved.append(_Moved(conversation_id, trash, kept_aside(store.conversations, of=conversation_id)))
        except GolemError as error:
            code = max(code, report_error(error, environment))
    entries = " ".join(each.trash.stem for each in moved)
    with environment.told(f"deleted; golem trash restore {entries} undoes it" if moved else ""):
        _report(moved, as_json=as_json, environment=environment)
    return code


def _report(moved: Sequence[_Moved], *, as_json: bool, environment: Environment) -> None:
    if as_json:
        environment.say_json([each.as_json() for each in moved])
        return
    for each in moved:
        environment.say(f"{each.conversation_id} is in the trash now: {each.trash}")
        environment.say(f"  golem trash restore {each.trash.stem} brings it back")
        for path in each.kept:
            environment.say(f"  {path} stays: it was kept by -w, --undo, --salvage or a recovery")
