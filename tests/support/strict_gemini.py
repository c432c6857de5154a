"""A server that answers in the generateContent format and refuses what Google's is documented to refuse.

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

DOCS: Final = "https://ai.google.dev/gemini-api/docs"
API: Final = "https://ai.google.dev/api"
SIGNED: Final = "signed by "
"""How this server's signatures begin; the model's name follows."""

FOREIGN: Final = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
"""What the docs give for calls that no Gemini model signed."""

_BUDGETS: Final = {"2.5-flash-lite": (512, 24_576), "2.5-flash": (1, 24_576), "2.5-pro": (128, 32_768)}
_LONGEST: Final = 65_536


def text(value: str, **fields: Any) -> Body:
    return {"text": value} | fields


def content(role: str, *parts: Any) -> Body:
    return {"role": role, "parts": [text(part) if isinstance(part, str) else part for part in parts]}


def user(*parts: Any) -> Body:
    return content("user", *parts)


def model(*parts: Any) -> Body:
    return content("model", *parts)


def call(call_id: str = "a", name: str = "ls", args: Any = None, signature: str = FOREIGN[0]) -> Body:
    part: Body = {"functionCall": {"id": call_id, "name": name, "args": {} if args is None else args}}
    return part | ({"thoughtSignature": signature} if signature else {})


def response(call_id: str = "a", name: str = "ls", **fields: Any) -> Body:
    return {"functionResponse": {"id": call_id, "name": name, "response": {"output": "done"}} | fields}


def body(*contents: Body, to: str = "gemini-3.8-flash", **fields: Any) -> Body:
    """A good request, but for what is given. The model's name stands in the path; here it does beside it."""
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    declared = {"name": "ls", "description": "Lists.", "parametersJsonSchema": schema}
    tools = [{"functionDeclarations": [declared]}]
    return {"model": to, "contents": list(contents), "tools": tools} | fields


def declared(schema: Any, name: str = "ls") -> list[Body]:
    return [{"functionDeclarations": [{"name": name, "description": "x", "parametersJsonSchema": schema}]}]


def config(**fields: Any) -> Body:
    return {"generationConfig": fields}


def parts(sent: Body) -> Iterator[Body]:
    for turn in sent["contents"]:
        yield from turn["parts"]


def inside(sent: Body, name: str) -> list[Any]:
    return [part[name] for part in parts(sent) if name in part]


def calls_of(turn: Body) -> list[Body]:
    return [part["functionCall"] for part in turn["parts"] if "functionCall" in part]


def responses_of(turn: Body) -> list[Body]:
    return [part["functionResponse"] for part in turn["parts"] if "functionResponse" in part]


def declarations(sent: Body) -> list[Body]:
    return [each for tool in sent.get("tools", ()) for each in tool.get("functionDeclarations", ())]


def is_signed(sent: Body) -> bool:
    """Whether the model validates signatures: those since Gemini 3 do."""
    return not any(old in sent["model"] for old in ("gemini-1", "gemini-2"))


def miscounted(sent: Body) -> bool:
    """Calls and responses differ in number, or somebody speaks between them."""
    turns = [*sent["contents"], {"parts": []}]
    return any(
        calls_of(turn) and len(responses_of(following)) != len(calls_of(turn))
        for turn, following in pairwise(turns)
    )


def uncalled(sent: Body) -> bool:
    turns = [{"parts": []}, *sent["contents"]]
    return any(responses_of(turn) and not calls_of(before) for before, turn in pairwise(turns))


def mismatched(sent: Body) -> bool:
    for turn, following in pairwise(sent["contents"]):
        asked = sorted((each["id"], each["name"]) for each in calls_of(turn))
        if asked and asked != sorted((each["id"], each["name"]) for each in responses_of(following)):
            return True
    return False


def beside_responses(sent: Body) -> bool:
    return any(0 < len(responses_of(turn)) < len(turn["parts"]) for turn in sent["contents"])


def call_after_model(sent: Body) -> bool:
    turns = [{"role": "model", "parts": []}, *sent["contents"]]
    return any(calls_of(turn) and before["role"] == "model" for before, turn in pairwise(turns))


def unsigned(sent: Body) -> bool:
    if not is_signed(sent):
        return False
    firsts = [
        next((part for part in turn["parts"] if "functionCall" in part), None) for turn in sent["contents"]
    ]
    return any(first is not None and not first.get("thoughtSignature") for first in firsts)


def foreign(sent: Body) -> bool:
    own = (SIGNED + sent["model"], *FOREIGN)
    return any(part.get("thoughtSignature", own[0]) not in own for part in parts(sent))


