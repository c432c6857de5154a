"""The exit codes of `golem`, and the text that every command's help shows of them."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
FOUND: Final = 1
"""`--check` found something."""
NOTHING_FOUND: Final = 1
"""A search found nothing, as grep says it."""
FAILED: Final = 1
"""The run failed, or the store could not do what was asked."""
WRONG_USAGE: Final = 2
NO_TRANSCRIPT: Final = 3
HUNG_UP: Final = 129
"""The terminal was closed: what a shell reports of SIGHUP."""
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
"""The reader of our output went away: what a shell reports of a program that SIGPIPE ended."""
TERMINATED: Final = 143
"""A signal told golem to end, which it did in order: what a shell reports of SIGTERM."""

MEANINGS: Final = {
    DONE: "done",
    FAILED: "failed",
    WRONG_USAGE: "wrong usage",
    NO_TRANSCRIPT: "the input is no transcript",
    HUNG_UP: "the terminal was closed (SIGHUP)",
    INTERRUPTED: "interrupted",
    BROKEN_PIPE: "the reader of a pipe went away",
    TERMINATED: "told to end (SIGTERM)",
}
_OF_EVERY_COMMAND: Final = (DONE, WRONG_USAGE, HUNG_UP, INTERRUPTED, BROKEN_PIPE, TERMINATED)


def epilog(*examples: str, **meanings: str) -> str:
    """Return the end of a command's help: its examples and its exit codes.

    `meanings` such as `exit_1="a finding"` say what a code means for this command.

    >>> print(epilog("golem list", exit_1="failed").partition("Exit")[2])
     codes:
        0  done
        1  failed
        2  wrong usage
      129  the terminal was closed (SIGHUP)
      130  interrupted
      141  the reader of a pipe went away
      143  told to end (SIGTERM)
    """
    codes = {code: MEANINGS[code] for code in _OF_EVERY_COMMAND}
    codes |= {int(name.removeprefix("exit_")): meaning for name, meaning in meanings.items()}
    listed = "\n".join(f"  {code:>3}  {codes[code]}" for code in sorted(codes))
    shown = "\n".join(f"  {example}" for example in examples)
    title = "Example" if len(examples) == 1 else "Examples"
    as_it_is = "\b\n"  # tells the help's formatter to leave the paragraph's lines alone
    return f"{as_it_is}{title}:\n{shown}\n\n{as_it_is}Exit codes:\n{listed}"
