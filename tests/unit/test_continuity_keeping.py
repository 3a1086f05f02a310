"""What a write must not take away unseen: ids, snapshots, archives, and what was damaged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capsules import BEFORE, NOW, body, later, signal, stored
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.shelf.envelopes import archive_bytes
from lamina.errors import Conflict, Malformed
from shelves import TENANT, Continuity

ABOUT = {"subject_kind": "thread", "subject_id": "launch"}
LAUNCH = Subject("thread", "launch")
APPEND = {"target": "continuity.open_loops", "action": "append", "value": "v"}


@pytest.fixture
def run() -> Continuity:
    return Continuity()


def _upsert(run: Continuity, subject_id: str = "launch", **more: Any) -> dict[str, Any]:
    mode = more.pop("merge_mode", "replace")
    capsule = body(subject_id=subject_id, **more)
    return run("upsert", subject_kind="thread", subject_id=subject_id, capsule=capsule, merge_mode=mode)


def _kept(run: Continuity) -> dict[str, Any]:
    kept: dict[str, Any] = run("read", **ABOUT)["capsule"]
    return kept


def test_a_correction_does_not_rename_the_capsule(run: Continuity) -> None:
    _upsert(run)
    candidate = body(subject_id="LAUNCH", updated_at=later(), continuity={"open_loops": ["new"]})
    assert run("revalidate", **ABOUT, outcome="correct", signals=[signal()], candidate_capsule=candidate)
    assert _kept(run)["subject_id"] == "launch"
    assert _upsert(run, updated_at=later(2))["updated"]


def test_preserve_over_a_damaged_capsule_keeps_what_its_snapshot_has(run: Continuity) -> None:
    _upsert(run, continuity={"trailing_notes": ["not said again"]})
    run.documents.put(LAUNCH.active_path, b"\xff{")
    answer = _upsert(run, merge_mode="preserve", updated_at=later(), continuity={"open_loops": ["new"]})
    assert answer["updated"]
    assert answer["recovery_warnings"] == ["continuity_active_invalid", "continuity_fallback_used"]
    state = _kept(run)["continuity"]
    assert (state["open_loops"], state["trailing_notes"]) == (["new"], ["not said again"])


def test_the_same_words_as_the_snapshot_mend_a_damaged_capsule(run: Continuity) -> None:
    _upsert(run)
    run.documents.put(LAUNCH.active_path, b"{}")
    assert _upsert(run, merge_mode="preserve")["updated"]
    assert _kept(run)["updated_at"] == BEFORE


@pytest.mark.parametrize("mode", ["preserve", "replace"])
def test_a_snapshot_of_another_subject_is_neither_built_upon_nor_replaced(run: Continuity, mode: str) -> None:
    _upsert(run, "Launch", continuity={"open_loops": ["of the other one"]})
    run.documents.put(LAUNCH.active_path, b"{}")
    with pytest.raises(Conflict) as refused:
        _upsert(run, merge_mode=mode, updated_at=later())
    assert refused.value.code == "SUBJECT_TAKEN"
    assert b"of the other one" in run.documents.read(TENANT, LAUNCH.fallback_path).content
    # Whose it is mends it.
    assert _upsert(run, "Launch", merge_mode=mode, updated_at=later())["updated"]


def test_a_snapshot_that_is_all_there_is_of_another_subject_is_not_replaced(run: Continuity) -> None:
    other = {"subject_kind": "thread", "subject_id": "Launch"}
    _upsert(run, "Launch")
    run("delete", **other, delete_active=True, reason="not now")
    with pytest.raises(Conflict) as refused:
        _upsert(run)
    assert refused.value.code == "SUBJECT_TAKEN"
    # Put away, it is kept elsewhere too, warm or cold.
    _upsert(run, "Launch", updated_at=later())
    path = run("archive", **other, reason="it is over")["archived_path"]
    run("cold_store", source_archive_path=path)
    assert _upsert(run)["created"]


def test_a_damaged_capsule_that_is_replaced_unread_is_told_of(run: Continuity) -> None:
    run.documents.put(LAUNCH.active_path, b"{}")
    assert _upsert(run)["recovery_warnings"] == ["continuity_active_invalid"]
    run.documents.put(LAUNCH.active_path, b"{}")
    run.documents.put(LAUNCH.fallback_path, b"{}")
    assert _upsert(run, merge_mode="preserve", updated_at=later())["recovery_warnings"] == [
        "continuity_active_invalid",
        "continuity_fallback_missing",
    ]


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("patch", {"updated_at": later(), "operations": [APPEND]}),
        ("lifecycle", {"updated_at": later(), "transition": "suspend"}),
        ("revalidate", {"outcome": "confirm", "signals": [signal()]}),
        ("upsert", {"merge_mode": "preserve", "capsule": body(updated_at=later())}),
    ],
)
def test_what_reading_left_out_is_told_by_the_write_that_drops_it(
    run: Continuity, name: str, more: dict[str, Any]
) -> None:
    wrong = stored(thread_descriptor={"label": "L"})
    wrong["continuity"]["related_documents"] = [{"path": "/outside"}]
    run.documents.put(LAUNCH.active_path, json.dumps(wrong).encode())
    answer = run(name, **ABOUT, **more)
    assert answer["recovery_warnings"] == ["related_documents_omitted_invalid"]


def test_nothing_goes_cold_that_would_not_come_back(run: Continuity) -> None:
    large = stored() | {"metadata": {"a": "x" * 60_000}}
    path = LAUNCH.archive_path(NOW)
    run.documents.put(path, archive_bytes(large, now=NOW, actor="agent:kim", reason="old"))
    with pytest.raises(Malformed) as refused:
        run("cold_store", source_archive_path=path)
    assert refused.value.code == "INVALID_COLD_ARTIFACT"
    assert run.documents.read(TENANT, path) is not None


def test_a_deletion_leaves_the_archive_of_an_id_that_only_looks_alike(run: Continuity) -> None:
    _upsert(run, "Launch")
    other = run("archive", subject_kind="thread", subject_id="Launch", reason="old")["archived_path"]
    _upsert(run)
    run.at += 1_000_000
    own = run("archive", **ABOUT, reason="old")["archived_path"]
    answer = run("delete", **ABOUT, delete_archive=True, reason="gone")
    assert answer["deleted_paths"] == [own]
    assert [(each["code"], each["path"]) for each in answer["warnings"]] == [
        ("archive_of_another_subject", other)
    ]
    assert other in run.documents.paths()


def test_a_damaged_archive_may_be_deleted(run: Continuity) -> None:
    path = LAUNCH.archive_path(NOW)
    run.documents.put(path, b"{")
    assert run("delete", **ABOUT, delete_archive=True, reason="gone")["deleted_paths"] == [path]
