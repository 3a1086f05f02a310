"""What is left of a sitting when turns of it are erased, and which kept answers go with what is erased."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from lamina.kernel.events import Event
from lamina.kernel.ids import IdSource, prefix_of
from lamina.kernel.records import Layer
from lamina.store.ports.erasing import Erasure, Tombstone
from lamina.store.ports.sessions import Sitting
from lamina.store.ports.traces import ErasedBeside, Owned, PathOwners
from lamina.store.rules.redacting import unnamed_entry

__all__ = [
    "IDS",
    "STRIPPED",
    "batch_in",
    "is_bare",
    "owned_paths",
    "portions",
    "tells_of",
    "unguessable",
    "unnamed",
    "without_turns",
]

STRIPPED: Final = "redacted"
"""Author and message of a commit whose changes were erased."""

_GUESSABLE: Final = frozenset({Layer.BELIEFS, Layer.UNDERSTANDING})

IDS: Final = re.compile(r"[a-z_]+_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
"""Ids, wherever they stand in a text."""


def is_bare(content: Mapping[str, Any]) -> bool:
    """Whether the content of a redacted event says no more than what kind it was of."""
    return content.keys() <= {"kind", "original_kind"}


def portions(values: Iterable[str], size: int) -> Iterator[list[str]]:
    """Values in their sorted order, so many at once."""
    ordered = sorted(values)
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


def without_turns(held: Sitting, erased: Collection[str], left_window: Collection[str]) -> Sitting | None:
    """A sitting without the erased events; None where no turn of it is left.

    ``left_window`` are those of them that had left its window: what summary and bridge tell may be of these, so both start over.
    """
    turns = held.turns - len({*left_window, *(each for each in held.window if each in erased)})
    if turns <= 0:
        return None
    window = tuple(each for each in held.window if each not in erased)
    fewer = replace(held, window=window, turns=turns, folded=min(held.folded, turns))
    if not left_window:
        return fewer
    return replace(fewer, summary="", bridge=None, folded=0, worded=None, revision=held.revision + 1)


def tells_of(erased: ErasedBeside, caller: str, event_id: str | None, response: str | None) -> bool:
    """Whether what an idempotency key led to is, names, or was told to the author of something erased."""
    if event_id is not None and event_id in erased.event_ids:
        return True
    if response is None:
        return False
    if caller in erased.actors or any(word in response for word in erased.words):
        return True
    if any(f'"{scope}"' in response or f'"{scope}/' in response for scope in erased.scopes):
        return True
    return any(id_ in erased.event_ids for id_ in IDS.findall(response))


def batch_in(response: str | None) -> tuple[str, int] | None:
    """The batch that an answer is about, and how many events it took; None for any other answer. It names none of these events."""
    if response is None or '"batch_id"' not in response:
        return None
    told = json.loads(response)
    batch_id, accepted = told.get("batch_id"), told.get("accepted")
    return (batch_id, accepted) if isinstance(batch_id, str) and isinstance(accepted, int) else None


def unnamed(erased: ErasedBeside, entries: Iterable[Event]) -> list[Event]:
    """Entries of the log as they are without who made them, but for what is held."""
    stand_in = erased.stand_in
    return [
        unnamed_entry(each, stand_in)
        for each in entries
        if stand_in is not None and not any(held.contains(each.scope) for held in erased.held)
    ]


def unguessable(stones: Iterable[Tombstone], erasure: Erasure, ids: IdSource) -> list[Tombstone]:
    """Marks that confirm no guess: of a scope that is erased whole, beliefs and understanding, whose ids are hashes of a claim or a
    name, are counted under an id that names nothing. Ids of events are random, and those of facts and episodes hashes of these."""
    return [
        replace(each, id=ids.stamped(prefix, each.erased_at))
        if erasure.cascade == "gdpr"
        and each.layer in _GUESSABLE
        and each.scope in erasure.scopes
        and (prefix := prefix_of(each.id)) is not None
        else each
        for each in stones
    ]


def owned_paths(found: Collection[PathOwners], actors: Collection[str], about: Collection[str]) -> Owned:
    """Which of some paths go with these actors, and which they share with others."""
    theirs = frozenset(actors)
    alone = {each.path for each in found if each.path in about or each.authors <= theirs}
    shared = {each.path for each in found if each.authors & theirs} - alone
    return Owned(paths=tuple(sorted(alone)), shared_paths=tuple(sorted(shared)))