def schemas(value: Any) -> Iterator[Body]:
    """Every schema in a schema."""
    if not isinstance(value, dict):
        return
    yield value
    for name in ("properties", "$defs"):
        for each in value.get(name, {}).values():
            yield from schemas(each)
    for name in ("anyOf", "oneOf", "prefixItems"):
        for each in value.get(name, ()):
            yield from schemas(each)
    for name in ("items", "additionalProperties"):
        yield from schemas(value.get(name))


def every_schema(sent: Body) -> list[Body]:
    roots = [each.get("parametersJsonSchema") for each in declarations(sent)]
    roots.append(sent.get("generationConfig", {}).get("responseJsonSchema"))
    return [schema for root in roots for schema in schemas(root)]


KEYWORDS: Final = frozenset(
    {
        *("$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items"),
        *("prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties"),
        *("additionalProperties", "required", "propertyOrdering"),
    }
)


def thinking(sent: Body) -> Body:
    found: Body = sent.get("generationConfig", {}).get("thinkingConfig", {})
    return found


def bad_budget(sent: Body) -> bool:
    budget = thinking(sent).get("thinkingBudget")
    bounds = next((bounds for name, bounds in _BUDGETS.items() if name in sent["model"]), None)
    if budget is None or budget == -1 or bounds is None:
        return False
    return not (bounds[0] <= budget <= bounds[1] or (budget == 0 and "flash" in sent["model"]))


def bad_number(sent: Body) -> bool:
    found = sent.get("generationConfig", {})
    return not (
        0 <= found.get("temperature", 0) <= 2
        and 0 <= found.get("topP", 0) <= 1
        and 1 <= found.get("maxOutputTokens", 1) <= _LONGEST
    )


_MEDIA: Final = re.compile(
    r"image/(png|jpeg|webp|heic|heif)|application/pdf"
    r"|audio/(wav|mp3|aiff|aac|ogg|flac)|video/(mp4|mpeg|mov|avi|x-flv|mpg|webm|wmv|3gpp)"
)
_KNOWN: Final = {"thought", "thoughtSignature"}
_DATA: Final = {"text", "functionCall", "functionResponse", "inlineData", "fileData"}
HI: Final = user("hi")
OBJECT: Final = {"type": "object"}

