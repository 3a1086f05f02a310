"""Audit rows as values, and the chain that binds them: each row holds the hash of the one before.

A row says who asked for what, what policy answered and how it ended (seed 002, section 14). It never holds the
content of a memory: bodies and headers stand in it as peppered hashes. Rows of a tenant are numbered from 1 without
gaps, and the hash of a row covers every column of it, its number and the hash before it among them. So whoever knows
one hash knows that nothing up to that row has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pydantic_core import to_json

from lamina.kernel.canonical import canonical, digest
from lamina.kernel.time import Instant

__all__ = [
    "GENESIS",
    "Anchor",
    "AuditDraft",
    "AuditRow",
    "Head",
    "Pepper",
    "chained",
    "check_storable",
    "holds",
    "kept_digest",
    "own_row",
    "row_hash",
    "row_of",
]

GENESIS: Final = "sha256:" + "0" * 64
"""What stands before the first row of a tenant."""


class AuditDraft(NamedTuple):
    """What a row says: a decision and its outcome, before the chain numbers it.

    ``endpoint`` is the row of the route table, ``path`` the path that was asked for, without its query. ``scope``,
    ``event_id`` and ``body_bytes`` are None where there is none, or where the tenant does not keep it.
    """

    tenant_id: str
    id: str
    at: Instant
    actor: str
    token_jti: str | None
    scope: str | None
    endpoint: str
    capability: str
    decision: str
    decided_by_tier: str
    method: str
    path: str
    body_hash: str
    headers_hash: str
    body_bytes: int | None
    pepper_version: int
    response_status: int
    event_id: str | None
    client_ip: str | None
    user_agent: str | None
    request_id: str
    elapsed_ms: int
    gdpr: int
    """1 for rows that retention never deletes, else 0: as it is stored, so that the hash covers what is stored."""
    detail: str | None = None
    """What the call noted, as JSON: which capsule it gave out, what an administrator's token passed over."""


def own_row(
    *,
    tenant_id: str,
    id: str,
    request_id: str,
    at: Instant,
    actor: str,
    scope: str | None,
    endpoint: str,
    capability: str,
    tier: str,
    what: Mapping[str, Any] | None = None,  # Any: JSON
    body_hash: str = "",
    event_id: str | None = None,
    elapsed_ms: int = 0,
    gdpr: int = 0,
) -> AuditDraft:
    """The row of what the server does without a request, or behind one. ``what`` is its detail, and the body whose hash it has; ``body_hash``
    is that of a row without detail."""
    return AuditDraft(
        tenant_id=tenant_id,
        id=id,
        at=at,
        actor=actor,
        token_jti=None,
        scope=scope,
        endpoint=endpoint,
        capability=capability,
        decision="allow",
        decided_by_tier=tier,
        method="",
        path="",
        body_hash=body_hash if what is None else digest(what),
        headers_hash="",
        body_bytes=None,
        pepper_version=0,
        response_status=200,
        event_id=event_id,
        client_ip=None,
        user_agent=None,
        request_id=request_id,
        elapsed_ms=elapsed_ms,
        gdpr=gdpr,
        detail=None if what is None else canonical(what).decode(),
    )


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A row of the chain: the ``number``-th of its tenant, behind the row whose hash is ``previous``."""

    draft: AuditDraft
    number: int
    previous: str
    hash: str


@dataclass(frozen=True, slots=True)
class Head:
    """The newest row of a tenant's chain. Kept elsewhere, it proves that nothing up to it has changed."""

    tenant_id: str
    number: int
    hash: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a tenant's chain begins after rows past their retention were deleted: behind row ``number``.

    ``hash`` is that row's. ``kept`` is the digest of the hashes of the rows up to it that are never deleted. The
    deletion is a row of the chain too, ``row_id``, whose body hash is this anchor's ``digest``.
    """

    tenant_id: str
    number: int
    hash: str
    kept: str
    row_id: str

    def digest(self) -> str:
        """What the row of the deletion carries as its body hash."""
        return digest({"number": self.number, "hash": self.hash, "kept": self.kept})


@dataclass(frozen=True, slots=True)
class Pepper:
    """A tenant's secret that is hashed together with what audit rows must not show."""

    tenant_id: str
    version: int
    secret: bytes
    created_at: Instant

    def hash(self, value: bytes) -> str:
        """``sha256(value || pepper)`` as ``sha256:<hex>`` (seed 002, section 14)."""
        hashed = hashlib.sha256(value)
        hashed.update(self.secret)
        return f"sha256:{hashed.hexdigest()}"


_NAMES = (*AuditDraft._fields, "number", "previous")
# Sorted here once: JSON of an ordered mapping is then the canonical form, without sorting for every row.
_ORDER = tuple(sorted((name, place) for place, name in enumerate(_NAMES)))


def row_hash(columns: Sequence[Any]) -> str:  # Any: columns as they are stored
    """The hash of a row from its columns: those of its draft in their order, its number and the hash before it."""
    named = {name: columns[place] for name, place in _ORDER}
    if named["detail"] is None:
        del named["detail"]  # rows from before there was one have the hash that they always had
    text = to_json(named)
    return f"sha256:{hashlib.sha256(text).hexdigest()}"


def chained(draft: AuditDraft, number: int, previous: str) -> tuple[Any, ...]:  # Any: as above
    """The columns of the draft as the ``number``-th row of its chain: its hash and its detail come last."""
    return (*draft[:-1], number, previous, row_hash((*draft, number, previous)), draft.detail)


def check_storable(draft: AuditDraft) -> None:
    """Nothing; raises ``ValueError`` for a draft with text that UTF-8 cannot say, such as half an emoji."""
    "".join([value for value in draft if isinstance(value, str)]).encode()


def row_of(columns: Sequence[Any]) -> AuditRow:
    """The row behind its columns."""
    return AuditRow(AuditDraft._make((*columns[:-4], columns[-1])), *columns[-4:-1])


def holds(row: AuditRow) -> bool:
    """Whether the row is as it was when its hash was taken."""
    try:
        return row_hash((*row.draft, row.number, row.previous)) == row.hash
    except (TypeError, ValueError):
        return False  # a column holds what no column ever held


def kept_digest(rows: Sequence[AuditRow]) -> str:
    """The digest of the rows that a deletion left, by their hashes in the order of the chain."""
    return digest([row.hash for row in rows])
