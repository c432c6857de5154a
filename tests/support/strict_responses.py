"""A server that answers in the Responses format and refuses what OpenAI's is documented to refuse.

Each refusal is a row of `RULES`: what is refused, where that is documented, and a body that shows it.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any, Final

from tests.support.http_server import HttpServer, Reply, Request
from tests.support.strict_rules import GITHUB, SSE, Body, Rule, first_broken, json_reply

DOCS: Final = "https://platform.openai.com/docs"
ENCRYPTED: Final = "encrypted by "
"""How this server's encrypted content begins; the model's name and the item's id follow."""

_FIELDS: Final = {
    "message": {"role", "content"},
    "function_call": {"call_id", "name", "arguments"},
    "function_call_output": {"call_id", "output"},
    "reasoning": {"id", "summary", "encrypted_content"},
}
_PARAMETERS: Final = {
    "model",
    "input",
    "instructions",
    "store",
    "include",
    "tools",
    "tool_choice",
    "temperature",
    "top_p",
    "max_output_tokens",
    "reasoning",
    "text",
    "stream",
}


def message(role: str, content: Any) -> Body:
    return {"type": "message", "role": role, "content": content}


def call(call_id: str = "a", name: str = "ls") -> Body:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": "{}"}


def result(call_id: str = "a") -> Body:
    return {"type": "function_call_output", "call_id": call_id, "output": "done"}


def thought(model: str = "gpt-5-mini", item_id: str = "rs_1") -> Body:
    return {
        "type": "reasoning",
        "id": item_id,
        "summary": [],
        "encrypted_content": f"{ENCRYPTED}{model} in {item_id}",
    }


def body(*items: Body, **fields: Any) -> Body:
    return {"model": "gpt-5-mini", "store": False, "input": list(items)} | fields


def of_type(sent: Body, kind: str) -> list[Body]:
    return [item for item in sent["input"] if item["type"] == kind]


def unpaired(sent: Body, kind: str, other: str) -> bool:
    """Whether an item of that `kind` has no partner; ids that are used twice pair in order."""
    partners = [item["call_id"] for item in of_type(sent, other)]
    for item in of_type(sent, kind):
        if item["call_id"] not in partners:
            return True
        partners.remove(item["call_id"])
    return False


def apart(sent: Body) -> bool:
    """Whether anything but calls and results stands between a call and its result."""
    open_calls: list[str] = []
    for item in sent["input"]:
        if item["type"] == "function_call":
            open_calls.append(item["call_id"])
        elif item["type"] == "function_call_output":
            if item["call_id"] in open_calls:
                open_calls.remove(item["call_id"])
        elif open_calls:
            return True
    return False


def unfollowed(sent: Body) -> bool:
    """Whether reasoning stands before something that the model did not say."""
    followed = {"reasoning", "function_call"}
    items = [*sent["input"], {"type": "end"}]
    return any(
        one["type"] == "reasoning" and other["type"] not in followed and other.get("role") != "assistant"
        for one, other in pairwise(items)
    )


def encrypted(sent: Body) -> list[Body]:
    return [item for item in of_type(sent, "reasoning") if item.get("encrypted_content")]


def wrong_type(sent: Body) -> bool:
    contents = [
        item["content"]
        for item in of_type(sent, "message")
        if item["role"] == "assistant" and isinstance(item["content"], list)
    ]
    return any(block["type"] not in {"output_text", "refusal"} for content in contents for block in content)


def images(sent: Body) -> list[str]:
    contents = [item.get("content", item.get("output")) for item in sent["input"]]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return [block["image_url"] for block in blocks if block["type"] == "input_image"]


def is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def is_old(sent: Body) -> bool:
    return re.match(r"gpt-4|gpt-3", sent["model"]) is not None


HI: Final = message("user", "hi")
NAME: Final = re.compile("[a-zA-Z0-9_-]{1,64}")

