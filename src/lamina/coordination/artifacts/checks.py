"""What every operation over artifacts checks: texts, peers, and who may see what.

Refusals of the service are 400s of one code; ``details.field`` names the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from pydantic import BaseModel

from lamina import limits
from lamina.coordination.artifacts.kinds import ArtifactKind, Key
from lamina.errors import Conflict, Forbidden, Malformed, NotFound
from lamina.kernel.operations import Call
from lamina.store.ports.peers import Peers

__all__ = [
    "check_bounds",
    "check_items",
    "check_peers",
    "check_text",
    "check_visible",
    "message_of",
    "refused",
    "wanted_keys",
]

RecordT = TypeVar("RecordT", bound=BaseModel)
_UNTRUSTED: Final = "untrusted"


def refused(field: str, reason: str, hint: str | None = None) -> Malformed:
    """The error of a request that the service refuses."""
    return Malformed("INVALID_COORDINATION", f"{field}: {reason}", hint=hint, details={"field": field})


def check_text(field: str, text: str | None, longest: int) -> None:
    """Nothing for a text that says something and is no longer; None says nothing and is none."""
    if text is not None and not (text.strip() and len(text) <= longest):
        raise refused(field, f"must have 1 to {longest} characters")


def check_items(field: str, items: Sequence[str]) -> None:
    """Nothing for a list of short texts."""
    for number, item in enumerate(items):
        check_text(f"{field}.{number}", item, limits.COORDINATION_ITEM_LENGTH_MAX)


def check_bounds(title: str, summary: str | None) -> None:
    """Nothing for a title and a summary that fit."""
    check_text("title", title, limits.COORDINATION_TITLE_LENGTH_MAX)
    check_text("summary", summary, limits.COORDINATION_TEXT_LENGTH_MAX)


def message_of(sent: str | None, usual: str) -> str:
    """The message of a commit: the caller's where there is one."""
    if sent is not None and len(sent) > limits.COORDINATION_MESSAGE_LENGTH_MAX:
        raise refused(
            "commit_message", f"must have at most {limits.COORDINATION_MESSAGE_LENGTH_MAX} characters"
        )
    return sent or usual


def check_peers(registered: Peers, tenant_id: str, peers: Iterable[str]) -> None:
    """Nothing where every peer is registered (``NotFound``, PEER_NOT_FOUND) and not untrusted (``Conflict``, UNTRUSTED_PEER)."""
    for peer in dict.fromkeys(peers):
        level = registered.trust_of(tenant_id, peer)
        if level is None:
            raise NotFound(
                "PEER_NOT_FOUND",
                f"the peer {peer[:64]!r} is not registered",
                details={"peer": peer[:64]},
            )
        if level == _UNTRUSTED:
            raise Conflict(
                "UNTRUSTED_PEER", f"the peer {peer[:64]!r} is untrusted", details={"peer": peer[:64]}
            )


def check_visible(kind: ArtifactKind[RecordT], record: RecordT, call: Call) -> None:
    """Nothing for whom an artifact names, and for who administers peers."""
    if not call.relay.admin and call.relay.peer_id not in kind.people(record):
        raise Forbidden(
            "ARTIFACT_NOT_YOURS",
            f"the {kind.name} artifact does not name {call.relay.peer_id[:64]!r}",
            hint="whom an artifact names may read it, and who administers peers",
            details={"kind": kind.name},
        )


def wanted_keys(
    call: Call,
    peers: Mapping[str, str | None],
    links: Mapping[str, str | None],
    narrows: Mapping[str, str | None] | None = None,
) -> frozenset[Key]:
    """The keys that a query wants.

    One of ``peers`` and ``links`` is needed (400). Who does not administer peers names itself in one of ``peers``, and nobody else
    in any (403): what others hand over is found by name alone.
    """
    by_name = {name: value for name, value in peers.items() if value is not None}
    among = {**peers, **links}
    found = {name: value for name, value in among.items() if value is not None}
    if not found:
        raise refused("query", f"one of {', '.join(among)} is needed")
    caller = call.relay.peer_id
    if not call.relay.admin and (not by_name or any(value != caller for value in by_name.values())):
        raise Forbidden(
            "PEER_FILTER_DENIED",
            f"name yourself, {caller[:64]!r}, in {' or '.join(peers)}, and nobody else",
            details={"fields": sorted(peers)},
        )
    found |= {name: value for name, value in (narrows or {}).items() if value is not None}
    return frozenset(found.items())
