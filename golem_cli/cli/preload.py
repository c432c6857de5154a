"""What the first answer needs, imported in the background once the first prompt is on the screen."""

from __future__ import annotations

import sys
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
_TURN_SECONDS: Final = 0.001
"""How long a thread may keep Python to itself meanwhile (else 5 ms): a key is answered by the other one."""


def preload() -> None:
    """Begin to import them in a thread, and return at once."""
    from threading import Thread

    Thread(target=_import_all, name="golem-preload", daemon=True).start()


def _import_all() -> None:
    from contextlib import suppress
    from importlib import import_module

    usual = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_SECONDS)
    try:
        for name in NEEDED:
            with suppress(ImportError):  # whoever needs it says so
                import_module(name)
        from golem_cli.render.answer import warm_up

        warm_up()
    finally:
        sys.setswitchinterval(usual)
