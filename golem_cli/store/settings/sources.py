"""Where settings come from: flags > environment > TOML file > defaults, checked, each with its origin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from golem_cli.core.errors import ConfigurationError
from golem_cli.store.settings.kinds import TEXT
from golem_cli.store.settings.known import SETTINGS, ProviderSettings, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
            from golem_cli.store.settings.prices import read_prices

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
