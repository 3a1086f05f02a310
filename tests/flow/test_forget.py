"""``POST /v1/forget``: what is chosen goes, what rests on it stands, and who asks for it is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lamina.forget import forgetting
from lamina.forget.selecting import derived_alone
from lamina.kernel.events import Directives, Origin, Party, Stage, Trust
from lamina.kernel.scopes import Scope
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.session.drain import Drain
from lamina.store.rules.log import cancellation_of
from lamina.store.watch import Watch

ALICE = "org:acme/user:alice"
OTHER = "org:acme/user:bob"
NOBODY = "fact_01a205eb-7cd8-71a7-8744-7106e24bf7c3"


class Told:
    """A world in which Alice said three things."""

    def __init__(self, world: Any) -> None:
        self.world = world
        deriver = Deriver(world.store, RulesExtractor(find_times, use_parser=False), None)
        self.worker = Worker(world.store, deriver, None, world.clock, "test")
        self.leipzig = self.say("I live in Leipzig, by the canary of frobnitz.")
        self.fernhill = self.say("I work at Fernhill.")
        self.ramen = self.say("I like ramen.")
        self.worker.drain()

    def say(self, text: str) -> str:
        self.world.clock.at += 1_000_000
        alice = Party("user:alice", "user", "Alice")
        origin = Origin("user:alice", "http", Trust.PRINCIPAL)
        event = self.world.event(text, observed_actor=alice, subject=alice, origin=origin, session="s-1")
        return str(event.id)

    def forget(self, status: int = 200, **body: Any) -> Any:
        answer = self.world.call("POST", "/v1/forget", body={"scope": ALICE, **body})
        assert answer.status_code == status, answer.text
        return answer.json()

    def facts(self) -> dict[str, str]:
        items = self.world.get("/v1/facts", scope=ALICE)["items"]
        return {item["id"]: item["object"].get("name") or item["object"].get("value") for item in items}

    def status(self, path: str) -> tuple[int, dict[str, Any]]:
        answer = self.world.call("GET", path)
        return answer.status_code, answer.json()


@pytest.fixture
def told(world: Any) -> Told:
    return Told(world)


def test_an_empty_selector_asks_whether_everything_is_meant(told: Told) -> None:
    before = told.facts()
    assert told.forget(422)["error_code"] == "EMPTY_SELECTOR_WITHOUT_CONFIRMATION"
    assert told.forget(422, layers=["facts"], selector={"predicate": ""})["details"]["field"] == "selector"
    assert told.facts() == before
    deleted = told.forget(confirm_all=True)["deleted"]
    assert deleted["facts"] == len(before)
    assert deleted["events"] == 0
    assert told.facts() == {}
    assert len(told.world.get("/v1/events", scope=ALICE)["items"]) == 3


def test_derived_only_forgets_until_a_replay(told: Told) -> None:
    before = told.facts()
    (fact,) = [key for key, value in before.items() if value == "Leipzig"]
    answer = told.forget(layers=["facts"], selector={"predicate": "lives_in", "about_subject": "user:alice"})
    assert answer["deleted"] == {"events": 0, "episodes": 0, "facts": 1, "beliefs": 0, "understanding": 0}
    assert fact not in told.facts()
    status, said = told.status(f"/v1/facts/{fact}")
    assert (status, said["error_code"], said["details"]["audit_id"]) == (
        410,
        "RESOURCE_DELETED",
        answer["audit_id"],
    )
    told.world.policy.deny("scope.read.local", ALICE)
    assert told.status(f"/v1/facts/{fact}")[0] == 404
    told.world.policy.denied.clear()
    told.world.store.jobs.reset()
    told.worker.drain()
    assert told.facts() == before
    assert told.status(f"/v1/facts/{fact}")[0] == 200


def test_what_was_forgotten_by_itself_is_not_answered_from_a_pack(told: Told) -> None:
    asked = {"scope": ALICE, "query": "Where does Alice live?", "include": ["facts"]}
    pack = told.world.post("/v1/recall", asked).json()
    about = {"scope": ALICE, "question": "Where does Alice live?", "use_pack_id": pack["pack_id"]}
    assert "Leipzig" in told.world.post("/v1/answer", about).json()["answer"]
    told.forget(layers=["facts"], selector={"predicate": "lives_in"})
    answer = told.world.post("/v1/answer", about)
    assert "Leipzig" not in answer.text
    (fact,) = [each["id"] for each in pack["layers"]["facts"] if each["predicate"] == "lives_in"]
    assert told.status(f"/v1/facts/{fact}")[0] == 410
    assert fact not in [each["id"] for each in answer.json()["citations"]]
    assert fact in str(pack["provenance"])
    assert fact not in str(answer.json()["provenance"])


def test_redaction_takes_the_words_and_keeps_the_place(told: Told) -> None:
    answer = told.forget(
        layers=["facts", "beliefs"],
        selector={"predicate": "lives_in"},
        cascade="redact_events",
        audit_note="asked by phone",
    )
    assert (answer["deleted"]["events"], answer["deleted"]["facts"]) == (1, 1)
    status, event = told.status(f"/v1/events/{told.leipzig}")
    assert (status, event["content"]) == (200, {"kind": "redacted", "original_kind": "message"})
    told.worker.drain()
    assert "frobnitz" not in str(list(told.world.store.snapshot()))
    packed = told.world.call("POST", "/v1/recall", body={"scope": ALICE, "query": "Where does Alice live?"})
    assert "frobnitz" not in packed.text
    assert "Leipzig" not in packed.text
    row = told.world.get(f"/v1/audit/{answer['audit_id']}")
    assert row["capability"] == "forget.cascade.redact_events"
    assert "asked by phone" in str(row)
    told.world.store.jobs.reset()
    told.worker.drain()
    assert "Leipzig" not in told.facts().values()
    assert "Fernhill" in told.facts().values()


def test_what_stands_on_redacted_words_is_marked_wherever_it_is_read(told: Told) -> None:
    home = told.say("I live in Leipzig.")
    told.worker.drain()
    told.forget(cascade="redact_events", layers=["events"], selector={"memory_ids": [home, told.ramen]})
    marked = {"Leipzig": 0.5, "ramen": 1.0, "Fernhill": 0.0}
    read = told.world.get
    pack = told.world.post("/v1/recall", {"scope": ALICE, "query": "Where do I live, what do I like?"}).json()
    for facts in (read("/v1/facts", scope=ALICE)["items"], pack["layers"]["facts"]):
        shown = {fact["text"].rsplit(" ")[-1]: fact["supporting_evidence_redacted"] for fact in facts}
        assert shown == {value: share > 0.0 for value, share in marked.items()}
    one = [
        read(f"/v1/facts/{fact['id']}")["supporting_evidence_redacted"] for fact in pack["layers"]["facts"]
    ]
    assert one == [fact["supporting_evidence_redacted"] for fact in pack["layers"]["facts"]]
    beliefs = {each["id"]: each for each in read("/v1/beliefs", scope=ALICE)["items"]}
    assert len(beliefs) == len(pack["layers"]["beliefs"]) == 3
    for belief in pack["layers"]["beliefs"]:
        told_of = ("supporting_evidence_redacted_fraction", "supporting_evidence_redacted", "_partial_reason")
        assert [belief[key] for key in told_of] == [beliefs[belief["id"]][key] for key in told_of]
        said = belief["claim"]["object"]
        assert belief["supporting_evidence_redacted_fraction"] == marked[said.get("name") or said["value"]]


def test_ids_are_forgotten_besides_what_the_fields_say(told: Told) -> None:
    facts = {value: key for key, value in told.facts().items()}
    deleted = told.forget(
        layers=["facts"], selector={"predicate": "works_at", "memory_ids": [facts["Leipzig"], NOBODY]}
    )["deleted"]
    assert deleted["facts"] == 2
    assert told.forget(422, selector={"memory_ids": [told.ramen]})["error_code"] == "INVALID_FILTER"
    again = told.forget(selector={"memory_ids": [told.ramen]}, cascade="redact_events")["deleted"]
    assert again["events"] == 1
    assert (
        told.forget(selector={"memory_ids": [told.ramen]}, cascade="redact_events")["deleted"]["events"] == 0
    )


@pytest.mark.parametrize("named", ["nobody", NOBODY.upper(), NOBODY.replace("fact_", "lce_"), "fact_1", ""])
def test_an_id_of_something_else_is_refused(told: Told, named: str) -> None:
    """It would fit nothing, and the answer would read as if all were gone."""
    facts = told.facts()
    refused = told.forget(422, selector={"memory_ids": [next(iter(facts)), named]})
    assert refused["error_code"] == "INVALID_ID"
    assert told.facts() == facts


@pytest.mark.parametrize("field", ["about_subject", "about_entity"])
def test_what_it_is_about_is_no_id_of_something_else(told: Told, field: str) -> None:
    assert told.forget(422, selector={field: NOBODY})["error_code"] == "INVALID_ID"
    nobody = NOBODY.replace("fact_", "ent_")
    assert told.forget(selector={field: nobody})["deleted"]["facts"] == 0


def test_with_derived_what_rests_on_a_turn_alone_goes_with_its_words(told: Told) -> None:
    again = told.say("I like ramen.")
    told.worker.drain()
    facts = {value: key for key, value in told.facts().items()}
    named = {"selector": {"memory_ids": [told.leipzig, told.ramen]}, "cascade": "redact_events"}
    deleted = told.forget(**named, with_derived=True)["deleted"]
    assert (deleted["events"], deleted["facts"]) == (2, 1)
    assert deleted["beliefs"] >= 1
    assert told.facts() == {facts["Fernhill"]: "Fernhill", facts["ramen"]: "ramen"}
    assert told.status(f"/v1/facts/{facts['Leipzig']}")[0] == 410
    assert "Leipzig" not in str(told.world.get("/v1/beliefs", scope=ALICE))
    told.worker.drain()
    told.world.store.jobs.reset()
    told.worker.drain()
    assert set(told.facts().values()) == {"Fernhill", "ramen"}
    assert "Leipzig" not in str(list(told.world.store.snapshot()))
    # The words of the first turn about it are gone, and then those of the second: nothing says it any more.
    rest = {"selector": {"memory_ids": [again]}, "cascade": "redact_events", "with_derived": True}
    assert told.forget(**rest)["deleted"]["facts"] == 1
    assert set(told.facts().values()) == {"Fernhill"}


def test_with_derived_takes_what_a_worker_draws_meanwhile(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the fact had come after the call had looked for what rests on the turn."""
    looks = []

    def late(*asked: Any) -> frozenset[str]:
        looks.append(asked)
        return frozenset() if len(looks) == 1 else derived_alone(*asked)

    monkeypatch.setattr(forgetting, "derived_alone", late)
    named = {"selector": {"memory_ids": [told.leipzig]}, "cascade": "redact_events", "with_derived": True}
    assert told.forget(**named)["deleted"]["facts"] == 1
    assert set(told.facts().values()) == {"Fernhill", "ramen"}
    assert told.forget(**named)["deleted"] == dict.fromkeys(
        ["events", "episodes", "facts", "beliefs", "understanding"], 0
    )


