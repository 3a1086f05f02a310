"""A field that no capsule has is dropped, as the contract wants it, and the answer says which."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capsules import body, later, rationale, signal
from lamina import limits
from lamina.continuity.capsule import requests
from lamina.continuity.capsule.unknown import Noting, drop_warnings, unknown_fields
from shelves import Continuity

ABOUT = {"subject_kind": "thread", "subject_id": "launch"}
PATH = "memory/continuity/thread-launch.json"


def _upserted(capsule: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    warnings: list[dict[str, Any]] = Continuity()("upsert", **ABOUT, capsule=capsule, **more)["warnings"]
    return warnings


def _named(warnings: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(warning["field"], warning["nearest"]) for warning in warnings]


def test_a_mistyped_list_is_named_with_the_one_that_was_meant() -> None:
    (warning,) = _upserted(body(continuity={"topp_priorities": ["ship"]}))
    assert warning == {
        "code": "unknown_field_dropped",
        "detail": "capsule.continuity.topp_priorities is no known field and was not stored; "
        "the nearest is capsule.continuity.top_priorities",
        "path": PATH,
        "segment_id": None,
        "field": "capsule.continuity.topp_priorities",
        "nearest": "capsule.continuity.top_priorities",
    }


def test_a_capsule_of_known_fields_warns_of_nothing() -> None:
    assert _upserted(body(metadata={"anything": 1})) == []


@pytest.mark.parametrize(
    ("capsule", "field", "nearest"),
    [
        ({"freshnes": {}}, "capsule.freshnes", "capsule.freshness"),
        ({"open_loops": ["a"]}, "capsule.open_loops", "capsule.continuity.open_loops"),
        ({"continuity": {"metadata": {}}}, "capsule.continuity.metadata", "capsule.metadata"),
        ({"continuity": {"xyzzy": 1}}, "capsule.continuity.xyzzy", None),
        (
            {"thread_descriptor": {"label": "L", "keyword": ["a"]}},
            "capsule.thread_descriptor.keyword",
            "capsule.thread_descriptor.keywords",
        ),
        (
            {
                "thread_descriptor": {
                    "label": "L",
                    "identity_anchors": [
                        {"kind": "a", "value": "b"},
                        {"kind": "c", "value": "d", "vlaue": "e"},
                    ],
                }
            },
            "capsule.thread_descriptor.identity_anchors[1].vlaue",
            "capsule.thread_descriptor.identity_anchors[].value",
        ),
    ],
)
def test_a_field_is_named_wherever_it_stands(capsule: Any, field: str, nearest: str | None) -> None:
    assert _named(_upserted(body(**capsule))) == [(field, nearest)]


def test_what_a_request_has_beside_the_capsule_is_named_too() -> None:
    snapshot = {"open_loops": [], "top_priorities": [], "active_constraints": [], "stance_summary": "s"}
    warnings = _upserted(body(), merge_mod="preserve", session_end_snapshot=snapshot | {"trailing_notes": []})
    assert _named(warnings) == [
        ("merge_mod", "merge_mode"),
        ("session_end_snapshot.trailing_notes", "capsule.continuity.trailing_notes"),
    ]


def test_every_write_of_a_capsule_names_them() -> None:
    run = Continuity()
    descriptor = {"thread_descriptor": {"label": "L"}}
    run("upsert", **ABOUT, capsule=body(**descriptor))
    patched = run(
        "patch",
        **ABOUT,
        updated_at=later(1),
        commit_mesage="m",
        operations=[{"target": "continuity.open_loops", "action": "append", "value": "v", "note": "n"}],
    )
    moved = run("lifecycle", **ABOUT, updated_at=later(2), transition="suspend", comment="c")
    candidate = body(
        updated_at=later(3), continuity={"open_lops": ["new"], "open_loops": ["n"]}, **descriptor
    )
    corrected = run("revalidate", **ABOUT, outcome="correct", signals=[signal()], candidate_capsule=candidate)
    assert _named(patched["warnings"]) == [("commit_mesage", "commit_message"), ("operations[0].note", None)]
    assert _named(moved["warnings"]) == [("comment", None)]
    assert _named(corrected["warnings"]) == [
        ("candidate_capsule.continuity.open_lops", "candidate_capsule.continuity.open_loops")
    ]


def test_a_write_that_changes_nothing_names_them_again() -> None:
    run = Continuity()
    first, second = (run("upsert", **ABOUT, capsule=body(notes=[])) for _ in range(2))
    assert not second["updated"]
    assert first["warnings"] == second["warnings"] != []


def test_names_are_bounded_in_number_and_length_and_values_are_never_told() -> None:
    sent = body(**{f"field{number}": "secret" for number in range(1000)})
    sent["\x1b[31m" + "x" * 100_000] = {"deep": "secret"}
    warnings = _upserted(sent)
    *named, rest = warnings
    assert len(named) == limits.UNKNOWN_FIELDS_NAMED_MAX
    assert (rest["code"], rest["count"]) == ("unknown_fields_dropped", 1001 - len(named))
    assert "secret" not in json.dumps(warnings)
    (warning,) = _upserted(body(**{"\x1b[31m" + "x" * 100_000: "secret"}))
    assert len(warning["field"]) <= limits.UNKNOWN_FIELD_LENGTH_MAX
    assert warning["field"].startswith("capsule.?[31mxxx")
    assert "x" * 200 not in json.dumps(warning)


def test_it_is_the_same_from_json() -> None:
    sent = json.dumps(ABOUT | {"capsule": body(continuity={"open_lops": []})}).encode()
    request = requests.Upsert.model_validate_json(sent)
    assert [each.field for each in unknown_fields(request)] == ["capsule.continuity.open_lops"]


def test_a_structured_entry_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ValueError, match="sumary"):
        _upserted(body(continuity={"rationale_entries": [rationale(sumary="s")]}))


def test_what_is_noted_changes_nothing_of_the_request() -> None:
    request = requests.Upsert.model_validate(ABOUT | {"capsule": body(notes=["a"])})
    assert isinstance(request.capsule, Noting)
    assert "notes" not in request.model_dump()["capsule"]
    assert "notes" not in request.capsule.model_fields_set
    assert drop_warnings(request, PATH)[0]["field"] == "capsule.notes"
