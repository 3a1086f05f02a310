"""Erasures over HTTP and in the worker: planned, carried out, interrupted, refused, cancelled."""

from __future__ import annotations

import base64
import itertools
import json
import random
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from given import ALICE, BOB, TENANT, append, belief, draft, fact, finish_all, land, support, text_row
from lamina import limits
from lamina.errors import Unavailable
from lamina.forget.ending import told_of
from lamina.forget.runner import Eraser
from lamina.kernel.events import IDENTITY, Origin, Party, Trust
from lamina.kernel.records import Evidence, Mention, Subject
from lamina.kernel.relay import RELAY_SCOPE
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.language.entities import entity_id
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.store.backups.tombstones import TombstoneFile
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.erasing import Erased, Erasure
from lamina.store.ports.erasures import ErasurePhase, LineKind
from lamina.store.ports.index import TextRow
from lamina.store.ports.log import Capture
from lamina.store.ports.writes import Writes
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.connection import open_connection
from lamina.store.sqlite.erasing_reading import SqliteReading
from neighbours import ROOT, Neighbours

LAUNCH = Scope("ws:launch")
HELD = Scope(f"{ALICE}/ws:case")
NOTE = "case 1234"


class House:
    """Alice's own memory, a workspace that she shares with Bob, and a worker that erases."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = SqliteStore(folder, durable=False)
        self.here = Neighbours(store=self.store)
        self.eraser = Eraser(self.store, self.here.clock, "test")
        self.here.register(LAUNCH, alice="owner", bob="owner")
        mine = {"caller": "user:alice", "observed_actor": Party.of("user:alice")}
        self.home = [event.id for event in append(self.store, "tea", "cake", "a plan", scope=ALICE, **mine)]
        self.said = append(self.store, "I launch it in May", scope=LAUNCH, **mine)[0].id
        self.of_bob = append(
            self.store, "fine", scope=LAUNCH, caller="user:bob", observed_actor=Party.of("user:bob")
        )[0].id
        stated = fact("tea", ALICE, event_id=self.home[0])
        shared = fact("launch", LAUNCH, event_id=self.said)
        held = belief("may", scope=LAUNCH, evidence=(Evidence(stated.id, 0.9, "supports"),))
        writes = Writes(
            records=[stated, shared, held],
            supports=[
                support(stated.id, self.home[0]),
                support(shared.id, self.said),
                support(held.id, stated.id),
            ],
            texts=[text_row(self.home[0], "tea", ALICE), text_row(self.said, "launch may", LAUNCH)],
        )
        land(self.store, writes, scope=BOB, caller="user:bob", observed_actor=Party.of("user:bob"))
        finish_all(self.store)
        self.records = {"fact": stated.id, "shared": shared.id, "belief": held.id}

    def post(self, path: str, body: dict[str, Any], **more: Any) -> Any:
        return self.here.said("POST", path, body, **more)

    def start(self, **more: Any) -> str:
        began = self.post("/v1/erasures", {"scope": ALICE, "audit_note": NOTE, **more})
        assert began["status"] == "running"
        return str(began["erasure_id"])

    def state(self, erasure_id: str) -> Any:
        return self.here.said("GET", f"/v1/erasures/{erasure_id}")

    def work(self) -> None:
        while self.eraser.step():
            pass

    def reads(self, path: str, **more: Any) -> Any:
        return self.here.code("GET", path, **more)


@pytest.fixture(name="house")
def _house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.here.close()


def test_a_preview_says_what_would_go_and_nothing_does(house: House) -> None:
    shown = house.post("/v1/erasures/preview", {"scope": ALICE, "audit_note": NOTE})
    assert shown["estimated_affected"] == {
        "events": 4,
        "episodes": 0,
        "facts": 2,
        "beliefs": 1,
        "understanding": 0,
    }
    assert shown["refcount_breakdown"] == {
        "events_to_delete": 2,
        "events_to_redact": 2,
        "events_under_legal_hold": 0,
    }
    assert shown["cross_scope_propagation"] == {
        "affected_workspaces": [
            {"scope": LAUNCH, "events_referenced": 2, "co_owners": ["user:bob"], "erased": False}
        ],
        "requires_capability": "forget.gdpr.cross_workspace",
    }
    assert shown["legal_holds"] == []
    assert shown["estimated_duration_ms"] >= limits.ERASURE_BASE_US / 1000
    pages = []
    query: dict[str, Any] = {"limit": 2}
    for _ in range(10):
        page = house.here.said("GET", shown["manifest_url"], **query)
        pages.append(page)
        query["cursor"] = page["next_cursor"]
        if not page["has_more"]:
            break
    merged = {
        key: list(itertools.chain(*(page[key] for page in pages)))
        for key in pages[0]
        if isinstance(pages[0][key], list)
    }
    assert merged == {
        "events_to_delete": sorted(house.home[1:]),
        "events_to_redact": sorted([house.home[0], house.said]),
        "events_under_legal_hold": [],
        "cross_scope_references": [
            {"event_id": house.home[0], "record_id": house.records["belief"], "scope": LAUNCH},
            {"event_id": house.said, "record_id": house.records["shared"], "scope": LAUNCH},
        ],
        "beliefs_to_demote": [house.records["belief"]],
        "documents_to_delete": [],
        "documents_shared": [],
        "residue": [],
    }
    assert house.reads(f"/v1/events/{house.home[0]}") == 200
    house.here.clock.at += int(limits.PREVIEW_TTL_S * SECOND_US)
    assert house.reads(shown["manifest_url"]) == "PREVIEW_EXPIRED"


def test_the_worker_lets_go_of_what_a_preview_named(house: House) -> None:
    shown = house.post("/v1/erasures/preview", {"scope": ALICE})
    deriver = Deriver(house.store, RulesExtractor(find_times, use_parser=False), None)
    lefts = []
    for passed_s in (0, limits.PREVIEW_TTL_S + 1):
        house.here.clock.at += int(passed_s * SECOND_US)
        worker = Worker(house.store, deriver, None, house.here.clock, "test", sleep=lambda _: None)
        worker.drain()
        rounds = iter([False])
        worker.run(lambda ends=rounds: next(ends, True))
        lefts.append(len(house.store.erasures.ids("acme", shown["preview_id"], LineKind.DELETE)))
    assert lefts == [2, 0]


def test_an_erasure_hides_at_once_and_leaves_nothing_but_marks(house: House) -> None:
    erasure_id = house.start()
    assert house.reads(f"/v1/events/{house.home[0]}") == "NOT_FOUND"
    assert house.reads("/v1/events", scope=ALICE) == "POLICY_DENIED"
    assert (
        house.here.code("POST", "/v1/recall", {"scope": ALICE, "query": "tea", "view": "local"})
        == "POLICY_DENIED"
    )
    for scope in (ALICE, LAUNCH):
        assert (
            house.here.code("POST", "/v1/experience", house.here.envelope(scope, "more")) == "ERASURE_RUNNING"
        )
    assert (
        house.here.code("POST", "/v1/experience", house.here.envelope(LAUNCH, "more"), by="user:bob") == 202
    )
    assert house.here.code("POST", "/v1/erasures", {"scope": ALICE, "audit_note": NOTE}) == "ERASURE_RUNNING"
    job = house.store.erasures.claim(
        now=house.here.clock.at, lease_until=house.here.clock.at + 1, owner="another"
    )
    assert job is not None
    assert house.store.erasures.advance(job, lease_until=house.here.clock.at, told=[told_of(job)])
    for by, seen in (("user:alice", ["erasure_progress"]), ("user:bob", [])):
        rows = house.here.said("GET", "/v1/lifecycle", erasure_id=erasure_id, by=by)["items"]
        assert [row["stage"] for row in rows] == seen
    house.store.erasures.take_over()
    house.work()
    state = house.state(erasure_id)
    assert (state["status"], state["phase"], state["fraction_complete"]) == ("completed", "demote", 1.0)
    progress = {key: value for key, value in state["progress"].items() if key != "elapsed_ms"}
    assert progress == {
        "deleted_events": 2,
        "redacted_events": 2,
        "held_events": 0,
        "deleted_records": 1,
        "demoted_beliefs": 1,
    }
    left = house.store.log.get(TENANT, [*house.home, house.said, house.of_bob])
    assert set(left) == {house.home[0], house.said, house.of_bob}
    assert left[house.said].content == {"kind": "redacted", "original_kind": "text"}
    assert left[house.said].observed_actor.id == f"redacted:gdpr_{erasure_id}"
    assert left[house.of_bob].content["text"] == "fine"
    kept = house.store.records.get(TENANT, house.records.values())
    assert set(kept) == {house.records["shared"], house.records["belief"]}
    row = house.here.said("GET", f"/v1/audit/{state['audit_id']}")
    assert row["gdpr"] is True
    assert row["detail"]["erasure_id"] == erasure_id
    assert row["detail"]["summary"]["deleted_events"] == 2
    told = house.here.said("GET", "/v1/lifecycle", erasure_id=erasure_id, limit=100)["items"]
    names = [each["stage"] for each in told if each["stage"] != "forgotten"]
    assert names[0] == "erasure_progress"
    assert names[-1] == "erasure_complete"
    phases = [each["payload"]["phase"] for each in told if each["stage"] == "erasure_progress"]
    assert list(dict.fromkeys(phases)) == [phase.value for phase in ErasurePhase]
    assert house.here.code("POST", "/v1/experience", house.here.envelope(ALICE, "anew")) == 202
    done = house.here.said("GET", f"/v1/erasures/{erasure_id}/manifest")
    assert (done["erasure_id"], done["events_to_delete"]) == (erasure_id, sorted(house.home[1:]))
    assert [each["erasure_id"] for each in house.here.said("GET", "/v1/erasures")["items"]] == [erasure_id]


def test_a_drifted_preview_is_refused_but_for_what_the_tenant_allows(house: House) -> None:
    shown = house.post("/v1/erasures/preview", {"scope": ALICE})["preview_id"]
    asked = {"scope": ALICE, "audit_note": NOTE, "from_preview_id": shown}
    assert house.here.code("POST", "/v1/erasures", asked | {"scope": BOB}, by=ROOT) == "INVALID_REQUEST"
    append(house.store, "meanwhile", scope=ALICE)
    refused = house.here.call("POST", "/v1/erasures", asked)
    assert (refused.status_code, refused.json()["error_code"]) == (409, "ERASURE_DRIFTED")
    assert refused.json()["details"]["drift"] == 1
    house.here.said("PUT", "/v1/policy/tenant/acme", {"defaults": {"erasure.drift_threshold": 1}}, by=ROOT)
    assert house.here.code("POST", "/v1/erasures", asked) == 202
    house.work()
    assert house.store.citations.within(TENANT, ALICE) != []
    assert house.here.code("POST", "/v1/erasures", asked) == "NOT_FOUND"


def test_what_a_person_decided_elsewhere_names_them_no_more(house: House) -> None:
    who, origin = Party.of("user:alice"), Origin("user:alice", IDENTITY, Trust.PRINCIPAL)
    said = {"kind": IDENTITY, "action": "merge", "entity_id": "ent_a", "into": "ent_b", "why": "my uncle"}
    made = draft(scope=LAUNCH, caller=who.id, observed_actor=who, subject=who, content=said, origin=origin)
    entry = house.store.log.append_entry(replace(made, modality=IDENTITY))
    house.start()
    house.work()
    shown = house.here.call("GET", f"/v1/events/{entry.id}", by="user:bob").text
    assert '"into":"ent_b"' in shown
    assert "uncle" not in shown
    assert "alice" not in shown


def test_what_is_under_a_legal_hold_is_neither_hidden_nor_erased(house: House) -> None:
    event = append(house.store, "evidence", scope=HELD)[0]
    hold = {"legal_holds": [{"id": "acme-v-doe", "scope": HELD}, {"id": "other", "scope": "ws:other"}]}
    house.here.said("PUT", "/v1/policy/tenant/acme", hold, by=ROOT)
    shown = house.post("/v1/erasures/preview", {"scope": ALICE})
    assert shown["legal_holds"] == ["acme-v-doe"]
    assert shown["refcount_breakdown"]["events_under_legal_hold"] == 1
    erasure_id = house.start()
    assert house.reads(f"/v1/events/{event.id}") == 200
    house.work()
    assert house.reads(f"/v1/events/{event.id}") == 200
    state = house.state(erasure_id)
    assert (state["status"], state["legal_holds"], state["progress"]["held_events"]) == (
        "completed",
        ["acme-v-doe"],
        1,
    )


@pytest.mark.parametrize("held", [ALICE, Scope("org:acme")], ids=["itself", "above"])
def test_of_a_scope_that_a_hold_keeps_whole_nothing_goes(house: House, held: Scope) -> None:
    mine = {"caller": "user:alice", "observed_actor": Party.of("user:alice"), "session": "s-1"}
    house.store.sessions.take([Capture(draft("evidence", ALICE, **mine))])
    hold = {"legal_holds": [{"id": "acme-v-doe", "scope": held}]}
    house.here.said("PUT", "/v1/policy/tenant/acme", hold, by=ROOT)

    def kept() -> dict[str, list[Any]]:
        tables = ("event", "record", "session", "outbox", "inquiry", "scope")
        connection = open_connection(house.folder / "lamina.db", durable=False, read_only=True)
        place = {"scope": "path"}
        found = {
            table: connection.execute(
                f"SELECT * FROM {table} WHERE {place.get(table, 'scope')} = ?", (ALICE,)
            ).fetchall()
            for table in tables
        }
        connection.close()
        return found

    before = kept()
    assert [table for table, rows in before.items() if rows] == ["event", "record", "session", "scope"]
    house.start()
    house.work()
    assert kept() == before


@pytest.mark.parametrize("cascade", ["derived_only", "redact_events"])
def test_nothing_of_what_is_under_a_legal_hold_is_forgotten(house: House, cascade: str) -> None:
    event = append(house.store, "evidence", scope=HELD)[0]
    stated = fact("evidence", HELD, event_id=event.id)
    land(house.store, Writes(records=[stated], supports=[support(stated.id, event.id)]), scope=HELD)
    hold = {"legal_holds": [{"id": "acme-v-doe", "scope": HELD}]}
    house.here.said("PUT", "/v1/policy/tenant/acme", hold, by=ROOT)
    before = list(house.store.snapshot())
    for named in ({"memory_ids": [stated.id]}, {}):
        asked = {"scope": HELD, "cascade": cascade, "selector": named, "confirm_all": not named}
        refused = house.here.call("POST", "/v1/forget", asked)
        assert (refused.status_code, refused.json()["error_code"]) == (409, "LEGAL_HOLD")
        assert "acme-v-doe" not in refused.text
    assert list(house.store.snapshot()) == before
    assert house.store.log.get(TENANT, [event.id])[event.id].content == event.content
    house.post("/v1/forget", {"scope": ALICE, "cascade": cascade, "confirm_all": True})


def test_a_legal_hold_on_the_scope_of_documents_keeps_them(house: House) -> None:
    change = Change("notes/tea.md", ChangeKind.PUT, b"evidence")
    told = Capture(draft("evidence", RELAY_SCOPE, caller="user:alice", observed_actor=Party.of("user:alice")))
    write = Write(tenant_id=TENANT, author="user:alice", message="w", changes=[change], captures=[told])
    written = house.store.documents.write([write])[0]
    hold = {"legal_holds": [{"id": "acme-v-doe", "scope": RELAY_SCOPE}]}
    house.here.said("PUT", "/v1/policy/tenant/acme", hold, by=ROOT)
    shown = house.post("/v1/erasures/preview", {"scope": ALICE})
    assert house.here.said("GET", shown["manifest_url"])["documents_to_delete"] == []
    house.start()
    house.work()
    kept = house.store.documents.read(TENANT, "notes/tea.md")
    assert kept is not None
    assert kept.content == b"evidence"
    assert house.store.log.get(TENANT, written.event_ids).keys() == {*written.event_ids}
    assert house.store.log.get(TENANT, house.home[1:]) == {}


def test_a_page_of_erasures_behind_hidden_ones_names_none_of_them(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lamina.limits.LIST_SCAN_MAX", 4)
    monkeypatch.setattr("lamina.limits.ERASURES_LISTED_MAX", 2)
    erasures = []
    for number in range(13):
        house.here.clock.at += SECOND_US
        scope = f"org:acme/user:alice/project:{'open' if number in (0, 11) else 'closed'}-{number}"
        erasures.append(house.start(scope=scope))
        house.work()
    for number in set(range(13)) - {0, 11}:
        closed = f"/v1/policy/scope/org:acme/user:alice/project:closed-{number}"
        house.here.said("PUT", closed, {"deny": ["forget.*"]}, by=ROOT)
    found, asked = [], {"limit": 5}
    for _ in range(9):
        page = house.here.said("GET", "/v1/erasures", **asked)
        found += [each["erasure_id"] for each in page["items"]]
        if not page["has_more"]:
            break
        cursor = page["next_cursor"]
        told = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        assert not [each for each in erasures if each in told and each not in found]
        asked["cursor"] = cursor
    assert found == [erasures[11], erasures[0]]


def test_who_may_not_erase_is_told_so_and_learns_nothing(house: House) -> None:
    asked = {"scope": ALICE, "audit_note": NOTE}
    assert house.here.code("POST", "/v1/erasures/preview", {"scope": ALICE}, by="user:bob") == "POLICY_DENIED"
    assert house.here.code("POST", "/v1/erasures", asked, by="user:bob") == "POLICY_DENIED"
    house.here.said("PUT", "/v1/policy/actor/user:alice", {"deny": ["forget.gdpr.cross_workspace"]}, by=ROOT)
    refused = house.here.call("POST", "/v1/erasures", asked)
    assert (refused.status_code, refused.json()["details"]["capability"]) == (
        403,
        "forget.gdpr.cross_workspace",
    )
    assert house.here.said("GET", "/v1/erasures")["items"] == []
    erasure_id = house.post("/v1/erasures", asked, by=ROOT)["erasure_id"]
    for path in ("", "/manifest"):
        assert house.reads(f"/v1/erasures/{erasure_id}{path}", by="user:bob") == "NOT_FOUND"
    assert house.here.code("POST", f"/v1/erasures/{erasure_id}/cancel", {}, by="user:bob") == "NOT_FOUND"
    assert house.here.said("GET", "/v1/erasures", by="user:bob")["items"] == []
    assert house.reads("/v1/erasures/evt_1") == "INVALID_ID"


def test_a_cancelled_erasure_stops_before_its_next_phase_and_hides_no_more(house: House) -> None:
    erasure_id = house.start()
    said = house.post(f"/v1/erasures/{erasure_id}/cancel", {})
    assert (said["cancellation_accepted"], said["deleted_events_before_cancel"]) == (True, 0)
    house.work()
    state = house.state(erasure_id)
    assert (state["status"], state["phase"]) == ("cancelled", "enumerate")
    assert house.reads(f"/v1/events/{house.home[0]}") == 200
    assert house.post(f"/v1/erasures/{erasure_id}/cancel", {})["cancellation_accepted"] is True
    second = house.start()
    house.work()
    assert house.post(f"/v1/erasures/{second}/cancel", {})["cancellation_accepted"] is False


def test_what_took_nothing_is_listed_so_in_whichever_phase_it_ends(house: House, tmp_path: Path) -> None:
    """The list cannot be written when it would begin to erase, nor when it is cancelled then."""
    path = tmp_path / "list" / "tombstones.jsonl"
    path.mkdir(parents=True)
    listed = TombstoneFile(path)
    eraser = Eraser(house.store, house.here.clock, "test", tombstones=listed)
    erasure_id = house.start()
    with pytest.raises(Unavailable, match="CANNOT_WRITE_TOMBSTONES"):
        eraser.step()
    assert (house.state(erasure_id)["phase"], house.reads(f"/v1/events/{house.home[0]}")) == (
        "delete",
        "NOT_FOUND",
    )
    house.post(f"/v1/erasures/{erasure_id}/cancel", {})
    with pytest.raises(Unavailable, match="CANNOT_WRITE_TOMBSTONES"):
        eraser.step()
    assert house.reads(f"/v1/events/{house.home[0]}") == 200
    path.rmdir()
    house.here.clock.at += int(limits.ERASURE_AGAIN_S_MAX * SECOND_US)
    assert eraser.step()
    assert house.state(erasure_id)["status"] == "cancelled"
    assert [(each.id, each.cancelled) for each in listed.read()] == [(erasure_id, True)]


def test_an_erasure_that_failed_is_listed_as_one_that_took_nothing(house: House, tmp_path: Path) -> None:
    listed = TombstoneFile(tmp_path / "tombstones.jsonl")
    job = house.store.erasures.get(TENANT, house.start())
    assert job is not None
    house.post(f"/v1/erasures/{job.id}/cancel", {})
    house.work()
    house.store.erasures.begin(replace(job, id="erasure_2", crosses=False))
    assert Eraser(house.store, house.here.clock, "test", tombstones=listed).step()
    assert [(each.id, each.cancelled) for each in listed.read()] == [("erasure_2", True)]


def test_an_erasure_that_failed_for_months_is_put_off_as_before(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise Unavailable("WAL_UNAVAILABLE", "the disk is full")

    monkeypatch.setattr(house.store.erasures, "put_lines", full)
    job = house.store.erasures.get(TENANT, house.start())
    assert job is not None
    house.post(f"/v1/erasures/{job.id}/cancel", {})
    house.work()
    house.store.erasures.begin(replace(job, id="erasure_2", attempts=2000))
    with pytest.raises(Unavailable):
        house.eraser.step()
    late = house.store.erasures.get(TENANT, "erasure_2")
    assert late is not None
    assert late.next_attempt_at - house.here.clock.at == limits.ERASURE_AGAIN_S_MAX * SECOND_US


def test_it_goes_on_wherever_it_is_interrupted(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every write of the worker fails once, before it lands or after: what is left is the same, and counted right."""
    monkeypatch.setattr(limits, "ERASURE_STEP_MAX", 1)
    monkeypatch.setattr(limits, "ERASURE_AGAIN_S", 0.0)
    chance = random.Random(7)
    erase, advance, scrub = house.store.erasing.erase, house.store.erasures.advance, house.store.traces.scrub

    def often(work: Any) -> Any:
        def run(*given: Any, **more: Any) -> Any:
            result = work(*given, **more)
            if chance.random() < 0.4:
                raise Unavailable("WAL_UNAVAILABLE", "it was interrupted")
            return result

        return run

    monkeypatch.setattr(house.store.erasing, "erase", often(erase))
    monkeypatch.setattr(house.store.erasures, "advance", often(advance))
    monkeypatch.setattr(house.store.traces, "scrub", often(scrub))
    erasure_id = house.start()
    failures = 0
    while house.state(erasure_id)["status"] == "running":
        failures += 1
        assert failures < 100
        assert house.reads("/v1/events", scope=ALICE) == "POLICY_DENIED"
        try:
            house.work()
        except Unavailable:
            house.here.clock.at += 1
    assert failures > 8
    state = house.state(erasure_id)
    progress = {key: value for key, value in state["progress"].items() if key != "elapsed_ms"}
    assert progress == {
        "deleted_events": 2,
        "redacted_events": 2,
        "held_events": 0,
        "deleted_records": 1,
        "demoted_beliefs": 1,
    }
    rows = [row for row in house.store.audit.walk(TENANT, 0, 1000) if row.draft.endpoint == "erasure"]
    assert [json.loads(row.draft.detail or "")["status"] for row in rows] == ["completed"]


