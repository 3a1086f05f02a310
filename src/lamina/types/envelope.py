"""The experience envelope (seed 002, 3.5): what callers send."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, WithJsonSchema, field_validator, model_validator

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.canonical import canonical, holds_nul, not_finite
from lamina.kernel.events import Modality, Party
from lamina.kernel.feedback import VERDICTS, judges
from lamina.kernel.ids import Prefix, prefix_of
from lamina.kernel.local import LocalTime
from lamina.kernel.time import duration_us
from lamina.kernel.wire import (
    PLAIN_TEXT,
    DurationText,
    InstantText,
    LocalTimeText,
    OffsetText,
    Request,
    ScopePath,
)
from lamina.types.stating import require_claim

__all__ = ["Envelope", "EnvelopeContext", "EnvelopeDirectives", "Item", "PartyIn", "wrong_field"]

Key = Annotated[str, Field(min_length=1, max_length=limits.IDEMPOTENCY_KEY_LENGTH_MAX, pattern=r"^[ -~]+$")]
"""A client's idempotency key: printable ASCII, at most 64 characters."""

_ROLES = ("user", "assistant", "tool", "system")
_KINDS = ("message", "text", "json", "blob_ref", "triple")
_USUAL_FIELDS = 3
"""Kind, role and text."""


_WORDS = {"type": "string", "pattern": r"\S", "maxLength": limits.TEXT_LENGTH_MAX}
_MEDIA = {"type": "array", "maxItems": limits.MEDIA_MAX}

_BOUND = {"type": ["string", "null"], "examples": ["2026-04-02", "2026-04-02T18:00:00Z"]}

Content = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "required": ["kind"],
            "anyOf": [
                {
                    "title": "message",
                    "required": ["text", "role"],
                    "properties": {
                        "kind": {"const": "message"},
                        "role": {"enum": list(_ROLES)},
                        "text": _WORDS,
                        "media": _MEDIA,
                    },
                },
                {
                    "title": "text",
                    "required": ["text"],
                    "properties": {"kind": {"const": "text"}, "text": _WORDS, "media": _MEDIA},
                },
                {
                    "title": "triple",
                    "required": ["subject", "predicate", "object"],
                    "properties": {
                        "kind": {"const": "triple"},
                        "subject": {"type": ["string", "object"]},
                        "predicate": {"type": "string", "pattern": r"\S"},
                        "object": {"type": ["string", "number", "boolean", "object", "null"]},
                        "valid_from": _BOUND,
                        "valid_to": _BOUND,
                        "confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
                        "negated": {"type": "boolean"},
                        "media": _MEDIA,
                    },
                },
                {
                    "title": "feedback",
                    "required": ["target_id", "verdict"],
                    "properties": {
                        "kind": {"const": "json"},
                        "target_id": {"type": "string", "pattern": "^(fact|belief)_"},
                        "verdict": {"enum": list(VERDICTS)},
                        "note": {"type": ["string", "null"], "maxLength": limits.CORRECTION_WORDS_LENGTH_MAX},
                    },
                },
                {
                    "title": "other",
                    "properties": {"kind": {"enum": ["json", "blob_ref"]}, "media": _MEDIA},
                },
            ],
        }
    ),
]
"""What was experienced, by ``kind``; kept as submitted."""

_EventId = Annotated[
    str,
    WithJsonSchema(
        {"type": "string", "pattern": "^evt_", "examples": ["evt_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"]}
    ),
]


class PartyIn(Request):
    """An actor: ``user:alice``. The type defaults to the part before the colon."""

    id: Annotated[str, Field(min_length=1, max_length=limits.ACTOR_LENGTH_MAX, pattern=r"^\S+$"), PLAIN_TEXT]
    type: Annotated[str, Field(min_length=1, max_length=32)] | None = None
    name: Annotated[str, Field(min_length=1, max_length=limits.NAME_LENGTH_MAX), PLAIN_TEXT] | None = None
    session: Annotated[str, Field(min_length=1, max_length=limits.SESSION_LENGTH_MAX), PLAIN_TEXT] | None = (
        None
    )

    def party(self) -> Party:
        """The value behind it."""
        return Party(self.id, self.type or self.id.split(":", 1)[0], self.name)


