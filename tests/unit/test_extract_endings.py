"""What ends, or begins again, with an event: claims that are denied from then on."""

from __future__ import annotations

from datetime import timedelta

import pytest
from extraction_cases import TODAY, find_times, say, short

from lamina.pipeline.extract.extractor import RulesExtractor
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


def over(extractor: RulesExtractor, text: str) -> list[str]:
    """What is denied, and what holds no more whatever it was."""
    found = extractor.extract([say(text)])[0]
    denied = [short(triple) for triple in found.triples if triple.negated]
    return denied + [
        f"{each.subject.name} no {each.predicate}" for each in found.taken_back if each.object is None
    ]


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("I got fired yesterday.", ["Alice no works_at"]),
        ("i got fired lol", ["Alice no works_at"]),
        ("I was let go last week.", ["Alice no works_at"]),
        ("I've been laid off.", ["Alice no works_at"]),
        ("I was made redundant.", ["Alice no works_at"]),
        ("I was sacked by my boss.", ["Alice no works_at"]),
        ("I lost my job last week.", ["Alice no works_at"]),
        ("I lost my job because of the merger.", ["Alice no works_at"]),
        ("I quit my job.", ["Alice no works_at"]),
        ("I resigned yesterday.", ["Alice no works_at"]),
        ("My brother got fired.", ["Alice's brother no works_at"]),
        ("My brother lost his job.", ["Alice's brother no works_at"]),
        ("I work at Acme but I got fired.", ["Alice no works_at"]),
        ("I lost the baby.", ["Alice not status pregnant"]),
        ("I had a miscarriage last week.", ["Alice not status pregnant"]),
        ("I gave birth yesterday!", ["Alice not status pregnant"]),
        ("My sister had a miscarriage.", ["Alice's sister not status pregnant"]),
        ("Leonie and I aren't friends anymore.", ["Alice not friend_of Leonie"]),
        ("I'm no longer friends with Leonie.", ["Alice not friend_of Leonie"]),
        ("Leonie and I aren't colleagues anymore.", ["Alice not colleague_of Leonie"]),
        ("Tom and I are no longer together.", ["Alice not partner_of Tom"]),
        ("Ana and Max aren't friends anymore.", ["Ana not friend_of Max"]),
    ],
)  # fmt: skip
def test_ends_without_what_ended(extractor: RulesExtractor, text: str, ended: list[str]) -> None:
    assert over(extractor, text) == ended


@pytest.mark.parametrize(
    "text",
    [
        "I got fired up.",
        "I was fired once.",
        "I've been fired before.",
        "I was fired in my first year.",
        "I lost my job in 2015.",
        "When I lost my job I moved to Kiel.",
        "I almost lost my job.",
        "I might lose my job.",
        "If I lost my job I'd move.",
        "I quit my second job.",
        "I quit my job at a bakery.",
        "I resigned from the board.",
        "I lost my job but I work at Spire now.",
        "I lost my job. I work at Spire now.",
        "I was let go by the police.",
        "I laid off the booze.",
        "My phone got fired.",
        "I left my keys.",
        "I lost the baby monitor.",
        "I lost the baby at the mall.",
        "I had a miscarriage in 2015.",
        "I gave birth to Leo in 2015.",
        "Leonie and I are friends.",
        "Leonie and I aren't together today.",
        "We're not friends anymore.",
    ],
)
def test_what_is_not_over(extractor: RulesExtractor, text: str) -> None:
    assert over(extractor, text) == []


@pytest.mark.parametrize(
    ("text", "claim", "ended"),
    [
        ("I work at Acme, well, worked.", "Alice works_at Acme", True),
        ("I live in Leeds, well, lived there.", "Alice lives_in Leeds", True),
        ("Tom is my boyfriend, well, was.", "Alice partner_of Tom", True),
        ("Tom was my boyfriend.", "Alice partner_of Tom", True),
        ("Tom is my boyfriend, well, sort of.", "Alice partner_of Tom", False),
        ("I work at Acme, where Tom worked.", "Alice works_at Acme", False),
        ("I work at Acme, and my wife worked there too.", "Alice works_at Acme", False),
        ("I live in Leeds, well, near Leeds.", "Alice lives_in Leeds", False),
    ],
)
def test_a_tense_put_right(extractor: RulesExtractor, text: str, claim: str, ended: bool) -> None:
    found = [t for t in extractor.extract([say(text)])[0].triples if short(t) == claim]
    assert [each.valid_to is not None for each in found] == [ended]
