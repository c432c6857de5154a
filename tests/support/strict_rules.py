"""What the strict servers share: rules of what is refused, and answers in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from tests.support.http_server import Reply

Body = dict[str, Any]

GITHUB: Final = "https://github.com"
SSE: Final = {"Content-Type": "text/event-stream"}


@dataclass(frozen=True, kw_only=True)
class Rule:
    """`name` is what is refused, `page` documents it, `broken` recognizes it, `example` is a body with it."""

    name: str
    page: str
    broken: Callable[[Body], bool]
    example: Body


AnyRule = TypeVar("AnyRule", bound=Rule)


def first_broken(rules: Iterable[AnyRule], sent: Body) -> AnyRule | None:
    """The first of `rules` that `sent` breaks."""
    return next((rule for rule in rules if rule.broken(sent)), None)


def json_reply(
    value: object, status: int = 200, *, indent: int | None = None, headers: Mapping[str, str] | None = None
) -> Reply:
    """`value` as the body of an answer."""
    body = json.dumps(value, indent=indent).encode()
    return Reply(status=status, headers={"Content-Type": "application/json", **(headers or {})}, body=body)