RULES: Final = (
    Rule(
        name="no input",
        page=f"{DOCS}/api-reference/responses/create",
        broken=lambda sent: not sent["input"],
        example=body(),
    ),
    Rule(
        name="a call without its output",
        page=f"{GITHUB}/symgraph/GhidrAssist/issues/78",
        broken=lambda sent: unpaired(sent, "function_call", "function_call_output"),
        example=body(HI, call()),
    ),
    Rule(
        name="an output without its call",
        page=f"{GITHUB}/continuedev/continue/issues/10092",
        broken=lambda sent: unpaired(sent, "function_call_output", "function_call"),
        example=body(HI, result()),
    ),
    Rule(
        name="something between a call and its output",
        page=f"{GITHUB}/deepseek-ai/awesome-deepseek-integration/issues/740",
        broken=apart,
        example=body(HI, call(), HI, result()),
    ),
    Rule(
        name="an id of a call of more than 64 characters",
        page=f"{GITHUB}/decolua/9router/issues/393",
        broken=lambda sent: any(len(item.get("call_id", "")) > 64 for item in sent["input"]),
        example=body(HI, call("a" * 65), result("a" * 65)),
    ),
    Rule(
        name="a name of a tool has another form",
        page=f"{GITHUB}/mcp-use/mcp-use/issues/90",
        broken=lambda sent: any(
            not NAME.fullmatch(each["name"])
            for each in [*of_type(sent, "function_call"), *sent.get("tools", ())]
        ),
        example=body(HI, call(name="docs.search"), result()),
    ),
    Rule(
        name="arguments that are no JSON object",
        page=f"{GITHUB}/local-inference-lab/vllm/issues/684",
        broken=lambda sent: any(not is_object(item["arguments"]) for item in of_type(sent, "function_call")),
        example=body(HI, call() | {"arguments": '{"value": '}, result()),
    ),
    Rule(
        name="reasoning that nothing of the model's follows",
        page=f"{GITHUB}/vercel/ai/issues/7099",
        broken=unfollowed,
        example=body(HI, thought(), HI),
    ),
    Rule(
        name="reasoning without its encrypted content, although nothing is stored",
        page=f"{GITHUB}/vercel/ai/issues/7543",
        broken=lambda sent: len(encrypted(sent)) < len(of_type(sent, "reasoning")),
        example=body(HI, thought() | {"encrypted_content": None}, call(), result()),
    ),
    Rule(
        name="content that another model encrypted",
        page=f"{GITHUB}/openai/codex/issues/17541",
        broken=lambda sent: any(
            not item["encrypted_content"].startswith(f"{ENCRYPTED}{sent['model']} in ")
            for item in encrypted(sent)
        ),
        example=body(HI, thought("o3"), call(), result()),
    ),
    Rule(
        name="encrypted content of another item",
        page=f"{GITHUB}/openclaw/openclaw/issues/70654",
        broken=lambda sent: any(
            item["encrypted_content"].rpartition(" in ")[2] != item.get("id") for item in encrypted(sent)
        ),
        example=body(HI, thought() | {"id": "rs_2"}, call(), result()),
    ),
    Rule(
        name="content of the assistant's that is called input",
        page=f"{GITHUB}/jeremychone/rust-genai/pull/119",
        broken=wrong_type,
        example=body(HI, message("assistant", [{"type": "input_text", "text": "hi"}]), HI),
    ),
    Rule(
        name="a field that items do not have, such as the status of reasoning",
        page=f"{GITHUB}/lidge-jun/opencodex/pull/2248",
        broken=lambda sent: any(set(item) - {"type"} - _FIELDS[item["type"]] for item in sent["input"]),
        example=body(HI, thought() | {"status": "completed"}, call(), result()),
    ),
    Rule(
        name="a parameter that requests do not have",
        page=f"{DOCS}/api-reference/responses/create",
        broken=lambda sent: bool(set(sent) - _PARAMETERS),
        example=body(HI, seed=1),
    ),
    Rule(
        name="encrypted reasoning of a model that does not reason",
        page=f"{GITHUB}/pydantic/pydantic-ai/issues/2865",
        broken=lambda sent: bool(sent.get("include")) and is_old(sent),
        example=body(HI, model="gpt-4o", include=["reasoning.encrypted_content"]),
    ),
    Rule(
        name="fewer than 16 tokens",
        page=f"{GITHUB}/earendil-works/pi/issues/6265",
        broken=lambda sent: sent.get("max_output_tokens", 16) < 16,
        example=body(HI, max_output_tokens=1),
    ),
    Rule(
        name="temperature, for a model that reasons",
        page=f"{GITHUB}/sourcebot-dev/sourcebot/issues/454",
        broken=lambda sent: "temperature" in sent and re.match(r"o\d|gpt-5(?!\.)", sent["model"]) is not None,
        example=body(HI, temperature=0.5),
    ),
    Rule(
        name="an image of another media type",
        page=f"{DOCS}/guides/images-vision",
        broken=lambda sent: any(
            url.startswith("data:") and not re.match(r"data:image/(png|jpeg|gif|webp);", url)
            for url in images(sent)
        ),
        example=body(message("user", [{"type": "input_image", "image_url": "data:image/bmp;base64,AA=="}])),
    ),
)


