"""Rendering: items as lines of a context block, with citations.

Stored text is data. What somebody said appears on one line, inside quotation marks, in events with who said it and when; what came out
of a tool or a document says so. Names, facts, beliefs and understanding are put in Lamina's own sentences. Nothing that was stored can open a
section of the block, or pose as one of its markers: ``[1]`` in a text is shown as ``(1)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lamina.kernel.changes import change_mark
from lamina.kernel.events import Event, Trust
from lamina.kernel.local import day_text, minute_text
from lamina.kernel.names import scope_segment
from lamina.kernel.records import Belief, Claim, Concept, Episode, Fact, Layer, Record
from lamina.kernel.shown import is_plain, unquoted, without_markers
from lamina.kernel.time import Instant, rfc3339
from lamina.recall.excerpts import Beginning, Excerpts, reading_of
from lamina.recall.naming import Called
from lamina.recall.pack import Item
from lamina.types.recall import CitationMode

__all__ = [
    "QUARANTINE_MARK",
    "SNIPPET_CHARS",
    "Block",
    "beginning",
    "is_as_told",
    "line_of",
    "render_block",
]

SNIPPET_CHARS: Final = 480

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
_UNSURE_BELOW: Final = 0.55
"""What is said with "maybe" or "I think" is less sure (``extract/emitter.py``), and nothing is that is said plainly."""


def line_of(
    value: Event | Record,
    terms: Sequence[str],
    *,
    mark: str = "",
    called: Called | None = None,
    said_at: Instant | None = None,
    chars: int = SNIPPET_CHARS,
    excerpts: Excerpts | None = None,
    nearest: bool = False,
) -> str:
    """The line of an item, without its marker, with up to ``chars`` of what an event says, cut from its ``excerpts`` where they are at hand, by the question's words or what is ``nearest`` to it.
    ``mark`` stands behind who said what an event says, and at the end elsewhere; what was said stays as it was, and elsewhere the user is named
    as they are ``called``. ``said_at`` is when the turn was said that tells a fact."""
    if isinstance(value, Event):
        excerpts = excerpts or Excerpts(reading_of(value), terms)
        begins = excerpts.beginning
        if begins is None:
            begins = excerpts.beginning = beginning(value, mark, called)
        line = f"{begins.text} {excerpts.quoted(chars, nearest=nearest)}"
        return line if begins.is_plain and excerpts.is_plain else without_markers(line)
    return without_markers(_worded(value, called, said_at) + mark)


def _worded(value: Record, called: Called | None, said_at: Instant | None) -> str:
    match value:
        case Fact():
            text = value.text if called is None else called.said_of(value, value.text)
            return f"{without_markers(text)} ({_validity(value, said_at)}{_ended(value)}{_source(value) or _doubt(value)})"
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


def is_as_told(event: Event, mark: str, called: Called | None) -> bool:
    """Whether nothing stands behind the speaker's name, and that is shown as it is."""
    name = event.observed_actor.display_name
    return not mark and (called is None or called.who(name) == name)


def beginning(event: Event, mark: str, called: Called | None) -> Beginning:
    """What stands before the words of an event in its line: when it was said, and by whom."""
    source = ""
    if event.origin.trust is Trust.EXTERNAL:
        source = f" ({unquoted(event.modality.replace('_', ' '))}, quoted)"
    source += mark
    day = minute_text(event.context.observed_at, event.offset)
    speaker = event.observed_actor.display_name
    if called is not None:
        speaker = called.who(speaker)
    begins = " ".join(f"{day} {unquoted(speaker)}{source}:".split())
    return Beginning(begins, is_plain(begins))


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


def _doubt(fact: Fact) -> str:
    return "; unsure" if fact.confidence < _UNSURE_BELOW else ""


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
