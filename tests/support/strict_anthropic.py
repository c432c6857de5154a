"""A server that answers in the Messages format and refuses what Anthropic's is documented to refuse.

Each refusal is a row of `RULES`: what is refused, where that is documented, and a body that shows it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from tests.support.http_server import HttpServer, Reply, Request
from tests.support.strict_rules import GITHUB, SSE, Body, Rule, first_broken, json_reply

DOCS: Final = "https://platform.claude.com/docs/en"
SIGNED: Final = "signed by "
"""How this server's signatures begin; the model's name follows."""

_THINKING: Final = ("thinking", "redacted_thinking")
_ADAPTIVE_ONLY: Final = ("opus-4-7", "opus-4-8", "opus-5", "sonnet-5", "haiku-5", "fable-5")
_NO_PREFILL: Final = ("opus-4-6", "sonnet-4-6", *_ADAPTIVE_ONLY)
_LONGEST: Final = {"claude-haiku-4-5": 64_000, "claude-opus-4-1": 32_000, "claude-3-5-haiku-20241022": 8192}


def user(*blocks: Any) -> Body:
    return {"role": "user", "content": [text(block) if isinstance(block, str) else block for block in blocks]}


def assistant(*blocks: Any) -> Body:
    return user(*blocks) | {"role": "assistant"}


def text(value: str) -> Body:
    return {"type": "text", "text": value}


def call(call_id: str = "a", name: str = "ls", arguments: Any = None) -> Body:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {} if arguments is None else arguments}


def result(call_id: str = "a") -> Body:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "done"}


def thought(model: str = "claude-haiku-4-5", value: str = "hm") -> Body:
    return {"type": "thinking", "thinking": value, "signature": SIGNED + model}


def body(*turns: Body, model: str = "claude-haiku-4-5", **fields: Any) -> Body:
    """A good request, but for what is given."""
    tools = [{"name": "ls", "input_schema": {"type": "object"}}]
    return {"model": model, "max_tokens": 4096, "messages": list(turns), "tools": tools} | fields


def blocks(sent: Body) -> Iterator[Body]:
    """Every block of every turn, those in results included."""
    for turn in sent["messages"]:
        for block in turn["content"]:
            yield block
            if isinstance(block.get("content"), list):
                yield from block["content"]


def of_kind(sent: Body, *kinds: str) -> list[Body]:
    return [block for block in blocks(sent) if block["type"] in kinds]


def is_model(sent: Body, names: tuple[str, ...]) -> bool:
    return any(name in sent["model"] for name in names)


def unanswered(sent: Body) -> bool:
    turns = [*sent["messages"], {"content": []}]
    for turn, following in pairwise(turns):
        wanted = {block["id"] for block in turn["content"] if block["type"] == "tool_use"}
        if wanted - {block.get("tool_use_id") for block in following["content"]}:
            return True
    return False


def uncalled(sent: Body) -> bool:
    turns = [{"content": []}, *sent["messages"]]
    for before, turn in pairwise(turns):
        called = [block["id"] for block in before["content"] if block["type"] == "tool_use"]
        for block in turn["content"]:
            if block["type"] == "tool_result":
                if block["tool_use_id"] not in called:
                    return True
                called.remove(block["tool_use_id"])
    return False


def text_before_results(sent: Body) -> bool:
    for turn in sent["messages"]:
        kinds = [block["type"] == "tool_result" for block in turn["content"]]
        if kinds != sorted(kinds, reverse=True):
            return True
    return False


def loop_without_thinking(sent: Body) -> bool:
    if sent.get("thinking", {}).get("type") != "enabled":
        return False
    turns = sent["messages"]
    end = len(turns)
    while end >= 2 and turns[end - 1]["content"][0]["type"] == "tool_result":
        end -= 2
    return end < len(turns) and turns[end]["content"][0]["type"] not in _THINKING


def foreign(sent: Body) -> bool:
    own = SIGNED + sent["model"]
    return any(block.get("signature", block.get("data")) != own for block in of_kind(sent, *_THINKING))


def open_object(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(open_object, schema))
    if not isinstance(schema, dict):
        return False
    is_open = schema.get("type") == "object" and schema.get("additionalProperties") is not False
    return is_open or any(map(open_object, schema.values()))


def bad_budget(sent: Body) -> bool:
    budget = sent.get("thinking", {}).get("budget_tokens")
    return budget is not None and not 1024 <= budget < sent["max_tokens"]


def unions(sent: Body) -> bool:
    schemas = [tool["input_schema"] for tool in sent.get("tools", ())]
    return any(
        schema.get("type") != "object" or {"oneOf", "anyOf", "allOf"} & set(schema) for schema in schemas
    )


def marks(sent: Body) -> list[Body]:
    system = sent.get("system", [])
    everything = [*system, *sent.get("tools", ()), *blocks(sent)] if isinstance(system, list) else []
    return [block for block in everything if "cache_control" in block]


def bad_image(sent: Body) -> bool:
    known = {"image/jpeg", "image/png", "image/gif", "image/webp"}
    sources = [block["source"] for block in of_kind(sent, "image")]
    return any(source["type"] == "base64" and source["media_type"] not in known for source in sources)


_FIELDS: Final = {
    "text": {"text"},
    "tool_use": {"id", "name", "input"},
    "tool_result": {"tool_use_id", "content", "is_error"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "image": {"source"},
    "document": {"source"},
}


def unknown_field(sent: Body) -> bool:
    known = {"type", "cache_control"}
    return any(set(block) - known - _FIELDS[block["type"]] for block in blocks(sent))


HI: Final = user("hi")
SCHEMA: Final = {"format": {"type": "json_schema", "schema": {"type": "object"}}}

RULES: Final = (
    Rule(
        name="no messages",
        page=f"{DOCS}/api/messages/create",
        broken=lambda sent: not sent["messages"],
        example=body(),
    ),
    Rule(
        name="the first message is the assistant's",
        page=f"{GITHUB}/anthropics/skills/blob/main/skills/claude-api/shared/error-codes.md",
        broken=lambda sent: sent["messages"][0]["role"] != "user",
        example=body(assistant("hi"), HI),
    ),
    Rule(
        name="roles do not alternate",
        page=f"{GITHUB}/anthropics/skills/blob/main/skills/claude-api/shared/error-codes.md",
        broken=lambda sent: any(one["role"] == other["role"] for one, other in pairwise(sent["messages"])),
        example=body(HI, HI),
    ),
    Rule(
        name="a turn is empty",
        page=f"{GITHUB}/UKGovernmentBEIS/inspect_ai/pull/832",
        broken=lambda sent: not all(turn["content"] for turn in sent["messages"]),
        example=body(HI, assistant(), HI),
    ),
    Rule(
        name="a text block is empty",
        page=f"{GITHUB}/anthropics/claude-code/issues/59812",
        broken=lambda sent: any(not block["text"] for block in of_kind(sent, "text")),
        example=body(user("")),
    ),
    Rule(
        name="a text block is blank",
        page=f"{GITHUB}/anthropics/claude-code/issues/23440",
        broken=lambda sent: any(not block["text"].strip() for block in of_kind(sent, "text")),
        example=body(user(" \n")),
    ),
    Rule(
        name="a call has no result in the next message",
        page=f"{DOCS}/agents-and-tools/tool-use/handle-tool-calls",
        broken=unanswered,
        example=body(HI, assistant(call()), user("stop"), assistant("ok"), user(result())),
    ),
    Rule(
        name="a result has no call in the previous message",
        page=f"{GITHUB}/anthropics/claude-code/issues/18947",
        broken=uncalled,
        example=body(user(result())),
    ),
    Rule(
        name="text stands before results",
        page=f"{DOCS}/agents-and-tools/tool-use/handle-tool-calls",
        broken=text_before_results,
        example=body(HI, assistant(call()), user("here:", result())),
    ),
    Rule(
        name="an id is used twice",
        page=f"{GITHUB}/anthropics/claude-code/issues/28515",
        broken=lambda sent: (
            len({block["id"] for block in of_kind(sent, "tool_use")}) < len(of_kind(sent, "tool_use"))
        ),
        example=body(HI, *(assistant(call()), user(result())) * 2),
    ),
    Rule(
        name="an id has characters that ids may not have",
        page=f"{GITHUB}/HKUDS/nanobot/pull/4356",
        broken=lambda sent: any(
            not re.fullmatch("[a-zA-Z0-9_-]+", block["id"]) for block in of_kind(sent, "tool_use")
        ),
        example=body(HI, assistant(call("call|1")), user(result("call|1"))),
    ),
    Rule(
        name="a name of a tool has another form",
        page=f"{DOCS}/agents-and-tools/tool-use/implement-tool-use",
        broken=lambda sent: any(
            not re.fullmatch("[a-zA-Z0-9_-]{1,64}", block["name"])
            for block in [*of_kind(sent, "tool_use"), *sent.get("tools", ())]
        ),
        example=body(HI, assistant(call(name="docs.search")), user(result())),
    ),
    Rule(
        name="arguments are no object",
        page=f"{DOCS}/api/messages/create",
        broken=lambda sent: any(not isinstance(block["input"], dict) for block in of_kind(sent, "tool_use")),
        example=body(HI, assistant(call(arguments=[1])), user(result())),
    ),
    Rule(
        name="calls, but no tools",
        page=f"{GITHUB}/camel-ai/owl/issues/532",
        broken=lambda sent: bool(of_kind(sent, "tool_use", "tool_result")) and not sent.get("tools"),
        example=body(HI, assistant(call()), user(result()), tools=[]),
    ),
    Rule(
        name="a signature of another model, or of nobody",
        page=f"{GITHUB}/anthropics/anthropic-sdk-python/issues/1598",
        broken=foreign,
        example=body(HI, assistant(thought("gpt"), "hi"), HI),
    ),
    Rule(
        name="thinking at the end of a turn",
        page=f"{GITHUB}/tailcallhq/forgecode/issues/2107",
        broken=lambda sent: any(
            turn["role"] == "assistant" and turn["content"][-1]["type"] in _THINKING
            for turn in sent["messages"]
        ),
        example=body(HI, assistant(thought()), HI),
    ),
    Rule(
        name="a tool loop that does not begin with thinking, although it has a budget",
        page=f"{GITHUB}/n8n-io/n8n/issues/22550",
        broken=loop_without_thinking,
        example=body(
            HI, assistant(call()), user(result()), thinking={"type": "enabled", "budget_tokens": 2048}
        ),
    ),
    Rule(
        name="white space at the end of the last assistant turn",
        page=f"{GITHUB}/tailcallhq/forgecode/issues/1872",
        broken=lambda sent: (
            sent["messages"][-1]["role"] == "assistant"
            and sent["messages"][-1]["content"][-1].get("text", "").rstrip()
            != sent["messages"][-1]["content"][-1].get("text", "")
        ),
        example=body(HI, assistant("Well, ")),
    ),
    Rule(
        name="an assistant turn at the end, for a model without prefill",
        page=f"{GITHUB}/agenticloops-ai/agentic-ai-engineering/issues/43",
        broken=lambda sent: sent["messages"][-1]["role"] == "assistant" and is_model(sent, _NO_PREFILL),
        example=body(HI, assistant("Well,"), model="claude-opus-5"),
    ),
    Rule(
        name="more tokens than the model can say",
        page=f"{DOCS}/about-claude/models/overview",
        broken=lambda sent: sent["max_tokens"] > _LONGEST.get(sent["model"], 128_000),
        example=body(HI, max_tokens=64_001),
    ),
    Rule(
        name="temperature and top_p together",
        page=f"{GITHUB}/BerriAI/litellm/issues/15097",
        broken=lambda sent: "temperature" in sent and "top_p" in sent,
        example=body(HI, temperature=1, top_p=1),
    ),
    Rule(
        name="temperature, for a model without it",
        page=f"{GITHUB}/Comfy-Org/ComfyUI/issues/13923",
        broken=lambda sent: "temperature" in sent and is_model(sent, _ADAPTIVE_ONLY),
        example=body(HI, model="claude-opus-4-7", temperature=0.5),
    ),
    Rule(
        name="a budget, for a model that thinks adaptively only",
        page=f"{GITHUB}/NousResearch/hermes-agent/issues/11137",
        broken=lambda sent: (
            sent.get("thinking", {}).get("type") == "enabled" and is_model(sent, _ADAPTIVE_ONLY)
        ),
        example=body(HI, model="claude-opus-4-7", thinking={"type": "enabled", "budget_tokens": 2048}),
    ),
    Rule(
        name="adaptive thinking, for a model without it",
        page=f"{DOCS}/build-with-claude/adaptive-thinking",
        broken=lambda sent: sent.get("thinking", {}).get("type") == "adaptive" and "4-5" in sent["model"],
        example=body(HI, thinking={"type": "adaptive"}),
    ),
    Rule(
        name="a budget out of bounds",
        page=f"{DOCS}/build-with-claude/extended-thinking",
        broken=bad_budget,
        example=body(HI, thinking={"type": "enabled", "budget_tokens": 4096}),
    ),
    Rule(
        name="a lone surrogate",
        page=f"{GITHUB}/anthropics/claude-code/issues/60394",
        broken=lambda sent: re.search("[\ud800-\udfff]", json.dumps(sent, ensure_ascii=False)) is not None,
        example=body(user("cut \ud83d")),
    ),
    Rule(
        name="an open object in the output schema",
        page=f"{GITHUB}/veryfront/veryfront-code/issues/3918",
        broken=lambda sent: open_object(sent.get("output_config")),
        example=body(HI, output_config=SCHEMA),
    ),
    Rule(
        name="a tool's schema that is no plain object",
        page=f"{GITHUB}/Hmbown/Codewhale/issues/4329",
        broken=unions,
        example=body(HI, tools=[{"name": "ls", "input_schema": {"type": "object", "anyOf": []}}]),
    ),
    Rule(
        name="more than four marks for the cache",
        page=f"{DOCS}/build-with-claude/prompt-caching",
        broken=lambda sent: len(marks(sent)) > 4,
        example=body(user(*[text("hi") | {"cache_control": {"type": "ephemeral"}}] * 5)),
    ),
    Rule(
        name="a mark on thinking",
        page=f"{DOCS}/build-with-claude/prompt-caching",
        broken=lambda sent: any(block.get("type") in _THINKING for block in marks(sent)),
        example=body(HI, assistant(thought() | {"cache_control": {"type": "ephemeral"}}, "hi"), HI),
    ),
    Rule(
        name="an image of another media type",
        page=f"{DOCS}/build-with-claude/vision",
        broken=bad_image,
        example=body(
            user({"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": "AA=="}})
        ),
    ),
    Rule(
        name="an image beyond 5 MB",
        page=f"{GITHUB}/anthropics/claude-code/issues/19631",
        broken=lambda sent: any(
            len(block["source"].get("data", "")) > 5_242_880 for block in of_kind(sent, "image")
        ),
        example=body(
            user(
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "AAAA" * 1_310_721},
                }
            )
        ),
    ),
    Rule(
        name="a field that the format does not have",
        page=f"{DOCS}/api/messages/create",
        broken=unknown_field,
        example=body(user(text("hi") | {"runId": "r"})),
    ),
)


def refusal(sent: Body) -> Rule | None:
    """The first rule that `sent` breaks."""
    return first_broken(RULES, sent)


def strict_server() -> HttpServer:
    """The server. It answers `hm` in thought and `Hello` in words, streamed where that is asked for."""
    return HttpServer(respond=respond)


def respond(request: Request) -> Reply:
    """Refuse the request, or answer it. The list of models is free for all, as proxies give it."""
    if request.path == "/v1/models":
        return json_reply({"data": [{"id": "claude-opus-5"}]})
    if not (request.headers.get("x-api-key") and request.headers.get("anthropic-version")):
        return failure(401, "authentication_error", "x-api-key header is required")
    sent = json.loads(request.body)
    if request.path == "/v1/messages/count_tokens":
        sent = {"max_tokens": 1, **sent}
    rule = refusal(sent)
    if rule is not None:
        return failure(400, "invalid_request_error", f"refused: {rule.name}")
    if request.path == "/v1/messages/count_tokens":
        counted = {"input_tokens": len(json.dumps(sent["messages"]))}
        return json_reply(counted)
    if sent.get("stream"):
        return Reply(headers=SSE, body=streamed(sent["model"]))
    answer = {
        "type": "message",
        "role": "assistant",
        "model": sent["model"],
        "content": [thought(sent["model"]), text("Hello")],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 5},
    }
    return json_reply(answer)


def failure(status: int, kind: str, message: str) -> Reply:
    error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return json_reply(error, status)


def event(kind: str, **fields: Any) -> bytes:
    """An event as the documentation shows them."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def started(index: int, block: Body) -> bytes:
    return event("content_block_start", index=index, content_block=block)


def piece(index: int, kind: str, **fields: Any) -> bytes:
    return event("content_block_delta", index=index, delta={"type": kind, **fields})


def streamed(model: str) -> bytes:
    """A whole stream: thinking with its signature, then text, with a ping between them."""
    usage = {"input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": 1}
    return b"".join(
        [
            event(
                "message_start", message={"model": model, "role": "assistant", "content": [], "usage": usage}
            ),
            started(0, {"type": "thinking", "thinking": "", "signature": ""}),
            piece(0, "thinking_delta", thinking="hm"),
            piece(0, "signature_delta", signature=SIGNED + model),
            event("content_block_stop", index=0),
            event("ping"),
            started(1, text("")),
            piece(1, "text_delta", text="Hel"),
            piece(1, "text_delta", text="lo"),
            event("content_block_stop", index=1),
            event(
                "message_delta",
                delta={"stop_reason": "end_turn", "stop_sequence": None},
                usage={"output_tokens": 5, "output_tokens_details": {"thinking_tokens": 2}},
            ),
            event("message_stop"),
        ]
    )
