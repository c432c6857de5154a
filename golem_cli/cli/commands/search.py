"""`golem search`: the conversations whose text has the given words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from golem_cli.cli.exit_codes import DONE, NOTHING_FOUND, epilog
from golem_cli.cli.failures import WrongUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.cli.environment import Environment
    from golem_cli.store.index.catalogue import Found, Hit

EPILOG = epilog(
    "golem search boat",
    'golem search "small blue boat" paint*',
    exit_1="nothing was found, or the store could not be read",
)

_PIPE_WIDTH: Final = 160
"""Cells of an excerpt where no screen bounds it."""
_INDENT: Final = "    "


def command(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="WORD...", help='Words, beginnings (wor*), "phrases in quotes".')
    ],
    *,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="Only the newest N.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON array.")] = False,
) -> int:
    """Find the conversations that have all of the words.

    The newest come first; case does not matter. Searched are titles, instructions, messages, thinking, tool
    calls with their arguments and results, and what a stopped run left. Under each conversation stands a
    place, with the number of its message.
    """
    from golem_cli.cli.home import open_shelf
    from golem_cli.store.index.query import parse_query

    environment = context.obj
    query = parse_query(words)
    if not query.terms:
        raise WrongUsage("there is no word to search for; letters and digits make words")
    shelf = open_shelf(environment)
    found = shelf.search(query, limit)
    if as_json:
        environment.say_json([_json_hit(hit) for hit in found.hits])
    else:
        _show(found.hits, shelf.ids(), environment)
    _complain(found, environment)
    return DONE if found.hits else NOTHING_FOUND


def _show(hits: Sequence[Hit], ids: Sequence[str], environment: Environment) -> None:
    from golem_cli.render.listing import conversation_lines

    if not hits:
        return
    width = environment.columns if environment.stdout_is_terminal else None
    header, *lines = conversation_lines([hit.summary for hit in hits], ids, width=width)
    environment.say(header)
    for line, hit in zip(lines, hits, strict=True):
        environment.say(line)
        environment.write(f"{_INDENT}{_excerpt(hit, environment)}\n")


def _excerpt(hit: Hit, environment: Environment) -> str:
    """The match within its text: neutralized, with the match in bold where that can be."""
    from golem_cli.render.console import appearance
    from golem_cli.render.excerpt import excerpt
    from golem_cli.render.neutralize import one_line

    look = appearance(is_terminal=environment.stdout_is_terminal, environment=environment.variables)
    piece = hit.match.piece
    where = one_line(f"{piece.message} {piece.place}" if piece.message else piece.place) + ": "
    room = environment.columns if environment.stdout_is_terminal else _PIPE_WIDTH
    width = max(room - len(_INDENT) - len(where), 1)
    before, match, after = excerpt(piece.text, hit.match.start, hit.match.end, width=width)
    bold, off = ("", "") if look.plain else ("\x1b[1m", "\x1b[0m")
    return f"{where}{before}{bold}{match}{off}{after}"


def _json_hit(hit: Hit) -> dict[str, object]:
    """The shape of `list --json`, and where the words are."""
    from golem_cli.cli.listed import json_summary
    from golem_cli.render.excerpt import excerpt

    piece = hit.match.piece
    parts = excerpt(piece.text, hit.match.start, hit.match.end, width=_PIPE_WIDTH, clean=str)
    entry = json_summary(hit.summary) | {"place": piece.place, "snippet": "".join(parts)}
    return entry | {"message": piece.message} if piece.message else entry


def _complain(found: Found, environment: Environment) -> None:
    """Say on standard error what the answer lacks."""
    from golem_cli.render.words import counted

    if found.damaged:
        many = counted(len(found.damaged), "conversation")
        environment.complain(f"golem: {many} could not be searched: damaged; see golem list")
    if not found.hits:
        environment.complain("golem: nothing was found; wor* finds all words that begin so")