class EnvelopeContext(Request):
    """When and around what it happened.

    ``observed_offset`` is for those who have the time in UTC and the offset beside it, as events show both; one that is written
    in ``observed_at`` itself must be the same.
    """

    observed_at: LocalTimeText
    observed_offset: OffsetText | None = None
    recorded_at: Any = None  # accepted and overridden by the server's own clock (3.5.2)
    source_recorded_at: InstantText | None = None
    location: Any = None
    preceded_by: list[_EventId] = Field(default_factory=list, max_length=limits.PRECEDED_BY_MAX)
    intent: Annotated[str, Field(max_length=limits.INTENT_LENGTH_MAX), PLAIN_TEXT] | None = None
    labels: list[Annotated[str, Field(min_length=1, max_length=limits.LABEL_LENGTH_MAX), PLAIN_TEXT]] = Field(
        default_factory=list, max_length=limits.LABELS_MAX
    )

    @model_validator(mode="after")
    def _one_clock(self) -> EnvelopeContext:
        written, beside = self.observed_at.offset, self.observed_offset
        if beside is not None and written is not None and written != beside:
            raise ValueError("observed_offset is not the offset that observed_at is written with")
        return self

    @property
    def told_at(self) -> LocalTime:
        """When it happened, by the clock of whoever tells it."""
        written = self.observed_at
        if self.observed_offset is None or written.offset is not None:
            return written
        return LocalTime(written.at, self.observed_offset)

    @field_validator("location", "recorded_at")
    @classmethod
    def _free(cls, value: Any) -> Any:
        _check_free(value)
        return value

    @field_validator("preceded_by")
    @classmethod
    def _event_ids(cls, value: list[str]) -> list[str]:
        for item in value:
            if prefix_of(item) is not Prefix.EVENT:
                raise ValueError(f"{item[:64]!r} is not an evt_ id")
        return value


