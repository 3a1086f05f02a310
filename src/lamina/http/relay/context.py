"""The rows of the Relay contract for memory files, search and context (seed 000): verb and path to operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lamina.http.errors import detail_response
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["context_rows"]

_ROWS: Final = (
    ("POST", "/v1/write", "file_write"),
    ("GET", "/v1/read", "file_read"),
    ("POST", "/v1/append", "file_append"),
    ("POST", "/v1/search", "file_search"),
    ("POST", "/v1/recent", "file_recent"),
    ("GET", "/v1/index/status", "index_status"),
    ("POST", "/v1/index/rebuild", "index_rebuild"),
    ("POST", "/v1/index/rebuild-incremental", "index_rebuild_incremental"),
    ("POST", "/v1/context/retrieve", "context_retrieve"),
    ("POST", "/v1/context/snapshot", "context_snapshot_create"),
    ("GET", "/v1/context/snapshot/{snapshot_id}", "context_snapshot_get"),
)


def context_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    """A row for every path; errors have the ``detail`` bodies of the contract."""
    return [Route(verb, path, by_name[name], errors=detail_response) for verb, path, name in _ROWS]
