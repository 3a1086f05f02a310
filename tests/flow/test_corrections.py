"""Correcting one fact: what it makes of it, who may, and that a replay makes the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from given import TENANT, draft
from lamina.forget.stepping import erased_in_steps
from lamina.kernel.events import Context, Event, Origin, Party, Trust
from lamina.kernel.records import Entity, Fact, Layer, Mention
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.language.entities import entity_id
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.log import Capture
from told import ALICE, ANA, BOB, DAY, START, Memory

SCOPE = "org:acme/user:ana"


def corrected(memory: Memory, fact: Fact, at: int, by: Party = ANA, **content: Any) -> Event:
    """What the door puts into the log."""
    memory.clock.at += SECOND_US
    content = {
        "kind": "correction",
        "action": "correct",
        "fact_id": fact.id,
        "text": "no",
        "at": None,
        **content,
    }
    values: dict[str, Any] = {"observed_actor": by, "subject": ANA, "scope": ALICE, "session": None}
    values["context"] = Context(observed_at=at)
    values["origin"] = Origin(by.id, "correction", Trust.PRINCIPAL)
    return memory.store.log.append([Capture(draft(content=content, modality="correction", **values))])[
        0
    ].event


def the(memory: Memory, predicate: str) -> Fact:
    (fact,) = [each for each in memory.held(Layer.FACTS) if each.predicate == predicate]
    return fact


def test_a_corrected_value_holds_from_the_beginning_of_the_wrong_one(memory: Memory) -> None:
    told = memory.tell("I live in Porto.", START)
    memory.derive()
    wrong = the(memory, "lives_in")
    corrected(memory, wrong, START + 9 * DAY, object="Lisbon")
    memory.derive()
    assert memory.homes()[-1] == ("Lisbon", START, None)
    assert [home[2] for home in memory.homes()[:-1]] == [START]
    assert memory.homes(told.recorded_at) == [("Porto", START, None)]
    facts = {fact.object.text: fact for fact in memory.held(Layer.FACTS)}
    assert facts["Porto"].superseded_by == facts["Lisbon"].id
    assert facts["Lisbon"].text == "Ana lives in Lisbon"
    live, again = memory.replayed()
    assert live == again


@pytest.mark.parametrize(
    ("said", "predicate"), [("I live in Porto.", "lives_in"), ("I like Porto.", "likes")], ids=["one", "many"]
)
def test_who_corrects_a_fact_again_before_it_was_derived_has_the_last_word(
    memory: Memory, said: str, predicate: str
) -> None:
    def held() -> list[str]:
        facts = [each for each in memory.held(Layer.FACTS) if each.predicate == predicate]
        return [each.object.text for each in facts if each.valid_to is None]

    memory.tell(said, START)
    memory.derive()
    wrong = the(memory, predicate)
    first = corrected(memory, wrong, START + 9 * DAY, object="Lisbon")
    second = corrected(memory, wrong, START + 9 * DAY, object="Rome")
    corrected(
        memory, wrong, START + 9 * DAY, by=BOB, object="Oslo"
    )  # nobody asked whether he may correct her
    memory.derive()
    assert held() == ["Rome"]
    live, again = memory.replayed()
    assert live == again
    for cancelled, stands in ((first, "Rome"), (second, "Oslo")):  # he corrected what she had said before
        memory.cancel(cancelled)
        memory.derive()
        assert held() == [stands]
    live, again = memory.replayed()
    assert live == again


def test_a_correction_touches_no_other_value_of_its_slot(memory: Memory) -> None:
    memory.tell("I live in Porto.", START)
    memory.tell("I live in Lisbon.", START + DAY)
    memory.derive()
    wrong = next(fact for fact in memory.held(Layer.FACTS) if fact.object.text == "Lisbon")
    corrected(memory, wrong, START + 9 * DAY, object="Bergen")
    memory.derive()
    homes = memory.homes()
    assert homes[-1] == ("Bergen", START + DAY, None)
    assert homes[0][:2] == ("Porto", START)
    assert [name for name, since, until in homes if until is None or until - since > 1] == ["Porto", "Bergen"]
    memory.tell("I live in Rome.", START + 20 * DAY)
    memory.derive()
    standing = [(name, until) for name, since, until in memory.homes() if until is None or until - since > 1]
    assert standing[1:] == [("Bergen", START + 20 * DAY), ("Rome", None)]
    live, again = memory.replayed()
    assert live == again


def test_of_many_values_exactly_one_is_corrected(memory: Memory) -> None:
    memory.tell("I like ramen.", START)
    memory.tell("I like tea.", START)
    memory.derive()
    wrong = next(fact for fact in memory.held(Layer.FACTS) if fact.object.text == "ramen")
    corrected(memory, wrong, START + DAY, object="udon")
    memory.derive()
    open_ended = [fact.object.text for fact in memory.held(Layer.FACTS) if fact.valid_to is None]
    assert sorted(open_ended) == ["tea", "udon"]
    live, again = memory.replayed()
    assert live == again


def test_a_retracted_fact_ends_and_its_belief_with_it(memory: Memory) -> None:
    memory.tell("I live in Porto.", START)
    memory.tell("I like tea.", START)
    memory.derive()
    corrected(memory, the(memory, "lives_in"), START + 9 * DAY, action="retract")
    memory.derive()
    assert memory.homes() == [("Porto", START, START + 9 * DAY)]
    ends = {belief.predicate: belief.valid_to for belief in memory.held(Layer.BELIEFS)}
    assert ends == {"lives_in": START + 9 * DAY, "likes": None}
    live, again = memory.replayed()
    assert live == again


@pytest.mark.parametrize("content", [{"object": "Lisbon"}, {"action": "retract"}], ids=["correct", "retract"])
def test_a_cancelled_correction_gives_the_fact_back(memory: Memory, content: dict[str, Any]) -> None:
    memory.tell("I live in Porto.", START)
    memory.derive()
    before = memory.shown()
    mistake = corrected(memory, the(memory, "lives_in"), START + DAY, **content)
    memory.derive()
    memory.cancel(mistake)
    memory.derive()
    assert memory.shown() == before
    live, again = memory.replayed()
    assert live == again


def test_a_correction_outlives_the_cancellation_of_another_word(memory: Memory) -> None:
    memory.tell("I live in Porto.", START)
    memory.derive()
    corrected(memory, the(memory, "lives_in"), START + DAY, object="Lisbon")
    memory.derive()
    other = memory.tell("I live in Rome.", START + 2 * DAY)
    memory.derive()
    memory.cancel(other)
    memory.derive()
    assert memory.homes()[-1] == ("Lisbon", START, None)
    live, again = memory.replayed()
    assert live == again


def test_what_replaced_one_of_many_values_outlives_a_cancelled_word_about_it(memory: Memory) -> None:
    memory.tell("I like ramen.", START)
    memory.tell("I like tea.", START)
    memory.derive()
    wrong = next(fact for fact in memory.held(Layer.FACTS) if fact.object.text == "ramen")
    corrected(memory, wrong, START + DAY, object="udon")
    memory.derive()
    before = memory.shown()
    memory.cancel(memory.tell("I like udon.", START + 2 * DAY))
    again = memory.tell("I like udon.", START + 3 * DAY)
    memory.derive()
    memory.cancel(again)
    memory.derive()
    assert memory.shown() == before
    live, replayed = memory.replayed()
    assert live == replayed


def test_a_cancelled_word_leaves_what_a_correction_put_in_the_place_of_another_value(memory: Memory) -> None:
    """Where that value was held already, its fact is the one that took the place."""
    memory.tell("I like ramen.", START)
    again = memory.tell("I like ramen.", START + DAY)
    memory.tell("I like udon.", START)
    memory.derive()
    facts = {fact.object.text: fact for fact in memory.held(Layer.FACTS)}
    corrected(memory, facts["ramen"], START + 2 * DAY, object="udon")
    memory.derive()
    memory.cancel(again)
    memory.derive()
    facts = {fact.object.text: fact for fact in memory.held(Layer.FACTS)}
    assert facts["ramen"].superseded_by == facts["udon"].id
    assert (facts["udon"].valid_to, facts["udon"].confidence) == (None, 0.99)
    live, replayed = memory.replayed()
    assert live == replayed


@pytest.mark.parametrize("said", ["I live in Porto.", "I like Porto."])
def test_what_replaced_a_value_outlives_the_cancelled_word_that_was_wrong(memory: Memory, said: str) -> None:
    """As the answer to a correction says: cancel the event to take what was said out of recall."""
    told = memory.tell(said, START)
    memory.derive()
    (wrong,) = memory.held(Layer.FACTS)
    corrected(memory, wrong, START + DAY, object="Lisbon")
    memory.derive()
    memory.cancel(told)
    memory.derive()
    (fact,) = memory.held(Layer.FACTS)
    assert (fact.object.text, fact.valid_from, fact.valid_to, fact.negated) == ("Lisbon", START, None, False)
    (belief,) = memory.held(Layer.BELIEFS)
    assert belief.object.text == "Lisbon"
    live, replayed = memory.replayed()
    assert live == replayed


def test_a_cancellation_passes_over_a_correction_without_words(memory: Memory) -> None:
    memory.tell("I like ramen.", START)
    memory.derive()
    (wrong,) = memory.held(Layer.FACTS)
    correction = corrected(memory, wrong, START + DAY, object="udon")
    again = memory.tell("I like udon.", START + 2 * DAY)
    memory.derive()
    erasure = Erasure(
        tenant_id=TENANT,
        erasure_id="audit_1",
        by_actor="user:root",
        cascade="redact_events",
        redact=[correction.id],
    )
    list(erased_in_steps(memory.store, erasure))
    memory.cancel(again)
    memory.derive()
    assert memory.store.jobs.backlog()["pending"] == 0
    assert memory.store.jobs.backlog()["failed"] == 0


@pytest.mark.parametrize("said", ["I live in {}.", "I like {}."])
def test_what_replaced_a_cancelled_value_is_not_hidden_with_it(memory: Memory, said: str) -> None:
    """Once a version that was made of it later was kept out as the cancelled one is, though its own words stand."""
    told = memory.tell(said.format("Porto"), START)
    memory.derive()
    (wrong,) = memory.held(Layer.FACTS)
    corrected(memory, wrong, START + DAY, object="Lisbon")
    memory.derive()
    memory.cancel(told)
    memory.derive()
    surer = memory.tell(said.format("Lisbon"), START - 9 * DAY)
    memory.derive()
    memory.cancel(surer)
    memory.derive()
    facts = [(fact.object.text, fact.valid_from, fact.valid_to) for fact in memory.held(Layer.FACTS)]
    assert facts == [("Lisbon", START, None)]
    live, replayed = memory.replayed()
    assert live == replayed


class Told:
    """A world in which Ana told where she lives, and short ways to correct it."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.memory = Memory(world.store, world.clock)
        self.told = world.event("I live in Porto.", SCOPE, actor="user:ana")
        world.clock.at += DAY
        self.memory.derive()
        (self.fact,) = world.get("/v1/facts", scope=SCOPE, predicate="lives_in")["items"]

    def ask(self, action: str, body: dict[str, Any], by: str = "user:ana", fact: str = "") -> tuple[int, Any]:
        path = f"/v1/facts/{fact or self.fact['id']}/{action}"
        response = self.world.call("POST", path, body=body, headers={"X-Cortex-Actor": by})
        return response.status_code, response.json()


