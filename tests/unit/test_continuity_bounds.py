"""Every row of the bounds: the value at the bound passes, one past it does not."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from pydantic import ValidationError

from capsules import body, later, rationale, signal, stored, upsert
from lamina.continuity.capsule import requests
from lamina.continuity.capsule.bounds import BOUNDS, GROUPS, PATCH_TARGETS, Bound, help_row
from lamina.continuity.capsule.requests import PatchTarget
from lamina.continuity.capsule.shape import Capsule, plain
from lamina.continuity.capsule.validate import check_capsule
from lamina.continuity.changes.deciding import patched_capsule, upserted
from lamina.errors import LaminaError
from tables import every_row

_ELSEWHERE = ("context.retrieve", "continuity.read.startup")
"""Bounds of what is not asked here: the retrieval's own, and the caps of the graph."""

_DESCRIPTOR = {"label": "Launch", "keywords": [], "scope_anchors": [], "identity_anchors": []}
_ENTRY: dict[str, dict[str, Any]] = {
    "negative_decisions": {"decision": "d", "rationale": "r"},
    "rationale_entries": rationale(),
    "stable_preferences": {"tag": "t", "content": "c"},
    "identity_anchors": {"kind": "k", "value": "v"},
    "related_documents": {"path": "docs/x.md", "kind": "doc", "label": "l"},
    "signals": signal(),
}
_IDENTITY = {
    "negative_decisions": "decision",
    "rationale_entries": "tag",
    "stable_preferences": "tag",
    "identity_anchors": "value",
    "related_documents": "path",
    "signals": "source_ref",
}
_OPERATIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "continuity.compare": (requests.Compare, {"candidate_capsule": body(), "signals": [signal()]}),
    "continuity.revalidate": (requests.Revalidate, {"outcome": "confirm", "signals": [signal()]}),
    "continuity.list": (requests.ListCapsules, {"anchor_kind": "k"}),
    "continuity.archive": (requests.Archive, {"reason": "old"}),
    "continuity.delete": (requests.Delete, {"reason": "old", "delete_active": True}),
    "continuity.lifecycle": (requests.Lifecycle, {"transition": "conclude", "updated_at": later()}),
    "continuity.refresh_plan": (requests.PlanRefresh, {}),
    "continuity.retention_plan": (requests.PlanRetention, {}),
    "continuity.retention_apply": (requests.RetentionApply, {}),
    "continuity.cold_store": (requests.ColdStore, {}),
    "continuity.cold_rehydrate": (requests.ColdRehydrate, {}),
    "continuity.patch": (
        requests.Patch,
        {
            "updated_at": later(),
            "operations": [{"target": "continuity.open_loops", "action": "remove", "match": "a"}],
        },
    ),
}


def _cases() -> Iterator[Any]:
    for row in BOUNDS.values():
        if row.path.startswith(_ELSEWHERE) or row.value_type == "serialized_bytes":
            continue
        for name, fits, breaks in _pairs(row):
            yield pytest.param(row, fits, breaks, id=f"{row.path}:{name}")


def _pairs(row: Bound) -> Iterator[tuple[str, Any, Any]]:
    name = row.place.rpartition(".")[2]
    if row.value_type == "operation_list":
        yield "items", _patches(10), _patches(11)
        yield "least", _patches(1), []
        return
    if row.value_type == "object":
        yield "items", {f"k{n}": n for n in range(12)}, {f"k{n}": n for n in range(13)}
        return
    if row.max_items is not None:
        yield "items", _list(row, name, row.max_items), _list(row, name, row.max_items + 1)
    if row.each_max is not None:
        yield "each", ["x" * row.each_max], ["x" * (row.each_max + 1)]
    if row.max_length is not None:
        yield "length", "x" * row.max_length, "x" * (row.max_length + 1)
    if row.minimum is not None and row.max_length is not None:
        yield "least", "x" * int(row.minimum), "x" * (int(row.minimum) - 1)
    if row.maximum is not None and row.minimum is not None:
        yield "most", row.maximum, row.maximum + 1
        yield "least", row.minimum, row.minimum - 1
    for part, most in row.parts.items():
        if part != "relevance":
            yield part, _with_part(name, part, most), _with_part(name, part, most + 1)
    for word in row.allowed:
        yield word, word, "other"
    if name.endswith("_at"):
        yield "utc", later(5), "2026-05-13T11:00:00+02:00"


