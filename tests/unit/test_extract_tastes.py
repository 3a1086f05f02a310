"""What somebody likes and does not: beside a "but", denied hating, and pastimes of one word."""

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
        ("I don't hate my boss.", ["Alice not dislikes Alice's boss"]),
        ("i don't hate running", ["Alice not dislikes running"]),
        (
            "I don't hate my job, I just don't like Mondays.",
            ["Alice not dislikes job", "Alice dislikes Mondays"],
        ),
        ("My sister doesn't dislike coffee.", ["Alice's sister not dislikes coffee"]),
        ("I don't hate cats anymore.", ["Alice not dislikes cats"]),
        ("I hate running, but I love swimming.", ["Alice dislikes running", "Alice likes swimming"]),
        ("I hate cooking.", ["Alice dislikes cooking"]),
        ("I love swimming but hate running.", ["Alice likes swimming", "Alice dislikes running"]),
        ("I dislike football but I love rugby.", ["Alice dislikes football", "Alice likes rugby"]),
        (
            "My brother hates swimming but he loves skiing.",
            ["Alice's brother dislikes swimming", "Alice's brother likes skiing"],
        ),
        ("I enjoy reading and painting.", ["Alice likes reading"]),
        ("I don't dislike Tom.", ["Alice not dislikes Tom"]),
        ("I never hated school.", ["Alice not dislikes school"]),
        ("I love reading but I hate Mondays.", ["Alice likes reading"]),
        ("I hate waiting.", ["Alice dislikes waiting"]),
        ("I don't enjoy hiking.", ["Alice dislikes hiking"]),
        ("I like hiking but not in the rain.", ["Alice likes hiking"]),
    ],
)
def test_what_is_not_hated_need_not_be_liked(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I don't like mushrooms.", ["Alice dislikes mushrooms"]),
        ("I hate mushrooms.", ["Alice dislikes mushrooms"]),
        ("I love tea.", ["Alice likes tea"]),
        ("I don't love coffee.", ["Alice dislikes coffee"]),
        ("My sister hates Leeds.", ["Alice's sister dislikes Leeds"]),
        ("I love seeing my friends.", ["Alice likes seeing Alice's friends"]),
        ("I don't like seafood, but I like fish soup.", ["Alice dislikes seafood", "Alice likes fish soup"]),
    ],
)
def test_tastes_stay(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    "text",
    [
        "I like running but hate gyms.",
        "I hate being late.",
        "I love doing nothing.",
        "I'd love to go but I can't.",
        "I started running but I stopped.",
        "I hate it when it rains.",
        "I stopped smoking.",
        "I loved swimming as a kid.",
        "I hate going.",
    ],
)
def test_what_is_no_taste(extractor: RulesExtractor, text: str) -> None:
    assert read(extractor, text) == []
