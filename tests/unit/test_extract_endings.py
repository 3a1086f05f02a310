"""What ends, or begins again, with an event: claims that are denied from then on."""

from __future__ import annotations

from datetime import timedelta

import pytest
from extraction_cases import TODAY, find_times, say, short

from lamina.pipeline.extract import RulesExtractor
from lamina.pipeline.extract.syntax import Parser

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def read(extractor: RulesExtractor, text: str) -> list[str]:
    return [short(triple) for triple in extractor.extract([say(text)])[0].triples]


NO_MEAT = ["Alice not diet vegetarian", "Alice not diet vegan", "Alice not diet pescatarian"]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I stopped using Figma.", ["Alice stopped using Figma", "Alice not uses Figma"]),
        ("Ana stopped using Figma.", ["Ana stopped using Figma", "Ana not uses Figma"]),
        ("I've stopped eating meat.", ["Alice stopped eating meat", "Alice not eats meat"]),
        ("I stopped playing tennis.", ["Alice stopped playing tennis", "Alice not plays tennis"]),
        ("I stopped working at Google.", ["Alice stopped working at Google", "Alice not works_at Google"]),
        ("I gave up coffee.", ["Alice not drinks coffee"]),
        ("I've given up sugar.", ["Alice not eats sugar"]),
        ("I've gone off coffee.", ["Alice not likes coffee"]),
        ("I went off jazz.", ["Alice not likes jazz"]),
        ("Tomás and I broke up.", ["Alice not partner_of Tomás"]),
        ("I broke up with Tomás.", ["Alice break_up_with Tomás", "Alice not partner_of Tomás"]),
        ("Ana broke up with Ben.", ["Ana break_up_with Ben", "Ana not partner_of Ben"]),
        ("Tomás and I got divorced.", ["Alice relationship_status divorced", "Alice not married_to Tomás"]),
        ("Our dog Biscuit died.", ["Biscuit life died", "Alice not has_pet Biscuit"]),
        ("My father died.", ["Alice's father life died"]),
        ("Ana quit Google.", ["Ana left Google", "Ana not works_at Google"]),
        ("Ana quit her job at Google.", ["Ana not works_at Google"]),
        ("I lost my job at Google.", ["Alice lost job", "Alice not works_at Google"]),
        ("I was fired from Google.", ["Alice was_fired_from Google", "Alice not works_at Google"]),
        ("I sold my old bike.", ["Alice sold old bike", "Alice not owns bike"]),
        ("I started eating meat again.", ["Alice started eating meat", "Alice eats meat", *NO_MEAT]),
        ("I eat meat again.", ["Alice eats meat", *NO_MEAT]),
        ("I turned 35.", ["Alice age 35"]),
        ("Carol turned 4 yesterday.", ["Carol age 4"]),
        ("I'm not vegetarian anymore.", ["Alice not diet vegetarian"]),
        ("I no longer have a car.", ["Alice not has car"]),
    ],
)  # fmt: skip
def test_endings(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I stopped the car.", []),
        ("I stopped going to the gym.", ["Alice stopped going to the gym"]),
        ("I gave up.", []),
        ("I gave up my seat.", []),
        ("I quit smoking.", ["Alice left smoking"]),
        ("The car broke up.", []),
        ("We broke up.", []),
        ("My phone died.", []),
        ("My dog died laughing.", []),
        ("Jenkins died again.", []),
        ("I went off the road.", []),
        ("The alarm went off.", []),
        ("I sold a painting.", ["Alice sold painting"]),
        ("I sold Bob's car.", ["Alice sold Bob's car"]),
        ("I left Berlin in 2015.", ["Alice left Berlin"]),
        ("I haven't stopped eating meat.", ["Alice not stopped eating meat"]),
        ("I might stop eating meat.", ["Alice maybe considers stopping eating meat"]),
        ("If I stopped eating meat I would be hungry.", []),
        ("I'm thinking of quitting Google.", ["Alice considers quitting Google"]),
        ("I didn't quit Google.", ["Alice not left Google"]),
        ("The milk turned 35 degrees.", []),
        ("Carol turns 40 on May 3.", ["Carol birthday May 3"]),
        ("I started eating breakfast.", ["Alice started eating breakfast", "Alice eats breakfast"]),
        ("I stopped.", []),
        ("I lost my keys at Google.", ["Alice lost keys"]),
        ("I fired Bob.", []),
    ],
)  # fmt: skip
def test_what_ends_nothing(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims


def test_an_end_is_dated_by_its_clause(extractor: RulesExtractor) -> None:
    for text in ("I stopped using Figma last week.", "Our dog Rex died last week.", "I quit Acme last week."):
        ended = [t for t in extractor.extract([say(text)])[0].triples if t.negated]
        assert [t.valid_from for t in ended] == [TODAY - timedelta(days=8)], text
