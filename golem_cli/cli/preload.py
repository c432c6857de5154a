"""What the first answer needs, imported in the background once the first prompt is on the screen."""

from __future__ import annotations

from typing import Final

NEEDED: Final = (
    "httpx",
    "golem_cli.chat.turn",
    "golem_cli.chat.request",
    "golem_cli.core.secrets",
    "golem_cli.core.codec",
    "golem_cli.providers.openai",
    "golem_cli.render.answer",
    "filelock",
)


def preload() -> None:
    """Begin to import them in a thread, and return at once."""
    from threading import Thread

    Thread(target=_import_all, name="golem-preload", daemon=True).start()


def _import_all() -> None:
    from contextlib import suppress
    from importlib import import_module

    for name in NEEDED:
        with suppress(ImportError):  # whoever needs it says so
            import_module(name)
    from golem_cli.render.answer import warm_up

    warm_up()
