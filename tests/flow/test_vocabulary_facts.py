"""What a vocabulary makes of claims: bound to its terms, one value after the other or many, and ended with a term that vanishes."""

from __future__ import annotations

from typing import Any

import pytest

from given import ALICE, BOB, TENANT
from lamina.kernel.records import Fact, Layer, Stance
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes, instant
from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.store.ports.records import RecordQuery
from told import LATER, Memory
from vocabularies import STAGE, activate, put

MAY = instant("2026-05-01T00:00:00Z")
SEATS = {"id": "seat_count", "datatype": "integer", "unit": "seats"}


def _state(predicate: str, value: Any, **said: Any) -> dict[str, Any]:
    return {"kind": "triple", "subject": "Acme", "predicate": predicate, "object": value, **said}


def _stages(memory: Memory, seen_at: int = LATER) -> list[tuple[str, str, int | None]]:
    facts = sorted(memory.held(Layer.FACTS, seen_at), key=lambda fact: (fact.valid_from, fact.predicate))
    return [(fact.predicate, fact.object.text, fact.valid_to) for fact in facts]


def _facts_in(*scopes: Scope) -> RecordQuery:
    axes = Axes(seen_at=LATER)
    return RecordQuery(tenant_id=TENANT, layer=Layer.FACTS, scopes=list(scopes), axes=axes, limit=9)


def _as_replayed(memory: Memory) -> None:
    live, again = memory.replayed()
    assert live == again


@pytest.fixture(name="sales")
def _sales(memory: Memory) -> Memory:
    put(memory, STAGE, SEATS)
    activate(memory, ["sales"])
    return memory


def test_free_words_are_bound_to_a_term_with_confidence(sales: Memory) -> None:
    put(sales, {**STAGE, "synonyms": [{"predicate": "stage", "confidence": 0.5}]}, SEATS)
    sales.tell(_state("Stage", "POC"), MAY)
    sales.tell(_state("seat count", 200), MAY)
    sales.tell(_state("mood", "good"), MAY)
    sales.derive()
    facts: dict[str, Fact] = {fact.predicate: fact for fact in sales.held(Layer.FACTS)}
    stage, seats, mood = facts["deal_stage"], facts["seat_count"], facts["mood"]
    assert stage.binding is not None
    assert (stage.binding.vocabulary, stage.binding.predicate_said) == ("sales", "stage")
    assert (stage.object.value, stage.object.datatype) == ("poc", "string")
    assert (stage.confidence, stage.binding.confidence) == (round(0.95 * 0.5, 4), 0.5)
    assert (seats.object.value, seats.object.unit) == (200, "seats")
    assert mood.binding is None
    _as_replayed(sales)


def test_a_stated_value_of_a_term_with_one_takes_the_place_of_the_one_before(sales: Memory) -> None:
    sales.tell(_state("deal_stage", "poc"), MAY)
    sales.tell(_state("stage", "close"), MAY + 10)
    sales.derive()
    assert _stages(sales) == [("deal_stage", "poc", MAY + 10), ("deal_stage", "close", None)]
    _as_replayed(sales)


def test_a_term_with_many_values_keeps_them_beside_each_other_numbers_too(memory: Memory) -> None:
    put(memory, {"id": "lucky_number", "datatype": "integer", "cardinality": "many"})
    activate(memory, ["sales"])
    memory.tell(_state("lucky_number", 7), MAY)
    memory.tell(_state("lucky_number", 13), MAY + 10)
    memory.derive()
    assert _stages(memory) == [("lucky_number", "7", None), ("lucky_number", "13", None)]


def test_what_is_taken_back_is_that_of_the_term(sales: Memory) -> None:
    sales.tell(_state("deal_stage", "poc"), MAY)
    sales.tell(_state("stage", None), MAY + 10)
    sales.derive()
    assert _stages(sales) == [("deal_stage", "poc", MAY + 10)]


def test_what_rules_read_is_bound_too_and_stays_free_text_where_it_does_not_fit(make_memory: Any) -> None:
    memory: Memory = make_memory(RulesExtractor(find_times))
    home = {"id": "home_town", "values": ["Lisbon", "Porto"], "synonyms": ["lives_in"]}
    put(memory, home)
    activate(memory, ["sales"])
    memory.tell("I live in Porto.", MAY)
    memory.tell("I moved to Lisbon.", MAY + 10)
    memory.tell("My sister lives in Rome.", MAY + 20)
    memory.derive()
    homes = [row for row in _stages(memory) if row[0] in ("home_town", "lives_in")]
    assert homes == [
        ("home_town", "Porto", MAY + 10),
        ("home_town", "Lisbon", None),
        ("lives_in", "Rome", None),
    ]
    _as_replayed(memory)


def test_a_vocabulary_holds_for_what_is_told_while_it_is_active(memory: Memory) -> None:
    put(memory, {**STAGE, "synonyms": ["step"]})
    memory.tell(_state("step", "poc"), MAY)
    activate(memory, ["sales"])
    memory.derive()
    assert _stages(memory) == [("step", "poc", None)]
    memory.tell(_state("step", "close"), MAY + 10)
    activate(memory, None)
    memory.tell(_state("step", "lost"), MAY + 20)
    memory.derive()
    assert _stages(memory) == [
        ("step", "poc", MAY + 10),
        ("deal_stage", "close", None),
        ("step", "lost", None),
    ]
    _as_replayed(memory)


def test_the_nearest_scope_that_says_something_decides(memory: Memory) -> None:
    put(memory, STAGE)
    activate(memory, ["sales"], "org:acme")
    memory.tell(_state("stage", "poc"), MAY, scope=ALICE)
    activate(memory, [], ALICE)
    memory.tell(_state("stage", "close"), MAY + 10, scope=ALICE)
    memory.tell(_state("stage", "close"), MAY + 10, scope=BOB)
    memory.tell(_state("stage", "close"), MAY + 10, scope=Scope("org:globex"))
    memory.derive()
    facts = memory.store.records.query(_facts_in(ALICE, BOB, Scope("org:globex")))
    found = sorted((fact.scope, fact.predicate) for fact in facts)
    assert found == [(ALICE, "deal_stage"), (ALICE, "stage"), (BOB, "deal_stage"), ("org:globex", "stage")]


def test_a_vanished_term_takes_its_facts_out_and_readers_of_then_have_them(sales: Memory) -> None:
    sales.tell(_state("deal_stage", "poc"), MAY)
    sales.tell(_state("seat_count", 200), MAY)
    sales.tell(_state("deal_stage", "poc"), MAY, scope=Scope("org:globex"))  # free text there
    sales.derive()
    before = sales.clock.at
    sales.clock.at += 10
    put(sales, SEATS)
    sales.derive()
    assert _stages(sales) == [("seat_count", "200 seats", None)]
    assert _stages(sales, before) == [("deal_stage", "poc", None), ("seat_count", "200 seats", None)]
    (globex,) = sales.store.records.query(_facts_in(Scope("org:globex")))
    assert globex.recorded_to is None
    beliefs = {belief.predicate: belief.stance for belief in sales.held(Layer.BELIEFS)}
    assert beliefs == {"deal_stage": Stance.DEPRECATED, "seat_count": Stance.SUPPORTED}
    _as_replayed(sales)


def test_what_waits_to_be_derived_by_a_term_that_vanishes_goes_too(sales: Memory) -> None:
    sales.tell(_state("deal_stage", "poc"), MAY)
    put(sales, SEATS)
    sales.tell(_state("deal_stage", "close"), MAY + 10)
    sales.derive()
    assert _stages(sales) == [("deal_stage", "close", None)]
    _as_replayed(sales)


def test_a_term_that_comes_back_begins_anew(sales: Memory) -> None:
    sales.tell(_state("deal_stage", "poc"), MAY)
    sales.derive()
    put(sales, SEATS)
    put(sales, STAGE, SEATS)
    sales.tell(_state("deal_stage", "close"), MAY + 10)
    sales.derive()
    assert _stages(sales) == [("deal_stage", "close", None)]
    beliefs = sorted((b.object.text, b.stance) for b in sales.held(Layer.BELIEFS))
    assert beliefs == [("close", Stance.SUPPORTED), ("poc", Stance.DEPRECATED)]
    _as_replayed(sales)


def test_a_term_that_has_one_value_by_now_ends_the_many(sales: Memory) -> None:
    put(sales, {**STAGE, "cardinality": "many"}, SEATS)
    sales.tell(_state("deal_stage", "intro"), MAY)
    sales.tell(_state("deal_stage", "poc"), MAY + 10)
    put(sales, STAGE, SEATS)
    sales.tell(_state("deal_stage", "close"), MAY + 20)
    sales.derive()
    assert _stages(sales) == [
        ("deal_stage", "intro", MAY + 20),
        ("deal_stage", "poc", MAY + 20),
        ("deal_stage", "close", None),
    ]
    _as_replayed(sales)


def test_a_term_that_has_many_values_by_now_keeps_the_one(sales: Memory) -> None:
    sales.tell(_state("deal_stage", "poc"), MAY)
    put(sales, {**STAGE, "cardinality": "many"}, SEATS)
    sales.tell(_state("deal_stage", "close"), MAY + 10)
    sales.tell(_state("deal_stage", "poc"), MAY + 20)
    sales.derive()
    assert _stages(sales) == [("deal_stage", "poc", None), ("deal_stage", "close", None)]
    sales.tell(_state("deal_stage", "poc", negated=True), MAY + 30)
    sales.derive()
    held = [row for row in _stages(sales) if row[2] is None]
    assert ("deal_stage", "poc", MAY + 30) in _stages(sales)
    assert len(held) == 2  # close, and that it is not poc
    _as_replayed(sales)


def test_a_cancelled_value_of_a_term_leaves_the_one_before(sales: Memory) -> None:
    sales.tell(_state("stage", "poc"), MAY)
    wrong = sales.tell(_state("deal_stage", "close"), MAY + 10)
    sales.derive()
    sales.cancel(wrong)
    sales.derive()
    assert _stages(sales) == [("deal_stage", "poc", None)]
    _as_replayed(sales)


def test_relations_of_a_vocabulary_name_edges_between_concepts(memory: Memory) -> None:
    put(memory, {"id": "supplies", "synonyms": ["sells_to"]}, name="trade", kind="relation")
    activate(memory, ["trade"])
    for subject in ("Acme", "Globex"):
        for number, other in enumerate(("Initech", "Hooli", "Umbrella")):
            memory.tell({**_state("sells to", other), "subject": subject}, MAY + number)
    memory.tell({**_state("sells_to", "Globex"), "subject": "Acme"}, MAY + 9)
    memory.derive()
    (acme,) = [c for c in memory.held(Layer.UNDERSTANDING) if c.name == "Acme"]
    assert {(edge.relation, edge.vocabulary) for edge in acme.edges} == {("supplies", "trade")}
    _as_replayed(memory)
