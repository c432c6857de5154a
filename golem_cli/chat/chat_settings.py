"""What a session needs to know beyond its conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.model_settings import ModelSettings
from golem_cli.core.usage import UsageLimit

if TYPE_CHECKING:
    from golem_cli.chat.secret_guard import SecretPolicy
    from golem_cli.core.price import Rates
    from golem_cli.core.tool import Tool


class ChatSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings in force; a conversation's own win.

    `trim` and `budget` are the defaults of the configuration: None leaves the choice to the session
    (the newest 20 messages, or a token budget below the window of a model that knows its own), 0 switches
    one off. `prices` are what models cost whose provider does not say it. `secrets` says what becomes of a
    key-shaped string that is about to be sent.
    """

    trim: int | None = None
    budget: int | None = None
    model: ModelSettings = ModelSettings()
    max_attempts: int = 1
    max_iterations: int = 10
    retry_jitter: float = 0.0
    prices: dict[str, Rates] = {}
    usage_limit: UsageLimit | None = None
    tools: tuple[Tool, ...] = ()
    secrets: SecretPolicy = "warn"
