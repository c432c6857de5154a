"""The settings in force: flags > environment > TOML file > defaults, and where each value comes from."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from golem_cli.core.errors import ConfigurationError
from golem_cli.store.setting_types import (
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
    from pathlib import Path

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
_BY_NAME: Final = {setting.name: setting for setting in SETTINGS}
_PROVIDERS: Final = "providers"
_PRICES: Final = "prices"


class Configuration(NamedTuple):
    """The settings in force, and for each name where its value comes from, in words."""

    settings: Settings
    origins: Mapping[str, str]


def load_settings(
    *, flags: Mapping[str, object] | None = None, env: Mapping[str, str], file: Path | None = None
) -> Configuration:
    """Bring flags, environment and file together; a flag of None or an empty variable is not given.

    A file that does not exist is an empty one. Raises `ConfigurationError` in one line: the place, the name
    and what is wrong; an unknown name comes with the nearest known one.
    """
    values: dict[str, Any] = {}
    origins = dict.fromkeys((*_BY_NAME, _PROVIDERS, _PRICES), "default")
    for source, given in (
        (str(file), _from_file(file)),
        ("environment", _from_environment(env)),
        ("flag", _from_flags(flags or {})),
    ):
        for name, value in given.items():
            values[name] = value
            origins[name] = f"{source} {_BY_NAME[name].variable}" if source == "environment" else source
    return Configuration(settings=Settings(**values), origins=origins)


def _from_flags(flags: Mapping[str, object]) -> dict[str, object]:
    given = {name: value for name, value in flags.items() if value is not None}
    for name in given:
        if name not in _BY_NAME:
            raise ConfigurationError(f"there is no setting {name!r}{_did_you_mean(name, _BY_NAME)}")
    return {
        name: _BY_NAME[name].kind.check(value, f"--{name.replace('_', '-')}") for name, value in given.items()
    }


def _from_environment(env: Mapping[str, str]) -> dict[str, object]:
    return {
        setting.name: setting.kind.parse(env[setting.variable], setting.variable)
        for setting in SETTINGS
        if env.get(setting.variable)
    }


def _from_file(file: Path | None) -> dict[str, object]:
    table = _read_toml(file) if file is not None else {}
    values: dict[str, object] = {}
    for name, value in table.items():
        place = f"{file}: {name}"
        if name == _PROVIDERS:
            values[name] = _providers(value, place)
        elif name == _PRICES:
            from golem_cli.store.price_table import read_prices

            values[name] = read_prices(value, place)
        elif name in _BY_NAME:
            values[name] = _BY_NAME[name].kind.check(value, place)
        else:
            raise _unknown(f"{file}", name, (*_BY_NAME, _PROVIDERS, _PRICES))
    return values


def _read_toml(file: Path) -> dict[str, Any]:
    from golem_cli.store.atomic import read_regular
    from golem_cli.store.failures import reason_of

    try:
        data = read_regular(file, follow=True)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigurationError(f"cannot read {file}: {reason_of(error)}") from error
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file}: byte {error.start} is not UTF-8; save it as UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        text = " ".join(str(error).split())
        raise ConfigurationError(f"{file}: this is not TOML: {text}") from None


def _providers(value: object, place: str) -> dict[str, ProviderSettings]:
    if not isinstance(value, dict):
        raise ConfigurationError(f"{place} must be tables, as in [providers.openai]")
    return {name: _provider(table, f"{place}.{name}") for name, table in value.items()}


def _provider(table: object, place: str) -> ProviderSettings:
    if not isinstance(table, dict):
        raise ConfigurationError(f"{place} must be a table, as in [providers.openai]")
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name == "base_url":
            values[name] = TEXT.check(value, f"{place}.{name}")
        elif name == "api_key_command":
            values[name] = _command(value, f"{place}.{name}")
        else:
            raise _unknown(place, name, ("base_url", "api_key_command"))
    return ProviderSettings(**values)


def _command(value: object, place: str) -> tuple[str, ...]:
    import shlex

    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError:
            value = None
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        raise ConfigurationError(f'{place} must be a command, such as "pass show openai", or a list of words')
    return tuple(value)


def _unknown(place: str, name: str, known: tuple[str, ...]) -> ConfigurationError:
    from golem_cli.core.quote import quoted

    if "key" in name.lower().replace("-", "_").split("_") and name != "api_key_command":
        return ConfigurationError(
            f"{place}: {quoted(name)} looks like a key, and keys are not kept in files: set the provider's "
            f"environment variable, or api_key_command in [providers.NAME]"
        )
    return ConfigurationError(f"{place}: there is no setting {quoted(name)}{_did_you_mean(name, known)}")


def _did_you_mean(name: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name.lower().replace("-", "_"), list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"
