"""Which scopes are derived anew together, and what is told of the versions before."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from lamina.kernel.scopes import Scope
from lamina.store.ports.rederivation import RederivationState

__all__ = ["VECTORS", "closure", "earlier_of"]

VECTORS: Final = "vectors"
"""The part of the versions that names the model of the vectors: those of another one are not kept."""


def closure(scopes: Iterable[Scope], links: Collection[tuple[str, str]]) -> tuple[Scope, ...]:
    """Scopes with all that links (from a scope, into another) join them to, in either direction, sorted."""
    found = set(map(str, scopes))
    grown = True
    while grown:
        near = {end for link in links if found.intersection(link) for end in link}
        grown = not near <= found
        found |= near
    return tuple(Scope(scope) for scope in sorted(found))


def earlier_of(noted: RederivationState) -> dict[str, str]:
    """The versions before the ones that are noted next; where some of an earlier change is left, the ones before that."""
    kept = {part: version for part, version in noted.earlier.items() if version != noted.versions.get(part)}
    return {**noted.versions, **(kept if noted.scopes else {})}
