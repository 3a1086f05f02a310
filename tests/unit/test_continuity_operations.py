"""The continuity operations over documents: what is written, what is answered, and what is refused."""

from __future__ import annotations

import gzip
import hashlib
import json
from typing import Any

import pytest
from pydantic import ValidationError

from capsules import BEFORE, NOW, body, later, rationale, signal
from lamina.errors import Conflict, Forbidden, LaminaError, Malformed, NotFound
from lamina.kernel.relay import RelayGrant
from lamina.kernel.time import SECOND_US
from shelves import EVERYWHERE, TENANT, Continuity

ACTIVE = "memory/continuity/thread-launch.json"
FALLBACK = "memory/continuity/fallback/thread-launch.json"
ARCHIVE = "memory/continuity/archive/thread-launch-20260513T120000Z.json"
COLD = "memory/continuity/cold/thread-launch-20260513T120000Z.json.gz"
STUB = "memory/continuity/cold/index/thread-launch-20260513T120000Z.md"
DAY = 86_400 * SECOND_US
ABOUT = {"subject_kind": "thread", "subject_id": "launch"}
LABELLED: dict[str, Any] = {"thread_descriptor": {"label": "Launch", "keywords": ["ship"]}}


@pytest.fixture(name="continuity")
def _continuity() -> Continuity:
    return Continuity()


def _upsert(
    continuity: Continuity, /, subject_id: str = "launch", kind: str = "thread", **more: Any
) -> dict[str, Any]:
    capsule = body(kind, subject_id, **more)
    return continuity("upsert", subject_kind=kind, subject_id=subject_id, capsule=capsule)


def _code(refused: pytest.ExceptionInfo[LaminaError]) -> str:
    return refused.value.code


def test_a_write_is_one_commit_of_capsule_and_snapshot_with_an_event(continuity: Continuity) -> None:
    answer = _upsert(continuity)
    content = continuity.documents.read(TENANT, ACTIVE).content
    assert answer == {
        "ok": True,
        "path": ACTIVE,
        "created": True,
        "updated": False,
        "durable": True,
        "latest_commit": continuity.documents.head(TENANT).sha,
        "capsule_sha256": hashlib.sha256(content).hexdigest(),
        "normalizations_applied": [],
        "warnings": [],
        "recovery_warnings": [],
        "fallback_warning_detail": None,
    }
    (write,) = continuity.documents.writes
    assert (write.author, write.message) == ("agent:kim", "continuity: upsert thread launch")
    assert continuity.documents.paths() == [FALLBACK, ACTIVE]
    assert content == json.dumps(json.loads(content), separators=(",", ":"), sort_keys=True).encode()
    snapshot = json.loads(continuity.documents.read(TENANT, FALLBACK).content)
    assert snapshot["captured_at"] == BEFORE
    assert snapshot["capsule"] == json.loads(content)


def test_the_event_is_for_recall_and_not_for_facts(continuity: Continuity) -> None:
    _upsert(continuity)
    (draft,) = continuity.drafts()
    assert (draft.scope, draft.modality, draft.context.observed_at) == ("app:relay", "document", NOW)
    assert draft.content["path"] == ACTIVE
    assert draft.content["text"].startswith("Capsule of thread launch.\nStance: Ship")
    assert not draft.directives.wants("facts")
    assert draft.directives.embed == "eager"


def test_the_same_write_again_changes_nothing(continuity: Continuity) -> None:
    first, second = _upsert(continuity), _upsert(continuity)
    assert (second["created"], second["updated"]) == (False, False)
    assert second["latest_commit"] == first["latest_commit"]
    assert len(continuity.documents.writes) == 1


def test_a_snapshot_and_a_descriptor_add_to_the_answer(continuity: Continuity) -> None:
    state = {"open_loops": ["o"], "top_priorities": [], "active_constraints": [], "stance_summary": "s"}
    answer = continuity(
        "upsert", **ABOUT, capsule=body(**LABELLED), session_end_snapshot=state, commit_message="my\nwords"
    )
    assert answer["session_end_snapshot_applied"] is True
    assert answer["resume_quality"] == {"adequate": False}
    assert answer["lifecycle"] == "active"
    assert continuity.documents.writes[0].message == "my words"


