"""Erasures, of an ``AsyncClient``; every method mirrors the one in ``erasing.py``."""

from __future__ import annotations

from lamina.client import erasure_asks as asks
from lamina.client.async_layers import AsyncSender
from lamina.types.erasures import (
    ErasureCancelled,
    ErasureManifest,
    ErasurePage,
    ErasurePreview,
    ErasureStarted,
    ErasureState,
)

__all__ = ["AsyncErasureCalls"]


class AsyncErasureCalls:
    """Mirrors ``ErasureCalls``."""

    def __init__(self, send: AsyncSender) -> None:
        self._send = send

    async def preview(
        self, scope: str, *, audit_note: str | None = None, idempotency_key: str | None = None
    ) -> ErasurePreview:
        """Mirrors ``ErasureCalls.preview``."""
        return await self._send(asks.preview(scope, audit_note, idempotency_key))

    async def start(
        self,
        scope: str,
        *,
        audit_note: str,
        from_preview_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> ErasureStarted:
        """Mirrors ``ErasureCalls.start``."""
        return await self._send(asks.start(scope, audit_note, from_preview_id, idempotency_key))

    async def get(self, erasure_id: str) -> ErasureState:
        """Mirrors ``ErasureCalls.get``."""
        return await self._send(asks.state(erasure_id))

    async def list(self, *, cursor: str | None = None, limit: int | None = None) -> ErasurePage:
        """Mirrors ``ErasureCalls.list``."""
        return await self._send(asks.erasures(cursor, limit))

    async def manifest(self, plan_id: str, *, cursor: str | None = None) -> ErasureManifest:
        """Mirrors ``ErasureCalls.manifest``."""
        return await self._send(asks.manifest(plan_id, cursor))

    async def cancel(self, erasure_id: str) -> ErasureCancelled:
        """Mirrors ``ErasureCalls.cancel``."""
        return await self._send(asks.cancel(erasure_id))
