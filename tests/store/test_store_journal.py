"""The journal's lines: complete or ignored, whatever happens to the bytes."""

from __future__ import annotations

import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.conversation import RunRecord
from golem_cli.core.errors import ConversationChanged
from golem_cli.core.message import Message
from golem_cli.store.journal import Entry, JournalFile, decode, encode
from golem_cli.store.store import Store
from tests.support.left_journal import leave_journal

PAYLOADS = st.binary(max_size=60).map(lambda data: data.replace(b"\n", b""))
ENTRIES = st.lists(
    st.builds(
        Entry,
        kind=st.sampled_from(["message", "run", "base"]),
        at=st.just("2026-01-02T03:04:05.678Z"),
        payload=PAYLOADS,
    ),
    max_size=6,
)


def entry(payload: bytes = b"{}", kind: str = "message") -> Entry:
    return Entry(kind=kind, at="2026-01-02T03:04:05.678Z", payload=payload)


def test_a_line_is_checksum_length_and_body() -> None:
    """CRC-32 and the length in bytes cover `TIME KIND PAYLOAD`."""
    body = b'2026-01-02T03:04:05.678Z message {"role":"user"}'
    expected = f"{zlib.crc32(body):08x} 48 ".encode() + body + b"\n"
    assert len(body) == 48
    assert encode(entry(b'{"role":"user"}')) == expected


def test_a_payload_with_a_line_break_is_refused() -> None:
    with pytest.raises(ValueError, match="one line"):
        encode(entry(b"a\nb"))


@given(ENTRIES)
def test_every_prefix_of_the_bytes_reads_as_a_prefix_of_the_entries(entries: list[Entry]) -> None:
    """Cut at every byte: exactly the entries whose lines are whole come back, and none counts as damaged."""
    data = b"".join(map(encode, entries))
    for cut in range(len(data) + 1):
        assert decode(data[:cut]) == (entries[: data[:cut].count(b"\n")], 0)


@given(ENTRIES.filter(bool), st.data())
def test_a_changed_byte_costs_no_other_entry(entries: list[Entry], data: st.DataObject) -> None:
    """Any byte but a line break may rot into any other: the other lines are still read."""
    lines = [encode(each) for each in entries]
    victim = data.draw(st.integers(0, len(lines) - 1))
    at = data.draw(st.integers(0, len(lines[victim]) - 2))
    old = lines[victim][at]
    new = data.draw(st.integers(0, 255).filter(lambda value: value not in {old, ord("\n")}))
    rotten = bytearray(lines[victim])
    rotten[at] = new
    lines[victim] = bytes(rotten)
    assert decode(b"".join(lines)) == (entries[:victim] + entries[victim + 1 :], 1)


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(data: bytes) -> None:
    decode(data)


def test_the_prelude_comes_once_before_the_first_entry(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path / "j", prelude=(entry(kind="base"),))
    journal.append([entry(b"1")])
    journal.append([entry(b"2"), entry(b"3")], sync=False)
    journal.close()
    found, damaged = decode((tmp_path / "j").read_bytes())
    assert [(each.kind, each.payload) for each in found] == [
        ("base", b"{}"),
        ("message", b"1"),
        ("message", b"2"),
        ("message", b"3"),
    ]
    assert damaged == 0


def test_appending_to_a_torn_journal_keeps_what_is_new_whole(tmp_path: Path) -> None:
    whole = encode(entry(b"old"))
    size = (tmp_path / "j").write_bytes(whole + encode(entry(b"torn"))[:-4])
    journal = JournalFile(tmp_path / "j", size=size)
    journal.append([entry(b"new")])
    journal.close()
    found, damaged = decode((tmp_path / "j").read_bytes())
    assert [each.payload for each in found] == [b"old", b"new"]
    assert damaged == 1


def test_the_journal_is_for_its_owner_only(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path / "j")
    journal.append([entry()])
    journal.close()
    assert (tmp_path / "j").stat().st_mode & 0o777 == 0o600


