"""The calls of Mem0's clients over HTTP: the story of a memory, what is different here, and what nobody else gets to see."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import compile_path

from given import ManualClock
from issuing import claims, issuers_file, paseto
from lamina import limits
from lamina.app import build_server
from lamina.errors import Unavailable
from lamina.forget.runner import Eraser
from lamina.http.mem0.asking import Asker
from lamina.http.mem0.calls import CALLS
from lamina.kernel.time import SECOND_US
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from told import Memory

ANA = {"filters": {"user_id": "ana"}}


class House:
    """A server that answers Mem0's calls, and the derivation that a test runs when it likes."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.memory = Memory(world.store, world.clock)

    def call(self, verb: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        self.world.clock.at += SECOND_US
        headers = {"Authorization": "Token m0-anything", **more.pop("headers", {})}
        response: httpx.Response = self.world.call(verb, path, headers=headers, body=body, **more)
        return response

    def ask(self, verb: str, path: str, body: Any = None, **more: Any) -> Any:
        response = self.call(verb, path, body, **more)
        assert response.status_code == 200, response.text
        return response.json()

    def add(self, *texts: str, **more: Any) -> Any:
        messages = [{"role": "user", "content": text} for text in texts]
        return self.ask("POST", "/v3/memories/add/", {"user_id": "ana", "messages": messages, **more})

    def listed(self, **asked: Any) -> dict[str, dict[str, Any]]:
        page = self.ask("POST", "/v3/memories/", {**ANA, **asked})
        return {each["memory"]: each for each in page["results"]}

    def derive(self) -> None:
        self.memory.derive()
        self.world.clock.at += SECOND_US


@pytest.fixture(name="house")
def _house(make_world: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> House:
    # Nobody derives while a call waits for that: it answers that it is on its way.
    monkeypatch.setattr(limits, "WAIT_S_MAX", 0.01)
    return House(make_world(doors="mem0"))


def test_the_story_of_a_memory(house: House) -> None:
    assert house.ask("GET", "/v1/ping/")["org_id"] == "acme"
    added = house.add(
        "I live in Porto.", "The wifi code is under the router.", metadata={"src": "chat"}, run_id="r1"
    )
    assert (added["status"], added["stage"], len(added["results"])) == ("PENDING", "captured", 2)
    event = f"/v1/event/{added['event_id']}/"
    assert house.ask("GET", event)["status"] == "PENDING"
    assert set(house.listed()) == {"I live in Porto.", "The wifi code is under the router."}
    house.derive()
    done = house.ask("GET", event)
    assert (done["status"], len(done["results"])) == ("SUCCEEDED", 2)
    held = house.listed()
    assert set(held) == {"Ana lives in Porto", "The wifi code is under the router."}
    home = held["Ana lives in Porto"]
    assert (home["user_id"], home["run_id"], home["metadata"]) == ("ana", "r1", {"src": "chat"})
    found = house.ask("POST", "/v3/memories/search/", {"query": "Where does Ana live?", "top_k": 1, **ANA})
    assert [each["memory"] for each in found["results"]] == ["Ana lives in Porto"]

    own = f"/v1/memories/{home['id']}/"
    updated = house.ask("PUT", own, {"text": "Ana lives in Braga"})
    assert (updated["memory"], updated["status"]) == ("Ana lives in Braga", "corrected")
    house.derive()
    assert house.ask("GET", own)["memory"] == "Ana lives in Braga"
    assert house.listed()["Ana lives in Braga"]["id"] == home["id"]
    assert house.ask("PUT", own, {"text": "Ana lives in Braga."})["status"] == "unchanged"
    replaced = house.ask("PUT", own, {"text": "Ana sleeps at the station"})
    assert replaced["status"] == "replaced"
    house.derive()
    assert set(house.listed()) == {"Ana sleeps at the station", "The wifi code is under the router."}
    assert house.listed()["Ana sleeps at the station"]["metadata"] == {"src": "chat"}
    gone = house.ask("DELETE", own)
    assert (gone["status"], gone["erased"]) == ("retracted", False)
    house.derive()
    assert house.call("GET", own).status_code == 404
    assert house.call("DELETE", own).status_code == 404
    assert set(house.listed()) == {"The wifi code is under the router."}
    story = house.ask("GET", f"{own}history/")
    assert [(each["event"], each["old_memory"], each["new_memory"]) for each in story][:2] == [
        ("ADD", None, "Ana lives in Porto"),
        ("UPDATE", "Ana lives in Porto", "Ana lives in Braga"),
    ]
    assert story[-1]["event"] == "DELETE"


def test_a_memory_says_when_it_may_have_changed(house: House) -> None:
    house.add("I work at Fernhill.", "I live in Porto.")
    house.derive()
    house.add("I must say that work changed for me.")
    house.derive()
    held = house.listed()
    assert held["Ana works at Fernhill"]["lamina"]["may_have_changed"] is not None
    assert held["Ana lives in Porto"]["lamina"]["may_have_changed"] is None


def test_a_retracted_fact_does_not_come_back_as_its_turn(house: House) -> None:
    house.add("I live in Porto.")
    house.derive()
    (home,) = house.listed().values()
    house.ask("DELETE", f"/v1/memories/{home['id']}/")
    house.derive()
    assert house.listed() == {}
    story = house.ask("GET", f"/v1/memories/{home['id']}/history/")
    assert [each["event"] for each in story] == ["ADD", "DELETE"]


@pytest.mark.parametrize("value", ["former", "present"])
def test_one_value_of_a_memory_is_forgotten_and_the_others_are_still_listed(house: House, value: str) -> None:
    house.add("I live in Porto.", "The wifi code is under the router.")
    house.derive()
    home = house.listed()["Ana lives in Porto"]["id"]
    house.ask("PUT", f"/v1/memories/{home}/", {"text": "Ana lives in Braga"})
    house.derive()
    present = house.listed()["Ana lives in Braga"]["lamina"]["record_id"]
    former = f"fact_{home.removeprefix('mem_')}"
    gone = {"former": former, "present": present}[value]
    house.world.post(
        "/v1/forget",
        {
            "scope": "user:ana",
            "selector": {"memory_ids": [gone]},
            "cascade": "redact_events",
            "audit_note": "n",
        },
    )
    left = {"The wifi code is under the router."} | ({"Ana lives in Braga"} if value == "former" else set())
    assert set(house.listed()) == left
    found = house.ask("POST", "/v3/memories/search/", {"query": "Where does Ana live?", **ANA})
    assert {each["memory"] for each in found["results"]} == left


@pytest.mark.parametrize(
    ("metadata", "text"), [({}, "Ana\x00moved"), ({"notes": "n" * 250_000}, "\N{FIRE}" * 4000)]
)
def test_an_update_that_cannot_be_kept_leaves_the_memory(
    house: House, metadata: dict[str, str], text: str
) -> None:
    """Once it was retracted before the words that were to take its place were refused."""
    house.add("I live in Porto.", "The wifi code is under the router.", metadata=metadata)
    house.derive()
    held = house.listed()
    for each in held.values():
        assert house.call("PUT", f"/v1/memories/{each['id']}/", {"text": text}).status_code == 400
    house.derive()
    assert house.listed() == held


def test_an_update_is_whole_or_refused_whatever_the_rate_allows(make_world: Callable[..., Any]) -> None:
    """Once the last write that a caller had left retracted a memory, and its new words were one too many."""
    house = House(make_world(doors="mem0", rate_limit_write="2/m"))
    house.add("The wifi code is under the router.")
    house.derive()
    (own,) = [each["id"] for each in house.listed().values()]
    assert house.ask("PUT", f"/v1/memories/{own}/", {"text": "The code is gone"})["status"] == "replaced"
    assert set(house.listed()) == {"The code is gone"}
    assert house.call("PUT", f"/v1/memories/{own}/", {"text": "It is back"}).status_code == 429
    assert set(house.listed()) == {"The code is gone"}


@pytest.mark.parametrize("text", ["I live in Porto.", "The wifi code is under the router."])
@pytest.mark.parametrize("failing", ["experience", "retract"])
def test_an_update_of_which_a_write_fails_leaves_the_memory(
    house: House, monkeypatch: pytest.MonkeyPatch, text: str, failing: str
) -> None:
    house.add(text)
    house.derive()
    held = house.listed()
    ask = Asker.ask

    def refused(asker: Asker, name: str, request: Any, **more: Any) -> Any:
        if name == "experience" and failing == "experience":
            raise Unavailable("WAL_UNAVAILABLE", "the disk is full")
        if name in ("fact_retract", "lifecycle_cancel") and failing == "retract":
            monkeypatch.setattr(Asker, "ask", ask)  # what follows works again
            raise Unavailable("WAL_UNAVAILABLE", "the disk is full")
        return ask(asker, name, request, **more)

    (own,) = [each["id"] for each in held.values()]
    monkeypatch.setattr(Asker, "ask", refused)
    assert house.call("PUT", f"/v1/memories/{own}/", {"text": "Nothing of that"}).status_code == 503
    monkeypatch.setattr(Asker, "ask", ask)
    house.derive()
    assert house.listed() == held
    assert house.ask("PUT", f"/v1/memories/{own}/", {"text": "Nothing of that"})["status"] == "replaced"
    house.derive()
    assert set(house.listed()) == {"Nothing of that"}


def test_words_can_be_kept_as_they_stand(house: House) -> None:
    house.add("I live in Porto.", infer=False, expiration_date="2026-05-14")
    house.derive()
    (note,) = house.listed().values()
    assert (note["memory"], note["lamina"]["type"]) == ("I live in Porto.", "turn")
    house.ask("PUT", f"/v1/memories/{note['id']}/", {"text": "I lived in Porto."})
    house.ask("PUT", f"/v1/memories/{note['id']}/", {"text": "I left Porto."})
    assert house.listed()["I left Porto."]["id"] == note["id"]
    story = house.ask("GET", f"/v1/memories/{note['id']}/history/")
    assert [each["new_memory"] for each in story] == [
        "I live in Porto.",
        "I lived in Porto.",
        "I left Porto.",
    ]
    house.world.clock.at += 3 * 86_400 * SECOND_US
    assert house.listed() == {}
    assert set(house.listed(show_expired=True)) == {"I left Porto."}


def test_former_values_and_earlier_days_are_read_when_asked_for(house: House) -> None:
    house.add("I live in Porto.", timestamp="2024-03-01")
    house.derive()
    house.add("I live in Lisbon.", timestamp=1_772_000_000)
    house.derive()
    assert set(house.listed()) == {"Ana lives in Lisbon"}
    both = house.listed(latest_only=False)
    assert set(both) == {"Ana lives in Lisbon", "Ana lives in Porto"}
    assert both["Ana lives in Porto"]["superseded_by"] == both["Ana lives in Lisbon"]["id"]
    assert house.listed(reference_date="2024-01-01") == {}
    earlier = house.listed(reference_date="2025-01-01")
    assert set(earlier) == {"Ana lives in Porto"}
    assert earlier["Ana lives in Porto"]["id"] == both["Ana lives in Lisbon"]["id"]
    asked = {"query": "Where does Ana live?", "reference_date": "2025-01-01", **ANA}
    found = house.ask("POST", "/v3/memories/search/", asked)["results"]
    assert [each["memory"] for each in found] == ["Ana lives in Porto"]


def test_pages_filters_and_whom_there_is_something_of(house: House) -> None:
    for user, run in (("ana", "r1"), ("ana", "r2"), ("bob", "r1")):
        house.add(f"Note of {run} for {user}.", user_id=user, run_id=run, app_id="shop")
    house.add("Note of an agent.", user_id=None, agent_id="bot")
    first = house.ask(
        "POST", "/v3/memories/", {"filters": {"app_id": "shop", "user_id": "*"}}, page=1, page_size=2
    )
    assert (first["count"], len(first["results"]), first["previous"]) == (3, 2, None)
    assert (
        len(
            house.ask(
                "POST",
                first["next"].partition("localhost")[2],
                {"filters": {"app_id": "shop", "user_id": "*"}},
            )["results"]
        )
        == 1
    )
    asked = {"filters": {"AND": [{"user_id": "ana"}, {"app_id": "shop"}, {"run_id": "r2"}]}}
    assert [each["memory"] for each in house.ask("POST", "/v3/memories/", asked)["results"]] == [
        "Note of r2 for ana."
    ]
    assert house.listed() == {}, "what an app keeps of Ana is the app's"
    known = house.ask("GET", "/v1/entities/")["results"]
    assert {(each["type"], each["name"]) for each in known} == {
        ("user", "ana"), ("user", "bob"), ("app", "shop"), ("agent", "bot"),
    }  # fmt: skip


def test_a_batch_is_looked_up_before_any_of_it_is_touched(house: House) -> None:
    ids = [each["id"] for each in house.add("First note.", "Second note.")["results"]]
    two = [{"memory_id": each, "text": f"Note {number}."} for number, each in enumerate(ids)]
    assert (
        house.call("PUT", "/v1/batch/", {"memories": [*two, {"memory_id": "mem_0", "text": "x"}]}).status_code
        == 404
    )
    assert set(house.listed()) == {"First note.", "Second note."}
    house.ask("PUT", "/v1/batch/", {"memories": two})
    assert set(house.listed()) == {"Note 0.", "Note 1."}
    house.ask("DELETE", "/v1/batch/", {"memories": [{"memory_id": each} for each in ids]})
    assert house.listed() == {}


def test_everything_of_somebody_is_erased(house: House) -> None:
    house.add("I live in Hamburg.")
    house.add("I like tea.", app_id="shop")
    house.derive()
    eraser = Eraser(house.world.store, house.world.clock, "test")
    began = house.ask("DELETE", "/v1/memories/?user_id=ana")
    assert (began["status"], len(began["erasures"])) == ("PENDING", 1)
    assert eraser.step()
    assert house.listed() == {}
    assert house.world.store.erasures.get("acme", began["erasures"][0]).status == "completed"
    also = {"filters": {"AND": [{"user_id": "ana"}, {"app_id": "shop"}]}}
    assert house.ask("POST", "/v3/memories/", also)["count"] == 1
    assert len(house.ask("DELETE", "/v2/entities/user/ana/")["erasures"]) >= 1
    while eraser.step():
        pass
    assert house.ask("POST", "/v3/memories/", also)["count"] == 0


def test_the_open_source_servers_paths_do_the_same(house: House) -> None:
    body = {"messages": [{"role": "user", "content": "The code is 1234."}], "user_id": "ana"}
    (note,) = house.ask("POST", "/memories", body, headers={"X-API-Key": "k"})["results"]
    (same,) = house.ask("GET", "/memories", user_id="ana")["results"]
    assert same["id"] == note["id"]
    (found,) = house.ask("POST", "/search", {"query": "code", "user_id": "ana", "limit": 3})["results"]
    assert found["memory"] == "The code is 1234."
    house.ask("PUT", f"/memories/{note['id']}", {"data": "The code is 4321."})
    assert house.ask("GET", f"/memories/{note['id']}")["memory"] == "The code is 4321."
    assert len(house.ask("GET", f"/memories/{note['id']}/history")) == 2
    assert house.ask("DELETE", f"/memories/{note['id']}")["status"] == "retracted"


# ---- what is refused


REFUSED: list[tuple[str, str, Any, int, str]] = [
    ("POST", "/v3/memories/add/", {"messages": "x"}, 400, "MISSING_REQUIRED_FIELD"),
    ("POST", "/v3/memories/add/", {"user_id": "ana"}, 400, "MISSING_REQUIRED_FIELD"),
    ("POST", "/v3/memories/add/", {"user_id": "ana", "messages": []}, 400, "INVALID_REQUEST"),
    ("POST", "/v3/memories/add/", {"user_id": "ana", "messages": " "}, 400, "INVALID_REQUEST"),
    ("POST", "/v3/memories/add/", {"user_id": "ana", "messages": "x", "metdata": {}}, 400, "INVALID_REQUEST"),
    ("POST", "/v3/memories/add/", {"user_id": "ana", "messages": "x", "timestamp": "soon"}, 400, "INVALID_TIMESTAMP"),
    ("POST", "/v3/memories/add/", {"user_id": "a" * 94, "messages": "x"}, 400, "INVALID_REQUEST"),
    ("POST", "/v3/memories/add/", [1], 400, "INVALID_BODY"),
    ("POST", "/v3/memories/", {}, 400, "MISSING_REQUIRED_FIELD"),
    ("POST", "/v3/memories/", {"filters": {"src": "x"}}, 400, "MISSING_REQUIRED_FIELD"),
    ("POST", "/v3/memories/", {"filters": {"user_id": {"near": "x"}}}, 400, "INVALID_FILTER"),
    ("POST", "/v3/memories/search/", {"query": " ", **ANA}, 400, "INVALID_REQUEST"),
    ("GET", "/v1/memories/nothing/", None, 404, "NOT_FOUND"),
    ("GET", "/v1/memories/mem_/history/", None, 404, "NOT_FOUND"),
    ("PUT", "/v1/memories/mem_1/", {"metadata": {"a": 1}}, 501, "CALL_NOT_OFFERED"),
    ("DELETE", "/v1/memories/evt_1/", None, 404, "NOT_FOUND"),
    ("DELETE", "/v1/memories/", None, 400, "MISSING_REQUIRED_FIELD"),
    ("DELETE", "/v1/memories/?user_id=ana&run_id=r", None, 501, "CALL_NOT_OFFERED"),
    ("DELETE", "/v1/memories/?user_id=*", None, 501, "CALL_NOT_OFFERED"),
    ("DELETE", "/v2/entities/planet/mars/", None, 404, "NOT_FOUND"),
    ("POST", "/reset", None, 501, "CALL_NOT_OFFERED"),
    ("POST", "/v1/exports/", {"schema": "{}"}, 501, "CALL_NOT_OFFERED"),
    ("GET", "/v1/event/batch_01900000-0000-7000-8000-000000000000/", None, 404, "NOT_FOUND"),
    ("PATCH", "/v1/ping/", None, 405, "METHOD_NOT_ALLOWED"),
]  # fmt: skip


def test_what_cannot_be_done_is_said_in_mem0s_shape_and_changes_nothing(house: House) -> None:
    for verb, path, body, status, code in REFUSED:
        response = house.call(verb, path, body)
        said = response.json()
        assert (response.status_code, said["error_code"]) == (status, code), (path, body, said)
        assert isinstance(said["detail"], str)
    assert house.world.store.log.last_recorded("acme", None) is None


def test_calls_are_allowed_counted_and_audited_like_all_others(make_world: Callable[..., Any]) -> None:
    house = House(make_world(doors="mem0", rate_limit_write="2/h"))
    house.add("One.")
    assert (
        house.call("POST", "/v3/memories/add/", {}, headers={"Origin": "https://evil.example"}).status_code
        == 403
    )
    house.world.policy.deny("scope.write")
    denied = house.call("POST", "/v3/memories/add/", {"user_id": "ana", "messages": "x"})
    assert (denied.status_code, denied.json()["error_code"]) == (403, "POLICY_DENIED")
    busy = house.call("POST", "/v3/memories/add/", {"user_id": "ana", "messages": "x"})
    assert (busy.status_code, "retry-after" in busy.headers) == (429, True)
    rows = house.world.get("/v1/audit")["items"]
    assert [row["endpoint"] for row in rows].count("mem0 experience_bulk") == 2


def test_nothing_is_answered_where_the_door_is_not_named(make_world: Callable[..., Any]) -> None:
    assert make_world().call("GET", "/v1/ping/").status_code == 404


def test_no_path_of_mem0s_is_one_of_laminas_own(house: House) -> None:
    own = [(compile_path(route.path)[0], route.path) for route in house.world.server.routes]
    for path in CALLS:
        sample = path.replace("{", "").replace("}", "")
        assert not [other for pattern, other in own if pattern.match(sample) and other != "/{path:path}"], (
            path
        )


# ---- whose memories they are


@pytest.fixture(name="signed")
def _signed(tmp_path: Path) -> Iterator[Any]:
    clock = ManualClock()
    settings = Settings(
        preset="on_prem_enterprise", issuers=issuers_file(tmp_path), data=tmp_path, doors="mem0"
    )
    server = build_server(settings, store=MemoryStore(clock=clock), clock=clock)
    yield server
    server.pool.shutdown()
    server.close()


def asked_as(server: Any, actor: str | None, verb: str, path: str, body: Any = None) -> httpx.Response:
    async def send() -> httpx.Response:
        headers = {} if actor is None else {"Authorization": f"Token {paseto(claims(sub=actor, jti=actor))}"}
        transport = httpx.ASGITransport(server.application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(verb, path, headers=headers, json=body)

    return asyncio.run(send())


def test_who_shows_no_token_is_told_to_sign_in(signed: Any) -> None:
    for verb, path in (("GET", "/v1/ping/"), ("POST", "/reset"), ("POST", "/v3/memories/add/")):
        refused = asked_as(signed, None, verb, path, {})
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert asked_as(signed, "user:alice", "GET", "/v1/ping/").json()["actor"] == "user:alice"


def test_nobody_reads_or_changes_the_memories_of_another(signed: Any) -> None:
    body = {"user_id": "alice", "messages": "My code is 1234."}
    added = asked_as(signed, "user:alice", "POST", "/v3/memories/add/", body)
    assert added.status_code == 200, added.text
    (note,) = added.json()["results"]
    own = f"/v1/memories/{note['id']}/"
    assert asked_as(signed, "user:alice", "GET", own).json()["memory"] == "My code is 1234."
    batch = {"memories": [{"memory_id": note["id"], "text": "x"}]}
    alice = {"filters": {"user_id": "alice"}}
    for verb, path, sent, status in (
        ("GET", own, None, 404),
        ("GET", f"{own}history/", None, 404),
        ("PUT", own, {"text": "x"}, 404),
        ("DELETE", own, None, 404),
        ("PUT", "/v1/batch/", batch, 404),
        ("DELETE", "/v1/batch/", batch, 404),
        ("GET", f"/v1/event/{added.json()['event_id']}/", None, 404),
        ("POST", "/v3/memories/", alice, 403),
        ("POST", "/v3/memories/search/", {"query": "code", **alice}, 403),
        ("POST", "/v3/memories/add/", body, 403),
        ("GET", "/memories?user_id=alice", None, 403),
        ("POST", "/search", {"query": "code", "user_id": "alice"}, 403),
    ):
        response = asked_as(signed, "user:bob", verb, path, sent)
        assert response.status_code == status, (verb, path, response.text)
        assert "1234" not in response.text
    everybody = asked_as(signed, "user:bob", "POST", "/v3/memories/", {"filters": {"user_id": "*"}}).json()
    assert everybody["results"] == []
    assert asked_as(signed, "user:bob", "GET", "/v1/entities/").json()["results"] == []
    assert asked_as(signed, "user:alice", "GET", own).json()["memory"] == "My code is 1234."
