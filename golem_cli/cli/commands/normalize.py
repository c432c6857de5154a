"""`golem normalize`: find, explain and repair what interrupted runs and faulty tools left in a transcript."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from golem_cli.cli.cleaning import options as cleaning
from golem_cli.cli.exit_codes import epilog
from golem_cli.cli.failures import WrongUsage
from golem_cli.core.quote import quoted

EPILOG = epilog(
    "golem normalize broken.json",
    "golem normalize --check *.json",
    "golem normalize -w broken.json",
    "golem normalize broken.json > repaired.json",
    "golem normalize --for anthropic broken.json",
    exit_1="--check found something",
    exit_3="a file is no transcript",
)


Provider = Annotated[
    str,
    typer.Option(
        "--for",
        metavar="PROVIDER[:MODEL]",
        help="List, too, what that provider would refuse, and what is left out or reshaped for it.",
    ),
]


def _check_provider(provider: str) -> None:
    """Raise `WrongUsage` when there is no such provider."""
    from golem_cli.cli.model_opening import provider_names

    name = provider.partition(":")[0]
    if name not in provider_names():
        known = ", ".join(provider_names())
        raise WrongUsage(f"--for: there is no provider {quoted(name)}; known are {known}")


def command(
    context: typer.Context,
    files: cleaning.Files,
    *,
    provider: Provider = "",
    check: cleaning.Check = False,
    strict: cleaning.Strict = False,
    diff: cleaning.Diff = False,
    as_json: cleaning.Json = False,
    write: cleaning.Write = False,
    undo: cleaning.Undo = False,
    output: cleaning.Output = "",
    salvage: cleaning.Salvage = False,
) -> int:
    """Repair transcripts, and explain each change.

    Each unanswered tool call gets a result; results that answer no call are dropped. Each finding is
    listed with its message, run and reason. Messages are never edited. In a pipe the repaired transcript
    goes to standard output and the report to standard error.
    """
    from golem_cli.cli.cleaning.repairing import normalize
    from golem_cli.cli.cleaning.run import run_cleaning

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
    if provider and undo:
        raise WrongUsage("--undo only brings the original back; use it without other flags")
    if provider:
        _check_provider(provider)
    return run_cleaning(files, options, partial(normalize, provider=provider), context.obj)
