"""Rows of a Relay door for tests: what it serves, without what it does."""

from __future__ import annotations

from typing import Any

from pydantic import create_model

from lamina.continuity.capsule.bounds import GROUPS
from lamina.errors import Unsupported
from lamina.http.relay.bridge import Bridge, bridge_operations, bridge_rows
from lamina.http.relay.contract import TOOLS
from lamina.http.relay.help import LimitTable
from lamina.http.routes import Route
from lamina.kernel.operations import Answer, Call, Effect, Operation, Tier
from lamina.kernel.wire import Request, Result

READING = ("read", "list", "get", "query", "retrieve", "compare", "status")
LIMITS = LimitTable(
    GROUPS,
    [
        {
            "field_path": path,
            "category": group,
            "value_type": "string_list",
            "max_items": 8,
            "max_length": None,
            "per_item_max_length": 160,
            "subfield_limits": {},
            "applies_to": ["POST /v1/continuity/upsert", "continuity.upsert"],
            "correction_guidance": "Keep at most 8 items.",
            "reference": "docs/reference/relay.md",
        }
        for path, group in (
            ("continuity.open_loops", "continuity_orientation"),
            ("session_end_snapshot.open_loops", "session_end_snapshot"),
            ("continuity.metadata/x", "continuity_payload"),
            ("continuity.list.limit", "a group of our own"),
        )
    ],
)


class Shown(Result):
    """Nothing."""


def row(line: str, **fields: Any) -> Route:
    """A row that does nothing, with a request of these fields."""
    verb, _, path = line.partition(" ")
    request: Any = create_model("Asked", __base__=Request, **fields)
    reads = verb == "GET" or path.rpartition("/")[2] in READING
    operation: Operation[Any] = Operation(
        name=line,
        request=request,
        result=Shown,
        capability="scope.read.local",
        effect=Effect.READ if reads else Effect.WRITE,
        tier=Tier.STABLE,
        grants=lambda r, p: [],
        handler=_nothing,
        summary=f"What {path} does.",
    )
    return Route(verb, path, operation)


def _nothing(request: Any, call: Call) -> Answer:
    raise Unsupported("CALL_NOT_OFFERED", "this row is for tests")


def bridge_of(*others: Route, limits: LimitTable = LIMITS) -> tuple[Bridge, list[Route]]:
    """A bridge that describes itself and other rows, and all of these rows."""
    bridge = Bridge(limits)
    own = bridge_rows({operation.name: operation for operation in bridge_operations(bridge)})
    rows = [*others, *own]
    bridge.describe(rows)
    return bridge, rows


def every_tool(*but: str) -> list[Route]:
    """A row for every tool of the contract that the bridge does not bring itself."""
    _, own = bridge_of()
    there = {f"{each.verb} {each.path}" for each in own}
    return [row(line) for line in TOOLS if line not in there and TOOLS[line].name not in but]
