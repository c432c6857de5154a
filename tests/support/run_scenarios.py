"""The scenarios of runs.json, made runnable: agents, tools, scripts and decoders, and what they record."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from golem_cli.core.errors import ModelError, ModelRetry
from golem_cli.core.events import RunEvent
from golem_cli.core.history import trim_history
from golem_cli.core.message import Message, Part, ToolCall
from golem_cli.core.model import Delta, ModelRequest, ModelResponse, ToolSpec
from golem_cli.core.result import Result
from golem_cli.core.run import Agent
from golem_cli.core.tool import RunContext, Tool
from golem_cli.core.usage import Usage, UsageLimit
from golem_cli.testing import ScriptedModel

Json = dict[str, Any]

SCENARIOS: list[Json] = json.loads(
    (Path(__file__).parent.parent / "conformance" / "runs.json").read_text(encoding="utf-8")
)


class Recording:
    """What a scenario did, in the vectors' own words."""

    def __init__(self) -> None:
        self.executed: list[Json] = []
        self.events: list[Json] = []
        self.deltas: list[Json] = []
        self.backoffs: list[int] = []
        self.decoded = 0

    def on_event(self, event: RunEvent) -> None:
        """Note an event, without what is empty."""
        told: Json = {"kind": event.kind, "turn": event.turn, "attempt": event.attempt}
        extras = {
            "toolName": event.tool_name,
            "callId": event.call_id,
            "argsText": event.args,
            "result": event.result,
            "error": event.error,
            "usage": usage_json(event.usage) if event.usage != Usage() else None,
        }
        self.events.append(told | {name: value for name, value in extras.items() if value})

    def backoff(self, attempt: int) -> float:
        """Note that a retry follows, and do not wait."""
        self.backoffs.append(attempt)
        return 0.0


def usage_json(usage: Usage) -> Json:
    return {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens}


def message_json(message: Message) -> Json:
    """The vectors' form of a message: empty fields left out, args as a value, no stamps."""
    fields: Json = {
        "content": message.content,
        "parts": [part_json(part) for part in message.parts],
        "toolCalls": [call_json(call) for call in message.tool_calls],
        "toolCallId": message.tool_call_id,
        "toolName": message.tool_name,
    }
    return {"role": message.role} | {name: value for name, value in fields.items() if value}


def part_json(part: Part) -> Json:
    fields = {"kind": part.kind, "url": part.url, "data": part.data, "mediaType": part.media_type}
    return {name: value for name, value in fields.items() if value}


def call_json(call: ToolCall) -> Json:
    """The vectors' form of a call: the value of its args; their text when it is no JSON."""
    told = {"id": call.id, "name": call.name}
    if not call.args:
        return told | {"args": None}
    try:
        return told | {"args": json.loads(call.args)}
    except ValueError:
        return told | {"argsText": call.args}


def request_json(request: ModelRequest) -> Json:
    told: Json = {
        "messages": [message_json(message) for message in request.messages],
        "toolSpecs": [
            {"name": spec.name, "description": spec.description, "schemaText": spec.schema}
            for spec in request.tools
        ],
    }
    return told | ({"outputSchemaText": request.output_schema} if request.output_schema else {})


def delta_json(delta: Delta) -> Json | None:
    """The vectors' form of a fragment; their scripted model sends no fragments of arguments."""
    calls = [
        {"index": call.index, "id": call.id, "name": call.name, "argsFragment": ""}
        for call in delta.tool_calls
        if call.id or call.name
    ]
    if delta.tool_calls and not calls:
        return None
    return {"content": delta.content} | ({"toolCalls": calls} if calls else {})


def call_of(data: Json) -> ToolCall:
    if "argsText" in data:
        args = data["argsText"]
    elif data.get("args") is not None:
        args = json.dumps(data["args"], separators=(",", ":"), ensure_ascii=False)
    else:
        args = ""
    return ToolCall(id=data.get("id", ""), name=data.get("name", ""), args=args)


def message_of(data: Json) -> Message:
    return Message(
        role=data.get("role", ""),
        content=data.get("content", ""),
        parts=tuple(part_of(part) for part in data.get("parts") or ()),
        tool_calls=tuple(call_of(call) for call in data.get("toolCalls") or ()),
        tool_call_id=data.get("toolCallId", ""),
        tool_name=data.get("toolName", ""),
    )


