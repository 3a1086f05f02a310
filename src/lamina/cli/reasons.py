"""Records in words, one after the other: for the pages of ``lamina why`` and of what was learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from lamina import limits
from lamina.client import Client
from lamina.errors import Forbidden, Gone, Invalid, NotFound
from lamina.kernel.events import text_of
from lamina.kernel.ids import Prefix, prefix_of
from lamina.kernel.local import LocalTime, day_text, offset_of_or_none
from lamina.kernel.records import Stance
from lamina.kernel.shown import shortened
from lamina.kernel.time import rfc3339
from lamina.kernel.views import BeliefView, ConceptView, EpisodeView, EventView, FactView
from lamina.kernel.views.parts import ClaimedView, DerivedView

__all__ = ["InWords", "in_words", "require_explicable", "words_of"]

WORDED_MAX: Final = 20
"""How many records a page says in words beside their ids; each takes a call of its own."""

_RecordView = EventView | EpisodeView | FactView | BeliefView | ConceptView


@dataclass(frozen=True, slots=True)
class InWords:
    """A record in words, what is to be said of it, and the stance of a belief that is doubted."""

    words: str
    said_of_it: str = ""
    doubt: str = ""


def require_explicable(record_id: str) -> Prefix:
    """The kind of a record that ``why`` explains; raises ``Invalid`` (INVALID_ID) for an id of another kind."""
    prefix = prefix_of(record_id)
    if prefix is None or prefix not in _READ:
        raise Invalid(
            "INVALID_ID",
            f"{record_id[:64]!r} names no memory",
            hint="why takes the ids that recall shows: belief_…, fact_…, ep_…, concept_… and evt_…",
        )
    return prefix


def words_of(client: Client, record_ids: Sequence[str]) -> dict[str, str]:
    """The first records in words, by their ids, with the stance of a belief that is doubted; those that are not the caller's to read have none."""
    found = {record_id: _found(client, record_id) for record_id in record_ids[:WORDED_MAX]}
    return {
        record_id: _cut(told.words) + (f" ({told.doubt})" if told.doubt else "")
        for record_id, told in found.items()
        if told is not None
    }


def in_words(record: _RecordView) -> InWords:
    """A record of any layer in words."""
    match record:
        case FactView():
            return _fact(record)
        case BeliefView():
            return _belief(record)
        case EpisodeView():
            return _episode(record)
        case ConceptView():
            return _concept(record)
        case _:
            return _event(record)


def _found(client: Client, record_id: str) -> InWords | None:
    try:
        return in_words(_READ[require_explicable(record_id)](client, record_id))
    except (NotFound, Forbidden, Gone, Invalid):
        return None


def _fact(fact: FactView) -> InWords:
    said = f"fact, {_holds(fact)}"
    if fact.superseded_by is not None:
        said += f", superseded by {fact.superseded_by}"
    return InWords(fact.in_words, said)


def _belief(belief: BeliefView) -> InWords:
    doubt = "" if belief.stance is Stance.SUPPORTED else belief.stance.value
    return InWords(belief.in_words, f"belief, {_holds(belief)}", doubt)


def _episode(episode: EpisodeView) -> InWords:
    span = f"{rfc3339(episode.started_at)[:16]} to {rfc3339(episode.ended_at)[:16]}"
    who = ", ".join(episode.actors_involved)
    return InWords(episode.name, f"episode, {span}" + (f", with {who}" if who else ""))


def _concept(concept: ConceptView) -> InWords:
    words = f"{concept.name}: {concept.summary}" if concept.summary else concept.name
    return InWords(words, f"concept, {_holds(concept)}")


def _event(event: EventView) -> InWords:
    said = (
        f"event, happened {_happened(event)}, recorded {rfc3339(event.context.recorded_at)} in {event.scope}"
    )
    return InWords(f"{event.observed_actor.name or event.actor}: {text_of(event.content or {})}", said)


def _happened(event: EventView) -> str:
    context = event.context
    return str(LocalTime(context.observed_at, offset_of_or_none(context.observed_offset)))


_READ: Final[dict[Prefix, Callable[[Client, str], _RecordView]]] = {
    Prefix.FACT: lambda client, record_id: client.facts.get(record_id),
    Prefix.BELIEF: lambda client, record_id: client.beliefs.get(record_id),
    Prefix.EPISODE: lambda client, record_id: client.episodes.get(record_id),
    Prefix.CONCEPT: lambda client, record_id: client.understanding.get(record_id),
    Prefix.EVENT: lambda client, record_id: client.events.get(record_id),
}


def _holds(record: DerivedView) -> str:
    from_offset, to_offset = (
        (record.valid_from_offset, record.valid_to_offset)
        if isinstance(record, ClaimedView)
        else (None, None)
    )
    until = "" if record.valid_to is None else f" until {_day(record.valid_to, to_offset)}"
    return (
        f"holds since {_day(record.valid_from, from_offset)}{until}, confidence {record.confidence:.2f},"
        f" recorded {rfc3339(record.recorded_from)} in {record.scope}"
    )


def _day(at: int, offset: str | None) -> str:
    return day_text(at, offset_of_or_none(offset))


def _cut(text: str) -> str:
    return shortened(text, limits.SUMMARY_LENGTH_MAX)
