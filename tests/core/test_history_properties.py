"""What holds for every history, however damaged: properties of the passes."""

from __future__ import annotations

import copy
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.errors import ProcessorError
from golem_cli.core.history import (
    INTERRUPTED_TEXT,
    budget_history,
    can_open_request,
    find_findings,
    normalize_history,
    pair,
    repair,
    sanitize_history,
    trim_history,
    wire_args,
    wire_view,
)
from golem_cli.core.message import Message, Part, ToolCall

IDS = st.sampled_from(["", "a", "b", "call_0", "golem0001", "\ud800"])
TEXTS = st.sampled_from(["", "hi", "cut \ud83d", "\ud83d\ude00"])
ARGS = st.sampled_from(["{}", "", " ", '{"a": ', '{ "a":1,"a":2 }', "[]", "NaN", '"\ud83d"'])
URLS = st.sampled_from(["", "https://h/a", "file:///etc/passwd", "http://[::1", "HTTP://h", "\thttp://h"])
CALLS = st.lists(st.builds(ToolCall, id=IDS, name=st.just("ls"), args=ARGS), max_size=3).map(tuple)
PARTS = st.lists(st.builds(Part, kind=st.just("image"), url=URLS), max_size=2).map(tuple)
MESSAGES = st.one_of(
    st.builds(Message, role=st.just("tool"), content=TEXTS, tool_call_id=IDS, parts=PARTS),
    st.builds(Message, role=st.just("assistant"), content=TEXTS, tool_calls=CALLS),
    st.builds(Message, role=st.sampled_from(["user", "system", "developer"]), content=TEXTS, parts=PARTS),
    st.builds(Message, role=st.just("user"), tool_calls=CALLS),
)
HISTORIES = st.lists(MESSAGES, max_size=12)


@given(HISTORIES)
def test_repair_is_idempotent_deterministic_and_leaves_its_input_alone(history: list[Message]) -> None:
    before = copy.deepcopy(history)
    once, report = normalize_history(history)
    again, second = normalize_history(once)
    assert again == once
    assert not second.changed
    assert (second.truncated, second.displaced) == (report.truncated, report.displaced)
    assert repair(before) == once
    assert history == before


@given(HISTORIES)
def test_after_repair_each_call_with_an_id_is_answered_exactly_once(history: list[Message]) -> None:
    """Counted without the pairing code: as many results as calls of each id, and each after enough calls."""
    calls: Counter[str] = Counter()
    results: Counter[str] = Counter()
    for message in repair(history):
        if message.role == "tool":
            results[message.tool_call_id] += 1
            assert results[message.tool_call_id] <= calls[message.tool_call_id]
        elif message.role == "assistant":
            calls.update(call.id for call in message.tool_calls if call.id)
    assert calls == results


@given(HISTORIES)
def test_repair_only_adds_results_and_only_drops_tool_messages(history: list[Message]) -> None:
    repaired, report = normalize_history(history)
    others = [message for message in history if message.role != "tool"]
    assert [message for message in repaired if message.role != "tool"] == others
    added = [message for message in repaired if all(message is not given for given in history)]
    assert [message.tool_call_id for message in added] == report.synthesized
    assert {message.content for message in added} <= {INTERRUPTED_TEXT}
    assert len(repaired) == len(history) + len(report.synthesized) - len(report.dropped)


@given(HISTORIES)
def test_findings_say_what_the_report_says(history: list[Message]) -> None:
    report = normalize_history(history)[1]
    findings = find_findings(history)
    assert [f.call_id for f in findings if f.rule == "unanswered-call"] == report.synthesized
    assert [f.call_id for f in findings if f.changes and f.rule != "unanswered-call"] == report.dropped
    assert [f.call_id for f in findings if f.rule == "truncated-args"] == report.truncated
    assert [f.call_id for f in findings if f.rule == "displaced-result"] == report.displaced
    assert not any(f.changes for f in find_findings(repair(history)))
    assert all(f.text.isprintable() for f in findings)


@given(HISTORIES)
def test_sanitize_is_idempotent_and_leaves_its_input_alone(history: list[Message]) -> None:
    before = copy.deepcopy(history)
    once, _ = sanitize_history(history)
    again, second = sanitize_history(once)
    assert again == once
    assert not second.changed
    assert history == before
    assert {message.role for message in once} <= {"user", "assistant", "tool"}


@given(HISTORIES, st.booleans())
def test_the_wire_view_is_idempotent_and_deterministic(history: list[Message], keep: bool) -> None:
    before = copy.deepcopy(history)
    once = wire_view(history, thinking=keep)
    assert wire_view(once, thinking=keep) == once
    assert wire_view(before, thinking=keep) == once
    assert history == before


@given(HISTORIES)
def test_after_repair_the_wire_has_each_result_right_behind_its_turn(history: list[Message]) -> None:
    """Walked without the pairing code: after a turn come as many results of each id as it has calls."""
    view = wire_view(repair(history))
    owed: Counter[str] = Counter()
    for message in view:
        if message.role == "tool":
            assert owed[message.tool_call_id] > 0
            owed[message.tool_call_id] -= 1
        else:
            assert not +owed
            owed = Counter(call.id for call in message.tool_calls)
            assert "" not in owed
        (message.content + message.tool_call_id).encode()
        for call in message.tool_calls:
            wire_args(call).encode()
    assert not +owed


@given(HISTORIES, HISTORIES)
def test_the_wire_ids_of_a_history_do_not_change_as_it_grows(
    history: list[Message], more: list[Message]
) -> None:
    """Prompt caches stay warm: the calls of the first part have the same ids when more follows."""

    def ids(view: list[Message]) -> list[str]:
        return [call.id for message in view for call in message.tool_calls]

    short = ids(wire_view(history))
    assert ids(wire_view([*history, *more]))[: len(short)] == short


@given(HISTORIES, st.integers(1, 12))
def test_a_trimmed_history_is_a_suffix_that_may_open_a_request(history: list[Message], n: int) -> None:
    try:
        kept = trim_history(n)(history)
    except ProcessorError:
        assert len(history) > n
        assert not any(can_open_request(message) for message in history[-n:])
        return
    assert kept == history[len(history) - len(kept) :]
    assert len(kept) <= n
    assert len(history) <= n or can_open_request(kept[0])


@given(HISTORIES, st.integers(1, 30))
async def test_a_budget_keeps_the_longest_suffix_that_fits_and_may_open(
    history: list[Message], most: int
) -> None:
    """Compared with trying every start in turn."""
    size = [1 + len(message.content) for message in history]
    fitting = [
        start
        for start in range(len(history))
        if sum(size[start:]) <= most and (start == 0 or can_open_request(history[start]))
    ]
    process = budget_history(lambda messages: sum(1 + len(m.content) for m in messages), most)
    if not fitting and history:
        with pytest.raises(ProcessorError):
            await process(history)
    else:
        assert await process(history) == history[min(fitting, default=0) :]


@given(HISTORIES)
def test_pending_calls_stay_open_and_the_rest_is_repaired(history: list[Message]) -> None:
    repaired, report = normalize_history(history, pending={"a"})
    assert normalize_history(repaired, pending={"a"}) == (
        repaired,
        type(report)(truncated=report.truncated, displaced=report.displaced),
    )
    waiting = pair(repaired, pending={"a"}).pending
    assert {call.id for calls in waiting.values() for call in calls} <= {"a"}
    assert [f.call_id for f in find_findings(history, pending={"a"}) if f.rule == "pending-call"] == [
        call.id for calls in waiting.values() for call in calls
    ]