def part_of(data: Json) -> Part:
    return Part(
        kind=data.get("kind", ""),
        url=data.get("url", ""),
        data=data.get("data", ""),
        media_type=data.get("mediaType", ""),
    )


def usage_of(data: Json | None) -> Usage:
    data = data or {}
    return Usage(input_tokens=data.get("inputTokens", 0), output_tokens=data.get("outputTokens", 0))


def scripted(steps: list[Json]) -> ScriptedModel:
    model = ScriptedModel()
    for step in steps:
        if "error" in step:
            model.fail(model_error(step))
            continue
        role = {"<empty>": "", None: "assistant"}.get(step.get("role"), step.get("role"))
        message = replace_fields(step, role or "")
        model.queue(ModelResponse(message=message, usage=usage_of(step.get("usage"))))
    return model


def replace_fields(step: Json, role: str) -> Message:
    return message_of({**step, "role": role})


def model_error(step: Json) -> BaseException:
    match step.get("errorKind"):
        case "model_retry":
            return ModelRetry(step["error"])
        case "canceled":
            return asyncio.CancelledError(step["error"])
        case "deadline":
            return TimeoutError(step["error"])
        case _:
            return ModelError(step["error"], retryable=step["retryable"])


def tool_of(data: Json, recording: Recording) -> Tool:
    act = behavior_of(data["behavior"])

    async def function(context: RunContext[Any], args: str) -> str:
        recording.executed.append({"tool": data["name"], "argsText": args, "argsNil": not args})
        return await act(args)

    return Tool(
        name=data["name"],
        description=data["description"],
        function=function,
        max_retries=data.get("maxRetries"),
        timeout=data["timeoutMs"] / 1000 if "timeoutMs" in data else None,
        sequential=data.get("sequential", False),
    )


def behavior_of(text: str) -> Callable[[str], Awaitable[str]]:
    """What a tool of the vectors does with its arguments."""
    kind, _, rest = text.partition(":")
    calls = 0

    async def act(args: str) -> str:
        nonlocal calls
        calls += 1
        match kind:
            case "return":
                return rest
            case "echo_args":
                return args
            case "count":
                return f"{rest}{calls}"
            case "slow":
                milliseconds, _, answer = rest.partition(":")
                await asyncio.sleep(int(milliseconds) / 1000)
                return answer
            case "cancel_run":
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                return rest
        if kind.endswith("model_retry") and calls > int(rest.rpartition(":")[2]):
            return "ok"
        raise error_of(kind, rest)

    return act


def error_of(kind: str, rest: str) -> BaseException:
    """What a failing tool of the vectors raises."""
    match kind:
        case "error" | "return_and_error":
            return ValueError(rest)
        case "model_retry":
            return ModelRetry(rest.rpartition(":")[0])
        case "wrapped_model_retry":
            prefix, reason, _ = rest.split(":")
            error = ValueError(f"{prefix}: model output rejected: {reason}")
            error.__cause__ = ModelRetry(reason)
            return error
        case "canceled_error":
            return asyncio.CancelledError(f"{rest}: context canceled")
        case "deadline_error":
            return TimeoutError(f"{rest}: context deadline exceeded")
        case _:
            raise AssertionError(f"unknown behavior {kind}")


def decoder_of(text: str | None, recording: Recording) -> Callable[[RunContext[Any], str], str]:
    kind, _, rest = (text or "").partition(":")

    def decode(context: RunContext[Any], answer: str) -> str:
        recording.decoded += 1
        if kind == "error":
            raise ValueError(rest)
        if kind == "reject":
            reason, _, times = rest.rpartition(":")
            if recording.decoded <= int(times):
                raise ModelRetry(reason)
        if kind == "json":
            try:
                json.loads(answer)
            except ValueError as error:
                raise ModelRetry(GO_JSON_ERROR) from error
        return answer

    return decode


GO_JSON_ERROR = (
    "response content is not valid JSON for map[string]interface {}: "
    "invalid character 'o' in literal null (expecting 'u')"
)


# Each scripted model has words of its own for a script that has ended.
GO_SCRIPT_ENDED = "testmodel: no queued outcome; queue one with Respond or Fail"
SCRIPT_ENDED = "the script of this model has ended: queue an outcome with respond, fail or hang"


def in_our_words(event: Json) -> Json:
    return event | (
        {"error": event["error"].replace(GO_SCRIPT_ENDED, SCRIPT_ENDED)} if "error" in event else {}
    )