def _patches(count: int) -> list[dict[str, Any]]:
    return [
        {"target": "continuity.open_loops", "action": "remove", "match": f"loop {n}"} for n in range(count)
    ]


def _list(row: Bound, name: str, count: int) -> list[Any]:
    if row.value_type == "object_list":
        return [_ENTRY[name] | {_IDENTITY[name]: f"e{n}"} for n in range(count)]
    prefix = {"canonical_sources": "memory/", "load_next": "memory/", "scope_anchors": "thread:"}.get(
        name, ""
    )
    return [f"{prefix}x{n}" for n in range(count)]


def _with_part(name: str, part: str, most: int) -> list[dict[str, Any]]:
    entry = deepcopy(_ENTRY[name])
    plain_name = part.removesuffix("[]").removesuffix(".items")
    if part == "supersedes":
        old = rationale("o" * min(most, 80), status="superseded")
        return [old, entry | {"supersedes": "o" * most}]
    if part.endswith(".items"):
        return [entry | {plain_name: [f"x{n}" for n in range(most)]}]
    return [entry | {plain_name: ["x" * most] if part.endswith("[]") else "x" * most}]


@every_row(("row", "fits", "breaks"), list(_cases()))
def test_the_bound_passes_and_one_more_does_not(row: Bound, fits: Any, breaks: Any) -> None:
    _ask(row, fits)
    with pytest.raises((ValidationError, LaminaError)):
        _ask(row, breaks)


def _ask(row: Bound, value: Any) -> None:
    operation = row.applies_to[1]
    if row.path in {f"patch.target.{target}" for target in PATCH_TARGETS}:
        _ask_patch(row, value)
    elif operation == "continuity.upsert":
        _ask_upsert(row, value)
    else:
        model, base = _OPERATIONS[operation]
        about = {"subject_kind": "thread", "subject_id": "launch"}
        place = row.place
        sent = model.model_validate(about | base | {place: value} if place else {})
        if place == "updated_at":
            patched_capsule(stored(continuity={"open_loops": ["a"]}), sent)


def _ask_upsert(row: Bound, value: Any) -> None:
    preferences = "stable_preferences" in row.place
    capsule = body("user" if preferences else "thread")
    if "thread_descriptor" in row.place:
        capsule["thread_descriptor"] = deepcopy(_DESCRIPTOR)
    judged = {
        "verification_state": {
            "status": "unverified",
            "last_revalidated_at": later(),
            "strongest_signal": "self_review",
        },
        "capsule_health": {"status": "healthy", "last_checked_at": later()},
    }
    if row.path.startswith("continuity.upsert.capsule."):
        capsule |= judged
        capsule["verification_state"]["conflict_summary"] = "c"
        capsule["capsule_health"]["reasons"] = ["r"]
    if value == "interaction_boundary":
        capsule["metadata"] = {"interaction_boundary_kind": "task_switch"}
    sent: dict[str, Any] = {"capsule": capsule}
    if row.place.startswith("session_end_snapshot."):
        wanted = ("open_loops", "top_priorities", "active_constraints", "stance_summary")
        sent["session_end_snapshot"] = {name: capsule["continuity"][name] for name in wanted}
    if row.place == "lifecycle_transition" or row.place == "superseded_by":
        if row.place == "superseded_by":
            sent["lifecycle_transition"] = "supersede"
        elif value == "supersede":
            sent["superseded_by"] = "next"
    _put(sent, row.place, value)
    if row.place in ("capsule.subject_id", "capsule.subject_kind"):
        _put(sent, row.place.removeprefix("capsule."), value)
    if row.place in ("subject_id", "subject_kind"):
        _put(sent, f"capsule.{row.place}", value)
    request = upsert(sent["capsule"], **{name: item for name, item in sent.items() if name != "capsule"})
    check_capsule(plain(Capsule.model_validate(sent["capsule"])))
    before = _standing(sent) if "lifecycle_transition" in sent else None
    if before is None:
        upserted(None, request)