def test_two_ids_with_one_normal_form_do_not_overwrite_each_other(continuity: Continuity) -> None:
    _upsert(continuity, "six")
    for name, more in (
        ("upsert", {"capsule": body(subject_id="SIX!", updated_at=later())}),
        ("archive", {"reason": "old"}),
        ("delete", {"reason": "old", "delete_active": True}),
    ):
        with pytest.raises(Conflict) as refused:
            continuity(name, subject_kind="thread", subject_id="SIX!", **more)
        assert _code(refused) == "SUBJECT_TAKEN"
    assert continuity("read", subject_kind="thread", subject_id="SIX!")["capsule"]["subject_id"] == "six"


def test_a_write_in_between_makes_the_decision_anew(continuity: Continuity) -> None:
    _upsert(continuity)
    other = Continuity(continuity.documents)

    def somebody() -> None:
        continuity.documents.before_write = lambda: None
        operation = {"target": "continuity.open_loops", "action": "append", "value": "theirs"}
        other("patch", **ABOUT, updated_at=later(1), operations=[operation])

    continuity.documents.before_write = somebody
    operation = {"target": "continuity.open_loops", "action": "append", "value": "mine"}
    continuity("patch", **ABOUT, updated_at=later(2), operations=[operation])
    assert continuity("read", **ABOUT)["capsule"]["continuity"]["open_loops"] == ["tests", "theirs", "mine"]


def test_a_write_that_never_gets_through_says_so(continuity: Continuity) -> None:
    _upsert(continuity)
    standing = continuity.documents.read(TENANT, ACTIVE).content
    continuity.documents.before_write = lambda: continuity.documents.put(ACTIVE, standing)
    with pytest.raises(Conflict) as refused:
        _upsert(continuity, updated_at=later())
    assert _code(refused) == "DOCUMENT_CHANGED"


def test_patch_lifecycle_and_revalidate_answer_with_what_they_did(continuity: Continuity) -> None:
    _upsert(continuity, **LABELLED)
    operation = {"target": "continuity.open_loops", "action": "append", "value": " x "}
    patched = continuity("patch", **ABOUT, updated_at=later(1), operations=[operation])
    assert list(patched) == [
        "ok", "path", "updated", "durable", "latest_commit", "capsule_sha256", "operations_applied",
        "normalizations_applied", "warnings", "recovery_warnings",
    ]  # fmt: skip
    assert (patched["operations_applied"], patched["normalizations_applied"]) == (
        1,
        ["strip:continuity.open_loops"],
    )
    moved = continuity(
        "lifecycle", **ABOUT, updated_at=later(2), transition="supersede", superseded_by="next"
    )
    assert (moved["lifecycle"], moved["previous_lifecycle"]) == ("superseded", "active")
    judged = continuity("revalidate", **ABOUT, outcome="degrade", reason="odd", signals=[signal()])
    assert judged["capsule_health"]["reasons"] == ["odd"]
    assert [write.message for write in continuity.documents.writes[1:]] == [
        "continuity: patch thread launch",
        "continuity: lifecycle supersede thread launch",
        "continuity: revalidate thread launch",
    ]
    warnings = continuity("read", **ABOUT)["recovery_warnings"]
    assert warnings == ["continuity_capsule_superseded:thread:launch→next"]


def test_a_read_gives_the_capsule_in_the_order_of_its_shape(continuity: Continuity) -> None:
    _upsert(continuity, **LABELLED)
    answer = continuity("read", **ABOUT)
    assert list(answer) == [
        "ok", "path", "capsule", "archived", "source_state", "recovery_warnings", "trust_signals",
        "capsule_sha256",
    ]  # fmt: skip
    assert list(answer["capsule"])[:4] == ["schema_version", "subject_kind", "subject_id", "updated_at"]
    assert answer["trust_signals"]["scope_match"] == {"exact": True}


def test_the_startup_view_adds_to_an_unchanged_answer(continuity: Continuity) -> None:
    _upsert(continuity)
    plain, startup = continuity("read", **ABOUT), continuity("read", **ABOUT, view="startup")
    summary = startup.pop("startup_summary")
    assert startup.pop("provenance") == {
        "written_by": "agent:kim", "written_at": "2026-05-13T12:00:00Z", "version": 1, "archived": None,
    }  # fmt: skip
    assert startup == plain
    assert summary["trust_signals"] == plain["trust_signals"]


