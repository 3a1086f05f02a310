"""What extraction takes and gives: an utterance with its surroundings, and mentions and triples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from lamina.kernel.events import MessageRole
from lamina.language.temporal import TemporalMatch

EntityType = Literal[
    "person", "place", "organisation", "product", "work", "event", "animal", "group", "language", "thing"
]
Kind = Literal[
    "identity",
    "role",
    "place",
    "possession",
    "relation",
    "preference",
    "plan",
    "commitment",
    "quantity",
    "state_change",
    "event",
    "attribute",
]
Datatype = Literal["string", "integer", "number", "boolean", "date", "duration", "quantity"]


FindTimes = Callable[[str, datetime], Sequence[TemporalMatch]]


def claim_kind(word: str) -> Kind:
    """The kind of a claim that a word names, such as that of a stored fact; an attribute where it names none."""
    known: tuple[Kind, ...] = get_args(Kind)
    return next((each for each in known if each == word), "attribute")


def no_times(text: str, reference: datetime) -> Sequence[TemporalMatch]:  # noqa: ARG001 - the shape of FindTimes
    """A `FindTimes` that finds nothing: for texts without a time worth having."""
    return ()


@dataclass(frozen=True, slots=True)
class Previous:
    """An earlier utterance of the same session, read only to resolve pronouns."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Utterance:
    """One text with what is needed to understand it.

    `speaker` is an opaque actor id. With `personal=False` (tool results, documents) the text has no first person:
    "I" and "my" in it are nobody we know. With `advises` it is an assistant that speaks to somebody: what it says of
    them, and of whom it calls theirs, is not their word. `previous` is oldest first.
    """

    text: str
    speaker: str
    observed_at: datetime
    speaker_name: str | None = None
    role: MessageRole | None = None
    addressee_name: str | None = None
    previous: tuple[Previous, ...] = ()
    participants: tuple[str, ...] = ()
    personal: bool = True
    advises: bool = False

    @property
    def has_first_person(self) -> bool:
        """Whether "I" in the text is the speaker: not in documents, nor in what tools and system prompts say."""
        return self.personal and self.role not in ("tool", "system")


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open character range in the utterance's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class EntityRef:
    """Something that can be named. `actor` is set when it is the speaker, whose id is known."""

    name: str
    key: str
    type: EntityType
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class LiteralValue:
    """A value that is not an entity. Numbers come as int or float; `unit` goes with quantity and duration.

    `determiner` ("a", "the", "Alice's") is how it was said: it serves the restatement and is no part of the value.
    """

    datatype: Datatype
    value: str | int | float | bool
    unit: str | None = None
    determiner: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class TextMention:
    """An entity met in the text. `aliases` are further keys ("Alice's sister" for Anna)."""

    span: Span
    surface: str
    key: str
    type: EntityType
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Triple:
    """One claim. `valid_from` None means from `observed_at` or unknown, `valid_to` None means open.

    `single_valued` says that a newer value of (subject, predicate) supersedes this one. `qualifiers` are further
    (role, text) pairs of the same claim: ("over", "coffee"), ("with", "Max"). `introduces` says that a name came with
    the word of who is speaking ("Tom here"), as another than the one known may. `handed_over` says that it stands
    where somebody
    else's words may (`language/running_speech.py`): it ends nothing.
    """

    subject: EntityRef
    predicate: str
    object: EntityRef | LiteralValue
    kind: Kind
    confidence: float
    evidence: Span
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    negated: bool = False
    hedged: bool = False
    corrects: bool = False
    single_valued: bool = False
    qualifiers: tuple[tuple[str, str], ...] = ()
    introduces: bool = False
    handed_over: bool = False
    restated: str = ""
    """The claim in words, where its predicate is none that rules can word."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """That what was said of a single-valued predicate of a subject holds no more: ``object``, or without one whatever
    it was."""

    subject: EntityRef
    predicate: str
    object: EntityRef | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one utterance says. `phrases` are the things that its parsed sentences speak of.

    `gated` is true when no sentence was worth parsing. `played` is how many characters of the text, from its beginning,
    were said in a play and not read.
    """

    mentions: tuple[TextMention, ...] = ()
    triples: tuple[Triple, ...] = ()
    gated: bool = False
    taken_back: tuple[TakenBack, ...] = ()
    phrases: tuple[str, ...] = ()
    played: int = 0
