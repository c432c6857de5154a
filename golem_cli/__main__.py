"""The program `golem`: answers `--version` at once, and hands everything else to `golem_cli.cli.program`."""

import sys


def main() -> int:
    """Run `golem` with the arguments of this process and return its exit code."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]) and sys.stdout is not None:
        from golem_cli._version import __version__

        try:
            sys.stdout.write(f"golem {__version__}\n")
            sys.stdout.flush()
        except OSError:
            pass  # a full disk, a reader that went away: told as by every command
        else:
            return 0
    from golem_cli.cli.process import run_in_this_process

    return run_in_this_process(arguments)


if __name__ == "__main__":
    sys.exit(main())
