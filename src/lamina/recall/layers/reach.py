"""Which scopes a read covers, and what it takes (seed 002, 3.4.2 and 8.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lamina import limits
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import Party
from lamina.kernel.operations import Call, Grant
from lamina.kernel.scopes import Scope
from lamina.language.entities import normalise_name
from lamina.recall.layers.requests import View
from lamina.store.ports import Records, Scopes

__all__ = ["Reach", "entity_named", "reach_of", "view_grants"]


@dataclass(frozen=True, slots=True)
class Reach:
    """The scopes that a read covers, and what was left out of it: scopes denied, or too many to walk."""

    scopes: Sequence[Scope]
    denied: int = 0
    truncated: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the caller should know of a read that covers less than its view names."""
        denied = (f"scopes_denied={self.denied}",) if self.denied else ()
        return (*denied, "scopes_truncated") if self.truncated else denied


def view_grants(scope: str, view: View, *more: Capability) -> list[Grant]:
    """What reading a scope through a view takes, with further capabilities on the same scope."""
    grants = [Grant(Capability.SCOPE_READ_LOCAL, Scope(scope))]
    if view == "holistic":
        grants.append(Grant(Capability.SCOPE_READ_HOLISTIC, Scope(scope)))
    elif view == "descend":
        grants.append(Grant(Capability.SCOPE_READ_DESCEND, Scope(scope)))
    return [*grants, *(Grant(capability, Scope(scope)) for capability in more)]


def reach_of(scopes: Scopes, call: Call, scope: str, view: View) -> Reach:
    """The scopes behind a view: those above or below are covered only where the caller may read each."""
    home = Scope(scope)
    if view == "local":
        return Reach([home])
    if view == "holistic":
        named: Sequence[Scope] = home.lineage()
        truncated = False
    else:
        below = scopes.below(call.principal.tenant_id, home, limits.SCOPES_PER_RECALL_MAX + 1)
        named = below[: limits.SCOPES_PER_RECALL_MAX]
        truncated = len(below) > len(named)
    allowed = [
        path
        for path in named
        if path == home or call.permits.allows(Grant(Capability.SCOPE_READ_LOCAL, path))
    ]
    return Reach(allowed, len(named) - len(allowed), truncated)


def entity_named(records: Records, tenant_id: str, text: str) -> str | None:
    """The entity id behind what a caller wrote: an id, a name, or an actor; None for a name nobody used."""
    if text.startswith(("ent_", "concept_")):
        return text
    kind, colon, rest = text.partition(":")
    name = Party.of(text).display_name if colon and rest and kind.isalpha() and " " not in text else text
    key = normalise_name(name)
    entity = records.entities(tenant_id, [key]).get(key) if key else None
    return entity.id if entity else None
