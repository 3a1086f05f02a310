"""What Mem0's clients delete as a whole: everything of a user, an agent, an app or a run. Here that is an erasure (seed 002, 8.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from lamina.errors import Malformed, NotFound, Unsupported
from lamina.http.mem0.asking import Asker
from lamina.http.mem0.entities import FIELDS, OwnerIds, require_id
from lamina.http.mem0.filters import ANY
from lamina.http.mem0.reading import homes_of
from lamina.kernel.scopes import Scope

__all__ = ["delete_all", "delete_entity"]

Json = dict[str, Any]  # Any: JSON, in the shapes that Mem0's clients know

_INNER: Final = ("user_id", "agent_id", "run_id")
_MESSAGE: Final = "Everything of it is hidden now and erased behind this answer; GET /v1/erasures/{erasure_id} says how far that is."


def delete_all(asker: Asker, named: Mapping[str, object]) -> Json:
    """Erase everything of whom the ids name. One of user, agent and run can be named: a part of somebody's memory is no scope."""
    ids = {
        name: require_id(name, value) for name, value in named.items() if name in FIELDS and value is not None
    }
    if not ids:
        raise Malformed(
            "MISSING_REQUIRED_FIELD",
            "one of user_id, agent_id, app_id and run_id is required",
            hint='name whose memories go, as user_id="ana"',
            details={"field": "user_id"},
        )
    inner = [name for name in _INNER if name in ids]
    if len(inner) > 1 or ANY in ids.values():
        raise Unsupported(
            "CALL_NOT_OFFERED",
            "a part of somebody's memory, or everybody's, is not deleted by one call",
            hint="name one user, agent or run, and an app where it has one; delete takes single memories",
        )
    return _erased(asker, [OwnerIds(**ids).home()])


def delete_entity(asker: Asker, kind: str, name: str) -> Json:
    """Erase a user, an agent, an app or a run, in every app that the caller may know of; raises ``NotFound`` where there is none."""
    field = f"{kind}_id"
    if field not in FIELDS:
        raise NotFound(
            "NOT_FOUND", "there are users, agents, apps and runs", details={"entity_type": kind[:64]}
        )
    named = {field: require_id(field, name)}
    homes = homes_of(asker, named)
    if field != "app_id":
        homes += homes_of(asker, {**named, "app_id": ANY})
    return _erased(asker, homes)


def _erased(asker: Asker, scopes: Iterable[Scope]) -> Json:
    note = "asked for at the door of Mem0"
    began = [asker.ask("erasure_start", {"scope": scope, "audit_note": note}).erasure_id for scope in scopes]
    return {"message": _MESSAGE, "status": "PENDING", "erasures": began}
