"""Whose it is: kin without the apostrophe, the daughter of "my sister Eva's daughter", and the second subject behind an "and"."""

from __future__ import annotations

import pytest
from extraction_cases import find_times, read

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("my mum's house is in Leeds", ["Alice's mum's house located_in Leeds"]),
        # no owners
        ("my sons live in Leeds", ["Alice's sons lives_in Leeds"]),
        ("my brothers are nurses", ["Alice's brothers works_as nurses"]),
        ("my boss works at Google", ["Alice's boss works_at Google"]),
        ("my mum likes Leeds", ["Alice's mum likes Leeds"]),
        ("my birthday is on May 3", ["Alice birthday May 3"]),
        ("my favourite team is leeds", ["Alice favourite_team leeds"]),
        ("my fathers day present is a book", []),
        ("my dads favourite food is curry", []),
    ],
)
def test_kin_without_the_apostrophe_is_the_owner(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (
            "My sister Anna works at Google and Tom's brothers, Max and Paul, work at Siemens.",
            ["Anna works_at Google", "Alice sibling_of Anna"],
        ),
        ("I work at Google and Anna at Siemens.", ["Alice works_at Google"]),
        ("I speak German and my wife speaks French.", ["Alice speaks German", "Alice's wife speaks French"]),
        # one subject, and what is listed
        ("I met Tom and Anna and left.", ["Alice met Tom", "Alice met Anna"]),
        ("I met Tom and Anna, left early and slept.", ["Alice met Tom", "Alice met Anna"]),
        ("I'm allergic to nuts, eggs and milk.", ["Alice allergic_to nuts", "Alice allergic_to eggs", "Alice allergic_to milk"]),
        ("Anna lives in Leeds and works at Google.", ["Anna lives_in Leeds", "Anna works_at Google"]),
        ("I live in Leeds and York.", ["Alice lives_in Leeds"]),
        ("I work at Google and Siemens.", ["Alice works_at Google"]),
        ("I speak German and French.", ["Alice speaks German", "Alice speaks French"]),
        ("I work at Morgan Stanley.", ["Alice works_at Morgan Stanley"]),
    ],
)  # fmt: skip
def test_a_noun_before_a_verb_of_its_own_is_its_subject(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (
            "My sister's daughter Lea is allergic to eggs.",
            ["Lea allergic_to eggs", "Alice's sister parent_of Lea"],
        ),
        ("My sister Eva is allergic to eggs.", ["Eva allergic_to eggs", "Alice sibling_of Eva"]),
        ("My mother Anna's dog Max bit me", ["Alice child_of Anna", "Anna has_pet Max"]),
    ],
)
def test_the_kin_of_kin_is_told_of_by_itself(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims
