"""Checking audit chains: whether every row is as it was written, and the first that is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lamina.kernel.audit import GENESIS, Anchor, AuditRow, Head, holds, kept_digest
from lamina.store.ports.audit import Audit

__all__ = ["Broken", "ChainCheck", "check_chain", "check_chains"]

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Broken:
    """The first row of a chain that is not as it was; ``audit_id`` is None where the row is not there."""

    number: int
    audit_id: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """What checking a tenant's chain found.

    ``head`` is the last row that fits. ``head_compared`` is false when the row of the head that was given is past
    its retention, so that nothing is left to compare it with.
    """

    tenant_id: str
    rows: int
    head: Head | None
    broken: Broken | None = None
    head_compared: bool = True


class _Stop(Exception):
    def __init__(self, broken: Broken) -> None:
        self.broken = broken


def check_chain(audit: Audit, tenant_id: str, head: Head | None = None) -> ChainCheck:
    """Walk a tenant's chain from its anchor to its end, and compare it with a head that was exported earlier."""
    walk = _Walk(audit, tenant_id, head)
    broken = None
    try:
        walk.run()
    except _Stop as stop:
        broken = stop.broken
    newest = Head(tenant_id, walk.number, walk.hash) if walk.number else None
    return ChainCheck(tenant_id, walk.rows, newest, broken, walk.head_compared)


def check_chains(audit: Audit, heads: Mapping[str, Head], tenant_id: str | None = None) -> list[ChainCheck]:
    """Check every tenant's chain, or one's, and those of the heads that were exported earlier."""
    newest = {head.tenant_id: head for head in audit.heads()}
    wanted = sorted(newest.keys() | heads.keys()) if tenant_id is None else [tenant_id]
    unreadable = Broken(0, None, "a row names a tenant that cannot be read")
    return [
        ChainCheck(each, 0, None, unreadable)
        if each in newest and newest[each].number == 0
        else check_chain(audit, each, heads.get(each))
        for each in wanted
    ]


class _Walk:
    def __init__(self, audit: Audit, tenant_id: str, head: Head | None) -> None:
        self._audit = audit
        self._tenant_id = tenant_id
        self._head = head
        self._anchor: Anchor | None = audit.anchor(tenant_id)
        self._anchored = False
        self._kept: list[AuditRow] = []
        begins = self._anchor.number if self._anchor else 0
        self.number, self.hash = begins, self._anchor.hash if self._anchor else GENESIS
        self.rows = 0
        self.head_compared = head is None or head.number >= begins

    def run(self) -> None:
        begins = self.number
        self._compare()
        for row in self._read():
            if row.number <= begins:
                self._keep(row)
            else:
                self._follow(row)
            self.rows += 1
        if self._anchor is not None:
            self._check_anchor(self._anchor)
        if self._head is not None and self._head.number > self.number:
            raise _Stop(Broken(self.number + 1, None, "the chain ends before the given head"))

    def _read(self) -> Iterator[AuditRow]:
        after, size = 0, _PAGE
        while True:
            try:
                page = self._audit.walk(self._tenant_id, after, size)
            except (ValueError, TypeError):  # bytes that are no text any more
                if size == 1:
                    reason = "its columns cannot be read"
                    raise _Stop(Broken(max(after, self.number) + 1, None, reason)) from None
                size = 1
                continue
            yield from page
            if not page:
                return
            after = page[-1].number

    def _follow(self, row: AuditRow) -> None:
        if row.number != self.number + 1:
            raise _Stop(Broken(self.number + 1, None, "the row is missing"))
        if not holds(row):
            raise _Stop(Broken(row.number, row.draft.id, "its columns are not those that were hashed"))
        if row.previous != self.hash:
            raise _Stop(Broken(row.number, row.draft.id, "it does not follow the row before it"))
        self.number, self.hash = row.number, row.hash
        if self._anchor is not None and row.draft.id == self._anchor.row_id:
            self._anchored = row.draft.body_hash == self._anchor.digest()
        self._compare()

    def _compare(self) -> None:
        head = self._head
        if head is not None and head.number == self.number and head.number and head.hash != self.hash:
            raise _Stop(
                Broken(self.number, None, "the chain up to this row is not the one of the given head")
            )

    def _keep(self, row: AuditRow) -> None:
        if not holds(row):
            raise _Stop(Broken(row.number, row.draft.id, "its columns are not those that were hashed"))
        self._kept.append(row)

    def _check_anchor(self, anchor: Anchor) -> None:
        if kept_digest(self._kept) != anchor.kept:
            reason = "the rows kept up to here are not those that the deletion left"
            raise _Stop(Broken(anchor.number, None, reason))
        if not self._anchored:
            raise _Stop(Broken(anchor.number, None, "the deletion up to here is not recorded in the chain"))
