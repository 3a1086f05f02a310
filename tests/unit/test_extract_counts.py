"""Numbers that count something, and those that do not: behind a name, in a time, of money, or not read whole."""

from __future__ import annotations

import pytest
from extraction_cases import find_times, say, short

from lamina.pipeline.extract.amounts import number_of_words
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("200", 200), ("1,500", 1500), ("2.5 million", 2_500_000), ("three", 3), ("$300", 300),
        ("hundred", 100),
        ("twelve hundred", 1200),
        ("a", None), ("", None), ("and five", None),
        ("three hundred and", None), ("five and six", None), ("two three", None), ("2 3", None), ("twenty twelve", None), ("eight fifty", None),
        ("twenty ten", None), ("three hundred 20", None), ("two thousand two thousand", None),
        ("one million thousand", None), ("three hundred and and five", None), ("five thirty", None), ("thousand", None),
    ],
)  # fmt: skip
def test_a_number_is_read_whole_or_not_at_all(text: str, number: float | None) -> None:
    assert number_of_words(text) == number


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def read(extractor: RulesExtractor, text: str) -> list[str]:
    return [short(triple) for triple in extractor.extract([say(text)])[0].triples]


@pytest.mark.model
@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("We have 320 users.", ["Alice user_count 320"]),
        ("I have two iPhones.", ["Alice iphone_count 2"]),
        ("I have three kids and two dogs.", ["Alice kid_count 3", "Alice dog_count 2"]),
        ("The plan costs 30 quid.", ["plan price 30"]),
        # a number behind a name is part of it
        ("I have an iPhone 15.", ["Alice has iPhone 15"]),
        ("I have a Pixel 7 and a FritzBox 7590.", ["Alice has Pixel 7", "Alice has FritzBox 7590"]),
        ("I use Python 3 and Windows 11.", ["Alice uses Python 3", "Alice uses Windows 11"]),
        ("We have Windows 11 and Office 365.", []),
        # times and money are no counts
        ("My dentist appointment is at 2 pm tomorrow.", []),
        ("The brakes are three hundred and eighty quid.", []),
        ("The car is 200 bucks.", []),
        # a year, and how many "we" are
        ("mine is a 2017 macbook", []),
        ("Mochi is 3 yrs old and has 3 yrs left", []),
        ("We're 4, me and Asha", []),
        # what cannot be read whole
        ("we have twenty twelve users", []),
        ("we have two or three users", []),
    ],
)
def test_counts(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims
