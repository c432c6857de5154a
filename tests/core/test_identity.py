"""Ids: UUID version 7, lower-case, canonical, in order of minting."""

from __future__ import annotations

import uuid

import pytest

from golem_cli.core.identity import is_canonical_uuid, new_id


def test_an_id_is_a_canonical_uuid_of_version_7() -> None:
    parsed = uuid.UUID(new_id())
    assert parsed.version == 7
    assert parsed.variant == uuid.RFC_4122
    minted = new_id()
    assert minted == str(uuid.UUID(minted))
    assert is_canonical_uuid(minted)


def test_ids_minted_later_sort_later_also_within_one_millisecond() -> None:
    """20,000 ids take far fewer milliseconds than there are ids, so many share one."""
    ids = [new_id() for _ in range(20_000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert len({identity[:13] for identity in ids}) < len(ids)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0190163D-8694-739B-AEA5-966C26F8AD90",
        "0190163d8694739baea5966c26f8ad90",
        "{0190163d-8694-739b-aea5-966c26f8ad90}",
        "0190163d-8694-739b-aea5-966c26f8ad90\n",
        "../0190163d-8694-739b-aea5-966c26f8ad90",
        "\u0660190163d-8694-739b-aea5-966c26f8ad90",
    ],
    ids=ascii,
)
def test_anything_but_a_canonical_uuid_names_no_file(text: str) -> None:
    assert not is_canonical_uuid(text)
