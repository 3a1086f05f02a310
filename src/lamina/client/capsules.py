"""Requests about continuity capsules, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from lamina.client.asks import Ask, ask
from lamina.client.results import Said
from lamina.client.session import new_key

__all__ = ["capsule_ask"]

_AS_THEY_ARE: Final = frozenset({"read", "list", "compare", "upsert"})
"""What may be sent again after a lost answer without a key: reads, and an upsert, whose same words change nothing."""


def capsule_ask(what: str, body: Mapping[str, Any]) -> Ask[Said]:
    """A request to ``POST /v1/continuity/{what}``, with an idempotency key where sending it twice would do more."""
    asked = ask("POST", f"/v1/continuity/{what}", Said, body=body)
    if what in _AS_THEY_ARE:
        return asked
    return replace(asked, headers={"X-Cortex-Idempotency-Key": new_key()})
