"""Where things live: data, configuration, state and cache, from the environment or the platform's custom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from platformdirs import PlatformDirs

_APPLICATION = "golem"


class Paths:
    """The four folders, in `home` or where the platform wants them. None of them is created here."""

    def __init__(self, home: Path | None = None, cache: Path | None = None) -> None:
        self._home = home
        self._cache = cache

    @property
    def data(self) -> Path:
        """The conversations and the trash."""
        return self._home or _customary().user_data_path

    @property
    def config(self) -> Path:
        """The settings."""
        return self._home or _customary().user_config_path

    @property
    def state(self) -> Path:
        """What may be lost without harm."""
        return self._home / "state" if self._home else _customary().user_state_path

    @property
    def cache(self) -> Path:
        """The weights."""
        return self._cache or _customary().user_cache_path

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
    return Paths(_folder(env.get("GOLEM_HOME")), _folder(env.get("GOLEM_CACHE")))


def _customary() -> PlatformDirs:
    from platformdirs import PlatformDirs

    return PlatformDirs(_APPLICATION, appauthor=False)


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
