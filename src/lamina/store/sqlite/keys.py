"""Idempotency keys in SQLite."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial

import apsw

from lamina import limits
from lamina.kernel.canonical import compact
from lamina.kernel.ids import Prefix
from lamina.kernel.time import SECOND_US, Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.idempotency import IdempotencyEntry, IdempotencyKey, KeyLocks
from lamina.store.rows import Row
from lamina.store.sqlite.codec import json_list
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.digits import hash_of, id_of, stored_hash, stored_id
from lamina.store.sqlite.words import stored_word

__all__ = ["SqliteIdempotency", "find_key", "find_keys", "put_key", "stored_key"]

_SQL = load_blocks("lamina.store.sqlite")
_Rows = Callable[[str, Row], Iterable[Row]]


def find_keys(
    connection: apsw.Connection, keys: Sequence[IdempotencyKey], now: Instant
) -> dict[IdempotencyKey, IdempotencyEntry]:
    """What keys were used for within their lifetime."""
    families: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for key in keys:
        families[key.tenant_id, key.caller, key.family].append(key.key)
    used_after = now - limits.IDEMPOTENCY_TTL_S * SECOND_US
    found: dict[IdempotencyKey, IdempotencyEntry] = {}
    for (tenant_id, caller, family), names in families.items():
        bindings = (tenant_id, caller, stored_word(family), json_list(names), used_after)
        for name, body_hash, event_id, response, created_at in connection.execute(
            _SQL["find_idempotency_keys"], bindings
        ):
            key = IdempotencyKey(tenant_id, caller, family, name)
            answer = json.loads(response) if response else None
            found[key] = IdempotencyEntry(
                key, hash_of(body_hash), created_at, id_of(event_id, Prefix.EVENT), answer
            )
    return found


def find_key(rows: _Rows, key: IdempotencyKey, now: Instant) -> IdempotencyEntry | None:
    """What a key was used for within its lifetime."""
    bindings = stored_key(key)
    for body_hash, event_id, response, created_at in rows(_SQL["find_idempotency"], bindings):
        if created_at > now - limits.IDEMPOTENCY_TTL_S * SECOND_US:
            answer = json.loads(response) if response else None
            return IdempotencyEntry(
                key, hash_of(body_hash), created_at, id_of(event_id, Prefix.EVENT), answer
            )
    return None


def stored_key(key: IdempotencyKey) -> Row:
    """The columns of a key; its family in a byte where it has a number."""
    return key.tenant_id, key.caller, stored_word(key.family), key.key


def put_key(connection: apsw.Connection, entry: IdempotencyEntry) -> None:
    """Remember a key, in the transaction of what it led to."""
    key = entry.key
    response = None if entry.response is None else compact(dict(entry.response))
    connection.execute(
        _SQL["put_idempotency"],
        (
            *stored_key(key),
            stored_hash(entry.body_hash),
            None if entry.event_id is None else stored_id(entry.event_id, Prefix.EVENT),
            response,
            entry.created_at,
        ),
    )


class SqliteIdempotency:
    """``Idempotency`` over its table."""

    def __init__(self, writer: Writer, readers: Readers, locks: KeyLocks) -> None:
        self._writer = writer
        self._readers = readers
        self._locks = locks

    def alone(self, key: IdempotencyKey) -> AbstractContextManager[None]:
        """Mirrors ``Idempotency.alone``."""
        return self._locks.held(key.tenant_id, json_list([key.caller, key.family, key.key]))

    def find(self, key: IdempotencyKey, now: Instant) -> IdempotencyEntry | None:
        """Mirrors ``Idempotency.find``."""
        return find_key(self._readers.rows, key, now)

    def remember(self, entry: IdempotencyEntry, *, erases: bool = False) -> IdempotencyEntry:
        """Mirrors ``Idempotency.remember``."""

        def work(connection: apsw.Connection) -> IdempotencyEntry:
            known = find_key(connection.execute, entry.key, entry.created_at)
            since = entry.key.tenant_id, entry.created_at
            if known is None and (erases or not list(connection.execute(_SQL["cleared_since"], since))):
                put_key(connection, entry)
            return known or entry

        return self._writer.write(work)

    def prune(self, before: Instant) -> int:
        """Mirrors ``Idempotency.prune``."""
        pruned, after = 0, ("", "", "", "")
        while old := self._readers.rows(_SQL["old_keys"], (before, limits.KEYS_PRUNED_MAX, *after)):
            pruned += self._writer.write(partial(_forget_keys, keys=old, before=before))
            after = old[-1]
        return pruned


def _forget_keys(connection: apsw.Connection, keys: Sequence[Row], before: Instant) -> int:
    changes = connection.total_changes()
    connection.executemany(_SQL["forget_key"], [(*key, before) for key in keys])
    return connection.total_changes() - changes
