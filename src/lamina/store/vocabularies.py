"""Which terms are active for a scope: by what policy said, and as the vocabularies stood."""

from __future__ import annotations

import json
from functools import lru_cache

from lamina.kernel.canonical import compact
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.kernel.vocabularies import (
    ACTIVE_VOCABULARIES,
    VOCABULARY,
    ActiveTerms,
    activation_names,
    vocabulary_of,
)
from lamina.store.ports.definitions import Definitions

__all__ = ["active_terms"]

_NONE = ActiveTerms()


def active_terms(
    definitions: Definitions, tenant_id: str, scope: Scope, *, seen_at: Instant | None = None
) -> ActiveTerms:
    """The terms that are active for a scope, now or at an instant of the log."""
    places = activation_names(scope)
    said = definitions.named(tenant_id, ACTIVE_VOCABULARIES, places, seen_at=seen_at)
    nearest = next((said[place] for place in places if place in said), None)
    if nearest is None or not nearest.body["vocabularies"]:
        return _NONE
    names: list[str] = nearest.body["vocabularies"]
    stood = definitions.named(tenant_id, VOCABULARY, names, seen_at=seen_at)
    return _terms(tuple((name, compact(stood[name].body)) for name in names if name in stood))


@lru_cache(maxsize=32)
def _terms(stood: tuple[tuple[str, str], ...]) -> ActiveTerms:
    """Made once for what stands: every event of a scope is read by it."""
    return ActiveTerms([vocabulary_of(name, json.loads(body)) for name, body in stood])
