"""When a claim begins and ends, by the words of time beside it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from extraction_cases import say

from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser
from lamina.pipeline.extract.values import LiteralValue

pytestmark = pytest.mark.model

SAID_AT = datetime(2026, 11, 25, 14, 30, tzinfo=UTC)
OPEN = (None, None)
WORDS = {
    "since 2019": ("2019-01-01", None), "since about 2019": ("2019-01-01", None), "since at least 2019": ("2019-01-01", None),
    "since before 2019": OPEN, "for 18 months now": OPEN, "for five years": OPEN, "on weekends": OPEN,
    "from 2019 to 2021": ("2019-01-01", "2022-01-01"), "between 2019 and 2021": ("2019-01-01", "2022-01-01"),
}  # fmt: skip


@pytest.mark.parametrize("claim", ["I've lived in Rome {}.", "I've been vegetarian {}."])
@pytest.mark.parametrize("words", WORDS)
def test_a_state_begins_and_ends_as_it_was_told(parser: Parser, claim: str, words: str) -> None:
    extractor = RulesExtractor(find_times, parser=parser)
    (triple,) = extractor.extract([say(claim.format(words), observed_at=SAID_AT)])[0].triples
    begins, ends = triple.valid_from, triple.valid_to
    assert (begins and begins.date().isoformat(), ends and ends.date().isoformat()) == WORDS[words]


@pytest.mark.parametrize("words", ["every summer", "each May"])
def test_what_recurs_has_no_beginning(parser: Parser, words: str) -> None:
    extractor = RulesExtractor(find_times, parser=parser)
    (triple,) = extractor.extract([say(f"I've lived in Rome {words}.", observed_at=SAID_AT)])[0].triples
    assert (triple.valid_from, triple.valid_to) == (None, None)


@pytest.mark.parametrize(
    "words", ["in 35 minutes", "in a week and a half", "in one night", "the next day", "the day before"]
)
def test_what_is_past_does_not_begin_ahead(parser: Parser, words: str) -> None:
    extractor = RulesExtractor(find_times, parser=parser)
    (triple,) = extractor.extract([say(f"I finished a marathon {words}.", observed_at=SAID_AT)])[0].triples
    assert (triple.valid_from, triple.valid_to) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        "I've been living in Rome for a while now.", "I live in Rome now.", "I bought a lunchbox from the 70s.",
        "I restored a 1980s-era car.", "I have morning meetings.", "On Sundays I have my yoga class at 6:00 PM.",
        "I am from Tashkent, work in a bank till 18:00.",
    ],
)  # fmt: skip
def test_what_is_no_time_of_it_is_none(parser: Parser, text: str) -> None:
    extractor = RulesExtractor(find_times, parser=parser)
    for triple in extractor.extract([say(text, observed_at=SAID_AT)])[0].triples:
        assert triple.valid_from is None, triple


@pytest.mark.parametrize(
    "text",
    [
        "I play chess, about 1450 on lichess.", "I've got around 1800 followers.", "I weigh around 2000 grams.", "I bought my car for 2000.",
        "I sold more than 2000 books.",
    ],
)  # fmt: skip
def test_an_amount_is_no_year(parser: Parser, text: str) -> None:
    extractor = RulesExtractor(find_times, parser=parser)
    (triple,) = extractor.extract([say(text, observed_at=SAID_AT)])[0].triples
    assert (triple.valid_from, triple.valid_to) == (None, None)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("is tomorrow", "November 26"), ("is today", "November 25"), ("was yesterday", "November 24"), ("is on Saturday", "November 28"),
        ("is in June", "June"), ("is on a Sunday this year", None), ("is next week", None),
    ],
)  # fmt: skip
def test_a_birthday_is_a_day_of_a_month(parser: Parser, said: str, day: str | None) -> None:
    extractor = RulesExtractor(find_times, parser=parser)
    triples = extractor.extract([say(f"My birthday {said}.", observed_at=SAID_AT)])[0].triples
    assert [each.object.value for each in triples if isinstance(each.object, LiteralValue)] == (
        [day] if day else []
    )


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("I work at Acme from Monday.", "2026-11-30"), ("My rent is 900 euros from May.", "2027-05-01"), ("I lived in Rome from May.", "2026-05-01"),
        ("I love the ride after getting my bike serviced at Fox Cycles on March 10.", "2026-03-10"), ("I have an exam on Friday.", "2026-11-27"), ("I live in Rome from 2019.", "2019-01-01"),
    ],
)  # fmt: skip
def test_what_is_told_in_the_present_begins_ahead(parser: Parser, text: str, begins: str) -> None:
    extractor = RulesExtractor(find_times, parser=parser)
    (triple,) = extractor.extract([say(text, observed_at=SAID_AT)])[0].triples
    assert triple.valid_from is not None
    assert triple.valid_from.date().isoformat() == begins


def test_a_home_begins_on_the_day_of_the_move(parser: Parser) -> None:
    extractor = RulesExtractor(find_times, parser=parser)
    told = extractor.extract([say("I moved to Rome on April 2.", observed_at=SAID_AT)])[0].triples
    begins = {each.predicate: each.valid_from and each.valid_from.date().isoformat() for each in told}
    assert begins == {"moved_to": "2026-04-02", "lives_in": "2026-04-02"}
