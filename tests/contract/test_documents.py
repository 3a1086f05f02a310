"""What every engine promises about versioned documents."""

from __future__ import annotations

import random
from typing import Any

import pytest

from given import NOON, TENANT, ManualClock, draft
from lamina.errors import Conflict
from lamina.kernel.events import Stage
from lamina.store.ports.documents import Change, ChangeKind, LandedWrite, Write
from lamina.store.ports.idempotency import IdempotencyEntry, IdempotencyKey
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.log import Capture, EventQuery
from lamina.store.ports.store import Store
from lamina.store.rules.documents import twin

PUT, APPEND, REMOVE = ChangeKind.PUT, ChangeKind.APPEND, ChangeKind.REMOVE


def write(store: Store, *changes: Change, **more: Any) -> LandedWrite:
    values = {"tenant_id": TENANT, "author": "agent:nia", "message": "write: something"}
    (written,) = store.documents.write([Write(changes=changes, **{**values, **more})])
    return written


def put(store: Store, path: str, content: bytes, expected: int | None = None) -> int:
    return write(store, Change(path, PUT, content, expected)).versions[path]


def content(store: Store, path: str) -> bytes | None:
    document = store.documents.read(TENANT, path)
    return None if document is None else document.content


def test_a_document_is_what_was_put_last(store: Store, clock: ManualClock) -> None:
    assert store.documents.read(TENANT, "a/b.json") is None
    assert put(store, "a/b.json", b"one") == 1
    clock.at += 5
    assert put(store, "a/b.json", b"two") == 2
    document = store.documents.read(TENANT, "a/b.json")
    assert document is not None
    assert (document.path, document.version, document.content) == ("a/b.json", 2, b"two")
    assert document.updated_at == NOON + 5


def test_an_append_adds_to_what_stands_and_begins_what_does_not(store: Store) -> None:
    write(store, Change("log.jsonl", APPEND, b"1\n"))
    write(store, Change("log.jsonl", APPEND, b"2\n"), Change("log.jsonl", APPEND, b"3\n"))
    assert content(store, "log.jsonl") == b"1\n2\n3\n"
    put(store, "log.jsonl", b"new\n")
    write(store, Change("log.jsonl", APPEND, b"4\n"))
    assert content(store, "log.jsonl") == b"new\n4\n"


def test_an_append_may_follow_appends_that_it_has_not_seen_but_no_put(store: Store) -> None:
    put(store, "log.jsonl", b"1\n")
    seen = write(store, Change("log.jsonl", APPEND, b"2\n")).versions["log.jsonl"]
    write(store, Change("log.jsonl", APPEND, b"3\n"))
    write(store, Change("log.jsonl", APPEND, b"4\n", appended_to=seen))
    assert content(store, "log.jsonl") == b"1\n2\n3\n4\n"
    put(store, "log.jsonl", b"half a line")
    with pytest.raises(Conflict) as caught:
        write(store, Change("log.jsonl", APPEND, b"5\n", appended_to=seen))
    assert caught.value.code == "DOCUMENT_CHANGED"
    assert content(store, "log.jsonl") == b"half a line"


def test_a_removed_document_is_gone_and_its_versions_go_on(store: Store) -> None:
    put(store, "a", b"one")
    assert write(store, Change("a", REMOVE)).versions == {"a": 2}
    assert content(store, "a") is None
    assert store.documents.below(TENANT, "") == []
    assert put(store, "a", b"again", expected=0) == 3
    write(store, Change("a", REMOVE))
    write(store, Change("a", APPEND, b"fresh"))
    assert content(store, "a") == b"fresh"


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_stale_version_is_refused_and_lands_nothing(store: Store, expected: int) -> None:
    put(store, "a", b"one")
    put(store, "a", b"two", expected=1)
    before = store.documents.head(TENANT)
    with pytest.raises(Conflict) as caught:
        write(
            store,
            Change("b", PUT, b"beside"),
            Change("a", PUT, b"three", expected),
            captures=[Capture(draft())],
        )
    assert caught.value.code == "DOCUMENT_CHANGED"
    assert caught.value.details == {"path": "a", "expected_version": expected, "version": 2}
    assert (content(store, "a"), content(store, "b")) == (b"two", None)
    assert store.documents.head(TENANT) == before
    assert store.log.walk(TENANT, 0, 10) == []


def test_a_write_may_want_a_path_that_nothing_stands_at(store: Store) -> None:
    put(store, "b.json", b"one")
    with pytest.raises(Conflict, match="DOCUMENT_CHANGED"):
        write(store, Change("a.json", PUT, b"late"), absent=["c.json", "b.json"])
    assert content(store, "a.json") is None
    write(store, Change("b.json", REMOVE))
    write(store, Change("a.json", PUT, b"made"), absent=["c.json", "b.json"])
    assert content(store, "a.json") == b"made"


def test_a_write_of_what_was_read_before_an_erasure_lands_nothing(store: Store) -> None:
    put(store, "b.json", b"one")
    before = store.documents.rewrites(TENANT)
    write(store, Change("a.json", PUT, b"made"), rewrites=before)
    store.traces.erase_documents(TENANT, ["b.json"])
    with pytest.raises(Conflict, match="DOCUMENT_CHANGED"):
        write(store, Change("a.json", PUT, b"late"), rewrites=before)
    assert content(store, "a.json") == b"made"
    write(store, Change("a.json", PUT, b"late"), rewrites=store.documents.rewrites(TENANT))


def test_of_many_writes_all_land_or_none(store: Store) -> None:
    good = Write(tenant_id=TENANT, author="a", message="m", changes=[Change("a", PUT, b"1")])
    bad = Write(tenant_id=TENANT, author="a", message="m", changes=[Change("b", REMOVE)])
    with pytest.raises(Conflict, match="nothing stands at b"):
        store.documents.write([good, bad])
    assert store.documents.head(TENANT) is None
    first, second = store.documents.write([good, good])
    assert (first.commit.number, second.commit.number, second.versions) == (1, 2, {"a": 2})


@pytest.mark.parametrize(("first", "second"), [("a", "a/b"), ("a/b", "a"), ("a/b/c", "a"), ("a", "a/b/c")])
def test_no_path_is_document_and_folder_at_once(store: Store, first: str, second: str) -> None:
    put(store, first, b"one")
    with pytest.raises(Conflict) as caught:
        put(store, second, b"two")
    assert caught.value.code == "PATH_COLLISION"
    # What lies below a path is not named: who writes there need not read it.
    below = first.startswith(f"{second}/")
    assert (first in str(caught.value), caught.value.details.get("other")) == (
        not below,
        None if below else first,
    )
    assert put(store, "a.b", b"beside") == 1
    write(store, Change(first, REMOVE), Change(second, PUT, b"two"))
    assert content(store, second) == b"two"


@pytest.mark.parametrize(
    ("stands", "asked", "fits"),
    [
        ("a/one.md", "A/one.md", False),
        ("a/one.md", "A/two.md", False),
        ("a/one.md", "a/One.md", False),
        ("a/one.md", "a/ONE.MD/x", False),
        ("a/b/c.md", "a/B/d/e.md", False),
        ("a/straße.md", "a/STRAßE.md", False),
        ("a/Éa.md", "a/éa.md", False),
        ("a/one.md", "a/one.m", True),
        ("a/one.md", "a/One.mdx", True),
        ("a/one.md", "a/two.md", True),
        ("a/onE.md", "b/one.md", True),
        ("a/oneTwo.md", "a/ONE.md", True),
    ],
)
def test_a_portable_document_is_no_other_in_other_letters(
    store: Store, stands: str, asked: str, fits: bool
) -> None:
    put(store, stands, b"one")
    if not fits:
        with pytest.raises(Conflict) as caught:
            write(store, Change(asked, PUT, b"two", portable=True))
        assert caught.value.code == "PATH_COLLISION"
        assert stands not in str(caught.value)
        assert content(store, asked) is None
        write(store, Change(stands, REMOVE), Change(asked, PUT, b"two", portable=True))
        assert content(store, asked) == b"two"
    else:
        write(store, Change(asked, APPEND, b"two", portable=True))
        assert content(store, asked) == b"two"


def test_what_stands_in_other_letters_already_goes_on(store: Store) -> None:
    for path in ("a/one.md", "A/one.md", "a/One.md"):
        put(store, path, b"1")
    write(store, Change("A/one.md", APPEND, b"2", portable=True))
    write(store, Change("A/new.md", PUT, b"2", portable=True))
    assert content(store, "A/one.md") == b"12"


def test_many_names_in_many_letters_do_not_make_the_check_long(store: Store) -> None:
    rng = random.Random(7)
    names = {"".join(rng.choice((c, c.upper())) for c in "abcdefghijklmnop") + str(n) for n in range(2000)}
    write(store, *(Change(f"a/{name}", PUT, b"1") for name in names))
    looks: list[str] = []

    def first(beginning: str) -> str | None:
        looks.append(beginning)
        return min((f"a/{name}" for name in names if f"a/{name}".startswith(beginning)), default=None)

    assert twin("a/abcdefghijklmnopq", first) is None
    assert len(looks) < 20 * 3 * 64


def test_events_land_with_their_write_with_lifecycle_and_job(store: Store) -> None:
    written = write(store, Change("a", PUT, b"1"), captures=[Capture(draft("x")), Capture(draft("y"))])
    events = store.log.query(EventQuery(tenant_id=TENANT, scopes=[draft().scope], ascending=True))
    assert written.event_ids == tuple(event.id for event in events)
    assert [event.position for event in events] == [1, 2]
    for event_id in written.event_ids:
        rows = store.lifecycle.query(LifecycleQuery(tenant_id=TENANT, event_id=event_id))
        assert [row.name for row in rows] == ["captured"]
        assert [job.stage for job in store.jobs.of_event(TENANT, event_id)] == [Stage.EXTRACTED]


def test_tenants_know_nothing_of_each_other(store: Store) -> None:
    put(store, "a", b"mine")
    write(store, Change("a", PUT, b"theirs"), tenant_id="other")
    assert content(store, "a") == b"mine"
    assert store.documents.read_many("third", ["a"]) == {}
    assert store.documents.below("third", "") == []
    assert store.documents.head("third") is None
    theirs = store.documents.head("other")
    assert theirs is not None
    assert theirs.number == 1


def test_reads_go_back_in_time(store: Store, clock: ManualClock) -> None:
    for second, change in enumerate(
        [
            Change("a", PUT, b"one"),
            Change("a", APPEND, b"+"),
            Change("a", REMOVE),
            Change("a", PUT, b"two"),
        ]
    ):
        clock.at = NOON + second * 10
        write(store, change)
    seen = [store.documents.read(TENANT, "a", at=NOON + second) for second in (-1, 0, 9, 10, 20, 39)]
    assert [each and each.content for each in seen] == [None, b"one", b"one", b"one+", None, b"two"]
    assert store.documents.read(TENANT, "b", at=NOON) is None


def test_commits_follow_each_other_in_time_even_when_the_clock_does_not(
    store: Store, clock: ManualClock
) -> None:
    first = write(store, Change("a", PUT, b"1"))
    clock.at -= 1_000_000
    second = write(store, Change("a", PUT, b"2"))
    assert second.commit.committed_at == first.commit.committed_at + 1


def test_a_folder_is_listed_by_path_in_pages(store: Store) -> None:
    paths = ["a/b/1", "a/b/2", "a/b0", "a/c", "a-b", "ab", "ü/x"]
    for path in paths:
        put(store, path, path.encode())
    below = store.documents.below
    assert [each.path for each in below(TENANT, "")] == sorted(paths)
    assert [each.path for each in below(TENANT, "a")] == ["a/b/1", "a/b/2", "a/b0", "a/c"]
    assert [each.path for each in below(TENANT, "a/b/")] == ["a/b/1", "a/b/2"]
    assert [each.path for each in below(TENANT, "a", after="a/b/1", limit=2)] == ["a/b/2", "a/b0"]
    assert {each.content for each in below(TENANT, "a")} == {b""}
    assert [each.content for each in below(TENANT, "a/b", with_content=True)] == [b"a/b/1", b"a/b/2"]


def test_many_are_read_at_once_without_those_that_are_not_there(store: Store) -> None:
    put(store, "a", b"1")
    write(store, Change("b", APPEND, b"2"))
    write(store, Change("b", APPEND, b"3"))
    put(store, "c", b"gone")
    write(store, Change("c", REMOVE))
    found = store.documents.read_many(TENANT, ["a", "b", "c", "d"])
    assert {path: each.content for path, each in found.items()} == {"a": b"1", "b": b"23"}


def test_history_is_newest_first_with_the_commits(store: Store) -> None:
    put(store, "a", b"one")
    put(store, "b", b"beside")
    write(store, Change("a", APPEND, b"!"), author="agent:bo", message="append: a")
    write(store, Change("a", REMOVE))
    history = store.documents.history(TENANT, "a")
    assert [(each.version, each.kind, each.size) for each in history] == [
        (3, REMOVE, 0),
        (2, APPEND, 4),
        (1, PUT, 3),
    ]
    assert (history[1].commit.author, history[1].commit.message) == ("agent:bo", "append: a")
    assert [each.commit.number for each in history] == [4, 3, 1]
    assert [each.version for each in store.documents.history(TENANT, "a", before=3, limit=1)] == [2]
    assert store.documents.history(TENANT, "nowhere") == []


def test_each_version_can_be_read_again(store: Store) -> None:
    write(store, Change("a", PUT, b"one"), Change("a", APPEND, b"+"))
    write(store, Change("a", REMOVE))
    put(store, "a", b"two")
    put(store, "a", b"theirs")
    found = [store.documents.read_version(TENANT, "a", version) for version in range(7)]
    assert [each and each.content for each in found] == [None, b"one", b"one+", None, b"two", b"theirs", None]
    assert [each.version for each in found if each] == [1, 2, 4, 5]
    assert store.documents.read_version("other", "a", 1) is None
    assert store.documents.read_version(TENANT, "b", 1) is None