def test_with_derived_a_fact_goes_without_what_else_its_turn_had_said(told: Told) -> None:
    turn = told.say("I have a dog called Pixel and I dislike olives.")
    told.worker.drain()
    before = told.facts()
    (olives,) = (key for key, value in before.items() if "olive" in value)
    named = {"selector": {"memory_ids": [olives]}, "cascade": "redact_events", "with_derived": True}
    assert told.forget(**named)["deleted"]["facts"] == 1
    assert told.facts() == {key: value for key, value in before.items() if key != olives}
    assert len(before) >= 5
    assert "olives" not in str(told.status(f"/v1/events/{turn}")[1]["content"])


def test_a_call_that_comes_twice_is_one_call_and_watchers_are_told(told: Told) -> None:
    body = {"layers": ["facts"], "selector": {"predicate": "lives_in"}, "idempotency_key": "forget-1"}
    assert told.forget(**body) == told.forget(**body)
    assert told.forget(409, **{**body, "layers": ["beliefs"]})["error_code"] == "IDEMPOTENCY_CONFLICT"
    rows = told.world.get("/v1/lifecycle", scope=ALICE, events="forgotten")["items"]
    assert [each["payload"] for each in rows] == [
        {"layer": "facts", "count": 1, "by_actor": "user:local", "cascade": "derived_only"}
    ]


