"""Looking for wanted rows, page by page."""

from __future__ import annotations

from lamina.recall.layers.pages import scan

ROWS = list(range(1000))


def after(last: int | None, count: int) -> list[int]:
    start = 0 if last is None else last + 1
    return ROWS[start : start + count]


def test_a_page_knows_whether_there_is_more() -> None:
    assert scan(after, 1000).last is None
    page = scan(after, 999)
    assert (len(page.rows), page.last) == (999, 998)


def test_pages_of_wanted_rows_join_without_a_gap() -> None:
    found: list[int] = []
    last: int | None = None
    while True:
        start = last
        page = scan(
            lambda row, count, start=start: after(start if row is None else row, count),
            7,
            wanted=lambda row: row % 30 == 0,
        )
        found += page.rows
        last = page.last
        if last is None:
            break
    assert found == ROWS[::30]