class EnvelopeDirectives(Request):
    """What should be done with the event."""

    extract: list[Literal["facts", "entities", "beliefs", "episodes", "concepts"]] | None = None
    consolidate_into: ScopePath | None = None
    consolidate_only: (
        Annotated[
            list[Annotated[str, Field(min_length=1, max_length=limits.NAME_LENGTH_MAX), PLAIN_TEXT]],
            Field(min_length=1, max_length=limits.LABELS_MAX),
        ]
        | None
    ) = None
    confidence_floor: Annotated[float, Field(ge=0, le=1)] = 0.0
    ttl_for_belief_layer: DurationText | None = None
    ttl_for_event_layer: DurationText | None = None
    embed: Literal["eager", "lazy", "none"] | None = None

    @model_validator(mode="after")
    def _chooses_what_is_sent(self) -> EnvelopeDirectives:
        if self.consolidate_only is not None and self.consolidate_into is None:
            raise ValueError("consolidate_only says what goes into consolidate_into, which is missing")
        return self

    @field_validator("ttl_for_belief_layer", "ttl_for_event_layer")
    @classmethod
    def _duration(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and duration_us(value, field=info.field_name or "") <= 0:
            raise ValueError("must be longer than nothing")
        return value

    @field_validator("ttl_for_event_layer")
    @classmethod
    def _bounded(cls, value: str | None) -> str | None:
        if value is not None and duration_us(value) > limits.TTL_US_MAX:
            raise ValueError("must be at most P100Y; without it the event lives for as long as policy says")
        return value


class Item(Request):
    """What one experience is, without saying where it goes."""

    # An open set: what is unknown is kept as it was said, on one line.
    modality: Annotated[
        str,
        Field(
            min_length=1,
            max_length=limits.MODALITY_LENGTH_MAX,
            pattern=r"^[^\s\x00-\x1f\x7f-\x9f]+( [^\s\x00-\x1f\x7f-\x9f]+)*$",
        ),
    ]
    content: Content
    context: EnvelopeContext
    directives: EnvelopeDirectives | None = None
    observed_actor: PartyIn | None = None
    subject: PartyIn | None = None
    idempotency_key: Key

    @model_validator(mode="before")
    @classmethod
    def _older_name(cls, value: Any) -> Any:
        if isinstance(value, dict) and ("actor" in value or value.get("modality") == Modality.FEEDBACK):
            return _with_kind(with_older_name(value))
        return value

    @field_validator("content")
    @classmethod
    def _content(cls, value: dict[str, Any]) -> dict[str, Any]:
        _check_content(value)
        return value

    @model_validator(mode="after")
    def _verdict(self) -> Item:
        if judges(self.modality, self.content):
            _check_verdict(self.content)
        return self


class Envelope(Item):
    """The body of ``POST /v1/experience``."""

    scope: ScopePath


def with_older_name(value: Any) -> Any:
    """``actor`` is accepted as the older name of ``observed_actor``."""
    if isinstance(value, dict) and "actor" in value and "observed_actor" not in value:
        value = {**value, "observed_actor": value["actor"]}
        del value["actor"]
    return value


def _with_kind(value: Any) -> Any:  # Any: whatever came in
    """Feedback with the kind of its content, which its verdict says already."""
    if not isinstance(value, dict) or value.get("modality") != Modality.FEEDBACK:
        return value
    content = value.get("content")
    if isinstance(content, dict) and "verdict" in content and "kind" not in content:
        return {**value, "content": {"kind": "json", **content}}
    return value


def _check_verdict(content: dict[str, Any]) -> None:
    extra = sorted(content.keys() - {"kind", "target_id", "verdict", "note"})
    if content["kind"] != "json":
        raise wrong_field("content.kind", "must be json for feedback with a verdict")
    if extra:
        raise wrong_field(
            f"content.{extra[0][:64]}", "is no field of feedback: target_id, verdict and note are"
        )
    target = content.get("target_id")
    if not isinstance(target, str) or prefix_of(target) not in (Prefix.FACT, Prefix.BELIEF):
        raise wrong_field("content.target_id", "must be the id of a fact or a belief")
    if content["verdict"] not in VERDICTS:
        raise wrong_field("content.verdict", f"must be one of {', '.join(VERDICTS)}")
    note = content.get("note")
    if note is None:
        return
    if not isinstance(note, str) or not note.strip():
        raise wrong_field("content.note", "must be text that is not blank")
    if len(note) > limits.CORRECTION_WORDS_LENGTH_MAX:
        most = limits.CORRECTION_WORDS_LENGTH_MAX
        raise wrong_field("content.note", f"has {len(note)} characters, {most} are allowed")


def _check_content(content: dict[str, Any]) -> None:
    if not _is_usual(content):
        _check_any_content(content)


def _is_usual(content: dict[str, Any]) -> bool:
    """Whether this is a message that has words, and nothing that would have to be looked into."""
    text = content.get("text")
    return (
        type(text) is str
        and len(content) == _USUAL_FIELDS
        and content.get("kind") == "message"
        and content.get("role") in _ROLES
        and len(text) <= limits.TEXT_LENGTH_MAX
        and "\x00" not in text
        and not text.isspace()
        and text != ""
    )


def _check_any_content(content: dict[str, Any]) -> None:
    kind = content.get("kind")
    if kind not in _KINDS:
        raise wrong_field(
            "content.kind", "is required" if kind is None else f"must be one of {', '.join(_KINDS)}"
        )
    if kind in ("message", "text"):
        text = content.get("text")
        if not isinstance(text, str) or not text.strip():
            raise wrong_field("content.text", f"is required for kind {kind}, as text that is not blank")
        if len(text) > limits.TEXT_LENGTH_MAX:
            raise wrong_field(
                "content.text", f"has {len(text)} characters, {limits.TEXT_LENGTH_MAX} are allowed"
            )
    if kind == "message" and content.get("role") not in _ROLES:
        raise wrong_field("content.role", f"is required for kind message: one of {', '.join(_ROLES)}")
    if kind == "triple":
        try:
            require_claim(content)
        except ValueError as error:
            field, reason = error.args
            raise wrong_field(f"content.{field}", reason) from error
    media = content.get("media")
    if media is not None and (not isinstance(media, list) or len(media) > limits.MEDIA_MAX):
        raise wrong_field("content.media", f"must be a list of at most {limits.MEDIA_MAX} blob references")
    flat = all(type(value) is str for value in content.values())
    if not flat and _depth(content, limits.CONTENT_DEPTH_MAX + 1) > limits.CONTENT_DEPTH_MAX:
        raise wrong_field("content", f"is nested deeper than {limits.CONTENT_DEPTH_MAX}")
    if kind != "message" or len(content) > 3:
        size = len(canonical(content))
        if size > limits.CONTENT_BYTES_MAX:
            raise wrong_field("content", f"has {size} bytes, {limits.CONTENT_BYTES_MAX} are allowed")
    if "\x00" in "".join((*content, *content.values())) if flat else holds_nul(content):
        raise wrong_field("content", "contains the character NUL")


def _check_free(value: Any) -> None:
    """What is kept as submitted is bounded as content is."""
    if value is None or (
        isinstance(value, str) and len(value) <= limits.NAME_LENGTH_MAX and "\x00" not in value
    ):
        return
    if _depth(value, limits.CONTENT_DEPTH_MAX + 1) > limits.CONTENT_DEPTH_MAX:
        raise ValueError(f"is nested deeper than {limits.CONTENT_DEPTH_MAX}")
    place = not_finite(value)
    if place is not None:
        raise ValueError(f"holds a number that is not finite{place and f', at {place[:64]}'}")
    size = len(canonical(value))
    if size > limits.CONTENT_BYTES_MAX:
        raise ValueError(f"has {size} bytes, {limits.CONTENT_BYTES_MAX} are allowed")
    if holds_nul(value):
        raise ValueError("contains the character NUL")


def _depth(value: Any, most: int) -> int:
    if most <= 0 or not isinstance(value, dict | list) or not value:
        return 0 if not isinstance(value, dict | list) else 1
    children = value.values() if isinstance(value, dict) else value
    return 1 + max(_depth(child, most - 1) for child in children)


def wrong_field(field: str, reason: str) -> Invalid:
    """The refusal of a field of an envelope; ``reason`` goes on behind its name."""
    return Invalid("INVALID_ENVELOPE", f"{field} {reason}", details={"field": field, "reason": reason})
