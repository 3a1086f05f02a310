"""Audit rows in few bytes: what the columns of ``audit`` hold, and what they held.

Hashes and ids are their bytes, and words that come with nearly every call a byte each; a method and a path that their endpoint says are
empty blobs, and so is the hash of the row before, which that row has. What is text is what it says: so earlier releases wrote all of it,
and so is what has no short form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lamina.kernel.audit import GENESIS
from lamina.kernel.ids import Prefix
from lamina.store.rows import Row
from lamina.store.sqlite.digits import hash_of, id_of, stored_hash, stored_id
from lamina.store.sqlite.words import stored_word, word_of

__all__ = ["audit_row", "read_audit"]

_SAID_ELSEWHERE: Final = b""

_HASHES: Final = (12, 13, 25)
"""The columns of ``audit`` that hold hashes, but for that of the row before."""
_IDS: Final = ((1, Prefix.AUDIT), (17, Prefix.EVENT), (20, Prefix.REQUEST))
"""Those that hold ids of one namespace each."""
_WORDED: Final = (6, 7, 8, 9)
_ENDPOINT, _METHOD, _PATH, _GDPR, _PREVIOUS = 6, 10, 11, 22, 24
_COLUMNS: Final = 27


def audit_row(row: Sequence[Any]) -> Row:
    """The row as it is stored. What retention keeps for ever says itself what stood before it, since that row may go."""
    columns = list(row)
    if columns[_ENDPOINT] == f"{columns[_METHOD]} {columns[_PATH]}":
        columns[_METHOD] = columns[_PATH] = _SAID_ELSEWHERE
    for at in _WORDED:
        columns[at] = stored_word(columns[at])
    for at in _HASHES:
        columns[at] = stored_hash(columns[at])
    for at, prefix in _IDS:
        if columns[at] is not None:
            columns[at] = stored_id(columns[at], prefix)
    columns[_PREVIOUS] = stored_hash(columns[_PREVIOUS]) if columns[_GDPR] else _SAID_ELSEWHERE
    return tuple(columns)


def read_audit(row: Row) -> Row:
    """The columns of a row as they were made; the hash of the row before it may stand behind them. Of a damaged file they need not be
    what they were."""
    columns = list(row[:_COLUMNS])
    for at in _HASHES:
        columns[at] = hash_of(columns[at])
    for at, prefix in _IDS:
        columns[at] = id_of(columns[at], prefix)
    for at in _WORDED:
        columns[at] = word_of(columns[at])
    method, _, path = str(columns[_ENDPOINT]).partition(" ")
    columns[_METHOD] = _unless_elsewhere(columns[_METHOD], method)
    columns[_PATH] = _unless_elsewhere(columns[_PATH], path)
    before = hash_of(row[_COLUMNS]) if len(row) > _COLUMNS and row[_COLUMNS] is not None else GENESIS
    columns[_PREVIOUS] = before if columns[_PREVIOUS] == _SAID_ELSEWHERE else hash_of(columns[_PREVIOUS])
    return tuple(columns)


def _unless_elsewhere(stored: Any, said: str) -> Any:  # Any: as in ``word_of``
    return said if stored == _SAID_ELSEWHERE else word_of(stored)