def _standing(sent: dict[str, Any]) -> Any:
    capsule = sent["capsule"]
    lifecycle = "suspended" if sent["lifecycle_transition"] == "resume" else "active"
    standing = stored(thread_descriptor=_DESCRIPTOR)
    standing["thread_descriptor"]["lifecycle"] = lifecycle
    changed = capsule | {"updated_at": later(), "thread_descriptor": _DESCRIPTOR}
    more = {name: item for name, item in sent.items() if name != "capsule"}
    return upserted(standing, upsert(changed, **more))


def _ask_patch(row: Bound, value: list[Any]) -> None:
    target = row.path.removeprefix("patch.target.")
    kind = "user" if target == "stable_preferences" else "thread"
    more: dict[str, Any] = {} if kind == "user" else {"thread_descriptor": _DESCRIPTOR}
    capsule = stored(kind=kind, **more)
    holder, _, name = target.rpartition(".")
    (capsule[holder] if holder else capsule)[name] = []
    for place, item in enumerate(value):
        operation = {"target": target, "action": "append", "value": item}
        sent = {
            "subject_kind": kind,
            "subject_id": "launch",
            "updated_at": later(place + 1),
            "operations": [operation],
        }
        capsule = patched_capsule(capsule, requests.Patch.model_validate(sent)).capsule


def _put(sent: dict[str, Any], place: str, value: Any) -> None:
    *parents, name = place.split(".")
    holder = sent
    for parent in parents:
        holder = holder.setdefault(parent, {})
    holder[name] = value


def test_a_capsule_of_the_cap_is_kept_and_a_byte_more_is_not() -> None:
    cap = BOUNDS["continuity.capsule_serialized_utf8"].max_length
    assert cap == 20_480
    room = cap - len(upserted(None, upsert(body(metadata={"pad": ""}))).content)
    at_cap = upserted(None, upsert(body(metadata={"pad": "x" * room})))
    assert len(at_cap.content) == cap
    with pytest.raises(LaminaError) as refused:
        upserted(None, upsert(body(metadata={"pad": "x" * (room + 1)})))
    assert refused.value.code == "CAPSULE_TOO_LARGE"


def test_the_groups_of_the_help_have_their_paths() -> None:
    counts = {group: sum(row.group == group for row in BOUNDS.values()) for group in GROUPS}
    counts.pop("continuity_operations")
    assert counts == {
        "continuity_orientation": 8,
        "session_end_snapshot": 7,
        "patch_targets": 17,
        "retrieval_budget": 2,
        "response_orientation_caps": 8,
        "capsule_write_cap": 1,
        "continuity_payload": 56,
    }


def test_the_targets_of_a_patch_are_those_of_the_table() -> None:
    assert set(PatchTarget.__args__) == set(PATCH_TARGETS)  # type: ignore[attr-defined] # a Literal has its words there


def test_a_row_of_the_help_has_the_keys_of_the_contract() -> None:
    keys = (
        "field_path category value_type max_items max_length per_item_max_length subfield_limits applies_to"
        " correction_guidance reference"
    )
    assert list(help_row(BOUNDS["continuity.open_loops"])) == keys.split()
    assert help_row(BOUNDS["continuity.open_loops"])["correction_guidance"] == (
        "Keep at most 8 items; shorten each item to 160 characters."
    )