@pytest.fixture
def told(world: Any) -> Told:
    return Told(world)


def test_over_http_a_correction_is_an_event_that_says_who_why_and_that_nothing_is_erased(told: Told) -> None:
    asked = {
        "object": "Lisbon",
        "why": "I misspoke.",
        "quote": "It is Lisbon, not Porto.",
        "idempotency_key": "k-1",
    }
    status, answer = told.ask("correct", asked)
    assert (status, answer["status"], answer["erased"]) == (202, "captured", False)
    assert "Nothing is erased" in answer["note"]
    told.memory.derive()
    (fact,) = told.world.get("/v1/facts", scope=SCOPE, predicate="lives_in")["items"]
    assert (fact["text"], fact["supports"]) == ("Ana lives in Lisbon", [answer["event_id"]])
    event = told.world.get(f"/v1/events/{answer['event_id']}")
    assert (event["modality"], event["observed_actor"]["id"]) == ("correction", "user:ana")
    assert (event["content"]["why"], event["content"]["quote"]) == ("I misspoke.", "It is Lisbon, not Porto.")
    assert told.world.get(f"/v1/facts/{told.fact['id']}")["superseded_by"] == fact["id"]
    again, repeated = told.ask("correct", asked)
    assert (again, repeated["event_id"]) == (202, answer["event_id"])
    assert told.ask("correct", {**asked, "object": "Rome"})[1]["error_code"] == "IDEMPOTENCY_CONFLICT"
    ended = told.ask("retract", {})
    assert (ended[0], ended[1]["error_code"]) == (409, "FACT_ENDED")
    assert ended[1]["details"]["superseded_by"] == fact["id"]


