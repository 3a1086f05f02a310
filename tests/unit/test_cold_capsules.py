"""Capsules in cold storage, as those find them who look for the capsule or take it away."""

from __future__ import annotations

from typing import Any

import pytest

from capsules import body
from lamina.kernel.operations import Principal
from lamina.kernel.relay import RelayGrant, RelayRight
from shelves import EVERYWHERE, TENANT, Continuity, Granted

ABOUT = {"subject_kind": "thread", "subject_id": "launch"}
ARCHIVE = "memory/continuity/archive/thread-launch-20260513T120000Z.json"
COLD = "memory/continuity/cold/thread-launch-20260513T120000Z.json.gz"
STUB = "memory/continuity/cold/index/thread-launch-20260513T120000Z.md"
OPERATOR = Principal(tenant_id=TENANT, actor="agent:ops", channel="http")


@pytest.fixture(name="continuity")
def _continuity() -> Continuity:
    """One whose capsule of the thread was put away, and then went to cold storage."""
    continuity = Continuity()
    continuity("upsert", **ABOUT, capsule=body())
    continuity("archive", **ABOUT, reason="it is over")
    continuity("cold_store", source_archive_path=ARCHIVE)
    return continuity


def _archived(continuity: Continuity, subject_id: str = "launch") -> Any:
    about = {"subject_kind": "thread", "subject_id": subject_id}
    return continuity("read", **about, allow_fallback=True, view="startup")["provenance"]["archived"]


def test_the_startup_view_says_that_a_capsule_was_put_away_after_it_went_cold(continuity: Continuity) -> None:
    note = {"archived_at": "2026-05-13T12:00:00Z", "archived_by": "agent:kim", "reason": "it is over"}
    assert _archived(continuity) == note
    # Another subject whose id goes on where this one ends was not.
    continuity("upsert", subject_kind="thread", subject_id="launch-2", capsule=body(subject_id="launch-2"))
    assert _archived(continuity, "launch-2") is None


def test_who_may_not_read_cold_storage_is_not_told(continuity: Continuity) -> None:
    folders = frozenset({"memory/continuity/thread-launch.json", "memory/continuity/fallback"})
    continuity.relay = Granted(RelayGrant(frozenset({RelayRight.READ_FILES}), folders, EVERYWHERE))
    assert _archived(continuity) is None


def test_a_removal_of_archives_names_what_it_leaves_in_cold_storage(continuity: Continuity) -> None:
    flags = {"delete_active": True, "delete_archive": True, "delete_fallback": True}
    answer = continuity("delete", **ABOUT, **flags, reason="all of it")
    assert [(each["code"], each["path"]) for each in answer["warnings"]] == [
        ("archive_in_cold_storage", COLD)
    ]
    # Brought back, it goes as any archive does, and nothing is left to name.
    continuity("cold_rehydrate", source_archive_path=ARCHIVE)
    answer = continuity("delete", **ABOUT, delete_archive=True, reason="all of it")
    assert (answer["deleted_paths"], answer["warnings"]) == ([ARCHIVE], [])


def test_a_removal_names_no_cold_archive_of_another_id_and_none_that_it_was_not_asked_for(
    continuity: Continuity,
) -> None:
    assert continuity("delete", **ABOUT, delete_fallback=True, reason="one of them")["warnings"] == []
    other = {"subject_kind": "thread", "subject_id": "Launch"}
    assert continuity("delete", **other, delete_archive=True, reason="not mine")["warnings"] == []


def test_who_moves_an_archive_becomes_no_author_of_it(
    continuity: Continuity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shelves.AGENT", OPERATOR)
    continuity("cold_rehydrate", source_archive_path=ARCHIVE)
    continuity("cold_store", source_archive_path=ARCHIVE)
    for path in (ARCHIVE, COLD, STUB):
        steps = continuity.documents.history(TENANT, path)
        assert {step.commit.author for step in steps} == {"agent:kim"}, path
    moved = [each.caller for each in continuity.drafts() if "cold storage" in each.content["text"]]
    assert set(moved) == {"agent:kim"}
