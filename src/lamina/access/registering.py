"""Registering scopes, their members, and letting go of scopes that nobody uses (seed 002, 8.8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lamina import limits
from lamina.access.activating import activation_at, require_registered
from lamina.access.membership import CREATE_CAPABILITIES, owners_of
from lamina.access.requests import (
    DeletedScope,
    IdleRecords,
    IdleScopeView,
    Member,
    Members,
    MemberView,
    Pruned,
    PruneRequest,
    RegisterScope,
    ScopeLookup,
    ScopeOrPage,
    ScopePage,
    ScopeRecord,
    ScopeRemoval,
)
from lamina.access.tiers import Snapshot, TieredPolicy
from lamina.errors import Invalid, NotFound
from lamina.kernel.canonical import digest
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Grant, Principal
from lamina.kernel.relay import RELAY_SCOPE
from lamina.kernel.scopes import BUILTIN_SCOPE_TYPES, Scope
from lamina.kernel.time import duration_us
from lamina.kernel.wire import decode_cursor, encode_cursor
from lamina.store.ports.definitions import Definitions
from lamina.store.ports.registry import Registry, ScopeState

__all__ = ["EraseScope", "Registering", "registering_grants"]

_LISTED_AT_ONCE: Final = 200
"""How many scopes a page looks at with one read."""

EraseScope = Callable[[Scope, Call], str]
"""Begins the erasure of a scope with its registration and policy; its id."""


def registering_grants(request: RegisterScope, principal: Principal) -> list[Grant]:
    """What registering takes: administering the path, and making scopes of its types."""
    path = Scope(request.path)
    wanted = [Capability.POLICY_ADMINISTER_SCOPE, *Snapshot.creating(path, principal.tenant_id)]
    if path.type in CREATE_CAPABILITIES:
        wanted.append(CREATE_CAPABILITIES[path.type])
    if not BUILTIN_SCOPE_TYPES.issuperset(path.types):
        wanted.append(Capability.SCOPE_CREATE_CUSTOM)
    return [Grant(capability, path) for capability in dict.fromkeys(wanted)]


class Registering:
    """Handlers of ``/v1/scopes``. ``erase`` begins the erasure of a scope, which takes registration and policy with it."""

    def __init__(
        self, policy: TieredPolicy, registry: Registry, definitions: Definitions, erase: EraseScope
    ) -> None:
        self._erase = erase
        self._policy = policy
        self._registry = registry
        self._definitions = definitions

    def register(self, request: RegisterScope, call: Call) -> Answer:
        """Give a scope members and policies; raises ``Conflict`` when it has them already."""
        path, tenant_id = Scope(request.path), call.principal.tenant_id
        self._known_types(path, tenant_id)
        vocabularies = request.policies.vocabularies
        require_registered(self._definitions, tenant_id, vocabularies)
        members = request.members or [Member(actor=call.principal.actor, role="owner")]
        self._registry.register(
            ScopeState(
                tenant_id=tenant_id,
                path=path,
                created_by=call.principal.actor,
                created_at=call.now,
                registered_at=call.now,
                members={member.actor: member.role for member in members},
                policies=request.policies.model_dump(mode="json", exclude_unset=True),
            ),
            activation_at(f"registration {path}", vocabularies, call),
        )
        return Answer(ScopeOrPage(_record(self._state(tenant_id, path))), created=True)

    def _known_types(self, path: Scope, tenant_id: str) -> None:
        known = BUILTIN_SCOPE_TYPES | self._policy.current().scope_types(tenant_id)
        unknown = sorted(set(path.types) - known)
        if unknown:
            raise Invalid(
                "UNREGISTERED_SCOPE_TYPE",
                f"scope type {unknown[0]!r} is not known to this deployment",
                hint="the operator lists further types in allowed_scope_types of the preset",
                details={"types": unknown, "allowed": sorted(known)},
            )

    def lookup(self, request: ScopeLookup, call: Call) -> Answer:
        """One scope, or a page of those under a prefix that the caller may read."""
        if request.path is not None:
            return Answer(ScopeOrPage(_record(self._state(call.principal.tenant_id, Scope(request.path)))))
        return Answer(ScopeOrPage(self._page(request, call)))

    def _page(self, request: ScopeLookup, call: Call) -> ScopePage:
        filters = digest([request.prefix, request.auto_provisioned])[7:19]
        after, skip = "", 0
        if request.cursor is not None:
            parts = decode_cursor(request.cursor, f=str, p=str, k=int)
            if parts["f"] != filters or parts["k"] < 0:
                raise Invalid(
                    "INVALID_CURSOR",
                    "the cursor belongs to other filters",
                    hint="repeat the filters of the first page, or leave the cursor out to start over",
                )
            after, skip = parts["p"], parts["k"]
        shown: list[ScopeState] = []
        looked_at, more = 0, True
        # Within a call it goes on from the last scope that it looked at, and walks past those before the page once.
        here, passed, at_once = after, skip, max(request.limit + 1, _LISTED_AT_ONCE)
        while more and len(shown) <= request.limit and looked_at < limits.LIST_SCAN_MAX:
            batch = self._registry.listed(
                call.principal.tenant_id,
                request.prefix or "",
                auto_provisioned=request.auto_provisioned,
                after=here,
                skip=passed,
                limit=at_once,
            )
            more = len(batch) == at_once
            looked_at += len(batch)
            here, passed = batch[-1].path if batch else here, 0
            for state in batch:
                if call.permits.allows(Grant(Capability.SCOPE_READ_LOCAL, state.path)):
                    shown.append(state)
                    # A place is told by a scope that the caller may know, and how far behind it the list has come.
                    after, skip = state.path, 0
                    if len(shown) > request.limit:
                        break
                else:
                    skip += 1
        page = shown[: request.limit]
        if len(shown) > request.limit:
            after, skip, more = page[-1].path, 0, True
        cursor = encode_cursor({"f": filters, "p": after, "k": skip}) if more else None
        return ScopePage(items=[_record(state) for state in page], next_cursor=cursor, has_more=more)

    def members(self, request: Members, call: Call) -> Answer:
        """Replace the members of a scope at once."""
        path, tenant_id = Scope(request.path), call.principal.tenant_id
        members = {member.actor: member.role for member in request.members}
        self._registry.set_members(tenant_id, path, members)
        return Answer(ScopeOrPage(_record(self._state(tenant_id, path))))

    def remove(self, request: ScopeRemoval, call: Call) -> Answer:
        """Drop a scope's registration and policy. Its records stay, and belong to whatever governs the path then; or all of them are
        erased first, behind the answer."""
        path, tenant_id = Scope(request.path), call.principal.tenant_id
        self._state(tenant_id, path)
        if request.records == "forget":
            erasure_id = self._erase(path, call)
            return Answer(DeletedScope(path=path, records="forget", erasure_id=erasure_id), accepted=True)
        places = (f"policy {path}", f"registration {path}")
        self._registry.delete(tenant_id, path, [activation_at(place, None, call) for place in places])
        place = self._policy.current().place(tenant_id, path, anew=True)
        opened = place.exists and place.governing is None
        return Answer(
            DeletedScope(path=path, records="keep"), warnings=("scope_is_now_unregistered",) if opened else ()
        )

    def prune(self, request: PruneRequest, call: Call) -> Answer:
        """Tidy scopes away that registered themselves, that nobody wrote to for so long and that no owner cared for.

        Lists and descents leave them out until somebody writes there. Their memory stays, and their owner's.
        """
        tenant_id = call.principal.tenant_id
        before = call.now - duration_us(request.older_than, field="older_than")
        idle, total = self._registry.idle(tenant_id, before, limits.PRUNE_CANDIDATES_MAX)
        pruned = 0 if request.dry_run else self._registry.prune(tenant_id, before)
        candidates = [
            IdleScopeView(
                path=each.path,
                last_write=each.last_write_at,
                records=IdleRecords(events=each.events, facts=each.facts),
            )
            for each in idle
            if _shown_to(call, each.path)
        ]
        return Answer(Pruned(candidates=candidates, total=total, pruned=pruned))

    def _state(self, tenant_id: str, path: Scope) -> ScopeState:
        state = self._registry.states(tenant_id, [path]).get(path)
        if state is None:
            raise NotFound(
                "NOT_FOUND", "nothing was ever written to this scope", details={"scope": path[:256]}
            )
        return state


def _shown_to(call: Call, path: Scope) -> bool:
    """Whether who prunes sees a candidate: they read it, or could take it over anyway."""
    wanted = (Capability.SCOPE_READ_LOCAL, Capability.POLICY_ADMINISTER_SCOPE)
    return any(call.permits.allows(Grant(each, path)) for each in wanted)


def _record(state: ScopeState) -> ScopeRecord:
    owners = () if state.path == RELAY_SCOPE else owners_of(state.path, state.created_by)
    return ScopeRecord(
        path=state.path,
        auto_provisioned=not state.registered,
        created_by=state.created_by,
        created_at=state.created_at,
        registered_at=state.registered_at,
        members=_members(state)
        if state.registered
        else [MemberView(actor=owner, role="owner") for owner in owners],
        policies=dict(state.policies),
    )


def _members(state: ScopeState) -> list[MemberView]:
    return [MemberView(actor=actor, role=role) for actor, role in sorted(state.members.items())]
