"""Local time: what an offset is, how it is read and printed, and which day it makes of an instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.client.options import time_text
from lamina.errors import Invalid
from lamina.kernel.local import (
    LocalTime,
    day_text,
    local_bound,
    local_time,
    minute_text,
    offset_of,
    offset_text,
    to_local,
    whole_days,
)
from lamina.kernel.time import FIRST_INSTANT, LAST_INSTANT, SECOND_US, from_datetime, instant
from lamina.language.temporal import find_times
from lamina.pipeline.zones import offset_in
from tables import every_row

OFFSETS = st.integers(-1439, 1439)
INSTANTS = st.integers(FIRST_INSTANT, LAST_INSTANT)


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("2026-06-30T00:30:00+05:30", 330),
        ("2026-11-22T20:00:00-08:00", -480),
        ("2026-06-30T00:30:00.25-0330", -210),
        ("2026-06-30T00:30:00+00:00", 0),
        ("2026-06-30T00:30:00Z", None),
        ("2026-06-30t00:30:00z", None),
        ("2026-06-30T00:30:00-00:00", None),  # RFC 3339, 4.3: the local offset is not known
    ],
)
def test_the_offset_of_a_time_is_kept_beside_its_instant(text, offset):
    assert local_time(text) == LocalTime(instant(text), offset)


@pytest.mark.parametrize("text", ["5:30", "+5:30", "+24:00", "+05:60", "Z", "", "+05:30 "])
def test_what_is_no_offset_is_refused(text):
    with pytest.raises(Invalid) as refused:
        offset_of(text, field="observed_offset")
    assert (refused.value.code, refused.value.details) == ("INVALID_TIMESTAMP", {"field": "observed_offset"})


@given(OFFSETS)
def test_an_offset_is_read_as_it_is_printed(offset):
    assert offset_of(offset_text(offset)) == offset


@given(INSTANTS, st.none() | OFFSETS)
def test_a_local_time_is_read_as_it_is_printed_or_lies_at_an_end_of_the_calendar(at, offset):
    moment = LocalTime(at, offset)
    again = local_time(str(moment))
    assert again.at == at
    near_an_end = min(at - FIRST_INSTANT, LAST_INSTANT - at) < 86_400 * SECOND_US
    assert again.offset == offset or near_an_end
    assert from_datetime(to_local(at, offset)) == at


@given(INSTANTS, OFFSETS)
def test_days_of_an_offset_are_those_of_its_wall_clock(at, offset):
    wall = at + offset * 60 * SECOND_US
    if FIRST_INSTANT <= wall <= LAST_INSTANT:
        assert day_text(at, offset) == day_text(wall, None)


def test_days_and_minutes_are_printed_by_the_clock_that_told_them():
    at = instant("2026-06-29T19:00:00Z")
    assert (day_text(at, 330), day_text(at, None), day_text(at, -480)) == (
        "2026-06-30",
        "2026-06-29",
        "2026-06-29",
    )
    assert minute_text(at, 330) == "2026-06-30 00:30"
    assert minute_text(at, None) == minute_text(at, 0) == "2026-06-29 19:00"


def test_whole_days_are_compared_as_days_and_not_as_instants():
    pune = [local_time(f"2026-06-{day}T00:00:00+05:30") for day in (29, 30)]
    seattle = [local_time(f"2026-06-{day}T00:00:00-07:00") for day in (29, 30)]
    assert whole_days(*pune) == whole_days(*seattle) != None  # noqa: E711 - it is a pair of days
    assert whole_days(pune[0], seattle[1]) == whole_days(*pune)
    assert whole_days(pune[0], LocalTime(pune[1].at, None)) is None


def test_a_bound_that_is_a_bare_date_has_no_clock():
    assert local_bound("2026-06-29") == LocalTime(instant("2026-06-29T00:00:00Z"))
    assert local_bound("2026-06-29T00:00:00+05:30").offset == 330


def test_a_moment_beyond_the_calendar_is_its_end():
    assert from_datetime(datetime.max.replace(tzinfo=timezone(timedelta(hours=-8)))) == LAST_INSTANT
    assert from_datetime(datetime.min.replace(tzinfo=timezone(timedelta(hours=8)))) == FIRST_INSTANT


@every_row("offset", [-720, -480, -210, 0, 330, 345, 840])
@every_row("hour", [0, 1, 12, 23])
def test_words_for_days_are_read_by_the_clock_of_who_says_them(offset, hour):
    """Whatever instant it is elsewhere, the day before the wall's own is yesterday."""
    wall = datetime(2026, 6, 30, hour, 30, tzinfo=timezone(timedelta(minutes=offset)))
    days = {"yesterday": 29, "today": 30, "on Sunday": 28}
    for words, day in days.items():
        (match,) = find_times(f"I moved {words}.", wall)
        assert match.earliest == datetime(2026, 6, day, tzinfo=wall.tzinfo)
    (match,) = find_times("I will move tomorrow.", wall)
    assert (match.earliest, match.latest) == (
        datetime(2026, 7, 1, tzinfo=wall.tzinfo),
        datetime(2026, 7, 2, tzinfo=wall.tzinfo),
    )


@pytest.mark.parametrize(
    ("zone", "at", "offset"),
    [
        ("America/Los_Angeles", "2026-03-08T09:59:59Z", -480),
        ("America/Los_Angeles", "2026-03-08T10:00:00Z", -420),
        ("Europe/London", "2026-10-25T00:59:59Z", 60),
        ("Europe/London", "2026-10-25T01:00:00Z", 0),
        ("Asia/Kathmandu", "2026-01-01T00:00:00Z", 345),
        ("Australia/Lord_Howe", "2026-07-01T00:00:00Z", 630),  # half an hour of summer time
        ("Not/A_Zone", "2026-01-01T00:00:00Z", None),
    ],
)
def test_the_offset_of_a_zone_is_that_of_the_instant(zone, at, offset):
    assert offset_in(zone, instant(at)) == offset


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (datetime(2026, 6, 30, 0, 30, tzinfo=UTC), "2026-06-30T00:30:00Z"),
        (datetime(2026, 6, 30, 0, 30, tzinfo=timezone(timedelta(hours=5.5))), "2026-06-30T00:30:00+05:30"),
        ("2026-06-30T00:30:00+05:30", "2026-06-30T00:30:00+05:30"),
    ],
)
def test_a_client_sends_a_datetime_with_its_clock_and_plain_utc_without_one(value, text):
    assert time_text(value) == text
