"""Erasures, of a ``Client``: ``client.erasures``. They are experimental, and an owner's or an administrator's to ask for."""

from __future__ import annotations

from lamina.client import erasure_asks as asks
from lamina.client.layers import Sender
from lamina.types.erasures import (
    ErasureCancelled,
    ErasureManifest,
    ErasurePage,
    ErasurePreview,
    ErasureStarted,
    ErasureState,
)

__all__ = ["ErasureCalls"]


class ErasureCalls:
    """Erasing a scope with all below it, for good: what would go, its manifest, and how far it is."""

    def __init__(self, send: Sender) -> None:
        self._send = send

    def preview(
        self, scope: str, *, audit_note: str | None = None, idempotency_key: str | None = None
    ) -> ErasurePreview:
        """What erasing a scope would do; nothing is erased. Good for a day.

        client.erasures.preview("org:acme/user:alice").refcount_breakdown.events_to_delete
        """
        return self._send(asks.preview(scope, audit_note, idempotency_key))

    def start(
        self,
        scope: str,
        *,
        audit_note: str,
        from_preview_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> ErasureStarted:
        """Begin an erasure. ``audit_note`` is your own reference to the case, and names nobody. Raises ``Conflict``
        (ERASURE_DRIFTED, ERASURE_RUNNING) and ``Gone`` (PREVIEW_EXPIRED)."""
        return self._send(asks.start(scope, audit_note, from_preview_id, idempotency_key))

    def get(self, erasure_id: str) -> ErasureState:
        """How far an erasure is. Raises ``NotFound``."""
        return self._send(asks.state(erasure_id))

    def list(self, *, cursor: str | None = None, limit: int | None = None) -> ErasurePage:
        """Erasures of scopes that you may erase, newest first."""
        return self._send(asks.erasures(cursor, limit))

    def manifest(self, plan_id: str, *, cursor: str | None = None) -> ErasureManifest:
        """A page of the manifest of a preview (``ervw_…``) or of an erasure (``erasure_…``). Raises ``NotFound``, ``Gone`` (PREVIEW_EXPIRED)."""
        return self._send(asks.manifest(plan_id, cursor))

    def cancel(self, erasure_id: str) -> ErasureCancelled:
        """Have an erasure stop at its next phase; what was deleted stays deleted. Raises ``NotFound``."""
        return self._send(asks.cancel(erasure_id))
