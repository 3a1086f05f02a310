"""How people introduce themselves, what they do and where, with capitals and without."""

from __future__ import annotations

import pytest
from extraction_cases import find_times, say, short

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def read(extractor: RulesExtractor, text: str, **more: object) -> list[str]:
    return [short(triple) for triple in extractor.extract([say(text, **more)])[0].triples]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("My name's Nora", ["Alice name_is Nora"]),
        ("my name is nora", ["Alice name_is Nora"]),
        ("My name is Nora.", ["Alice name_is Nora"]),
        ("hi, i'm nora", ["Alice name_is Nora"]),
        ("Hi I'm Nora", ["Alice name_is Nora"]),
        ("I'm called Nora", ["Alice name_is Nora"]),
        ("Nora here", ["Alice name_is Nora"]),
        ("hi, nora here!", ["Alice name_is Nora"]),
        ("call me Nor", ["Alice goes_by Nor"]),
        ("Please call me Nor.", ["Alice goes_by Nor"]),
        ("You can call me Nor", ["Alice goes_by Nor"]),
        ("My friends call me Nor", ["Alice goes_by Nor"]),
        ("I go by Nor.", ["Alice goes_by Nor"]),
        ("I'm in the Europe/Madrid timezone", ["Alice timezone Europe/Madrid"]),
        ("my timezone is Europe/Madrid if that matters", ["Alice timezone Europe/Madrid"]),
        ("my timezone is America/New_York btw", ["Alice timezone America/New_York"]),
        ("my timezone is europe/madrid", ["Alice timezone Europe/Madrid"]),
        ("My time zone's Asia/Tokyo", ["Alice timezone Asia/Tokyo"]),
        ("my timezone isn't Europe/Madrid", ["Alice not timezone Europe/Madrid"]),
        ("the server's timezone is Europe/Paris", []),
        ("the cron in Europe/Paris runs at 5", []),
        ("My favourite colour is blue", ["Alice favourite_colour blue"]),
        ("My favourite food is ramen.", ["Alice favourite_food ramen"]),
    ],
)
def test_introductions(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    "text",
    [
        "hi, i'm back", "hi, i'm tired", "hi i'm new here", "hi, i'm looking for a flat", "hi, i'm from here", "hey, i'm nonbinary",
        "hi, i'm jetlagged", "I'm here", "Everyone here is nice", "All good here", "Sun here, rain there", "Same here", "Looky here, I got a pup", "Looky here!", "She's here",
        "call me later", "Call me back tomorrow", "call me a taxi", "Call me on Tuesday", "Call me crazy", "Call me Tuesday", "My name is on the list.",
        "my name is hard to spell", "My name's not Nora", "i live in a flat", "i live in fear", "i live in town",
        "i work at night", "i work for free", "i work at home", "Is my name Nora?", "my number is 7", "my email is broken",
        "The Europe/Madrid file is missing.", "He lives in leeds",  "Anna here is a friend",
    ],
)  # fmt: skip
def test_what_is_no_introduction(extractor: RulesExtractor, text: str) -> None:
    about = ("name_is", "goes_by", "lives_in", "works_at", "timezone", "phone_number", "email")
    found = read(extractor, text)
    assert [c for c in found if any(f"Alice {word} " in c for word in about)] == []


def test_documents_and_assistants_introduce_nobody(extractor: RulesExtractor) -> None:
    assert read(extractor, "My name's Nora. I live in leeds.", personal=False) == []
    assert read(extractor, "My name's Nora.", role="assistant") == []


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I'm a physio", ["Alice works_as physio"]),
        ("I'm a physio at Leeds General.", ["Alice works_at Leeds General", "Alice works_as physio"]),
        ("I'm a PM at Spire.", ["Alice works_at Spire", "Alice works_as PM"]),
        ("I'm a vet tech", ["Alice works_as vet tech"]),
        ("I'm a vet tech at Banfield.", ["Alice works_at Banfield", "Alice works_as vet tech"]),
        ("Tom is a physio at the Nuffield.", ["Tom works_at Nuffield", "Tom works_as physio"]),
        ("My sister is a paediatrician.", ["Alice's sister works_as paediatrician"]),
        ("I'm a cardiologist.", ["Alice works_as cardiologist"]),
        ("I'm a software engineer at Google.", ["Alice works_at Google", "Alice works_as software engineer"]),
        ("My brother is a lawyer.", ["Alice's brother works_as lawyer"]),
    ],
)
def test_roles_and_where_they_are_held(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    "text",
    [
        "I'm a fan of Arsenal.", "I'm a member at PureGym.", "I'm a patient at Mercy Hospital.", "I'm the mother of Leo.",
        "I'm a regular at Costa.", "I'm a guest at the Hilton.", "I'm a friend of Ana.", "I'm a customer of Vodafone.",
        "I'm a beginner at chess.", "I'm a wizard at Excel.", "I'm a big believer in God.", "I'm an idiot.", "I'm a mess at Christmas.",
        "I was a physio at Leeds General.", "I could be a nurse at Acme.", "She is a star at Tetris.",
    ],
)  # fmt: skip
def test_who_is_somewhere_without_working_there(extractor: RulesExtractor, text: str) -> None:
    assert [claim for claim in read(extractor, text) if " works_at " in claim or " works_as " in claim] == []
