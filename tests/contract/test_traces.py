"""What every engine promises about erasing beside log and derived rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from given import ALICE, BOB, NOON, TENANT, ManualClock, append, draft
from lamina import limits
from lamina.errors import Conflict
from lamina.kernel.events import DEFINITION, IDENTITY, Origin, Party, Trust
from lamina.kernel.ids import Prefix, RandomIds
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.ports.documents import Change, ChangeKind, LandedWrite, Write
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.idempotency import IdempotencyEntry, IdempotencyKey
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.log import Capture
from lamina.store.ports.model_outputs import ModelOutput
from lamina.store.ports.packs import PackKind, StoredPack
from lamina.store.ports.schedule import ItemEnding, ScheduleItem
from lamina.store.ports.sessions import Fold, SessionKey, Sitting
from lamina.store.ports.store import Store
from lamina.store.ports.traces import ErasedBeside

PUT, APPEND, REMOVE = ChangeKind.PUT, ChangeKind.APPEND, ChangeKind.REMOVE
HOME, AWAY = SessionKey(TENANT, ALICE, "s-1"), SessionKey(TENANT, BOB, "s-1")
BELOW = Scope(f"{ALICE}/project:tea")


def take(store: Store, count: int, place: SessionKey = HOME) -> list[str]:
    turns = [Capture(draft(f"turn {n}", place.scope, session=place.session)) for n in range(count)]
    return [store.sessions.take([turn])[0].event.id for turn in turns]


def fold(store: Store, summary: str) -> None:
    rows = store.sessions.claim(limit=100, lease_until=NOON + 1, now=NOON, owner="drain")
    ids, fence = tuple(row.id for row in rows), rows[0].fence
    assert store.sessions.fold(
        Fold(
            place=rows[0].place,
            number=rows[0].sitting,
            ids=ids,
            fence=fence,
            summary=summary,
            bridge="they said",
            at=NOON,
            sent=True,
            revision=0,
        )
    )


def sitting(store: Store, place: SessionKey = HOME) -> Sitting:
    held = store.sessions.sitting(place)
    assert held is not None
    return held


def erase(store: Store, *event_ids: str, **more: Any) -> dict[str, int]:
    return dict(store.traces.erase_beside(ErasedBeside(tenant_id=TENANT, event_ids=event_ids, **more)))


# ---- sittings


def test_a_sitting_whose_summary_told_of_an_erased_turn_is_folded_anew_from_the_others(store: Store) -> None:
    ids = take(store, limits.SESSION_WINDOW_TURNS + 3)
    fold(store, "tells of three")
    assert erase(store, ids[1]) == {"outbox": 1}
    held = sitting(store)
    assert (held.summary, held.bridge, held.folded, held.turns) == ("", None, 0, len(ids) - 1)
    waiting = store.sessions.claim(limit=9, lease_until=NOON + 1, now=NOON, owner="drain")
    assert [row.event_id for row in waiting] == [ids[0], ids[2]]
    assert held.lags


def test_a_turn_that_stands_in_the_window_leaves_it_and_the_summary_stays(store: Store) -> None:
    ids = take(store, limits.SESSION_WINDOW_TURNS + 2)
    fold(store, "tells of two")
    erase(store, ids[5])
    held = sitting(store)
    assert (held.summary, held.folded, held.turns) == ("tells of two", 2, len(ids) - 1)
    assert list(held.window) == [each for each in ids[2:] if each != ids[5]]
    assert not held.lags


def test_a_sitting_without_turns_is_gone_and_the_session_goes_on(store: Store) -> None:
    ids = take(store, 2)
    assert erase(store, *ids) == {"session": 1}
    assert store.sessions.sitting(HOME) is None
    assert take(store, 1) == list(sitting(store).window)
    erase(store, sitting(store).window[0])
    assert erase(store, *ids) == {}, "erasing again finds nothing"


def test_an_open_sitting_with_an_empty_window_goes_on(store: Store) -> None:
    ids = take(store, limits.SESSION_WINDOW_TURNS + 1)
    erase(store, *ids[1:])
    assert sitting(store).window == ()
    assert take(store, 1) == list(sitting(store).window)


# ---- what rests on events, and what lies in a scope


def test_what_models_answered_of_erased_turns_goes_and_of_others_stays(store: Store) -> None:
    mine, yours = append(store, "mine", "yours")
    for name, event in (("a", mine), ("b", yours)):
        output = ModelOutput(
            tenant_id=TENANT,
            input_hash=f"sha256:{name}",
            task="loops/1",
            model="small",
            text="yes",
            tokens_in=1,
            tokens_out=1,
            recorded_at=NOON,
        )
        store.model_outputs.record(output, [event.id])
    assert erase(store, mine.id) == {"model_output": 1, "model_output_source": 1}
    assert [store.model_outputs.find(TENANT, f"sha256:{name}") is None for name in "ab"] == [True, False]


def test_all_at_and_under_a_scope_goes_and_beside_it_stays(store: Store) -> None:
    take(store, 3), take(store, 3, SessionKey(TENANT, BELOW, "s-2")), take(store, 3, AWAY)
    other = SessionKey("other", ALICE, "s-1")
    store.sessions.take([Capture(draft("theirs", ALICE, tenant_id="other", session="s-1"))])
    gone = erase(store, scopes=[ALICE])
    assert gone == {"session": 2, "scope": 2}
    assert [store.sessions.sitting(place) is None for place in (HOME, AWAY, other)] == [True, False, False]
    assert [*store.scopes.below(TENANT, Scope("org:acme"), 9)] == [BOB]


@pytest.mark.parametrize(
    ("caller", "response", "goes"),
    [
        ("user:alice", {"title": "tea"}, True),
        ("agent:nia", {"body": {"scope": str(ALICE)}}, True),
        ("agent:nia", {"body": {"scope": f"{ALICE}/x:y"}}, True),
        ("agent:nia", {"body": {"scope": f"{ALICE}2"}}, False),
        ("agent:nia", {"path": "notes/alice.md"}, True),
        ("agent:nia", {"path": "notes/bob.md"}, False),
    ],
)
def test_a_kept_answer_goes_with_whom_it_was_told_or_what_it_names(
    store: Store, caller: str, response: dict[str, Any], goes: bool
) -> None:
    key = IdempotencyKey(TENANT, caller, "/v1/x", "k")
    store.idempotency.remember(IdempotencyEntry(key, "hash", NOON, response=response))
    erase(store, scopes=[ALICE], actors=["user:alice"], words=["notes/alice.md"])
    assert (store.idempotency.find(key, NOON) is None) is goes


def test_an_entry_of_whoever_is_erased_says_what_was_decided_and_not_by_whom(store: Store) -> None:
    def entered(by: str, scope: Scope = BOB, channel: str = IDENTITY) -> str:
        said = {"kind": channel, "into": "ent_b", "why": f"{by} said so"}
        who, origin = Party.of(by), Origin(by, channel, Trust.PRINCIPAL)
        entry = draft(scope=scope, caller=by, observed_actor=who, subject=who, content=said, origin=origin)
        return store.log.append_entry(replace(entry, modality=channel)).id

    mine = entered("user:alice")
    others = [
        entered("user:bob"),
        entered("user:alice", BELOW),
        entered("user:alice", channel=DEFINITION),
    ]
    before = store.log.get(TENANT, others)
    erased = {"actors": ["user:alice"], "stand_in": "redacted:x", "held": [BELOW]}
    assert erase(store, **erased) == {"event": 1}
    assert store.log.get(TENANT, others) == before
    entry = store.log.get(TENANT, [mine])[mine]
    assert entry.content == {"kind": IDENTITY, "into": "ent_b"}
    assert {entry.caller, entry.observed_actor.id, entry.subject.id, entry.origin.principal} == {"redacted:x"}
    assert store.lifecycle.query(LifecycleQuery(tenant_id=TENANT, event_id=mine)) == []
    assert erase(store, **erased) == {}, "erasing again finds nothing"


def test_a_key_goes_with_its_event_and_a_batch_with_one_of_its_events(store: Store) -> None:
    keys = [IdempotencyKey(TENANT, "service:app", "experience", name) for name in "ab"]
    mine, yours = [store.log.append([Capture(draft(key.key), key, "h")])[0].event for key in keys]
    batch = IdempotencyKey(TENANT, "service:app", "bulk", "c")
    store.idempotency.remember(
        IdempotencyEntry(batch, "h", NOON, response={"items": [{"event_id": mine.id}]})
    )
    assert erase(store, mine.id) == {"idempotency": 2}
    assert [store.idempotency.find(key, NOON) is None for key in (*keys, batch)] == [True, False, True]
    assert yours.id


def test_what_a_batch_was_answered_goes_once_one_of_its_events_has_no_words(store: Store) -> None:
    """The answer names the batch and none of its events: sent again it has to be taken, not told to be there."""
    ids, keys = list[str](), list[IdempotencyKey]()
    for name in ("one", "other"):
        batch_id = RandomIds().stamped(Prefix.BATCH, NOON)
        ids += [
            store.log.append([Capture(draft(f"{name} {n}", batch_id=batch_id))])[0].event_id for n in "ab"
        ]
        keys.append(IdempotencyKey(TENANT, "service:app", "bulk", name))
        answer = {"batch_id": batch_id, "accepted": 2, "lifecycle_stream": f"/v1/x?batch_id={batch_id}"}
        store.idempotency.remember(IdempotencyEntry(keys[-1], "h", NOON, response=answer))
    redacting = Erasure(
        tenant_id=TENANT, erasure_id="e", by_actor="user:alice", cascade="redact_events", redact=[ids[0]]
    )
    store.erasing.erase(redacting)
    assert erase(store, ids[0]) == {"idempotency": 1}
    assert [store.idempotency.find(key, NOON) is None for key in keys] == [True, False]


def test_an_answer_begun_before_an_erasure_is_not_kept_under_its_key(
    store: Store, clock: ManualClock
) -> None:
    def is_kept(name: str, begun: Instant, tenant_id: str = TENANT, *, erases: bool = False) -> bool:
        key = IdempotencyKey(tenant_id, "agent:nia", "documents", name)
        answer = IdempotencyEntry(key, "h", begun, response={"body": "what was erased meanwhile"})
        assert store.idempotency.remember(answer, erases=erases) == answer
        return store.idempotency.find(key, begun) is not None

    begun = clock.at
    clock.at += 1
    erase(store, "evt_none")
    assert not is_kept("a", begun)
    assert is_kept("a", clock.at)
    assert is_kept("b", begun, tenant_id="other")
    assert is_kept("c", begun, erases=True)


def keep_answer(store: Store, id_: str, *, tenant_id: str = TENANT, made_at: Instant = NOON) -> bool:
    """Whether it is there afterwards."""
    kind, caller = PackKind.ANSWER, "agent:nia"
    store.packs.keep(
        StoredPack(
            tenant_id=tenant_id,
            kind=kind,
            caller=caller,
            id=id_,
            body_hash="h",
            made_at=made_at,
            content=b"words",
        )
    )
    return store.packs.find(tenant_id, kind, caller, id_) is not None


def test_packs_of_the_tenant_go(store: Store) -> None:
    assert keep_answer(store, "k")
    assert keep_answer(store, "k", tenant_id="other")
    append(store, "what lands later lands with this")
    assert erase(store, "evt_none") == {"pack": 1}
    found = [store.packs.find(tenant, PackKind.ANSWER, "agent:nia", "k") for tenant in (TENANT, "other")]
    assert [each is None for each in found] == [True, False]
    assert erase(store, "evt_none") == {}


def test_a_pack_that_was_begun_before_packs_went_is_not_kept(store: Store, clock: ManualClock) -> None:
    begun = clock.at
    clock.at += 1
    erase(store, "evt_none")
    assert not keep_answer(store, "a", made_at=begun)
    assert keep_answer(store, "a", made_at=begun, tenant_id="other")
    assert keep_answer(store, "a", made_at=clock.at)


# ---- documents


def write(store: Store, *changes: Change, author: str = "user:alice", tenant_id: str = TENANT) -> LandedWrite:
    made = Write(tenant_id=tenant_id, author=author, message=f"write: {changes[0].path}", changes=changes)
    return store.documents.write([made])[0]


def test_documents_go_with_their_history_and_commits_keep_their_numbers(store: Store) -> None:
    first = write(store, Change("a/alice.md", PUT, b"one")).commit
    kept = write(store, Change("b.md", PUT, b"bob"), author="agent:nia").commit
    write(store, Change("a/alice.md", APPEND, b"two"), Change("b.md", PUT, b"bob 2"))
    erased = store.traces.erase_documents(TENANT, ["a/alice.md"])
    assert (erased.documents, erased.versions, erased.commits) == (1, 2, 2)
    assert store.documents.read(TENANT, "a/alice.md") is None
    assert store.documents.history(TENANT, "a/alice.md") == []
    commits = [each.commit for each in store.documents.commits(TENANT, 0, 9)]
    assert [(c.number, c.author, c.message) for c in commits] == [
        (1, "redacted", "redacted"),
        (2, "agent:nia", "write: b.md"),
        (3, "user:alice", "redacted"),
    ]
    assert all(c.sha for c in commits)
    assert {first.sha, kept.sha}.isdisjoint(c.sha for c in commits), "each commit names the one before"
    assert store.documents.head(TENANT) == commits[-1]
    assert store.documents.commit_of(TENANT, first.sha) is None
    assert [each.contents for each in store.documents.commits(TENANT, 0, 9)] == [
        {},
        {"b.md": b"bob"},
        {"b.md": b"bob 2"},
    ]
    assert store.documents.rewrites(TENANT) == 1
    assert store.traces.look() == ()


def test_what_names_erased_documents_is_renewed_with_its_history(store: Store) -> None:
    for number in range(3):
        write(store, Change("state.json", PUT, b"alice.md %d" % number))
    write(store, Change("alice.md", PUT, b"one"), Change("bob.md", PUT, b"bob"))
    late = Change("state.json", PUT, b"late", expected_version=2)
    with pytest.raises(Conflict, match="DOCUMENT_CHANGED"):
        store.traces.erase_documents(TENANT, ["alice.md"], renewed=[late])
    assert store.documents.read(TENANT, "alice.md") is not None
    change = Change("state.json", PUT, b"none", expected_version=3)
    store.traces.erase_documents(TENANT, ["alice.md"], renewed=[change])
    stands = store.documents.read(TENANT, "state.json")
    assert stands is not None
    assert (stands.version, stands.content) == (4, b"none")
    assert [each.version for each in store.documents.history(TENANT, "state.json")] == [4]
    assert [each.contents for each in store.documents.commits(TENANT, 0, 9)] == [
        {},
        {},
        {"state.json": b"none"},
        {"bob.md": b"bob"},
    ]
    assert store.traces.look() == ()
    again = write(store, Change("state.json", PUT, b"more", expected_version=4))
    assert again.versions == {"state.json": 5}


def test_after_an_erasure_documents_are_written_as_before(store: Store, clock: ManualClock) -> None:
    write(store, Change("alice.md", PUT, b"one"))
    write(store, Change("alice.md", REMOVE))
    store.traces.erase_documents(TENANT, ["alice.md"])
    clock.at += 5
    again = write(store, Change("alice.md", PUT, b"new", expected_version=0), author="agent:nia")
    assert (again.commit.number, again.versions) == (3, {"alice.md": 1})
    head = store.documents.head(TENANT)
    assert head is not None
    assert (head.number, head.sha) == (3, again.commit.sha)


def test_nothing_of_others_is_written_anew(store: Store) -> None:
    write(store, Change("alice.md", PUT, b"one"))
    theirs = write(store, Change("alice.md", PUT, b"one"), tenant_id="other").commit
    store.traces.erase_documents(TENANT, ["alice.md"])
    store.traces.erase_documents(TENANT, ["nothing.md"])
    assert store.documents.head("other") == theirs
    assert [store.documents.rewrites(tenant) for tenant in (TENANT, "other")] == [1, 0]


def test_what_somebody_alone_wrote_is_told_from_what_others_wrote_too(store: Store) -> None:
    write(store, Change("alone.md", PUT, b"a"))
    write(store, Change("gone.md", PUT, b"a"))
    write(store, Change("gone.md", REMOVE))
    write(store, Change("shared.md", PUT, b"a"))
    write(store, Change("shared.md", APPEND, b"b"), author="agent:nia")
    write(store, Change("about.json", PUT, b"b"), author="agent:nia")
    owned = store.traces.owned(TENANT, ["user:alice"], ["about.json"])
    assert owned.paths == ("about.json", "alone.md", "gone.md")
    assert owned.shared_paths == ("shared.md",)


def test_the_folder_is_clean_once_it_is_scrubbed(store: Store, tmp_path: Path) -> None:
    append(store, *(f"canary-{n} is said here" for n in range(50)))
    done = store.traces.scrub()
    assert done.log_emptied
    assert not done.rewritten
    assert store.traces.look() == ()
    assert [event.position for event in store.log.walk(TENANT, 0, 99)] == list(range(1, 51))
    assert not list(tmp_path.glob("rederived"))


# ---- reminders


def remind(store: Store, name: str, **more: Any) -> None:
    identity = f'{{"title":"{name}"}}'
    made = ScheduleItem(
        **{
            "tenant_id": TENANT,
            "schedule_id": f"sched_{name}",
            "kind": "reminder",
            "status": "pending",
            "title": name,
            "note": None,
            "due_at": NOON,
            "task_id": None,
            "thread_id": None,
            "subject": None,
            "idempotency_key": None,
            "metadata": "{}",
            "identity": identity,
            "identity_hash": identity,
            "version": 1,
            "created_at": NOON,
            "created_by": "user:alice",
            "updated_at": NOON,
            "updated_by": "user:alice",
            **more,
        }
    )
    store.schedule.create(made)


def test_reminders_go_with_who_alone_had_to_do_with_them(store: Store) -> None:
    remind(store, "alone")
    remind(store, "changed", updated_by="agent:nia")
    remind(store, "done", status="done", ending=ItemEnding(NOON, "agent:nia", None))
    remind(store, "theirs", created_by="agent:nia", updated_by="agent:nia")
    owned = store.traces.owned(TENANT, ["user:alice"])
    assert owned.schedule_ids == ("sched_alone",)
    assert store.traces.erase_schedule(TENANT, owned.schedule_ids) == 1
    assert store.traces.erase_schedule(TENANT, owned.schedule_ids) == 0
    assert store.schedule.get(TENANT, "sched_alone") is None
    assert store.schedule.get(TENANT, "sched_changed") is not None