def refusal(sent: Body) -> Rule | None:
    """The first rule that `sent` breaks."""
    return first_broken(RULES, sent)


def strict_server() -> HttpServer:
    """The server. It answers `hm` in a summary and `Hello` in words, streamed where that is asked for."""
    return HttpServer(respond=respond)


def respond(request: Request) -> Reply:
    """Refuse the request, or answer it."""
    if not request.headers.get("authorization", "").startswith("Bearer "):
        return failure(401, "invalid_api_key", "You didn't provide an API key")
    sent = json.loads(request.body)
    if (rule := refusal(sent)) is not None:
        return failure(400, "invalid_request_error", f"refused: {rule.name}")
    if sent.get("stream"):
        return Reply(headers=SSE, body=streamed(sent["model"]))
    answer = finished(sent["model"])
    return json_reply(answer)


def failure(status: int, code: str, text: str) -> Reply:
    error = {"error": {"message": text, "type": "invalid_request_error", "param": None, "code": code}}
    return json_reply(error, status)


def reasoning(model: str) -> Body:
    return thought(model) | {"summary": [{"type": "summary_text", "text": "hm"}], "status": "completed"}


def said(text: str) -> Body:
    return {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def finished(model: str, **fields: Any) -> Body:
    """A response object, as it stands alone and in the last event."""
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": f"{model}-2026-01-01",
        "output": [reasoning(model), said("Hello")],
        "usage": {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 7},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 2},
            "total_tokens": 15,
        },
    } | fields


def event(kind: str, **fields: Any) -> bytes:
    """An event as the documentation shows them."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, 'sequence_number': 0, **fields})}\n\n".encode()


def streamed(model: str) -> bytes:
    """A whole stream: reasoning with its summary, then text."""
    begun = thought(model) | {"encrypted_content": None}
    summary = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
    text = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
    return b"".join(
        [
            event("response.created", response=finished(model, status="in_progress", output=[])),
            event("response.in_progress", response=finished(model, status="in_progress", output=[])),
            event("response.output_item.added", output_index=0, item=begun),
            event("response.reasoning_summary_part.added", **summary),
            event("response.reasoning_summary_text.delta", delta="hm", **summary),
            event("response.reasoning_summary_text.done", text="hm", **summary),
            event("response.output_item.done", output_index=0, item=reasoning(model)),
            event("response.output_item.added", output_index=1, item=said("") | {"content": []}),
            event("response.content_part.added", part={"type": "output_text", "text": ""}, **text),
            event("response.output_text.delta", delta="Hel", **text),
            event("response.output_text.delta", delta="lo", **text),
            event("response.output_text.done", text="Hello", **text),
            event("response.output_item.done", output_index=1, item=said("Hello")),
            event("response.completed", response=finished(model)),
        ]
    )
