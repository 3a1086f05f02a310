"""Payloads of the lifecycle in few bytes: of those that every event brings the values stand alone, since their names are always the same.

Five rows come with each event, and of the 360 bytes of their payloads two thirds are names. What has other names is kept whole, as
all were by earlier releases: it begins with a brace, what is short with a bracket.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from lamina.kernel.canonical import compact

__all__ = ["CapturedPayloads", "read_payload", "short_payload"]

_CAPTURED: Final = 1
_DERIVED: Final = 2
_COUNTS: Final = ("facts", "entities", "beliefs", "episodes")
_NAMES: Final[Mapping[int, tuple[str, ...]]] = {
    _CAPTURED: ("actor", "modality", "wal_offset"),
    _DERIVED: ("derived",),
    3: ("layers_indexed",),
    4: ("beliefs_updated", "conflicts_resolved", "superseded_facts"),
    5: ("episode_id", "understanding_ids"),
}
"""By the number that stands before the values. They never change: what was written could not be read any more. Others get others."""
_NUMBERS: Final = {names: number for number, names in _NAMES.items()}
_TALKED: Final = 6
"""``_CAPTURED`` of what most events are, ``_MODALITY``, which is not said."""
_MODALITY: Final = "conversation"
_USUAL: Final[Mapping[int, Mapping[str, Any]]] = {
    7: {"layers_indexed": ["events"]},
    8: {"layers_indexed": ["events", "facts"]},
    9: {"beliefs_updated": 0, "conflicts_resolved": 0, "superseded_facts": []},
}
"""Whole payloads by their number alone. They never change either."""


def short_payload(payload: Mapping[str, Any]) -> str:
    """A payload as it is stored: ``[number, value, ...]`` where its names are known, else the whole as JSON."""
    number = _NUMBERS.get(tuple(payload))
    if number is None:
        return compact(dict(payload))
    for usual, whole in _USUAL.items():
        if payload == whole:
            return f"[{usual}]"
    values = list(payload.values())
    if number == _CAPTURED and values[1] == _MODALITY:
        return compact([_TALKED, values[0], values[2]])
    if number == _DERIVED:
        counts = values[0]
        if not isinstance(counts, Mapping) or tuple(counts) != _COUNTS:
            return compact(dict(payload))
        values = list(counts.values())
    return compact([number, *values])


class CapturedPayloads:
    """``short_payload`` of the row that every event begins with, of the events of a transaction: whoever says many is written once."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, str], str] = {}

    def of(self, actor: str, modality: str, position: int) -> str:
        """That of one of them."""
        said = (actor, modality)
        before = self._before.get(said)
        if before is None:
            values = [_TALKED, actor] if modality == _MODALITY else [_CAPTURED, actor, modality]
            before = self._before[said] = compact(values)[:-1]
        return f"{before},{position}]"


def read_payload(stored: str) -> dict[str, Any]:
    """The payload that was stored, its names in their order."""
    said = json.loads(stored)
    if isinstance(said, dict):
        return said
    number, *values = said
    if number in _USUAL:
        return {
            name: list(value) if isinstance(value, list) else value for name, value in _USUAL[number].items()
        }
    if number == _TALKED:
        actor, position = values
        return dict(zip(_NAMES[_CAPTURED], (actor, _MODALITY, position), strict=True))
    if number == _DERIVED:
        return {"derived": dict(zip(_COUNTS, values, strict=True))}
    return dict(zip(_NAMES[number], values, strict=True))
