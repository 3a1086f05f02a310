"""Older versions of episodes and concepts are kept as what differs from the version after them.

A version is folded in the transaction that lands the one after it, and every so many stand by themselves, so that few
others are read with an old one. Who changes or looks through the versions of a record has all of them stand by themselves
first (``unfold``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

import apsw

from lamina import limits
from lamina.kernel.canonical import compact
from lamina.kernel.records import Layer, Record
from lamina.store.blocks import load_blocks
from lamina.store.bodies import folded, is_folded, packed, texts_of, unpacked
from lamina.store.rows import BODY, Row, with_body
from lamina.store.sqlite.codec import json_list

__all__ = ["all_whole", "fold", "unfold", "whole"]

_SQL = load_blocks("lamina.store.sqlite")
_LAYERS: Final = frozenset({Layer.EPISODES, Layer.UNDERSTANDING})
_LAYER = 3


def fold(connection: apsw.Connection, landed: Sequence[Record]) -> None:
    """Fold the versions before those that landed. What is read here is what is stored: a version that was there stays."""
    newer: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for record in landed:
        if record.layer in _LAYERS and (record.version - 1) % limits.FOLDED_VERSIONS_MAX:
            newer[record.tenant_id].append((record.id, record.version))
    for tenant_id, places in newer.items():
        pairs = list(connection.execute(_SQL["versions_followed"], (tenant_id, compact(places))))
        connection.executemany(
            _SQL["pack_body"],
            [
                (*place, folded(unpacked(older), unpacked(after)))
                for *place, older, after in pairs
                if not is_folded(older) and not is_folded(after)
            ],
        )


def whole(rows: list[Row], read: Callable[[str, Row], Iterable[Row]]) -> list[Row]:
    """Rows of versions with bodies that can be read by themselves; without those that went meanwhile."""
    wanted: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for row in rows:
        if is_folded(row[BODY]):
            wanted[row[0]].append((row[1], row[2]))
    if not wanted:
        return rows
    texts: dict[tuple[str, str, int], str] = {}
    for tenant_id, places in wanted.items():
        # Each with its own body again: somebody may have written it anew since, and those after it.
        bindings = (tenant_id, compact(places), limits.FOLDED_VERSIONS_MAX)
        texts |= texts_of({(*place,): body for *place, body in read(_SQL["bodies_onward"], bindings)})
    return [
        with_body(row, texts[row[:3]]) if is_folded(row[BODY]) else row
        for row in rows
        if not is_folded(row[BODY]) or row[:3] in texts
    ]


def all_whole(rows: Sequence[Row]) -> list[Row]:
    """As ``whole``, of every version of some records."""
    if not any(is_folded(row[BODY]) for row in rows):
        return list(rows)
    texts = texts_of({row[:3]: row[BODY] for row in rows})
    return [with_body(row, texts[row[:3]]) for row in rows]


def unfold(connection: apsw.Connection, tenant_id: str, ids: Collection[str]) -> None:
    """Have every version of some records stand by itself."""
    rows = list(connection.execute(_SQL["versions_of_records"], (tenant_id, json_list(sorted(ids)))))
    connection.executemany(
        _SQL["pack_body"],
        [
            (*after[:3], packed(Layer(after[_LAYER]), after[BODY]))
            for before, after in zip(rows, all_whole(rows), strict=True)
            if is_folded(before[BODY])
        ],
    )
