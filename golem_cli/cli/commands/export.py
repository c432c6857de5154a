"""`golem export`: a conversation as Markdown, HTML or JSON, without its secrets when that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from golem_cli.cli.environment import STANDARD_STREAM
from golem_cli.cli.exit_codes import epilog
from golem_cli.cli.exporting import Form
from golem_cli.cli.failures import WrongUsage

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment
    from golem_cli.cli.sources import Source
    from golem_cli.core.codec import Transcript

EPILOG = epilog(
    "golem export 0193 -o talk.md",
    "golem export --redact -o talk.html transcripts/tool-calls.json",
    "golem export --format json -o - > talk.json",
    exit_1="a string may be a secret (--redact), or the file could not be written",
    exit_3="the file is no transcript",
)


def command(
    context: typer.Context,
    reference: Annotated[
        str,
        typer.Argument(metavar="[FILE|ID|NAME]", help="What to export; the newest conversation without it."),
    ] = "",
    *,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="OUT", help="A new file, or - for standard output.")
    ] = STANDARD_STREAM,
    form: Annotated[
        Form | None, typer.Option("--format", help="The form; by default what the file's ending says.")
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Replace secrets; refuse when a string may be one.")
    ] = False,
    redact_random: Annotated[
        bool, typer.Option("--redact-random", help="Replace what only looks random, too.")
    ] = False,
) -> None:
    """Export a conversation. What exists is never replaced.

    A secret becomes [secret-1], the same one wherever it stands; a signature or redacted thinking [removed].
    """
    from golem_cli.cli.exporting import form_of

    if form is None and out == STANDARD_STREAM:
        raise WrongUsage("in which form? --format markdown, html or json; or name a file with -o")
    _export(
        _source(reference, context.obj),
        out,
        form or form_of(out),
        context.obj,
        redact=redact or redact_random,
        random=redact_random,
    )


def _source(reference: str, environment: Environment) -> Source:
    from golem_cli.cli.home import newest_conversation
    from golem_cli.cli.sources import read_source

    wanted = reference or newest_conversation(environment)
    if not wanted:
        raise WrongUsage("there is no conversation to export yet; golem opens the first one")
    return read_source(wanted, environment)


def _export(
    source: Source, out: str, form: Form, environment: Environment, *, redact: bool, random: bool
) -> None:
    """Render and write. A redacted document is searched once more before it goes."""
    from golem_cli.cli.exporting import redacted, refuse_survivors, rendered
    from golem_cli.render.words import counted

    if redact:
        transcript, done = redacted(source.transcript, random=random)
        document = rendered(transcript, form)
        refuse_survivors(document, done)
        environment.complain(f"golem: {counted(done.secrets, 'secret')} replaced")
    else:
        _point_out(source.transcript, environment)
        document = rendered(source.transcript, form)
    if out != STANDARD_STREAM:
        from golem_cli.store.external import write_new

        write_new(Path(out), document)
        environment.complain(f"golem: written: {out}")
    elif form is Form.JSON:
        environment.write_transcript(document)
    else:
        environment.write(document.decode("utf-8"))


def _point_out(transcript: Transcript, environment: Environment) -> None:
    """Say, or refuse, that a secret leaves as it is."""
    from golem_cli.chat.secret_guard import check_export
    from golem_cli.cli.exporting import whole
    from golem_cli.cli.home import paths_of
    from golem_cli.store.settings import load_settings

    settings = load_settings(env=environment.variables, file=paths_of(environment).settings_file).settings
    check_export(whole(transcript), settings.secrets, lambda text: environment.complain(f"golem: {text}"))
