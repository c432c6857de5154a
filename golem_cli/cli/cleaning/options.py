"""The flags that `normalize` and `sanitize` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="Files, - for standard input, or conversations by id or title."),
]
Check = Annotated[bool, typer.Option("--check", help="Change nothing; exit 1 when something would change.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Like --check; what is only seen and left alone counts too.")
]
Diff = Annotated[bool, typer.Option("--diff", help="Show the change as a diff, one message a line.")]
Json = Annotated[bool, typer.Option("--json", help="Report in JSON.")]
Write = Annotated[bool, typer.Option("--write", "-w", help="Write in place; the original is kept beside it.")]
Undo = Annotated[
    bool, typer.Option("--undo", help="Bring back the original that -w kept; keep what it undoes.")
]
Output = Annotated[
    str,
    typer.Option("--output", "-o", metavar="OUT", help="Write to a new file; - is standard output."),
]
Salvage = Annotated[
    bool, typer.Option("--salvage", help="Of a file that is cut off, keep the whole messages.")
]


@dataclass(frozen=True, kw_only=True)
class CleaningOptions:
    """The flags of one call."""

    check: bool = False
    strict: bool = False
    diff: bool = False
    json: bool = False
    write: bool = False
    undo: bool = False
    output: str = ""
    salvage: bool = False
