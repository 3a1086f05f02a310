"""Having nothing of deleted rows left in the file.

Rows are overwritten as they go (``PRAGMA secure_delete``), but two things outlast them. The write-ahead file has every page as
it was, until it is emptied. And pages keep bytes of rows that moved elsewhere (``gaps.py``).
"""

from __future__ import annotations

import contextlib
import logging
import time
from pathlib import Path

import apsw

from lamina import limits
from lamina.store.blocks import load_blocks
from lamina.store.ports.traces import Scrubbed
from lamina.store.sqlite.connection import Writer, open_connection, pragma_number, translated
from lamina.store.sqlite.gaps import clear_gaps, mostly_moved

__all__ = ["scrub"]

_SQL = load_blocks("lamina.store.sqlite")
_LOG = logging.getLogger("lamina.store")
_INCREMENTAL = 2
_AGAIN_S = 0.1


def scrub(path: Path, writer: Writer) -> Scrubbed:
    """Mirrors ``Traces.scrub``: give free pages back, empty the write-ahead file."""
    # Pages are flushed as they are moved or cleared, and a commit that only says so needs to outlast nothing.
    with translated(), contextlib.closing(open_connection(path, durable=False)) as connection:
        rewritten = pragma_number(connection, "auto_vacuum") != _INCREMENTAL
        if rewritten:
            _LOG.info("the database is written anew, once, so that its free pages hold nothing of before")
            connection.execute("VACUUM").fetchall()
        freed = _free(connection, writer)
        with contextlib.closing(open_connection(path, durable=False)) as mover:
            cleared = clear_gaps(path, connection, mover)
        emptied = _empty_log(connection)
    return Scrubbed(0, freed, rewritten, emptied and cleared)


def _free(connection: apsw.Connection, writer: Writer) -> int:
    """Give the free pages at the end back to the system; how many there were."""
    before = left = pragma_number(connection, "freelist_count")
    while left:
        writer.write(_freed)
        now = pragma_number(connection, "freelist_count")
        if now >= left:
            break  # others free pages as fast
        left = now
    return before - left


def _freed(connection: apsw.Connection) -> None:
    connection.execute(f"PRAGMA incremental_vacuum({limits.FREED_PAGES})").fetchall()


def _empty_log(connection: apsw.Connection) -> bool:
    for tries in range(limits.LOG_EMPTIED_TRIES):
        # Most is moved while others write; what they wrote meanwhile is little.
        if not mostly_moved(connection) and tries < limits.LOG_EMPTIED_TRIES // 2:
            time.sleep(_AGAIN_S)
            continue
        ((busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(truncate)").fetchall()
        if not busy:
            return True
        time.sleep(_AGAIN_S)
    return False