def test_who_may_not_forget_is_told_so(told: Told) -> None:
    told.world.policy.deny("forget.cascade.redact_events", ALICE)
    assert told.forget(403, confirm_all=True, cascade="redact_events")["error_code"] == "POLICY_DENIED"
    elsewhere = told.world.call(
        "POST", "/v1/forget", body={"scope": OTHER, "selector": {"memory_ids": list(told.facts())}}
    )
    assert elsewhere.json()["deleted"]["facts"] == 0
    assert len(told.facts()) == 3


def test_what_rested_on_redacted_words_and_went_with_them_is_named_there(told: Told) -> None:
    (fact,) = (key for key, value in told.facts().items() if value == "Leipzig")
    told.forget(selector={"predicate": "lives_in"}, cascade="redact_events")
    event = told.status(f"/v1/events/{told.leipzig}")[1]
    assert f"redacted:{fact}" in event["derives"]
    assert all(each.startswith("redacted:") for each in event["derives"])
    assert not any("belief" in each for each in event["derives"]), "their ids are hashes of what they say"


def test_the_words_leave_conversations_too(world: Any) -> None:
    """What ``redact_events`` takes is in no window, summary or kept answer either."""
    who = {"tenantId": "acme", "userId": "alice", "personaId": "p", "sessionId": "s"}
    for number in range(14):
        at = f"2026-05-13T11:{number:02}:00Z"
        world.call(
            "POST", "/ingest", body={**who, "role": "user", "text": f"frobnitz {number}", "timestamp": at}
        )
    Drain(world.store, world.clock).drain()
    asked = {**who, "now": "2026-05-13T12:10:00Z"}
    assert "frobnitz" in world.call("POST", "/brief", body=asked).text
    body = {"scope": ALICE, "cascade": "redact_events", "confirm_all": True}
    assert world.call("POST", "/v1/forget", body=body).json()["deleted"]["events"] == 14
    assert "frobnitz" not in world.call("POST", "/brief", body=asked).text
    assert "frobnitz" not in str(list(world.store.snapshot()))


def test_without_a_cascade_the_tenants_policy_says_which(make_world: Any) -> None:
    told = Told(make_world())
    chosen = {"selector": {"predicate": "lives_in"}}
    assert told.forget(**chosen)["deleted"]["events"] == 0
    put = {"defaults": {"forget.cascade.default": "redact_events"}}
    assert told.world.call("PUT", "/v1/policy/tenant/acme", body=put).status_code == 200
    named = {"selector": {"memory_ids": [told.leipzig]}}
    assert told.forget(**named)["deleted"]["events"] == 1
    assert told.forget(422, **named, cascade="derived_only")["error_code"] == "INVALID_FILTER"


def test_who_waits_for_a_turn_that_goes_meanwhile_is_told_that_it_was_taken(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a 500: a turn without rows is through no stage."""
    waited, facts = Watch.wait_for, told.facts()
    ramen = next(key for key, value in facts.items() if value == "ramen")

    def late(watch: Watch, tenant_id: str, event_id: str, stage: Stage, **more: Any) -> Any:
        told.forget(selector={"memory_ids": [event_id]}, cascade="redact_events")
        return waited(watch, tenant_id, event_id, stage, **{**more, "timeout_s": 0.01})

    monkeypatch.setattr(Watch, "wait_for", late)
    item = {"modality": "conversation", "content": {"kind": "message", "role": "user", "text": "I like tea."}}
    context = {"observed_at": "2026-05-13T12:00:00Z"}
    envelope = {"scope": ALICE, **item, "context": context, "idempotency_key": "k-1"}
    written = told.world.call("POST", "/v1/experience?wait=consolidated", body=envelope)
    corrected = told.world.call(
        "POST", f"/v1/facts/{ramen}/correct", body={"object": "udon", "wait": "consolidated"}
    )
    assert not [each.text for each in (written, corrected) if each.status_code != 202]
    assert [(each.status_code, each.json()["status"]) for each in (written, corrected)] == [
        (202, "captured")
    ] * 2


def test_with_everything_goes_why_something_was_decided(told: Told) -> None:
    """What was decided goes on: claims may stand by it. Once the reason was told to whoever asked for the entity."""
    items = told.world.get("/v1/facts", scope=ALICE)["items"]
    named = {item["object"]["name"]: item["object"]["id"] for item in items if item["object"].get("name")}
    merge = {"scope": ALICE, "into": named["Leipzig"], "why": "the canary of dilbat"}
    told.world.post(f"/v1/entities/{named['Fernhill']}/merge", merge)
    told.worker.drain()

    def decision() -> dict[str, Any]:
        (found,) = told.world.get(f"/v1/entities/{named['Fernhill']}", scope=ALICE)["decisions"]
        return dict(found)

    before = decision()
    told.forget(layers=["facts"], cascade="redact_events", selector={"memory_ids": [items[0]["id"]]})
    assert decision() == before, "not everything was to go"
    told.forget(cascade="redact_events", confirm_all=True)
    assert decision() == {**before, "why": None}
    kept = told.world.store.log.get("acme", [before["event_id"]])[before["event_id"]]
    assert "dilbat" not in repr(kept)
    told.worker.drain()
    live = list(told.world.store.snapshot())
    told.world.store.jobs.reset()
    told.worker.drain()
    assert live == list(told.world.store.snapshot())


def test_with_everything_go_the_words_of_what_was_decided(told: Told) -> None:
    """A split names the other entity, a synthesis its topics: once both stayed readable by the id of their entry."""
    (fact, *_) = told.world.get("/v1/facts", scope=ALICE)["items"]
    split = {"scope": ALICE, "name": "Dilbat Canary", "facts": [fact["id"]]}
    other = told.world.post(f"/v1/entities/{fact['subject']['id']}/split", split).json()
    told.world.clock.at += 1_000_000
    anew = {"scope": ALICE, "topics": ["Dilbat Canary"]}
    made = told.world.post("/v1/understanding/synthesize", anew).json()
    told.worker.drain()

    def entries() -> str:
        ids = (other["event_id"], made["job_id"])
        return "".join(told.world.call("GET", f"/v1/events/{each}").text for each in ids)

    assert entries().count("Dilbat Canary") == 2
    told.forget(cascade="redact_events", confirm_all=True)
    assert "Dilbat" not in entries()
    (decision,) = told.world.get(f"/v1/entities/{other['new_id']}", scope=ALICE)["decisions"]
    assert (decision["action"], decision["other_id"]) == ("split", other["new_id"])
    told.say("I met Dilbat Canary. My name is Alice.")
    told.worker.drain()
    live = list(told.world.store.snapshot())
    told.world.store.jobs.reset()
    told.worker.drain()
    assert live == list(told.world.store.snapshot())


def _entries(told: Told) -> str:
    log = told.world.store.log
    return "".join(repr(each) for each in log.walk("acme", 0, 1_000) if each.is_entry)


@pytest.mark.parametrize("is_derived", [True, False])
def test_with_a_cancelled_turn_goes_what_its_cancellation_says_of_it(told: Told, is_derived: bool) -> None:
    """The entry in the log names who had told it, and whom of it to tell elsewhere."""
    told.world.clock.at += 1_000_000
    canary = Party("user:alice", "user", "Dilbat Canary")
    sent = Directives(consolidate_into=Scope(OTHER), consolidate_only=("nibiru",))
    turn = told.world.event(
        "I live in Porto.", observed_actor=canary, subject=canary, session="s-2", directives=sent
    ).id
    told.worker.drain()
    told.world.post(f"/v1/lifecycle/memory-event/{turn}/cancel", {})
    if is_derived:
        told.worker.drain()
    told.forget(cascade="redact_events", selector={"memory_ids": [turn]})
    told.worker.drain()
    assert turn in _entries(told)
    assert "Dilbat" not in _entries(told)
    assert "nibiru" not in _entries(told)


@pytest.mark.parametrize("everything", [True, False])
def test_a_cancellation_of_an_older_release_loses_the_names_too(told: Told, everything: bool) -> None:
    canary = Party("user:alice", "user", "Dilbat Canary")
    told.world.event("I live in Porto.", observed_actor=canary, subject=canary, session="s-2")
    told.worker.drain()
    (turn,) = [each for each in told.world.store.log.walk("acme", 0, 1_000) if each.session == "s-2"]
    entry = cancellation_of(turn)
    named = replace(
        entry, observed_actor=canary, subject=canary, directives=Directives(consolidate_only=("nibiru",))
    )
    told.world.store.log.append_entry(named)
    told.worker.drain()
    assert "Dilbat" in _entries(told)
    chosen: dict[str, Any] = {"confirm_all": True} if everything else {"selector": {"memory_ids": [turn.id]}}
    told.forget(cascade="redact_events", **chosen)
    assert "Dilbat" not in _entries(told)
    assert "nibiru" not in _entries(told)