RULES: Final = (
    Rule(
        name="no contents",
        page=f"{API}/generate-content",
        broken=lambda sent: not sent["contents"],
        example=body(),
    ),
    Rule(
        name="a content without parts",
        page=f"{GITHUB}/vercel/ai/issues/3775",
        broken=lambda sent: not all(turn["parts"] for turn in sent["contents"]),
        example=body(HI, model(), HI),
    ),
    Rule(
        name="a role that is neither user nor model",
        page=f"{GITHUB}/lijunzh/koda/issues/312",
        broken=lambda sent: any(turn["role"] not in {"user", "model"} for turn in sent["contents"]),
        example=body(content("assistant", "hi"), HI),
    ),
    Rule(
        name="an empty text",
        page=f"{GITHUB}/google-gemini/deprecated-generative-ai-js/issues/361",
        broken=lambda sent: any(part.get("text") == "" and len(part) == 1 for part in parts(sent)),
        example=body(user("hi", "")),
    ),
    Rule(
        name="a part with no data, or two",
        page=f"{GITHUB}/router-for-me/CLIProxyAPI/issues/1292",
        broken=lambda sent: any(len(_DATA & part.keys()) != 1 for part in parts(sent)),
        example=body(user("hi", {"thought": True})),
    ),
    Rule(
        name="a field that the format does not have",
        page=f"{GITHUB}/gera2ld/ai.nvim/issues/13",
        broken=lambda sent: any(part.keys() - _DATA - _KNOWN for part in parts(sent)),
        example=body(user(text("hi", runId="r"))),
    ),
    Rule(
        name="a call that does not follow the user",
        page=f"{GITHUB}/google-gemini/gemini-cli/issues/11814",
        broken=call_after_model,
        example=body(model(call()), user(response())),
    ),
    Rule(
        name="fewer responses than calls, or more",
        page=f"{GITHUB}/google-gemini/gemini-cli/issues/16415",
        broken=miscounted,
        example=body(HI, model(call("a"), call("b")), user(response("a")), user(response("b"))),
    ),
    Rule(
        name="a response without a call in front",
        page=f"{GITHUB}/langchain-ai/langchain/issues/27799",
        broken=uncalled,
        example=body(HI, user(response())),
    ),
    Rule(
        name="a response with the id or name of another call",
        page=f"{DOCS}/function-calling",
        broken=mismatched,
        example=body(HI, model(call("a")), user(response("b"))),
    ),
    Rule(
        name="something beside responses",
        page=f"{GITHUB}/deepnoodle-ai/dive/pull/287",
        broken=beside_responses,
        example=body(HI, model(call()), user(response(), "and?")),
    ),
    Rule(
        name="a request that ends with the model",
        page=f"{GITHUB}/crewAIInc/crewAI/pull/6973",
        broken=lambda sent: sent["contents"][-1]["role"] == "model",
        example=body(HI, model("hello")),
    ),
    Rule(
        name="a first call without a signature",
        page=f"{DOCS}/thought-signatures",
        broken=unsigned,
        example=body(HI, model(call(signature="")), user(response())),
    ),
    Rule(
        name="a signature of another model",
        page=f"{GITHUB}/decolua/9router/issues/4136",
        broken=foreign,
        example=body(HI, model(call(signature="toolu")), user(response())),
    ),
    Rule(
        name="arguments that are no object",
        page=f"{API}/caching",
        broken=lambda sent: any(not isinstance(each["args"], dict) for each in inside(sent, "functionCall")),
        example=body(HI, model(call(args=[1])), user(response())),
    ),
    Rule(
        name="a response that is no object",
        page=f"{GITHUB}/scriptit-fr/GenAIApp/pull/73",
        broken=lambda sent: any(
            not isinstance(each["response"], dict) for each in inside(sent, "functionResponse")
        ),
        example=body(HI, model(call()), user(response(response="done"))),
    ),
    Rule(
        name="media in a response, for a model before Gemini 3",
        page=f"{GITHUB}/google-gemini/gemini-cli/pull/16137",
        broken=lambda sent: (
            not is_signed(sent) and any("parts" in each for each in inside(sent, "functionResponse"))
        ),
        example=body(HI, model(call()), user(response(parts=[])), to="gemini-2.5-pro"),
    ),
    Rule(
        name="a name of another form",
        page=f"{GITHUB}/kaitranntt/ccs/issues/25",
        broken=lambda sent: any(
            not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}", each["name"])
            for each in [*inside(sent, "functionCall"), *declarations(sent)]
        ),
        example=body(HI, model(call(name="1st")), user(response(name="1st"))),
    ),
    Rule(
        name="a function declared twice",
        page=f"{GITHUB}/owndev/Open-WebUI-Functions/issues/135",
        broken=lambda sent: len({each["name"] for each in declarations(sent)}) < len(declarations(sent)),
        example=body(HI, tools=declared(OBJECT) * 2),
    ),
    Rule(
        name="a choice of functions without functions",
        page=f"{GITHUB}/pydantic/pydantic-ai/pull/5791",
        broken=lambda sent: "toolConfig" in sent and not declarations(sent),
        example=body(HI, tools=[], toolConfig={"functionCallingConfig": {"mode": "AUTO"}}),
    ),
    Rule(
        name="parameters that are no object",
        page=f"{API}/caching",
        broken=lambda sent: any(
            each.get("parametersJsonSchema", OBJECT).get("type") != "object" for each in declarations(sent)
        ),
        example=body(HI, tools=declared({"type": "string"})),
    ),
    Rule(
        name="a keyword that is not documented",
        page=f"{API}/generate-content",
        broken=lambda sent: any(schema.keys() - KEYWORDS for schema in every_schema(sent)),
        example=body(HI, tools=declared(OBJECT | {"properties": {"a": {"const": 1}}})),
    ),
    Rule(
        name="something beside a reference",
        page=f"{GITHUB}/anomalyco/opencode/issues/12295",
        broken=lambda sent: any(
            "$ref" in schema and any(not name.startswith("$") for name in schema)
            for schema in every_schema(sent)
        ),
        example=body(HI, **config(responseJsonSchema={"$ref": "#", "type": "object"})),
    ),
    Rule(
        name="a required property that is not defined",
        page=f"{GITHUB}/probelabs/probe/issues/569",
        broken=lambda sent: any(
            set(schema.get("required", ())) - schema.get("properties", {}).keys()
            for schema in every_schema(sent)
        ),
        example=body(HI, tools=declared(OBJECT | {"required": ["a"]})),
    ),
    Rule(
        name="properties of what is no object",
        page=f"{GITHUB}/anomalyco/opencode/issues/11889",
        broken=lambda sent: any(
            "properties" in schema and "object" not in schema.get("type", "object")
            for schema in every_schema(sent)
        ),
        example=body(HI, **config(responseJsonSchema={"type": "string", "properties": {}})),
    ),
    Rule(
        name="an output schema beside functions, for a model before Gemini 3",
        page=f"{GITHUB}/googleapis/python-genai/issues/867",
        broken=lambda sent: (
            not is_signed(sent)
            and bool(declarations(sent))
            and "responseMimeType" in sent.get("generationConfig", {})
        ),
        example=body(HI, to="gemini-2.5-pro", **config(responseMimeType="application/json")),
    ),
    Rule(
        name="a budget out of bounds",
        page=f"{GITHUB}/su-kaka/gcli2api/issues/108",
        broken=bad_budget,
        example=body(HI, to="gemini-2.5-pro", **config(thinkingConfig={"thinkingBudget": 0})),
    ),
    Rule(
        name="thinking, for a model that does not",
        page=f"{GITHUB}/lobehub/lobehub/issues/7985",
        broken=lambda sent: bool(thinking(sent)) and "gemini-2.0" in sent["model"],
        example=body(HI, to="gemini-2.0-flash", **config(thinkingConfig={"includeThoughts": True})),
    ),
    Rule(
        name="a number out of its range",
        page=f"{API}/generate-content",
        broken=bad_number,
        example=body(HI, **config(maxOutputTokens=65_537)),
    ),
    Rule(
        name="more than five stop sequences",
        page=f"{API}/generate-content",
        broken=lambda sent: len(sent.get("generationConfig", {}).get("stopSequences", ())) > 5,
        example=body(HI, **config(stopSequences=list("abcdef"))),
    ),
    Rule(
        name="media of another type",
        page="https://discuss.ai.google.dev/t/gemini-2-api-returns-invalid-parameter-error-for-gif-inputs/71468",
        broken=lambda sent: any(
            not _MEDIA.fullmatch(each["mimeType"]) for each in inside(sent, "inlineData")
        ),
        example=body(user({"inlineData": {"mimeType": "image/gif", "data": "AA=="}})),
    ),
    Rule(
        name="a lone surrogate",
        page="https://protobuf.dev/programming-guides/json/",
        broken=lambda sent: re.search("[\ud800-\udfff]", json.dumps(sent, ensure_ascii=False)) is not None,
        example=body(user("cut \ud83d")),
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
    if request.path == "/v1beta/models":
        return reply({"models": [{"name": "models/gemini-3.8-flash"}]})
    if not request.headers.get("x-goog-api-key"):
        return failure(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers")
    matched = re.fullmatch(r"/v1beta/models/([^/:?]+):(\w+)(\?alt=sse)?", request.path)
    if matched is None:
        return failure(404, "NOT_FOUND", f"no such path: {request.path}")
    name, method, _ = matched.groups()
    sent = json.loads(request.body)
    if method == "countTokens":
        sent = sent["generateContentRequest"]
        if sent["model"] != f"models/{name}":
            return failure(400, "INVALID_ARGUMENT", "the models differ")
    rule = refusal(sent | {"model": name})
    if rule is not None:
        return failure(400, "INVALID_ARGUMENT", f"refused: {rule.name}")
    if method == "countTokens":
        return reply({"totalTokens": len(json.dumps(sent["contents"]))})
    if method == "streamGenerateContent":
        return Reply(headers=SSE, body=streamed(name))
    said = [text("hm", thought=True), text("Hello", thoughtSignature=SIGNED + name)]
    return reply(answer(*said, finishReason="STOP") | usage() | {"modelVersion": name})


def reply(value: Any, status: int = 200) -> Reply:
    return json_reply(value, status, indent=2)


def failure(status: int, word: str, message: str, *details: Body) -> Reply:
    error: Body = {"code": status, "message": message, "status": word}
    return reply({"error": error | ({"details": list(details)} if details else {})}, status)


def answer(*said: Body, **fields: Any) -> Body:
    """An answer with one candidate, as events and whole bodies have them."""
    return {"candidates": [{"content": {"parts": list(said), "role": "model"}, "index": 0} | fields]}


def usage(**fields: int) -> Body:
    counts = {"promptTokenCount": 10, "cachedContentTokenCount": 7, "candidatesTokenCount": 3}
    return {"usageMetadata": counts | {"thoughtsTokenCount": 2, "totalTokenCount": 15} | fields}


def event(value: Any) -> bytes:
    """An event as the server writes them: no type, and a blank line of CR LF."""
    return f"data: {json.dumps(value)}\r\n\r\n".encode()


def streamed(name: str) -> bytes:
    """A whole stream: a thought, text in two pieces, and the signature in an empty part at the end."""
    end = answer(text("", thoughtSignature=SIGNED + name), finishReason="STOP")
    return b"".join(
        event(each | {"modelVersion": name})
        for each in (
            answer(text("hm", thought=True)) | usage(candidatesTokenCount=0),
            answer(text("Hel")),
            answer(text("lo")),
            end | usage(),
        )
    )
