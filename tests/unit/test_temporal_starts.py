"""What the tables of beginnings leave out is read by no rule."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from lamina.language.temporal import anchored, clocks, dates, durations, grammar, moments, relative
from lamina.language.temporal.lexicon import STARTERS
from lamina.language.temporal.starts import STARTS, Starts
from lamina.language.temporal.tokens import DIGITS, TokenizedText

NOW = datetime(2026, 5, 13, 12, tzinfo=UTC)
GATED: list[tuple[Callable[[TokenizedText, int], object], Starts]] = [
    (anchored.anchored, STARTS["ANCHORED"]),
    (anchored.any_date, STARTS["ANY_DATE"]),
    (anchored.partial_period, STARTS["PARTIAL_PERIOD"]),
    (clocks.clock_at, STARTS["CLOCK"]),
    (clocks.hours_at, STARTS["HOURS"]),
    (clocks.part_at, STARTS["PART_OF_DAY"]),
    (dates.calendar_date, STARTS["CALENDAR_DATE"]),
    (durations.length_at, STARTS["LENGTH"]),
    (durations.set_at, STARTS["SET"]),
    (grammar.date_range, STARTS["DATE_RANGE"]),
    (moments.moment, STARTS["MOMENT"]),
    (moments.of_today, STARTS["OF_TODAY"]),
    (moments.time_piece, STARTS["TIME_PIECE"]),
    (relative.nth_of, STARTS["NTH_OF"]),
    (relative.plain_date, STARTS["PLAIN_DATE"]),
    (relative.shifted, STARTS["SHIFTED"]),
]
_MORE_WORDS = (
    "whole entire calendar current following dozen good more other full business prior up ever these those time times "
    "hundred st th nd of and ' - , . / : @ ( 3 07 12 19:30 2024 1990s '87 '90s Q3 H1 w/c 10d 5/7/2023 4.5 2024-02-03"
)
_WORDS = [*sorted(STARTERS), *_MORE_WORDS.split()]


def _texts(count: int) -> list[str]:
    draw = random.Random(7)
    return [
        "".join(f"{draw.choice(_WORDS)}{draw.choice(('', ' ', ' ', ' '))}" for _ in range(14))
        for _ in range(count)
    ]


def _begins(reading: TokenizedText, i: int, table: Starts) -> bool:
    behind = table.get(reading.keys[i], frozenset())
    return behind is None or reading.keys[i + 1] in behind


@pytest.mark.parametrize(("rule", "table"), GATED, ids=[rule.__name__ for rule, _ in GATED])
def test_no_rule_reads_what_its_table_leaves_out(
    rule: Callable[[TokenizedText, int], object], table: Starts
) -> None:
    ungated = rule.__wrapped__  # type: ignore[attr-defined]  # functools.wraps sets it
    left_out = 0
    for text in _texts(120):
        reading = TokenizedText(text, NOW)
        for i in range(reading.size):
            if not _begins(reading, i, table):
                left_out += 1
                assert _read(ungated, reading, i) is None, (text, reading.words[i : i + 4])
    assert left_out > 100


def test_no_expression_begins_where_the_table_has_none() -> None:
    for text in _texts(400):
        reading = TokenizedText(text, NOW)
        for i in range(reading.size):
            starter = reading.words[i] in STARTERS or reading.keys[i] == DIGITS
            if starter and not _begins(reading, i, STARTS["EXPRESSION"]):
                assert _read(grammar.expression, reading, i) is None, (text, reading.words[i : i + 4])


def _read(rule: Callable[[TokenizedText, int], object], reading: TokenizedText, i: int) -> object:
    try:
        return rule(reading, i)
    except (ValueError, OverflowError):  # beyond the calendar
        return None
