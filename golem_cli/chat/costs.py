"""What the runs of a sitting cost, by the user's own rates, and whether a bound on that can bind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from golem_cli.chat.chat_settings import ChatSettings
    from golem_cli.chat.ports import OnNotice
    from golem_cli.core.model import ModelResponse
    from golem_cli.core.result import Result

FREE = "local:"
"""What the embedded model costs is known to be nothing."""


class Costs:
    """Prices responses; tells `notice` once for each model that nothing prices, when costs are bounded."""

    def __init__(self, settings: ChatSettings, notice: OnNotice) -> None:
        self._prices = settings.prices
        self._bounded = settings.usage_limit is not None and settings.usage_limit.cost is not None
        self._notice = notice
        self._told = ""

    def of(self, response: ModelResponse, model: str) -> float | None:
        """What a response of `model` costs; None when there are no rates for it."""
        rates = self._prices.get(model)
        return None if rates is None else rates.cost(response.usage)

    def check(self, result: Result[str], model: str) -> None:
        """Say that a bound on the cost binds nothing, when nobody knows what the run cost."""
        if not self._bounded or result.cost is not None or model == self._told or model.startswith(FREE):
            return
        self._told = model
        self._notice(
            f"max_cost cannot bound this: nothing tells what {model} costs; "
            f'[prices."{model}"] in the settings does'
        )
