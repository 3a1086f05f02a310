"""Plain rules, without a parser; keys."""

from __future__ import annotations

import pytest
from extraction_cases import find_times, say, short
from hypothesis import given
from hypothesis import strategies as st

from lamina.language.temporal import find_times as real_find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.restating import restate
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Span, Triple
from lamina.pipeline.extract.vocabulary import CANON, PREDICATES, describe

plain = RulesExtractor(find_times, use_parser=False)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("My name is Alice Doe.", ["Alice name_is Alice Doe"]),
        ("I live in Berlin and I love it.", ["Alice lives_in Berlin"]),
        ("I work at Acme Corp.", ["Alice works_at Acme Corp"]),
        ("I'm allergic to peanuts.", ["Alice allergic_to peanuts"]),
        ("I'll send the deck by Friday.", ["Alice committed_to send the deck by Friday"]),
        ("Ich wohne in Berlin.", ["Alice lives_in Berlin"]),
        ("Je m'appelle Alice et je travaille chez Acme.", ["Alice name_is Alice", "Alice works_at Acme"]),
        ("Me llamo Alicia y vivo en Madrid.", ["Alice name_is Alicia", "Alice lives_in Madrid"]),
        ("Ich wohne nicht mehr in Berlin.", ["Alice not lives_in Berlin"]),
        ("Ich arbeite seit 2019 bei Acme.", ["Alice works_at Acme"]),
        ("Ich mag Jazz nicht mehr.", ["Alice not likes Jazz"]),
        ("Ich mag keine Oliven.", []),
        (
            "Ya no vivo en Sevilla, ahora vivo en Cádiz.",
            ["Alice not lives_in Sevilla", "Alice lives_in Cádiz"],
        ),
        ("No vivo en Sevilla.", ["Alice not lives_in Sevilla"]),
        ("Je n'habite plus à Lyon.", ["Alice not lives_in Lyon"]),
        ("Non abito più a Roma.", ["Alice not lives_in Roma"]),
        ("No, I live in Berlin.", ["Alice corrects lives_in Berlin"]),
        ("I prefer tea to coffee.", ["Alice prefers tea"]),
        ("I have a cat named Biscuit.", ["Alice has_pet Biscuit"]),
        ("I have a cat called home.", []),
        ("Do you live in Berlin?", []),
        ("If I get the job, I work at Acme.", []),
        ("Wenn ich Glück habe, und ich wohne in Berlin.", []),
        ("Si je gagne, je travaille chez Acme.", []),
        ("If you must know, I live in Berlin.", ["Alice lives_in Berlin"]),
        ("Thanks a lot!", []),
    ],
)
def test_plain_rules(text: str, claims: list[str]) -> None:
    assert [short(triple) for triple in plain.extract([say(text)])[0].triples] == claims


def test_a_date_is_that_of_its_own_clause_and_never_of_a_name() -> None:
    def since(text: str) -> dict[str, int | None]:
        found = RulesExtractor(real_find_times, use_parser=False).extract([say(text)])[0].triples
        return {t.predicate: t.valid_from.year if t.valid_from else None for t in found}

    assert since("Ich heiße Nora und wohne seit 2019 in Berlin.") == {"name_is": None, "lives_in": 2019}
    assert since("Vivo en Cádiz desde 2019.") == {"lives_in": 2019}
    assert since("Ich heiße Nora seit 2019.") == {"name_is": None}


@given(st.text(max_size=300))
def test_no_text_is_an_error(text: str) -> None:
    found = plain.extract([say(text), say(text, personal=False)])
    for extraction in found:
        for triple in extraction.triples:
            assert 0 <= triple.confidence <= 1
            assert 0 <= triple.evidence.start < triple.evidence.end <= len(text)


@given(st.lists(st.sampled_from(["I", "my", "sister", "Anna", "prefer", "to", "is", "from", "at", "200", "seats", ",", ".", "and", "favorite", "'s", "\n", "Ich", "wohne", "in"]), max_size=40))  # fmt: skip
def test_no_row_of_trigger_words_is_an_error(parts: list[str]) -> None:
    plain.extract([say(" ".join(parts))])


def test_long_text_is_read_up_to_a_bound() -> None:
    found = plain.extract([say("I live in Berlin. " * 20_000)])[0]
    assert len(found.triples) <= 400


def _triple(predicate: str, value: EntityRef | LiteralValue, **more: object) -> Triple:
    alice = EntityRef("Alice", "alice", "person", "user:alice")
    kind = describe(predicate, past=False).kind
    return Triple(alice, predicate, value, kind, 0.9, Span(0, 1), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("triple", "key"),
    [
        (_triple("favourite_food", LiteralValue("string", "ramen")), "Alice's favourite food is ramen"),
        (
            _triple("prefers", LiteralValue("string", "tea"), qualifiers=(("over", "coffee"),)),
            "Alice prefers tea to coffee",
        ),
        (_triple("lives_in", EntityRef("Lisbon", "lisbon", "place")), "Alice lives in Lisbon"),
        (_triple("likes", LiteralValue("string", "tea"), negated=True), "Alice does not like tea"),
        (_triple("weight", LiteralValue("quantity", 70, "kg")), "Alice weighs 70 kg"),
    ],
)
def test_a_claim_is_restated(triple: Triple, key: str) -> None:
    assert restate(triple) == key


def test_opaque_id_is_not_restated() -> None:
    anonymous = EntityRef("user:7f3a", "user:7f3a", "person", "user:7f3a")
    triple = Triple(anonymous, "likes", LiteralValue("string", "tea"), "preference", 0.9, Span(0, 1))
    assert restate(triple) == "user likes tea"


def test_canonical_predicates_are_described() -> None:
    known = set(PREDICATES) | {"ordered", "stay_in"}
    assert set(CANON.values()) <= known
    assert describe("seat_count", past=False).single_valued
    assert describe("favourite_food", past=False).single_valued
    assert describe("sign_up_for", past=True).kind == "event"
