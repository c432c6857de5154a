"""Where things live: data, configuration, state and cache, from the environment or the platform's custom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

_APPLICATION = "golem"


class Paths(NamedTuple):
    """The four folders. None of them is created here.

    `data` holds the conversations and the trash, `config` the settings, `state` what may be lost without
    harm, `cache` the weights.
    """

    data: Path
    config: Path
    state: Path
    cache: Path

    @property
    def settings_file(self) -> Path:
        """The TOML file with the user's settings."""
        return self.config / "config.toml"

    @property
    def prompt_history(self) -> Path:
        """The REPL's history of prompts."""
        return self.state / "history"


def resolve_paths(env: Mapping[str, str]) -> Paths:
    """Return the folders that `env` asks for.

    `GOLEM_HOME` moves data, configuration and state together; `GOLEM_CACHE` moves the cache. An empty
    variable counts as missing. What neither moves is where the platform wants it.

    >>> paths = resolve_paths({"GOLEM_HOME": "/srv/golem", "GOLEM_CACHE": "/srv/weights"})
    >>> paths.data == Path("/srv/golem").absolute(), paths.settings_file.name
    (True, 'config.toml')
    """
    home, cache = _folder(env.get("GOLEM_HOME")), _folder(env.get("GOLEM_CACHE"))
    if home is not None and cache is not None:
        return Paths(data=home, config=home, state=home / "state", cache=cache)
    from platformdirs import PlatformDirs

    custom = PlatformDirs(_APPLICATION, appauthor=False)
    cache = cache or custom.user_cache_path
    if home is not None:
        return Paths(data=home, config=home, state=home / "state", cache=cache)
    return Paths(
        data=custom.user_data_path, config=custom.user_config_path, state=custom.user_state_path, cache=cache
    )


def user_path(name: str) -> Path:
    """Return the path that a person wrote, with `~` and `~user` filled in. `ConfigurationError` when unknown.

    >>> user_path("notes.md").name
    'notes.md'
    """
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise ConfigurationError(f"{name}: nobody of that name has a home folder here") from None


def _folder(value: str | None) -> Path | None:
    return user_path(value).absolute() if value else None
