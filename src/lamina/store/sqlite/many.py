"""Many rows by few statements.

Each step of a statement gives the interpreter's lock away and has to win it back from the threads that serve requests: one
statement for many rows costs a busy server far less than many for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any, Final

import apsw

from lamina.store.rows import Row

__all__ = ["inserted", "put_rows"]

_VALUES: Final = re.compile(r"VALUES\s*(\([^()]*\))")
_BOUND: Final = re.compile(r"\?(\d*)")
_SIZES: Final = (32, 16, 8, 7, 6, 5, 4, 3, 2, 1)
"""So many rows at once: few sizes, so that each statement stays prepared, and each of the small ones, which most groups have."""


def put_rows(connection: apsw.Connection, sql: str, rows: Sequence[Row]) -> None:
    """Put rows by a statement that inserts one, whose bound values stand in its VALUES in their order and nowhere else."""
    if len(rows) == 1:
        connection.execute(sql, rows[0])
        return
    for _ in inserted(connection, sql, rows):
        pass


def inserted(connection: apsw.Connection, sql: str, rows: Sequence[Row]) -> Iterator[int]:
    """As ``put_rows``; after each statement, how many rows are in so far."""
    done = 0
    for size, statement in _statements(sql):
        while len(rows) - done >= size:
            values: tuple[Any, ...] = tuple(chain.from_iterable(rows[done : done + size]))
            connection.execute(statement, values)
            done += size
            yield done


@cache
def _statements(sql: str) -> tuple[tuple[int, str], ...]:
    match = _VALUES.search(sql)
    assert match is not None, "a statement that inserts has its VALUES"
    numbers = _BOUND.findall(match[1])
    assert numbers in ([""] * len(numbers), [str(number) for number in range(1, len(numbers) + 1)]), (
        "the values of a row are bound in their order"
    )
    row = _BOUND.sub("?", match[1])
    before, behind = sql[: match.start()], sql[match.end() :]
    assert "?" not in behind, "nothing is bound behind the rows"
    return tuple((size, f"{before}VALUES{', '.join([row] * size)}{behind}") for size in _SIZES)
