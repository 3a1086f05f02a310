"""Instants in text and back, durations, intervals, and where a reader stands on both axes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.errors import Invalid
from lamina.kernel.time import (
    SECOND_US,
    Axes,
    Interval,
    SystemClock,
    day_or_instant,
    duration_us,
    from_datetime,
    instant,
    rfc3339,
    rfc3339_or_none,
    to_datetime,
)
from tables import every_row

FIRST = from_datetime(datetime(1, 1, 1, tzinfo=UTC))
LAST = from_datetime(datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
DAY = 86_400 * SECOND_US


@given(st.integers(min_value=FIRST, max_value=LAST))
def test_an_instant_survives_its_text(value: int) -> None:
    assert instant(rfc3339(value)) == value


@given(st.datetimes(timezones=st.just(UTC)))
def test_an_instant_agrees_with_a_datetime(moment: datetime) -> None:
    assert to_datetime(from_datetime(moment)) == moment


@every_row(
    ("text", "same_as"),
    [
        ("2026-05-13T15:42:00Z", "2026-05-13T15:42:00Z"),
        ("2026-05-13t15:42:00z", "2026-05-13T15:42:00Z"),
        ("2026-05-13 15:42:00Z", "2026-05-13T15:42:00Z"),
        ("2026-05-13T15:42:00+02:00", "2026-05-13T13:42:00Z"),
        ("2026-05-13T15:42:00-0530", "2026-05-13T21:12:00Z"),
        ("2026-05-13T15:42:00-00:00", "2026-05-13T15:42:00Z"),
        ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"),
        ("2026-05-13T15:42:00.5Z", "2026-05-13T15:42:00.500Z"),
        ("2026-05-13T15:42:00.120Z", "2026-05-13T15:42:00.120Z"),
        ("2026-05-13T15:42:00.000001Z", "2026-05-13T15:42:00.000001Z"),
        ("2026-05-13T15:42:00.123456999Z", "2026-05-13T15:42:00.123456Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
    ],
)
def test_rfc_3339_is_read_and_written_in_utc(text: str, same_as: str) -> None:
    assert rfc3339(instant(text)) == same_as


@every_row(
    "text",
    ["", "now", "2026", "2026-05-13", "2026-05", "2026-13-01", "2026-00-01", "2026-02-30", "2025-02-29", "2026-05-13T15:42Z",
     "2026-05-13T15:42:00", "2026-05-13T24:00:00Z", "2026-05-13T15:60:00Z", "2026-05-13T15:42:61Z",
     "2026-05-13T15:42:00+24:00", "2026-05-13T15:42:00+02:60", "2026-05-13T15:42:00.Z", "2026-05-13T15:42:00Z\n",
     " 2026-05-13T15:42:00Z", "2026-05-13T15:42:00.1234567890Z", "٢٠٢٦-05-13T15:42:00Z", "٢٠٢٦-05-13",
     "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "20260513T154200Z",
     "1778673600", "x" * 10_000],
)  # fmt: skip
def test_what_is_not_rfc_3339_is_refused_naming_the_field(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        instant(text, field="observed_at")
    assert caught.value.code == "INVALID_TIMESTAMP"
    assert caught.value.details["field"] == "observed_at"
    assert len(caught.value.message) < 300


@given(st.text(alphabet="0123456789-:.TZ+ ", max_size=30))
def test_whatever_is_read_can_be_written(text: str) -> None:
    try:
        value = instant(text)
    except Invalid:
        return
    assert instant(rfc3339(value)) == value


def test_none_passes_through() -> None:
    assert rfc3339_or_none(None) is None
    assert rfc3339_or_none(instant("2026-05-13T00:00:00Z")) == "2026-05-13T00:00:00Z"


def test_a_bound_may_be_a_date() -> None:
    """What a reader asks for; when something happened takes a time of day (seed 002, 3.5.3 and 12.2)."""
    assert rfc3339(day_or_instant("2026-05-13")) == "2026-05-13T00:00:00Z"
    assert rfc3339(day_or_instant("2026-05-13T01:00:00+01:00")) == "2026-05-13T00:00:00Z"
    with pytest.raises(Invalid):
        day_or_instant("2026-02-30", field="as_of")


def test_a_naive_datetime_is_a_bug_of_the_caller() -> None:
    with pytest.raises(AssertionError):
        from_datetime(datetime(2026, 1, 1))  # noqa: DTZ001 - the case under test


def test_the_system_clock_tells_utc_in_microseconds() -> None:
    assert abs(SystemClock().now() - from_datetime(datetime.now(UTC))) < 60 * SECOND_US


@every_row(
    ("text", "length"),
    [
        ("P30D", 30 * DAY), ("P3M", 90 * DAY), ("P1Y", 365 * DAY), ("P2W", 14 * DAY), ("PT5M", 300 * SECOND_US),
        ("PT36H", DAY + DAY // 2), ("P1DT1S", DAY + SECOND_US), ("PT0S", 0), ("P1M", 30 * DAY),
        ("P1Y2M3W4DT5H6M7S", (365 + 60 + 21 + 4) * DAY + (5 * 3600 + 6 * 60 + 7) * SECOND_US),
    ],
)  # fmt: skip
def test_a_duration_has_a_length(text: str, length: int) -> None:
    assert duration_us(text) == length


@every_row(
    "text",
    ["", "P", "PT", "P1DT", "30D", "P-1D", "-P1D", "P1.5D", "PT1D", "P1H", "P1D1Y", "p1d", "P1D ", "P1D\n", "P٣D",
     "P" + "9" * 70 + "D"],
)  # fmt: skip
def test_what_is_not_a_duration_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        duration_us(text, field="ttl")
    assert (caught.value.code, caught.value.details["field"]) == ("INVALID_DURATION", "ttl")


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ((0, 5), (5, 9), False), ((0, 6), (5, 9), True), ((0, None), (5, 9), True), ((None, 5), (5, None), False),
        ((None, 6), (5, None), True), ((None, None), (None, None), True), ((9, None), (None, 9), False),
        ((3, 4), (0, 9), True), ((0, 9), (3, 4), True),
    ],
)  # fmt: skip
def test_half_open_intervals_share_a_moment_or_not(
    one: tuple[int | None, int | None], other: tuple[int | None, int | None], shared: bool
) -> None:
    assert Interval(*one).overlaps(*other) is shared
    assert Interval(*other).overlaps(*one) is shared


@pytest.mark.parametrize(
    ("axes", "bounds", "seen"),
    [
        (Axes(10), (10, None), True), (Axes(10), (11, None), False), (Axes(10), (5, 10), False),
        (Axes(10), (5, 11), True), (Axes(10, superseded=True), (5, 10), True),
        (Axes(10, superseded=True), (11, None), False),
        (Axes(10, recorded_during=Interval(5, 8)), (5, None), True),
        (Axes(10, recorded_during=Interval(5, 8)), (8, None), False),
        (Axes(10, recorded_during=Interval(5, 8)), (4, None), False),
    ],
)  # fmt: skip
def test_a_version_is_seen_where_the_reader_stands(
    axes: Axes, bounds: tuple[int, int | None], seen: bool
) -> None:
    assert axes.sees_recorded(*bounds) is seen


@pytest.mark.parametrize(
    ("axes", "bounds", "seen"),
    [
        (Axes(0), (5, 6), True), (Axes(0, valid_at=5), (5, None), True), (Axes(0, valid_at=5), (None, 5), False),
        (Axes(0, valid_at=5), (None, 6), True), (Axes(0, valid_at=5), (6, None), False),
        (Axes(0, valid_during=Interval(5, 8)), (8, None), False),
        (Axes(0, valid_during=Interval(5, 8)), (None, 6), True), (Axes.at(5), (5, 6), True), (Axes.at(5), (4, 5), False),
    ],
)  # fmt: skip
def test_a_claim_is_wanted_where_the_reader_stands(
    axes: Axes, bounds: tuple[int | None, int | None], seen: bool
) -> None:
    assert axes.sees_valid(*bounds) is seen
