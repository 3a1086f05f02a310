"""How an event is without its words, and how much of what a belief rests on is (seed 002, 11.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from lamina.kernel.events import REDACTED, Context, Directives, Event, Origin, Party, Stage
from lamina.kernel.records import Belief, Evidence, Fact, Record, Stance, Support, is_event
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie

__all__ = [
    "demoted",
    "is_worded_entry",
    "leaves_of",
    "over_renamed",
    "redacted_event",
    "redacted_share",
    "unnamed_entry",
    "unsent_event",
    "wordless_directives",
    "wordless_entry",
]

"""The relation of a fact to an event that says so."""

_WORDS_OF_ENTRY: Final = frozenset({"why", "name", "topics"})
"""What of an entry of the log is the caller's words: a reason, the name that a split gives, the topics of a synthesis."""

_PROGRAMS: Final = ("agent:", "service:", "app:", "system:")


def redacted_event(event: Event, erasure_id: str, actor: str | None, told: Iterable[Record]) -> Event:
    """The event with its place and times alone: id, position, scope, and where no ``actor`` stands in their place, who said it.

    Whether what it said is for another scope stays, too, for what rests on it there; of the names for that only those that the
    surviving claims, ``told``, have themselves. It is out of recall and lists like a cancelled one.
    """
    party = event.observed_actor if actor is None else Party(actor, event.observed_actor.type)
    caller = event.caller if actor is None or event.caller.startswith(_PROGRAMS) else actor
    said, only = event.directives, event.directives.consolidate_only
    if only is not None:
        known = {word for record in told if isinstance(record, Fact) for word in _names(record)}
        only = tuple(each for each in only if each.casefold() in known)
    return replace(
        event,
        caller=caller,
        observed_actor=party._replace(name=None),
        subject=Party.of(event.subject.id) if actor is None else party._replace(name=None),
        session=None,
        content={"kind": REDACTED, "original_kind": str(event.content.get("kind", ""))},
        context=Context(observed_at=event.context.observed_at, observed_offset=event.context.observed_offset),
        directives=Directives(
            consolidate_into=said.consolidate_into,
            consolidate_only=only,
            belief_ttl_us=said.belief_ttl_us,
            embed="none",
        ),
        origin=Origin(caller, event.origin.channel, event.origin.trust),
        batch_id=None,
        # Also of what was derived before it was cancelled or expired: without its words it is not derived any more.
        cancelled_after=Stage.CAPTURED,
        redacted_by=erasure_id,
        bears_out=event.counts,
    )


def _names(fact: Fact) -> tuple[str, ...]:
    return fact.predicate, fact.subject.name.casefold(), fact.object.text.casefold()


def leaves_of(belief: Belief, supports: Mapping[str, Sequence[Support]]) -> set[str]:
    """The events that speak for a belief, through its facts; a fact that is no more stands for itself."""
    found: set[str] = set()
    for each in belief.evidence:
        if each.polarity == "supports":
            said = {s.source_id for s in supports.get(each.source_id, ()) if s.relation == Tie.EXTRACTED_FROM}
            found |= said or {each.source_id}
    return found


def redacted_share(
    scope: Scope, leaves: Iterable[str], event_of: Callable[[str], Event | None], going: Collection[str] = ()
) -> float:
    """The share of what a belief of a scope rests on that has no words any more, or is among what is ``going``, 0 to 1.

    Of what other scopes said of it that counts alone which they sent there: of the rest nothing may show.
    """
    told = {each: event_of(each) if is_event(each) else None for each in leaves}
    said = [key for key, event in told.items() if event is None or scope in _told_in(event)]
    gone = sum(key in going or (event := told[key]) is None or event.redacted_by is not None for key in said)
    return gone / len(said) if said else 0.0


def _told_in(event: Event) -> tuple[Scope | None, ...]:
    return event.scope, event.directives.consolidate_into


def demoted(belief: Belief, factor: float) -> Belief:
    """A belief of whose words none are left: as much evidence as before, and less confidence."""
    mass = belief.alpha + belief.beta
    mean = belief.alpha / mass * factor
    return replace(
        belief,
        confidence=round(belief.confidence * factor, 4),
        stance=Stance.UNCERTAIN,
        alpha=round(mass * mean, 6),
        beta=round(mass * (1.0 - mean), 6),
        lower=round(belief.lower * factor, 6),
        upper=round(belief.upper * factor, 6),
        demoted_by=factor,
    )


def unsent_event(event: Event) -> Event:
    """An event whose claims are for its own scope alone."""
    return replace(event, directives=replace(event.directives, consolidate_into=None, consolidate_only=None))


def is_worded_entry(event: Event) -> bool:
    """Whether an event is an entry of the log with words of who made it, or of the turn that it is about."""
    return event.is_entry and event != wordless_entry(event)


def wordless_entry(entry: Event) -> Event:
    """An entry of the log that says what was decided and by whom, in ids alone.

    That of a cancellation, or of what a model read in a turn, has the turn's parties and directives.
    """
    return replace(
        _without(entry, _WORDS_OF_ENTRY),
        observed_actor=entry.observed_actor._replace(name=None),
        subject=entry.subject._replace(name=None),
        directives=wordless_directives(entry.directives),
    )


def unnamed_entry(entry: Event, stand_in: str) -> Event:
    """An entry of the log that says what was decided, and neither who did nor why."""
    party = Party(stand_in, entry.observed_actor.type)
    caller = entry.caller if entry.caller.startswith(_PROGRAMS) else stand_in
    return replace(
        _without(entry, {"why"}),
        caller=caller,
        observed_actor=party,
        subject=party,
        directives=wordless_directives(entry.directives),
        origin=entry.origin._replace(principal=caller),
    )


def wordless_directives(directives: Directives) -> Directives:
    """The directives of a turn, of whose names none travels any more: nothing is sent for an entry."""
    return directives if directives.consolidate_only is None else replace(directives, consolidate_only=())


def _without(entry: Event, names: Collection[str]) -> Event:
    return replace(entry, content={name: said for name, said in entry.content.items() if name not in names})


def over_renamed(record: Record, renamed: Mapping[str, str]) -> Record:
    """A belief that rests on facts by their new ids."""
    if not isinstance(record, Belief) or not renamed:
        return record
    evidence = tuple(
        Evidence(renamed.get(each.source_id, each.source_id), each.weight, each.polarity)
        for each in record.evidence
    )
    return replace(record, evidence=evidence)
