"""The flags that `chat`, `ask` and `resume` share, as Typer reads them."""

from __future__ import annotations

from typing import Annotated

import typer

Model = Annotated[
    str, typer.Option("--model", "-m", metavar="PROVIDER:NAME", help="The model; a,b tries a first.")
]
System = Annotated[
    str | None, typer.Option("--system", "-s", metavar="TEXT", help="Instructions for this conversation.")
]
Trim = Annotated[
    int | None, typer.Option("--trim", min=0, metavar="N", help="Send the newest N messages; 0 sends all.")
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget", min=0, metavar="TOKENS", help="Send what fits in so many tokens; 0 is no bound."
    ),
]
NoSave = Annotated[bool, typer.Option("--no-save", help="Keep the conversation in memory only.")]
Continue = Annotated[bool, typer.Option("--continue", "-c", help="Go on with the newest conversation.")]
RawOutput = Annotated[
    bool, typer.Option("--raw-output", help="Leave control characters as they are; for pipes only.")
]
