"""The rows of the table of bounds: what a row is, and every one of them, in the order of the help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["GROUPS", "Bound", "all_rows"]

GROUPS: Final[Mapping[str, str]] = {
    "continuity_orientation": "Continuity orientation",
    "session_end_snapshot": "Session-end snapshot",
    "patch_targets": "Patch targets",
    "retrieval_budget": "Retrieval budget",
    "response_orientation_caps": "Response orientation caps",
    "capsule_write_cap": "Capsule write cap",
    "continuity_payload": "Continuity payload",
    "continuity_operations": "Continuity operations",
}
"""Group ids in the order of the help, with their titles. The last one is beside the contract's list."""

_UPSERT = ("POST /v1/continuity/upsert", "continuity.upsert")
_PATCH = ("POST /v1/continuity/patch", "continuity.patch")
_READ = ("POST /v1/continuity/read", "continuity.read")
_RETRIEVE = ("POST /v1/context/retrieve", "context.retrieve")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One row. ``place`` is where a request of ``applies_to`` holds the value, empty where the server makes it.

    ``parts`` bounds the text fields of an object or of each object of a list, by name; ``name[]`` is each item of a
    list inside, ``name.items`` how many it may have. ``minimum`` is the least number, length or count.
    """

    path: str
    group: str
    value_type: str
    applies_to: tuple[str, str]
    place: str = ""
    max_items: int | None = None
    max_length: int | None = None
    each_max: int | None = None
    parts: Mapping[str, int] = field(default_factory=dict)
    minimum: float | None = None
    maximum: float | None = None
    allowed: tuple[str, ...] = ()

    @property
    def guidance(self) -> str:
        """What to do about a value that does not fit."""
        advice = []
        if self.max_items is not None:
            advice.append(f"keep at most {self.max_items} items")
        if self.each_max is not None:
            advice.append(f"shorten each item to {self.each_max} characters")
        if self.max_length is not None:
            unit = "bytes" if self.value_type == "serialized_bytes" else "characters"
            advice.append(f"shorten it to {self.max_length} {unit}")
        if self.maximum is not None:
            advice.append(f"stay between {self.minimum or 0:g} and {self.maximum:g}")
        advice += [f"{_part_words(name)} at most {most}" for name, most in self.parts.items()]
        if self.allowed:
            advice.append(f"use one of {', '.join(self.allowed)}")
        text = "; ".join(advice) or "send a value of this type"
        return f"{text[0].upper()}{text[1:]}."


def _part_words(name: str) -> str:
    if name.endswith(".items"):
        return f"items of {name.removesuffix('.items')}:"
    return f"characters of {name}:"


_NEGATIVE = {"decision": 160, "rationale": 240}
_RATIONALE = {
    "tag": 80,
    "summary": 320,
    "reasoning": 560,
    "alternatives_considered.items": 3,
    "alternatives_considered[]": 160,
    "depends_on.items": 3,
    "depends_on[]": 120,
    "supersedes": 80,
}
_PREFERENCE = {"tag": 80, "content": 240}
_ANCHOR = {"kind": 40, "value": 200}
_RELATED = {"path": 240, "kind": 32, "label": 120, "relevance": 32}
_SIGNAL = {"source_ref": 200, "summary": 240}

_KINDS = ("user", "peer", "thread", "task")
_SIGNALS = ("self_review", "external_observation", "user_confirmation", "peer_confirmation", "system_check")
_TRANSITIONS = ("suspend", "resume", "conclude", "supersede")

_LISTS: Mapping[str, tuple[int, int]] = {
    "top_priorities": (8, 160),
    "open_loops": (8, 160),
    "active_constraints": (8, 160),
    "active_concerns": (5, 160),
    "drift_signals": (5, 160),
    "working_hypotheses": (5, 160),
    "long_horizon_commitments": (5, 160),
    "session_trajectory": (5, 80),
    "trailing_notes": (3, 160),
    "curiosity_queue": (5, 120),
}
"""The lists of text in the continuity state: how many items, how many characters each."""

_OBJECTS: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "negative_decisions": (4, _NEGATIVE),
    "rationale_entries": (6, _RATIONALE),
    "related_documents": (8, _RELATED),
}


def _state(name: str, group: str, base: str, place: str, applies_to: tuple[str, str] = _UPSERT) -> Bound:
    """The row of a field of the continuity state, wherever it is sent."""
    where: dict[str, Any] = {
        "path": base + name,
        "group": group,
        "applies_to": applies_to,
        "place": place + name,
    }
    if name == "stance_summary":
        return Bound(**where, value_type="string", max_length=240)
    if name in _OBJECTS:
        items, parts = _OBJECTS[name]
        return Bound(**where, value_type="object_list", max_items=items, parts=parts)
    items, each = _LISTS[name]
    return Bound(**where, value_type="string_list", max_items=items, each_max=each)


def _orientation() -> list[Bound]:
    names = (
        "top_priorities open_loops active_constraints session_trajectory negative_decisions rationale_entries"
    )
    every = [*names.split(), "related_documents", "stance_summary"]
    return [_state(name, "continuity_orientation", "continuity.", "capsule.continuity.") for name in every]


def _snapshot() -> list[Bound]:
    names = (
        "open_loops top_priorities active_constraints stance_summary negative_decisions session_trajectory"
    )
    every = [*names.split(), "rationale_entries"]
    base = "session_end_snapshot."
    return [_state(name, "session_end_snapshot", base, base) for name in every]


_IN_STATE = (
    "open_loops",
    "top_priorities",
    "active_constraints",
    "active_concerns",
    "drift_signals",
    "working_hypotheses",
    "long_horizon_commitments",
    "session_trajectory",
    "trailing_notes",
    "curiosity_queue",
    "negative_decisions",
    "rationale_entries",
)


def _patch() -> list[Bound]:
    group, base = "patch_targets", "patch.target."
    rows = [
        Bound(
            path="patch.operations",
            group=group,
            value_type="operation_list",
            applies_to=_PATCH,
            place="operations",
            max_items=10,
            minimum=1,
        )
    ]
    rows += [
        _state(name, group, f"{base}continuity.", "operations.continuity.", _PATCH) for name in _IN_STATE
    ]
    more: dict[str, Any] = {"group": group, "applies_to": _PATCH}
    lists, objects = {"value_type": "string_list"} | more, {"value_type": "object_list"} | more
    return [
        *rows,
        Bound(**objects, path=f"{base}stable_preferences", place="operations.stable_preferences",
              max_items=12, parts=_PREFERENCE),
        Bound(**lists, path=f"{base}thread_descriptor.keywords", place="operations.thread_descriptor.keywords",
              max_items=6, each_max=40),
        Bound(**lists, path=f"{base}thread_descriptor.scope_anchors",
              place="operations.thread_descriptor.scope_anchors", max_items=4),
        Bound(**objects, path=f"{base}thread_descriptor.identity_anchors",
              place="operations.thread_descriptor.identity_anchors", max_items=4, parts=_ANCHOR),
    ]  # fmt: skip


def _budget() -> list[Bound]:
    more: dict[str, Any] = {
        "group": "retrieval_budget",
        "value_type": "integer_budget",
        "applies_to": _RETRIEVE,
    }
    return [
        Bound(**more, path="context.retrieve.max_tokens_estimate", place="max_tokens_estimate",
              minimum=256, maximum=100_000),
        Bound(**more, path="context.retrieve.continuity_max_capsules", place="continuity_max_capsules",
              minimum=1, maximum=4),
    ]  # fmt: skip


def _caps() -> list[Bound]:
    graph = {"nodes": 24, "edges": 32, "related_documents": 8, "blockers": 8}
    summary = {"nodes": 12, "edges": 16, "related_documents": 4, "blockers": 4}
    more: dict[str, Any] = {"group": "response_orientation_caps", "value_type": "response_cap"}
    rows = [
        Bound(**more, path=f"context.retrieve.graph_context.{name}", applies_to=_RETRIEVE, max_items=most)
        for name, most in graph.items()
    ]
    rows += [
        Bound(**more, path=f"continuity.read.startup.graph_summary.{name}", applies_to=_READ, max_items=most)
        for name, most in summary.items()
    ]
    return rows


def _cap() -> list[Bound]:
    return [
        Bound(
            path="continuity.capsule_serialized_utf8",
            group="capsule_write_cap",
            value_type="serialized_bytes",
            applies_to=_UPSERT,
            place="capsule",
            max_length=20_480,
        )
    ]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of one group and request: what they share is said once."""

    group: str
    base: str
    place: str
    applies_to: tuple[str, str]

    def _row(self, name: str, value_type: str, **more: Any) -> Bound:
        return Bound(
            path=self.base + name,
            group=self.group,
            value_type=value_type,
            applies_to=self.applies_to,
            place=self.place + name,
            **more,
        )

    def text(self, name: str, most: int, least: int | None = None) -> Bound:
        return self._row(name, "string", max_length=most, minimum=least)

    def texts(self, name: str, items: int, each: int | None = None, least: int | None = None) -> Bound:
        return self._row(name, "string_list", max_items=items, each_max=each, minimum=least)

    def objects(self, name: str, items: int, parts: Mapping[str, int], least: int | None = None) -> Bound:
        return self._row(name, "object_list", max_items=items, parts=parts, minimum=least)

    def choice(self, name: str, allowed: Sequence[str]) -> Bound:
        return self._row(name, "enum", allowed=tuple(allowed))

    def number(self, name: str, low: float, high: float) -> Bound:
        return self._row(name, "number", minimum=low, maximum=high)

    def moment(self, name: str) -> Bound:
        return self._row(name, "string")

    def record(self, name: str, items: int) -> Bound:
        return self._row(name, "object", max_items=items)