def test_a_write_that_returned_has_its_hash_in_the_history(store: Store) -> None:
    for number in range(20):
        commit = write(store, Change("a", PUT, b"%d" % number)).commit
        assert store.documents.history(TENANT, "a", limit=1)[0].commit == commit


def test_the_newest_commit_has_the_hash_that_git_would_give_it(store: Store) -> None:
    write(store, Change("a/b", PUT, b"one\n"), Change("c", PUT, b"\0\xff"))
    written = write(store, Change("a/b", REMOVE), author="agent: <nia>", message="two\nlines ü")
    assert written.commit.sha == "de5576d89be890560494f49c63605253dc84fb7e"
    assert store.documents.head(TENANT) == written.commit


def test_commits_are_read_in_order_with_what_they_left(store: Store) -> None:
    put(store, "a", b"1")
    write(store, Change("a", APPEND, b"2"), Change("b", PUT, b"x"), Change("a", APPEND, b"3"))
    write(store, Change("b", REMOVE))
    commits = store.documents.commits(TENANT, 0, 10)
    assert [each.contents for each in commits] == [{"a": b"1"}, {"a": b"123", "b": b"x"}, {"b": None}]
    assert [each.commit.number for each in store.documents.commits(TENANT, 1, 1)] == [2]


def test_a_folder_is_listed_as_it_stood(store: Store, clock: ManualClock) -> None:
    put(store, "a/1", b"one")
    put(store, "a/2", b"one")
    then = clock.at = clock.at + 10
    put(store, "a/1", b"two")
    write(store, Change("a/2", REMOVE))
    put(store, "a/3", b"new")
    listed = store.documents.below(TENANT, "a", at=then - 1, with_content=True)
    assert [(each.path, each.content) for each in listed] == [("a/1", b"one"), ("a/2", b"one")]
    now = store.documents.below(TENANT, "a", at=then + 9)
    assert [(each.path, each.version, each.content) for each in now] == [("a/1", 2, b""), ("a/3", 1, b"")]
    assert [each.path for each in store.documents.below(TENANT, "a", at=then + 9, after="a/1")] == ["a/3"]


def test_a_commit_is_found_by_its_hash_and_by_its_time(store: Store, clock: ManualClock) -> None:
    first = write(store, Change("a", PUT, b"one")).commit
    clock.at += 10
    second = write(store, Change("a", PUT, b"two")).commit
    assert store.documents.commit_of(TENANT, first.sha) == first
    assert store.documents.commit_of(TENANT, second.sha) == second
    found = store.documents.commit_of(TENANT, first.sha[:12])
    assert found is not None
    assert found.number == first.number
    assert store.documents.commit_of(TENANT, "") is None
    assert store.documents.commit_of(TENANT, "f" * 40) is None
    for at, number in ((NOON, 1), (NOON + 9, 1), (NOON + 10, 2), (NOON + 99, 2)):
        found = store.documents.commit_at(TENANT, at)
        assert found is not None
        assert found.number == number
    assert store.documents.commit_at(TENANT, NOON - 1) is None


def once(body: str = "the same") -> IdempotencyEntry:
    return IdempotencyEntry(IdempotencyKey(TENANT, "agent:nia", "/v1/append", "k"), body, NOON)


def test_a_key_lands_with_its_write_and_once(store: Store) -> None:
    line = Change("log.jsonl", APPEND, b"1\n")
    first = write(store, line, once=once())
    known = store.idempotency.find(once().key, NOON)
    assert known is not None
    assert (known.body_hash, known.response) == ("the same", {"commit": first.commit.number})
    again = write(store, line, once=once(), captures=[Capture(draft("told"))])
    assert (again.replayed, again.commit, again.event_ids) == (True, first.commit, ())
    with pytest.raises(Conflict) as caught:
        write(store, line, once=once("another"))
    assert caught.value.code == "IDEMPOTENCY_CONFLICT"
    assert content(store, "log.jsonl") == b"1\n"
    assert store.documents.commit_numbered(TENANT, first.commit.number) == first.commit
    assert store.documents.commit_numbered(TENANT, first.commit.number + 1) is None


def test_two_writes_under_one_key_in_one_transaction_are_one(store: Store) -> None:
    line = Write(
        tenant_id=TENANT, author="a", message="m", changes=[Change("log.jsonl", APPEND, b"1\n")], once=once()
    )
    first, again = store.documents.write([line, line])
    assert (first.replayed, again.replayed, again.commit.number) == (False, True, first.commit.number)
    assert content(store, "log.jsonl") == b"1\n"


def test_a_write_that_is_refused_leaves_its_key_unused(store: Store) -> None:
    put(store, "a", b"one")
    with pytest.raises(Conflict):
        write(store, Change("a", PUT, b"two", 7), once=once())
    assert store.idempotency.find(once().key, NOON) is None
