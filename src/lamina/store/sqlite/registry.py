"""Scopes, members and policy documents in SQLite."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import apsw

from lamina.kernel.canonical import compact
from lamina.kernel.events import EventDraft
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.registry import Activation, IdleScope, PolicyRow, ScopeState
from lamina.store.rows import Row
from lamina.store.rules.refusals import not_registered, registration_exists
from lamina.store.sqlite.codec import json_list
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.definitions import activate, lay_down
from lamina.store.sqlite.log import SqliteLog
from lamina.store.sqlite.paths import bounds_below

__all__ = ["SqliteRegistry"]

T = TypeVar("T")
_SQL = load_blocks("lamina.store.sqlite")


class SqliteRegistry:
    """``Registry`` over its tables."""

    def __init__(self, writer: Writer, readers: Readers, log: SqliteLog) -> None:
        self._writer = writer
        self._readers = readers
        self._log = log

    def version(self) -> int:
        """Mirrors ``Registry.version``."""
        row = self._readers.row(_SQL["access_version"])
        assert row is not None, "the migration made the row"
        return int(row[0])

    def states(self, tenant_id: str, paths: Collection[Scope]) -> dict[Scope, ScopeState]:
        """Mirrors ``Registry.states``."""
        rows = self._readers.rows(_SQL["scope_states"], (tenant_id, json_list(paths)))
        return {state.path: state for state in self._states(tenant_id, rows)}

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
        bindings = {
            "tenant_id": tenant_id,
            "prefix": prefix,
            "prefix_end": prefix[:-1] + chr(ord(prefix[-1]) + 1) if prefix else None,
            "after": after,
            "auto_provisioned": auto_provisioned,
            "limit": limit,
            "skip": skip,
        }
        return self._states(tenant_id, self._readers.rows(_SQL["scopes_listed"], bindings))

    def _states(self, tenant_id: str, rows: Sequence[Row]) -> list[ScopeState]:
        registered = [row[1] for row in rows if row[4] is not None]
        members: dict[str, dict[str, str]] = {path: {} for path in registered}
        if registered:
            for path, actor, role in self._readers.rows(
                _SQL["members_of"], (tenant_id, json_list(registered))
            ):
                members[path][actor] = role
        return [
            ScopeState(
                tenant_id=row[0],
                path=Scope(row[1]),
                created_by=row[2],
                created_at=row[3],
                registered_at=row[4],
                members=members.get(row[1], {}),
                policies=json.loads(row[5]) if row[5] else {},
            )
            for row in rows
        ]

    def owns_below(self, tenant_id: str, actor: str, path: Scope) -> bool:
        """Mirrors ``Registry.owns_below``."""
        return self._readers.row(_SQL["owned_below"], (tenant_id, actor, *bounds_below(path))) is not None

    def others_below(self, tenant_id: str, actor: str, path: Scope, *, names: Collection[str] = ()) -> bool:
        """Mirrors ``Registry.others_below``."""
        bindings = (tenant_id, actor, *bounds_below(path), json_list(names) if names else None)
        return self._readers.row(_SQL["others_below"], bindings) is not None

    def register(self, state: ScopeState, activation: Activation | None = None) -> None:
        """Mirrors ``Registry.register``."""
        place = (state.tenant_id, state.path)

        def work(connection: apsw.Connection) -> None:
            if list(connection.execute(_SQL["registered"], place)):
                raise registration_exists(state.path)
            connection.execute(_SQL["put_scope"], (*place, state.created_by, state.created_at))
            policies = compact(dict(state.policies))
            connection.execute(_SQL["put_registration"], (*place, policies, state.registered_at))
            _put_members(connection, *place, state.members)
            self._activate(connection, activation)

        self._change(work)

    def set_members(self, tenant_id: str, path: Scope, members: Mapping[str, str]) -> None:
        """Mirrors ``Registry.set_members``."""

        def work(connection: apsw.Connection) -> None:
            if not list(connection.execute(_SQL["registered"], (tenant_id, path))):
                raise not_registered(path)
            connection.execute(_SQL["drop_members"], (tenant_id, path))
            _put_members(connection, tenant_id, path, members)

        self._change(work)

    def delete(self, tenant_id: str, path: Scope, activations: Sequence[Activation] = ()) -> None:
        """Mirrors ``Registry.delete``."""

        def work(connection: apsw.Connection) -> None:
            for block in (
                "drop_members",
                "drop_registration",
                "drop_scope_policy",
                "leave_scope",
                "drop_empty_scope",
            ):
                connection.execute(_SQL[block], (tenant_id, path))
            for activation in activations:
                self._activate(connection, activation)

        self._change(work)

    def documents(self, tenant_id: str, tier: str, targets: Collection[str]) -> dict[str, PolicyRow]:
        """Mirrors ``Registry.documents``."""
        rows = self._readers.rows(_SQL["policies_of"], (tenant_id, tier, json_list(targets)))
        return {
            row[2]: PolicyRow(
                tenant_id=row[0],
                tier=row[1],
                target=row[2],
                document=json.loads(row[3]),
                set_by=row[4],
                set_at=row[5],
            )
            for row in rows
        }

    def put_document(
        self, row: PolicyRow, activation: Activation | None = None, rules: EventDraft | None = None
    ) -> None:
        """Mirrors ``Registry.put_document``."""
        values = (row.tenant_id, row.tier, row.target, compact(dict(row.document)), row.set_by, row.set_at)

        def work(connection: apsw.Connection) -> None:
            connection.execute(_SQL["put_policy"], values)
            self._activate(connection, activation)
            if rules is not None:
                lay_down(connection, self._log, rules)

        self._change(work)

    def idle(self, tenant_id: str, before: Instant, limit: int) -> tuple[list[IdleScope], int]:
        """Mirrors ``Registry.idle``."""
        rows = self._readers.rows(_SQL["idle_scopes"], (tenant_id, before))
        found = []
        for path, last_write_at in rows[:limit]:
            counts = self._readers.row(_SQL["scope_counts"], (tenant_id, path)) or (0, 0)
            found.append(IdleScope(Scope(path), last_write_at, counts[0], counts[1]))
        return found, len(rows)

    def prune(self, tenant_id: str, before: Instant) -> int:
        """Mirrors ``Registry.prune``."""

        def work(connection: apsw.Connection) -> int:
            paths = [row[0] for row in connection.execute(_SQL["idle_scopes"], (tenant_id, before))]
            places = [(tenant_id, path) for path in paths]
            connection.executemany(_SQL["drop_empty_scope"], places)
            connection.executemany(_SQL["prune_scope"], places)
            return len(paths)

        return self._change(work)

    def _activate(self, connection: apsw.Connection, activation: Activation | None) -> None:
        if activation is not None:
            activate(connection, self._log, activation.entry, activation.name)

    def _change(self, work: Callable[[apsw.Connection], T]) -> T:
        def noted(connection: apsw.Connection) -> T:
            result = work(connection)
            connection.execute(_SQL["note_access_change"])
            return result

        return self._writer.write(noted)


def _put_members(connection: apsw.Connection, tenant_id: str, path: str, members: Mapping[str, str]) -> None:
    rows = [(tenant_id, path, actor, role) for actor, role in sorted(members.items())]
    connection.executemany(_SQL["put_member"], rows)
