"""Verdicts on facts and beliefs: who may give them, what they make of a claim, and that they can be taken back."""

from __future__ import annotations

from typing import Any

import pytest

from given import TENANT
from lamina.kernel.records import Entity, Evidence, Mention, Subject
from lamina.kernel.scopes import Scope
from lamina.kernel.time import rfc3339
from lamina.language.entities import entity_id
from told import DAY, Memory

SCOPE = "org:acme/user:ana"


class Judged:
    """A world in which Ana told where she lives, and a short way to judge it."""

    def __init__(self, world: Any, said: str = "I live in Porto.") -> None:
        self.world = world
        self.memory = Memory(world.store, world.clock)
        world.event(said, SCOPE, actor="user:ana")
        world.clock.at += DAY
        self.memory.derive()

    def one(self, layer: str, **filters: Any) -> dict[str, Any]:
        (found,) = self.world.get(f"/v1/{layer}", scope=SCOPE, **filters)["items"]
        return dict(found)

    def send(
        self, content: dict[str, Any], by: str = "user:ana", key: str = "k", scope: str = SCOPE
    ) -> tuple[int, Any]:
        body = {
            "scope": scope,
            "modality": "feedback",
            "content": content,
            "context": {"observed_at": rfc3339(self.world.clock.at)},
            "idempotency_key": key,
        }
        response = self.world.call("POST", "/v1/experience", body=body, headers={"X-Cortex-Actor": by})
        return response.status_code, response.json()

    def judge(self, verdict: str, target: str, by: str = "user:ana") -> dict[str, Any]:
        self.world.clock.at += DAY
        status, answer = self.send(
            {"target_id": target, "verdict": verdict}, by, key=f"{verdict} {target[-9:]} {by}"
        )
        assert status == 202, answer
        self.memory.derive()
        self.world.clock.at += DAY
        return dict(self.world.get(f"/v1/events/{answer['event_id']}"))

    def held(self) -> list[tuple[str, bool]]:
        facts = self.world.get("/v1/facts", scope=SCOPE)["items"]
        return sorted((fact["object"]["name"], fact["negated"]) for fact in facts)

    def shown(self) -> list[Any]:
        """What is held and believed, but for versions and when it came to be known."""
        told = {"version", "recorded_from", "last_revised_at", "revision_count", "supports"}
        return [
            {name: value for name, value in item.items() if name not in told}
            for layer in ("facts", "beliefs")
            for item in sorted(
                self.world.get(f"/v1/{layer}", scope=SCOPE, valid_during="2026-01-01..")["items"],
                key=lambda each: str(each["id"]),
            )
        ]


@pytest.fixture
def judged(world: Any) -> Judged:
    return Judged(world)


@pytest.mark.parametrize("layer", ["facts", "beliefs"])
def test_what_is_denied_is_no_longer_held_nor_believed(judged: Judged, layer: str) -> None:
    judged.judge("confirm", judged.one("facts")["id"], by="user:ana")
    before = judged.one("beliefs")
    event = judged.judge("deny", judged.one(layer)["id"])
    assert event["modality"] == "feedback"
    assert event["content"]["text"] == "Not so: Ana lives in Porto."
    assert event["content"]["believed"] == {"belief_id": before["id"], "confidence": before["confidence"]}
    assert judged.held() == [("Porto", True)]
    denied = judged.world.get(f"/v1/beliefs/{before['id']}")
    assert (denied["stance"], denied["confidence"]) == ("contradicted", pytest.approx(4.3 / 14, abs=1e-4))
    assert judged.one("beliefs")["claim"]["negated"] is True


def test_a_confirmation_counts_for_each_who_gives_it_once(judged: Judged) -> None:
    target = judged.one("facts")["id"]
    for _ in range(2):
        judged.judge("confirm", target)
        assert judged.one("beliefs")["confidence"] == pytest.approx(0.77), "it is the same person's word"
    judged.judge("confirm", target, by="user:bob")
    assert judged.one("beliefs")["confidence"] == pytest.approx(6.7 / 8, abs=1e-4)
    assert judged.held() == [("Porto", False)]


