"""The settings that there are: one row for each, with what it may be and what it means."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from golem_cli.store.settings.kinds import (
    AMOUNT,
    ANSWER,
    CAUTION,
    COUNT,
    COUNT_OR_OFF,
    FRACTION,
    NOTICE,
    SECONDS,
    TEMPERATURE,
    TEXT,
    THINKING,
    Kind,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golem_cli.core.price import Rates


class ProviderSettings(NamedTuple):
    """The table `[providers.NAME]`: another address, or the command (its words) that prints the key."""

    base_url: str = ""
    api_key_command: tuple[str, ...] = ()


class Settings(NamedTuple):
    """What the user set. "" and None mean: whatever golem or the provider does by itself.

    `trim` 0 and `budget` 0 switch the processor off; `budget` is in tokens. `prices` are in a currency of the
    user's, and so is `max_cost`. `notify_after` is in seconds.
    """

    model: str = ""
    system: str = ""
    trim: int = 20
    budget: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    thinking: Literal["adaptive", "off"] | int | None = None
    max_attempts: int = 3
    max_iterations: int = 10
    retry_jitter: float = 0.0
    max_cost: float | None = None
    vi_mode: bool = False
    plain: bool = False
    theme: str = "ansi"
    notify: Literal["off", "bell", "osc9"] = "off"
    notify_after: float = 20.0
    secrets: Literal["warn", "block", "off"] = "warn"
    providers: Mapping[str, ProviderSettings] = MappingProxyType({})
    prices: Mapping[str, Rates] = MappingProxyType({})


class Setting(NamedTuple):
    """One row of the table: the name (in TOML and on `Settings`), what it may be, and what it means."""

    name: str
    kind: Kind
    meaning: str

    @property
    def variable(self) -> str:
        """The environment variable of this setting."""
        return f"GOLEM_{self.name.upper()}"


SETTINGS: Final = (
    Setting("model", TEXT, "the model, PROVIDER:NAME; several, with commas, are tried in order"),
    Setting("system", TEXT, "the system instructions"),
    Setting("trim", COUNT_OR_OFF, "send at most so many messages of history; 0 sends all"),
    Setting("budget", COUNT_OR_OFF, "send at most so many tokens of history; 0 sends all"),
    Setting("temperature", TEMPERATURE, "sampling temperature"),
    Setting("top_p", FRACTION, "nucleus sampling"),
    Setting("max_tokens", COUNT, "the longest answer, in tokens"),
    Setting("thinking", THINKING, "how the model thinks first: adaptive, off or a budget of tokens"),
    Setting("max_attempts", COUNT, "how often a request is tried"),
    Setting("max_iterations", COUNT, "how many model turns a run may take"),
    Setting("retry_jitter", FRACTION, "waits before a retry are longer by up to this share, at random"),
    Setting("max_cost", AMOUNT, "what a run may cost, in the currency of the prices"),
    Setting("vi_mode", ANSWER, "edit with vi keys"),
    Setting("plain", ANSWER, "no colours, no panel"),
    Setting("theme", TEXT, "the colours of code: ansi or a Pygments style"),
    Setting("notify", NOTICE, "what tells that a long answer has ended: off, bell or osc9"),
    Setting("notify_after", SECONDS, "how long is long, in seconds"),
    Setting("secrets", CAUTION, "what becomes of a key in a prompt or an export: warn, block or off"),
)