@pytest.mark.parametrize("held", [8, 1], ids=["all of it under the lock", "most of it beside others"])
def test_steps_that_hold_the_lock_for_long_are_followed_by_smaller_ones(
    house: House, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    append(house.store, *(f"tea {number}" for number in range(40)), scope=ALICE, caller="user:alice")
    erase, sizes = house.store.erasing.erase, list[int]()

    def counted(step: Erasure) -> Erased:
        sizes.append(len([*step.delete, *step.redact]))
        return replace(erase(step), beside_s=(8 - held) * limits.ERASURE_STEP_S)

    monkeypatch.setattr(house.store.erasing, "erase", counted)
    pauses = list[float]()
    slow = itertools.count(step=int(8 * limits.ERASURE_STEP_S * 1e9))
    house.eraser = Eraser(
        house.store, house.here.clock, "test", elapsed_ns=lambda: next(slow), sleep=pauses.append
    )
    house.start()
    house.work()
    largest = limits.ERASURE_STEP_MAX
    then = limits.ERASURE_STEP_MIN if held > 1 else largest
    smaller, left = divmod(44 - largest, then)
    assert [size for size in sizes if size] == [largest, *[then] * smaller, *[left] * bool(left)]
    assert pauses == pytest.approx([held * limits.ERASURE_STEP_S] * len(pauses))


def test_what_a_step_keeps_is_worked_out_while_others_write(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = open_connection(tmp_path / "lamina.db", durable=False)
    other.set_busy_handler(None)  # it does not wait for the lock
    texts, beside = SqliteReading.texts, list[str]()

    def written_beside(reading: SqliteReading, ids: Collection[str]) -> list[TextRow]:
        """Of what the step keeps: its entry has a place by then."""
        if ids and not beside:
            other.execute("UPDATE access_version SET version = version")
            beside.extend(ids)
        return texts(reading, ids)

    monkeypatch.setattr(SqliteReading, "texts", written_beside)
    erasure_id = house.start()
    house.work()
    assert house.state(erasure_id)["status"] == "completed"
    assert house.records["shared"] in beside
    other.close()


def test_a_deleted_scope_goes_with_its_records_and_its_registration(house: House) -> None:
    team = Scope("org:acme/team:sales")
    house.here.register(team, alice="owner")
    event = append(house.store, "secret", scope=team)[0]
    answer = house.here.call("DELETE", "/v1/scopes", path=team, records="forget")
    assert (answer.status_code, answer.json()["records"]) == (202, "forget")
    assert house.reads(f"/v1/events/{event.id}") == "NOT_FOUND"
    house.work()
    assert house.state(answer.json()["erasure_id"])["status"] == "completed"
    assert house.here.code("GET", "/v1/scopes", path=team) == "NOT_FOUND"
    assert house.store.log.get(TENANT, [event.id]) == {}


def test_a_workspace_that_nobody_else_owns_goes_as_a_whole(house: House) -> None:
    mine = Scope("ws:mine")
    house.here.register(mine, alice="owner", bob="reader")
    said = append(house.store, "x", scope=mine, observed_actor=Party.of("user:alice"))[0]
    other = append(house.store, "y", scope=mine, caller="user:bob", observed_actor=Party.of("user:bob"))[0]
    shown = house.post("/v1/erasures/preview", {"scope": ALICE})
    touched = {each["scope"]: each for each in shown["cross_scope_propagation"]["affected_workspaces"]}
    assert touched[mine]["erased"] is True
    house.start()
    house.work()
    assert house.store.log.get(TENANT, [said.id, other.id]) == {}


def test_what_others_told_of_the_person_is_listed_and_stays(house: House) -> None:
    """To those who may read it; to anybody else it is a number."""
    person = entity_id(TENANT, "alice")
    bob = {"caller": "user:bob", "observed_actor": Party.of("user:bob")}
    told = [
        fact(f"of alice in {scope}", scope, subject=Subject(person, "Alice"), event_id=house.of_bob)
        for scope in (LAUNCH, BOB)
    ]
    mentions = [
        Mention(
            tenant_id=TENANT,
            entity_id=person,
            scope=each.scope,
            event_id=house.of_bob,
            position=5,
            surface="Alice",
        )
        for each in told
    ]
    rests = [support(each.id, house.of_bob) for each in told]
    land(house.store, Writes(records=told, supports=rests, mentions=mentions), scope=BOB, **bob)
    ids = [each.id for each in told]
    shown = house.post("/v1/erasures/preview", {"scope": ALICE})
    assert shown["residue"] == 2
    page = house.here.said("GET", shown["manifest_url"])
    assert page["residue"] == [{"record_id": ids[0], "scope": LAUNCH}]
    house.start()
    house.work()
    assert set(house.store.records.get(TENANT, ids)) == set(ids)
