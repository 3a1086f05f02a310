"""What a record rests on, in words, down to what was said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from lamina import limits
from lamina.errors import Forbidden, Gone, Invalid, NotFound
from lamina.kernel.events import text_of
from lamina.kernel.ids import Prefix, prefix_of
from lamina.kernel.relay import rests_on
from lamina.kernel.shown import cut_between_words, on_one_line, quoted
from lamina.kernel.time import rfc3339
from lamina.mcp.arguments import Reason, WhyResult

__all__ = ["explained"]

_NODES_MAX: Final = 30
"""Each is a read of its own: what fits a context, and not what a memory holds."""
_GONE: Final = "(gone, no longer held, or not yours to read)"

_Ask = Callable[[str, Mapping[str, Any]], Any]
"""The result of an operation, by its name."""


@dataclass(frozen=True, slots=True)
class _Worded:
    words: str
    rests_on: tuple[str, ...] = ()
    made_from: tuple[str, ...] = ()
    """Of an event that tells of a document: the events that this was made from."""


def explained(record_id: str, ask: _Ask) -> WhyResult:
    """A record and what it rests on, nearest first, down to the events; of an event, what it was made from and what was drawn from it.

    Raises ``Invalid`` (INVALID_ID) for an id of another kind, and what reading the record raises.
    """
    if prefix_of(record_id) not in _READ:
        raise Invalid(
            "INVALID_ID",
            f"{record_id[:64]!r} names no memory",
            hint="why takes the ids that recall shows: fact_…, belief_…, ep_…, concept_… and evt_…",
            details={"field": "id"},
        )
    worded = _read(record_id, ask)
    found: list[Reason] = []
    goes_on = prefix_of(record_id) is not Prefix.EVENT
    _walk(worded, ask, found, {record_id}, depth=1, goes_on=goes_on)
    return WhyResult(id=record_id, words=worded.words, rests_on=found)


def _walk(
    worded: _Worded, ask: _Ask, found: list[Reason], seen: set[str], *, depth: int, goes_on: bool
) -> None:
    for each in (*worded.made_from, *worded.rests_on):
        if each in seen or len(found) == _NODES_MAX:
            continue
        seen.add(each)
        try:
            below = _read(each, ask)
        except (NotFound, Forbidden, Gone, Invalid):
            found.append(Reason(id=each, words=_GONE, depth=depth))
            continue
        found.append(Reason(id=each, words=below.words, depth=depth))
        if prefix_of(each) is Prefix.EVENT:
            below = replace(below, rests_on=())
        if depth < limits.WHY_DEPTH_MAX and (goes_on or below.made_from):
            _walk(below, ask, found, seen, depth=depth + 1, goes_on=goes_on)


def _read(record_id: str, ask: _Ask) -> _Worded:
    prefix = prefix_of(record_id)
    if prefix is None or prefix not in _READ:
        raise Invalid("INVALID_ID", f"{record_id[:64]!r} names no memory", hint="recall shows ids")
    return _READ[prefix](record_id, ask)


def _fact(record_id: str, ask: _Ask) -> _Worded:
    fact = ask("fact", {"fact_id": record_id})
    ended = f", superseded by {fact.superseded_by}" if fact.superseded_by else ""
    return _Worded(
        f"Fact: {on_one_line(fact.in_words)} (confidence {fact.confidence:.2f}{ended})", tuple(fact.supports)
    )


def _belief(record_id: str, ask: _Ask) -> _Worded:
    belief = ask("belief", {"belief_id": record_id})
    stance = f"{belief.stance.value}, confidence {belief.confidence:.2f}"
    return _Worded(
        f"Belief: {on_one_line(belief.in_words)} ({stance})", tuple(each.id for each in belief.supports)
    )


def _episode(record_id: str, ask: _Ask) -> _Worded:
    episode = ask("episode", {"episode_id": record_id})
    return _Worded(f"Episode: {on_one_line(episode.name)}", tuple(episode.events))


def _concept(record_id: str, ask: _Ask) -> _Worded:
    concept = ask("concept", {"concept_id": record_id})
    known = concept.supported_by
    below = (*known.concepts, *known.beliefs, *known.facts, *known.episodes, *known.events)
    return _Worded(f"Concept: {on_one_line(concept.name)}", below)


def _event(record_id: str, ask: _Ask) -> _Worded:
    event = ask("event", {"event_id": record_id})
    text = cut_between_words(text_of(event.content or {}), limits.SUMMARY_LENGTH_MAX)
    who = on_one_line(event.observed_actor.name or event.actor)
    said = f"Said by {who} at {rfc3339(event.context.observed_at)}: {quoted(text)}"
    return _Worded(said, tuple(event.derives), rests_on(event.content or {}, event.origin.channel))


_READ: Final[Mapping[Prefix, Callable[[str, _Ask], _Worded]]] = {
    Prefix.FACT: _fact,
    Prefix.BELIEF: _belief,
    Prefix.EPISODE: _episode,
    Prefix.CONCEPT: _concept,
    Prefix.EVENT: _event,
}
