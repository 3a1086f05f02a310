"""What differs between two capsules, and what signals say of a candidate against the capsule that stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lamina.continuity.capsule.fields import fields_of
from lamina.continuity.capsule.moments import check_moment
from lamina.continuity.capsule.shape import Capsule, CapsuleObject, Signal, plain
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.capsule.validate import check_capsule
from lamina.continuity.changes.entry_times import without_times
from lamina.continuity.changes.normalise import with_tidy_descriptor
from lamina.continuity.judgements.salience import VERIFICATION_RANK
from lamina.errors import Malformed

__all__ = [
    "Comparison",
    "candidate_of",
    "changed_fields",
    "compared",
    "field_value",
    "strongest",
    "uncompared_fields",
]

_UNCOMPARED: Final = frozenset(
    ["verified_at", "verification_kind", "verification_state", "capsule_health", "stable_preferences"]
)
"""What is judged of the words, and preferences, which the contract leaves out."""

_FIRST: Final = ("subject_kind", "subject_id", "schema_version", "updated_at")
_INSIDE: Final[Mapping[str, tuple[str, ...]]] = {
    name: fields_of(f"continuity.{name}") for name in ("relationship_model", "retrieval_hints")
}
_COMPARED: Final[Mapping[str, tuple[str, ...]]] = dict.fromkeys(_FIRST, ()) | {
    name: fields_of(name) for name in fields_of() if name not in _UNCOMPARED.union(_FIRST)
}
"""What is compared, with the parts that are compared one by one, in the order of the answer."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs, and what the signals speak for."""

    changed_fields: tuple[str, ...]
    strongest_signal: str
    recommended_outcome: str


def candidate_of(candidate: Capsule, subject: Subject) -> CapsuleObject:
    """A candidate as a capsule object, checked whole; raises ``Malformed``."""
    if (candidate.subject_kind, Subject(candidate.subject_kind, candidate.subject_id).slug) != (
        subject.kind,
        subject.slug,
    ):
        raise Malformed(
            "SUBJECT_MISMATCH",
            "the candidate is about another subject than the request",
            details={"field": "candidate_capsule.subject_id"},
        )
    capsule = with_tidy_descriptor(plain(candidate))
    check_capsule(capsule)
    return capsule


def strongest(signals: Sequence[Signal]) -> str:
    """The kind of the strongest signal; the first of equals. Raises ``Malformed`` for a time that is none."""
    for signal in signals:
        check_moment(signal.observed_at, "signals[].observed_at")
    return max(signals, key=lambda signal: VERIFICATION_RANK[signal.kind]).kind


def compared(stored: CapsuleObject, candidate: CapsuleObject, signals: Sequence[Signal]) -> Comparison:
    """How a candidate differs from the capsule that stands, and which outcome its signals recommend."""
    changed, kind = changed_fields(stored, candidate), strongest(signals)
    outcome = "confirm" if not changed else "conflict" if kind == "self_review" else "correct"
    return Comparison(changed, kind, outcome)


def changed_fields(stored: CapsuleObject, candidate: CapsuleObject) -> tuple[str, ...]:
    """The dotted names of what differs, in the order of the shape; judgements and entry times do not count."""
    old, new = without_times(stored), without_times(candidate)
    changed: list[str] = []
    for name, parts in _COMPARED.items():
        before, after = old.get(name), new.get(name)
        if name == "metadata":
            keys = sorted((before or {}).keys() | (after or {}).keys())
            changed += _changed_inside(name, keys, before or {}, after or {})
        elif parts:
            changed += _changed_inside(name, parts, before or {}, after or {})
        elif before != after:
            changed.append(name)
    return tuple(changed)


def uncompared_fields(stored: CapsuleObject, candidate: CapsuleObject) -> tuple[str, ...]:
    """The names of what differs and does not count in a comparison, such as preferences and judgements."""
    old, new = without_times(stored), without_times(candidate)
    names = sorted((old.keys() | new.keys()) - _COMPARED.keys())
    return tuple(name for name in names if old.get(name) != new.get(name))


def field_value(capsule: CapsuleObject, field: str) -> Any:  # Any: whatever a capsule holds
    """What stands at a dotted name as ``changed_fields`` gives them; None where nothing does."""
    top, _, rest = field.partition(".")
    value: Any = capsule.get(top)
    # A key of metadata may have dots of its own.
    for part in [rest] if top == "metadata" else rest.split(".") if rest else []:
        value = (value or {}).get(part)
    return value


def _changed_inside(
    name: str, inner: Sequence[str], old: Mapping[str, Any], new: Mapping[str, Any]
) -> list[str]:
    changed: list[str] = []
    for part in inner:
        if old.get(part) == new.get(part):
            continue
        if name == "continuity" and part in _INSIDE:
            changed += _changed_inside(
                f"{name}.{part}", _INSIDE[part], old.get(part) or {}, new.get(part) or {}
            )
        else:
            changed.append(f"{name}.{part}")
    return changed
