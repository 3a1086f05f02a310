"""The list of what was erased, kept outside the data folder, so that a backup from before is restored without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.ports.erasing import Cascade

__all__ = ["ListedErasure", "TombstoneList"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedErasure:
    """One erasure as it was asked for: ids and scopes, and never what they held.

    One that was ``cancelled``, or failed, before anything went took nothing, and a folder in which it is under way stops it; beside a line
    of the same one that is not, such a line says nothing.

    One of a whole memory (``gdpr``) names the scope, what legal holds kept of it and the names of its person; it is planned anew in the
    folder in which it is done again. One of a part names events and records.

    ``folder`` is the name of the data folder that it was asked of: several may share a list. Earlier releases did not say.
    """

    tenant_id: str
    id: str
    at: Instant
    by_actor: str
    cascade: Cascade
    scope: Scope
    held: tuple[Scope, ...] = ()
    actors: tuple[str, ...] = ()
    unregisters: bool = False
    events: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    audit_id: str | None = None
    factor: float
    floor: float
    cancelled: bool = False
    folder: str = ""


class TombstoneList(Protocol):
    """One list for one data folder."""

    def append(self, erasure: ListedErasure) -> None:
        """Put an erasure down, on disk on return, before anything of it goes; one that stands there already may come again.

        Raises ``Unavailable`` (CANNOT_WRITE_TOMBSTONES): then nothing may be erased.
        """
        ...

    def read(self) -> Sequence[ListedErasure]:
        """All of them, oldest first. Raises ``NotFound`` (TOMBSTONES_NOT_FOUND), ``Invalid`` (INVALID_TOMBSTONES)."""
        ...
