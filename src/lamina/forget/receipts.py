"""Looking again at what an erasure took, and the receipt of what was seen: ids as counts and a hash, never content."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from pydantic import Field

from lamina.errors import NotFound
from lamina.forget.receipt_keys import ReceiptKey
from lamina.kernel.canonical import canonical, digest
from lamina.kernel.time import Instant, rfc3339
from lamina.kernel.wire import Result
from lamina.store.owners import FILES, TABLES
from lamina.store.ports.store import Store

__all__ = ["ErasureReceipt", "ReceiptSignature", "signed_receipt", "verify_erasure"]


class LookedAt(Result):
    """What was looked at: tables and kinds of files of ``store.owners``, and what was done before, so that nothing hides.
    ``text_index_merges`` is 0: earlier releases had such an index."""

    tables: int
    kinds_of_files: int
    text_index_merges: int
    pages_freed: int
    database_rewritten: bool
    log_emptied: bool


class ReceiptSignature(Result):
    """Ed25519 over the canonical JSON of the receipt without its signature; base64."""

    algorithm: Literal["Ed25519"] = "Ed25519"
    public_key: str
    value: str


class ErasureReceipt(Result):
    """What is to be said of an erasure, as of an instant.

    ``gone`` counts marks by layer; ``ids_sha256`` is the hash of their sorted list, to be compared with a manifest. ``found`` are
    rows in which an id stands that should be nowhere, by table and column; ``leftovers`` what files hold that they should not.
    """

    receipt_version: Literal[1] = 1
    erasure_id: str
    tenant_id: str
    verified_at: str
    erased_at: str | None
    audit_ids: list[str]
    audit_head: str | None
    gone: dict[str, int]
    redacted_events: int
    ids_sha256: str
    looked_at: LookedAt
    found: dict[str, int]
    worded: int = Field(description="Events that should have lost their words and have some.")
    leftovers: list[str]
    clean: bool
    signature: ReceiptSignature | None = None


def verify_erasure(store: Store, tenant_id: str, erasure_id: str, now: Instant) -> ErasureReceipt:
    """Clear the files once more of what was deleted, and look for everything that an erasure took.

    Raises ``NotFound`` where it left no mark: there is none such, or it took nothing.
    """
    remains = store.traces.remains(tenant_id, erasure_id)
    if not (remains.marks or remains.redacted):
        raise NotFound(
            "NOT_FOUND",
            f"no erasure {erasure_id[:80]} of {tenant_id} took anything",
            hint="its id begins with erasure_; --tenant says whose it is",
            details={"erasure_id": erasure_id[:80]},
        )
    scrubbed = store.traces.scrub()
    ids = sorted(mark.id for mark in remains.marks)
    found = dict(store.traces.look_for(tenant_id, ids))
    leftovers = list(store.traces.look())
    heads = [head for head in store.audit.heads() if head.tenant_id == tenant_id]
    looked_at = LookedAt(
        tables=sum(not place.keeps_ids for place in TABLES.values()),
        kinds_of_files=len(FILES),
        text_index_merges=scrubbed.index_merges,
        pages_freed=scrubbed.pages_freed,
        database_rewritten=scrubbed.rewritten,
        log_emptied=scrubbed.log_emptied,
    )
    return ErasureReceipt(
        erasure_id=erasure_id,
        tenant_id=tenant_id,
        verified_at=rfc3339(now),
        erased_at=rfc3339(max(mark.erased_at for mark in remains.marks)) if remains.marks else None,
        audit_ids=sorted({mark.audit_id for mark in remains.marks if mark.audit_id}),
        audit_head=f"{heads[0].number} {heads[0].hash}" if heads else None,
        gone=dict(sorted(Counter(str(mark.layer) for mark in remains.marks).items())),
        redacted_events=len(remains.redacted),
        ids_sha256=digest(ids),
        looked_at=looked_at,
        found=found,
        worded=len(remains.worded),
        leftovers=leftovers,
        clean=not (found or leftovers or remains.worded) and scrubbed.log_emptied,
    )


def signed_receipt(receipt: ErasureReceipt, key: ReceiptKey) -> ErasureReceipt:
    """A receipt with its signature."""
    told: dict[str, Any] = receipt.model_dump(mode="json", exclude={"signature"})  # Any: JSON
    signature = ReceiptSignature(public_key=key.public, value=key.signed(canonical(told)))
    return receipt.model_copy(update={"signature": signature})
