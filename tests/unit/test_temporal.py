"""English time expressions: what is found, what it means, and that no text breaks the reader."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamina.language.temporal as temporal
from lamina.language.temporal import (
    TemporalMatch,
    UnparseableTemporal,
    find_times,
    parse_window,
    question_window,
)
from lamina.language.temporal.calendar import HOLIDAYS, add_months, easter
from lamina.language.temporal.finder import TEXT_CHARS_MAX
from lamina.language.temporal.lexicon import FREQUENCIES, GATE, MONTHS, PARTS, UNITS, WEEKDAYS

NOW = datetime(2024, 3, 13, 15, 30, tzinfo=UTC)  # a Wednesday


def only(text: str, now: datetime = NOW) -> TemporalMatch:
    (match,) = find_times(text, now)
    return match


def days(text: str, now: datetime = NOW) -> tuple[str, str]:
    match = only(text, now)
    assert match.earliest is not None
    assert match.latest is not None
    return match.earliest.date().isoformat(), match.latest.date().isoformat()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Shipped on 2022-11-30.", "2022-11-30"),
        ("She was born 7 May 1991", "1991-05-07"),
        ("signed on the 21st of October, 2019", "2019-10-21"),
        ("paid on May 7th, 2023", "2023-05-07"),
        ("due 5/7/2023", "2023-05-07"),
        ("due 25/7/2023", "2023-07-25"),
        ("am 3.8.2021 eingereicht", "2021-08-03"),
        ("on twenty-first June 2020 we met", "2020-06-21"),
        ("yesterday was fine", "2024-03-12"),
        ("the day before yesterday", "2024-03-11"),
        ("I moved two weeks ago", "2024-02-28"),
        ("I start in 3 days", "2024-03-16"),
        ("a couple of months ago", "2024-01-13"),
        ("it broke last Friday", "2024-03-08"),
        ("see you next Friday", "2024-03-22"),
        ("see you this Friday", "2024-03-15"),
        ("the coming Thursday", "2024-03-14"),
        ("the Sunday before 25 May 2023", "2023-05-21"),
        ("the Monday after Easter 2021", "2021-04-05"),
        ("three days after 28 February 2024", "2024-03-02"),
        ("the first Monday of June 2023", "2023-06-05"),
        ("the last Thursday of May 2022", "2022-05-26"),
        ("Thanksgiving 2022 was loud", "2022-11-24"),
        ("the day after Christmas 2020", "2020-12-26"),
        ("Tuesday of last week", "2024-03-05"),
        ("the Saturday before last", "2024-03-02"),
        ("Friday the 8th", "2024-03-08"),
    ],
)
def test_day_is_found_and_resolved(text: str, day: str) -> None:
    match = only(text)
    assert match.kind == "date"
    assert match.earliest == datetime.fromisoformat(day).replace(tzinfo=UTC)
    assert match.latest == match.earliest + timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("back in 2019 we had no dog", "2019-01-01", "2020-01-01"),
        ("this week", "2024-03-11", "2024-03-18"),
        ("last month", "2024-02-01", "2024-03-01"),
        ("next year", "2025-01-01", "2026-01-01"),
        ("the week before last", "2024-02-26", "2024-03-04"),
        ("last weekend", "2024-03-09", "2024-03-11"),
        ("last summer", "2023-06-01", "2023-09-01"),
        ("the winter of 2021", "2021-12-01", "2022-03-01"),
        ("from 3 to 5 May 2022", "2022-05-03", "2022-05-06"),
        ("between March and June 2020", "2020-03-01", "2020-07-01"),
        ("May 3-5, 2022", "2022-05-03", "2022-05-06"),
        ("from 2014 to 2018", "2014-01-01", "2019-01-01"),
        ("mid-July 2021", "2021-07-11", "2021-07-21"),
        ("early 2022", "2022-01-01", "2022-05-01"),
        ("the 90s", "1990-01-01", "2000-01-01"),
        ("Q3 2023", "2023-07-01", "2023-10-01"),
        ("the first week of 2015", "2014-12-29", "2015-01-05"),
        ("the week of 4 July 2023", "2023-07-03", "2023-07-10"),
        ("December last year", "2023-12-01", "2024-01-01"),
        ("the last two quarters", "2023-07-01", "2024-01-01"),
        ("in the past month", "2024-02-13", "2024-03-13"),
        ("two weekends ago", "2024-03-02", "2024-03-04"),
        ("two weekends later", "2024-03-23", "2024-03-25"),
        ("in the month of May", "2023-05-01", "2023-06-01"),
    ],
)
def test_stretch_of_days_is_half_open(text: str, first: str, after: str) -> None:
    assert only(text).kind == "daterange"
    assert days(text) == (first, after)


@pytest.mark.parametrize(
    ("text", "kind", "start"),
    [
        ("call me at 3pm", "time", "15:00"),
        ("5:30 in the evening", "time", "17:30"),
        ("half past seven in the morning", "time", "07:30"),
        ("quarter to five this is", "time", "16:45"),
        ("lunch is at noon", "time", "12:00"),
        ("yesterday at 21:15", "datetime", "21:15"),
        ("tomorrow at eight in the morning", "datetime", "08:00"),
        ("tonight", "datetimerange", "20:00"),
        ("this morning", "datetimerange", "08:00"),
        ("from 5 to 6pm", "timerange", "17:00"),
        ("Monday from 9 to 10:30 am", "datetimerange", "09:00"),
    ],
)
def test_time_of_day(text: str, kind: str, start: str) -> None:
    match = only(text)
    assert match.kind == kind
    assert f"{match.earliest:%H:%M}" == start


@pytest.mark.parametrize(
    ("text", "timex"),
    [
        ("for three weeks", "P3W"),
        ("an hour and a half", "PT1.5H"),
        ("it lasted two years and a month", "P2Y"),
        ("half a day", "P0.5D"),
    ],
)
def test_length_of_time(text: str, timex: str) -> None:
    found = find_times(text, NOW)[0]
    assert (found.kind, found.timex, found.earliest) == ("duration", timex, None)


@pytest.mark.parametrize(
    ("text", "timex"),
    [
        ("every Tuesday", "XXXX-WXX-2"),
        ("twice a week", "P1W"),
        ("every other day", "P2D"),
        ("we meet on Fridays at 9am", "XXXX-WXX-5T09"),
        ("paid monthly", "P1M"),
        ("three times a year", "P1Y"),
    ],
)
def test_recurrence(text: str, timex: str) -> None:
    match = only(text)
    assert (match.kind, match.timex, match.earliest, match.latest) == ("set", timex, None, None)


def test_open_sides_stay_open() -> None:
    since, before = only("since 4 May 2022"), only("before 2010")
    assert (since.earliest, since.latest) == (datetime(2022, 5, 4, tzinfo=UTC), None)
    assert (before.earliest, before.latest) == (None, datetime(2010, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("We met on Friday", "2024-03-08"),
        ("I will see her on Friday", "2024-03-15"),
        ("I'm flying out on Friday", "2024-03-15"),
        ("We were going to meet on Friday", "2024-03-08"),
        ("He called. I plan to leave on Friday", "2024-03-15"),
        ("My birthday was on 2 April", "2023-04-02"),
        ("My birthday will be on 2 April", "2024-04-02"),
        ("We went hiking over the weekend.", "2024-03-09"),
        ("We're going hiking over the weekend.", "2024-03-16"),
        ("This weekend I painted the kitchen.", "2024-03-09"),
        ("dinner with mom the weekend", "2024-03-16"),
        ("I saw her two days before Christmas", "2023-12-23"),
        ("I moved 3 weeks after Labor Day", "2023-09-25"),
        ("two days before Christmas", "2024-12-23"),
        ("I'll be back two weeks after Monday", "2024-04-01"),
        ("I will send it on Wednesday", "2024-03-13"),  # which is today
        ("I'm flying on March 13", "2024-03-13"),
        ("We will meet in March", "2024-03-01"),
    ],
)
def test_tense_chooses_between_past_and_coming(text: str, day: str) -> None:
    match = only(text)
    assert f"{match.earliest:%Y-%m-%d}" == day
    assert len(match.readings) == 2


@pytest.mark.parametrize(
    ("text", "grain"),
    [("3 days ago", "day"), ("two weeks ago", "week"), ("a month ago", "month"), ("in ten years", "year")],
)
def test_counted_date_is_as_fine_as_the_unit_it_was_counted_in(text: str, grain: str) -> None:
    assert only(text).grain == grain


@pytest.mark.parametrize(
    "told", ["I read the book and finished it in {}", "I haven't seen her in {}", "In {} I lost ten pounds"]
)
def test_what_is_past_took_so_long(told: str) -> None:
    match = only(told.format("three months"))
    assert (match.kind, match.timex) == ("duration", "P3M")


@pytest.mark.parametrize(
    "told",
    ["I'll be back in {}", "The exam is in {}", "I've booked a flight in {}", "I was asked to come in {}"],
)
def test_what_is_to_come_is_so_far_away(told: str) -> None:
    assert days(told.format("three months")) == ("2024-06-13", "2024-06-14")


def test_vague_amount_is_approximate() -> None:
    assert only("a few days ago").approximate
    assert not only("3 days ago").approximate


def test_offsets_point_into_the_text() -> None:
    text = "İzmir – we’ll land there on 3 May 2023, then rest for two weeks."
    assert [text[m.start : m.end] for m in find_times(text, NOW)] == ["3 May 2023", "two weeks"]
    assert all(m.text == text[m.start : m.end] for m in find_times(text, NOW))


@pytest.mark.parametrize(
    "text",
    [
        "You may march on; I second that, mark my words.",
        "April said the sun is up and fall asleep",
        "version 3.11.2 costs $2000 and 10.5 percent",
        "call +1 206-555-1212 or 123-12-1234",
        "a second chance, my 30th try, 2 of 5 cats",
        "ticket ABC-12345-A1B2C3 has 2015 items",
        "it happened 5000 years ago",
        "a quiet weekend, and what a memorable night",
        "this may be the last I hear",
        "32/13/2020",
        "a shutter of 1/1000",
        "the quiet part of the year",
    ],
)
def test_words_that_only_look_like_time(text: str) -> None:
    assert [m.text for m in find_times(text, NOW) if m.kind != "duration"] == []


def test_a_house_number_is_no_hour() -> None:
    assert find_times("My office is at 22 Elm Road.", NOW) == []
    assert days("We meet on Friday at 18 Park Avenue.") == days("We meet on Friday.")
    assert days("I see Tom at 7 Eleven tomorrow") == ("2024-03-14", "2024-03-15")
    assert [only(text).text for text in ("Call me at 9. Tom", "at 9 I leave", "at 9 CET")] == ["at 9"] * 3


@pytest.mark.parametrize("text", ["My last day at work is soon", "It is the last day", "my last week there"])
def test_the_last_one_of_something_is_not_the_one_before_today(text: str) -> None:
    assert find_times(text, NOW) == []
    assert days("What broke in the last day?") == ("2024-03-12", "2024-03-13")
    assert days("I saw her last week.") == ("2024-03-04", "2024-03-11")


def test_impossible_day_is_named_but_has_no_interval() -> None:
    match = only("on Feb 30 2023")
    assert (match.earliest, match.latest, match.readings) == (None, None, ())


def test_results_keep_the_zone_of_the_reference() -> None:
    zone = timezone(timedelta(hours=-5))
    match = only("yesterday", datetime(2024, 3, 13, 1, 0, tzinfo=zone))
    assert match.earliest == datetime(2024, 3, 12, tzinfo=zone)


def test_naive_reference_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        find_times("today", NOW.replace(tzinfo=None))
    with pytest.raises(ValueError, match="zone"):
        parse_window("today", NOW.replace(tzinfo=None))


def test_day_first_order_is_an_argument() -> None:
    (match,) = find_times("on 5/7/2023", NOW, day_first=True)
    assert match.timex == "2023-07-05"


def test_stated_weekday_decides_the_order() -> None:
    assert only("on Thursday 6/7/2023").timex == "2023-07-06"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("phrase", "valid_from", "valid_to"),
    [
        ("last 30 days", "2024-02-12T15:30", "2024-03-13T15:30"),
        ("Last 2 Weeks", "2024-02-28T15:30", "2024-03-13T15:30"),
        ("the last 6 months", "2023-09-13T15:30", "2024-03-13T15:30"),
        ("last 3 years", "2021-03-13T15:30", "2024-03-13T15:30"),
        ("last 1 day", "2024-03-12T15:30", "2024-03-13T15:30"),
        ("last day", "2024-03-12", "2024-03-13"),
        ("in the last day", "2024-03-12", "2024-03-13"),
        ("yesterday", "2024-03-12", "2024-03-13"),
        ("  this week ", "2024-03-11", "2024-03-18"),
        ("between 2024-01-01 and 2024-01-31", "2024-01-01", "2024-02-01"),
        ("between March 3 and March 7, 2023", "2023-03-03", "2023-03-08"),
        ("since January 2024", "2024-01-01", "2024-03-13T15:30"),
        ("since last Monday", "2024-03-11", "2024-03-13T15:30"),
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("on Friday", "2024-03-08", "2024-03-09"),
        (
            "between 2024-01-01T10:00:00Z and 2024-01-02T12:30:00+02:00",
            "2024-01-01T10:00",
            "2024-01-02T10:30",
        ),
        ("since 2024-01-01T10:00Z", "2024-01-01T10:00", "2024-03-13T15:30"),
        ("last summer.", "2023-06-01", "2023-09-01"),
    ],
)
def test_whole_phrase_names_a_window(phrase: str, valid_from: str, valid_to: str) -> None:
    assert parse_window(phrase, NOW) == (at(valid_from), at(valid_to))


def test_open_phrase_reaches_to_the_ends_of_time() -> None:
    assert parse_window("before 2020", NOW) == (datetime.min.replace(tzinfo=UTC), at("2020-01-01"))
    assert parse_window("after 2020", NOW) == (at("2021-01-01"), datetime.max.replace(tzinfo=UTC))


@pytest.mark.parametrize(
    "phrase",
    [
        "",
        "soon",
        "cats yesterday",
        "yesterday and cats",
        "every Tuesday",
        "three weeks",
        "last",
        "x" * 5000,
        "last 0 days",
        "Feb 30",
    ],
)
def test_other_phrases_are_refused(phrase: str) -> None:
    with pytest.raises(UnparseableTemporal):
        parse_window(phrase, NOW)


def test_own_phrase_wins_whatever_its_case() -> None:
    quarter = (at("2026-07-01T00:00:00Z"), at("2026-10-01T00:00:00Z"))
    phrases = {"fiscal Q3": quarter, "yesterday": quarter}
    assert parse_window("FISCAL q3", NOW, phrases=phrases) == quarter
    assert parse_window("Yesterday", NOW, phrases=phrases) == quarter
    with pytest.raises(UnparseableTemporal):
        parse_window("in fiscal q3 or so", NOW, phrases=phrases)


@pytest.mark.parametrize(
    ("question", "valid_from", "valid_to"),
    [
        ("What did we decide last month?", "2024-02-01", "2024-03-01"),
        ("Where did Ana go in May 2023?", "2023-05-01", "2023-06-01"),
        ("When did we meet in May 2023?", "2023-05-01", "2023-06-01"),
        ("What changed between June and July 2022?", "2022-06-01", "2022-08-01"),
        ("Did I see her on 3 or 9 May 2021, or on 11 May 2021?", "2021-05-09", "2021-05-12"),
    ],
)
def test_question_that_names_its_window(question: str, valid_from: str, valid_to: str) -> None:
    window = question_window(question, NOW)
    assert window is not None
    assert (window.valid_from, window.valid_to) == (at(valid_from), at(valid_to))


@pytest.mark.parametrize(
    "question",
    [
        "When did she move to Lisbon?",
        "How long was the trip, three weeks?",
        "What does he do every Tuesday?",
        "What time is lunch, at 3pm?",
        "Which city do I live in now?",
    ],
)
def test_question_that_names_no_window(question: str) -> None:
    assert question_window(question, NOW) is None


def test_question_by_a_coarse_count_allows_for_it() -> None:
    window = question_window("What did he do two years ago?", NOW)
    assert window is not None
    assert (window.valid_from, window.valid_to) == (at("2021-09-11T12:00"), at("2022-09-12T12:00"))


def test_question_before_a_time_is_open_towards_the_past() -> None:
    window = question_window("What did he do before the summer of 2022?", NOW)
    assert window is not None
    assert (window.valid_from, window.valid_to) == (None, at("2022-06-01"))


WORDS = st.sampled_from(
    sorted(MONTHS)
    + sorted(WEEKDAYS)
    + sorted(UNITS)
    + sorted(PARTS)
    + sorted(FREQUENCIES)
    + [
        "last",
        "next",
        "this",
        "the",
        "of",
        "in",
        "on",
        "at",
        "from",
        "to",
        "between",
        "and",
        "before",
        "after",
        "since",
        "until",
        "ago",
        "later",
        "first",
        "3rd",
        "31",
        "30",
        "0",
        "9999",
        "2023",
        "12:30",
        "3pm",
        "5/7/2023",
        "29.2.",
        "-",
        ",",
        ".",
        "'",
        "half",
        "quarter",
        "every",
        "a",
        "few",
        "couple",
        "99999",
        "twenty",
        "year",
        "24",
        "60",
        "end",
        "mid",
        "early",
        "christmas",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=14), st.datetimes(timezones=st.just(UTC)))
def test_any_sequence_of_time_words_is_read_without_error(words: list[str], now: datetime) -> None:
    text = " ".join(words)
    end = 0
    for match in find_times(text, now):
        assert end <= match.start < match.end <= len(text)
        assert match.earliest is None or match.latest is None or match.earliest <= match.latest
        end = match.end


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_without_error(text: str) -> None:
    for match in find_times(text, NOW):
        assert match.text == text[match.start : match.end]


@given(st.integers(1, 99), st.sampled_from(["day", "week"]))
def test_ago_and_ahead_mirror_each_other(count: int, unit: str) -> None:
    past, coming = only(f"{count} {unit}s ago"), only(f"in {count} {unit}s")
    assert past.earliest is not None
    assert coming.earliest is not None
    midnight = NOW.replace(hour=0, minute=0)
    assert midnight - past.earliest == coming.earliest - midnight


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1 ",
        "in ",
        "the day before ",
        "1-",
        "a couple of ",
        "May ",
        "5/",
        "from 3 to ",
        "'",
        "and a half ",
        "last ",
    ],
)
def test_hostile_repetition_costs_no_more_than_its_length(piece: str) -> None:
    def cost(size: int) -> float:
        text = (piece * size)[:size]
        begun = time.process_time()
        find_times(text, NOW)
        return time.process_time() - begun

    cost(500)
    small = min(cost(2_500) for _ in range(3))
    assert (
        cost(TEXT_CHARS_MAX * 10) < 0.25 + 8 * 8 * small
    )  # eight times the text; a quadratic reader would pass 64


def test_the_gate_knows_every_name() -> None:
    assert set(MONTHS) | set(WEEKDAYS) | set(UNITS) | set(PARTS) <= GATE


def test_holidays_fall_where_the_calendar_has_them() -> None:
    assert [easter(y).isoformat() for y in (1961, 2000, 2024, 2038)] == [
        "1961-04-02",
        "2000-04-23",
        "2024-03-31",
        "2038-04-25",
    ]
    assert all(rule(2024).year == 2024 for rule in HOLIDAYS.values())


def test_month_end_is_kept_inside_the_month() -> None:
    assert add_months(datetime(2024, 1, 31), 1) == datetime(2024, 2, 29)  # noqa: DTZ001  # wall-clock arithmetic


def test_exports_are_what_is_listed() -> None:
    assert temporal.__all__ == sorted(temporal.__all__)
    assert all(hasattr(temporal, name) for name in temporal.__all__)


@pytest.mark.parametrize(
    "text", ["at 00:30", "from 00:30 to 02:00", "1970-01-01T00:00:00.000Z", "00:00:00.000Z."]
)
def test_the_hour_after_midnight_is_read(text: str) -> None:
    assert find_times(text, datetime(2026, 5, 13, 12, tzinfo=UTC))
