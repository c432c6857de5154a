"""Fetching the embedded model's weights in front of somebody: a progress bar, or one line off a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from golem_cli.cli.environment import Environment

BAR = 30
"""Cells of the progress bar."""


def fetched_weights(cache: Path, environment: Environment) -> Path:
    """Return the weights' path, fetching them first when they are not in `cache`."""
    from golem_cli.providers.local.installed import check_installed
    from golem_cli.providers.local.weights import SMOLLM2, default_weights, have_weights, weights_path

    check_installed()
    if have_weights(cache):
        return weights_path(cache)
    environment.complain(
        f"golem: fetching the embedded model once: {SMOLLM2.name}, {SMOLLM2.size / 1e6:.0f} MB, into {cache}"
    )
    return default_weights(cache, progress=_bar_on(environment))


def _bar_on(environment: Environment) -> Callable[[int, int], None] | None:
    """Return what draws the bar, on one line of the terminal; None where there is none."""
    if not environment.stderr_is_terminal:
        return None

    def show(done: int, total: int) -> None:
        filled = BAR * done // max(total, 1)
        end = "\n" if done >= total else ""
        bar = "█" * filled + "░" * (BAR - filled)
        environment.stderr.write(f"\r{bar} {done / 1e6:5.1f} of {total / 1e6:.1f} MB{end}")
        environment.stderr.flush()

    return show
