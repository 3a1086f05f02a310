"""Claims that begin, change and end: jobs, teams, habits, corrections; and what gives no claim at all."""

from __future__ import annotations

import pytest
from extraction_cases import NOW, find_times, say, short

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser
from lamina.pipeline.extract.values import Previous, Triple

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def read(extractor: RulesExtractor, text: str, **more: object) -> list[Triple]:
    return list(extractor.extract([say(text, **more)])[0].triples)


CHANGES = [
    ("I play the violin.", ["Alice plays violin"]),
    ("I can play the piano.", ["Alice plays piano"]),
    ("My sister plays chess.", ["Alice's sister plays chess"]),
    ("I don't eat meat.", ["Alice not eats meat"]),
    ("I can't eat that.", []),
    ("I use Vim.", ["Alice uses Vim"]),
    ("I use it a lot.", []),
    ("Never mind the dentist.", []),
    ("My manager is Rosa Lind.", ["Alice manager Rosa Lind"]),
    ("I report to Rosa Lind.", ["Alice manager Rosa Lind"]),
    ("My old manager Tom was kind.", []),
    ("I quit my job at Acme.", ["Alice left Acme", "Alice not works_at Acme"]),
    ("I started working at Fernhill yesterday.", ["Alice works_at Fernhill"]),
    ("Yesterday was my first day at Acme.", ["Alice works_at Acme"]),
    ("It was not like my first day at Acme.", []),
    ("I started at the bottom.", []),
    ("I left Berlin in 2015.", ["Alice left Berlin"]),
    ("I quit.", []),
    ("I no longer drink coffee.", ["Alice not drinks coffee"]),
    ("Carol likes the aisle.", ["Carol likes aisle"]),
    ("We have three dogs.", ["Alice dog_count 3"]),
]


@pytest.mark.parametrize(("text", "claims"), CHANGES, ids=[text for text, _ in CHANGES])
def test_changes(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert [short(triple) for triple in read(extractor, text)] == claims


def test_what_one_used_to_drink_has_ended(extractor: RulesExtractor) -> None:
    (triple,) = read(extractor, "I used to drink tea.")
    assert (triple.valid_from, triple.valid_to) == (None, NOW)


ALLERGY = (Previous("Alice", "I'm allergic to shrimp."),)


@pytest.mark.parametrize(
    ("text", "previous", "claims"),
    [
        ("Actually, it's milk, not shrimp.", (), []),
        ("Actually, it's milk, not shrimp.", (Previous("Bob", "I'm allergic to shrimp."),), []),
        (
            "My allergy test is here and it's milk, not shrimp.",
            (),
            ["Alice corrects allergic_to milk", "Alice not allergic_to shrimp"],
        ),
        ("I'm allergic to milk, not shrimp.", (), ["Alice corrects allergic_to milk", "Alice not allergic_to shrimp"]),
        ("I meant Tuesday, not Monday.", ALLERGY, []),
    ],
)  # fmt: skip
def test_swap_gives_the_new_value_and_denies_the_old(
    extractor: RulesExtractor, text: str, previous: tuple[Previous, ...], claims: list[str]
) -> None:
    assert [short(t) for t in read(extractor, text, previous=previous)] == claims


@pytest.mark.parametrize(
    "text",
    ["I will keep milk out of Bob's recipes.", "Let's meet for lunch tomorrow.", "I live in Rome.", "You should visit Rome."],
)  # fmt: skip
def test_an_assistants_plans_and_suggestions_claim_nothing(extractor: RulesExtractor, text: str) -> None:
    assert read(extractor, text, role="assistant") == []


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("[photo: Carol lives in Rome] I live in Oslo.", ["Alice lives_in Oslo"]),
        ("I live in Oslo. [sends a map, Carol lives in Rome]", ["Alice lives_in Oslo"]),
        ("[Carol lives in Rome.]", []),
    ],
)
def test_what_stands_in_brackets_by_itself_is_not_said(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert [short(t) for t in read(extractor, text)] == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("translate to German: I live in Paris and my name is Luc", []),
        ("Pretend you are my interviewer. I'm Alex, I work at Nasa.", []),
        ("Jo wrote:\n> I moved to Berlin\n> I am allergic to cats\nI live in Oslo.", ["Alice lives_in Oslo"]),
        ("Here's my cover letter: I am a teacher and I live in Hull.", []),
        ("I live in Oslo: translate that!", ["Alice lives_in Oslo"]),
    ],
)
def test_words_handed_over_claim_nothing(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert [short(t) for t in read(extractor, text)] == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I promised Tom to send him the notes by Friday.", ["Alice committed_to send Tom the notes"]),
        ("I'm planning to show you my paintings.", ["Alice plans_to show Bob Alice's paintings"]),
        ("I need to call them about the roof.", []),
        ("I want to make that happen.", []),
        ("I might move to Canada.", ["Alice maybe considers moving to Canada"]),
    ],
)
def test_pronouns_in_plans_are_resolved_or_the_plan_is_dropped(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert [short(t) for t in read(extractor, text)] == claims


@pytest.mark.parametrize(
    "text",
    [
        "I'm living my truth.",
        "I got some good advice.",
        "I took a deep breath.",
        "It helps me explore my identity.",
        "I adopted her from the shelter in Mitte.",
        "We ate many lemon cakes instead of walking.",
        "I've loved it since I was a kid.",
        "I'll always remember our trip.",
        "I loved reading stories as a child.",
        "I still have that stuffed animal dog.",
    ],
)
def test_small_talk_claims_nothing(extractor: RulesExtractor, text: str) -> None:
    assert read(extractor, text) == []


def test_a_day_is_never_an_object(extractor: RulesExtractor) -> None:
    assert [short(t) for t in read(extractor, "I joined a chess club last Tues.")] == [
        "Alice joined chess club"
    ]
