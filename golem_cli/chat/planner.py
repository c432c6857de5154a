"""The planner: which settings decide what a request holds, and what the person is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from golem_cli.chat.chat_settings import ChatSettings
    from golem_cli.chat.ports import ChatModel, OnNotice
    from golem_cli.chat.request import RequestPlan
    from golem_cli.core.conversation import Conversation
    from golem_cli.core.message import Part


class Planner:
    """Plans the requests of one conversation.

    `sent` is the number of history messages that went with the last request, 0 when none of what is kept now
    has been sent. A conversation's own settings win over those of the configuration. `first_hidden` is called
    once, when messages first stay behind: with how many of how many.
    """

    def __init__(
        self, settings: ChatSettings, notice: OnNotice, first_hidden: Callable[[int, int], object]
    ) -> None:
        self._settings = settings
        self._notice = notice
        self._first_hidden = first_hidden
        self._told_hidden = False
        self._said: set[str] = set()
        self.sent = 0

    async def plan(
        self,
        conversation: Conversation,
        model: ChatModel,
        *,
        prompt: str,
        parts: Sequence[Part] = (),
        quiet: bool = False,
    ) -> RequestPlan:
        """Plan a request; a `quiet` one is only looked at: nothing is said or counted."""
        from golem_cli.chat.request import RequestPlan

        return await RequestPlan.make(
            conversation,
            prompt=prompt,
            parts=parts,
            model=model,
            trim=self.trim(conversation),
            budget=self.budget(conversation),
            reserve=self._settings.model.max_tokens,
            notice=(lambda text: None) if quiet else self._say_once,
            sent=(lambda kept, hidden: None) if quiet else self._count,
        )

    async def goes_alone(self, conversation: Conversation, model: ChatModel, prompt: str) -> bool:
        """Whether a request with `prompt` would hold no message of `conversation`."""
        plan = await self.plan(conversation, model, prompt=prompt, quiet=True)
        preview = await plan.preview("")
        return preview.hidden == preview.total

    def say_left_out(self, conversation: Conversation, model: ChatModel, *, kept: bool) -> None:
        """Say what of the history `model` cannot take, or gets in another form; the rest is sent as it is.

        `kept` says whether the conversation is in the store.
        """
        from golem_cli.chat.departures import departures_line
        from golem_cli.chat.request import carried

        for reason in carried(conversation, model)[1]:
            self._say_once(f"left out of the request: {reason}")
        asked_first = getattr(model, "answering", model).name  # of several models
        if line := departures_line(conversation, asked_first, kept=kept):
            self._say_once(line)

    def trim(self, conversation: Conversation) -> int | None:
        """The trim in force: 0 for none, None when nobody chose one."""
        return _first_set(conversation.settings.trim, self._settings.trim)

    def budget(self, conversation: Conversation) -> int | None:
        """The token budget in force: 0 for none, None when nobody chose one."""
        return _first_set(conversation.settings.budget, self._settings.budget)

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._notice(text)

    def _count(self, kept: int, hidden: int) -> None:
        self.sent = kept
        if hidden and not self._told_hidden:
            self._told_hidden = True
            self._first_hidden(hidden, kept + hidden)


def _first_set(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
