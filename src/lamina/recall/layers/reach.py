"""Which scopes a read covers, and what it takes (seed 002, 3.4.2 and 8.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from lamina import limits
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import Party
from lamina.kernel.ids import name_or_entity
from lamina.kernel.operations import Call, Grant
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.language.entities import entity_id, normalise_name
from lamina.recall.layers.reading import present
from lamina.store.entities import standing_entity
from lamina.store.ports.log import EventLog
from lamina.store.ports.records import Records
from lamina.store.ports.store import Store
from lamina.types.layer_requests import View
from lamina.types.layers import DeniedScope, TraversedScope

__all__ = ["Reach", "entity_named", "reach_of", "traversed", "view_grants"]


class _Scoped(Protocol):
    @property
    def scope(self) -> Scope: ...


@dataclass(frozen=True, slots=True)
class Reach:
    """The scopes that a read covers, and what was left out of it: scopes denied, or too many to walk."""

    scopes: Sequence[Scope]
    denied: Sequence[tuple[Scope, str]] = ()
    """Scopes that were left out because the caller may not read them, each with why."""
    truncated: bool = False
    view: View = "local"
    seen_at: Instant | None = None
    """As of when, where that is not now."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the caller should know of a read that covers less than its view names."""
        denied = (f"scopes_denied={len(self.denied)}",) if self.denied else ()
        return (*denied, "scopes_truncated") if self.truncated else denied


def view_grants(scope: str, view: View, *more: Capability) -> list[Grant]:
    """What reading a scope through a view takes, with further capabilities on the same scope."""
    grants = [Grant(Capability.SCOPE_READ_LOCAL, Scope(scope))]
    if view == "holistic":
        grants.append(Grant(Capability.SCOPE_READ_HOLISTIC, Scope(scope)))
    elif view == "descend":
        grants.append(Grant(Capability.SCOPE_READ_DESCEND, Scope(scope)))
    return [*grants, *(Grant(capability, Scope(scope)) for capability in more)]


def reach_of(
    store: Store, call: Call, scope: str, view: View, *more: Capability, as_of: Instant | None = None
) -> Reach:
    """The scopes behind a view: those above or below are covered only where the caller may read each, and ``more``. What began after
    ``as_of`` is not below."""
    home = Scope(scope)
    if view == "local":
        return Reach([home])
    truncated, seen_at = False, None
    if view == "holistic":
        named: Sequence[Scope] = [home, *call.permits.above(home)]
    else:
        seen_at = None if as_of is None else present(store.log, call, None, as_of)
        most = limits.SCOPES_PER_RECALL_MAX + 1
        below = store.scopes.below(call.principal.tenant_id, home, most, seen_at=seen_at)
        named = below[: limits.SCOPES_PER_RECALL_MAX]
        truncated = len(below) > len(named)
    reasons = {
        path: None if path == home else _reason(call, path, (Capability.SCOPE_READ_LOCAL, *more))
        for path in named
    }
    return Reach(
        [path for path, reason in reasons.items() if reason is None],
        [(path, reason) for path, reason in reasons.items() if reason is not None],
        truncated,
        view,
        seen_at,
    )


def _reason(call: Call, path: Scope, capabilities: Iterable[Capability]) -> str | None:
    reasons = (call.permits.reason(Grant(capability, path)) for capability in capabilities)
    return next((reason for reason in reasons if reason is not None), None)


def traversed(
    reach: Reach, log: EventLog, call: Call, shown: Iterable[_Scoped]
) -> list[TraversedScope | DeniedScope] | None:
    """The scopes that a view walked and how many of the rows shown are of each; None for a local view.

    Of a descent also those that it had to leave out, as placeholders that tell no more than how many events they
    hold and who denies them (seed 002, 18.2 item 4).
    """
    if reach.view == "local":
        return None
    counts = Counter(row.scope for row in shown)
    walked: list[TraversedScope | DeniedScope] = [
        TraversedScope(scope=path, items=counts[path]) for path in reach.scopes
    ]
    if reach.view == "descend":
        tenant_id = call.principal.tenant_id
        walked += [
            DeniedScope(
                scope=path,
                denied=True,
                item_count=log.count(tenant_id, [path], seen_at=reach.seen_at),
                denied_reason=reason,
            )
            for path, reason in reach.denied
        ]
    return walked


def entity_named(store: Store, tenant_id: str, scope: Scope, text: str, *, seen_at: Instant) -> str | None:
    """The entity id behind what a caller wrote: an id, a name, or an actor; None for what names nothing. An entity is the one that
    ``scope`` knew it as. Raises ``Invalid`` (INVALID_ID) for an id of something that has no name."""
    found = _named(store.records, tenant_id, text)
    return found and standing_entity(store, tenant_id, scope, found, seen_at=seen_at)


def _named(records: Records, tenant_id: str, text: str) -> str | None:
    if name_or_entity(text).startswith(("ent_", "concept_")):
        return text
    kind, colon, rest = text.partition(":")
    name = Party.of(text).display_name if colon and rest and kind.isalpha() and " " not in text else text
    key = normalise_name(name)
    if not key:
        return None
    # Whether anybody used the name is not asked: that would tell what others said, in scopes that the caller may not read.
    entity = records.entities(tenant_id, [key]).get(key)
    return entity.id if entity else entity_id(tenant_id, key)
