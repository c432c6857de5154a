"""Keys that arrive in one burst: what is pasted without brackets is text, what is pressed does something."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

ENTER_AHEAD: Final = KeyPress(Keys.ControlM, "enter typed ahead")
"""An Enter that was pressed while no prompt read: what follows it in the queue came later, not with it."""

_TEXT: Final = (Keys.ControlM, Keys.ControlJ, Keys.ControlI)


def goes_on(behind: Iterable[KeyPress]) -> bool:
    """Whether text stands `behind` a key in the same burst: then that key was pasted, not pressed."""
    return any(key.key in _TEXT or _is_character(key) for key in behind)


def _is_character(key: KeyPress) -> bool:
    """Whether a key is a plain character; keys with a name, and prompt-toolkit's own marks, are none."""
    return not isinstance(key.key, Keys) and key.data == key.key
