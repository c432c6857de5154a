"""`golem config`: the settings in force, and where each comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from golem_cli.cli.exit_codes import epilog

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment
    from golem_cli.core.price import Rates
    from golem_cli.store.paths import Paths
    from golem_cli.store.settings import Configuration

EPILOG = epilog("golem config", "GOLEM_TRIM=40 golem config --json")


def command(
    context: typer.Context,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object.")] = False,
) -> None:
    """Show the settings in force and where each comes from.

    A flag goes before an environment variable (GOLEM_MODEL, GOLEM_TRIM, …), and that before the file.
    """
    from golem_cli.cli.home import paths_of
    from golem_cli.store.settings import load_settings

    environment = context.obj
    paths = paths_of(environment)
    configuration = load_settings(env=environment.variables, file=paths.settings_file)
    if as_json:
        environment.say_json(_json(configuration, paths))
    else:
        _show(configuration, paths, environment)


def _show(configuration: Configuration, paths: Paths, environment: Environment) -> None:
    from golem_cli.render.cells import shorten
    from golem_cli.render.neutralize import one_line
    from golem_cli.store.settings import SETTINGS

    missing = "" if paths.settings_file.exists() else " (not there yet)"
    environment.say(f"Settings file: {paths.settings_file}{missing}")
    for name, folder in _folders(paths).items():
        environment.say(f"{name.capitalize()}: {folder}")
    environment.say("")
    rows = [
        (
            setting.name,
            shorten(one_line(_spelled(getattr(configuration.settings, setting.name))), 40),
            configuration.origins[setting.name],
            setting.meaning,
        )
        for setting in SETTINGS
    ]
    rows += [
        (f"providers.{name}.{key}", shorten(one_line(value), 40), configuration.origins["providers"], "")
        for name, table in _providers(configuration).items()
        for key, value in table.items()
    ]
    rows += [
        (f"prices.{name}", shorten(_spelled_rates(rates), 40), configuration.origins["prices"], "")
        for name, rates in configuration.settings.prices.items()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        environment.say("  ".join([*cells, row[3]]).rstrip())


def _json(configuration: Configuration, paths: Paths) -> dict[str, object]:
    from golem_cli.store.settings import SETTINGS

    return {
        "file": str(paths.settings_file),
        **{name: str(folder) for name, folder in _folders(paths).items()},
        "settings": [
            {
                "name": setting.name,
                "value": getattr(configuration.settings, setting.name),
                "origin": configuration.origins[setting.name],
                "variable": setting.variable,
            }
            for setting in SETTINGS
        ],
        "providers": _providers(configuration),
        "prices": {
            name: {key: rate for key, rate in rates._asdict().items() if rate is not None}
            for name, rates in configuration.settings.prices.items()
        },
    }


def _folders(paths: Paths) -> dict[str, object]:
    return {"data": paths.data, "state": paths.state, "cache": paths.cache}


def _providers(configuration: Configuration) -> dict[str, dict[str, str]]:
    """What is set of each provider. Of a key's command only the program: its words may hold a secret."""
    return {
        name: {
            key: value
            for key, value in (
                ("base_url", provider.base_url),
                ("api_key_command", provider.api_key_command[0] + " …" if provider.api_key_command else ""),
            )
            if value
        }
        for name, provider in configuration.settings.providers.items()
    }


def _spelled_rates(rates: Rates) -> str:
    return ", ".join(f"{key} {rate:g}" for key, rate in rates._asdict().items() if rate is not None)


def _spelled(value: object) -> str:
    if value is None or value == "":
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)
