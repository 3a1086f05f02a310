"""The rules of a capsule beyond its bounds, what a write tidies, and how older ones are read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from capsules import BEFORE, body, later, rationale, stored, upsert
from capsules import NOW as NOON
from lamina.continuity.capsule.related import first_problem
from lamina.continuity.capsule.subjects import Subject, archive_name, check_same_subject
from lamina.continuity.capsule.validate import check_capsule
from lamina.continuity.changes.deciding import upserted
from lamina.continuity.judgements.freshness import Freshness, freshness
from lamina.continuity.shelf.loading import loaded
from lamina.errors import Conflict, LaminaError, Malformed
from lamina.kernel.time import instant
from tables import every_row

DOCUMENT = {"path": "docs/x.md", "kind": "design_note", "label": "X"}
DESCRIPTOR: dict[str, Any] = {"label": "Launch"}


@pytest.mark.parametrize(
    ("subject_id", "slug"),
    [
        ("stef", "stef"),
        ("  SIX! ", "six"),
        ("a/../b", "a-..-b"),
        ("Ada Lovelace", "ada-lovelace"),
        ("x" * 200, "x" * 120),
        ("y" * 119 + "!z", "y" * 119),
        ("v1.2_b", "v1.2_b"),
    ],
)
def test_a_subject_has_a_normal_form(subject_id: str, slug: str) -> None:
    assert Subject("user", subject_id).slug == slug
    assert Subject("user", subject_id).active_path == f"memory/continuity/user-{slug}.json"


def test_a_subject_of_signs_only_has_no_place() -> None:
    with pytest.raises(Malformed, match="letter or digit"):
        _ = Subject("user", "!!!").slug


def test_another_id_with_the_same_normal_form_is_a_conflict() -> None:
    check_same_subject("six", Subject("user", "six"))
    with pytest.raises(Conflict) as refused:
        check_same_subject("six", Subject("user", "SIX!"))
    assert refused.value.code == "SUBJECT_TAKEN"


def test_two_archives_of_one_second_have_two_places() -> None:
    subject, at = Subject("task", "t-1"), instant("2026-05-13T12:00:00.5Z")
    first = subject.archive_path(at)
    second = subject.archive_path(at, frozenset({first}))
    assert first == "memory/continuity/archive/task-t-1-20260513T120000Z.json"
    assert second == "memory/continuity/archive/task-t-1-20260513T120000Z-2.json"
    name = archive_name(second)
    assert name is not None
    assert name.cold_path == "memory/continuity/cold/task-t-1-20260513T120000Z-2.json.gz"
    assert (name.kind, name.slug) == ("task", "t-1")


@pytest.mark.parametrize(
    "path", ["memory/continuity/archive/../x.json", "memory/continuity/user-a.json", "x"]
)
def test_what_is_no_archive_has_no_archive_name(path: str) -> None:
    assert archive_name(path) is None


WRONG: dict[str, dict[str, Any]] = {
    "local time": {"updated_at": "2026-05-13T12:00:00"},
    "an offset": {"verified_at": "2026-05-13T12:00:00+02:00"},
    "no time": {"updated_at": "soon"},
    "a source outside": {"canonical_sources": ["docs/x.md"]},
    "a source that climbs": {"canonical_sources": ["memory/../config/x"]},
    "a hint outside": {"continuity": {"retrieval_hints": {"load_next": ["src/x.py"]}}},
    "nested metadata": {"metadata": {"a": {"b": 1}}},
    "a boundary without its kind": {"source": {"producer": "p", "update_reason": "interaction_boundary"}},
    "a kind without its boundary": {"metadata": {"interaction_boundary_kind": "task_switch"}},
    "preferences of a thread": {"stable_preferences": [{"tag": "a", "content": "b"}]},
    "an empty note": {"continuity": {"trailing_notes": [""]}},
    "an empty question": {"continuity": {"curiosity_queue": [""]}},
    "an empty decision": {"continuity": {"negative_decisions": [{"decision": "", "rationale": "r"}]}},
    "a tag twice": {"continuity": {"rationale_entries": [rationale(), rationale()]}},
    "a decision twice": {"continuity": {"negative_decisions": [{"decision": "a", "rationale": "r"}] * 2}},
    "superseding itself": {"continuity": {"rationale_entries": [rationale(supersedes="git")]}},
    "superseding nothing": {"continuity": {"rationale_entries": [rationale(supersedes="svn")]}},
    "superseding what is active": {
        "continuity": {"rationale_entries": [rationale("svn"), rationale(supersedes="svn")]}
    },
    "a free anchor": {"thread_descriptor": DESCRIPTOR | {"scope_anchors": ["lamina"]}},
    "an anchor twice": {
        "thread_descriptor": DESCRIPTOR
        | {"identity_anchors": [{"kind": "repo", "value": "a"}, {"kind": "Repo", "value": "a "}]}
    },
    "a strange kind of anchor": {
        "thread_descriptor": DESCRIPTOR | {"identity_anchors": [{"kind": "1st", "value": "a"}]}
    },
    "null documents": {"continuity": {"related_documents": None}},
    "a NUL in metadata": {"metadata": {"a": "\x00"}},
    "a NUL in a document": {"continuity": {"related_documents": [DOCUMENT | {"label": "a\x00"}]}},
}


@every_row("more", WRONG.values(), ids=WRONG.keys())
def test_a_capsule_that_breaks_a_rule_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(Malformed) as refused:
        upserted(None, upsert(body(**more)))
    assert refused.value.code == "INVALID_CAPSULE"
    assert refused.value.details["field"]


def test_a_nul_in_a_key_is_refused_as_one_in_a_value() -> None:
    with pytest.raises(Malformed, match="NUL"):
        check_capsule(stored() | {"metadata": {"a\x00": 1}})


def test_a_descriptor_is_for_threads_and_tasks() -> None:
    with pytest.raises(Malformed, match="thread and task"):
        upserted(None, upsert(body("user", thread_descriptor=DESCRIPTOR)))


def test_unknown_fields_are_dropped_but_not_in_entries() -> None:
    capsule = upserted(None, upsert(body(mood="good"))).capsule
    assert "mood" not in capsule
    with pytest.raises(ValidationError, match="Extra inputs"):
        upsert(body(continuity={"rationale_entries": [rationale(mood="good")]}))


DOCUMENTS: list[tuple[str, Any, str]] = [
    ("embedded", [DOCUMENT | {"content": "x", "zzz": 1}], "embedded"),
    ("unknown", [DOCUMENT | {"zzz": 1, "label": 3}], "unknown"),
    ("type", [DOCUMENT | {"label": 3, "path": "/x"}], "type"),
    ("no list", {"path": "x"}, "type"),
    ("missing", [{"path": "/x", "kind": "a"}], "missing"),
    ("path", [DOCUMENT | {"path": "/x", "kind": "A"}], "path"),
    ("climbing", [DOCUMENT | {"path": "a/../x"}], "path"),
    ("format", [DOCUMENT | {"kind": "A", "label": ""}], "format"),
    ("relevance", [DOCUMENT | {"relevance": "some"}], "format"),
    ("empty", [DOCUMENT | {"label": ""}], "empty"),
    ("whitespace", [DOCUMENT | {"label": " x" + "y" * 200}], "whitespace"),
    ("long", [DOCUMENT | {"label": "y" * 121}] * 2, "long"),
    ("duplicate", [DOCUMENT] * 9, "duplicate"),
    ("many", [DOCUMENT | {"label": f"X{n}"} for n in range(9)], "many"),
]


@every_row(("value", "kind"), [case[1:] for case in DOCUMENTS], ids=[case[0] for case in DOCUMENTS])
def test_of_several_problems_the_first_by_precedence_is_told(value: Any, kind: str) -> None:
    problem = first_problem(value)
    assert problem is not None
    assert problem.kind == kind


def test_an_absent_relevance_is_no_repetition_of_a_given_one() -> None:
    assert first_problem([DOCUMENT, DOCUMENT | {"relevance": "primary"}]) is None


def test_a_write_tidies_and_says_how() -> None:
    changed = upserted(
        None,
        upsert(
            body(
                "user",
                canonical_sources=["memory/a", "memory/a"],
                stable_preferences=[{"tag": "tz", "content": "UTC"}, {"tag": " tz", "content": "CET"}],
                continuity={
                    "top_priorities": [" ship ", "", "ship"],
                    "open_loops": ["a", "a"],
                    "rationale_entries": [rationale(" git "), rationale("git", summary="later")],
                    "negative_decisions": [{"decision": "no", "rationale": " r "}],
                    "stance_summary": " as it is ",
                },
            )
        ),
    )
    assert changed.normalizations == (
        "strip:continuity.top_priorities",
        "drop_empty:continuity.top_priorities",
        "dedup:continuity.top_priorities",
        "dedup:continuity.open_loops",
        "dedup:canonical_sources",
        "strip:stable_preferences",
        "dedup:stable_preferences",
        "strip:rationale_entries.tag",
        "dedup:rationale_entries",
        "strip:negative_decisions",
    )
    state = changed.capsule["continuity"]
    assert state["top_priorities"] == ["ship"]
    assert state["stance_summary"] == " as it is "
    assert [entry["summary"] for entry in state["rationale_entries"]] == ["later"]
    assert [entry["content"] for entry in changed.capsule["stable_preferences"]] == ["CET"]


def test_keywords_are_tidied_in_silence() -> None:
    descriptor = DESCRIPTOR | {
        "keywords": [" Git ", "git", ""],
        "identity_anchors": [{"kind": " Repo", "value": " x "}],
    }
    changed = upserted(None, upsert(body(thread_descriptor=descriptor)))
    assert changed.capsule["thread_descriptor"]["keywords"] == ["git"]
    assert changed.capsule["thread_descriptor"]["identity_anchors"] == [{"kind": "repo", "value": "x"}]
    assert changed.normalizations == ()


def test_the_times_of_entries_are_the_servers() -> None:
    old = {"created_at": "2001-01-01T00:00:00Z", "updated_at": "nonsense"}
    first = stored(continuity={"rationale_entries": [rationale("a", **old), rationale("b")]})
    assert {(e["created_at"], e["updated_at"]) for e in first["continuity"]["rationale_entries"]} == {
        (BEFORE, BEFORE)
    }
    entries = [rationale("a"), rationale("b", summary="new", last_confirmed_at=later(3)), rationale("c")]
    sent = body(updated_at=later(9), continuity={"rationale_entries": entries})
    second = upserted(first, upsert(sent)).capsule["continuity"]["rationale_entries"]
    assert [(e["created_at"], e["updated_at"]) for e in second] == [
        (BEFORE, BEFORE),
        (BEFORE, later(9)),
        (later(9), later(9)),
    ]
    assert [e.get("last_confirmed_at") for e in second] == [None, later(3), None]


def test_a_confirmation_stays_until_a_newer_one() -> None:
    confirmed = rationale("a", last_confirmed_at=later(3))
    first = stored(continuity={"rationale_entries": [confirmed]})
    sent = body(updated_at=later(9), continuity={"rationale_entries": [rationale("a")]})
    second = upserted(first, upsert(sent)).capsule
    assert second["continuity"]["rationale_entries"][0]["last_confirmed_at"] == later(3)


def _kept(**more: Any) -> bytes:
    return json.dumps(stored() | more).encode()


def test_a_capsule_of_the_older_version_is_upgraded() -> None:
    state = stored()["continuity"] | {"rationale_entries": [rationale(set_at="2026-01-01T00:00:00Z")]}
    capsule = loaded(_kept(schema_version="1.0", continuity=state)).capsule
    assert capsule["schema_version"] == "1.1"
    (entry,) = capsule["continuity"]["rationale_entries"]
    assert entry["created_at"] == entry["updated_at"] == "2026-01-01T00:00:00Z"


EPOCH = "1970-01-01T00:00:00Z"


@pytest.mark.parametrize("lost", ["whenever", "", None, 5])
def test_a_lost_time_of_the_verification_is_never_that_of_the_last_change(lost: Any) -> None:
    capsule = loaded(_kept(verified_at=lost)).capsule
    assert (capsule["updated_at"], capsule["verified_at"]) == (stored()["updated_at"], EPOCH)
    assert freshness(capsule, NOON) == Freshness("expired", "continuity_expired")
    kept = stored()
    del kept["verified_at"]
    assert loaded(json.dumps(kept).encode()).capsule["verified_at"] == EPOCH


def test_a_lost_time_of_the_last_change_is_that_of_the_verification() -> None:
    assert loaded(_kept(updated_at="?")).capsule["updated_at"] == stored()["verified_at"]


def test_entries_without_times_have_those_of_their_capsule_and_keep_them() -> None:
    old = {"decision": "no rewrite", "rationale": "costs too much"}
    damaged = rationale("a", created_at="then", last_confirmed_at="?")
    state = stored()["continuity"] | {"negative_decisions": [old], "rationale_entries": [damaged]}
    capsule = loaded(_kept(continuity=state)).capsule
    at = stored()["updated_at"]
    (decision,), (entry,) = (
        capsule["continuity"][name] for name in ("negative_decisions", "rationale_entries")
    )
    assert (decision["created_at"], decision["updated_at"]) == (at, at)
    assert (entry["created_at"], entry["updated_at"], "last_confirmed_at" in entry) == (at, at, False)
    later_on = upsert(body(updated_at=later(9)), merge_mode="preserve")
    merged = upserted(capsule, later_on).capsule["continuity"]
    assert merged["negative_decisions"] == [decision]


BROKEN_BOUNDS: dict[str, dict[str, Any]] = {
    "a long item": {"continuity": {"negative_decisions": [{"decision": "d" * 161, "rationale": "r" * 999}]}},
    "a long list": {"continuity": {"top_priorities": [f"p{n}" for n in range(30)]}},
    "a long stance": {"continuity": {"stance_summary": "s" * 5000}},
    "a path outside": {"canonical_sources": ["memory/../x", "docs/a.md"]},
    "too sure": {"confidence": {"continuity": 1.5, "relationship_model": 0.5}},
    "much metadata": {"metadata": {f"k{n}": [n] for n in range(20)}},
    "an empty producer": {"source": {"producer": "", "update_reason": "manual"}},
    "a preference of a thread": {"stable_preferences": [{"tag": "", "content": "c" * 500}]},
    "a boundary of none": {"metadata": {"interaction_boundary_kind": "x"}},
    "a tag twice": {"continuity": {"rationale_entries": [rationale("a"), rationale("a")]}},
    "an offset": {"updated_at": "2026-05-13T12:00:00+02:00"},
    "an entry's unknown field": {"continuity": {"negative_decisions": [
        {"decision": "d", "rationale": "r", "by": "me"}]}},
    "a capsule of its size": {"continuity": {"trailing_notes": ["n" * 25_000]}},
}  # fmt: skip


@every_row("broken", BROKEN_BOUNDS.values(), ids=BROKEN_BOUNDS)
def test_a_stored_capsule_that_breaks_a_bound_of_writing_is_read_whole(broken: dict[str, Any]) -> None:
    more = {k: (stored()[k] | v if k == "continuity" else v) for k, v in broken.items()}
    capsule = loaded(_kept(**more)).capsule
    for name, value in broken.items():
        for part, kept in (value if name == "continuity" else {"": value}).items():
            shown = capsule[name][part] if part else capsule[name]
            if isinstance(kept, list) and isinstance(kept[0], dict):
                known = [{k: v for k, v in each.items() if k != "by"} for each in kept]
                assert [{k: each[k] for k in k2} for each, k2 in zip(shown, known, strict=True)] == known
            elif name == "source":
                assert shown["producer"] == ""
            else:
                assert shown == kept


@pytest.mark.parametrize(
    "wrong",
    [
        {"continuity": {"top_priorities": "one"}},
        {"continuity": {"negative_decisions": [{"decision": "d"}]}},
        {"continuity": {"stance_summary": "a\0b"}},
        {"subject_kind": "planet"},
        {"confidence": {"continuity": "sure", "relationship_model": 1}},
        {"continuity": {"trailing_notes": ["n" * 300_000]}},
    ],
)
def test_a_stored_value_of_another_kind_is_none(wrong: dict[str, Any]) -> None:
    more = {k: (stored()[k] | v if k == "continuity" else v) for k, v in wrong.items()}
    with pytest.raises(Malformed) as refused:
        loaded(_kept(**more))
    assert refused.value.code == "STORED_CAPSULE_INVALID"


def test_reading_and_writing_have_the_same_shape() -> None:
    assert loaded(json.dumps(stored()).encode()).capsule == stored()


def test_times_that_are_lost_become_the_epoch() -> None:
    capsule = loaded(_kept(updated_at="?", verified_at=None)).capsule
    assert capsule["updated_at"] == capsule["verified_at"] == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize("name", ["source", "confidence", "continuity", "subject_id"])
def test_a_capsule_without_a_required_field_is_not_migrated(name: str) -> None:
    kept = stored()
    del kept[name]
    with pytest.raises(Malformed) as refused:
        loaded(json.dumps(kept).encode())
    assert refused.value.code == "STORED_CAPSULE_INVALID"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"null", b'{"continuity":{}}'])
def test_a_damaged_document_is_an_error_with_a_code(content: bytes) -> None:
    with pytest.raises(LaminaError) as refused:
        loaded(content)
    assert refused.value.code == "STORED_CAPSULE_INVALID"


@pytest.mark.parametrize(
    ("documents", "warning"),
    [
        ([DOCUMENT | {"text": "x"}], "related_documents_omitted_non_metadata"),
        ("x", "related_documents_omitted_invalid"),
    ],
)
def test_wrong_documents_of_a_stored_capsule_are_left_out(documents: Any, warning: str) -> None:
    found = loaded(_kept(continuity=stored()["continuity"] | {"related_documents": documents}))
    assert "related_documents" not in found.capsule["continuity"]
    assert found.warnings == (warning,)
