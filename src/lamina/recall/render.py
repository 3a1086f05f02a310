"""Rendering: items as lines of a context block, with citations.

Stored text is data. What somebody said appears on one line, inside quotation marks, in events with who said it and when; what came out
of a tool or a document says so. Names, facts, beliefs and understanding are put in Lamina's own sentences. Nothing that was stored can open a
section of the block, or pose as one of its markers: ``[1]`` in a text is shown as ``(1)``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final

from lamina import limits
from lamina.kernel.changes import MayHaveChanged
from lamina.kernel.events import Event, Trust, text_of
from lamina.kernel.local import LocalTime, day_text, minute_text
from lamina.kernel.names import scope_segment
from lamina.kernel.records import Belief, Claim, Concept, Episode, Fact, Layer, Record
from lamina.kernel.shown import unquoted, without_markers
from lamina.kernel.time import Instant, rfc3339
from lamina.language.days import NOTED_CHARS_MAX, DayNote, days_of_line
from lamina.language.sentences import split_sentences
from lamina.language.tokens import analyse
from lamina.recall.naming import Called
from lamina.recall.pack import Item
from lamina.types.recall import CitationMode

__all__ = ["QUARANTINE_MARK", "SNIPPET_CHARS", "Block", "change_mark", "line_of", "render_block", "snippet"]

SNIPPET_CHARS: Final = NOTED_CHARS_MAX

_SECTIONS: Sequence[tuple[Layer, str]] = (
    (Layer.FACTS, "Facts"),
    (Layer.EVENTS, "What was said"),
    (Layer.BELIEFS, "Beliefs"),
    (Layer.EPISODES, "Episodes"),
    (Layer.UNDERSTANDING, "Understanding"),
)
"""What answers a question most often comes first: a reader may stop, and a prompt may be cut."""


QUARANTINE_MARK: Final = " (quarantined)"
_CHANGED: Final = "Facts that may have changed"


def change_mark(changed: MayHaveChanged | None, marker: str | None) -> str:
    """What stands behind a fact that may have changed: the marker of the turn that it may have changed by, or its day."""
    if changed is None:
        return ""
    return f" (may have changed{f': {marker}' if marker else f' {day_text(changed.observed_at, None)}'})"


def line_of(
    value: Event | Record,
    terms: Sequence[str],
    *,
    mark: str = "",
    called: Called | None = None,
    said_at: Instant | None = None,
    days: DayNote | None = None,
    chars: int = SNIPPET_CHARS,
) -> str:
    """The line of an item, without its marker, with up to ``chars`` of what an event says. ``mark`` stands behind who said what an event says,
    and at the end elsewhere; what was said stays as it was, and elsewhere the user is named as they are ``called``. ``said_at`` is when the turn
    was said that tells a fact, ``days`` what was noted of the days that a turn means."""
    if isinstance(value, Event):
        return without_markers(_event_line(value, terms, mark, called, days, chars))
    return without_markers(_worded(value, called, said_at) + mark)


def _worded(value: Record, called: Called | None, said_at: Instant | None) -> str:
    match value:
        case Fact():
            text = value.text if called is None else called.said_of(value, value.text)
            return f"{without_markers(text)} ({_validity(value, said_at)}{_ended(value)}{_source(value)})"
        case Belief():
            claim = f"{value.subject.name} {value.predicate.replace('_', ' ')} {value.object.text}"
            if called is not None:
                claim = called.said_of(value, claim)
            negation = "not: " if value.negated else ""
            low, high = round(value.lower, 2), round(value.upper, 2)
            return (
                f"{negation}{without_markers(claim)} "
                f"({value.stance}, confidence {value.confidence:.2f}, 90% in [{low:.2f}, {high:.2f}]{_ended(value)}{_source(value)})"
            )
        case Episode():
            name = unquoted(value.name)
            summary = unquoted(value.summary if called is None else called.spoken(value.summary))
            return f'{name}: "{summary}"' if summary else name
        case Concept():
            name, summary = value.name, value.summary
            if called is not None:
                name, summary = called.understood(name, summary)
            return f"{without_markers(name)}: {without_markers(summary)}"
        case _:
            raise AssertionError("every layer has a line")


def _event_line(
    event: Event,
    terms: Sequence[str],
    mark: str,
    called: Called | None,
    days: DayNote | None,
    chars: int,
) -> str:
    source = ""
    if event.origin.trust is Trust.EXTERNAL:
        source = f" ({unquoted(event.modality.replace('_', ' '))}, quoted)"
    source += mark
    day = minute_text(event.context.observed_at, event.offset)
    text, observed = text_of(event.content), LocalTime(event.context.observed_at, event.offset)
    said = _said(snippet(text, terms, chars), observed, days)
    speaker = event.observed_actor.display_name
    if called is not None:
        speaker = called.who(speaker)
    return f"{day} {unquoted(speaker)}{source}: {said}"


@lru_cache(maxsize=limits.LINES_KEPT_MAX)
def _said(words: str, observed: LocalTime, days: DayNote | None) -> str:
    """Words in quotation marks, and behind them which days they mean. What was told before is asked for again: reading its days, where no
    note of them is there, takes longer than to rank it."""
    words = unquoted(words)
    meant = unquoted(days_of_line(words, observed, days))
    return f'"{words}"{" " if meant else ""}{meant}'


def snippet(text: str, terms: Sequence[str], chars: int = SNIPPET_CHARS) -> str:
    """The text on one line; of a long one, the run of sentences that holds most of the question's terms, a term by how rare it is in
    the text: what every sentence says tells none from another."""
    plain = without_markers(text)
    if len(plain) <= chars:
        return plain
    sentences = [sentence.text for sentence in split_sentences(plain, count_max=200)]
    wanted = dict.fromkeys(terms)
    held = [wanted.keys() & set(analyse(sentence)) for sentence in sentences]
    counts = Counter(chain.from_iterable(held))
    worth = {term: math.log((len(sentences) + 1) / (counts[term] + 0.5)) for term in wanted if counts[term]}
    best, most = (0, 0), -1.0
    for start in range(len(sentences)):
        end, size = start, 0
        while end < len(sentences) and (size == 0 or size + len(sentences[end]) < chars):
            size += len(sentences[end]) + 1
            end += 1
        there = set().union(*held[start:end])
        found = sum(share for term, share in worth.items() if term in there)
        if found > most:
            best, most = (start, end), found
    cut = " ".join(sentences[best[0] : best[1]])[:chars]
    return f"{'… ' if best[0] else ''}{cut.strip()}{' …' if best[1] < len(sentences) or len(cut) == chars else ''}"


def _source(claim: Claim) -> str:
    if claim.by_assistant:
        return "; said by the assistant"
    if claim.handed_over:
        return "; from words that may be quoted"
    if claim.external:
        return "; read in a tool result or document"
    author = claim.said_by
    if author is None or claim.scope.person == scope_segment(author.id):
        return ""
    return f"; said by {unquoted(author.name)}"


def _ended(claim: Claim) -> str:
    return "" if claim.recorded_to is None else f"; held so until {rfc3339(claim.recorded_to)[:10]}"


def _validity(fact: Fact, said_at: Instant | None) -> str:
    """Since when it holds where a beginning was told, else when it was said: nobody knows how long it held before."""
    begins = day_text(fact.valid_from, fact.from_offset)
    ends = None if fact.valid_to is None else day_text(fact.valid_to, fact.to_offset)
    if fact.valid_from == said_at:
        return f"said {begins}, until {ends}" if ends else f"said {begins}"
    return f"{begins} to {ends}" if ends else f"since {begins}"


@dataclass(frozen=True, slots=True)
class Block:
    """The context block, which item each marker stands for, the tokens of its lines, and its items with their lines by marker,
    whatever the block shows of markers."""

    text: str
    markers: Mapping[str, str]
    tokens: int
    cited: Mapping[str, tuple[Item, str]]


def render_block(chosen: Mapping[Layer, Sequence[Item]], mode: CitationMode) -> Block:
    """The lines of the chosen items, by layer; a belief that says what a fact above it says has none. Facts that may have changed
    stand behind what was said, each with the turn that says so."""
    sections = _by_section(chosen)
    items = [item for _, found in sections for item in found]
    marker_of = {item.id: f"[{place}]" for place, item in enumerate(items, start=1)}
    markers = {marker: item_id for item_id, marker in marker_of.items()}
    inline = mode == "inline_with_markers"
    texts: list[str] = []
    cited: dict[str, tuple[Item, str]] = {}
    for title, found in sections:
        lines = []
        for item in found:
            turn = marker_of.get(item.changed.event_id) if inline and item.changed is not None else None
            line = f"{item.line}{change_mark(item.changed, turn)}"
            cited[marker_of[item.id]] = item, line
            lines.append(f"- {line} {marker_of[item.id]}" if inline else f"- {line}")
        texts.append("\n".join([f"{title}:", *lines]))
    if mode == "block_at_end" and markers:
        texts.append("\n".join(["Sources:", *(f"{marker} {item_id}" for marker, item_id in markers.items())]))
    tokens = sum(item.tokens for item in items)
    return Block("\n\n".join(texts), {} if mode == "none" else markers, tokens, cited)


def _by_section(chosen: Mapping[Layer, Sequence[Item]]) -> list[tuple[str, list[Item]]]:
    claims = {_claim(item.value) for item in chosen.get(Layer.FACTS, ())}
    sections = []
    for layer, title in _SECTIONS_WITH_CHANGES:
        items = list(chosen.get(layer, ()))
        if layer is Layer.FACTS:
            items = [item for item in items if (item.changed is not None) == (title == _CHANGED)]
        if layer is Layer.EVENTS:
            items.sort(key=_when)
        if layer is Layer.BELIEFS:
            items = [item for item in items if _claim(item.value) not in claims]
        if items:
            sections.append((title, items))
    return sections


_SECTIONS_WITH_CHANGES: Final = tuple(
    entry
    for section in _SECTIONS
    for entry in ((section, (Layer.FACTS, _CHANGED)) if section[0] is Layer.EVENTS else (section,))
)


def _claim(value: Event | Record) -> tuple[str, str, str, bool] | None:
    if isinstance(value, Claim):
        return value.subject.id, value.predicate, value.object.key, value.negated
    return None


def _when(item: Item) -> tuple[Instant, str]:
    assert isinstance(item.value, Event), "the events section holds events"
    return item.value.context.observed_at, item.id
