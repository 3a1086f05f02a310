"""A calibration from verdicts: when it is run, what readers see by it, and that a replay of all of it is what was live."""

from __future__ import annotations

import random
from typing import Any

import pytest

from given import TENANT
from lamina import limits
from lamina.kernel.time import SECOND_US, rfc3339
from told import DAY, START, Memory

SCOPE = "org:acme/user:alice"


class Judging:
    """A world with facts that are as sure as they are said to be, and people who judge them."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.memory = Memory(world.store, world.clock)

    def tell(self, count: int, confidence: float, named: str) -> list[str]:
        for number in range(count):
            content = {
                "kind": "triple",
                "subject": f"{named} {number}",
                "predicate": "colour",
                "object": "red",
                "confidence": confidence,
            }
            self.memory.tell(content, START)
        self.memory.derive()
        found = self.world.get("/v1/facts", scope=SCOPE, limit=1000)["items"]
        return [each["id"] for each in found if str(each["subject"]["name"]).startswith(f"{named} ")]

    def judge(self, target: str, verdict: str, key: str) -> str:
        self.world.clock.at += SECOND_US
        body = {
            "scope": SCOPE,
            "modality": "feedback",
            "content": {"target_id": target, "verdict": verdict},
            "context": {"observed_at": rfc3339(self.world.clock.at)},
            "idempotency_key": key,
        }
        response = self.world.call("POST", "/v1/experience", body=body)
        assert response.status_code == 202, response.text
        return str(response.json()["event_id"])

    def belief(self, about: str, **more: Any) -> dict[str, Any]:
        (found,) = self.world.get("/v1/beliefs", scope=SCOPE, about=about, **more)["items"]
        return dict(found)


@pytest.fixture
def judging(world: Any) -> Judging:
    return Judging(world)


def test_beliefs_are_shown_by_what_verdicts_said_of_them(judging: Judging) -> None:
    world = judging.world
    targets = judging.tell(limits.CALIBRATION_VERDICTS_MIN, 0.9, "thing")
    judging.tell(1, 0.9, "other")
    plain = judging.belief("other 0")
    assert (plain["confidence"], plain["calibration"]["samples"]) == (0.74, 0)
    for number, target in enumerate(targets[:-1]):
        judging.judge(target, "deny" if number % 7 % 5 else "confirm", f"k{number}")
    judging.memory.derive()
    assert judging.belief("other 0") == plain, "one verdict less than it takes"
    world.clock.at += DAY
    before = rfc3339(world.clock.at)
    judging.judge(targets[-1], "deny", "last")
    judging.memory.derive()
    world.clock.at += DAY
    seen = judging.belief("other 0")
    assert seen["confidence"] == pytest.approx(2 / 7, abs=0.03), "two of seven were confirmed"
    assert seen["confidence_interval"]["lower"] <= seen["confidence"] <= seen["confidence_interval"]["upper"]
    said = seen["calibration"]
    assert (said["model"], said["samples"]) in [("platt_v1", 50), ("isotonic_v1", 50)]
    assert said["brier_score_30d"] == pytest.approx(10 / 49, abs=0.03)
    assert said["ece_30d"] is not None
    assert before < said["last_calibrated_at"] <= rfc3339(world.clock.at)
    assert judging.belief("other 0", as_of=before)["confidence"] == 0.74, "as of then there was no curve"
    assert world.get("/v1/beliefs", scope=SCOPE, about="other 0", min_confidence=0.5)["items"] == []
    assert seen["stance"] == "supported", "what the evidence says"
    pack = world.post(
        "/v1/recall", {"scope": SCOPE, "query": "What colour is other 0?", "include": ["beliefs"]}
    ).json()
    shown = [each for each in pack["layers"]["beliefs"] if each["id"] == seen["id"]]
    assert [(each["confidence"], each["calibration"]) for each in shown] == [(seen["confidence"], said)]


def test_a_log_with_feedback_corrections_rules_and_calibration_is_replayed(judging: Judging) -> None:
    """Much of it cancelled; every verdict, at random, with corrections between."""
    chance, world = random.Random(7), judging.world
    facts = judging.tell(30, 0.6, "weak") + judging.tell(30, 0.95, "firm")
    events = []
    for number, target in enumerate(facts):
        if number == 20:
            world.call(
                "PUT",
                f"/v1/policy/tenant/{TENANT}",
                body={"defaults": {"tenant.confidence_floor": 0.4, "beliefs.cooldown": "PT1H"}},
            )
        sure = number >= 30
        verdict = chance.choices(
            ["confirm", "deny", "outdated", "irrelevant"], [8 if sure else 2, 2 if sure else 8, 1, 1]
        )[0]
        events.append(judging.judge(target, verdict, f"k{number}"))
        if number % 7 == 0 and verdict == "confirm":
            world.call(
                "POST",
                f"/v1/facts/{target}/correct",
                body={"object": "blue"},
                headers={"Idempotency-Key": f"c{number}"},
            )
        if number % 11 == 5:
            judging.memory.derive()
            world.post(f"/v1/lifecycle/memory-event/{events[-1]}/cancel", {})
        if number % 4 == 0:
            judging.memory.derive()
    judging.memory.derive()
    for number, target in enumerate(judging.tell(20, 0.8, "late")):
        judging.judge(target, chance.choice(["confirm", "deny"]), f"l{number}")
        judging.memory.derive()
    runs = [e for e in world.store.log.walk(TENANT, 0, 10_000) if e.content.get("kind") == "calibration"]
    assert len(runs) >= 2
    lists = {
        name: world.get(f"/v1/{name}", scope=SCOPE, limit=1000, valid_during="2026-01-01..")
        for name in ("facts", "beliefs")
    }
    live, again = judging.memory.replayed()
    assert live == again
    assert runs == [
        e for e in world.store.log.walk(TENANT, 0, 10_000) if e.content.get("kind") == "calibration"
    ]
    assert lists == {
        name: world.get(f"/v1/{name}", scope=SCOPE, limit=1000, valid_during="2026-01-01..") for name in lists
    }