@pytest.mark.parametrize("layer", ["facts", "beliefs"])
def test_what_is_outdated_ends_and_was_so_until_then(judged: Judged, layer: str) -> None:
    belief = judged.one("beliefs")
    event = judged.judge("outdated", judged.one(layer)["id"])
    assert judged.held() == []
    ended = judged.world.get(f"/v1/beliefs/{belief['id']}")
    assert (ended["stance"], ended["valid_to"]) == ("supported", event["context"]["observed_at"])


def test_what_is_irrelevant_stays_true(judged: Judged) -> None:
    belief, target = judged.one("beliefs"), judged.one("facts")["id"]
    judged.judge("irrelevant", target)
    assert judged.held() == [("Porto", False)]
    assert judged.one("beliefs") == belief


@pytest.mark.parametrize("verdict", ["deny", "outdated"])
def test_another_persons_verdict_ends_nobodys_own_word(judged: Judged, verdict: str) -> None:
    belief = judged.one("beliefs")
    judged.judge(verdict, judged.one("facts")["id"], by="user:bob")
    held = judged.world.get(f"/v1/beliefs/{belief['id']}")
    assert (held["stance"], held["valid_to"], held["confidence"]) == ("supported", None, belief["confidence"])
    assert ("Porto", False) in judged.held()


@pytest.mark.parametrize("said", ["I like tea.", "I plan to visit Rome.", "I work at Acme."])
@pytest.mark.parametrize("verdict", ["confirm", "deny", "outdated"])
def test_any_claim_is_judged_and_a_verdict_is_undone(world: Any, said: str, verdict: str) -> None:
    judged = Judged(world, said)
    before = judged.shown()
    facts = judged.world.get("/v1/facts", scope=SCOPE)["items"]
    event = judged.judge(verdict, next(fact["id"] for fact in facts if fact["kind"] != "loop"))
    assert judged.shown() != before
    world.post(f"/v1/lifecycle/memory-event/{event['id']}/cancel", {})
    judged.memory.derive()
    assert judged.shown() == before
    live, again = judged.memory.replayed()
    assert live == again


def test_a_verdict_on_what_others_put_into_a_shared_scope_is_given_there(world: Any) -> None:
    memory = Memory(world.store, world.clock)
    told = {"observed_at": "2026-03-02T09:00:00Z"}
    body = {
        "scope": SCOPE, "modality": "conversation", "content": {"kind": "message", "role": "user", "text": "I live in Porto."},
        "context": told, "idempotency_key": "k", "directives": {"consolidate_into": "ws:team"},
    }  # fmt: skip
    assert (
        world.call("POST", "/v1/experience", body=body, headers={"X-Cortex-Actor": "user:ana"}).status_code
        == 202
    )
    memory.derive()
    judged = Judged.__new__(Judged)
    judged.world, judged.memory = world, memory
    (belief,) = world.get("/v1/beliefs", scope="ws:team")["items"]
    world.clock.at += DAY
    status, _ = judged.send({"target_id": belief["id"], "verdict": "outdated"}, scope="ws:team")
    memory.derive()
    world.clock.at += DAY
    found: dict[str, Any] = world.get(f"/v1/beliefs/{belief['id']}")
    assert (status, found["valid_to"] is None) == (202, False)
    assert judged.held() == [("Porto", False)], "what another scope holds is not its readers' to end"