_PAYLOAD = "continuity_payload"


def _retrieval_payload() -> list[Bound]:
    asked = _Rows(_PAYLOAD, "context.retrieve.", "", _RETRIEVE)
    return [
        asked.choice("continuity_mode", ("auto", "required", "off")),
        asked.choice("continuity_resilience_policy", ("allow_fallback", "prefer_active", "require_active")),
        asked.objects("continuity_selectors", 4, {"subject_id": 200}),
        asked.text("continuity_selectors.subject_id", 200, 1),
        asked.choice("continuity_selectors.subject_kind", _KINDS),
        asked.choice(
            "continuity_verification_policy", ("allow_degraded", "prefer_healthy", "require_healthy")
        ),
        asked.number("limit", 1, 100),
        asked.text("subject_id", 200, 1),
        asked.choice("subject_kind", _KINDS),
        asked.number("time_window_days", 1, 3650),
    ]


def _capsule_payload() -> list[Bound]:
    own = _Rows(_PAYLOAD, "continuity.", "capsule.", _UPSERT)
    inner = _Rows(_PAYLOAD, "continuity.", "capsule.continuity.", _UPSERT)
    reasons = ("startup_refresh", "pre_compaction", "interaction_boundary", "manual", "migration")
    return [
        inner.texts("active_concerns", *_LISTS["active_concerns"]),
        own.texts("attention_policy.early_load", 8),
        own.texts("attention_policy.presence_bias_overrides", 5, 160),
        own.texts("canonical_sources", 8),
        own.number("confidence.continuity", 0, 1),
        own.number("confidence.relationship_model", 0, 1),
        inner.texts("curiosity_queue", *_LISTS["curiosity_queue"]),
        inner.texts("drift_signals", *_LISTS["drift_signals"]),
        own.moment("freshness.expires_at"),
        own.choice("freshness.freshness_class", ("persistent", "durable", "situational", "ephemeral")),
        own.number("freshness.stale_after_seconds", 300, 31_536_000),
        inner.texts("long_horizon_commitments", *_LISTS["long_horizon_commitments"]),
        own.record("metadata", 12),
        *_patch_payload(),
        inner.texts("relationship_model.preferred_style", 5, 80),
        inner.texts("relationship_model.sensitivity_notes", 5, 120),
        inner.choice("relationship_model.trust_level", ("low", "guarded", "normal", "high")),
        inner.texts("retrieval_hints.avoid", 8, 160),
        inner.texts("retrieval_hints.load_next", 8),
        inner.texts("retrieval_hints.must_include", 8, 160),
        own.choice("schema_version", ("1.0", "1.1")),
        own.texts("source.inputs", 12, 200),
        own.text("source.producer", 100, 1),
        own.choice("source.update_reason", reasons),
        own.objects("stable_preferences", 12, _PREFERENCE),
        own.text("subject_id", 200, 1),
        own.choice("subject_kind", _KINDS),
        own.objects("thread_descriptor.identity_anchors", 4, _ANCHOR),
        own.texts("thread_descriptor.keywords", 6, 40),
        own.text("thread_descriptor.label", 120, 1),
        own.texts("thread_descriptor.scope_anchors", 4),
        inner.texts("trailing_notes", *_LISTS["trailing_notes"]),
        own.moment("updated_at"),
        *_upsert_payload(),
        own.choice("verification_kind", _SIGNALS),
        own.moment("verified_at"),
        inner.texts("working_hypotheses", *_LISTS["working_hypotheses"]),
    ]


