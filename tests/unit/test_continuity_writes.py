"""Upsert, preserve, snapshot, patch and lifecycle: what a write makes of what stands."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from capsules import BEFORE, STANCE, body, later, patch, rationale, stored, upsert
from lamina.continuity.capsule import requests
from lamina.continuity.changes.deciding import lifecycle_of, moved, patched_capsule, upserted
from lamina.continuity.judgements.trust import resume_adequate
from lamina.errors import Conflict, LaminaError, Malformed, NotFound
from tables import every_row

LABELLED: dict[str, Any] = {
    "thread_descriptor": {"label": "Launch", "keywords": ["a"], "scope_anchors": ["task:t"]}
}
ROUND: dict[str, Any] = {
    "canonical_sources": ["memory/a"],
    "metadata": {"a": 1},
    "attention_policy": {"early_load": ["x"]},
    "freshness": {"freshness_class": "durable"},
    **LABELLED,
    "continuity": {
        "working_hypotheses": ["w"],
        "long_horizon_commitments": ["l"],
        "session_trajectory": ["s"],
        "trailing_notes": ["t"],
        "curiosity_queue": ["c"],
        "negative_decisions": [{"decision": "d", "rationale": "r"}],
        "rationale_entries": [rationale()],
        "related_documents": [{"path": "a/b", "kind": "k", "label": "l"}],
        "relationship_model": {"trust_level": "high"},
        "retrieval_hints": {"avoid": ["x"]},
    },
}


def _code(refused: pytest.ExceptionInfo[LaminaError]) -> str:
    return refused.value.code


def test_an_older_capsule_is_refused() -> None:
    with pytest.raises(Conflict) as refused:
        upserted(stored(updated_at=later()), upsert())
    assert _code(refused) == "STALE_CAPSULE"


def test_the_same_time_is_a_repetition_or_a_conflict() -> None:
    assert upserted(stored(), upsert()).same
    with pytest.raises(Conflict):
        upserted(stored(), upsert(body(continuity={"open_loops": ["other"]})))


def test_the_same_time_in_other_words_is_still_the_same_time() -> None:
    with pytest.raises(Conflict):
        upserted(stored(), upsert(body(updated_at="2026-05-13T11:00:00+00:00")))


def test_a_newer_capsule_takes_the_place() -> None:
    changed = upserted(stored(), upsert(body(updated_at=later(), continuity={"open_loops": ["other"]})))
    assert changed.capsule["continuity"]["open_loops"] == ["other"]
    assert not changed.same


def test_the_subject_must_be_the_same_to_the_letter() -> None:
    with pytest.raises(Malformed) as refused:
        upserted(None, upsert(body(), subject_id="Launch"))
    assert _code(refused) == "SUBJECT_MISMATCH"


def test_what_was_judged_is_not_the_callers_to_say_and_does_not_survive_new_words() -> None:
    state = {
        "status": "user_confirmed",
        "last_revalidated_at": BEFORE,
        "strongest_signal": "user_confirmation",
    }
    sent = body(verification_state=state, capsule_health={"status": "healthy", "last_checked_at": BEFORE})
    assert "verification_state" not in upserted(None, upsert(sent)).capsule
    judged = stored() | {"verification_state": state}
    for mode in ("replace", "preserve"):
        after = upserted(judged, upsert(body(updated_at=later()), merge_mode=mode)).capsule
        assert not after.keys() & {"verification_state", "capsule_health"}


def test_preserve_keeps_what_is_left_out() -> None:
    before = stored(**ROUND)
    sent = body(
        updated_at=later(), continuity={"open_loops": [], "drift_signals": [], "top_priorities": ["new"]}
    )
    after = upserted(before, upsert(sent, merge_mode="preserve")).capsule
    assert after["continuity"]["top_priorities"] == ["new"]
    assert after["continuity"]["open_loops"] == before["continuity"]["open_loops"]
    for name in ROUND["continuity"]:
        assert after["continuity"][name] == before["continuity"][name]
    for name in ROUND.keys() - {"continuity"}:
        assert after[name] == before[name]


@pytest.mark.parametrize(
    "name",
    [
        "working_hypotheses",
        "session_trajectory",
        "trailing_notes",
        "negative_decisions",
        "rationale_entries",
        "related_documents",
    ],
)
def test_preserve_takes_an_empty_optional_list_at_its_word(name: str) -> None:
    sent = body(updated_at=later(), continuity={name: []})
    after = upserted(stored(**ROUND), upsert(sent, merge_mode="preserve")).capsule
    assert after["continuity"][name] == []


@pytest.mark.parametrize("name", ["relationship_model", "retrieval_hints"])
def test_preserve_clears_by_null_in_the_state(name: str) -> None:
    sent = body(updated_at=later(), continuity={name: None})
    after = upserted(stored(**ROUND), upsert(sent, merge_mode="preserve")).capsule
    assert name not in after["continuity"]


@pytest.mark.parametrize("name", ["attention_policy", "freshness", "thread_descriptor"])
def test_preserve_clears_by_null(name: str) -> None:
    sent = body(updated_at=later(), **{name: None})
    assert name not in upserted(stored(**ROUND), upsert(sent, merge_mode="preserve")).capsule


def test_preserve_replaces_metadata_whole_and_labels_one_by_one() -> None:
    sent = body(updated_at=later(), metadata={"b": 2}, thread_descriptor={"label": "New", "keywords": []})
    after = upserted(stored(**ROUND), upsert(sent, merge_mode="preserve")).capsule
    assert after["metadata"] == {"b": 2}
    descriptor = after["thread_descriptor"]
    assert (descriptor["label"], descriptor["keywords"], descriptor["scope_anchors"]) == (
        "New",
        [],
        ["task:t"],
    )


def test_preserve_without_anything_stored_is_a_plain_write() -> None:
    assert upserted(None, upsert(merge_mode="preserve")).capsule == stored()


def test_what_a_snapshot_says_is_never_taken_from_the_stored_capsule() -> None:
    snapshot = {"open_loops": [], "top_priorities": [], "active_constraints": [], "stance_summary": "s"}
    sent = body(updated_at=later())
    after = upserted(
        stored(**ROUND), upsert(sent, merge_mode="preserve", session_end_snapshot=snapshot)
    ).capsule
    assert after["continuity"]["open_loops"] == []
    assert after["continuity"]["session_trajectory"] == ["s"]
    assert after["continuity"]["active_concerns"] == ["time"]


def test_a_snapshot_overrides_its_required_fields_and_those_others_that_it_gives() -> None:
    snapshot = {
        "open_loops": ["o"],
        "top_priorities": ["p"],
        "active_constraints": ["c"],
        "stance_summary": STANCE,
        "session_trajectory": None,
        "rationale_entries": [rationale("new")],
    }
    sent = body(continuity={"session_trajectory": ["mine"], "rationale_entries": [rationale("old")]})
    state = upserted(None, upsert(sent, session_end_snapshot=snapshot)).capsule["continuity"]
    assert (state["open_loops"], state["session_trajectory"]) == (["o"], ["mine"])
    assert [entry["tag"] for entry in state["rationale_entries"]] == ["new"]


@pytest.mark.parametrize(
    ("more", "adequate"),
    [
        ({}, True),
        ({"open_loops": []}, False),
        ({"top_priorities": []}, False),
        ({"active_constraints": []}, False),
        ({"stance_summary": "x" * 29}, False),
        ({"stance_summary": "x" * 30}, True),
        ({"active_concerns": []}, True),
    ],
)
def test_a_resume_is_adequate_with_loops_priorities_constraints_and_a_stance(
    more: Any, adequate: bool
) -> None:
    assert resume_adequate(stored(continuity=more)) is adequate


MOVES = [
    ("active", "suspend", "suspended"),
    ("active", "resume", None),
    ("active", "conclude", "concluded"),
    ("active", "supersede", "superseded"),
    ("suspended", "suspend", None),
    ("suspended", "resume", "active"),
    ("suspended", "conclude", "concluded"),
    ("suspended", "supersede", "superseded"),
    *[
        (end, move, None)
        for end in ("concluded", "superseded")
        for move in ("suspend", "resume", "conclude", "supersede")
    ],
]


@every_row("through", ["upsert", "lifecycle"])
@every_row(("before", "transition", "after"), MOVES)
def test_the_lifecycle_moves_along_its_table(
    before: str, transition: str, after: str | None, through: str
) -> None:
    standing = stored(**LABELLED)
    standing["thread_descriptor"]["lifecycle"] = before
    successor = {"superseded_by": "next"} if transition == "supersede" else {}
    if after is None:
        with pytest.raises(Malformed) as refused:
            _move(standing, transition, successor, through)
        assert _code(refused) == "INVALID_TRANSITION"
        return
    capsule = _move(standing, transition, successor, through)
    assert lifecycle_of(capsule) == after
    assert capsule["thread_descriptor"].get("superseded_by") == successor.get("superseded_by")


def _move(standing: Any, transition: str, successor: Any, through: str) -> Any:
    if through == "upsert":
        sent = body(updated_at=later(), **LABELLED)
        return upserted(standing, upsert(sent, lifecycle_transition=transition, **successor)).capsule
    about = {
        "subject_kind": "thread",
        "subject_id": "launch",
        "transition": transition,
        "updated_at": later(),
    }
    return moved(standing, requests.Lifecycle.model_validate(about | successor)).capsule


def test_a_new_descriptor_begins_as_active_whatever_the_caller_says() -> None:
    sent = body(thread_descriptor={"label": "L", "lifecycle": "concluded", "superseded_by": "x"})
    assert upserted(None, upsert(sent)).capsule["thread_descriptor"] == {
        "label": "L",
        "keywords": [],
        "scope_anchors": [],
        "identity_anchors": [],
        "lifecycle": "active",
    }


def test_a_lifecycle_is_carried_over_and_ends_with_its_descriptor() -> None:
    standing = stored(**LABELLED)
    standing["thread_descriptor"] |= {"lifecycle": "superseded", "superseded_by": "next"}
    again = upserted(standing, upsert(body(updated_at=later(), **LABELLED))).capsule
    assert again["thread_descriptor"]["superseded_by"] == "next"
    without = upserted(standing, upsert(body(updated_at=later()))).capsule
    assert lifecycle_of(without) is None
    anew = upserted(without, upsert(body(updated_at=later(2), **LABELLED))).capsule
    assert lifecycle_of(anew) == "active"


@pytest.mark.parametrize(
    "more",
    [
        {"lifecycle_transition": "supersede"},
        {"superseded_by": "next"},
        {"lifecycle_transition": "conclude", "superseded_by": "next"},
        {"lifecycle_transition": "conclude"},
    ],
)
def test_a_transition_must_fit_the_request(more: dict[str, Any]) -> None:
    with pytest.raises(Malformed) as refused:
        upserted(None, upsert(body(**LABELLED), **more))
    assert _code(refused) == "INVALID_TRANSITION"


def test_a_user_has_no_lifecycle() -> None:
    with pytest.raises(Malformed):
        upserted(None, upsert(body("user"), lifecycle_transition="conclude"))
    with pytest.raises(ValidationError):
        requests.Lifecycle(subject_kind="user", subject_id="a", transition="conclude", updated_at=BEFORE)  # type: ignore[arg-type]


@pytest.mark.parametrize("updated_at", [BEFORE, "2026-05-13T10:00:00Z"])
def test_patch_and_lifecycle_must_be_newer(updated_at: str) -> None:
    operation = {"target": "continuity.open_loops", "action": "remove", "match": "tests"}
    with pytest.raises(Conflict):
        patched_capsule(stored(), patch(operation, at=updated_at))
    with pytest.raises(Conflict):
        moved(
            stored(**LABELLED),
            requests.Lifecycle(
                subject_kind="thread", subject_id="launch", transition="conclude", updated_at=updated_at
            ),
        )


def test_a_patch_is_all_or_nothing_and_in_order() -> None:
    standing = stored()
    operations = [
        {"target": "continuity.open_loops", "action": "append", "value": "second"},
        {"target": "continuity.open_loops", "action": "remove", "match": "tests"},
        {"target": "continuity.open_loops", "action": "replace_at", "index": 0, "value": "2nd"},
    ]
    after = patched_capsule(standing, patch(*operations)).capsule
    assert after["continuity"]["open_loops"] == ["2nd"]
    assert after["updated_at"] == later()
    with pytest.raises(NotFound):
        patched_capsule(
            standing,
            patch(*operations, {"target": "continuity.open_loops", "action": "remove", "match": "x"}),
        )
    assert standing == stored()


ENTRIES = [
    ("continuity.rationale_entries", rationale("a"), "a", rationale("a", summary="n")),
    (
        "continuity.negative_decisions",
        {"decision": "a", "rationale": "r"},
        "a",
        {"decision": "a", "rationale": "n"},
    ),
    (
        "thread_descriptor.identity_anchors",
        {"kind": "repo", "value": "a"},
        "repo:a",
        {"kind": "repo", "value": "b"},
    ),
]


@pytest.mark.parametrize(("target", "entry", "match", "other"), ENTRIES)
def test_entries_are_matched_by_their_key(target: str, entry: Any, match: str, other: Any) -> None:
    standing = stored(**LABELLED)
    added = patched_capsule(standing, patch({"target": target, "action": "append", "value": entry})).capsule
    replace = {"target": target, "action": "replace_at", "match": match, "value": other}
    replaced = patched_capsule(added, patch(replace, at=later(2))).capsule
    assert _at(replaced, target)[0].items() >= other.items()
    remove = {"target": target, "action": "remove", "match": match if target != ENTRIES[2][0] else "repo:b"}
    assert _at(patched_capsule(replaced, patch(remove, at=later(3))).capsule, target) == []


def test_preferences_are_matched_by_their_tag() -> None:
    standing = stored(kind="user", stable_preferences=[{"tag": "tz", "content": "UTC"}])
    operation = {
        "target": "stable_preferences",
        "action": "replace_at",
        "match": "tz",
        "value": {"tag": "tz", "content": "CET"},
    }
    (entry,) = patched_capsule(standing, patch(operation, kind="user")).capsule["stable_preferences"]
    assert entry == {"tag": "tz", "content": "CET", "created_at": BEFORE, "updated_at": later()}


def _at(capsule: Any, target: str) -> Any:
    holder, _, name = target.rpartition(".")
    return capsule[holder][name]


MISFITS: list[dict[str, Any]] = [
    {"target": "continuity.open_loops", "action": "append"},
    {"target": "continuity.open_loops", "action": "append", "value": "x", "index": 0},
    {"target": "continuity.open_loops", "action": "append", "value": {"a": 1}},
    {"target": "continuity.open_loops", "action": "remove", "index": 0},
    {"target": "continuity.open_loops", "action": "remove", "match": "x", "value": "y"},
    {"target": "continuity.open_loops", "action": "replace_at", "match": "x", "value": "y"},
    {"target": "continuity.open_loops", "action": "replace_at", "index": 0},
    {"target": "continuity.rationale_entries", "action": "append", "value": "x"},
    {"target": "continuity.rationale_entries", "action": "append", "value": {"tag": "x"}},
    {"target": "continuity.rationale_entries", "action": "replace_at", "index": 0, "value": rationale()},
    {"target": "continuity.negative_decisions", "action": "append", "value": ["x"]},
    {"target": "thread_descriptor.keywords", "action": "append", "value": "x"},
]


@every_row("operation", MISFITS)
def test_an_operation_that_does_not_fit_is_refused(operation: dict[str, Any]) -> None:
    with pytest.raises(Malformed) as refused:
        patched_capsule(stored(), patch(operation))
    assert _code(refused) == "INVALID_PATCH"


@pytest.mark.parametrize("index", [-1, 1, 10**30])
def test_an_index_outside_of_the_list_matches_nothing(index: int) -> None:
    operation = {"target": "continuity.open_loops", "action": "replace_at", "index": index, "value": "x"}
    with pytest.raises(NotFound) as refused:
        patched_capsule(stored(), patch(operation))
    assert _code(refused) == "PATCH_NO_MATCH"


@pytest.mark.parametrize("more", [{"target": "continuity.related_documents"}, {"action": "move"}])
def test_an_unknown_target_or_action_is_not_of_the_type(more: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        patch({"target": "continuity.open_loops", "action": "remove", "match": "x"} | more)


def test_patch_and_lifecycle_keep_what_was_judged() -> None:
    health = {"status": "degraded", "reasons": ["r"], "last_checked_at": BEFORE}
    standing = stored(**LABELLED) | {"capsule_health": health}
    operation = {"target": "continuity.open_loops", "action": "remove", "match": "tests"}
    assert patched_capsule(standing, patch(operation)).capsule["capsule_health"] == health
    assert _move(standing, "conclude", {}, "lifecycle")["capsule_health"] == health
