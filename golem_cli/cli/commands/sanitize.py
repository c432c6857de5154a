"""`golem sanitize`: take out of a foreign history what it must not bring along, and say why."""

from __future__ import annotations

import typer

from golem_cli.cli.cleaning import options as cleaning
from golem_cli.cli.exit_codes import epilog

EPILOG = epilog(
    "golem sanitize received.json",
    "golem sanitize -o clean.json received.json",
    "golem sanitize --check *.json",
    exit_1="--check found something",
    exit_3="a file is no transcript",
)


def command(
    context: typer.Context,
    files: cleaning.Files,
    *,
    check: cleaning.Check = False,
    strict: cleaning.Strict = False,
    diff: cleaning.Diff = False,
    as_json: cleaning.Json = False,
    write: cleaning.Write = False,
    undo: cleaning.Undo = False,
    output: cleaning.Output = "",
    salvage: cleaning.Salvage = False,
) -> int:
    """Clean the history of others, and explain each change.

    No system prompts, no unknown roles, no unsafe URLs; repaired. It narrows what such a history can
    reach, it does not make it true: links to private addresses over http and forged but well-formed tool
    calls pass. Calls that wait for an answer are closed. What was taken out is listed with the reason.
    """
    from golem_cli.cli.cleaning.run import run_cleaning
    from golem_cli.cli.cleaning.sanitizing import sanitize

    options = cleaning.CleaningOptions(
        check=check,
        strict=strict,
        diff=diff,
        json=as_json,
        write=write,
        undo=undo,
        output=output,
        salvage=salvage,
    )
    return run_cleaning(files, options, sanitize, context.obj)