@pytest.mark.parametrize("how", ["delete", "redact"])
def test_over_http_a_correction_that_was_forgotten_is_not_repeated_under_its_key(
    told: Told, how: str
) -> None:
    """The key goes at the end of an erasure, which may take minutes."""
    asked = {"object": "Lisbon", "idempotency_key": "k-1"}
    event_id = told.ask("correct", asked)[1]["event_id"]
    told.memory.derive()
    step = Erasure(tenant_id=TENANT, erasure_id="ers", by_actor="user:ana", cascade="gdpr")
    told.world.store.erasing.erase(replace(step, **{how: [event_id]}))  # type: ignore[arg-type]
    status, answer = told.ask("correct", asked)
    assert (status, answer["error_code"]) == (410, "RESOURCE_DELETED")


def test_over_http_a_retracted_fact_is_in_no_list_of_now(told: Told) -> None:
    assert told.ask("retract", {"why": "Never did."})[0] == 202
    told.memory.derive()
    told.world.clock.at += DAY
    assert told.world.get("/v1/facts", scope=SCOPE, predicate="lives_in")["items"] == []
    assert told.ask("retract", {})[1]["error_code"] == "FACT_ENDED"


UNITS = [{"object": {"value": value, "unit": "km"}} for value in (True, "three")]


