"""Server-sent events as the standard says; expected values by hand from its parsing rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.providers import sse
from golem_cli.providers.sse import EventDecoder, OversizedEventError


def decode(stream: bytes) -> list[tuple[str, str]]:
    return [(event.kind, event.data) for event in EventDecoder().feed(stream)]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\n", [("", "a")]),
        (b"data:a\r\rdata:  b\r\n\r\n", [("", "a"), ("", " b")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
        (b"data: a\n\xef\xbb\xbfdata: b\n\n", [("", "a")]),
        (b"data: a\ndata\ndata: b\n\n", [("", "a\n\nb")]),
        (b": comment\n\ndata: a\n:\n\n", [("", "a")]),
        (b"event: error\ndata: a\n\ndata: b\n\n", [("error", "a"), ("", "b")]),
        (b"event: ping\n\ndata: a\n\n", [("", "a")]),
        (b"id: 1\nretry: 5\nDATA: x\nunknown\ndata: a:b\n\n", [("", "a:b")]),
        (b"data:\n\ndata: \n\ndata: a\n\n", [("", "a")]),
        (b"data: \xff\n\n", [("", "\ufffd")]),
        (b"data: a", []),
        (b"data: a\n", []),
        (b"", []),
    ],
)
def test_events_are_read_as_the_standard_says(stream: bytes, events: list[tuple[str, str]]) -> None:
    assert decode(stream) == events


@given(
    st.lists(
        st.sampled_from([b"data", b"event", b":", b" ", b"\r", b"\n", b"a", "é".encode(), b"\xef\xbb\xbf"])
    ),
    st.data(),
)
def test_where_the_network_cuts_makes_no_difference(tokens: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(tokens)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    decoder = EventDecoder()
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    events = [event for piece in pieces for event in decoder.feed(piece)]
    assert [(event.kind, event.data) for event in events] == decode(stream)


def test_an_event_is_complete_as_soon_as_its_blank_line_is_even_if_that_ends_with_a_cr() -> None:
    decoder = EventDecoder()
    assert [event.data for event in decoder.feed(b"data: a\r\n\r")] == ["a"]
    assert [event.data for event in decoder.feed(b"\ndata: b\n\n")] == ["b"]


def test_the_end_shows_the_data_that_it_cut_off() -> None:
    decoder = EventDecoder()
    decoder.feed(b"data: a\n\ndata: [DONE]")
    assert decoder.close() == "[DONE]"


def test_an_endless_event_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 100)
    decoder = EventDecoder()
    decoder.feed(b"data: " + b"x" * 90 + b"\n\n" + b"data: " + b"x" * 90)
    with pytest.raises(OversizedEventError):
        decoder.feed(b"xxxxxxxxxx")
