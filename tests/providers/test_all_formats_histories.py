"""Every format carries every history: its strict server takes what was made of bug reports and of chance."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem_cli.core.codec import load_messages
from golem_cli.core.errors import HistoryError
from golem_cli.core.history import repair
from golem_cli.core.message import Message
from golem_cli.core.model import ModelSettings, ToolSpec
from tests.support.damaged_histories import CASES, PROMPT, histories
from tests.support.every_format import FORMATS, Format

LS = ToolSpec(name="ls", description="Lists.", schema='{"type":"object","additionalProperties":false}')


@pytest.mark.parametrize("format_", FORMATS, ids=str)
@pytest.mark.parametrize("transcript", CASES)
def test_histories_from_bug_reports_are_accepted(transcript: str, format_: Format) -> None:
    """By every model of the format."""
    loaded = load_messages(transcript)
    for model in format_.models:
        messages = [each for each in repair(format_.carried(loaded, model)) if each.role != "system"]
        assert format_.refusal(format_.sent([*messages, PROMPT], model), model) is None


@settings(max_examples=1000, deadline=None)
@given(
    histories(),
    st.integers(0, 59),
    st.sampled_from([None, "off", "adaptive", 2048]),
    st.sampled_from([(), (LS,)]),
    st.sampled_from(["", "auto", "none"]),
    st.booleans(),
)
def test_random_damaged_histories_are_accepted(
    history: list[Message], number: int, wish: Any, tools: Any, choice: str, repaired: bool
) -> None:
    """By every format alike, each with its own models and signatures in the same history."""
    for format_ in FORMATS:
        model = format_.models[number % len(format_.models)]
        fields: dict[str, Any] = {"tools": tools, "tool_choice": choice} if format_.calls else {}
        if format_.thinks(wish, model):
            fields["settings"] = ModelSettings(thinking=wish, **format_.settings)
        written = format_.own(history)
        messages = format_.carried(repair(written) if repaired or format_.repairs else written, model)
        try:
            body = format_.sent(messages, model, **fields)
        except HistoryError:
            assert format_.says is not None, format_
            assert not any(map(format_.says, messages)), format_
        else:
            assert format_.refusal(body, model) is None, format_