def test_what_cannot_be_corrected_says_so_and_stores_nothing(told: Told) -> None:
    before = told.world.get("/v1/events", scope=SCOPE)["items"]
    unknown = told.fact["id"][:-4] + "0000"
    assert told.ask("retract", {}, fact=unknown)[1]["error_code"] == "NOT_FOUND"
    assert told.ask("correct", {})[1]["error_code"] == "MISSING_REQUIRED_FIELD"
    for wrong in ({"object": None}, {"object": ""}, {"object": ["km"]}, {"object": "Porto"}, *UNITS):
        status, answer = told.ask("correct", wrong)
        assert (status, answer["error_code"]) == (422, "INVALID_REQUEST"), wrong
    assert told.ask("retract", {"valid_to": "2001-01-01T00:00:00Z"})[0] == 422
    assert told.world.get("/v1/events", scope=SCOPE)["items"] == before
    told.memory.cancel(told.told)
    told.memory.derive()
    status, answer = told.ask("retract", {})
    assert (status, answer["error_code"]) == (410, "RESOURCE_DELETED")


def test_of_a_person_speak_they_themselves_and_who_may_write_about_others(told: Told) -> None:
    told.world.policy.deny("scope.write.about_other")
    status, answer = told.ask("retract", {}, by="user:bob")
    assert (status, answer["error_code"]) == (403, "POLICY_DENIED")
    told.world.policy.denied.clear()
    assert told.ask("correct", {"object": "Lisbon"}, by="user:bob")[0] == 202
    told.memory.derive()
    (fact,) = told.world.get("/v1/facts", scope=SCOPE, predicate="lives_in")["items"]
    assert (fact["object"]["name"], fact["said_by"]) == ("Lisbon", None)


@pytest.mark.parametrize("elsewhere", ["person", "thing"])
def test_what_another_scope_calls_a_name_decides_nothing_here(world: Any, elsewhere: str) -> None:
    ana = entity_id(TENANT, "ana")
    known = Entity(tenant_id=TENANT, id=ana, normalised_name="ana", type=elsewhere)
    other = Scope("org:acme/user:carl")
    mention = Mention(
        tenant_id=TENANT,
        entity_id=ana,
        scope=other,
        event_id="evt_1",
        position=1,
        surface="Ana",
        type=elsewhere,
    )
    world.land(entities=[known], mentions=[mention])
    told = Told(world)
    world.policy.deny("scope.write.about_other")
    assert told.ask("retract", {}, by="user:bob")[0] == 403, "here she is a person"


def test_who_may_not_write_the_scope_corrects_nothing_there(told: Told) -> None:
    told.world.policy.deny("scope.write", SCOPE)
    assert told.ask("retract", {})[0] == 403


def test_a_caller_cannot_pose_as_a_correction(told: Told) -> None:
    content = {"kind": "json", "action": "retract", "fact_id": told.fact["id"], "text": "no", "at": None}
    body = {
        "scope": SCOPE, "modality": "correction", "content": content, "idempotency_key": "k-9",
        "context": {"observed_at": "2026-05-14T12:00:00Z"},
    }  # fmt: skip
    assert told.world.call("POST", "/v1/experience", body=body).status_code == 202
    told.memory.derive()
    assert len(told.world.get("/v1/facts", scope=SCOPE, predicate="lives_in")["items"]) == 1
