"""Documents that are erased, as git sees their repository, and as those see them who keep some in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pygit2
import pytest

from capsules import body
from given import TENANT, CountedIds, ManualClock, append
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.files.directory import Directory
from lamina.continuity.landing import EventWords, draft_of
from lamina.continuity.owned import paths_about
from lamina.continuity.shelf.documents import Shelf
from lamina.coordination.owned import documents_about_people
from lamina.errors import NotFound, Unavailable
from lamina.forget.planning import place_of_erasure
from lamina.forget.runner import Eraser
from lamina.kernel.erasure_rules import ErasureRules
from lamina.kernel.events import Party
from lamina.kernel.scopes import Scope
from lamina.store.documents.checking import fault_of, kept_ahead
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.erasures import ErasureJob
from lamina.store.ports.log import Capture
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.traces import SqliteTraces

ALICE = Subject("user", "alice")
HOME, COPY = Scope("user:alice"), "snapshots/context/one.json"


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = opened(tmp_path)
    yield store
    store.close()


def opened(folder: Path) -> SqliteStore:
    return SqliteStore(folder, clock=ManualClock(), ids=CountedIds(), durable=False)


def put(store: SqliteStore, path: str, content: bytes, author: str = "user:alice") -> None:
    change = Change(path, ChangeKind.PUT, content)
    made = Write(tenant_id=TENANT, author=author, message=f"write: {path}", changes=[change])
    store.documents.write([made])


def put_capsule(store: SqliteStore, stance: str) -> None:
    capsule: Any = body("user", "alice", continuity={"stance_summary": stance})
    capsule |= {"schema_type": "continuity_capsule", "schema_version": "1.0"}
    put(store, ALICE.active_path, json.dumps(capsule).encode())


def objects(folder: Path) -> bytes:
    """What every object holds. A pack that was put together with others meanwhile is looked for again."""
    while True:
        git = pygit2.Repository(str(folder / "relay" / f"{TENANT}.git"))
        try:
            return b"\n".join(git.odb.read(id_)[1] for id_ in git)
        except (KeyError, OSError, pygit2.GitError):
            continue


def test_no_object_of_the_repository_holds_what_was_erased(store: SqliteStore, tmp_path: Path) -> None:
    for number in range(40):
        put(store, "alice.md", b"canary %d" % number)
        put(store, f"bob/{number}.md", b"bob %d" % number)
    assert b"canary 39" in objects(tmp_path)
    store.traces.erase_documents(TENANT, ["alice.md"])
    left = objects(tmp_path)
    assert b"canary" not in left
    assert b"alice.md" not in left
    assert b"bob 39" in left
    head = store.documents.head(TENANT)
    assert head is not None
    assert fault_of(tmp_path / "relay" / f"{TENANT}.git", head.sha) is None
    assert store.traces.look() == ()
    put(store, "bob/0.md", b"more")
    assert store.traces.look() == ()


def test_whoever_makes_the_commits_writes_anew_what_another_process_erased(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lamina.limits.REWRITE_LOOK_S", 0.01)
    put(store, "alice.md", b"canary")
    put(store, "bob.md", b"bob")
    other = opened(tmp_path)
    try:
        assert other.traces.erase_documents(TENANT, ["alice.md"]).commits == 1
    finally:
        other.close()
    assert b"canary" not in objects(tmp_path)
    assert store.traces.look() == ()


def test_whoever_erases_without_a_server_keeps_nobody_from_making_commits(tmp_path: Path) -> None:
    first = opened(tmp_path)
    put(first, "alice.md", b"canary")
    first.close()
    eraser, server = opened(tmp_path), opened(tmp_path)
    try:
        eraser.traces.erase_documents(TENANT, ["alice.md"])
        assert b"canary" not in objects(tmp_path)
        put(server, "bob.md", b"bob")
        assert server.traces.look() == ()
    finally:
        eraser.close()
        server.close()


def test_a_repository_that_was_not_written_anew_is_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(_: Any, tenant_id: str) -> None:
        raise Unavailable("REPOSITORY_UNAVAILABLE", tenant_id)

    store = opened(tmp_path)
    put(store, "alice.md", b"canary")
    monkeypatch.setattr(store._projector, "rewrite", lambda tenant_id: None)
    with monkeypatch.context() as patch:
        patch.setattr(SqliteTraces, "_await_rewriting", ended)
        with pytest.raises(Unavailable):
            store.traces.erase_documents(TENANT, ["alice.md"])
    store.close()
    assert b"canary" in objects(tmp_path)
    again = opened(tmp_path)
    again.documents.recover()
    try:
        assert b"canary" not in objects(tmp_path)
        assert again.traces.look() == ()
    finally:
        again.close()


def test_what_is_kept_in_memory_follows_an_erasure_that_no_commit_tells_of(store: SqliteStore) -> None:
    directory, shelf = Directory(store.documents), Shelf(store.documents)
    put_capsule(store, "Alice thinks of canaries first, and of nothing else.")
    assert list(directory.of(TENANT).updated_at) == [ALICE.active_path]
    assert "canaries" in shelf.active(TENANT, ALICE).capsule["continuity"]["stance_summary"]
    store.traces.erase_documents(TENANT, [ALICE.active_path])
    assert list(directory.of(TENANT).updated_at) == []
    with pytest.raises(NotFound):
        shelf.active(TENANT, ALICE)
    put_capsule(store, "Another person has this name now, and thinks of tea.")
    standing = shelf.active(TENANT, ALICE)
    assert standing.version == 1
    assert "canaries" not in standing.capsule["continuity"]["stance_summary"]
    assert list(directory.of(TENANT).updated_at) == [ALICE.active_path]


def test_a_subject_has_its_capsule_and_every_copy_of_it() -> None:
    root, stamp = "memory/continuity", "20260513T120000Z"
    theirs = [
        f"{root}/archive/user-alice-{stamp}.json",
        f"{root}/archive/user-alice-{stamp}-2.json",
        f"{root}/cold/index/user-alice-{stamp}.md",
        f"{root}/cold/user-alice-{stamp}.json.gz",
        f"{root}/fallback/user-alice.json",
        f"{root}/user-alice.json",
    ]
    others = [
        f"{root}/archive/user-alice-b-{stamp}.json",
        f"{root}/thread-alice.json",
        f"{root}/user-alice-b.json",
        f"{root}/cold/user-alice.json.gz",
        "memory/notes/alice.md",
    ]
    assert paths_about(ALICE, [*others, *theirs]) == sorted(theirs)


def test_what_a_database_lost_and_its_repository_keeps_goes_with_its_author(tmp_path: Path) -> None:
    store = opened(tmp_path)
    put(store, "bob.md", b"bob", author="user:bob")
    store.close()
    older = (tmp_path / "lamina.db").read_bytes()
    store = opened(tmp_path)
    put(store, "notes/alice.md", b"canary")
    put(store, "bob.md", b"bob 2", author="user:bob")
    store.close()
    (tmp_path / "lamina.db").write_bytes(older)
    store = opened(tmp_path)
    store.documents.recover()
    assert b"canary" in objects(tmp_path)
    owned = store.traces.owned(TENANT, ["user:eve"])
    store.traces.erase_documents(TENANT, owned.paths)
    assert b"canary" in objects(tmp_path), "nothing of hers is in it"
    owned = store.traces.owned(TENANT, ["user:alice"])
    assert owned.paths == ("notes/alice.md",)
    store.traces.erase_documents(TENANT, owned.paths)
    assert b"canary" not in objects(tmp_path)
    assert kept_ahead(tmp_path / "relay" / f"{TENANT}.git") == []
    assert store.documents.read(TENANT, "bob.md") is not None
    store.close()


@pytest.mark.parametrize("when", ["behind the plan", "while events went"])
def test_what_others_copied_meanwhile_goes_too(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """The events of a person take minutes, and what they wrote can be read meanwhile."""
    append(store, "tea", scope=HOME, caller="user:alice", observed_actor=Party.of("user:alice"))
    put(store, "essays/tea.md", b"canary")
    shown = json.dumps({"items": [{"path": "essays/tea.md", "snippet": "canary"}]})
    told = told_of_snapshot("canary of essays/tea.md")

    def copied(*_: Any) -> None:
        if store.documents.read(TENANT, COPY) is None:
            change = Change(COPY, ChangeKind.PUT, shown.encode())
            write = Write(
                tenant_id=TENANT, author="user:bob", message="snapshot", changes=[change], captures=[told]
            )
            store.documents.write([write])

    clock = ManualClock()
    began = place_of_erasure("erasure_1", HOME, ErasureRules())
    store.erasures.begin(
        ErasureJob(
            tenant_id=TENANT,
            id="erasure_1",
            scope=HOME,
            place=began,
            requested_by="user:alice",
            audit_note="case 1",
            started_at=clock.now(),
        )
    )
    if when == "behind the plan":
        put_lines = store.erasures.put_lines
        monkeypatch.setattr(store.erasures, "put_lines", lambda *given: (put_lines(*given), copied()))
    eraser = Eraser(store, clock, "test", about=documents_about_people(store), sleep=copied)
    assert eraser.step()
    assert store.documents.below(TENANT, "") == []
    assert all("canary" not in str(event.content) for event in store.log.walk(TENANT, 0, 100))


def told_of_snapshot(words: str) -> Capture:
    told = EventWords(COPY, words, "snapshot")
    return Capture(draft_of(TENANT, "user:bob", ManualClock().now(), told, appended=False))
