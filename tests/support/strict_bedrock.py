"""A server that answers as Bedrock's Converse does and refuses what it is documented to refuse.

Each refusal is a row of `RULES`: what is refused, where that is documented, and a body that shows it. To a
body belong `modelId` and `operation` (converse, converse-stream, count-tokens) from the path.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final
from urllib.parse import unquote

from tests.support.aws_signature import is_signed
from tests.support.event_stream import event
from tests.support.http_server import HttpServer, Reply, Request
from tests.support.strict_rules import GITHUB, Body, Rule, first_broken, json_reply

API: Final = "https://docs.aws.amazon.com/bedrock/latest/APIReference"
GUIDE: Final = "https://docs.aws.amazon.com/bedrock/latest/userguide"
SIGNED: Final = "signed by "
"""How this server's signatures begin; the model's id follows."""

REGIONAL: Final = "us."
HAIKU: Final = "us.anthropic.claude-haiku-4-5-20251001-v1:0"
OPUS: Final = "eu.anthropic.claude-opus-4-6-v1"
CLAUDE_3: Final = "anthropic.claude-3-haiku-20240307-v1:0"
NOVA: Final = "amazon.nova-lite-v1:0"
LLAMA: Final = "us.meta.llama4-maverick-17b-instruct-v1:0"
MISTRAL: Final = "mistral.mistral-7b-instruct-v0:2"
MODELS: Final = (HAIKU, OPUS, CLAUDE_3, NOVA, LLAMA, MISTRAL)

KEY, SECRET, TOKEN, REGION = (
    "AKIDEXAMPLE",
    "never/to+be/shown",
    "session-token-never-to-be-shown",
    "eu-central-1",
)
BEARER: Final = "bedrock-api-key-never-to-be-shown"


def text(value: str) -> Body:
    return {"text": value}


def user(*blocks: Any) -> Body:
    return {"role": "user", "content": [text(block) if isinstance(block, str) else block for block in blocks]}


def assistant(*blocks: Any) -> Body:
    return user(*blocks) | {"role": "assistant"}


def call(call_id: str = "a", name: str = "ls", arguments: Any = None) -> Body:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": {} if arguments is None else arguments}}


def result(call_id: str = "a", *content: Any, **fields: Any) -> Body:
    return {"toolResult": {"toolUseId": call_id, "content": list(content or [text("done")]), **fields}}


def thought(model: str = HAIKU, value: str = "hm") -> Body:
    return {"reasoningContent": {"reasoningText": {"text": value, "signature": SIGNED + model}}}


def image(form: str = "png", source: Any = None) -> Body:
    return {"image": {"format": form, "source": source or {"bytes": "AAEC"}}}


def document(name: str = "Document 1", form: str = "pdf") -> Body:
    return {"document": {"format": form, "name": name, "source": {"bytes": "AAEC"}}}


POINT: Final[Body] = {"cachePoint": {"type": "default"}}


def tool(name: str = "ls", **schema: Any) -> Body:
    return {
        "toolSpec": {"name": name, "inputSchema": {"json": {"type": "object", "properties": {}} | schema}}
    }


def body(*turns: Body, model: str = HAIKU, operation: str = "converse", **fields: Any) -> Body:
    """A good request, but for what is given."""
    wanted: Body = {"modelId": model, "operation": operation, "messages": list(turns)}
    return wanted | {"toolConfig": {"tools": [tool()]}} | fields


def blocks(sent: Body) -> Iterator[Body]:
    """Every block of every turn, those in results included."""
    for turn in sent["messages"]:
        for block in turn["content"]:
            yield block
            if "toolResult" in block:
                yield from block["toolResult"]["content"]


def of_kind(sent: Body, kind: str) -> list[Body]:
    return [block[kind] for block in blocks(sent) if kind in block]


def is_claude(sent: Body) -> bool:
    return "anthropic.claude" in sent["modelId"]


def is_nova(sent: Body) -> bool:
    return "amazon.nova" in sent["modelId"]


def calls_in(turn: Body) -> list[str]:
    return [block["toolUse"]["toolUseId"] for block in turn["content"] if "toolUse" in block]


def results_in(turn: Body) -> list[str]:
    return [block["toolResult"]["toolUseId"] for block in turn["content"] if "toolResult" in block]


def unanswered(sent: Body) -> bool:
    turns = [*sent["messages"], {"content": []}]
    return any(set(calls_in(turn)) - set(results_in(following)) for turn, following in pairwise(turns))


def uncalled(sent: Body) -> bool:
    turns = [{"content": []}, *sent["messages"]]
    return any(
        sorted(calls_in(before)) != sorted(results_in(turn))
        for before, turn in pairwise(turns)
        if results_in(turn)
    )


def text_before_results(sent: Body) -> bool:
    for turn in sent["messages"]:
        kinds = ["toolResult" in block for block in turn["content"]]
        if kinds != sorted(kinds, reverse=True):
            return True
    return False


def mixed(sent: Body, kind: str) -> bool:
    return any(len({kind in block for block in turn["content"]}) > 1 for turn in sent["messages"])


def loop_without_thinking(sent: Body) -> bool:
    if sent.get("additionalModelRequestFields", {}).get("thinking", {}).get("type") != "enabled":
        return False
    turns = sent["messages"]
    end = len(turns)
    while end >= 2 and "toolResult" in turns[end - 1]["content"][0]:
        end -= 2
    return end < len(turns) and "reasoningContent" not in turns[end]["content"][0]


def foreign(sent: Body) -> bool:
    own = (SIGNED + sent["modelId"], SIGNED + REGIONAL + sent["modelId"])  # counted for the model behind it
    for block in of_kind(sent, "reasoningContent"):
        redacted = block.get("redactedContent")
        signed = block.get("reasoningText", {}).get("signature")
        if (base64.b64decode(redacted).decode() if redacted else signed) not in own:
            return True
    return False


def points(sent: Body) -> int:
    tools = sent.get("toolConfig", {}).get("tools", [])
    everything = [*sent.get("system", []), *tools, *blocks(sent)]
    return sum("cachePoint" in block for block in everything)


def takes_no_points(sent: Body) -> bool:
    without = ("claude-3-haiku", "claude-3-opus", "claude-3-sonnet", "claude-3-5-sonnet")
    return not is_claude(sent) or any(name in sent["modelId"] for name in without)


def point_after_thinking(sent: Body) -> bool:
    return any(
        "reasoningContent" in one and "cachePoint" in other
        for turn in sent["messages"]
        for one, other in pairwise(turn["content"])
    )


def tools_of(sent: Body) -> list[Body]:
    return [each["toolSpec"] for each in sent.get("toolConfig", {}).get("tools", []) if "toolSpec" in each]


def names_of_documents(sent: Body) -> list[str]:
    return [each["name"] for each in of_kind(sent, "document")]


def most(sent: Body, kind: str) -> int:
    return max((sum(kind in block for block in turn["content"]) for turn in sent["messages"]), default=0)


def named_choice(sent: Body) -> bool:
    return "tool" in sent.get("toolConfig", {}).get("toolChoice", {})


def open_object(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(open_object, schema))
    if not isinstance(schema, dict):
        return False
    is_open = schema.get("type") == "object" and schema.get("additionalProperties") is not False
    return is_open or any(map(open_object, schema.values()))


def output_schema(sent: Body) -> Any:
    form = sent.get("outputConfig", {}).get("textFormat")
    return json.loads(form["structure"]["jsonSchema"]["schema"]) if form else None


_FIELDS: Final = {
    "messages", "system", "toolConfig", "inferenceConfig", "additionalModelRequestFields", "outputConfig",
}  # fmt: skip
_BLOCKS: Final = {"text", "image", "document", "video", "audio", "toolUse", "toolResult", "cachePoint",
                  "reasoningContent"}  # fmt: skip


def unknown_field(sent: Body) -> bool:
    known = _FIELDS if sent["operation"] != "count-tokens" else _FIELDS - {"inferenceConfig", "outputConfig"}
    return bool(set(sent) - known - {"modelId", "operation"}) or any(
        len(block) != 1 or not set(block) <= _BLOCKS for block in blocks(sent)
    )


HI: Final = user("hi")
LS: Final = (HI, assistant(call()), user(result()))
OPEN: Final = json.dumps({"type": "object"})

RULES: Final = (
    Rule(
        name="the first turn is not the user's",
        page=f"{GITHUB}/langgenius/dify/issues/12340",
        broken=lambda sent: not sent["messages"] or sent["messages"][0]["role"] != "user",
        example=body(assistant("hi"), HI),
    ),
    Rule(
        name="roles do not alternate",
        page=f"{GITHUB}/langchain-ai/langchain-aws/issues/130",
        broken=lambda sent: any(one["role"] == other["role"] for one, other in pairwise(sent["messages"])),
        example=body(HI, HI),
    ),
    Rule(
        name="the last turn is not the user's",
        page=f"{GITHUB}/microsoft/semantic-kernel/issues/10281",
        broken=lambda sent: sent["messages"][-1]["role"] != "user",
        example=body(HI, assistant("Well,")),
    ),
    Rule(
        name="a turn is empty",
        page=f"{GITHUB}/archestra-ai/archestra/pull/4220",
        broken=lambda sent: not all(turn["content"] for turn in sent["messages"]),
        example=body(HI, assistant(), HI),
    ),
    Rule(
        name="text is blank",
        page=f"{GITHUB}/earendil-works/pi/issues/4975",
        broken=lambda sent: (
            not all(
                block["text"].strip() for block in [*blocks(sent), *sent.get("system", [])] if "text" in block
            )
        ),
        example=body(user(" \n")),
    ),
    Rule(
        name="a result is empty",
        page=f"{GITHUB}/aws-samples/sample-multi-agent-orchestration-chat-on-agentcore/issues/15",
        broken=lambda sent: not all(each["content"] for each in of_kind(sent, "toolResult")),
        example=body(HI, assistant(call()), user({"toolResult": {"toolUseId": "a", "content": []}})),
    ),
    Rule(
        name="a call has no result in the next turn",
        page=f"{GITHUB}/camel-ai/camel/issues/3954",
        broken=unanswered,
        example=body(HI, assistant(call()), user("stop")),
    ),
    Rule(
        name="more results than calls of the turn before",
        page=f"{GITHUB}/pydantic/pydantic-ai/issues/2327",
        broken=uncalled,
        example=body(user(result())),
    ),
    Rule(
        name="text stands before results",
        page=f"{GITHUB}/langchain-ai/langchain-aws/issues/451",
        broken=text_before_results,
        example=body(HI, assistant(call()), user("here:", result())),
    ),
    Rule(
        name="text beside results, for a model that takes none",
        page=f"{GITHUB}/strands-agents/harness-sdk/issues/1223",
        broken=lambda sent: not is_claude(sent) and mixed(sent, "toolResult"),
        example=body(HI, assistant(call()), user(result(), "well?"), model=LLAMA),
    ),
    Rule(
        name="text beside calls, for a model that takes none",
        page=f"{GITHUB}/langchain-ai/langchain-aws/pull/1118",
        broken=lambda sent: not (is_claude(sent) or is_nova(sent)) and mixed(sent, "toolUse"),
        example=body(HI, assistant("I look.", call()), user(result()), model=LLAMA),
    ),
    Rule(
        name="calls, but no tools",
        page=f"{GITHUB}/langgenius/dify/issues/7328",
        broken=lambda sent: bool(of_kind(sent, "toolUse")) and not tools_of(sent),
        example=body(*LS, toolConfig={}),
    ),
    Rule(
        name="an id is used twice",
        page=f"{GITHUB}/anthropics/claude-code/issues/28515",
        broken=lambda sent: (
            len({each["toolUseId"] for each in of_kind(sent, "toolUse")}) < len(of_kind(sent, "toolUse"))
        ),
        example=body(*LS, *LS[1:]),
    ),
    Rule(
        name="an id has another form",
        page=f"{API}/API_runtime_ToolUseBlock.html",
        broken=lambda sent: (
            not all(
                re.fullmatch("[a-zA-Z0-9_-]{1,64}", each["toolUseId"]) for each in of_kind(sent, "toolUse")
            )
        ),
        example=body(HI, assistant(call("call|1")), user(result("call|1"))),
    ),
    Rule(
        name="a name of a tool has another form",
        page=f"{API}/API_runtime_ToolSpecification.html",
        broken=lambda sent: (
            not all(
                re.fullmatch("[a-zA-Z0-9_-]{1,64}", each["name"])
                for each in [*of_kind(sent, "toolUse"), *tools_of(sent)]
            )
        ),
        example=body(HI, assistant(call(name="docs.search")), user(result())),
    ),
    Rule(
        name="a tool's description is empty",
        page=f"{API}/API_runtime_ToolSpecification.html",
        broken=lambda sent: not all(each.get("description", "x") for each in tools_of(sent)),
        example=body(HI, toolConfig={"tools": [{"toolSpec": tool()["toolSpec"] | {"description": ""}}]}),
    ),
    Rule(
        name="arguments are no object",
        page=f"{GITHUB}/vercel/ai/pull/19023",
        broken=lambda sent: not all(isinstance(each["input"], dict) for each in of_kind(sent, "toolUse")),
        example=body(HI, assistant(call(arguments="{")), user(result())),
    ),
    Rule(
        name="a tool's schema is no object's",
        page=f"{API}/API_runtime_ToolInputSchema.html",
        broken=lambda sent: (
            not all(each["inputSchema"]["json"].get("type") == "object" for each in tools_of(sent))
        ),
        example=body(HI, toolConfig={"tools": [tool(type="array")]}),
    ),
    Rule(
        name="a Nova tool's schema has more at its top than type, properties and required",
        page=f"{GITHUB}/zed-industries/zed/issues/28521",
        broken=lambda sent: (
            is_nova(sent)
            and any(
                set(each["inputSchema"]["json"]) - {"type", "properties", "required"}
                for each in tools_of(sent)
            )
        ),
        example=body(HI, model=NOVA, toolConfig={"tools": [tool(additionalProperties=False)]}),
    ),
    Rule(
        name="a tool demanded by name, for a model without that",
        page=f"{API}/API_runtime_ToolChoice.html",
        broken=lambda sent: named_choice(sent) and not (is_claude(sent) or is_nova(sent)),
        example=body(HI, model=LLAMA, toolConfig={"tools": [tool()], "toolChoice": {"tool": {"name": "ls"}}}),
    ),
    Rule(
        name="tools while it streams, for a model that cannot",
        page=f"{GITHUB}/earendil-works/pi/issues/3739",
        broken=lambda sent: (
            "meta.llama" in sent["modelId"]
            and sent["operation"] == "converse-stream"
            and bool(tools_of(sent))
        ),
        example=body(HI, model=LLAMA, operation="converse-stream"),
    ),
    Rule(
        name="a system prompt, for a model without",
        page=f"{GITHUB}/Mintplex-Labs/anything-llm/issues/2486",
        broken=lambda sent: "mistral-7b" in sent["modelId"] and bool(sent.get("system")),
        example=body(HI, model=MISTRAL, system=[text("Be brief.")]),
    ),
    Rule(
        name="a result's status, for a model without",
        page=f"{API}/API_runtime_ToolResultBlock.html",
        broken=lambda sent: (
            not (is_claude(sent) or is_nova(sent))
            and any("status" in each for each in of_kind(sent, "toolResult"))
        ),
        example=body(HI, assistant(call()), user(result(status="error")), model=LLAMA),
    ),
    Rule(
        name="an image in a result, for a model that takes none",
        page=f"{API}/API_runtime_ToolResultContentBlock.html",
        broken=lambda sent: (
            not (is_claude(sent) or is_nova(sent))
            and any("image" in block for each in of_kind(sent, "toolResult") for block in each["content"])
        ),
        example=body(HI, assistant(call()), user(result("a", text("b"), image())), model=LLAMA),
    ),
    Rule(
        name="an image of another format",
        page=f"{API}/API_runtime_ImageBlock.html",
        broken=lambda sent: (
            not {each["format"] for each in of_kind(sent, "image")} <= {"png", "jpeg", "gif", "webp"}
        ),
        example=body(user("see", image("bmp"))),
    ),
    Rule(
        name="an image that is no bytes",
        page=f"{API}/API_runtime_ImageSource.html",
        broken=lambda sent: any(set(each["source"]) != {"bytes"} for each in of_kind(sent, "image")),
        example=body(user("see", image(source={"url": "https://example.org/a.png"}))),
    ),
    Rule(
        name="a document of another format",
        page=f"{API}/API_runtime_DocumentBlock.html",
        broken=lambda sent: (
            not {each["format"] for each in of_kind(sent, "document")}
            <= {"pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"}
        ),
        example=body(user("see", document(form="plain"))),
    ),
    Rule(
        name="a document's name has another form",
        page=f"{API}/API_runtime_DocumentBlock.html",
        broken=lambda sent: (
            not all(
                re.fullmatch(r"(?!.*\s\s)[a-zA-Z0-9\s()\[\]-]{1,200}", name)
                for name in names_of_documents(sent)
            )
        ),
        example=body(user("see", document("report.pdf"))),
    ),
    Rule(
        name="two documents of one name",
        page=f"{GITHUB}/maximhq/bifrost/issues/7003",
        broken=lambda sent: len(set(names_of_documents(sent))) < len(names_of_documents(sent)),
        example=body(user("see", document(), document())),
    ),
    Rule(
        name="a document without text",
        page=f"{API}/API_runtime_Message.html",
        broken=lambda sent: any(
            any("document" in block for block in turn["content"])
            and not any("text" in block for block in turn["content"])
            for turn in sent["messages"]
        ),
        example=body(user(document())),
    ),
    Rule(
        name="more than five documents",
        page=f"{API}/API_runtime_Message.html",
        broken=lambda sent: most(sent, "document") > 5,
        example=body(user("see", *(document(f"Document {number}") for number in range(6)))),
    ),
    Rule(
        name="more than twenty images",
        page=f"{API}/API_runtime_Message.html",
        broken=lambda sent: most(sent, "image") > 20,
        example=body(user("see", *[image()] * 21)),
    ),
    Rule(
        name="an image of the assistant's",
        page=f"{API}/API_runtime_Message.html",
        broken=lambda sent: any(
            turn["role"] == "assistant"
            and any({"image", "document"} & set(block) for block in turn["content"])
            for turn in sent["messages"]
        ),
        example=body(HI, assistant("see", image()), HI),
    ),
    Rule(
        name="an image beyond 3.75 MB",
        page=f"{API}/API_runtime_Message.html",
        broken=lambda sent: any(
            len(each["source"].get("bytes", "")) * 3 / 4 > 3.75 * 2**20 for each in of_kind(sent, "image")
        ),
        example=body(user("see", image(source={"bytes": "AAAA" * 1_310_721}))),
    ),
    Rule(
        name="a signature of another model, or of nobody",
        page=f"{API}/API_runtime_ReasoningTextBlock.html",
        broken=foreign,
        example=body(HI, assistant(thought("gpt"), "hi"), HI),
    ),
    Rule(
        name="thinking at the end of a turn",
        page=f"{GITHUB}/tailcallhq/forgecode/issues/2107",
        broken=lambda sent: any("reasoningContent" in turn["content"][-1] for turn in sent["messages"]),
        example=body(HI, assistant(thought()), HI),
    ),
    Rule(
        name="a tool loop that does not begin with thinking, although it has a budget",
        page=f"{GITHUB}/n8n-io/n8n/issues/22550",
        broken=loop_without_thinking,
        example=body(
            *LS, additionalModelRequestFields={"thinking": {"type": "enabled", "budget_tokens": 2048}}
        ),
    ),
    Rule(
        name="a point for the cache, for a model without",
        page=f"{GITHUB}/BerriAI/litellm/pull/39210",
        broken=lambda sent: points(sent) > 0 and takes_no_points(sent),
        example=body(user("hi", POINT), model=LLAMA),
    ),
    Rule(
        name="a point for the cache behind thinking",
        page=f"{GITHUB}/anomalyco/opencode/issues/36517",
        broken=point_after_thinking,
        example=body(HI, assistant(thought(), POINT, "hi"), HI),
    ),
    Rule(
        name="more than four points for the cache",
        page=f"{GUIDE}/prompt-caching.html",
        broken=lambda sent: points(sent) > 4,
        example=body(user(*["hi", POINT] * 5)),
    ),
    Rule(
        name="a temperature beyond 1",
        page=f"{API}/API_runtime_InferenceConfiguration.html",
        broken=lambda sent: sent.get("inferenceConfig", {}).get("temperature", 0) > 1,
        example=body(HI, inferenceConfig={"temperature": 2}),
    ),
    Rule(
        name="temperature and topP together, for a model that takes one",
        page=f"{GITHUB}/BerriAI/litellm/issues/15097",
        broken=lambda sent: (
            "claude-haiku-4-5" in sent["modelId"]
            and {"temperature", "topP"} <= set(sent.get("inferenceConfig", {}))
        ),
        example=body(HI, inferenceConfig={"temperature": 1, "topP": 1}),
    ),
    Rule(
        name="an open object in the output schema",
        page=f"{GITHUB}/veryfront/veryfront-code/issues/3918",
        broken=lambda sent: open_object(output_schema(sent)),
        example=body(HI, outputConfig={"textFormat": {"structure": {"jsonSchema": {"schema": OPEN}}}}),
    ),
    Rule(
        name="tokens counted for an inference profile",
        page=f"{GITHUB}/pydantic/pydantic-ai/issues/4001",
        broken=lambda sent: (
            sent["operation"] == "count-tokens"
            and re.match(r"(us|eu|global)\.|arn:", sent["modelId"]) is not None
        ),
        example=body(HI, operation="count-tokens"),
    ),
    Rule(
        name="a lone surrogate",
        page=f"{GITHUB}/earendil-works/pi/issues/4975",
        broken=lambda sent: re.search("[\ud800-\udfff]", json.dumps(sent, ensure_ascii=False)) is not None,
        example=body(user("cut \ud83d")),
    ),
    Rule(
        name="a field that the format does not have",
        page=f"{API}/API_runtime_ContentBlock.html",
        broken=unknown_field,
        example=body(user(text("hi") | {"runId": "r"})),
    ),
)


def refusal(sent: Body) -> Rule | None:
    """The first rule that `sent` breaks."""
    return first_broken(RULES, sent)


def strict_server() -> HttpServer:
    """The server. It answers `Hello` in words, Claude with `hm` in thought, streamed where that is asked."""
    return HttpServer(respond=respond)


def read(request: Request) -> Body:
    """The body of `request`, with the model and the operation of its path."""
    _, _, model, operation = request.path.split("/")
    sent = json.loads(request.body)
    sent = sent["input"]["converse"] if operation == "count-tokens" else sent
    return {"modelId": unquote(model), "operation": operation, **sent}


def is_known(request: Request) -> bool:
    """Whether the request has the key, or the signature of the one account."""
    if request.headers.get("authorization") == f"Bearer {BEARER}":
        return True
    if request.headers.get("x-amz-security-token", TOKEN) != TOKEN:
        return False
    return is_signed(request, key=KEY, secret=SECRET, region=REGION, service="bedrock")


def respond(request: Request) -> Reply:
    """Refuse the request, or answer it."""
    if not is_known(request):
        return failure(
            403, "UnrecognizedClientException", "The security token included in the request is invalid."
        )
    sent = read(request)
    rule = refusal(sent)
    if rule is not None:
        words = "This model doesn't support tool use in streaming mode."
        said = words if rule.name.startswith("tools while it streams") else f"refused: {rule.name}"
        return failure(400, "ValidationException", said)
    if sent["operation"] == "count-tokens":
        return json_reply({"inputTokens": len(json.dumps(sent["messages"]))})
    if sent["operation"] == "converse-stream":
        return Reply(headers={"Content-Type": STREAM}, body=streamed(sent["modelId"]))
    return json_reply(whole(sent["modelId"]))


STREAM: Final = "application/vnd.amazon.eventstream"
USAGE: Final = {"inputTokens": 3, "outputTokens": 5, "totalTokens": 15, "cacheReadInputTokens": 7}


def whole(model: str) -> Body:
    """A whole answer."""
    thinking = [thought(model)] if "claude" in model else []
    return {
        "output": {"message": {"role": "assistant", "content": [*thinking, text("Hello")]}},
        "stopReason": "end_turn",
        "usage": USAGE,
        "metrics": {"latencyMs": 1},
    }


def failure(status: int, kind: str, message: str) -> Reply:
    where = f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/"
    return json_reply({"message": message}, status, headers={"x-amzn-ErrorType": where})


def delta(index: int, **fields: Any) -> bytes:
    return event("contentBlockDelta", contentBlockIndex=index, delta=fields, p="abcdefgh")


def stopped(index: int) -> bytes:
    return event("contentBlockStop", contentBlockIndex=index, p="abc")


def streamed(model: str) -> bytes:
    """A whole stream: Claude's thinking with its signature, then text."""
    thinking = [
        delta(0, reasoningContent={"text": "hm"}),
        delta(0, reasoningContent={"signature": SIGNED + model}),
        stopped(0),
    ]
    return b"".join(
        [
            event("messageStart", role="assistant", p="ab"),
            *(thinking if "claude" in model else []),
            delta(1, text="Hel"),
            delta(1, text="lo"),
            stopped(1),
            event("messageStop", stopReason="end_turn", p="abcd"),
            event("metadata", usage=USAGE, metrics={"latencyMs": 1}),
        ]
    )
