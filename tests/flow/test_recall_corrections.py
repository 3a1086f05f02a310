"""What recall makes of statements that later ones corrected, over HTTP and derived for real."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from lamina.app import build_server
from lamina.settings import Settings
from lamina.worker_app import build_worker

pytestmark = pytest.mark.model

SCOPE = "org:fern/user:maya"
HEADERS = {"X-Cortex-Actor": "user:maya"}
TURNS = {
    "allergic": ("2026-03-02T09:00:00Z", "I am allergic to peanuts."),
    "corrected": (
        "2026-03-22T09:00:00Z",
        "My allergy test says it's cashews, not peanuts. Peanuts are fine.",
    ),
    "home": ("2026-03-03T09:00:00Z", "I live in Leipzig and I work at Fernhill."),
    "moved": ("2026-04-02T09:00:00Z", "I live in Hamburg now."),
    "sport": ("2026-03-04T09:00:00Z", "I play tennis on Sundays."),
    "manager": ("2026-03-05T09:00:00Z", "My manager is Daniel Okafor."),
    "guide": ("2026-04-06T09:00:00Z", "Daniel Okafor wrote the allergy guide for the canteen."),
}
SESSIONS = {"allergic": "cooking", "corrected": "cooking"}


class Memory:
    """A server with those turns, and ways to ask it."""

    def __init__(self, folder: Path) -> None:
        self.server = build_server(Settings(data=folder, workers=0, brief_deadline_ms=10_000))
        self.http = TestClient(self.server.application, base_url="http://127.0.0.1")
        for name, (at, text) in TURNS.items():
            self.told(name, at, text)
        self.derive()

    def told(self, name: str, at: str, text: str) -> str:
        body = {
            "scope": SCOPE,
            "modality": "conversation",
            "observed_actor": {"id": "user:maya", "name": "Maya", "session": SESSIONS.get(name, name)},
            "content": {"kind": "message", "role": "user", "text": text},
            "context": {"observed_at": at, "labels": ["later"] if name == "corrected" else []},
            "idempotency_key": name,
        }
        response = self.http.post("/v1/experience", json=body, headers=HEADERS)
        assert response.status_code == 202, response.text
        event_id: str = response.json()["event_id"]
        return event_id

    def derive(self) -> None:
        build_worker(self.server.settings, self.server.store).drain()

    def ask(self, query: str, **more: Any) -> dict[str, Any]:
        body = {"scope": SCOPE, "query": query, **more}
        response = self.http.post("/v1/recall", json=body, headers=HEADERS)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Any:
    memory = Memory(tmp_path_factory.mktemp("corrections"))
    yield memory
    memory.server.close()


def said(pack: dict[str, Any]) -> list[str]:
    return [event["content"]["text"] for event in pack["layers"]["events"]]


def line(pack: dict[str, Any], words: str) -> str:
    said = pack["context_block"].partition("What was said:")[2]
    return next(each for each in said.splitlines() if words in each)


PEANUTS, CASHEWS = TURNS["allergic"][1], TURNS["corrected"][1]
LEIPZIG, HAMBURG = TURNS["home"][1], TURNS["moved"][1]


@pytest.mark.parametrize("include", [[], ["events"], ["facts", "events"]])
def test_a_corrected_statement_stands_behind_its_correction(memory: Memory, include: list[str]) -> None:
    events = memory.ask("What am I allergic to?", include=include)["layers"]["events"]
    order = [event["content"]["text"] for event in events]
    assert order.index(CASHEWS) < order.index(PEANUTS)
    scores = [event["score"] for event in events]
    assert scores == sorted(scores, reverse=True)
    assert scores[order.index(CASHEWS)] >= 2 * scores[order.index(PEANUTS)]


def test_its_line_says_since_when_it_holds_no_more(memory: Memory) -> None:
    pack = memory.ask("What am I allergic to?")
    assert "(superseded 2026-03-22)" in line(pack, PEANUTS)
    assert "superseded" not in line(pack, CASHEWS)


@pytest.mark.parametrize("max_tokens", range(10, 130, 5))
def test_it_never_stands_in_a_pack_without_what_corrects_it(memory: Memory, max_tokens: int) -> None:
    pack = memory.ask("What am I allergic to?", budgets={"max_tokens": max_tokens})
    facts = [fact["text"] for fact in pack["layers"]["facts"]]
    corrected = CASHEWS in said(pack) or "Maya is not allergic to peanuts" in facts
    assert corrected or PEANUTS not in said(pack)
    shown = pack["context_block"]
    assert "superseded" not in shown or CASHEWS in shown or "Maya is not allergic to peanuts" in shown
    assert pack["context_tokens"] <= max_tokens


@pytest.mark.parametrize("max_tokens", [30, 40, 60])
def test_a_small_budget_holds_the_best_fact(memory: Memory, max_tokens: int) -> None:
    pack = memory.ask("What am I allergic to?", budgets={"max_tokens": max_tokens})
    assert pack["layers"]["facts"][0]["text"] == "Maya is allergic to cashews"


def test_one_place_goes_to_the_correction(memory: Memory) -> None:
    for include in (["events"], ["facts", "events"]):
        budgets = {"per_layer_limits": {"events": 1}}
        assert said(memory.ask("What am I allergic to?", include=include, budgets=budgets)) == [CASHEWS]


def test_the_pack_says_what_happened(memory: Memory) -> None:
    pack = memory.ask("What am I allergic to?", diagnostics="full")
    events = {event["content"]["text"]: event for event in pack["layers"]["events"]}
    old, new = events[PEANUTS], events[CASHEWS]
    denial = next(fact for fact in pack["layers"]["facts"] if fact["negated"])
    assert old["superseded"] == {
        "at": "2026-03-22T09:00:00Z",
        "by_fact": denial["id"],
        "by_event": new["id"],
    }
    assert new["superseded"] is None
    assert old["contributions"]["superseded"] < 0 < new["contributions"]["corrects"]
    (phase,) = [phase for phase in pack["provenance"]["trail"] if phase["phase"] == "supersede"]
    assert phase["superseded"] == 1
    assert phase["marked_only"] is False


@pytest.mark.parametrize(
    "more",
    [
        {"query": "What was Maya allergic to on 10 March 2026?"},
        {
            "query": "What am I allergic to?",
            "temporal": {"valid_during": ["2026-03-01T00:00:00Z", "2026-03-15T00:00:00Z"]},
        },
    ],
)
def test_of_a_time_when_it_held_it_is_shown_as_it_was(memory: Memory, more: dict[str, Any]) -> None:
    pack = memory.ask(**more)
    assert said(pack)[0] == PEANUTS
    assert "superseded" not in line(pack, PEANUTS)


def test_a_question_about_the_past_marks_it_and_leaves_its_place(memory: Memory) -> None:
    pack = memory.ask("Where did Maya live before Hamburg?", diagnostics="full")
    (event,) = [event for event in pack["layers"]["events"] if event["content"]["text"] == LEIPZIG]
    assert "(superseded 2026-04-02)" in line(pack, "Leipzig")
    assert "superseded" not in event["contributions"]
    (phase,) = [phase for phase in pack["provenance"]["trail"] if phase["phase"] == "supersede"]
    assert phase["marked_only"] is True


def test_what_else_an_event_says_still_holds(memory: Memory) -> None:
    assert "(superseded 2026-04-02)" in line(memory.ask("Where does Maya live?"), "Leipzig")
    assert "superseded" not in line(memory.ask("Where does Maya work?"), "Leipzig")


def test_a_filter_that_the_correction_does_not_pass_leaves_the_statement_marked(memory: Memory) -> None:
    pack = memory.ask("What am I allergic to?", filters={"NOT": {"labels": "later"}}, include=["events"])
    assert PEANUTS in said(pack)
    assert CASHEWS not in said(pack)
    assert "(superseded 2026-03-22)" in line(pack, PEANUTS)


@pytest.fixture
def own(tmp_path: Path) -> Any:
    memory = Memory(tmp_path)
    yield memory
    memory.server.close()


def test_what_is_said_again_stands_again(own: Memory) -> None:
    own.told("back", "2026-04-20T09:00:00Z", "I live in Leipzig.")
    own.derive()
    pack = own.ask("Where does Maya live?")
    assert all("superseded" not in each for each in pack["context_block"].splitlines() if "Leipzig" in each)
    assert "(superseded 2026-04-20)" in line(pack, HAMBURG)


@pytest.mark.parametrize(("times", "is_marked"), [(1, True), (12, False)])
def test_a_claim_that_nobody_asked_for_marks_a_short_text_alone(
    own: Memory, times: int, is_marked: bool
) -> None:
    text = "I work at Oakfield. " + "What splendid weather again! " * times
    event_id = own.told("weather", "2026-04-10T09:00:00Z", text)
    own.told("job", "2026-04-12T09:00:00Z", "I work at Beech now.")
    own.derive()
    events = {each["id"]: each for each in own.ask("Which weather is splendid?")["layers"]["events"]}
    assert (events[event_id]["superseded"] is not None) is is_marked


def test_a_cancelled_correction_supersedes_nothing(own: Memory) -> None:
    event_id = own.told("moved", *TURNS["moved"])
    own.http.post(f"/v1/lifecycle/memory-event/{event_id}/cancel", json={}, headers=HEADERS)
    assert "superseded" not in line(own.ask("Where does Maya live?"), "Leipzig")
    own.derive()
    assert "superseded" not in line(own.ask("Where does Maya live?"), "Leipzig")


def test_what_is_taken_back_is_superseded_by_the_word_that_took_it(own: Memory) -> None:
    own.told("past", "2026-05-02T09:00:00Z", "I used to live in Hamburg.")
    own.derive()
    pack = own.ask("Where does Maya live?", include=["events"])
    order = said(pack)
    assert order.index("I used to live in Hamburg.") < order.index(HAMBURG)
    assert "superseded" in line(pack, HAMBURG)
    assert "superseded" not in line(pack, "used to")


def test_a_document_does_not_put_a_person_right(own: Memory) -> None:
    body = {
        "scope": SCOPE,
        "modality": "tool_result",
        "observed_actor": {"id": "user:maya", "name": "Maya"},
        "content": {"kind": "message", "role": "tool", "text": "Maya lives in Rome now."},
        "context": {"observed_at": "2026-05-03T09:00:00Z"},
        "idempotency_key": "a-tool",
    }
    own.http.post("/v1/experience", json=body, headers=HEADERS)
    own.derive()
    pack = own.ask("Where does Maya live?")
    assert "superseded" not in line(pack, HAMBURG)


def test_a_brief_tells_the_correction_first_and_marks_the_rest(own: Memory) -> None:
    who = {"tenantId": "fern", "userId": "maya", "personaId": "juno"}
    for name in ("allergic", "corrected"):
        at, text = TURNS[name]
        turn = {**who, "sessionId": "s1", "role": "user", "text": text, "timestamp": at}
        assert own.http.post("/ingest", json=turn, headers=HEADERS).status_code == 200
    own.derive()
    asked = {**who, "sessionId": "s9", "now": "2026-05-10T09:00:00Z", "mode": "in_session"}
    brief = own.http.post("/brief", json={**asked, "query": "What am I allergic to?"}, headers=HEADERS)
    context = [entry["text"] for entry in brief.json()["semanticContext"] if '"' in entry["text"]]
    new, old = (next(each for each in context if text in each) for text in (CASHEWS, PEANUTS))
    assert context.index(new) < context.index(old)
    assert "(superseded 2026-03-22)" in old
    assert "superseded" not in new


@pytest.mark.parametrize(
    ("question", "is_marked"), [("When is the maths test?", False), ("What is she called?", True)]
)
def test_a_new_name_puts_nothing_else_of_its_turn_behind(own: Memory, question: str, is_marked: bool) -> None:
    event_id = own.told("mia", "2026-04-10T09:00:00Z", "My name is Mia. The maths test is on 12 May.")
    own.told("jo", "2026-04-12T09:00:00Z", "My name is Jo.")
    own.derive()
    events = {each["id"]: each for each in own.ask(question)["layers"]["events"]}
    assert (events[event_id]["superseded"] is not None) is is_marked