def test_the_startup_view_says_that_a_capsule_was_put_away_and_why(continuity: Continuity) -> None:
    _upsert(continuity)
    continuity("archive", **ABOUT, reason="it is over")
    answer = continuity("read", **ABOUT, allow_fallback=True, view="startup")
    assert (answer["source_state"], answer["provenance"]["written_by"]) == ("fallback", "agent:kim")
    note = {"archived_at": "2026-05-13T12:00:00Z", "archived_by": "agent:kim", "reason": "it is over"}
    assert answer["provenance"]["archived"] == note
    # Taken up again it is put away no more.
    _upsert(continuity)
    assert continuity("read", **ABOUT, view="startup")["provenance"]["archived"] is None


def test_who_wrote_a_snapshot_is_not_who_damaged_its_capsule(continuity: Continuity) -> None:
    _upsert(continuity)
    continuity.documents.put(ACTIVE, b"{")
    answer = continuity("read", **ABOUT, allow_fallback=True, view="startup")
    assert (answer["provenance"]["written_by"], answer["provenance"]["version"]) == ("agent:kim", 1)
    assert answer["provenance"]["archived"] is None


def test_sections_of_others_stand_in_the_startup_view() -> None:
    continuity = Continuity(sections={"schedule_context": lambda subject, call: {"of": subject.id}})
    _upsert(continuity)
    assert continuity("read", **ABOUT, view="startup")["schedule_context"] == {"of": "launch"}
    assert "schedule_context" not in continuity("read", **ABOUT)


def test_what_is_missing_is_an_error_or_a_state(continuity: Continuity) -> None:
    with pytest.raises(NotFound) as refused:
        continuity("read", **ABOUT)
    assert _code(refused) == "CAPSULE_NOT_FOUND"
    answer = continuity("read", **ABOUT, allow_fallback=True, view="startup")
    assert (answer["source_state"], answer["capsule"], answer["trust_signals"]) == ("missing", None, None)
    assert answer["recovery_warnings"] == ["continuity_active_missing", "continuity_fallback_missing"]
    assert answer["startup_summary"]["recovery"]["source_state"] == "missing"


@pytest.mark.parametrize(
    ("damage", "warning"), [(None, "continuity_active_missing"), (b"{", "continuity_active_invalid")]
)
def test_a_snapshot_stands_in_for_its_capsule(continuity: Continuity, damage: Any, warning: str) -> None:
    _upsert(continuity)
    if damage is None:
        continuity("archive", **ABOUT, reason="done")
    else:
        continuity.documents.put(ACTIVE, damage)
    answer = continuity("read", **ABOUT, allow_fallback=True)
    assert (answer["source_state"], answer["path"]) == ("fallback", FALLBACK)
    assert answer["recovery_warnings"] == [warning, "continuity_fallback_used"]
    assert answer["trust_signals"]["scope_match"] == {"exact": False}


def test_a_damaged_capsule_is_an_error_and_is_overwritten_by_an_upsert(continuity: Continuity) -> None:
    continuity.documents.put(ACTIVE, b"\xff{")
    for name, more in (("read", {}), ("archive", {"reason": "old"})):
        with pytest.raises(Malformed) as refused:
            continuity(name, **ABOUT, **more)
        assert _code(refused) == "STORED_CAPSULE_INVALID"
    assert _upsert(continuity)["updated"]


def test_compare_changes_nothing(continuity: Continuity) -> None:
    _upsert(continuity)
    same = continuity("compare", **ABOUT, candidate_capsule=body(), signals=[signal()])
    assert (same["identical"], same["recommended_outcome"]) == (True, "confirm")
    other = continuity("compare", **ABOUT, candidate_capsule=body(updated_at=later()), signals=[signal()])
    assert (other["changed_fields"], other["recommended_outcome"]) == (["updated_at"], "conflict")
    assert len(continuity.documents.writes) == 1


def test_an_archive_goes_cold_and_comes_back_to_the_byte(continuity: Continuity) -> None:
    _upsert(continuity, continuity={"rationale_entries": [rationale()]})
    archived = continuity("archive", **ABOUT, reason="done")
    assert (archived["archived_path"], archived["removed_active_path"]) == (ARCHIVE, ACTIVE)
    envelope = continuity.documents.read(TENANT, ARCHIVE).content
    stored = continuity("cold_store", source_archive_path=ARCHIVE)
    assert stored["committed_files"] == [ARCHIVE, COLD, STUB]
    assert continuity.documents.paths() == [STUB, COLD, FALLBACK]
    assert gzip.decompress(continuity.documents.read(TENANT, COLD).content) == envelope
    back = continuity("cold_rehydrate", cold_stub_path=STUB)
    assert back["restored_archive_path"] == ARCHIVE
    assert continuity.documents.read(TENANT, ARCHIVE).content == envelope
    assert continuity.documents.paths() == [ARCHIVE, FALLBACK]


