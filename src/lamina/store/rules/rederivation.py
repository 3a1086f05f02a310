"""Which scopes are derived anew together, and what is told of the versions before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from lamina.kernel.scopes import Scope
from lamina.store.ports.rederivation import RederivationState

__all__ = ["VECTORS", "closure", "differences", "earlier_of"]

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


def differences(earlier: Mapping[str, str], versions: Mapping[str, str]) -> str:
    """What is derived otherwise, for people: "facts by lamina-rules/6, not lamina-rules/5"."""
    if not earlier:
        return "an earlier release, which noted no versions, derived them"
    parts = [part for part in {**versions, **earlier} if versions.get(part) != earlier.get(part)]
    return ", ".join(f"{part} by {versions.get(part)}, not {earlier.get(part)}" for part in parts)