FULL = """
import resource, sys
from pathlib import Path
from golem_cli.core.conversation import RunRecord
from golem_cli.core.message import Message
from golem_cli.store.store import Store
from golem_cli.store.journal import Entry, JournalFile
def entry(payload): return Entry(kind="message", at="t", payload=payload)
journal = JournalFile(Path(sys.argv[1]))
journal.append([entry(b"first")])
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (journal.size + 10, hard))
try:
    journal.append([entry(b"second")])
except OSError as error:
    print(type(error).__name__, Path(sys.argv[1]).stat().st_size - journal.size)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
journal.append([entry(b"second")])
journal.append([entry(b"third")])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_an_append_that_ran_out_of_room_leaves_no_trace(tmp_path: Path) -> None:
    """Ten bytes of the second entry reached the file; repeating the call gives exactly three entries."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "j")], capture_output=True, text=True, check=False
    )
    assert done.stdout == "OSError 10\n", done.stderr
    found, damaged = decode((tmp_path / "j").read_bytes())
    assert [each.payload for each in found] == [b"first", b"second", b"third"]
    assert damaged == 0


def sealed(body: bytes) -> bytes:
    """A line with a right checksum and length, whatever is in it."""
    return b"%08x %d %s\n" % (zlib.crc32(body), len(body), body)


@given(st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")))
def test_a_line_with_a_right_checksum_and_no_entry_in_it_is_damage(body: bytes) -> None:
    """Three fields or damage: one line out of two is an entry at most, and nothing is raised."""
    entries, damaged = decode(sealed(body) + encode(entry()))
    assert entries[-1] == entry()
    assert len(entries) + damaged == 2


@pytest.mark.parametrize(
    "payload",
    [
        b'{"runId":"r","start":1e999,"text":"x"}',
        b"[" * 100_000,
        b"null",
        b'{"runId":"r"}',
        b'{"runId":"r","start":"x","text":""}',
    ],
)
@pytest.mark.parametrize("kind", ["partial", "run", "message", "update"])
def test_an_entry_that_says_nothing_costs_no_other(tmp_path: Path, kind: str, payload: bytes) -> None:
    store = Store(tmp_path)
    writer = store.create()
    writer.begin_run(RunRecord(run_id="r", prompt="hi"))
    writer.add_message(Message(role="user", content="before"))
    journal = writer.path.with_suffix(".journal")
    journal.write_bytes(journal.read_bytes() + encode(entry(payload, kind)))
    assert [each.content for each in store.read(writer.path.stem).messages] == ["before"]
    assert store.summaries()[0].status == "running"
    with pytest.raises(ConversationChanged):  # nobody's entry is folded away unseen
        writer.close()
    with store.open(writer.path.stem) as again:
        assert [each.content for each in again.conversation.messages] == ["before"]


def test_streamed_text_behind_a_gap_is_not_joined_to_what_is_before_it(tmp_path: Path) -> None:
    """Of three notes the second is damaged: the first is what is known to have been streamed."""
    store = Store(tmp_path)
    writer = store.create()
    writer.begin_run(RunRecord(run_id="r", prompt="hi"))
    for text in ("one", "one two", "one two three"):
        writer.note_partial("r", text)
    journal = writer.path.with_suffix(".journal")
    journal.write_bytes(journal.read_bytes().replace(b'" two"', b'" too"'))
    assert store.read(writer.path.stem).runs[0].partial_text == "one"
    writer.close()


@pytest.mark.parametrize(
    ("order", "left"), [((0, 2), "one"), ((0, 2, 1), "one two")], ids=["gone", "swapped"]
)
def test_streamed_text_behind_a_gap_is_told_and_its_journal_kept(
    tmp_path: Path, order: tuple[int, ...], left: str
) -> None:
    """Each line is whole; a file system that lost or swapped one leaves words that nobody else has."""
    store = Store(tmp_path)
    writer = store.create()
    writer.begin_run(RunRecord(run_id="r", prompt="hi"))
    for text in ("one", "one two", "one two three"):
        writer.note_partial("r", text)
    *first, second, third, fourth = leave_journal(writer).splitlines(keepends=True)
    notes, journal = [second, third, fourth], writer.path.with_suffix(".journal")
    journal.write_bytes(b"".join([*first, *(notes[at] for at in order)]))
    found = store.look(writer.path.stem)
    assert (found.conversation.runs[0].partial_text, found.damaged) == (left, 1)
    odd = journal.read_bytes()
    store.open(writer.path.stem).close()
    assert journal.with_suffix(".journal.damaged").read_bytes() == odd
