"""What was made for a caller and may be asked for again within a minute: packs of a recall, and answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from lamina.kernel.time import Instant

__all__ = ["PackKind", "Packs", "StoredPack"]


class PackKind(StrEnum):
    """``PACK`` is known by its id, the others by the idempotency key that they were asked under."""

    PACK = "pack"
    ANSWER = "answer"
    RECALL = "recall"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPack:
    """What was made, for whom, of which request and when. ``made_at`` is before the first read for it; ``content`` is for its maker to
    read, empty once its time is over."""

    tenant_id: str
    kind: PackKind
    caller: str
    id: str
    body_hash: str
    made_at: Instant
    content: bytes


class Packs(Protocol):
    """The newest packs of each tenant, at most ``limits.PACKS_STORED_MAX``; their content for ``limits.PACK_TTL_S``.

    What a crash takes has to be made again.
    """

    def keep(self, pack: StoredPack) -> None:
        """Keep a pack, in place of the caller's one of its kind and id; lets go of what is too old or too much by then.

        What was made under a key has landed then: whoever asks again may ask another process. A ``PACK`` is there at once in this
        process, in others over the same place within ``limits.PACK_LANDS_S_MAX``. What was made before ``Traces.erase_beside`` cleared
        the tenant's may hold erased words and is not kept, nor what the disk refuses; nobody is told.
        """
        ...

    def find(self, tenant_id: str, kind: PackKind, caller: str, id_: str) -> StoredPack | None:
        """The caller's pack, or None; waits for a ``PACK`` that another process may be about to land."""
        ...

    def prune(self, now: Instant) -> None:
        """Let go of every tenant's content that is older than ``limits.PACK_TTL_S``, and of rows older than
        ``limits.PACK_REMEMBERED_S``."""
        ...
