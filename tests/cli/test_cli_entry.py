"""The program as a process: version, help, locale, pipes that close, and signals."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from golem_cli import __version__
from golem_cli.cli.app import COMMANDS
from tests.support.golem_runs import (
    GOLEM,
    NEEDS_FULL_DEVICE,
    golem,
    golem_in_shell,
    golem_into_full,
    golem_process,
)

EVERY_CODE = ["0", "2", "129", "130", "141", "143"]
"""The exit codes that every command has: product.md, and what shells report of three signals."""


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_one_line(flag: str) -> None:
    done = golem_process(flag)
    assert (done.code, done.out, done.err) == (0, f"golem {__version__}\n", "")
    assert golem(flag).out == f"golem {__version__}\n"


def test_the_version_is_answered_before_anything_heavy_is_imported() -> None:
    """Neither Typer nor the codec library nor typing is there when `--version` has been answered."""
    probe = (
        "import sys; sys.argv[1:] = ['--version']\n"
        "from golem_cli.__main__ import main\n"
        "main(); print(sorted({'typer', 'msgspec', 'rich', 'typing', 're', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", probe],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        timeout=60,
    )
    assert done.stdout.splitlines()[1:] == ["[]"], done.stderr


@pytest.mark.parametrize(
    ("command", "unneeded"), [("list -n 20", {"typer"}), ("--help", {"rich", "msgspec"})]
)
def test_a_command_imports_nothing_large_that_it_does_not_need(command: str, unneeded: set[str]) -> None:
    """Typer is over a quarter of what a list costs; Rich would double the price of plain help."""
    probe = (
        "import sys\n"
        "from golem_cli.cli.process import environment_of_this_process\n"
        "from golem_cli.cli.program import program\n"
        "assert program(sys.argv[1:], environment_of_this_process()) == 0\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, *command.split()],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    imported = set(done.stdout.splitlines()[-1].split())
    assert "golem_cli.cli.program" in imported, done.stderr
    assert not imported & unneeded


def test_help_names_every_command() -> None:
    text = golem("--help").out
    for name in COMMANDS:
        assert f"\n  {name} " in text


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_with_an_example_and_exit_codes(name: str) -> None:
    done = golem(name, "--help")
    assert done.code == 0
    assert f"Usage: golem {name}" in done.out
    assert "Example" in done.out
    assert "  golem" in done.out.partition("Example")[2]
    codes = done.out.partition("Exit codes:\n")[2].splitlines()
    assert [line.split()[0] for line in codes if line.split()[0] not in ("1", "3")] == EVERY_CODE
    assert max(map(len, done.out.splitlines())) <= 80


def test_the_help_of_golem_alone_shows_the_short_options_of_the_chat() -> None:
    """Each is one of `golem chat`, but for -p, which asks; each of the chat is there."""
    chat = set(re.findall(r"^  (-\w),", golem("chat", "--help").out, flags=re.MULTILINE)) - {"-h"}
    shown = golem("--help").out.partition("options of golem chat:")[2].partition("Options:")[0]
    assert set(re.findall(r"^    (-\w) ", shown, flags=re.MULTILINE)) == chat | {"-p"}


def test_the_help_of_golem_alone_cuts_no_summary_off() -> None:
    shown = golem("--help").out.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert len(shown) == len(COMMANDS)
    assert not [line for line in shown if line.endswith("...")]


def test_the_help_of_golem_alone_shows_every_exit_code() -> None:
    codes = golem("--help").out.partition("Exit codes:\n")[2].splitlines()
    assert [int(line.split()[0]) for line in codes] == [0, 1, 2, 3, 129, 130, 141, 143]


@pytest.mark.parametrize("command", ["chat", "ask"])
def test_there_is_no_flag_for_tools_while_there_are_none(command: str) -> None:
    assert "tools" not in golem(command, "--help").out
    assert golem(command, "--tools", "x").code == 2


def test_minus_h_is_help() -> None:
    assert golem("list", "-h").out == golem("list", "--help").out


def test_an_unknown_command_suggests_the_nearest() -> None:
    done = golem("lits")
    assert done.code == 2
    assert done.error_line == "golem: there is no command lits; did you mean list? See golem --help"


def test_a_prompt_in_place_of_a_command_is_told_about_ask() -> None:
    done = golem("why is the sky blue")
    assert done.code == 2
    assert "golem ask" in done.error_line


def test_an_unknown_flag_suggests_the_nearest() -> None:
    done = golem("list", "--jsno")
    assert done.code == 2
    assert "--jsno" in done.error_line
    assert "did you mean --json?" in done.error_line


@pytest.mark.parametrize(
    "arguments",
    [
        ["rename"],
        ["rename", "a"],
        ["show", "--json=maybe"],
        ["chat", "--trim", "many"],
        ["chat", "--trim", "-3"],
        ["ask", "--output-format", "yaml", "x"],
        ["chat", "-c", "-r", "x"],
        ["ask", "-r"],
        ["list", "too", "many"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line_and_exit_code_two(arguments: list[str]) -> None:
    done = golem(*arguments)
    assert done.code == 2
    assert done.raw == b""
    assert done.error_line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--budget", "x"], "--budget is a whole number from 0 up, not 'x'; see golem chat --help"),
        (["ask", "--trim", "-1", "hi"], "--trim is a whole number from 0 up, not '-1'; see golem ask --help"),
        (["show", "0193", "x"], "N is a whole number from 1 up, not 'x'; see golem show --help"),
        (["show", "0193", "0"], "N is a whole number from 1 up, not '0'; see golem show --help"),
    ],
)
def test_what_is_no_number_is_told_what_it_should_be(arguments: list[str], said: str) -> None:
    done = golem(*arguments)
    assert (done.code, done.error_line) == (2, f"golem: {said}")


def test_control_characters_in_an_argument_do_not_reach_the_terminal() -> None:
    done = golem("li\x1b]0;owned\x07st")
    assert done.code == 2
    assert "\x1b" not in done.err
    assert "\x07" not in done.err


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_output_is_utf8_whatever_the_locale(locale: str, tmp_path: Path) -> None:
    """Cyrillic, CJK and emoji come out as UTF-8 under any locale, and out of stdin too."""
    text = '[\n{"role":"user","content":"Привет 世界 🙂"}\n]\n'.encode()
    file = tmp_path / "greeting.json"
    file.write_bytes(text)
    variables = {"LC_ALL": locale, "LANG": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert golem_process("normalize", file, variables=variables).raw == text
    assert golem_process("normalize", "-", stdin=text, variables=variables).raw == text


def large_history(tmp_path: Path) -> Path:
    """A file of two megabytes."""
    file = tmp_path / "long.json"
    file.write_text(
        "[" + ",".join('{"role":"user","content":"' + "x" * 500 + '"}' for _ in range(4000)) + "]"
    )
    return file


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at the end", "at once"])
@pytest.mark.parametrize("command", ["show", "show --json", "normalize -o -"])
def test_a_reader_that_goes_away_ends_the_program_silently(
    command: str, unbuffered: str, tmp_path: Path
) -> None:
    """`golem show … | head -1` writes nothing to stderr; the exit code is a shell's for SIGPIPE."""
    with subprocess.Popen(
        [GOLEM, *command.split(), large_history(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.read(10)
        child.stdout.close()
        said = child.stderr.read()
        assert said == b"" if command.startswith("show") else b"golem" not in said  # what was repaired
        child.wait(60)
    assert child.returncode == 141


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at the end", "at once"])
@pytest.mark.parametrize("command", ["show", "show --json", "normalize -o -"])
def test_an_output_of_which_the_system_takes_a_part_is_no_success(
    command: str, unbuffered: str, tmp_path: Path
) -> None:
    """The first 512,000 bytes fit, as on a disk that is nearly full."""
    words = f'{command} "{large_history(tmp_path)}" > "{tmp_path / "out"}"'
    done = golem_in_shell(words, before="ulimit -f 1000; ", unbuffered=unbuffered)
    assert done.code == 1
    last = "golem: standard output: the file would be larger than the system allows"
    assert done.err.splitlines()[-1] == last


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_an_interrupt_ends_the_program_with_130_and_no_traceback() -> None:
    """SIGINT while stdin is awaited."""
    with subprocess.Popen(
        [GOLEM, "normalize", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stderr is not None
        _wait_until_it_reads(child.pid)
        child.send_signal(signal.SIGINT)
        child.wait(60)
        assert child.stderr.read() == b""
    assert child.returncode == 130


def _wait_until_it_reads(pid: int) -> None:
    """Wait until the process sleeps in a read of its stdin (or give up after ten seconds)."""
    syscall = Path(f"/proc/{pid}/wchan")
    for _ in range(500):
        time.sleep(0.02)
        if "pipe_read" in syscall.read_text():
            return


@NEEDS_FULL_DEVICE
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at the end", "at once"])
@pytest.mark.parametrize("streams", [">/dev/full 2>&1", ">/dev/full 2>&-", ">/dev/full 2>/dev/full"])
@pytest.mark.parametrize("command", ["show {file}", "list", "list -n 5", "--help"])
def test_a_failure_that_nobody_can_be_told_has_its_exit_code(
    command: str, streams: str, unbuffered: str, tmp_path: Path
) -> None:
    """Whether the output is refused while it is written or only when the last of it is."""
    words = command.format(file=large_history(tmp_path))
    done = golem_in_shell(f"{words} {streams}", unbuffered=unbuffered)
    assert (done.code, done.raw, done.err) == (1, b"", "")


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's redirections")
@pytest.mark.parametrize(
    "command", ["--help", "list --help", "--version", "list", "show {file}", "normalize {file}"]
)
def test_closed_standard_output_is_one_line_and_no_success(command: str, tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text('[{"role":"user","content":"hi"}]')
    done = golem_in_shell(f"{command.format(file=file)} >&-")
    assert done.code == 1
    *report, last = done.err.splitlines()
    assert last == "golem: standard output: it is closed"
    assert len(report) == (2 if command.startswith("normalize") else 0)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's redirections")
def test_closed_standard_error_and_input_are_no_failure(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text('[{"role":"user","content":"hi"}]')
    done = golem_in_shell(f'normalize "{file}" 2>&- <&-')
    assert (done.code, done.err) == (0, "")
    assert '"hi"' in done.out


@NEEDS_FULL_DEVICE
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at the end", "at once"])
@pytest.mark.parametrize(
    "command",
    [
        *("show", "show --json", "list", "list --json", "normalize -o -", "config"),
        *("--help", "show --help", "--version"),
    ],
)
def test_a_full_disk_behind_stdout_is_one_line_that_names_it(
    command: str, unbuffered: str, tmp_path: Path
) -> None:
    """Whether the output is refused while it is written or only when the last of it is."""
    file = tmp_path / "one.json"
    file.write_text('[{"role":"user","content":"hi"}]')
    words = command.split() + ([str(file)] if command[0] in "sn" and "--help" not in command else [])
    done = golem_into_full(*words, unbuffered=unbuffered)
    assert done.code == 1
    line = "golem: standard output: the disk is full; free some space and try again"
    assert done.err.splitlines()[-1] == line
