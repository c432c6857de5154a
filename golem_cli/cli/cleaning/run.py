"""One call of `normalize` or `sanitize`: each file is read, cleaned, reported, and written where wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from golem_cli.cli.environment import STANDARD_STREAM
from golem_cli.cli.exit_codes import DONE, FOUND
from golem_cli.cli.failures import WrongUsage, report_error
from golem_cli.core.errors import GolemError

if TYPE_CHECKING:
    from golem_cli.cli.cleaning.options import CleaningOptions
    from golem_cli.cli.cleaning.report import Cleaned
    from golem_cli.cli.environment import Environment
    from golem_cli.cli.sources import Source
    from golem_cli.core.codec import Transcript

Cleaning = Callable[["Transcript"], "Cleaned"]
"""A pass over a transcript, with its report."""


def run_cleaning(
    files: Sequence[str], options: CleaningOptions, cleaning: Cleaning, environment: Environment
) -> int:
    """Clean each of `files` and return the worst exit code. A broken file does not stop the others."""
    _refuse_contradictions(files, options, environment)
    if options.undo:
        return _worst(files, environment, lambda name: _undo(name, environment))
    entries: list[dict[str, object]] = []
    code = _worst(files, environment, lambda name: _clean(name, options, cleaning, environment, entries))
    if options.json:
        environment.say_json({"files": entries})
    return code


def _worst(files: Sequence[str], environment: Environment, work: Callable[[str], int]) -> int:
    worst = DONE
    for name in files:
        try:
            code = work(name)
        except GolemError as error:
            code = report_error(error, environment)
        worst = max(worst, code)
    return worst


def _refuse_contradictions(files: Sequence[str], options: CleaningOptions, environment: Environment) -> None:
    """Raise `WrongUsage` for flags that cannot go together, before anything is read."""
    looking = options.check or options.strict
    if looking and (options.write or options.output):
        raise WrongUsage("--check changes nothing, so it cannot go with -w or -o; leave one of them out")
    if options.undo and (looking or options.write or options.output or options.diff):
        raise WrongUsage("--undo only brings the original back; use it without other flags")
    if options.write and options.output:
        raise WrongUsage("-w writes in place and -o to a new file; choose one")
    if STANDARD_STREAM in files and (options.write or options.undo):
        raise WrongUsage("standard input cannot be written in place; use -o OUT")
    if files.count(STANDARD_STREAM) > 1:
        raise WrongUsage("standard input can be read only once; name - once")
    if len(files) > 1 and (options.output or _is_filter(options, environment)):
        raise WrongUsage("several transcripts cannot share one output; use -w, --check, --diff or --json")


def _is_filter(options: CleaningOptions, environment: Environment) -> bool:
    """Whether the transcript goes to stdout: it does in a pipe when nothing else was asked for."""
    if options.output:
        return options.output == STANDARD_STREAM
    asked = options.check or options.strict or options.diff or options.json or options.write or options.undo
    return not asked and not environment.stdout_is_terminal


def _clean(
    name: str,
    options: CleaningOptions,
    cleaning: Cleaning,
    environment: Environment,
    entries: list[dict[str, object]],
) -> int:
    """Clean one file: report, then write. Return its exit code."""
    from golem_cli.cli.cleaning.report import json_entry
    from golem_cli.cli.sources import read_source

    try:
        source = read_source(name, environment, salvage=options.salvage)
    except GolemError as error:
        entries.append({"file": name, "error": str(error)})
        raise
    cleaned = cleaning(source.transcript)
    entries.append(json_entry(source, cleaned))
    aside = options.json or _is_filter(options, environment)
    if not options.json:
        _report(source, cleaned, options, environment.complain if aside else environment.say)
    _deliver(source, cleaned, options, environment, environment.complain if aside else environment.say_done)
    looking = options.check or options.strict
    found = changes(source, cleaned) or (options.strict and cleaned.notable)
    return FOUND if looking and found else DONE


def _report(source: Source, cleaned: Cleaned, options: CleaningOptions, say: Callable[[str], None]) -> None:
    from golem_cli.cli.cleaning.message_diff import unified
    from golem_cli.cli.cleaning.report import report_lines

    for line in report_lines(source, cleaned):
        say(line)
    if options.diff:
        for line in unified(source.transcript.messages, cleaned.messages, source.name):
            say(line)


def _deliver(
    source: Source,
    cleaned: Cleaned,
    options: CleaningOptions,
    environment: Environment,
    say: Callable[[str], None],
) -> None:
    """Write the result where the flags say; a file that needs no change is not touched."""
    from golem_cli.cli.cleaning import delivery

    looking = options.check or options.strict
    if _is_filter(options, environment):
        delivery.write_to_stdout(source, cleaned, environment)
    elif options.output:
        say(delivery.write_to_new_file(source, cleaned, options.output))
    elif options.write and changes(source, cleaned):
        say(delivery.write_in_place(source, cleaned, environment))
    elif changes(source, cleaned) and environment.stdout_is_terminal and not (options.json or looking):
        say("  nothing was written; -w writes in place, -o OUT to a new file")


def changes(source: Source, cleaned: Cleaned) -> bool:
    """Whether writing the result would change the file: a salvaged one loses its torn end."""
    return cleaned.changed or bool(source.transcript.salvaged)


def _undo(name: str, environment: Environment) -> int:
    from golem_cli.cli.cleaning import delivery

    environment.say_done(delivery.undo(name, environment))
    return DONE
