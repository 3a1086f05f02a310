"""Couples that part: what they were to each other ends, named or not, and no marriage is made of its end."""

from __future__ import annotations

import pytest
from extraction_cases import find_times, say, short

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


TIES = ("married_to", "partner_of", "engaged_to")


def ties(extractor: RulesExtractor, text: str) -> list[str]:
    """What is said of couples, and last what holds no more whoever it was."""
    found = extractor.extract([say(text)])[0]
    claimed = [short(triple) for triple in found.triples if triple.predicate in TIES]
    over = [f"{each.subject.name} no {each.predicate}" for each in found.taken_back if each.object is None]
    return claimed + over


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("My husband Max and I got divorced in 2015.", ["Alice not married_to Max"]),
        ("My husband Max and I divorced.", ["Alice not married_to Max"]),
        ("My husband Max and I have separated.", ["Alice not married_to Max"]),
        ("My wife Clara and I are separated now.", ["Alice not married_to Clara"]),
        ("My wife Clara and I are divorced.", ["Alice not married_to Clara"]),
        ("my husband max and i split up last week", ["Alice not married_to max"]),
        ("My wife Clara and I broke up, sadly.", ["Alice not married_to Clara"]),
        ("My husband Max divorced me last week.", ["Alice not married_to Max"]),
        ("My girlfriend Mia left me for her boss.", ["Alice not partner_of Mia"]),
        ("My husband Max left me last week.", ["Alice not married_to Max"]),
        ("I divorced my husband Max in 2015.", ["Alice not married_to Max"]),
        ("I separated from my husband Max.", ["Alice not married_to Max"]),
        ("I broke up with my boyfriend Tom.", ["Alice not partner_of Tom"]),
        ("I'm divorced from Max.", ["Alice not married_to Max"]),
        ("Ana and Max got divorced.", ["Ana not married_to Max"]),
        ("My husband and I separated.", ["Alice no married_to"]),
        ("My husband left me yesterday.", ["Alice no married_to"]),
        ("my husband and i are separated now", ["Alice no married_to"]),
        ("My boyfriend dumped me.", ["Alice no partner_of"]),
        ("My sister and her husband separated.", ["Alice's sister no married_to"]),
    ],
)  # fmt: skip
def test_who_parted_is_no_couple(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert ties(extractor, text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("My husband Max and I moved to Kiel in 2015.", ["Alice married_to Max"]),
        ("My husband Max and I separated the recycling.", ["Alice married_to Max"]),
        ("My husband Max and I split up the chores.", ["Alice married_to Max"]),
        ("My husband Max and I are getting divorced.", ["Alice married_to Max"]),
        ("My husband Max and I almost got divorced.", ["Alice married_to Max"]),
        ("My husband Max and I aren't divorced.", ["Alice married_to Max"]),
        ("My husband Max and I might get divorced.", ["Alice married_to Max"]),
        ("My husband Max and I were separated for a year.", ["Alice married_to Max"]),
        ("My husband Max and I split up but got back together.", ["Alice married_to Max"]),
        ("If my husband Max and I got divorced I'd move.", ["Alice married_to Max"]),
        ("My wife Clara wants a divorce.", ["Alice married_to Clara"]),
        ("My husband Max left the house.", ["Alice married_to Max"]),
        ("My husband Max left me a note.", ["Alice married_to Max"]),
        ("My husband Max left me alone with the kids.", ["Alice married_to Max"]),
        ("My husband Max left me in charge.", ["Alice married_to Max"]),
        ("My husband Max left for work.", ["Alice married_to Max"]),
        ("My husband left me a voicemail.", []),
        ("My first husband left me in 2015.", []),
        ("My husband left me in 2015.", []),
        ("My brother Ben and I split up at the station.", []),
        ("Ana and I separated at the airport.", []),
        ("My business partner and I separated.", []),
        ("My parents got divorced.", []),
    ],
)  # fmt: skip
def test_who_did_not_part_is_one_still(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert ties(extractor, text) == claims


def test_whatever_else_two_were_to_each_other_is_over(extractor: RulesExtractor) -> None:
    for text in ("Tomás and I broke up.", "Tomás left me.", "Tomás and I separated."):
        over = {
            (each.subject.name, each.predicate, each.object.name)
            for each in extractor.extract([say(text)])[0].taken_back
            if each.object is not None
        }
        assert {("Alice", "married_to", "Tomás"), ("Tomás", "married_to", "Alice")} <= over, text
