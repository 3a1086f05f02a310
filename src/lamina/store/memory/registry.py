"""Scopes, members and policy documents in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from lamina.kernel.events import EventDraft
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.memory.definitions import activate, lay_down
from lamina.store.memory.log import MemoryLog
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.registry import Activation, IdleScope, PolicyRow, ScopeState
from lamina.store.ports.scopes import ScopeRow
from lamina.store.rules.refusals import not_registered, registration_exists

__all__ = ["MemoryRegistry"]


class MemoryRegistry:
    """``Registry`` over dictionaries."""

    def __init__(self, memory: Memory, log: MemoryLog) -> None:
        self._memory = memory
        self._log = log

    def version(self) -> int:
        """Mirrors ``Registry.version``."""
        return self._memory.tables.access_version

    def states(self, tenant_id: str, paths: Collection[Scope]) -> dict[Scope, ScopeState]:
        """Mirrors ``Registry.states``."""
        tables = self._memory.tables
        rows = {path: tables.scopes.get((tenant_id, path)) for path in paths}
        return {path: _state(tables, row) for path, row in rows.items() if row is not None}

    def listed(
        self,
        tenant_id: str,
        prefix: str,
        *,
        auto_provisioned: bool | None = None,
        after: str = "",
        skip: int = 0,
        limit: int = 50,
    ) -> list[ScopeState]:
        """Mirrors ``Registry.listed``."""
        tables = self._memory.tables
        found = [
            row
            for (tenant, path), row in tables.scopes.items()
            if tenant == tenant_id
            and path.startswith(prefix)
            and path > after
            and not row.pruned
            and auto_provisioned in (None, row.auto_provisioned)
        ]
        found.sort(key=lambda row: row.path)
        return [_state(tables, row) for row in found[skip : skip + limit]]

    def owns_below(self, tenant_id: str, actor: str, path: Scope) -> bool:
        """Mirrors ``Registry.owns_below``."""
        return any(
            state.members.get(actor) in ("owner", "writer") if state.registered else state.created_by == actor
            for state in self._below(tenant_id, path)
        )

    def others_below(self, tenant_id: str, actor: str, path: Scope, *, names: Collection[str] = ()) -> bool:
        """Mirrors ``Registry.others_below``."""

        def of_another(state: ScopeState) -> bool:
            if state.registered:
                return state.members.get(actor) != "owner"
            if names and state.path.person is not None:
                return state.path.person not in names
            return state.created_by != actor

        return any(map(of_another, self._below(tenant_id, path)))

    def _below(self, tenant_id: str, path: Scope) -> list[ScopeState]:
        tables = self._memory.tables
        return [
            _state(tables, row)
            for (tenant, below), row in tables.scopes.items()
            if tenant == tenant_id and below.startswith(f"{path}/")
        ]

    def register(self, state: ScopeState, activation: Activation | None = None) -> None:
        """Mirrors ``Registry.register``."""
        key = (state.tenant_id, state.path)
        with self._memory.change() as tables:
            if key in tables.registrations:
                raise registration_exists(state.path)
            known = tables.scopes.get(key)
            tables.scopes[key] = (
                replace(known, auto_provisioned=False, pruned=False)
                if known
                else ScopeRow(
                    tenant_id=state.tenant_id,
                    path=state.path,
                    auto_provisioned=False,
                    created_by=state.created_by,
                    created_at=state.created_at,
                )
            )
            tables.registrations[key] = state
            self._activate(tables, activation)
            tables.access_version += 1

    def set_members(self, tenant_id: str, path: Scope, members: Mapping[str, str]) -> None:
        """Mirrors ``Registry.set_members``."""
        with self._memory.change() as tables:
            known = tables.registrations.get((tenant_id, path))
            if known is None:
                raise not_registered(path)
            tables.registrations[tenant_id, path] = replace(known, members=dict(members))
            tables.access_version += 1

    def delete(self, tenant_id: str, path: Scope, activations: Sequence[Activation] = ()) -> None:
        """Mirrors ``Registry.delete``."""
        key = (tenant_id, path)
        with self._memory.change() as tables:
            tables.registrations.pop(key, None)
            tables.policies.pop((tenant_id, "scope", path), None)
            row = tables.scopes.pop(key, None)
            if row is not None and any(_holds(tables, tenant_id, path)):
                tables.scopes[key] = replace(row, auto_provisioned=True)
            for activation in activations:
                self._activate(tables, activation)
            tables.access_version += 1

    def documents(self, tenant_id: str, tier: str, targets: Collection[str]) -> dict[str, PolicyRow]:
        """Mirrors ``Registry.documents``."""
        policies = self._memory.tables.policies
        found = {target: policies.get((tenant_id, tier, target)) for target in targets}
        return {target: row for target, row in found.items() if row is not None}

    def _activate(self, tables: Tables, activation: Activation | None) -> None:
        if activation is not None:
            activate(tables, self._log, activation.entry, activation.name)

    def put_document(
        self, row: PolicyRow, activation: Activation | None = None, rules: EventDraft | None = None
    ) -> None:
        """Mirrors ``Registry.put_document``."""
        with self._memory.change() as tables:
            tables.policies[row.tenant_id, row.tier, row.target] = row
            self._activate(tables, activation)
            if rules is not None:
                lay_down(tables, self._log, rules)
            tables.access_version += 1

    def idle(self, tenant_id: str, before: Instant, limit: int) -> tuple[list[IdleScope], int]:
        """Mirrors ``Registry.idle``."""
        found = sorted(_idle(self._memory.tables, tenant_id, before), key=lambda scope: scope.path)
        return found[:limit], len(found)

    def prune(self, tenant_id: str, before: Instant) -> int:
        """Mirrors ``Registry.prune``."""
        with self._memory.change() as tables:
            found = _idle(tables, tenant_id, before)
            for scope in found:
                row = tables.scopes.pop((tenant_id, scope.path))
                if scope.events:
                    tables.scopes[tenant_id, scope.path] = replace(row, pruned=True)
            tables.access_version += 1
            return len(found)


def _state(tables: Tables, row: ScopeRow) -> ScopeState:
    known = tables.registrations.get((row.tenant_id, row.path))
    return ScopeState(
        tenant_id=row.tenant_id,
        path=row.path,
        created_by=row.created_by,
        created_at=row.created_at,
        registered_at=known.registered_at if known else None,
        members=known.members if known else {},
        policies=known.policies if known else {},
    )


def _holds(tables: Tables, tenant_id: str, path: Scope) -> list[Instant]:
    return [
        event.recorded_at
        for (tenant, _), event in tables.events.items()
        if tenant == tenant_id and event.scope == path
    ]


def _idle(tables: Tables, tenant_id: str, before: Instant) -> list[IdleScope]:
    found = []
    for (tenant, path), row in tables.scopes.items():
        if tenant != tenant_id or not row.auto_provisioned or row.pruned:
            continue
        if (tenant, "scope", path) in tables.policies:
            continue
        writes = _holds(tables, tenant_id, path)
        last_write_at = max(writes, default=row.created_at)
        facts = {
            record.id
            for record in tables.records.values()
            if (record.tenant_id, record.scope, record.layer) == (tenant, path, Layer.FACTS)
        }
        if last_write_at < before:
            found.append(IdleScope(path, last_write_at, len(writes), len(facts)))
    return found
