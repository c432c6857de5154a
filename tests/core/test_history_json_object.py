"""`is_json_object` by hand: the strict grammar of RFC 8259."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.history.json_object import _scan, is_json_object

OBJECTS = [
    "{}", " \t\r\n{} ", '{"a":1,"a":2}', '{"a":1e999}', '{"a":-0.5E+3}', '{"a":"\\ud800"}', '{"\\ud800":[]}',
    '{"a":"\ud800"}', '{"a":[[],{},[{}]]}', '{"":null,"b":true , "c" : false}', '{"a":"\x7f\u2028\u00e9"}',
    '{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t"}', '{"a":' + "9" * 10_000 + "}",
]  # fmt: skip
OTHERS = [
    "", " ", "null", "[]", "1", '"{}"', "{}{}", "{} []", "{", "}", '{"a"}', '{"a":}', '{"a":1,}',
    "{,}", '{"a":[1,]}',
    '{"a":NaN}', '{"a":Infinity}', '{"a":-Infinity}', '{"a":01}', '{"a":1.}', '{"a":.5}',
    '{"a":+1}', '{"a":-}',
    '{"a":1e}', '{"a":0x1}', "{'a':1}", "{a:1}", '{"a":"\n"}', '{"a":"\x00"}', '{"a":"\\q"}', '{"a":"\\u12"}',
    '{"a":tru}', '{"a":1 2}', '{"a":[1 2]}', '{"a":[}]}', '{"a":"', '\ufeff{}', "\x0b{}",
    "\u00a0{}", "{}\x00",
    "{}//", '{"a":"\\ud800"', '{"\\ud800":1,}', '{"a":"\ud800"}}', '{"a":1]',
]  # fmt: skip


@pytest.mark.parametrize("text", OBJECTS, ids=ascii)
def test_a_strict_object_is_one(text: str) -> None:
    assert is_json_object(text)
    assert _scan(text), "the grammar alone says the same as the fast path"


@pytest.mark.parametrize("text", OTHERS, ids=ascii)
def test_anything_else_is_none(text: str) -> None:
    assert not is_json_object(text)
    assert not _scan(text)


@pytest.mark.parametrize(("opener", "closer"), [("[", "]"), ('{"a":', "}")])
def test_depth_is_no_limit(opener: str, closer: str) -> None:
    deep = opener * 100_000 + "1" + closer * 100_000
    assert is_json_object('{"a":' + deep + "}")
    assert not is_json_object('{"a":' + deep)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_the_grammar_takes_what_a_json_writer_writes_and_nothing_shorter(value: object) -> None:
    text = json.dumps(value)
    assert _scan(text) == is_json_object(text) == isinstance(value, dict)
    assert not _scan(text[:-1])
    assert not is_json_object(text[:-1])