def limit_of(data: Json | None) -> UsageLimit | None:
    if data is None:
        return None
    names = {
        "inputTokens": "input_tokens",
        "outputTokens": "output_tokens",
        "totalTokens": "total_tokens",
        "requests": "requests",
        "toolCalls": "tool_calls",
    }
    return UsageLimit(**{names[name]: value for name, value in data.items()})


def processor_of(agent: Json) -> Any:
    if "processorError" in agent:

        def process(history: list[Message]) -> list[Message]:
            raise ValueError(agent["processorError"])

        return process
    return trim_history(agent["trim"]) if "trim" in agent else None


def agent_of(spec: Json, model: Any, recording: Recording) -> Agent[Any, str]:
    agent: Json = spec["agent"]
    output_tool = agent.get("outputTool")
    dynamic = agent.get("dynamicInstructions")
    return Agent(
        model,
        decoder=decoder_of(agent.get("decoder"), recording),
        instructions=agent.get("instructions", ""),
        instructions_func=(lambda context: dynamic) if dynamic is not None else None,
        history_processor=processor_of(agent),
        tools=[tool_of(tool, recording) for tool in agent.get("tools") or ()],
        output_retries=agent.get("outputRetries", 0),
        output_schema=agent.get("outputSchemaText", ""),
        output_tool=output_tool
        and ToolSpec(
            name=output_tool["name"],
            description=output_tool.get("description", ""),
            schema=output_tool["schemaText"],
        ),
        tool_choice=agent.get("toolChoice", ""),
        max_iterations=agent.get("maxIterations", 10),
        max_attempts=agent.get("maxAttempts", 1),
        tool_retries=agent.get("toolRetries", 0),
        tool_timeout=agent["toolTimeoutMs"] / 1000 if "toolTimeoutMs" in agent else None,
        parallel_tool_calls=agent.get("parallel", False),
        usage_limit=limit_of(agent.get("usageLimit")),
        on_event=recording.on_event,
        backoff=recording.backoff,
    )


def on_delta_of(spec: Json, recording: Recording) -> Callable[[Delta], None] | None:
    told = spec.get("onDelta")
    if told == "nil":
        return None
    limit, reason = None, ""
    if told is not None:
        _, after, reason = told.split(":")
        limit = int(after)

    def on_delta(delta: Delta) -> None:
        seen = delta_json(delta)
        if seen is not None:
            recording.deltas.append(seen)
        if limit is not None and len(recording.deltas) > limit:
            raise ValueError(reason)

    return on_delta


class PlainModel:
    """A model that cannot stream."""

    def __init__(self, model: ScriptedModel) -> None:
        self.complete = model.complete


async def replayed(spec: Json, model: ScriptedModel, recording: Recording) -> Result[str]:
    agent = agent_of(spec, PlainModel(model) if spec.get("plainModel") else model, recording)
    history = [message_of(message) for message in spec.get("history") or ()]
    parts = [part_of(part) for part in spec.get("promptParts") or ()]
    on_delta = on_delta_of(spec, recording)
    prompt = spec["prompt"]
    match spec["mode"]:
        case "run":
            run = agent.run(prompt, parts=parts)
        case "runWithHistory":
            run = agent.run_with_history(history, prompt, parts=parts)
        case "runStream":
            run = agent.run_stream(prompt, on_delta, parts=parts)
        case "runStreamWithHistory":
            run = agent.run_stream_with_history(history, prompt, on_delta, parts=parts)
        case mode:
            raise AssertionError(f"unknown mode {mode}")
    return await (canceled_before(run) if spec.get("preCancel") else run)


async def canceled_before(run: Coroutine[Any, Any, Result[str]]) -> Result[str]:
    """Await `run` in a task of its own that was cancelled before it began; raise what it raised."""
    raised: list[BaseException] = []

    async def canceled() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        try:
            await run
        except BaseException as error:  # noqa: BLE001 (raised again below, outside the cancelled task)
            raised.append(error)

    await asyncio.wait([asyncio.create_task(canceled())])
    raise raised[0]


def expected_request(request: Json) -> Json:
    return {**request, "messages": [normal(message) for message in request["messages"]]}


def normal(message: Json) -> Json:
    return {"role": message["role"]} | {
        name: value for name, value in message.items() if value and name != "role"
    }