@pytest.mark.parametrize("place", [SCOPE, "ws:team"])
def test_a_verdict_repeats_words_of_its_own_scope_alone(world: Any, place: str) -> None:
    said = world.fact(scope=Scope(place), text="Acme Corp is at the stage poc, says Rui.", valid_from=DAY)
    belief = world.belief(scope=Scope("ws:team"), evidence=(Evidence(said.id, 0.9, "supports"),))
    world.land(said, belief, supports=[world.support(belief.id, said.id)])
    judged = Judged.__new__(Judged)
    judged.world = world
    status, answer = judged.send({"target_id": belief.id, "verdict": "confirm"}, scope="ws:team")
    assert status == 202, answer
    content = world.get(f"/v1/events/{answer['event_id']}")["content"]
    words = "Acme Corp is at the stage poc, says Rui" if place == "ws:team" else "Acme Corp deal stage poc"
    assert content["text"] == f"Right: {words}."
    assert content["claim"]["valid_from"] == rfc3339(DAY if place == "ws:team" else belief.valid_from)


def test_a_verdict_does_not_tell_what_another_scope_calls_a_name(world: Any) -> None:
    name = Entity(
        tenant_id=TENANT, id=(key := entity_id(TENANT, "mercury")), normalised_name="mercury", type="person"
    )
    other = Scope("org:acme/user:carl")
    world.land(
        entities=[name],
        mentions=[
            Mention(
                tenant_id=TENANT,
                entity_id=key,
                scope=other,
                event_id="evt_1",
                position=1,
                surface="Mercury",
                type="person",
            )
        ],
    )
    said = world.fact(scope=Scope(SCOPE), subject=Subject(key, "Mercury"))
    world.land(said)
    judged = Judged.__new__(Judged)
    judged.world = world
    status, answer = judged.send({"target_id": said.id, "verdict": "confirm"})
    assert status == 202, answer
    content = world.get(f"/v1/events/{answer['event_id']}")["content"]
    assert content["claim"]["subject_type"] == "thing"


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ({"verdict": "deny"}, "content.target_id"),
        ({"verdict": "deny", "target_id": "evt_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"}, "content.target_id"),
        ({"verdict": "wrong", "target_id": "@"}, "content.verdict"),
        ({"verdict": "deny", "target_id": "@", "note": " "}, "content.note"),
        ({"verdict": "deny", "target_id": "@", "claim": {}}, "content.claim"),
        ({"verdict": "deny", "target_id": "@", "kind": "text", "text": "no"}, "content.kind"),
    ],
)
def test_what_is_no_verdict_is_refused_and_changes_nothing(
    judged: Judged, content: dict[str, Any], field: str
) -> None:
    target = judged.one("facts")["id"]
    said = {key: target if value == "@" else value for key, value in content.items()}
    status, answer = judged.send(said)
    assert (status, answer["error_code"], answer["details"]["field"]) == (422, "INVALID_ENVELOPE", field)
    assert len(judged.world.get("/v1/events", scope=SCOPE)["items"]) == 1


def test_a_verdict_is_given_where_its_record_lies_and_on_what_is_held(judged: Judged) -> None:
    target = judged.one("facts")["id"]
    status, answer = judged.send({"target_id": target, "verdict": "deny"}, scope="org:acme")
    assert (status, answer["details"]["field"]) == (422, "scope")
    unknown = f"{target[:-4]}0000"
    status, answer = judged.send({"target_id": unknown, "verdict": "deny"})
    assert (status, answer["error_code"]) == (404, "NOT_FOUND")
    assert judged.send({"target_id": target, "verdict": "deny"})[0] == 202
    (told,) = [
        e for e in judged.world.get("/v1/events", scope=SCOPE)["items"] if e["modality"] == "conversation"
    ]
    judged.world.post(f"/v1/lifecycle/memory-event/{told['id']}/cancel", {})
    judged.memory.derive()
    assert (
        judged.send({"target_id": target, "verdict": "deny"}, key="again")[1]["error_code"]
        == "RESOURCE_DELETED"
    )
    assert judged.send({"target_id": target, "verdict": "deny"})[0] == 202, (
        "the same request again is the same event"
    )


def test_feedback_in_words_is_read_as_ever(judged: Judged) -> None:
    assert judged.send({"kind": "text", "text": "I moved to Lisbon."})[0] == 202
    judged.memory.derive()
    assert {name for name, _ in judged.held()} == {"Lisbon"}
