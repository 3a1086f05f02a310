"""Who has initialised: kept by the hash of the Authorization header, in this process and, for callers who are known, in the store.

The contract keeps it in the memory of the process. Here a server that starts again, or another process over the same store,
knows who said ``initialize`` or was served within the last half day at least. Of callers whom nobody knows only the process
knows, as in the contract: else strangers could fill the store.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from lamina import limits
from lamina.kernel.operations import Principal
from lamina.kernel.time import SECOND_US, Instant
from lamina.store.ports.idempotency import Idempotency, IdempotencyEntry, IdempotencyKey

__all__ = ["Readiness"]

_FAMILY: Final = "mcp initialize"
_SPELL_US: Final = limits.IDEMPOTENCY_TTL_S * SECOND_US // 2
"""A mark is that of a spell and is looked for in two of them: so a caller is noted once in a spell, and not with each call."""


class Readiness:
    """Whose requests are served. Thread-safe; headers themselves are kept nowhere."""

    def __init__(self, kept: Idempotency) -> None:
        self._kept = kept
        self._spells: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def mark(self, header: str, caller: Principal | None, now: Instant) -> None:
        """Take a header for initialised; ``caller`` is whom it names, None where nobody knows."""
        self._note(_digest(header), caller, now)

    def is_ready(self, header: str, now: Instant, who: Callable[[], Principal | None]) -> bool:
        """Whether the header was initialised; ``who`` tells whom it names, and is asked once in a spell."""
        digest = _digest(header)
        with self._lock:
            spell = self._spells.get(digest)
        if spell == now // _SPELL_US:
            return True
        caller = who()
        if spell is None and (caller is None or not self._is_kept(digest, caller, now)):
            return False
        self._note(digest, caller, now)
        return True

    def _is_kept(self, digest: str, caller: Principal, now: Instant) -> bool:
        spell = now // _SPELL_US
        return any(
            self._kept.find(_key(digest, caller, each), now) is not None for each in (spell, spell - 1)
        )

    def _note(self, digest: str, caller: Principal | None, now: Instant) -> None:
        spell = now // _SPELL_US
        if caller is not None:
            self._kept.remember(IdempotencyEntry(_key(digest, caller, spell), "", now, response={}))
        with self._lock:
            self._spells[digest] = spell
            self._spells.move_to_end(digest)
            while len(self._spells) > limits.RPC_CALLERS_MAX:
                self._spells.popitem(last=False)


def _digest(header: str) -> str:
    return hashlib.sha256(header.encode("utf-8", "surrogateescape")).hexdigest()


def _key(digest: str, caller: Principal, spell: int) -> IdempotencyKey:
    return IdempotencyKey(caller.tenant_id, caller.actor, _FAMILY, f"{digest}.{spell}")
