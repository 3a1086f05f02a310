"""Packs in SQLite: they land with the commits of others, and are known here until then."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, Final

import apsw

from lamina import limits
from lamina.errors import Unavailable
from lamina.kernel.time import SECOND_US, Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.packs import PackKind, StoredPack
from lamina.store.sqlite.connection import Readers, Writer

__all__ = ["SqlitePacks"]

_SQL = load_blocks("lamina.store.sqlite")
_LOOK_AGAIN_S: Final = 0.02

_Key = tuple[str, PackKind, str, str]


class SqlitePacks:
    """``Packs`` over their table."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers
        self._lock = threading.Lock()
        self._landing: dict[_Key, StoredPack] = {}

    def keep(self, pack: StoredPack) -> None:
        """Mirrors ``Packs.keep``."""
        if pack.kind is not PackKind.PACK:
            with suppress(Unavailable):
                self._writer.write(partial(_put, pack))
            return
        with self._lock:
            self._landing[_key(pack)] = pack
        try:
            landed: Future[Any] = self._writer.post_later(partial(_put, pack))
        except Unavailable:
            self._ended(pack)
        else:
            landed.add_done_callback(lambda _: self._ended(pack))

    def _ended(self, pack: StoredPack) -> None:
        with self._lock:
            if self._landing.get(_key(pack)) is pack:  # a newer one may be on its way
                del self._landing[_key(pack)]

    def find(self, tenant_id: str, kind: PackKind, caller: str, id_: str) -> StoredPack | None:
        """Mirrors ``Packs.find``."""
        key = tenant_id, kind, caller, id_
        patient_until = time.monotonic() + limits.PACK_LANDS_S_MAX
        while True:
            with self._lock:
                landing = self._landing.get(key)
            if landing is not None:
                return landing
            row = self._readers.row(_SQL["find_pack"], (tenant_id, kind.value, caller, id_))
            if row is not None:
                body_hash, made_at, content = row
                return StoredPack(
                    tenant_id=tenant_id,
                    kind=kind,
                    caller=caller,
                    id=id_,
                    body_hash=body_hash,
                    made_at=made_at,
                    content=content,
                )
            # A key that nobody used yet is usual, an id that nobody was given is not.
            if kind is not PackKind.PACK or time.monotonic() > patient_until:
                return None
            time.sleep(_LOOK_AGAIN_S)

    def prune(self, now: Instant) -> None:
        """Mirrors ``Packs.prune``."""

        def work(connection: apsw.Connection) -> None:
            connection.execute(_SQL["empty_packs"], (now - limits.PACK_TTL_S * SECOND_US,))
            connection.execute(_SQL["prune_packs"], (now - limits.PACK_REMEMBERED_S * SECOND_US,))

        self._writer.write(work)


def _put(pack: StoredPack, connection: apsw.Connection) -> None:
    row = (*_key(pack), pack.body_hash, pack.made_at, pack.content)
    connection.execute(_SQL["put_pack"], row)
    connection.execute(_SQL["empty_packs"], (pack.made_at - limits.PACK_TTL_S * SECOND_US,))
    connection.execute(_SQL["trim_packs"], (pack.tenant_id, limits.PACKS_STORED_MAX))


def _key(pack: StoredPack) -> _Key:
    return pack.tenant_id, pack.kind, pack.caller, pack.id