def test_cold_storage_refuses_what_does_not_fit(continuity: Continuity) -> None:
    for name, path in (("cold_store", ARCHIVE), ("cold_rehydrate", ARCHIVE)):
        with pytest.raises(NotFound):
            continuity(name, source_archive_path=path)
        with pytest.raises(Malformed):
            continuity(name, source_archive_path="memory/continuity/archive/../../x.json")
    _upsert(continuity)
    continuity("archive", **ABOUT, reason="done")
    continuity.documents.put(STUB, b"x")
    with pytest.raises(Conflict):
        continuity("cold_store", source_archive_path=ARCHIVE)
    continuity.documents.put(COLD, b"x")
    with pytest.raises(Conflict):
        continuity("cold_rehydrate", source_archive_path=ARCHIVE)
    with pytest.raises(ValidationError):
        continuity("cold_rehydrate", source_archive_path=ARCHIVE, cold_stub_path=STUB)


def test_two_archives_of_one_second_are_both_kept(continuity: Continuity) -> None:
    for number in range(3):
        _upsert(continuity, updated_at=later(number))
        continuity("archive", **ABOUT, reason="done")
    assert len(continuity("list", include_archived=True)["capsules"]) == 3


def test_delete_takes_what_was_selected_and_names_what_was_not_there(continuity: Continuity) -> None:
    _upsert(continuity)
    _upsert(continuity, "launch-2")
    continuity("archive", subject_kind="thread", subject_id="launch-2", reason="other")
    continuity("archive", **ABOUT, reason="done")
    everything = {"delete_active": True, "delete_archive": True, "delete_fallback": True}
    answer = continuity("delete", **ABOUT, **everything, reason="r" * 200)
    assert answer["deleted_paths"] == [FALLBACK, ARCHIVE]
    assert answer["missing_paths"] == [ACTIVE]
    message = continuity.documents.writes[-1].message
    assert len(message) == 120
    assert message.startswith("continuity: delete thread launch - rrr")
    assert message.endswith("r...")
    assert any("launch-2" in path for path in continuity.documents.paths())
    again = continuity("delete", **ABOUT, delete_active=True, reason="again")
    assert (again["deleted_paths"], again["missing_paths"]) == ([], [ACTIVE])
    with pytest.raises(ValidationError):
        continuity("delete", **ABOUT, reason="nothing")


def test_a_damaged_capsule_can_be_deleted(continuity: Continuity) -> None:
    continuity.documents.put(ACTIVE, b"{")
    assert continuity("delete", **ABOUT, delete_active=True, reason="bad")["deleted_paths"] == [ACTIVE]


def test_the_list_shows_what_was_asked_for_in_order(continuity: Continuity) -> None:
    _upsert(continuity, "b")
    _upsert(continuity, "a", "user", stable_preferences=[{"tag": "t", "content": "c"}])
    _upsert(continuity, "a", "task")
    _upsert(continuity)
    continuity("archive", **ABOUT, reason="done")
    assert [row["path"] for row in continuity("list")["capsules"]] == [
        "memory/continuity/task-a.json",
        "memory/continuity/thread-b.json",
        "memory/continuity/user-a.json",
    ]
    rows = continuity("list", subject_kind="thread", include_fallback=True, include_archived=True)["capsules"]
    assert [(row["subject_id"], row["artifact_state"], row["retention_class"]) for row in rows] == [
        ("b", "active", "active"),
        ("b", "fallback", "fallback"),
        ("launch", "fallback", "fallback"),
        ("launch", "archived", "archive_recent"),
    ]
    assert (rows[-1]["path"], rows[-1]["archive_path"]) == (ACTIVE, ARCHIVE)
    continuity.at = NOW + 91 * DAY
    (row,) = continuity("list", include_archived=True, subject_kind="thread")["capsules"][1:]
    assert row["retention_class"] == "archive_stale"
    continuity("cold_store", source_archive_path=ARCHIVE)
    cold = continuity("list", include_cold=True)["capsules"][2]
    assert (cold["artifact_state"], cold["stable_preference_count"], cold["updated_at"]) == (
        "cold",
        None,
        None,
    )
    assert "resume_adequate" not in cold
    preferences = continuity("list", subject_kind="user")["capsules"][0]
    assert (preferences["stable_preference_count"], preferences["rationale_entry_count"]) == (1, 0)
    assert continuity("list", limit=1)["count"] == 1


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"lifecycle": "active"}, ["one", "two"]),
    ({"lifecycle": "concluded"}, []),
    ({"keyword": " SHIP "}, ["one", "two"]),
    ({"keyword": "ship", "scope_anchor": "Task:t"}, ["two"]),
    ({"label_exact": "One"}, ["one"]),
    ({"label_exact": "one"}, []),
    ({"anchor_kind": "Repo"}, ["two"]),
    ({"anchor_kind": "repo", "anchor_value": "lamina"}, ["two"]),
    ({"anchor_kind": "repo", "anchor_value": "LAMINA"}, []),
]


