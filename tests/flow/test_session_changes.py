"""What may have changed, as a session tells it: a value that a later turn throws doubt on is nowhere told as current."""

from __future__ import annotations

from typing import Any

import pytest

from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker

USER = {"tenantId": "tenant_a", "userId": "user_1"}
OLD, NEW = "I work at Fernhill.", "I must say that work changed for me."
ASKED = {
    **USER,
    "personaId": "p",
    "sessionId": "later",
    "now": "2026-05-20T10:00:00Z",
    "query": "Where do I work?",
}


def tell(world: Any, text: str, day: int) -> None:
    at = f"2026-05-{day}T10:00:00Z"
    turn = {**USER, "personaId": "p", "sessionId": "s", "role": "user", "text": text, "timestamp": at}
    world.post("/ingest", turn)
    deriver = Deriver(world.store, RulesExtractor(find_times, use_parser=False), None)
    Worker(world.store, deriver, None, world.clock, "test").drain()


@pytest.fixture
def told(world: Any) -> Any:
    """A world in which a user's employer may have changed, and their home did not."""
    for day, text in enumerate((OLD, "I live in Lisbon.", NEW), start=11):
        tell(world, text, day)
    return world


def test_a_brief_says_beside_a_fact_and_its_turn_that_they_may_have_changed(told: Any) -> None:
    brief = told.post("/brief", ASKED).json()
    assert brief["identity"]["facts"] == {
        "home": "Lisbon",
        "employer": "Fernhill",
        "employerMayHaveChanged": "2026-05-13",
    }
    texts = [each["text"] for each in brief["semanticContext"]]
    old = [text for text in texts if "Fernhill" in text]
    assert len(old) == 2
    assert all(text.endswith(" (may have changed 2026-05-13)") for text in old)
    assert any(NEW in text for text in texts)
    assert not any("Lisbon" in text and "may have changed" in text for text in texts)
    about = [each["summary"] for each in brief["entities"] if "Fernhill" in each["summary"]]
    assert about
    assert all("Fernhill (may have changed 2026-05-13)" in text for text in about)


def test_a_handover_says_so_too_and_the_value_itself_stays_as_it_was_said(told: Any) -> None:
    handover = told.call("GET", "/session/startbrief", **USER, now=ASKED["now"]).json()
    facts = handover["ops_context"]["user_model_hints"]["facts"]
    assert facts["employerMayHaveChanged"] == "2026-05-13"
    (hint,) = [each for each in handover["entity_hints"] if each["summary"].startswith("Fernhill")]
    assert "(may have changed 2026-05-13)" in hint["summary"]
    identity = told.call("GET", "/user/identity", **USER).json()
    assert identity["facts"] == {"home": "Lisbon", "employer": "Fernhill"}


def test_saying_it_again_clears_the_doubt(told: Any) -> None:
    tell(told, OLD, 14)
    brief = told.post("/brief", ASKED)
    assert brief.json()["identity"]["facts"] == {"home": "Lisbon", "employer": "Fernhill"}
    assert "may have changed" not in brief.text


def test_a_handover_tells_nothing_of_an_entity_that_holds_no_more(told: Any) -> None:
    scope = "org:tenant_a/user:user_1"
    (work,) = [
        each for each in told.get("/v1/facts", scope=scope)["items"] if each["predicate"] == "works_at"
    ]
    ended = told.post(f"/v1/facts/{work['id']}/retract", {"quote": "She left.", "idempotency_key": "left"})
    assert ended.status_code in (200, 202)
    tell(told, "Thanks.", 15)
    handover = told.call("GET", "/session/startbrief", **USER, now=ASKED["now"]).json()
    summaries = [each["summary"] for each in handover["entity_hints"]]
    assert not any("Fernhill" in each for each in summaries)
    assert any("Lisbon" in each for each in summaries)


def test_a_turn_that_was_cancelled_throws_doubt_on_nothing(told: Any) -> None:
    def doubts() -> set[str]:
        handover = told.call("GET", "/session/startbrief", **USER, now=ASKED["now"]).text
        pages = told.post("/brief", ASKED).text + handover
        return {each for each in ("may have changed", "MayHaveChanged") if each in pages}

    assert len(doubts()) == 2
    events = told.get("/v1/events", scope="org:tenant_a/user:user_1")["items"]
    (turn,) = [each for each in events if each["content"]["text"] == NEW]
    told.store.log.cancel("acme", turn["id"])
    assert doubts() == set()
