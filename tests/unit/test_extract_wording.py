"""Claims restated as sentences, and the inflection behind them."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from extraction_cases import NOW, find_times, say

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.inflect import (
    base_form,
    gerund,
    in_past,
    is_plural,
    plural,
    third_person,
    with_article,
)
from lamina.pipeline.extract.restating import restate
from lamina.pipeline.extract.syntax import Parser
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Span, Triple
from lamina.pipeline.extract.vocabulary import ADJECTIVE_CANON, CANON, GERUND_OBJECT, PREDICATES, describe

SENTENCES = [
    ("I'm a product designer.", "Alice works as a product designer"),
    ("I signed up for a pottery class.", "Alice signed up for a pottery class"),
    ("I ate an enormous pancake yesterday.", "Alice ate an enormous pancake"),
    ("I studied in Lisbon.", "Alice studied in Lisbon"),
    ("My kids love pizza.", "Alice's kids like pizza"),
    ("The office is in Hamburg.", "The office is located in Hamburg"),
    ("We adopted a cat named Max.", "Alice adopted Max"),
    ("We have a cat named Max.", "Alice has a cat named Max"),
    ("I'm not allergic to nuts.", "Alice is not allergic to nuts"),
    ("We don't have a car.", "Alice does not have a car"),
    ("I used to live in Rome.", "Alice lived in Rome"),
    ("My goal is to run a marathon.", "Alice's goal is to run a marathon"),
    ("We have two kids.", "Alice has 2 kids"),
    ("I'll send the deck by Friday.", "Alice committed to send the deck (by 2024-05-10)"),
    ("I like to collect stamps.", "Alice likes to collect stamps"),
    ("I emailed some wholesalers.", "Alice emailed some wholesalers"),
    ("We stopped using Figma.", "Alice stopped using Figma"),
    ("I didn't stop using Figma.", "Alice did not stop using Figma"),
    ("I ordered a pizza from Luigi.", "Alice ordered a pizza from Luigi"),
    ("I didn't move to Leeds.", "Alice did not move to Leeds"),
]


@pytest.mark.model
@pytest.mark.parametrize(("text", "sentence"), SENTENCES, ids=[text for text, _ in SENTENCES])
def test_claims_read_as_sentences(parser: Parser, text: str, sentence: str) -> None:
    found = RulesExtractor(find_times, parser=parser).extract([say(text)])[0].triples
    assert restate(found[0]) == sentence


@pytest.mark.model
def test_a_state_that_was_over_is_told_in_the_past(parser: Parser) -> None:
    (triple,) = (
        RulesExtractor(find_times, parser=parser).extract([say("I worked at Acme last week.")])[0].triples
    )
    assert restate(triple) == "Alice works at Acme"
    assert restate(triple, seen_at=NOW + timedelta(days=1)) == "Alice worked at Acme"


@pytest.mark.parametrize(
    ("base", "past", "third", "doing"),
    [
        ("eat", "ate", "eats", "eating"),
        ("study", "studied", "studies", "studying"),
        ("plan", "planned", "plans", "planning"),
        ("move", "moved", "moves", "moving"),
        ("go", "went", "goes", "going"),
        ("have", "had", "has", "having"),
        ("watch", "watched", "watches", "watching"),
        ("play", "played", "plays", "playing"),
    ],
)
def test_verbs(base: str, past: str, third: str, doing: str) -> None:
    assert (in_past(base), third_person(base), gerund(base), base_form(third)) == (past, third, doing, base)


@pytest.mark.parametrize(
    ("words", "phrase"),
    [
        ("apple", "an apple"),
        ("unicorn", "a unicorn"),
        ("MRI", "an MRI"),
        ("hour", "an hour"),
        ("UK tour", "a UK tour"),
    ],
)
def test_articles(words: str, phrase: str) -> None:
    assert with_article(words) == phrase


def test_plurals() -> None:
    assert [plural(noun) for noun in ("seat", "child", "city", "box")] == [
        "seats",
        "children",
        "cities",
        "boxes",
    ]
    assert [is_plural(name) for name in ("Alice's kids", "Alice's boss", "James", "people")] == [
        True,
        False,
        False,
        True,
    ]


_GIVEN = sorted({*PREDICATES, *CANON.values(), *GERUND_OBJECT.values(), *ADJECTIVE_CANON.values()})


@pytest.mark.parametrize("predicate", _GIVEN)
def test_no_predicate_is_put_into_the_past_twice(predicate: str) -> None:
    alice = EntityRef("Alice", "alice", "person", "user:alice")
    kind = describe(predicate, past=True).kind
    for negated in (False, True):
        told = restate(
            Triple(alice, predicate, LiteralValue("string", "x"), kind, 0.9, Span(0, 1), negated=negated)
        )
        assert not re.search(r"eded|id not (?:\w+ed|got|had|went|met|won|lost|left|sold|bought)\b", told), (
            told
        )