def _patch_payload() -> list[Bound]:
    asked = _Rows(_PAYLOAD, "continuity.patch.", "", _PATCH)
    return [
        asked.text("commit_message", 240),
        asked.text("subject_id", 200, 1),
        asked.choice("subject_kind", _KINDS),
        asked.moment("updated_at"),
    ]


def _upsert_payload() -> list[Bound]:
    asked = _Rows(_PAYLOAD, "continuity.upsert.", "", _UPSERT)
    return [
        asked.text("commit_message", 240),
        asked.text("idempotency_key", 200),
        asked.choice("lifecycle_transition", _TRANSITIONS),
        asked.choice("merge_mode", ("replace", "preserve")),
        asked.text("subject_id", 200, 1),
        asked.choice("subject_kind", _KINDS),
        asked.text("superseded_by", 200),
    ]


def _rows(operation: str, prefix: str = "") -> _Rows:
    route = f"POST /v1/continuity/{operation}"
    name = f"continuity.{operation.replace('/', '_').replace('-', '_')}"
    return _Rows("continuity_operations", f"{name}.{prefix}", prefix, (route, name))


def _operations() -> list[Bound]:
    upsert, revalidate, compare = _rows("upsert", "capsule."), _rows("revalidate"), _rows("compare")
    lifecycle, listing = _rows("lifecycle"), _rows("list")
    statuses = (
        "unverified",
        "self_attested",
        "externally_supported",
        "user_confirmed",
        "peer_confirmed",
        "system_confirmed",
        "conflicted",
    )
    return [
        upsert.choice("verification_state.status", statuses),
        upsert.texts("verification_state.evidence_refs", 4, 200),
        upsert.text("verification_state.conflict_summary", 240),
        upsert.choice("capsule_health.status", ("healthy", "degraded", "conflicted")),
        upsert.texts("capsule_health.reasons", 5, 120),
        upsert.choice("thread_descriptor.lifecycle", ("active", "suspended", "concluded", "superseded")),
        upsert.text("thread_descriptor.superseded_by", 200),
        _rows("upsert").text("expected_sha256", 64, 64),
        _rows("patch").text("expected_sha256", 64, 64),
        lifecycle.choice("transition", _TRANSITIONS),
        lifecycle.text("superseded_by", 200),
        lifecycle.text("commit_message", 240),
        compare.objects("signals", 8, _SIGNAL, 1),
        revalidate.objects("signals", 8, _SIGNAL, 1),
        revalidate.choice("outcome", ("confirm", "correct", "degrade", "conflict")),
        revalidate.text("reason", 120, 1),
        listing.number("limit", 1, 200),
        listing.text("scope_anchor", 200),
        listing.text("keyword", 40),
        listing.text("label_exact", 120),
        listing.text("anchor_kind", 40),
        listing.text("anchor_value", 200),
        _rows("archive").text("reason", 240, 3),
        _rows("delete").text("reason", 240, 3),
        _rows("refresh/plan").number("limit", 1, 100),
        _rows("retention/plan").number("limit", 1, 100),
        _rows("retention/apply").texts("source_archive_paths", 100, 400, 1),
        _rows("cold-store").text("source_archive_path", 400, 1),
        _rows("cold-rehydrate").text("source_archive_path", 400, 1),
        _rows("cold-rehydrate").text("cold_stub_path", 400, 1),
    ]


def all_rows() -> list[Bound]:
    """Every row, those of the help first."""
    return [
        *_orientation(),
        *_snapshot(),
        *_patch(),
        *_budget(),
        *_caps(),
        *_cap(),
        *_retrieval_payload(),
        *_capsule_payload(),
        *_operations(),
    ]
