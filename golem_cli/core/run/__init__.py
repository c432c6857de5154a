"""The run loop: one prompt to one result, with every failure's evidence kept."""

from golem_cli.core.run.agent import Agent
from golem_cli.core.run.configuration import (
    AgentConfiguration,
    AgentOptions,
    AsyncDecoder,
    Decoder,
    InstructionsFunction,
    Price,
    RunOptions,
    RunSettings,
    UnknownTool,
)
from golem_cli.core.run.deferred import DeferredAnswer, waiting_calls
from golem_cli.core.run.retry import Backoff, OnWait, RetryWait, Sleep, exponential_backoff, jittered

__all__ = [
    "Agent",
    "AgentConfiguration",
    "AgentOptions",
    "AsyncDecoder",
    "Backoff",
    "Decoder",
    "DeferredAnswer",
    "InstructionsFunction",
    "OnWait",
    "Price",
    "RetryWait",
    "RunOptions",
    "RunSettings",
    "Sleep",
    "UnknownTool",
    "exponential_backoff",
    "jittered",
    "waiting_calls",
]
