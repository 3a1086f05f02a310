"""Figures of speech tell neither what somebody is, nor what they are allergic to, nor whom they married."""

from __future__ import annotations

import pytest
from extraction_cases import find_times, read, say

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.figures import is_allergen
from lamina.pipeline.extract.syntax import Parser

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


@pytest.mark.parametrize(
    "text",
    [
        "Ugh, I'm such an idiot.",
        "I'm a mess.",
        "I'm a total mess today.",
        "I'm basically a zombie today.",
        "My boss is a dinosaur.",
        "My boss is a snake.",
        "Tom is a baby when he's ill.",
        "Tom is a machine.",
        "My mum says she's fine but she's a terrible liar.",
        "I'm married to my job.",
        "I'm married to the sea.",
        "my husband is a saint",
        "my sister is an angel",
        "i'm a wreck",
        "I am a failure.",
        "I'm a couch potato.",
        "Honestly I'm a bit of a pig.",
        "She's a genius.",
        "I'm a loser.",
        "My brother is a pain in the neck.",
        "I'm a terrible driver.",
        "My flatmate is a total clown.",
        "I'm practically a nurse at this point.",
        "I'm literally a ghost this week.",
        "Leonie is allergic to my nagging, she says.",
        "I'm allergic to meetings.",
        "Leonie is allergic to drama.",
        "I'm allergic to bullshit.",
        "I'm allergic to Mondays.",
        "I'm allergic to running.",
        "i'm allergic to small talk and stupidity",
        "My boss is allergic to feedback.",
        "I'm allergic to my boss.",
        "He's allergic to commitment.",
        "I have an allergy to paperwork.",
        "My son is allergic to homework.",
        "I'm allergic to liars.",
        "Tom is a brother to me.",
        "I'm engaged to my phone.",
        "My dad is a rock.",
        "My boss is a real detective.",
        "I'm a child when it snows.",
        "I'm a huge mess, my boss is a nightmare and my brother is a hero.",
        "My ex is a monster.",
        "I'm a ghost today.",
        "My mum is a terrible cook.",
        "I'm married to my laptop.",
        "My wife is allergic to housework and fun.",
        "i'm allergic to mornings",
        "Today I'm a couch potato.",
        "My roommate is a pig.",
        "My therapist is a wizard.",
    ],
)
def test_a_figure_of_speech_is_no_fact(extractor: RulesExtractor, text: str) -> None:
    assert read(extractor, text) == []


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I'm a night owl, my wife is a monster in the morning.", ["Alice is_a night owl"]),
        ("I'm a vegetarian.", ["Alice is_a vegetarian"]),
        ("I'm allergic to penicillin.", ["Alice allergic_to penicillin"]),
        ("I'm a runner.", ["Alice is_a runner"]),
        ("My dad is a diabetic.", ["Alice's dad has_condition diabetes"]),
        ("I'm a nurse.", ["Alice works_as nurse"]),
        ("My boss is a lawyer.", ["Alice's boss works_as lawyer"]),
        ("I'm an introvert.", ["Alice is_a introvert"]),
        ("I'm an only child.", ["Alice is_a only child"]),
        ("I'm a single mum.", ["Alice is_a single mum"]),
        ("I'm an early riser.", ["Alice is_a early riser"]),
        (
            "My sister is a swimmer and a smoker.",
            ["Alice's sister is_a swimmer", "Alice's sister is_a smoker"],
        ),
        ("i'm a feminist", ["Alice is_a feminist"]),
        ("Tom is a recovering alcoholic.", ["Tom is_a recovering alcoholic"]),
        ("I'm a widow.", ["Alice is_a widow"]),
        ("I'm a cancer survivor.", ["Alice is_a cancer survivor"]),
        ("I'm a vegetarian, my wife is a vegan.", ["Alice is_a vegetarian", "Alice's wife is_a vegan"]),
        ("Luna is a cat.", ["Luna is_a cat"]),
        ("Anna is a marathon runner.", ["Anna is_a marathon runner"]),
        ("I'm a nurse now.", ["Alice works_as nurse"]),
        ("I'm a perfectionist.", ["Alice is_a perfectionist"]),
        ("I'm a father of two.", ["Alice is_a father of two"]),
        ("I'm married to Tom.", ["Alice married_to Tom"]),
        ("My sister is married to a doctor.", ["Alice's sister married_to doctor"]),
        ("I'm engaged to Anna.", ["Alice engaged_to Anna"]),
        ("I'm allergic to cats and dogs.", ["Alice allergic_to cats", "Alice allergic_to dogs"]),
        ("I'm allergic to bee stings.", ["Alice allergic_to bee stings"]),
        ("I'm allergic to my cat.", ["Alice allergic_to Alice's cat"]),
        ("Mia is allergic to nickel and pollen.", ["Mia allergic_to nickel", "Mia allergic_to pollen"]),
        ("I'm allergic to salad dressing.", ["Alice allergic_to salad", "Alice allergic_to dressing"]),
        ("I have an allergy to horses.", ["Alice allergic_to horses"]),
        (
            "I'm allergic to quinoa and fragrances.",
            ["Alice allergic_to quinoa", "Alice allergic_to fragrances"],
        ),
        ("I'm not allergic to nuts.", ["Alice not allergic_to nuts"]),
        ("my son is allergic to dust", ["Alice's son allergic_to dust"]),
        ("I'm allergic to house dust mites.", ["Alice allergic_to house dust mites"]),
        ("Kestrel Foods is a big customer.", ["Kestrel Foods is_a big customer"]),
        ("Django is a framework.", ["Django is_a framework"]),
        ("My dog is a labrador.", ["Alice's dog is_a labrador"]),
        ("I'm a native speaker of German.", ["Alice is_a native speaker of German"]),
        ("I'm a beginner.", ["Alice is_a beginner"]),
        ("I'm a woman.", ["Alice is_a woman"]),
        ("I'm a stay-at-home dad.", ["Alice is_a stay-at-home dad"]),
        ("I'm a vegan and a teacher.", ["Alice is_a vegan", "Alice works_as teacher"]),
        ("I'm a huge coffee drinker.", ["Alice is_a huge coffee drinker"]),
        ("Honestly, I'm a nurse.", ["Alice works_as nurse"]),
        ("I'm a Liverpool supporter.", ["Alice is_a Liverpool supporter"]),
        ("My brother is an accountant in Leeds.", ["Alice's brother works_as accountant in Leeds"]),
        ("Mia is a painter.", ["Mia works_as painter"]),
        ("I'm intolerant to lactose.", ["Alice allergic_to lactose"]),
        ("I have a peanut allergy.", ["Alice allergic_to peanut"]),
        (
            "I'm allergic to kiwi, shrimp and amoxicillin.",
            ["Alice allergic_to kiwi", "Alice allergic_to shrimp", "Alice allergic_to amoxicillin"],
        ),
        ("I'm allergic to wasps.", ["Alice allergic_to wasps"]),
        ("My wife is a goalkeeper.", ["Alice's wife is_a goalkeeper"]),
        ("My daughter is a teenager.", ["Alice's daughter is_a teenager"]),
        ("I'm an atheist.", ["Alice is_a atheist"]),
        ("I'm a cyclist and my son is a climber.", ["Alice works_as cyclist", "Alice's son is_a climber"]),
        ("My sister is a pacifist.", ["Alice's sister is_a pacifist"]),
        ("My neighbour is a pensioner.", ["Alice's neighbour is_a pensioner"]),
    ],
)
def test_what_somebody_is_stays(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims


def test_written_text_tells_what_things_are(extractor: RulesExtractor) -> None:
    told = say("Tom Marlow is a dinosaur in a story of 1920.", personal=False)
    assert [t.predicate for t in extractor.extract([told])[0].triples] == ["is_a"]


@pytest.mark.parametrize(
    "word",
    [
        "penicillin",
        "nuts",
        "cats",
        "pollen",
        "nickel",
        "latex",
        "pudding",
        "dressing",
        "stings",
        "dust",
        "fragrance",
        "horses",
        "sunlight",
        "citrus",
    ],
)
def test_what_somebody_may_be_allergic_to(word: str) -> None:
    assert is_allergen(word)


@pytest.mark.parametrize(
    "word",
    [
        "meetings",
        "Mondays",
        "nagging",
        "drama",
        "laziness",
        "commitment",
        "nurses",
        "bosses",
        "January",
        "running",
        "workshops",
    ],
)
def test_what_nobody_is_allergic_to(word: str) -> None:
    assert not is_allergen(word)
