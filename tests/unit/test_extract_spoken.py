"""What is claimed in speech: without apostrophes, with pauses, with words taken back; and where it was said."""

from __future__ import annotations

import pytest
from extraction_cases import find_times, say, short

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def read(extractor: RulesExtractor, text: str) -> list[str]:
    return [short(triple) for triple in extractor.extract([say(text)])[0].triples]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("im allergic to penicillin", ["Alice allergic_to penicillin"]),
        ("um so im uh allergic to penicillin", ["Alice allergic_to penicillin"]),
        ("im a nurse", ["Alice works_as nurse"]),
        (
            "my sister is Ana and shes allergic to nuts",
            ["Alice sibling_of Ana", "Alice's sister allergic_to nuts"],
        ),
        ("i dont eat meat", ["Alice not eats meat"]),
        # what was taken back, with nothing in its place
        ("shes taking ibuprofen no wait i forgot", []),
        # laughter is no word
        ("Ben hates vegetables haha", ["Ben dislikes vegetables"]),
        # as it was
        ("I like Leeds.", ["Alice likes Leeds"]),
        ("My dog hurt its paw.", []),
    ],
)
def test_claims_of_speech(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I live in York, I mean Leeds.", "I live in York, I mean Leeds."),
    ],
)
def test_the_evidence_is_what_was_said(extractor: RulesExtractor, text: str, said: str) -> None:
    (triple,) = extractor.extract([say(text)])[0].triples
    assert text[triple.evidence.start : triple.evidence.end] == said


def test_mentions_lie_where_they_were_said(extractor: RulesExtractor) -> None:
    text = "um im moving to like Lisbon with uh Marcus"
    mentions = extractor.extract([say(text)])[0].mentions
    assert {(each.surface, text[each.span.start : each.span.end]) for each in mentions} >= {
        ("Lisbon", "Lisbon"),
        ("Marcus", "Marcus"),
    }


def test_documents_are_written_text(extractor: RulesExtractor) -> None:
    text = "The im module wont load, no wait states."
    extraction = extractor.extract([say(text, personal=False)])[0]
    assert all(text[m.span.start : m.span.end] == m.surface for m in extraction.mentions)
