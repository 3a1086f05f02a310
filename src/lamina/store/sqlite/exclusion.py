"""What leaves recall with a cancelled event, and what comes back with a new one."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from lamina.kernel.records import Support
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import SAYS_AGAIN, WORDLESS, Tie
from lamina.store.blocks import load_blocks
from lamina.store.sqlite.codec import json_list
from lamina.store.sqlite.index import hide_text, show_text

__all__ = ["exclude_dependants", "exclude_unsupported", "hide_event", "readmit"]

_SQL = load_blocks("lamina.store.sqlite")


def hide_event(connection: apsw.Connection, tenant_id: str, event_id: str, scope: Scope) -> None:
    """Keep an event out of recall, on which what was derived from it goes on to rest."""
    hide_text(connection, tenant_id, event_id)
    _note(connection, tenant_id, {scope})


def exclude_dependants(connection: apsw.Connection, tenant_id: str, event_id: str, scope: Scope) -> None:
    """Keep a cancelled event, and what rests on no other event, out of recall and lists."""
    hide_text(connection, tenant_id, event_id)
    touched = _keep_out(connection, tenant_id, _dependants(connection, tenant_id, event_id))
    _note(connection, tenant_id, {scope, *touched})


def exclude_unsupported(connection: apsw.Connection, supports: Iterable[Support]) -> None:
    """Keep out what lands on cancelled events alone, such as a claim of one that a later event moved."""
    held = [support for support in supports if support.polarity != "against"]
    for tenant_id in sorted({support.tenant_id for support in held}):
        sources = json_list(sorted({each.source_id for each in held if each.tenant_id == tenant_id}))
        gone = {row[0] for row in connection.execute(_SQL["excluded_sources"], (tenant_id, sources))}
        touched: set[str] = set()
        for record_id in sorted(
            {each.record_id for each in held if each.tenant_id == tenant_id and each.source_id in gone}
        ):
            resting = [record_id, *_dependants(connection, tenant_id, record_id)]
            touched |= _keep_out(connection, tenant_id, resting)
        _note(connection, tenant_id, touched)


def readmit(connection: apsw.Connection, supports: Iterable[Support]) -> None:
    """Bring back excluded records that rest on a living event again, with what rests on them in turn."""
    for tenant_id, record_id in sorted({(support.tenant_id, support.record_id) for support in supports}):
        if not any(connection.execute(_SQL["is_excluded"], (tenant_id, record_id))):
            continue
        for other in (record_id, *_dependants(connection, tenant_id, record_id)):
            if _rests_on_events(connection, tenant_id, other):
                connection.execute(_SQL["readmit_record"], (tenant_id, other))
                show_text(connection, tenant_id, other)


def _keep_out(connection: apsw.Connection, tenant_id: str, record_ids: Iterable[str]) -> set[str]:
    """Exclude those records that rest on no living event; the scopes that it touches."""
    touched: set[str] = set()
    for record_id in record_ids:
        if not _rests_on_events(connection, tenant_id, record_id):
            connection.execute(_SQL["exclude_record"], (tenant_id, record_id))
            hide_text(connection, tenant_id, record_id)
            touched |= _scopes_of(connection, tenant_id, record_id)
    return touched


def _note(connection: apsw.Connection, tenant_id: str, scopes: Iterable[str]) -> None:
    connection.executemany(_SQL["note_index_change"], [(tenant_id, path) for path in sorted(scopes)])


def _dependants(connection: apsw.Connection, tenant_id: str, source_id: str) -> list[str]:
    return [row[0] for row in connection.execute(_SQL["all_dependants"], (tenant_id, source_id))]


def _rests_on_events(connection: apsw.Connection, tenant_id: str, record_id: str) -> bool:
    named = (json_list(sorted(WORDLESS)), json_list(sorted(SAYS_AGAIN)), Tie.OFFERED_IN.value)
    return any(connection.execute(_SQL["event_supports_left"], (tenant_id, record_id, *named)))


def _scopes_of(connection: apsw.Connection, tenant_id: str, record_id: str) -> set[str]:
    return {row[0] for row in connection.execute(_SQL["scopes_of_versions"], (tenant_id, record_id))}
