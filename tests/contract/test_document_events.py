"""What every engine promises about the events that tell of documents: what is told of a path ends with what it told of."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from given import ALICE, BOB, NOON, TENANT, ManualClock, draft
from lamina.kernel.events import Origin, Trust
from lamina.kernel.relay import DOCUMENTS_CHANNEL
from lamina.kernel.scopes import Scope
from lamina.store.ports.documents import Change, ChangeKind, PastWrite, Step, Write
from lamina.store.ports.log import Capture
from lamina.store.ports.store import Store

PUT, APPEND, REMOVE = ChangeKind.PUT, ChangeKind.APPEND, ChangeKind.REMOVE


def telling(path: str, words: str = "so it stands", scope: Scope = ALICE) -> Capture:
    content = {"kind": "text", "text": words, "path": path}
    origin = Origin("agent:nia", DOCUMENTS_CHANNEL, Trust.EXTERNAL)
    return Capture(draft(scope=scope, content=content, origin=origin))


def write(store: Store, *changes: Change, told: str | None = None, scope: Scope = ALICE) -> tuple[str, ...]:
    captures = [] if told is None else [telling(told, scope=scope)]
    (written,) = store.documents.write(
        [Write(tenant_id=TENANT, author="agent:nia", message="m", changes=changes, captures=captures)]
    )
    return written.event_ids


def put(store: Store, path: str, content: bytes = b"x") -> str:
    return write(store, Change(path, PUT, content), told=path)[0]


def ended(store: Store, after: int = 0, scope: Scope = ALICE) -> list[tuple[int, str, int]]:
    return store.index.ends_after(TENANT, scope, after)


def test_what_a_put_replaces_ends_when_the_new_event_is_recorded(store: Store, clock: ManualClock) -> None:
    first = put(store, "a")
    assert (ended(store), store.index.last_end(TENANT, ALICE)) == ([], 0)
    clock.at += 7
    second = put(store, "a")
    assert ended(store) == [(2, first, NOON + 7)]
    assert store.index.last_end(TENANT, ALICE) == store.index.tip(TENANT, ALICE, "m").end == 2
    clock.at += 7
    put(store, "a")
    assert ended(store) == [(2, first, NOON + 7), (3, second, NOON + 14)]
    assert ended(store, after=2) == [(3, second, NOON + 14)]


def test_the_newest_event_that_tells_of_a_document_is_known_until_nothing_does(
    store: Store, clock: ManualClock
) -> None:
    assert store.documents.told_by(TENANT, "a") is None
    told = [put(store, "a")]
    for _ in range(2):
        clock.at += 7
        told += write(store, Change("a", APPEND, b"1\n"), told="a")
    assert store.documents.told_by(TENANT, "a") == told[-1]
    clock.at += 7
    last = put(store, "a")
    assert store.documents.told_by(TENANT, "a") == last
    assert store.documents.told_by("another", "a") is store.documents.told_by(TENANT, "b") is None
    write(store, Change("a", REMOVE))
    assert store.documents.told_by(TENANT, "a") is None


def test_an_append_ends_nothing_and_a_put_ends_it_with_the_rest(store: Store) -> None:
    told = [write(store, Change("log", APPEND, b"1\n"), told="log")[0] for _ in range(3)]
    assert ended(store) == []
    put(store, "log")
    assert sorted(event_id for _, event_id, _ in ended(store)) == sorted(told)


def test_what_is_removed_ends_and_what_tells_of_the_removal_stays_until_the_next_put(store: Store) -> None:
    standing = put(store, "a")
    (removal,) = write(store, Change("a", REMOVE), told="a")
    assert [event_id for _, event_id, _ in ended(store)] == [standing]
    put(store, "a")
    assert [event_id for _, event_id, _ in ended(store, after=2)] == [removal]


def test_a_removal_that_nothing_tells_of_ends_what_stood(store: Store, clock: ManualClock) -> None:
    standing = put(store, "a")
    clock.at += 3
    write(store, Change("a", REMOVE))
    assert ended(store) == [(2, standing, NOON + 3)]


def test_documents_end_by_themselves_and_in_the_scope_that_was_told(store: Store) -> None:
    first, _ = put(store, "a"), put(store, "b")
    (elsewhere,) = write(store, Change("c", PUT, b"1"), told="c", scope=BOB)
    put(store, "c")
    put(store, "a")
    assert [event_id for _, event_id, _ in ended(store)] == [first]
    assert [event_id for _, event_id, _ in ended(store, scope=BOB)] == [elsewhere]
    assert store.index.ends_after("other", ALICE, 0) == []


def test_an_event_of_another_door_tells_of_no_document(store: Store) -> None:
    claims = Capture(draft(content={"kind": "text", "text": "t", "path": "a"}))
    change = Change("a", PUT, b"1")
    for _ in range(2):
        store.documents.write(
            [Write(tenant_id=TENANT, author="a", message="m", changes=[change], captures=[claims])]
        )
    assert ended(store) == []


def test_a_write_that_fails_ends_nothing(store: Store) -> None:
    put(store, "a")
    with pytest.raises(Exception, match="nothing stands at b"):
        write(store, Change("a", PUT, b"2"), Change("b", REMOVE), told="a")
    assert ended(store) == []


def past() -> Iterator[PastWrite]:
    steps = [
        [Change("a.md", PUT, b"old"), Change("log.jsonl", APPEND, b"1\n")],
        [Change("a.md", PUT, b"new")],
        [Change("gone.md", PUT, b"gone"), Change("silent.bin", PUT, b"s")],
        [Change("log.jsonl", APPEND, b"2\n"), Change("gone.md", REMOVE)],
    ]
    for number, changes in enumerate(steps):
        written = Write(tenant_id=TENANT, author=f"agent:n{number}", message="m", changes=changes)
        yield PastWrite(written, NOON - 1000 + number)


def test_a_restore_tells_of_what_stands_change_by_change(store: Store) -> None:
    steps: list[Step] = []

    def tell(step: Step) -> Capture | None:
        steps.append(step)
        return None if step.path == "silent.bin" else telling(step.path, step.content.decode())

    store.documents.restore(TENANT, past(), tell)
    assert [(s.path, s.kind, s.content, s.commit.author, s.commit.committed_at - NOON) for s in steps] == [
        ("log.jsonl", APPEND, b"1\n", "agent:n0", -1000),
        ("a.md", PUT, b"new", "agent:n1", -999),
        ("silent.bin", PUT, b"s", "agent:n2", -998),
        ("log.jsonl", APPEND, b"2\n", "agent:n3", -997),
    ]
    events = store.log.walk(TENANT, 0, 10)
    assert [event.content["text"] for event in events] == ["1\n", "new", "2\n"]
    assert [event.recorded_at >= NOON for event in events] == [True] * 3
    assert all(store.jobs.of_event(TENANT, event.id) for event in events)
    put(store, "log.jsonl")
    assert sorted(event_id for _, event_id, _ in ended(store)) == sorted([events[0].id, events[2].id])


def test_a_restore_that_fails_tells_nothing(store: Store) -> None:
    def tell(step: Step) -> Capture | None:
        raise ValueError(step.path)

    with pytest.raises(ValueError, match=r"log\.jsonl"):
        store.documents.restore(TENANT, past(), tell)
    assert store.documents.head(TENANT) is None
    assert store.log.walk(TENANT, 0, 10) == []
