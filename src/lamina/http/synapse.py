"""The Synapse contract: verb and path to operation, as in seed 003, and the later calls that its clients use.

Errors are in the style that those clients read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from lamina import limits
from lamina.http.errors import detail_response
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["synapse_routes"]

_ROWS: Final = (
    ("POST", "/brief", "session_brief"),
    ("POST", "/ingest", "session_ingest_turn"),
    ("POST", "/session/close", "session_close"),
    ("POST", "/session/ingest", "session_ingest"),
    ("GET", "/session/startbrief", "session_startbrief"),
    ("POST", "/memory/query", "session_query"),
    ("GET", "/memory/loops", "session_loops"),
    ("GET", "/user/identity", "session_identity"),
    ("PATCH", "/user/identity", "session_correct"),
)
_INTERNAL: Final = (
    ("GET", "/internal/debug/session", "debug_session"),
    ("GET", "/internal/debug/user", "debug_user"),
    ("GET", "/internal/debug/outbox", "debug_outbox"),
    ("POST", "/internal/outbox/revive", "outbox_revive"),
)
_BODY_BYTES_MAX: Final = {"session_ingest": limits.BULK_BODY_BYTES_MAX}


def synapse_routes(operations: Sequence[Operation[Any]]) -> list[Route]:
    """Every row whose operation is among those given; an operation without a row is a bug."""
    by_name = {operation.name: operation for operation in operations}
    rows = [
        Route(
            verb,
            path,
            by_name[name],
            body_bytes_max=_BODY_BYTES_MAX.get(name, limits.BODY_BYTES_MAX),
            errors=detail_response,
        )
        for verb, path, name in _ROWS
    ]
    rows += [
        Route(
            verb,
            path,
            by_name[name],
            headers={"X-Internal-Token": "internal_token"},
            errors=detail_response,
        )
        for verb, path, name in _INTERNAL
    ]
    left = set(by_name) - {row.operation.name for row in rows}
    assert not left, f"operations without a row: {sorted(left)}"
    return [replace(row, contract="Synapse") for row in rows]