@pytest.mark.parametrize(("filters", "found"), FILTERS)
def test_threads_are_found_by_their_descriptor(
    continuity: Continuity, filters: dict[str, Any], found: list[str]
) -> None:
    anchors = {"scope_anchors": ["task:t"], "identity_anchors": [{"kind": "repo", "value": "lamina"}]}
    _upsert(continuity, "one", thread_descriptor={"label": "One", "keywords": ["ship"]})
    _upsert(continuity, "two", thread_descriptor={"label": "Two", "keywords": ["ship"]} | anchors)
    _upsert(continuity, "none")
    answer = continuity("list", **filters, limit=1)
    assert [row["subject_id"] for row in answer["capsules"]] == found[:1]
    assert answer["unique_match"] is (len(found) == 1)


def test_an_anchor_value_needs_its_kind(continuity: Continuity) -> None:
    with pytest.raises(ValidationError):
        continuity("list", anchor_value="lamina")


def test_the_salience_order_says_why(continuity: Continuity) -> None:
    _upsert(continuity, "plain")
    _upsert(continuity, "live", **LABELLED)
    answer = continuity("list", sort="salience", include_fallback=True)
    rows = answer["capsules"]
    assert [(row["subject_id"], row["artifact_state"], row["salience_rank"]) for row in rows] == [
        ("live", "active", 1),
        ("plain", "active", 2),
        ("live", "fallback", None),
        ("plain", "fallback", None),
    ]
    assert rows[0]["salience"]["rank"] == 0
    assert answer["salience_metadata"]["capsule_count"] == 2
    assert "salience_metadata" not in continuity("list")
    assert Continuity()("list", sort="salience")["salience_metadata"] is None


def test_the_refresh_plan_is_kept(continuity: Continuity) -> None:
    _upsert(continuity)
    _upsert(continuity, "gone")
    continuity("delete", subject_kind="thread", subject_id="gone", delete_active=True, reason="lost")
    continuity("read", **ABOUT)
    answer = continuity("refresh_plan")
    assert [(row["subject_id"], row["reason_codes"]) for row in answer["candidates"]] == [
        ("gone", ["verification_unverified", "fallback_only"]),
        ("launch", ["verification_unverified", "recently_used"]),
    ]
    kept = json.loads(continuity.documents.read(TENANT, "memory/continuity/refresh_state.json").content)
    assert kept["entries"] == answer["candidates"]
    assert continuity.documents.writes[-1].message == "continuity: refresh plan"
    assert not continuity.documents.writes[-1].captures


