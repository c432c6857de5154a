"""Several models as one: each request goes to the first of them that begins to answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from golem_cli.chat.ports import warm_up
from golem_cli.chat.request import without_refused
from golem_cli.core.errors import HistoryError, ModelError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from golem_cli.chat.ports import ChatModel, OnNotice
    from golem_cli.core.message import Part
    from golem_cli.core.model import Delta, ModelRequest, ModelResponse, OnDelta

    Ask = Callable[[ChatModel, ModelRequest], Awaitable[ModelResponse]]


class FallbackModel:
    """Tries `models` in order until one hands out a fragment or an answer; a `ChatModel`.

    What a model has begun it must end: an error after its first fragment is raised. When all fail, the error
    tells of each, and may be tried again when any of them may. `answering` is the one that answered last, at
    first the first. `notice` is told whom the next request goes to, and why.
    """

    def __init__(self, models: Sequence[ChatModel], *, notice: OnNotice = lambda text: None) -> None:
        self.name = ",".join(model.name for model in models)
        self.answering = models[0]
        self.notice = notice
        self._models = tuple(models)

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the completed turn of the first model that answers. Raises `ModelError`, `HistoryError`."""
        return await self._first(request, lambda model, sent: model.complete(sent), lambda: False)

    async def stream(self, request: ModelRequest, on_delta: OnDelta) -> ModelResponse:
        """Return the completed turn, each fragment having gone to `on_delta`; raises as `complete` does."""
        begun = False

        def receive(delta: Delta) -> Awaitable[None] | None:
            nonlocal begun
            begun = True
            return on_delta(delta)

        return await self._first(request, lambda model, sent: model.stream(sent, receive), lambda: begun)

    def refusal_of(self, part: Part) -> str:
        """Why none of the models can take `part`; "" when one can: the others are not sent it."""
        reasons = [model.refusal_of(part) for model in self._models]
        return reasons[0] if all(reasons) else ""

    def warm_up(self) -> None:
        """Let the first model load, if it is one that loads."""
        warm_up(self._models[0])

    async def aclose(self) -> None:
        """Let all models go."""
        for model in self._models:
            await model.aclose()

    async def _first(self, request: ModelRequest, ask: Ask, begun: Callable[[], bool]) -> ModelResponse:
        failures: list[ModelError | HistoryError] = []
        for model, following in zip(self._models, (*self._models[1:], None), strict=True):
            try:
                response = await ask(model, self._carried(request, model))
            except (ModelError, HistoryError) as error:
                if begun():
                    self.answering = model
                    raise
                failures.append(error)
                if following is not None:
                    self.notice(f"{_named(error, model)}; asking {following.name}")
            else:
                self.answering = model
                return response
        raise _all_failed(failures, self._models)

    def _carried(self, request: ModelRequest, model: ChatModel) -> ModelRequest:
        """The request without the parts that `model` cannot take."""
        messages, left_out = without_refused(request.messages, model)
        for reason in left_out:
            self.notice(f"left out of the request to {model.name}: {reason}")
        return replace(request, messages=messages) if left_out else request


def _named(error: Exception, model: ChatModel) -> str:
    """The text of an error, which says whose it is."""
    text = str(error)
    return text if text.startswith(model.name) else f"{model.name}: {text}"


def _all_failed(failures: Sequence[ModelError | HistoryError], models: Sequence[ChatModel]) -> Exception:
    if all(isinstance(failure, HistoryError) for failure in failures):
        return failures[0]
    told = "; ".join(_named(error, model) for error, model in zip(failures, models, strict=True))
    again = [error for error in failures if isinstance(error, ModelError) and error.retryable]
    waits = [error.retry_after for error in again]
    known = [wait for wait in waits if wait is not None]
    last = failures[-1]
    return ModelError(
        told,
        retryable=bool(again),
        status_code=last.status_code if isinstance(last, ModelError) else None,
        code=last.code if isinstance(last, ModelError) else "",
        retry_after=min(known) if known and len(known) == len(waits) else None,
    )
