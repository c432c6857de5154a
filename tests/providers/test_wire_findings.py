"""What a provider would refuse is found, each thing by its rule; what has no finding travels as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem_cli.core.history import find_findings
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
from golem_cli.providers.findings import wire_findings
from golem_cli.providers.services import SERVICES, Quirks, find_service
from golem_cli.providers.wire.findings import silent
from tests.support.damaged_histories import FILM, IMAGE, PDF, histories

Fact = tuple[Any, ...]
Reader = Callable[[list[dict[str, Any]]], Iterator[Fact]]

CLAUDE: Final = "anthropic:claude-opus-4-8"
GEMINI: Final = "gemini:gemini-3.8-flash"
RESPONSES: Final = "openai-responses:gpt-5-mini"
NOVA: Final = "bedrock:amazon.nova-lite-v1:0"
ON_BEDROCK: Final = "bedrock:anthropic.claude-sonnet-4-6"
LLAMA: Final = "bedrock:meta.llama4"
MODELS: Final = (
    *(CLAUDE, GEMINI, RESPONSES, NOVA, ON_BEDROCK, LLAMA, "openai:m", "azure:m", "mistral:m"),
    *("perplexity:sonar", "deepseek:m", "local:"),
)


def user(text: str = "go on", *parts: Part) -> Message:
    return Message(role="user", content=text, parts=parts)


def says(text: str = "well", *calls: ToolCall, **fields: Any) -> Message:
    return Message(role="assistant", content=text, tool_calls=calls, **fields)


def call(call_id: str = "abcDEF123", name: str = "ls", **fields: Any) -> ToolCall:
    return ToolCall(id=call_id, name=name, args="{}", **fields)


def result(call_id: str = "abcDEF123", text: str = "done", *parts: Part, **fields: Any) -> Message:
    return Message(role="tool", content=text, parts=parts, tool_call_id=call_id, tool_name="ls", **fields)


def thinks(signed_by: str, signature: str = "sig") -> Message:
    block = ThinkingBlock(text="hm", signature=signature)
    return says("well", thinking=(block,), signed_by=signed_by)


BIG: Final = Part(kind="image", data="A" * (5 * 2**20 + 4), media_type="image/png")
BMP: Final = Part(kind="image", data="AAEC", media_type="image/bmp")
LINK: Final = Part(kind="image", url="https://example.com/a.png")
TOOLS: Final = [user(), says("", call()), result(), says()]

FOUND: Final = [
    (CLAUDE, "foreign-signature", [user(), thinks("gemini:gemini-3")], 2),
    (CLAUDE, "foreign-signature", [user(), thinks("")], 2),
    (CLAUDE, "foreign-signature", [user(), thinks(CLAUDE, signature="")], 2),
    (CLAUDE, "refused-part", [user("see", FILM)], 1),
    (CLAUDE, "refused-part", [user("see", IMAGE, BIG)], 1),
    (CLAUDE, "refused-part", [user("see", BMP)], 1),
    (CLAUDE, "call-id", [user(), says("", call("call|1")), result("call|1")], 2),
    (CLAUDE, "call-id", [*TOOLS, *TOOLS], 6),
    (CLAUDE, "tool-name", [user(), says("", call(name="docs.search")), result()], 2),
    (CLAUDE, "role-order", [says()], 1),
    (CLAUDE, "role-order", [user(), user()], 2),
    (CLAUDE, "broken-text", [user("cut \ud83d")], 1),
    (GEMINI, "foreign-signature", [user(), thinks(CLAUDE)], 2),
    (GEMINI, "foreign-signature", [user(), says("", call(signature="s"), signed_by=CLAUDE), result()], 2),
    (GEMINI, "unsigned-call", TOOLS, 2),
    (GEMINI, "refused-part", [user("see", BMP)], 1),
    (GEMINI, "call-id", [user(), says("", call("a b")), result("a b")], 2),
    (GEMINI, "tool-name", [user(), says("", call(name="1st")), result()], 2),
    (GEMINI, "role-order", [user(), says(), says()], 3),
    (GEMINI, "moved-part", [user(), says("", call()), result("abcDEF123", "see", LINK)], 3),
    (RESPONSES, "foreign-signature", [user(), thinks("openai:m")], 2),
    (RESPONSES, "refused-part", [user("hear", FILM)], 1),
    (RESPONSES, "call-id", [user(), says("", call("c" * 65)), result("c" * 65)], 2),
    (RESPONSES, "failed-mark", [user(), says("", call()), result(failed=True)], 3),
    ("openai:m", "unsent-thinking", [user(), thinks("openai:m")], 2),
    ("openai:m", "refused-part", [user("see", FILM)], 1),
    ("openai:m", "moved-part", [user(), says("", call()), result("abcDEF123", "see", IMAGE)], 3),
    ("openai:m", "failed-mark", [user(), says("", call()), result(failed=True)], 3),
    ("azure:m", "tool-name", [user(), says("", call(name="docs.search")), result()], 2),
    ("deepseek:m", "unsent-thinking", [user(), thinks("")], 2),
    ("deepseek:m", "foreign-signature", [user(), thinks(CLAUDE)], 2),
    ("mistral:m", "call-id", [user(), says("", call("call_1")), result("call_1")], 2),
    ("mistral:m", "role-order", [*TOOLS[:3], user()], 4),
    ("perplexity:sonar", "tools-as-text", TOOLS, 2),
    ("perplexity:sonar", "tools-as-text", TOOLS, 3),
    ("perplexity:sonar", "role-order", [user(), user()], 2),
    (NOVA, "role-order", [*TOOLS[:3], user()], 4),
    (NOVA, "refused-part", [user("see", LINK)], 1),
    (NOVA, "call-id", [user(), says("", call("a.b")), result("a.b")], 2),
    (NOVA, "empty-result", [user(), says("", call()), result(text="")], 3),
    (NOVA, "bare-document", [user("", PDF)], 1),
    (ON_BEDROCK, "refused-part", [user("see", FILM)], 1),
    (ON_BEDROCK, "foreign-signature", [user(), thinks(CLAUDE)], 2),
    (LLAMA, "failed-mark", [user(), says("", call()), result(failed=True)], 3),
    (LLAMA, "moved-part", [user(), says("", call()), result("abcDEF123", "see", IMAGE)], 3),
    (LLAMA, "role-order", [user(), says("I look", call()), result()], 2),
    ("local:", "refused-part", [user("see", IMAGE)], 1),
    ("local:", "tools-as-text", TOOLS, 2),
    ("local:", "unsent-thinking", [user(), thinks("local:x")], 2),
    ("local:/tmp/mine.gguf", "tools-as-text", TOOLS, 3),
]


@pytest.mark.parametrize(("model", "rule", "history", "message"), FOUND)
def test_what_the_provider_does_not_take_is_found(
    model: str, rule: str, history: list[Message], message: int
) -> None:
    found = wire_findings(history, model)
    assert found is not None
    assert [(each.rule, each.message) for each in found if (each.rule, each.message) == (rule, message)]


OLD_CLAUDE: Final = "anthropic:claude-haiku-4-5"
WORDS: Final = "words and "  # ten bytes


@pytest.mark.parametrize(
    ("model", "history", "message"),
    [
        ("local:", [user(), says(WORDS * 2000), user(WORDS * 2000)], 2),  # 10,000 tokens for 8,192
        ("local:", [user(), says(WORDS * 1000), user(WORDS * 2000)], None),
        ("local:/tmp/mine.gguf", [user(WORDS * 9000)], None),
        (OLD_CLAUDE, [says(WORDS * 9000), user(WORDS * 80_000)], 1),  # 222,500 for 200,000
        (OLD_CLAUDE, [user(WORDS * 79_000)], None),
        ("bedrock:us.anthropic.claude-haiku-4-5", [user(WORDS * 81_000)], 1),
        ("anthropic:claude-opus-4-8", [user(WORDS * 81_000)], None),
        (GEMINI, [user(WORDS * 420_000), user()], 1),  # 1,050,000 for 1,048,576
        ("openai:m", [user(WORDS * 420_000)], None),
    ],
)
def test_where_texts_outgrow_a_known_window_is_found(
    model: str, history: list[Message], message: int | None
) -> None:
    found = wire_findings(history, model) or []
    beyond = [each.message for each in found if each.rule == "context-window"]
    assert beyond == ([] if message is None else [message])


@pytest.mark.parametrize("model", [CLAUDE, GEMINI, NOVA, ON_BEDROCK])
def test_a_turn_of_white_space_is_left_out(model: str) -> None:
    found = wire_findings([user(), says(" \n"), user()], model) or []
    assert {each.rule for each in found if each.message == 2} <= {"blank-text", "empty-turn"}
    assert "empty-turn" in {each.rule for each in found if each.message == 2}


@pytest.mark.parametrize("model", MODELS)
def test_a_turn_of_others_thinking_alone_is_left_out(model: str) -> None:
    alone = says("", thinking=(ThinkingBlock(text="hm", signature="s"),), signed_by="other:m")
    found = wire_findings([user(), alone, user()], model) or []
    assert "empty-turn" in {each.rule for each in found if each.message == 2}


@pytest.mark.parametrize("model", [CLAUDE, GEMINI, RESPONSES, ON_BEDROCK])
def test_a_models_own_thinking_is_no_finding(model: str) -> None:
    assert wire_findings([user(), thinks(model)], model) == []


@pytest.mark.parametrize("model", [*MODELS, *(f"{service.name}:m" for service in SERVICES)])
def test_a_plain_conversation_has_no_findings(model: str) -> None:
    assert wire_findings([user(), says(), user("thanks"), says("bye")], model) == []


def test_a_finding_names_the_message_of_the_file_its_call_and_its_run() -> None:
    """What repair adds, moves and drops in front of it does not shift the number."""
    history = [
        user(),
        says("", call("open")),
        result("lost"),
        user("wait"),
        result("open"),
        says("", call("call|1"), run_id="r7"),
        result("call|1"),
    ]
    found = [each for each in wire_findings(history, CLAUDE) or () if each.rule == "call-id"]
    assert [(each.message, each.call_id, each.run_id) for each in found] == [(6, "call|1", "r7")]
    assert "'call|1'" in found[0].text


def test_system_messages_are_the_runs_and_no_finding() -> None:
    assert wire_findings([Message(role="system", content="Be brief."), user()], "bedrock:amazon.titan") == []


@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_told_of_a_result_that_repair_drops(model: str) -> None:
    found = wire_findings([user(), says(), result(), user()], model) or []
    assert [each for each in found if each.message == 3] == []


def test_a_provider_that_there_is_not_has_no_findings_at_all() -> None:
    assert wire_findings([user()], "nope:m") is None


@settings(max_examples=300, deadline=None)
@given(histories(8), st.sampled_from(MODELS))
def test_every_history_can_be_asked_about_and_each_finding_names_a_message_of_it(
    history: list[Message], model: str
) -> None:
    found = wire_findings(history, model)
    assert found is not None
    assert all(1 <= each.message <= len(history) for each in found)
    assert [each.message for each in found] == sorted(each.message for each in found)
    assert all(each.text.isprintable() for each in found)


# -- without a finding a history travels whole -----------------------------------------------------------


def facts_of(history: list[Message]) -> Iterator[Fact]:
    """What a history says, as the readers below find it in a request."""
    for message in history:
        yield from (("thinking", block.text, block.signature) for block in message.thinking)
        if message.role == "tool":
            yield "result", message.tool_call_id, message.content, message.failed
        elif message.content:
            yield message.role, message.content
        yield from (("part", part.data) for part in message.parts)
        yield from (("call", each.id, each.name, json.loads(each.args)) for each in message.tool_calls)


def claude_facts(turns: list[dict[str, Any]]) -> Iterator[Fact]:
    for role, block in ((turn["role"], block) for turn in turns for block in turn["content"]):
        match block:
            case {"type": "text", "text": text}:
                yield role, text
            case {"type": "thinking", "thinking": text, "signature": signature}:
                yield "thinking", text, signature
            case {"type": "tool_use", "id": call_id, "name": name, "input": args}:
                yield "call", call_id, name, args
            case {"type": "tool_result", "tool_use_id": call_id}:
                content = block.get("content", "")
                blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
                text = "".join(each.get("text", "") for each in blocks)
                yield "result", call_id, text, block.get("is_error", False)
                yield from (("part", each["source"]["data"]) for each in blocks if "source" in each)
            case {"source": {"data": data}}:
                yield "part", data
            case _:
                raise AssertionError(block)


def gemini_facts(contents: list[dict[str, Any]]) -> Iterator[Fact]:
    for role, part in ((each["role"], part) for each in contents for part in each["parts"]):
        match part:
            case {"text": text, "thought": True, "thoughtSignature": signature}:
                yield "thinking", text, signature
            case {"text": text}:
                yield {"model": "assistant"}.get(role, role), text
            case {"functionCall": {"id": call_id, "name": name, "args": args}}:
                yield "call", call_id, name, args
            case {"functionResponse": {"id": call_id, "response": said} as response}:
                ((outcome, text),) = said.items()
                yield "result", call_id, text, outcome == "error"
                yield from (("part", each["inlineData"]["data"]) for each in response.get("parts", ()))
            case {"inlineData": {"data": data}}:
                yield "part", data
            case _:
                raise AssertionError(part)


def item_facts(items: list[dict[str, Any]]) -> Iterator[Fact]:
    for item in items:
        said = item.get("content", item.get("output", ""))
        blocks = said if isinstance(said, list) else [{"text": said}]
        text = "".join(each.get("text", "") for each in blocks)
        match item:
            case {"type": "reasoning", "summary": summary, "encrypted_content": signature}:
                yield "thinking", "".join(each["text"] for each in summary), signature
            case {"type": "function_call", "call_id": call_id, "name": name, "arguments": args}:
                yield "call", call_id, name, json.loads(args)
            case {"type": "function_call_output", "call_id": call_id}:
                yield "result", call_id, text, False
            case {"type": "message", "role": role}:
                yield from [(role, text)] if text else []
        yield from (("part", _data(each)) for each in blocks if set(each) & {"image_url", "file_data"})


def chat_facts(messages: list[dict[str, Any]]) -> Iterator[Fact]:
    for message in messages:
        said = message["content"]
        blocks = said if isinstance(said, list) else [{"type": "text", "text": said}]
        text = "".join(each.get("text", "") for each in blocks)
        if message["role"] == "tool":
            yield "result", message["tool_call_id"], text, False
        elif text:
            yield message["role"], text
        yield from (("part", _data(each)) for each in blocks if each["type"] != "text")
        for each in message.get("tool_calls", ()):
            function = each["function"]
            yield "call", each["id"], function["name"], json.loads(function["arguments"])


def converse_facts(turns: list[dict[str, Any]]) -> Iterator[Fact]:
    for role, block in ((turn["role"], block) for turn in turns for block in turn["content"]):
        match block:
            case {"text": text}:
                yield role, text
            case {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}:
                yield "thinking", text, signature
            case {"toolUse": {"toolUseId": call_id, "name": name, "input": args}}:
                yield "call", call_id, name, args
            case {"toolResult": {"toolUseId": call_id, "content": content} as inner}:
                text = "".join(each.get("text", "") for each in content)
                yield "result", call_id, text, inner.get("status") == "error"
                yield from (("part", _bytes(each)) for each in content if "text" not in each)
            case _:
                yield "part", _bytes(block)


def _data(block: dict[str, Any]) -> str:
    (url,) = (
        value["url"]
        if isinstance(value, dict) and "url" in value
        else value["file_data"]
        if isinstance(value, dict)
        else value
        for name, value in block.items()
        if name in {"image_url", "file", "file_data"}
    )
    return str(url).partition("base64,")[2]


def _bytes(block: dict[str, Any]) -> str:
    ((_, inner),) = block.items()
    return str(inner["source"]["bytes"])


def encoded(history: list[Message], model: str) -> Iterator[Fact]:
    """The facts of the request that carries `history` to `model`."""
    provider, _, name = model.partition(":")
    service = find_service(provider)
    protocol = service.protocol if service else "openai"
    turns: Any
    reader: Reader
    if protocol == "anthropic":
        from golem_cli.providers.anthropic.turns import encode_turns

        turns, reader = encode_turns(history, origin=model), claude_facts
    elif protocol == "gemini":
        from golem_cli.providers.gemini.contents import encode_contents
        from golem_cli.providers.gemini.rows import row_of

        turns, reader = encode_contents(history, origin=model, row=row_of(name)), gemini_facts
    elif protocol == "responses":
        from golem_cli.providers.openai_responses.items import encode_items

        turns, reader = encode_items(history, origin=model), item_facts
    elif protocol == "bedrock":
        from golem_cli.providers.bedrock.families import family_of
        from golem_cli.providers.bedrock.turns import encode_turns as converse_turns

        turns, reader = converse_turns(history, origin=model, family=family_of(name)), converse_facts
    else:
        from golem_cli.providers.openai.messages import encode_messages

        quirks = service.quirks if service else Quirks()
        turns, reader = encode_messages(history, quirks, note=silent), chat_facts
    return reader(msgspec.json.decode(msgspec.json.encode(turns)))


ODD: Final = ("text", "part", "id", "name", "failed", "order", "thinking", "signature", "own thinking")


@st.composite
def exchanges(draw: st.DrawFn) -> list[Message]:
    """Histories of questions, answers and tools, each with up to two things that some provider minds."""
    odd = draw(st.sets(st.sampled_from(ODD), max_size=2))

    def of(kind: str, sound: Any, *others: Any) -> Any:
        return draw(st.sampled_from([sound, *others])) if kind in odd else sound

    def text() -> str:
        return str(of("text", "two\n\nlines ", "", " ", "é", "cut \ud83d"))

    def parts() -> tuple[Part, ...]:
        return tuple(of("part", (), (IMAGE,), (PDF, IMAGE), (FILM,)))

    def signed(turn: Message) -> Message:
        foreign = of("thinking", (), (ThinkingBlock(text="hm", signature="sig"),))
        own = of("own thinking", (), (ThinkingBlock(text="hm", signature="sig"),))
        signer = "own" if own else "other:m" if foreign else of("signature", "own", "other:m", "")
        return msgspec.structs.replace(turn, thinking=own or foreign, signed_by=signer)

    history: list[Message] = []
    for number in range(draw(st.integers(1, 3))):
        if not history or of("order", True, False):
            history.append(user(text(), *parts()))
        count = draw(st.integers(0, 2))
        ids = [of("id", f"abcDEF{number}{index}x", f"call|{index}", "again") for index in range(count)]
        if ids:
            calls = [call(each, of("name", "ls", "docs.search"), signature="s") for each in ids]
            history.append(signed(says(draw(st.sampled_from(["", "I look"])), *calls)))
            history += [result(each, text(), *parts(), failed=of("failed", False, True)) for each in ids]
        if of("order", True, False):
            history.append(signed(says(text())))
    closing = [] if history[-1].role == "assistant" else [says("done")]
    return [*history, *closing, user("next")]


def owned(history: list[Message], model: str) -> list[Message]:
    """`history` as one that `model` itself signed where it says `own`; only Gemini signs calls."""
    signs_calls = model.startswith("gemini:")
    return [
        msgspec.structs.replace(
            message,
            signed_by=model if message.signed_by == "own" else message.signed_by,
            tool_calls=tuple(
                each if signs_calls else msgspec.structs.replace(each, signature="")
                for each in message.tool_calls
            ),
        )
        for message in history
    ]


@settings(max_examples=300, deadline=None)
@given(exchanges())
def test_a_history_without_findings_travels_whole_and_in_its_order(history: list[Message]) -> None:
    """Read back from the request: every text, call, result, part and signature."""
    for model in MODELS:
        own = owned(history, model)
        if not find_findings(own) and wire_findings(own, model) == []:
            assert list(encoded(own, model)) == list(facts_of(own)), model