def test_retention_plans_and_applies(continuity: Continuity) -> None:
    _upsert(continuity)
    continuity("archive", **ABOUT, reason="done")
    continuity.documents.put("memory/continuity/archive/thread-x-20250101T000000Z.json", b"{")
    assert continuity("retention_plan")["candidates"] == []
    continuity.at = NOW + 91 * DAY
    _upsert(continuity, "young")
    continuity("archive", subject_kind="thread", subject_id="young", reason="done")
    plan = continuity("retention_plan")
    (row,) = plan["candidates"]
    assert (row["source_archive_path"], row["age_days"], plan["total_candidates"]) == (ARCHIVE, 91, 1)
    broken = "memory/continuity/archive/thread-x-20250101T000000Z.json"
    assert plan["warnings"] == [f"continuity_retention_skipped_invalid_archive:{broken}"]
    young = next(path for path in continuity.documents.paths() if "archive/thread-young" in path)
    none = "memory/continuity/archive/thread-none-20250101T000000Z.json"
    applied = continuity("retention_apply", source_archive_paths=[ARCHIVE, ARCHIVE, broken, young, none, "x"])
    assert [one["status"] for one in applied["results"]] == [
        "cold_stored",
        "failed_invalid_archive",
        "skipped_not_stale",
        "skipped_missing",
        "failed_invalid_archive",
    ]
    assert (applied["ok"], applied["failed"], applied["cold_stored"], applied["requested"]) == (
        False,
        2,
        1,
        6,
    )
    assert applied["warnings"] == [f"duplicate_source_archive_path:{ARCHIVE}"]
    again = continuity("retention_apply", source_archive_paths=[ARCHIVE])
    assert again["results"][0]["status"] == "skipped_already_cold"


def test_folders_narrow_what_a_caller_may_touch() -> None:
    everything = Continuity()
    _upsert(everything)
    _upsert(everything, "mine", "task")
    rights = frozenset({"read:files", "write:projects"})
    mine = frozenset({"memory/continuity/task-mine.json", "memory/coordination"})
    some = Continuity(everything.documents, RelayGrant(rights, mine, mine))
    assert [row["subject_id"] for row in some("list", include_fallback=True)["capsules"]] == ["mine"]
    for name, more in (
        ("read", {}),
        ("compare", {"candidate_capsule": body(), "signals": [signal()]}),
        ("upsert", {"capsule": body()}),
        ("archive", {"reason": "old"}),
        ("delete", {"reason": "old", "delete_active": True}),
        ("delete", {"reason": "old", "delete_archive": True}),
        ("revalidate", {"outcome": "confirm", "signals": [signal()]}),
    ):
        with pytest.raises(Forbidden) as refused:
            some(name, **ABOUT, **more)
        assert _code(refused) == "NAMESPACE_DENIED"
    with pytest.raises(Forbidden):
        some("refresh_plan")
    assert (
        some("retention_apply", source_archive_paths=[ARCHIVE])["results"][0]["status"]
        == "failed_authorization"
    )


def test_a_right_is_needed_beside_the_folder() -> None:
    everything = Continuity()
    _upsert(everything)
    reader = Continuity(everything.documents, RelayGrant(frozenset({"read:files"}), EVERYWHERE, EVERYWHERE))
    assert reader("list")["count"] == 1
    writer = Continuity(
        everything.documents, RelayGrant(frozenset({"write:projects"}), EVERYWHERE, EVERYWHERE)
    )
    assert _upsert(writer, updated_at=later())["updated"]
    for one, name, more in (
        (reader, "upsert", {"capsule": body(updated_at=later(5))}),
        (reader, "refresh_plan", {}),
        (writer, "read", {}),
        (writer, "list", {}),
        (writer, "refresh_plan", {}),
    ):
        with pytest.raises(Forbidden):
            one(name, **ABOUT, **more)


def test_what_is_parsed_is_parsed_once_for_each_version(continuity: Continuity) -> None:
    _upsert(continuity)
    continuity("list")
    reads = continuity.documents.read_many
    continuity.documents.read_many = lambda *_: pytest.fail("read again")
    assert continuity("list")["count"] == 1
    continuity.documents.read_many = reads
    _upsert(continuity, updated_at=later(), continuity={"open_loops": []})
    assert continuity("list")["capsules"][0]["resume_adequate"] is False


def test_what_is_kept_parsed_is_bounded(continuity: Continuity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.limits.CAPSULE_BYTES_KEPT_MAX", 2000)
    for number in range(9):
        _upsert(continuity, f"s{number}")
    assert [continuity("list")["count"] for _ in range(2)] == [9, 9]


def test_an_error_that_is_kept_is_told_anew_each_time(continuity: Continuity) -> None:
    continuity.documents.put(ACTIVE, b"{")
    told = []
    for _ in range(2):
        with pytest.raises(Malformed) as refused:
            continuity("read", **ABOUT)
        told.append(refused.value)
    assert told[0] is not told[1]
    assert told[0].message == told[1].message
