"""A figure is told whole or not at all: a part of it is another figure."""

from __future__ import annotations

import pytest
from extraction_cases import find_times, say

from lamina.language.sentences import split_sentences
from lamina.pipeline.extract.amounts import number_of_words
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser
from lamina.pipeline.extract.values import EntityRef

SUMS = {
    "900 euros": 900, "$1,200": 1200, "1,234,567 dollars": 1234567, "$1.2 million": 1200000, "1,5 million euros": 1500000, "82,5 euros": 82.5,
    "1'200 francs": 1200, "1\u202f200 francs": 1200, "a hundred euros": 100, "twelve hundred dollars": 1200, "50 cents": 50,
    "half a million dollars": None, "1.200 euros": None, "5 lakh rupees": None, "900 dollars and 50 cents": None, "over 900 euros": None,
    "between 900 and 1000 euros": None, "900 to 1000 euros": None, "two and a half thousand euros": None, "a few hundred euros": None,
}  # fmt: skip
OF_SUMS = ("My rent is {}.", "My salary is {}.", "I earn {}.", "The car cost {}.", "My budget is {}.")
COUNTS = {
    "12": 12, "12 new": 12, "some 12": 12, "12 thousand": 12000, "1,500": 1500, "one and a half million": None, "a couple of hundred": None,
    "several hundred": None, "12 more": None, "12 fewer": None, "another 12": None, "12 of 20": None, "2 x 12": None, "two dozen": None,
    "twelve point five": None, "no fewer than 12": None, ">12": None, "12 former": None, "three quarters of the": None, "12 plus": None,
    "12 part-time and 3 full-time": None,
}  # fmt: skip
OF_COUNTS = ("We have {} employees.", "I have {} kids.", "The house has {} rooms.")
SIZES = {"1,68 m": 1.68, "168 cm": 168, "5 ft 6 in": None, "one metre seventy": None}
OF_SIZES = ("My height is {}.", "My son is {}.")

SAID = [
    (frame.format(figure), value)
    for figures, frames in ((SUMS, OF_SUMS), (COUNTS, OF_COUNTS), (SIZES, OF_SIZES))
    for figure, value in figures.items()
    for frame in frames
]


@pytest.mark.model
def test_no_number_is_told_but_the_one_that_was_said(parser: Parser) -> None:
    extractor = RulesExtractor(find_times, parser=parser)
    read = extractor.extract([say(text) for text, _ in SAID])
    told = [
        (text, value, [each.object.value for each in one.triples if not isinstance(each.object, EntityRef)])
        for (text, value), one in zip(SAID, read, strict=True)
    ]
    others = [
        (text, n) for text, value, found in told for n in found if not isinstance(n, str) and n != value
    ]
    assert others == []
    assert sum(value in found for _, value, found in told if value is not None) >= 40


@pytest.mark.model
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I own half a dozen cars.", "half a dozen cars"),
        ("I own no fewer than 12 cars.", "no fewer than 12 cars"),
        ("I earn over 900 euros.", "over 900 euros"),
        ("My rent is 900€.", "900€"),
    ],
)
def test_words_that_make_another_figure_stay_with_it(parser: Parser, text: str, value: str) -> None:
    triples = RulesExtractor(find_times, parser=parser).extract([say(text)])[0].triples
    assert [each.object.value for each in triples if not isinstance(each.object, EntityRef)] == [value]


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("1,500", 1500),
        ("1,5", 1.5),
        ("12,34,567", 1234567),
        ("1.2", 1.2),
        ("0.125", 0.125),
        ("1.200", None),
        ("1,2345", None),
        ("1,5 million", 1500000),
    ],
)
def test_marks_of_numbers(words: str, number: float | None) -> None:
    assert number_of_words(words) == number


@pytest.mark.parametrize(
    "text",
    [
        "J.R. moved to Rome.",
        "The D.A. is my sister.",
        "Acme LLC. moved to Rome.",
        "I have a Ph.D. from Rome.",
    ],
)
def test_an_abbreviation_ends_no_sentence(text: str) -> None:
    assert [each.text for each in split_sentences(text)] == [text]
