"""Reading what a language model answered about loops. Nothing in an answer is believed that the turn does not bear out.

An answer is text from outside: it may be anything. It is read item by item; what does not fit the shape is left out,
and so is what quotes words that are not in the turn. It can only name one of five types, point at loops of the same
scope, and word a loop in words that the conversation has, but for one verb that adds nothing. When something is due
is for our own reader of dates to say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from lamina import limits
from lamina.kernel.records import LoopType
from lamina.language.sentences import split_sentences
from lamina.pipeline.loops.dues import FindMoments, due_of
from lamina.pipeline.loops.matching import key_terms, specific
from lamina.pipeline.loops.said import draft_of, shortened
from lamina.pipeline.loops.values import LoopDraft, LoopReading, Pointer
from lamina.pipeline.readings.quoting import EDGES, clean, fold, is_quoted, was_said

__all__ = ["SCHEMA", "bears_on", "is_usable", "read_answer"]

_CONFIDENCE: Final = 0.7
_ENDED_FROM: Final = 0.85
_PAIRS_FROM: Final = 0.5
_CJK_FROM: Final = "\u3000"
_ITEMS_READ_MAX: Final = 20
_FENCE = re.compile(r"^\s*```(?:json)?\s*|(?<!\s)\s*```\s*$", re.IGNORECASE)

_CARES = frozenset(
    key_terms("do") | key_terms("sort") | key_terms("deal handle tackle resolve address manage attend")
)
"""Verbs that say no more of a matter than that it is open."""


class _Item(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _New(_Item):
    type: Literal["commitment", "decision", "friction", "habit", "thread"]
    text: str
    quote: str
    when: str | None


class _Again(_Item):
    ref: str
    quote: str


class _Completed(_Item):
    ref: str
    quote: str
    explicit: bool
    confidence: float


_Shape = TypeVar("_Shape", bound=_Item)
_Pointing = TypeVar("_Pointing", _Again, _Completed)


class _Answer(_Item):
    """The shape that a model is held to."""

    new: list[_New]
    reinforced: list[_Again]
    completed: list[_Completed]
    dropped: list[_Again]


SCHEMA: Final[Mapping[str, Any]] = _Answer.model_json_schema()  # Any: JSON Schema


def is_usable(text: str) -> bool:
    """Whether an answer is one at all: an object with one of the four lists, however little of it may stand."""
    return _object_in(text) is not None


def read_answer(
    text: str,
    turn: str,
    before: Sequence[str],
    said_at: datetime,
    find_moments: FindMoments,
    *,
    own: str | None = None,
) -> LoopReading:
    """What of an answer the turn bears out; ``before`` are the texts of the turns before it, ``own`` is what of the
    turn may end something, else all of it. Never raises."""
    found = _object_in(text) or {}
    turn = turn[: limits.LOOP_TURN_CHARS_MAX]
    said = fold(turn)
    ending = said if own is None else fold(own[: limits.LOOP_TURN_CHARS_MAX])
    known = key_terms(" ".join([turn, *before]))
    asked = _asked_about(before)
    drafts: list[LoopDraft] = []
    for item in _items(found, "new", _New):
        if len(drafts) < limits.LOOPS_NEW_PER_TURN_MAX and is_quoted(item.quote, said):
            draft = _draft(item, said, known, said_at, find_moments)
            if draft is not None:
                drafts.append(draft)
    pointers = [
        *(Pointer(i.ref, "said_again", _CONFIDENCE) for i in _quoted(found, "reinforced", _Again, said)),
        *(
            Pointer(item.ref, "completed", min(1.0, item.confidence), key_terms(item.quote) | asked)
            for item in _quoted(found, "completed", _Completed, ending)
            if item.explicit and item.confidence >= _ENDED_FROM
        ),
        *(
            Pointer(i.ref, "dropped", _ENDED_FROM, key_terms(i.quote) | asked)
            for i in _quoted(found, "dropped", _Again, ending)
        ),
    ]
    return LoopReading(tuple(drafts), pointers=tuple(pointers))


def bears_on(terms: frozenset[str], wording: str) -> bool:
    """Whether words that may end a loop share a key word with it, in whatever form; verbs that fit everything do not
    count where it has others."""
    whole = key_terms(wording)
    return any(was_said(term, terms) for term in specific(whole) or whole)


def _asked_about(before: Sequence[str]) -> frozenset[str]:
    """The key terms of what the turn before asked."""
    asked = [s.text for s in split_sentences(before[-1], count_max=60) if "?" in s.text] if before else []
    return key_terms(" ".join(asked))


def _draft(
    item: _New, said: str, known: frozenset[str], said_at: datetime, find_moments: FindMoments
) -> LoopDraft | None:
    wording = shortened(clean(item.text))[: limits.LOOP_CHARS_MAX].strip(EDGES)
    terms = key_terms(wording)
    if not _is_worded_in(terms, known):
        return None
    due = None
    if item.when is not None and is_quoted(item.when, said, characters=1):
        coming = (due_of(moment, said_at) for moment in find_moments(clean(item.when), said_at))
        due = min((moment for moment in coming if moment is not None), default=None)
    salience = 2 if item.type == "habit" else 3
    draft = draft_of(LoopType(item.type), wording, salience, clean(item.quote), due, said_at)
    return replace(draft, confidence=_CONFIDENCE)


def _is_worded_in(terms: frozenset[str], known: frozenset[str]) -> bool:
    """Whether a wording is one of the conversation's: each of its key terms was said, but for one verb that adds
    nothing. Of a script without blanks, whose pairs run across endings, half of them were."""
    pairs = frozenset(term for term in terms if term >= _CJK_FROM)
    new = [term for term in terms - pairs if not was_said(term, known)]
    if len(pairs & known) < _PAIRS_FROM * len(pairs):
        return False
    return len(new) < len(terms) and (not new or (len(new) == 1 and new[0] in _CARES))


def _quoted(found: Mapping[str, Any], name: str, shape: type[_Pointing], said: str) -> list[_Pointing]:
    return [item for item in _items(found, name, shape) if is_quoted(item.quote, said)]


def _items(found: Mapping[str, Any], name: str, shape: type[_Shape]) -> list[_Shape]:
    listed = found.get(name)
    items = []
    for item in listed[:_ITEMS_READ_MAX] if isinstance(listed, list) else ():
        try:
            items.append(shape.model_validate(item))
        except ValidationError:
            continue
    return items


def _object_in(text: str) -> dict[str, Any] | None:
    """The JSON object of an answer, which some models wrap in a fence or in words."""
    bare = _FENCE.sub("", text[: limits.LOOP_ANSWER_CHARS_MAX])
    start, end = bare.find("{"), bare.rfind("}")
    try:
        found = json.loads(bare[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        return None
    lists = isinstance(found, dict) and any(isinstance(found.get(n), list) for n in _Answer.model_fields)
    return found if lists else None
