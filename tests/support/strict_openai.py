"""A chat-completions server as a service is documented to be: it refuses what that service refuses.

Each refusal is a row of `RULES`: of which services (all when none is named), what is refused, where that is
documented, and a body that shows it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from tests.support.http_server import HttpServer, Reply, Request
from tests.support.strict_rules import GITHUB, SSE, Body, Rule, first_broken, json_reply


@dataclass(frozen=True, kw_only=True)
class ServiceRule(Rule):
    """A rule of `services` alone; of all when none is named."""

    services: tuple[str, ...] = ()


def user(content: Any = "hi") -> Body:
    return {"role": "user", "content": content}


def assistant(content: str = "", *calls: Body, **fields: Any) -> Body:
    return {"role": "assistant", "content": content} | ({"tool_calls": list(calls)} if calls else {}) | fields


def call(call_id: str = "abcDEF123", name: str = "ls", arguments: str = "{}") -> Body:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call_id: str = "abcDEF123") -> Body:
    return {"role": "tool", "tool_call_id": call_id, "content": "done"}


def body(*messages: Body, **fields: Any) -> Body:
    return {"model": "m", "messages": list(messages)} | fields


def calls_in(sent: Body) -> list[Body]:
    return [each for message in sent["messages"] for each in message.get("tool_calls", ())]


def unanswered(sent: Body) -> bool:
    """Whether anything but results follows a turn with calls, or a result is missing."""
    waiting: list[str] = []
    for message in sent["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] in waiting:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return True
        waiting = [each["id"] for each in message.get("tool_calls", ())]
    return bool(waiting)


def uncalled(sent: Body) -> bool:
    """Whether a result stands behind no turn that calls it."""
    waiting: list[str] = []
    for message in sent["messages"]:
        if message["role"] != "tool":
            waiting = [each["id"] for each in message.get("tool_calls", ())]
        elif message["tool_call_id"] not in waiting:
            return True
        else:
            waiting.remove(message["tool_call_id"])
    return False


def is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def roles(sent: Body) -> list[str]:
    return [message["role"] for message in sent["messages"]]


def no_alternation(sent: Body) -> bool:
    behind = [role for role in roles(sent) if role != "system"]
    return any(one == other for one, other in pairwise(behind)) or behind[:1] == ["assistant"]


def without_reasoning(sent: Body) -> bool:
    """Whether a turn since the first call behind a user message lacks its reasoning."""
    working = False
    for message in sent["messages"]:
        if message["role"] == "user":
            working = False
        working = working or bool(message.get("tool_calls"))
        if working and message["role"] == "assistant" and "reasoning_content" not in message:
            return True
    return False


def ends_with_the_assistant(sent: Body) -> bool:
    return roles(sent)[-1:] == ["assistant"]


def twice_in_a_turn(sent: Body) -> bool:
    turns = [[each["id"] for each in message.get("tool_calls", ())] for message in sent["messages"]]
    return any(len(set(ids)) < len(ids) for ids in turns)


def has_reasoning(sent: Body) -> bool:
    return any("reasoning_content" in message for message in sent["messages"])


NINE: Final = re.compile("[a-zA-Z0-9]{9}")
NAME: Final = re.compile("[a-zA-Z0-9_-]{1,64}")
COMMON: Final = f"{GITHUB}/mistralai/mistral-common/blob/main/src/mistral_common"
VALIDATOR: Final = f"{COMMON}/protocol/instruct/validator.py"

RULES: Final = (
    ServiceRule(
        name="a call without its result right behind",
        page=f"{GITHUB}/RamiAwar/dataline/issues/172",
        broken=unanswered,
        example=body(user(), assistant("", call()), user()),
    ),
    ServiceRule(
        name="a result without its call right before",
        page=f"{GITHUB}/dimagi/open-chat-studio/issues/1659",
        broken=uncalled,
        example=body(user(), result()),
    ),
    ServiceRule(
        name="a turn with nothing in it",
        page=f"{GITHUB}/OpenHands/OpenHands/issues/8685",
        broken=lambda sent: any(
            message["role"] != "tool" and not message["content"] and not message.get("tool_calls")
            for message in sent["messages"]
        ),
        example=body(user(), assistant(), user()),
    ),
    ServiceRule(
        name="a name of a tool has another form",
        page=f"{GITHUB}/mcp-use/mcp-use/issues/90",
        broken=lambda sent: any(not NAME.fullmatch(each["function"]["name"]) for each in calls_in(sent)),
        example=body(user(), assistant("", call(name="docs.search")), result(), assistant("ok"), user()),
    ),
    ServiceRule(
        name="arguments that are no JSON object",
        page=f"{GITHUB}/vllm-project/vllm/pull/48922",
        broken=lambda sent: any(not is_object(each["function"]["arguments"]) for each in calls_in(sent)),
        example=body(user(), assistant("", call(arguments="[1")), result(), assistant("ok"), user()),
    ),
    ServiceRule(
        name="max_tokens, for reasoning models",
        services=("openai",),
        page=f"{GITHUB}/ThinkInAIXYZ/deepchat/issues/336",
        broken=lambda sent: "max_tokens" in sent,
        example=body(user(), max_tokens=5),
    ),
    ServiceRule(
        name="max_completion_tokens",
        services=("mistral",),
        page=f"{GITHUB}/editor-code-assistant/eca/issues/231",
        broken=lambda sent: "max_completion_tokens" in sent,
        example=body(user(), max_completion_tokens=5),
    ),
    ServiceRule(
        name="stream_options",
        services=("mistral",),
        page=f"{GITHUB}/dnakov/anon-kode/issues/53",
        broken=lambda sent: "stream_options" in sent,
        example=body(user(), stream_options={"include_usage": True}),
    ),
    ServiceRule(
        name="stream_options",
        services=("cohere",),
        page="https://strandsagents.com/docs/user-guide/concepts/model-providers/cohere/",
        broken=lambda sent: "stream_options" in sent,
        example=body(user(), stream_options={"include_usage": True}),
    ),
    ServiceRule(
        name="seed under OpenAI's name",
        services=("mistral",),
        page="https://docs.mistral.ai/api/#tag/chat",
        broken=lambda sent: "seed" in sent,
        example=body(user(), seed=1),
    ),
    ServiceRule(
        name="an id that has not nine letters and digits",
        services=("mistral",),
        page=f"{GITHUB}/anomalyco/opencode/issues/1680",
        broken=lambda sent: any(not NINE.fullmatch(each["id"]) for each in calls_in(sent)),
        example=body(user(), assistant("", call("call_1")), result("call_1"), assistant("ok"), user()),
    ),
    ServiceRule(
        name="an id that a turn has twice",
        services=("mistral",),
        page=VALIDATOR,
        broken=twice_in_a_turn,
        example=body(user(), assistant("", call(), call()), result(), result(), assistant("ok"), user()),
    ),
    ServiceRule(
        name="a user message right behind tool results",
        services=("mistral",),
        page=f"{GITHUB}/avante-corp/avante.nvim/pull/2695",
        broken=lambda sent: any(pair == ("tool", "user") for pair in pairwise(roles(sent))),
        example=body(user(), assistant("", call()), result(), user()),
    ),
    ServiceRule(
        name="a system message behind the assistant's or tools'",
        services=("mistral",),
        page=VALIDATOR,
        broken=lambda sent: any(
            one in {"assistant", "tool"} and other == "system" for one, other in pairwise(roles(sent))
        ),
        example=body(user(), assistant("ok"), {"role": "system", "content": "x"}, user()),
    ),
    ServiceRule(
        name="an assistant message at the end",
        services=("mistral",),
        page=f"{GITHUB}/NEKOparapa/AiNiee/issues/641",
        broken=ends_with_the_assistant,
        example=body(user(), assistant("Well,")),
    ),
    ServiceRule(
        name="an assistant message at the end",
        services=("perplexity",),
        page=f"{GITHUB}/BerriAI/litellm/issues/3918",
        broken=ends_with_the_assistant,
        example=body(user(), assistant("Well,")),
    ),
    ServiceRule(
        name="a system message behind others",
        services=("perplexity",),
        page=f"{GITHUB}/pipecat-ai/pipecat/pull/4009",
        broken=lambda sent: any(
            one != "system" and other == "system" for one, other in pairwise(roles(sent))
        ),
        example=body(user(), assistant("ok"), {"role": "system", "content": "x"}),
    ),
    ServiceRule(
        name="roles that do not alternate behind the system messages",
        services=("perplexity",),
        page=f"{GITHUB}/perplexityai/api-discussion/issues/265",
        broken=no_alternation,
        example=body(user(), user()),
    ),
    ServiceRule(
        name="a tool message",
        services=("perplexity",),
        page=f"{GITHUB}/BerriAI/litellm/issues/11665",
        broken=lambda sent: "tool" in roles(sent) or bool(calls_in(sent)),
        example=body(user(), assistant("", call()), result()),
    ),
    ServiceRule(
        name="a turn that works with tools, without its reasoning",
        services=("deepseek",),
        page="https://api-docs.deepseek.com/guides/thinking_mode",
        broken=without_reasoning,
        example=body(user(), assistant("", call()), result(), assistant("ok"), user()),
    ),
    *(
        ServiceRule(
            name="reasoning",
            services=(service,),
            page=page,
            broken=has_reasoning,
            example=body(user(), assistant("ok", reasoning_content="hm"), user()),
        )
        for service, page in (
            ("groq", f"{GITHUB}/janhq/jan/issues/8136"),
            ("cerebras", f"{GITHUB}/Kilo-Org/kilocode/issues/10375"),
            ("mistral", f"{GITHUB}/Gage-Technologies/mistral-go/pull/2"),  # no field that it does not know
        )
    ),
    ServiceRule(
        name="a field that messages do not have",
        page="https://platform.openai.com/docs/api-reference/chat/create",
        broken=lambda sent: any(
            set(message) - {"role", "content", "tool_calls", "tool_call_id", "reasoning_content"}
            for message in sent["messages"]
        ),
        example=body(user() | {"runId": "r"}),
    ),
)


def refusal(sent: Body, service: str) -> ServiceRule | None:
    """The first rule that `sent` breaks at that service."""
    return first_broken((rule for rule in RULES if not rule.services or service in rule.services), sent)


def strict_server(service: str) -> HttpServer:
    """The server of that service. It answers `Hello`, streamed where that is asked for."""
    return HttpServer(respond=strict_responder(service))


def strict_responder(service: str) -> Callable[[Request], Reply]:
    """What that server does with a request."""

    def respond(request: Request) -> Reply:
        sent = json.loads(request.body)
        if (rule := refusal(sent, service)) is not None:
            error = {"error": {"message": f"refused: {rule.name}", "code": "invalid_request_error"}}
            return json_reply(error, 400)
        if not sent.get("stream"):
            choice = {"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}
            return json_reply({"choices": [choice]})
        pieces = [{"delta": {"content": "Hel"}}, {"delta": {"content": "lo"}, "finish_reason": "stop"}]
        events = b"".join(b"data: %b\n\n" % json.dumps({"choices": [piece]}).encode() for piece in pieces)
        return Reply(headers=SSE, body=events + b"data: [DONE]\n\n")

    return respond
