"""Checks of a configuration, made once, so that a run never meets a value that means nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ConfigurationError
from golem_cli.core.history import is_json_object
from golem_cli.core.tool import Tool
from golem_cli.core.usage import UsageLimit

if TYPE_CHECKING:
    from golem_cli.core.run.configuration import AgentConfiguration

TOOL_CHOICE_MODES: Final = frozenset({"", "auto", "none", "required"})


def check_configuration(configuration: AgentConfiguration) -> None:
    """Raise `ConfigurationError` at the first setting that cannot be used."""
    for fault in _faults(configuration):
        raise ConfigurationError(fault)


def _faults(configuration: AgentConfiguration) -> Iterator[str]:
    yield from _faults_of_kind(configuration)
    yield from _faults_of_bounds(configuration)
    yield from _faults_of_limit(configuration)
    yield from _faults_of_tools(configuration)
    yield from _faults_of_output(configuration)


def _faults_of_kind(configuration: AgentConfiguration) -> Iterator[str]:
    """What is not even of the right type: named here, since nobody is made to run a type checker."""
    model: object = configuration.model
    if isinstance(model, type) or not callable(getattr(model, "complete", None)):
        yield f"the model is a {type(model).__name__}, which has no method complete: pass a model object"
    tools: Sequence[object] = configuration.tools
    for number, tool in enumerate(tools, 1):
        if not isinstance(tool, Tool):
            yield f"tool {number} is a {type(tool).__name__}, not a Tool"
    for name in ("max_iterations", "max_attempts", "output_retries", "tool_retries"):
        value = getattr(configuration, name)
        if not isinstance(value, int):
            yield f"{name} must be a whole number, not {value!r}"
    limit: object = configuration.usage_limit
    if limit is not None and not isinstance(limit, UsageLimit):
        yield f"usage_limit is a {type(limit).__name__}, not a UsageLimit"


def _faults_of_bounds(configuration: AgentConfiguration) -> Iterator[str]:
    for name in ("max_iterations", "max_attempts"):
        if getattr(configuration, name) < 1:
            yield f"{name} must be at least 1, not {getattr(configuration, name)}"
    for name in ("output_retries", "tool_retries"):
        if getattr(configuration, name) < 0:
            yield f"{name} must not be negative, but is {getattr(configuration, name)}"
    if configuration.tool_timeout is not None and not configuration.tool_timeout > 0:
        yield f"tool_timeout must be above 0 seconds, not {configuration.tool_timeout}"
    if configuration.unknown_tool not in ("fail", "report"):
        yield f"unknown_tool must be 'fail' or 'report', not {configuration.unknown_tool!r}"


def _faults_of_limit(configuration: AgentConfiguration) -> Iterator[str]:
    limit = configuration.usage_limit
    if limit is None:
        return
    for bound in fields(limit):
        value = getattr(limit, bound.name)
        if value is not None and not value > 0:
            yield f"usage_limit.{bound.name} must be above 0, not {value}"
    if limit.request_input_tokens is not None and configuration.counter is None:
        yield "usage_limit.request_input_tokens needs a counter: pass counter="


def _faults_of_tools(configuration: AgentConfiguration) -> Iterator[str]:
    names: set[str] = set()
    for tool in configuration.tools:
        if not tool.name:
            yield "a tool has no name"
        if tool.name in names:
            yield f"two tools have the name {tool.name!r}"
        names.add(tool.name)
        if not _is_json_object(tool.schema):
            yield f"tool {tool.name!r}: its schema must be a JSON object, as text"
        if tool.max_retries is not None and tool.max_retries < 0:
            yield f"tool {tool.name!r}: max_retries must not be negative, but is {tool.max_retries}"
        if tool.timeout is not None and not tool.timeout > 0:
            yield f"tool {tool.name!r}: timeout must be above 0 seconds, not {tool.timeout}"
    if configuration.output_tool is not None:
        names.add(configuration.output_tool.name)
    if configuration.tool_choice not in TOOL_CHOICE_MODES | names:
        yield (
            f"tool_choice is {configuration.tool_choice!r}, "
            "which is neither auto, none, required nor the name of a tool"
        )


def _faults_of_output(configuration: AgentConfiguration) -> Iterator[str]:
    if configuration.output_schema != "" and not _is_json(configuration.output_schema):
        yield "output_schema is not valid JSON text"
    output_tool = configuration.output_tool
    if output_tool is None:
        return
    if not output_tool.name:
        yield "the output tool has no name"
    if any(tool.name == output_tool.name for tool in configuration.tools):
        yield f"the output tool has the name {output_tool.name!r}, which a tool has too"
    if not _is_json_object(output_tool.schema):
        yield f"output tool {output_tool.name!r}: its schema must be a JSON object, as text"


def _is_json_object(schema: object) -> bool:
    return isinstance(schema, str) and is_json_object(schema)


def _is_json(text: object) -> bool:
    if not isinstance(text, str):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
