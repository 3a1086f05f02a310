"""What the views of several layers share.

A view is made of plain fields in one step, its inner parts too: one by one they cost several times as much, and a pack
has fifty views. A view with fields of its own beside those of another starts from the same ``…_fields``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from lamina.kernel.changes import MayHaveChanged, change_mark
from lamina.kernel.local import offset_text_or_none
from lamina.kernel.records import Claim, ObjectValue, Record, Subject, Support, layer_of
from lamina.kernel.time import instant, rfc3339
from lamina.kernel.wire import Result

__all__ = [
    "ChangeView",
    "ClaimedView",
    "DerivedId",
    "DerivedView",
    "LiteralView",
    "ObjectView",
    "ReferenceView",
    "Stamp",
    "change_fields",
    "changed_in_words",
    "claim_fields",
    "claim_in_words",
    "common_fields",
    "kind_of",
    "object_fields",
    "subject_fields",
    "supports_held",
]


def _read(value: Any) -> Any:
    return instant(value) if isinstance(value, str) else value


Stamp = Annotated[
    int,
    BeforeValidator(_read),
    PlainSerializer(rfc3339, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-05-13T15:42:00Z"]}),
]
"""An instant on its way out: microseconds since 1970 inside, RFC 3339 in JSON. A client reads it back the same way."""


DerivedId = Annotated[
    str,
    WithJsonSchema(
        {
            "type": "string",
            "pattern": "^(evt_|ep_|fact_|belief_|concept_|redacted:[a-z]+_)[A-Za-z0-9_-]+$",
            "examples": ["fact_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"],
        }
    ),
]
"""What rests on an event: a record's id, or what an erasure left of one (seed 002, 18.2 item 2)."""


class ReferenceView(Result):
    """What a claim speaks of, or says of it: an entity or a concept."""

    type: Literal["entity", "concept"]
    id: str
    name: str | None = None


class LiteralView(Result):
    """A plain value with its datatype, and its unit where it has one."""

    type: Literal["literal"] = "literal"
    datatype: str | None
    value: Any  # Any: a JSON scalar, by ``datatype``
    unit: str | None = None


ObjectView = Annotated[ReferenceView | LiteralView, Field(discriminator="type")]
"""The object of a claim."""


def claim_in_words(
    subject: ReferenceView, predicate: str, value: ReferenceView | LiteralView, *, negated: bool
) -> str:
    """A claim as a plain sentence, such as "Ana not likes tea": for claims that have no words of their own."""
    said = str(value.value) if isinstance(value, LiteralView) else value.name or value.id
    said = "" if said == "True" else said
    return f"{subject.name or subject.id} {'not ' if negated else ''}{predicate.replace('_', ' ')} {said}".strip()


class ChangeView(Result):
    """The later turn by which a fact may have changed, and when it was said."""

    event_id: str
    observed_at: Stamp


def change_fields(changed: MayHaveChanged | None) -> dict[str, Any] | None:
    """A mark as a ``ChangeView``."""
    return None if changed is None else {"event_id": changed.event_id, "observed_at": changed.observed_at}


def changed_in_words(words: str, turn: ChangeView | None) -> str:
    """A claim in words, and where it may have changed, by a turn of which day."""
    changed = None if turn is None else MayHaveChanged(turn.event_id, turn.observed_at)
    return f"{words}{change_mark(changed)}"


class DerivedView(Result):
    """What the record of every derived layer shows.

    ``version`` counts the revisions of a record under its id. ``valid_*`` is when it is true in the world,
    ``recorded_*`` when it was held here; ends are exclusive, null is open. ``_partial`` says that the record
    is not finished, ``_partial_reason`` why, ``_progress`` how far it is (0..1) where that means something. ``trust`` is whose word it is:
    ``principal`` of somebody who wrote it under their own token, ``delegated`` of somebody for whom another wrote, ``external`` nobody's, as of
    tools, documents, assistants and what may be pasted. A claim has the best of those that say it, all else the least of what it is made of.
    """

    id: str
    scope: str
    version: int
    valid_from: Stamp
    valid_to: Stamp | None
    recorded_from: Stamp
    recorded_to: Stamp | None
    confidence: float
    excluded_from_recall: bool = False
    trust: Literal["principal", "delegated", "external"] = "principal"
    partial: bool = Field(default=False, validation_alias="_partial", serialization_alias="_partial")
    partial_reason: str | None = Field(
        default=None, validation_alias="_partial_reason", serialization_alias="_partial_reason"
    )
    progress: float | None = Field(
        default=None, validation_alias="_progress", serialization_alias="_progress"
    )


class ClaimedView(DerivedView):
    """What the records of claims show besides: the offsets from UTC of the clocks by which ``valid_from`` and ``valid_to`` were
    told, null for UTC. A claim of a day begins and ends at its midnights there.
    """

    valid_from_offset: str | None = None
    valid_to_offset: str | None = None


def claim_fields(claim: Claim) -> dict[str, Any]:
    """The fields of ``ClaimedView`` that every claim fills alike."""
    return {
        **common_fields(claim),
        "valid_from_offset": offset_text_or_none(claim.from_offset),
        "valid_to_offset": offset_text_or_none(claim.to_offset),
    }


def common_fields(record: Record) -> dict[str, Any]:
    """The fields of ``DerivedView`` that every record fills alike."""
    return {
        "id": record.id,
        "scope": record.scope,
        "version": record.version,
        "valid_from": record.valid_from,
        "valid_to": record.valid_to,
        "recorded_from": record.recorded_from,
        "recorded_to": record.recorded_to,
        "confidence": record.confidence,
        "excluded_from_recall": record.excluded,
        "trust": record.trust.value,
    }


def supports_held(record: Record, supports: Sequence[Support]) -> list[Support]:
    """Those of a record's supports that its version knew: what came with or after its end is not its own."""
    return [
        support
        for support in supports
        if record.recorded_to is None or support.recorded_at < record.recorded_to
    ]


def subject_fields(subject: Subject) -> dict[str, Any]:
    """The subject of a claim as a ``ReferenceView``."""
    return {"type": subject.type, "id": subject.id, "name": subject.name}


def object_fields(value: ObjectValue) -> dict[str, Any]:
    """The object of a claim as an ``ObjectView``."""
    if value.type == "literal":
        return {"type": "literal", "datatype": value.datatype, "value": value.value, "unit": value.unit}
    return {"type": value.type, "id": value.id or "", "name": value.name}


_KINDS = {
    "events": "event",
    "episodes": "episode",
    "facts": "fact",
    "beliefs": "belief",
    "understanding": "concept",
}


def kind_of(record_id: str) -> str:
    """What an id names, in the singular of the contract: ``fact``, ``event``, ``concept`` and so on."""
    layer = layer_of(record_id)
    return _KINDS[layer] if layer else "external"
