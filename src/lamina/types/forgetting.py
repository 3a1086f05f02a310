"""What is asked to be forgotten, and what was (seed 002, 8.5 and 11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import AliasChoices, BeforeValidator, Field, WithJsonSchema, model_validator

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.ids import Prefix, prefix_of
from lamina.kernel.wire import Request, Result, ScopePath
from lamina.types.times import Range

__all__ = ["Cascade", "Forget", "ForgetSelector", "Forgotten", "ForgottenCounts", "ForgottenLayer"]

Cascade = Literal["derived_only", "redact_events"]
ForgottenLayer = Literal["events", "episodes", "facts", "beliefs", "understanding"]
_MEMORIES: Final = frozenset({Prefix.EVENT, Prefix.EPISODE, Prefix.FACT, Prefix.BELIEF, Prefix.CONCEPT})


def _memory_id(value: Any) -> Any:  # Any: whatever came in
    """What is no id of a record would fit nothing, and be told as forgotten."""
    if isinstance(value, str) and prefix_of(value) not in _MEMORIES:
        raise Invalid(
            "INVALID_ID",
            f"selector.memory_ids names events and derived records, got {value[:64]!r}",
            hint="ids of different kinds are not interchangeable; use the id exactly as the server returned it",
            details={"field": "selector.memory_ids"},
        )
    return value


_Id = Annotated[str, Field(min_length=1, max_length=limits.STREAM_ID_LENGTH_MAX), BeforeValidator(_memory_id)]
_Name = Annotated[str, Field(max_length=limits.NAME_LENGTH_MAX)]


def _joined(value: Any) -> Any:  # Any: whatever came in
    """``["A", "B"]``, as the contract writes a range in a body, as ``A..B``."""
    ends = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else None
    if ends is None or len(ends) != 2 or not all(end is None or isinstance(end, str) for end in ends):
        return value
    return "..".join(end or "" for end in ends)


_Between = Annotated[
    Range,
    BeforeValidator(_joined),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": ["string", "null"]}, "minItems": 2, "maxItems": 2},
                {"type": "string"},
            ],
            "examples": [["2026-04-01", "2026-05-01"]],
        }
    ),
]


class ForgetSelector(Request):
    """Which records: those that fit every field that is given, and those of ``memory_ids`` besides, all in the scope.

    ``about_subject`` is whom something is said of, and ``about_entity`` whom it names at all: an entity's id, a name or an actor. A
    record fits in time when one of its versions does; of an event ``valid_during`` asks when it happened. A layer without such a
    thing as a field asks for fits nowhere: an event has no predicate.
    """

    about_subject: _Name | None = None
    about_entity: _Name | None = None
    predicate: _Name | None = None
    memory_ids: Annotated[list[_Id], Field(default_factory=list, max_length=limits.FORGET_IDS_MAX)]
    valid_during: _Between | None = None
    recorded_during: Annotated[
        _Between | None, Field(validation_alias=AliasChoices("recorded_during", "created_during"))
    ] = None

    @property
    def filters(self) -> bool:
        """Whether there is a field besides ``memory_ids``."""
        named = (self.about_subject, self.about_entity, self.predicate)
        return any(named) or (self.valid_during, self.recorded_during) != (None, None)


class Forget(Request):
    """What one scope is to forget: not those below it.

    ``derived_only`` deletes records of the layers and leaves events alone; ``lamina replay`` brings them back. ``redact_events`` also takes
    the words of the events that the selector fits and of those from which the records came; that is for good. Without ``layers`` all are
    meant. ``with_derived`` also takes the records of the layers that rest on nothing but what the selector fits, through any number of others:
    with the words of a turn what was drawn from it alone. Without a cascade it is the tenant's ``forget.cascade.default``. An empty selector means everything, and needs ``confirm_all``. ``audit_note`` stands in the audit log.
    """

    scope: ScopePath
    layers: Annotated[list[ForgottenLayer], Field(default_factory=list, max_length=5)]
    selector: Annotated[ForgetSelector, Field(default_factory=ForgetSelector)]
    cascade: Cascade | None = None
    with_derived: bool = False
    confirm_all: bool = False
    audit_note: Annotated[str, Field(max_length=limits.AUDIT_NOTE_LENGTH_MAX)] | None = None

    @model_validator(mode="after")
    def _is_meant(self) -> Forget:
        if not (self.confirm_all or self.selector.filters or self.selector.memory_ids):
            raise Invalid(
                "EMPTY_SELECTOR_WITHOUT_CONFIRMATION",
                "an empty selector means everything that the layers hold in this scope",
                hint="name what is to be forgotten, or send confirm_all: true",
                details={"field": "selector"},
            )
        return self if self.cascade is None else self.under(self.cascade)

    def under(self, cascade: Cascade) -> Forget:
        """It with a cascade; raises ``Invalid`` (INVALID_FILTER) where that leaves alone what is named."""
        if cascade == "derived_only":
            events = [each for each in self.selector.memory_ids if each.startswith("evt_")]
            if events:
                raise Invalid(
                    "INVALID_FILTER",
                    "selector.memory_ids names events, which derived_only leaves alone",
                    hint="cascade redact_events takes their words, POST /v1/erasures deletes them",
                    details={"field": "selector.memory_ids", "id": events[0]},
                )
        return self if self.cascade == cascade else self.model_copy(update={"cascade": cascade})


class ForgottenCounts(Result):
    """How many records of each layer are gone; of events, how many have no words any more."""

    events: int = Field(ge=0)
    episodes: int = Field(ge=0)
    facts: int = Field(ge=0)
    beliefs: int = Field(ge=0)
    understanding: int = Field(ge=0)


class Forgotten(Result):
    """What was forgotten, and the audit row that says so."""

    deleted: ForgottenCounts
    audit_id: str
