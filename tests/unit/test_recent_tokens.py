"""Token vectors that were asked for lately: read once, bounded, and gone when their scope lost rows."""

from __future__ import annotations

from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import pytest

from given import ALICE, BOB, TENANT
from lamina.index.tokens import RecentTokens
from lamina.kernel.scopes import Scope


class Table:
    """Rows of ten bytes each; notes which were read."""

    def __init__(self) -> None:
        self.gone: set[int] = set()
        self.read: list[int] = []

    def tokens(self, tenant_id: str, rows: Collection[int]) -> dict[int, bytes]:
        self.read += sorted(rows)
        return {row: b"%010d" % row for row in rows if row not in self.gone}


@pytest.fixture
def table() -> Table:
    return Table()


def recent(table: Table, rows_max: int = 100) -> RecentTokens:
    return RecentTokens(table, bytes_max=10 * rows_max)  # type: ignore[arg-type] # all it asks for


def index(scope: Scope = ALICE, changes: int = 0) -> Any:
    return SimpleNamespace(tenant_id=TENANT, scope=scope, changes=changes)


def test_a_row_is_read_once(table: Table) -> None:
    tokens = recent(table)
    assert tokens.of(TENANT, [(index(), [1, 2])]) == {1: b"0000000001", 2: b"0000000002"}
    assert tokens.of(TENANT, [(index(), [2, 3]), (index(BOB), [4])]).keys() == {2, 3, 4}
    assert table.read == [1, 2, 3, 4]


def test_a_row_that_is_gone_is_left_out(table: Table) -> None:
    table.gone = {2}
    assert recent(table).of(TENANT, [(index(), [1, 2])]).keys() == {1}


def test_a_scope_that_lost_rows_is_read_anew_and_keeps_nothing_of_before(table: Table) -> None:
    tokens = recent(table)
    tokens.of(TENANT, [(index(), [1, 2]), (index(BOB), [3])])
    table.gone = {1}
    assert tokens.of(TENANT, [(index(changes=1), [1, 2]), (index(BOB), [3])]).keys() == {2, 3}
    assert table.read == [1, 2, 3, 1, 2]
    assert sum(len(kept.rows) for kept in tokens._kept.values()) == 2


def test_the_scope_asked_for_longest_ago_goes_first_and_then_the_oldest_rows(table: Table) -> None:
    tokens = recent(table, rows_max=3)
    tokens.of(TENANT, [(index(), [1, 2])])
    tokens.of(TENANT, [(index(BOB), [3, 4])])
    assert {scope: set(kept.rows) for (_, scope), kept in tokens._kept.items()} == {BOB: {3, 4}}
    tokens.of(TENANT, [(index(BOB), [5, 6])])
    assert {scope: set(kept.rows) for (_, scope), kept in tokens._kept.items()} == {BOB: {4, 5, 6}}
    assert tokens._bytes == 30
