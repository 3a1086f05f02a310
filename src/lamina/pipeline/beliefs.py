"""Beliefs: what the facts of a scope amount to, as a Beta posterior over weighted supports.

Evidence counts by distinct voice, not by repetition: of one voice's statements of a claim only the strongest
counts, so saying a thing again (or hearing it recalled and agreeing) adds nothing. All for whom one delegated writer
speaks are one voice (``voices.py``).

Whatever touches a matter has its beliefs drawn anew from all its facts (``evidence.py``), so that they do not depend on the order
in which these came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from lamina.kernel.belief_rules import BeliefRules
from lamina.kernel.events import Event, Trust
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import (
    Author,
    Belief,
    Evidence,
    Fact,
    Loop,
    Stance,
    Support,
)
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.pipeline.bearing import BelievedMatter, beliefs_held, facts_told, matter_of
from lamina.pipeline.deletions import deletion_of
from lamina.pipeline.evidence import Attested, Conviction, Testimony, convictions
from lamina.pipeline.hearsay import is_hearsay
from lamina.pipeline.matters import is_shared, is_told_over
from lamina.pipeline.moved import is_inside, leave_out_moved
from lamina.pipeline.posterior import Posterior
from lamina.pipeline.senders import Senders, SentFacts
from lamina.pipeline.travelling import travelled
from lamina.pipeline.view import View
from lamina.pipeline.voices import independent, voices_of
from lamina.store.ports.writes import Closing, Writes
from lamina.store.rules.redacting import demoted

__all__ = ["BeliefReviser"]

SUPPORTED_FROM: Final = 0.6
CONTRADICTED_TO: Final = 0.4

_WORDS_MAX: Final = 8
"""So many words of an actor for a fact are read: some may not be for the scope that believes, or hold for a time only."""

_UNBELIEVED_KINDS = frozenset({"event", "commitment"})


_Told = tuple[Fact, Support, Event]
"""A fact, a statement of it, and the event that makes it."""


class BeliefReviser:
    """Revises the beliefs that an event's facts touch."""

    def __init__(self, view: View, senders: Senders) -> None:
        self._view = view
        self._senders = senders

    def revise(self, facts: Sequence[Fact]) -> Writes:
        """New versions of the beliefs about what these facts claim, in the event's scope and where it consolidates: facts that the
        event told, and such as it took back or moved."""
        return self.revise_of(self._view.event, facts)

    def revise_of(self, told: Event | None, facts: Sequence[Fact]) -> Writes:
        """Mirrors ``revise`` for facts of another event; None for one that is there no more."""
        writes = Writes()
        event = self._view.event
        if not event.directives.wants("beliefs"):
            return writes
        into = None if told is None else told.directives.consolidate_into
        for scope in dict.fromkeys([event.scope, into or event.scope]):
            view = self._view.named_in(scope)
            named = facts if told is None else self._senders.told_by(view, told, facts)
            matters: dict[tuple[str, tuple[str, ...], str | None], BelievedMatter] = {}
            for fact in sorted(named, key=lambda fact: fact.id):
                if fact.kind not in _UNBELIEVED_KINDS:
                    matter = matter_of(view, fact, scope)
                    matters.setdefault(matter.key, matter)
            for matter in matters.values():
                self._redraw(view, matter, writes, comes_back=told is not event)
            self._view.saw_excluded |= view.saw_excluded
        return writes

    def _redraw(self, view: View, matter: BelievedMatter, writes: Writes, *, comes_back: bool) -> None:
        """Put the beliefs of a matter as its facts have them, in the scope by which the names of a view stand; where ``comes_back``, one
        that had ended goes on."""
        event, scope = view.event, view.naming
        held = beliefs_held(view, matter, scope)
        told = facts_told(view, matter, scope)
        theirs = self._senders.facts_of(view, matter)
        beside = {each.id for each in told.values() if not _is_of(matter, each)}
        for sent in theirs:
            beside |= {
                sent.held_as.get(key, key) for key, each in sent.facts.items() if not _is_of(matter, each)
            }
        if beside:
            # While a term of a vocabulary had many values, each was a matter of its own.
            held = {key: each for key, each in held.items() if not _rests_within(each, beside)}
        own = self._attested(view, [each for each in told.values() if _is_of(matter, each)], scope)
        sent_here = [each for sent in theirs for each in self._sent(sent, matter, scope)]
        drawn = [_by_records(each) for each in convictions(self._with_voices(own + sent_here))]
        bare = _without_words(drawn, own + sent_here)
        rules = self._view.belief_rules() if drawn else BeliefRules()
        standing = [each for each in drawn if each.posterior.mean >= rules.confidence_floor]
        named = _named(event, scope, standing, held)
        named = {key: each for key, each in named.items() if isinstance(each, Belief) or key not in bare}
        if comes_back:
            named |= _come_back(view, [each for each in standing if isinstance(named.get(id(each)), _New)])
        standing = [each for each in standing if id(each) in named]
        ids = {number: named[id(each)].id for number, each in enumerate(drawn) if id(each) in named}
        known = self._view.supports_of(sorted(ids.values()))
        for conviction in standing:
            before = named[id(conviction)]
            fresh = _belief(
                event, scope, conviction, before, [ids[n] for n in conviction.against if n in ids], rules
            )
            if id(conviction) in bare and isinstance(before, Belief) and before.demoted_by is not None:
                # No words are left that say whose they were.
                fresh = replace(demoted(fresh, before.demoted_by), said_by=before.said_by)
            _put(event, held.get(fresh.id), fresh, writes)
            has = {(each.source_id, each.relation) for each in known.get(fresh.id, ())}
            writes.supports += [
                each for each in _supports(event, fresh) if (each.source_id, each.relation) not in has
            ]
        kept = set(ids.values())
        gone = {belief_id: held[belief_id] for belief_id in sorted(held.keys() - kept)}
        fallen = [each for each in drawn if id(each) not in named]
        below = {each.id for each in _named(event, scope, fallen, gone).values()}
        for belief_id, belief in gone.items():
            into = min((named[id(each)].id for each in standing if _takes_in(each, belief)), default=None)
            if into is None and belief_id in below:
                writes.audits.append(deletion_of(event, belief, rules.confidence_floor))
                into = writes.audits[-1].id
            ended_at = event.recorded_at
            writes.closings.append(Closing.of(belief, ended_at, into))

    def _sent(self, sent: SentFacts, matter: BelievedMatter, scope: Scope) -> list[_Told]:
        """What other scopes sent of their facts into one."""
        facts = [each for each in sent.facts.values() if _is_of(matter, each)]
        found = [
            (replace(fact, id=sent.held_as.get(fact.id, fact.id)), said)
            for fact, said in (travelled(sent.view, facts, scope) if facts else ())
        ]
        events = self._sources({each.source_id for _, said in found for each in said})
        return [
            (fact, each, events[each.source_id])
            for fact, said in found
            for each in said
            if each.source_id in events and _bears_on(events[each.source_id], fact, scope)
        ]

    def _attested(self, view: View, facts: Sequence[Fact], scope: Scope) -> list[_Told]:
        """The facts of a scope with what was said of them there."""
        supports = view.standing_supports({fact.id for fact in facts})
        said = {
            fact_id: [s for s in found if s.relation == Tie.EXTRACTED_FROM]
            for fact_id, found in supports.items()
        }
        leave_out_moved(view, facts, said)
        said = {fact.id: _strongest(fact, said[fact.id]) for fact in facts if fact.id in said}
        events = self._sources({each.source_id for found in said.values() for each in found})
        return [
            (fact, each, events[each.source_id])
            for fact in facts
            for each in said.get(fact.id, ())
            if each.source_id in events and _bears_on(events[each.source_id], fact, scope)
        ]

    def _sources(self, ids: set[str]) -> dict[str, Event]:
        own = self._view.event
        return {**(self._view.events(ids - {own.id}) if ids - {own.id} else {}), own.id: own}

    def _with_voices(self, told: Sequence[_Told]) -> list[Attested]:
        """Facts with what was said of them, by whom among all who speak of the matter."""
        voices = independent(voices_of(source) for _, _, source in told)
        handed_over = self._handed_over({fact.id for fact, _, _ in told})
        parts: dict[tuple[str, str, Instant], tuple[Fact, list[Testimony]]] = {}
        for fact, each, source in told:
            is_hearsay_of_it = (fact.id, each.source_id) in handed_over or is_hearsay(
                source, fact.kind, fact.predicate
            )
            one = _statement(each, source, voices[min(voices_of(source))], is_hearsay=is_hearsay_of_it)
            parts.setdefault((fact.id, fact.claim_key, fact.valid_from), (fact, []))[1].append(one)
        found: list[Attested] = []
        stretches = Counter[str]()
        for fact, statements in parts.values():
            stretches[fact.id] += 1
            own = fact if stretches[fact.id] == 1 else replace(fact, id=f"{fact.id}#{stretches[fact.id]}")
            found.append(Attested(own, statements))
        return found

    def _handed_over(self, fact_ids: set[str]) -> set[tuple[str, str]]:
        """The statements, each with its fact, that stand where somebody else's words may."""
        supports = self._view.supports_of(fact_ids)
        return {
            (fact_id, each.source_id)
            for fact_id, found in supports.items()
            for each in found
            if each.relation == Tie.HANDED_OVER_IN
        }


def _without_words(drawn: Sequence[Conviction], told: Sequence[_Told]) -> set[int]:
    """The convictions for which nothing speaks but events whose words were erased: they go on, and none begins."""
    worded = {fact.id for fact, _, event in told if event.redacted_by is None}
    return {id(each) for each in drawn if all(fact.id not in worded for fact in each.facts)}


def _by_records(drawn: Conviction) -> Conviction:
    """A conviction with the records of its facts: one record may stand for several stretches."""
    weights: dict[tuple[str, Literal["supports", "against"]], float] = {}
    for each in drawn.evidence:
        key = (each.source_id.partition("#")[0], each.polarity)
        weights[key] = max(weights.get(key, 0.0), each.weight)
    return replace(
        drawn,
        facts=[replace(fact, id=fact.id.partition("#")[0]) for fact in drawn.facts],
        evidence=tuple(Evidence(key, weight, side) for (key, side), weight in weights.items()),
    )


def _strongest(fact: Fact, said: Sequence[Support]) -> list[Support]:
    """What each actor said of a fact in its time and beside it: of much the surest and latest, since of one actor no more than the surest
    word counts."""
    groups: dict[tuple[str | None, bool], list[Support]] = {}
    for each in said:
        groups.setdefault((each.actor, is_inside(fact, each)), []).append(each)
    for group in groups.values():
        group.sort(key=lambda each: (-each.weight, -each.since, each.source_id))
    return [each for group in groups.values() for each in group[:_WORDS_MAX]]


def _is_of(matter: BelievedMatter, fact: Fact) -> bool:
    if isinstance(fact, Loop) or fact.kind in _UNBELIEVED_KINDS:
        return False
    return matter.words is not None or fact.slot is None or not is_shared(fact)


def _bears_on(source: Event, fact: Fact, scope: Scope) -> bool:
    """Whether a scope is to believe what an event says; "I used to live in Rome" says nothing of the present."""
    is_over = fact.valid_to is not None and fact.valid_to <= source.context.observed_at
    was_over = fact.slot is None and (is_over or is_told_over(fact))
    reaches = scope in (source.scope, source.directives.consolidate_into)
    return reaches and not was_over and source.directives.wants("beliefs")


def _statement(support: Support, source: Event, voice: str, *, is_hearsay: bool) -> Testimony:
    ttl = source.directives.belief_ttl_us
    return Testimony(
        support.source_id,
        voice,
        support.weight,
        support.since,
        None if ttl is None else source.context.observed_at + ttl,
        is_hearsay,
    )


def _named(
    event: Event, scope: Scope, drawn: Sequence[Conviction], held: dict[str, Belief]
) -> dict[int, Belief | _New]:
    """Which belief each conviction is: the one that rests on most of the same facts, then one of its time; else a new one."""
    free: dict[str, dict[str, Belief]] = {}
    for belief in held.values():
        free.setdefault(belief.claim_key, {})[belief.id] = belief
    behind = {belief.id: _facts_of(belief) for belief in held.values()}
    named: dict[int, Belief | _New] = {}
    for number, conviction in enumerate(drawn):
        facts = {fact.id for fact in conviction.facts}
        same = free.get(conviction.claim_key, {})
        fitting = [
            (-shared, not overlaps, each.id)
            for each in same.values()
            for shared, overlaps in ((len(facts & behind[each.id]), _overlap(each, conviction)),)
            if shared or overlaps
        ]
        if fitting:
            named[id(conviction)] = same.pop(min(fitting)[-1])
        else:
            named[id(conviction)] = _New(
                derived_id(Prefix.BELIEF, event.recorded_at, event.id, scope, conviction.claim_key, number)
            )
    return named


@dataclass(frozen=True, slots=True)
class _New:
    id: str


def _come_back(view: View, drawn: Sequence[Conviction]) -> dict[int, Belief]:
    """Which beliefs that had ended convictions are, by the facts on which these rested: what ended them is gone."""
    found: dict[int, Belief] = {}
    taken: set[str] = set()
    for conviction in drawn:
        behind = view.dependants_of({fact.id for fact in conviction.facts})
        ids = {each.record_id for each in behind if each.relation == Tie.SUPPORTED_BY} - taken
        ended = [
            each
            for each in map(view.record, sorted(ids))
            if isinstance(each, Belief)
            and (each.scope, each.claim_key) == (view.naming, conviction.claim_key)
            if each.recorded_to is not None and each.stance is not Stance.DEPRECATED
        ]
        if ended:
            found[id(conviction)] = max(ended, key=lambda each: (each.recorded_to or 0, each.id))
            taken.add(found[id(conviction)].id)
    return found


def _facts_of(belief: Belief) -> set[str]:
    return {each.source_id for each in belief.evidence if each.polarity == "supports"}


def _rests_within(belief: Belief, fact_ids: Collection[str]) -> bool:
    facts = _facts_of(belief)
    return bool(facts) and all(each in fact_ids for each in facts)


def _takes_in(conviction: Conviction, gone: Belief) -> bool:
    """Whether what is to be believed now says what a belief that is gone did, of the same facts or the same time."""
    if conviction.claim_key != gone.claim_key:
        return False
    return _overlap(gone, conviction) or bool(_facts_of(gone) & {fact.id for fact in conviction.facts})


def _overlap(belief: Belief, conviction: Conviction) -> bool:
    starts_before = conviction.valid_to is None or belief.valid_from < conviction.valid_to
    return starts_before and (belief.valid_to is None or conviction.valid_from < belief.valid_to)


def _belief(
    event: Event,
    scope: Scope,
    drawn: Conviction,
    before: Belief | _New,
    contradicts: Collection[str],
    rules: BeliefRules,
) -> Belief:
    """The belief that a conviction is, as the version after ``before``."""
    first, facts, posterior = drawn.facts[0], drawn.facts, drawn.posterior
    lower, upper = posterior.interval()
    last = next((each for each in facts if each.valid_to == drawn.valid_to), facts[-1])
    old = before if isinstance(before, Belief) else None
    revised_at: tuple[Instant, ...] = (event.recorded_at,)
    revisions = 0
    if old is not None:
        known = old.revised_at or (old.recorded_from,)
        revised_at, revisions = rules.revised(known, waits=old.awaits_revision, at=event.recorded_at)
    return Belief(
        tenant_id=event.tenant_id,
        id=before.id,
        scope=scope,
        version=1 if old is None else old.version + 1,
        position=event.position,
        confidence=round(posterior.mean, 4),
        valid_from=drawn.valid_from,
        valid_to=drawn.valid_to,
        from_offset=first.from_offset,
        to_offset=None if drawn.valid_to is None else last.from_offset if drawn.expires else last.to_offset,
        recorded_from=event.recorded_at,
        subject=first.subject,
        predicate=first.predicate,
        object=first.object,
        negated=first.negated,
        stance=_stance(posterior),
        external=all(fact.external for fact in facts),
        trust=Trust.most(fact.trust for fact in facts),
        by_assistant=all(fact.by_assistant for fact in facts),
        handed_over=all(fact.handed_over for fact in facts),
        said_by=_said_by(facts),
        alpha=posterior.alpha,
        beta=posterior.beta,
        lower=lower,
        upper=upper,
        revision_count=0 if old is None else old.revision_count + revisions,
        contradicts=tuple(sorted(contradicts)),
        evidence=drawn.evidence,
        revised_at=revised_at,
    )


def _said_by(facts: Sequence[Fact]) -> Author | None:
    """Who says it of somebody else, as long as no more than hearsay and others do."""
    words = [fact for fact in facts if not fact.external]
    if not words or any(fact.said_by is None for fact in words):
        return None
    return words[0].said_by


def _stance(posterior: Posterior) -> Stance:
    if posterior.mean >= SUPPORTED_FROM:
        return Stance.SUPPORTED
    return Stance.CONTRADICTED if posterior.mean <= CONTRADICTED_TO else Stance.UNCERTAIN


def _supports(event: Event, belief: Belief) -> list[Support]:
    return [
        Support(
            tenant_id=event.tenant_id,
            record_id=belief.id,
            source_id=each.source_id,
            relation=Tie.SUPPORTED_BY if each.polarity == "supports" else Tie.CONTRADICTED_BY,
            weight=each.weight,
            polarity=each.polarity,
            recorded_at=event.recorded_at,
        )
        for each in belief.evidence
    ]


def _put(event: Event, held: Belief | None, fresh: Belief, writes: Writes) -> None:
    """Put a version where it says something else than the one held."""
    if held is None:
        writes.records.append(fresh)
        return
    as_held = replace(
        fresh,
        version=held.version,
        position=held.position,
        recorded_from=held.recorded_from,
        revision_count=held.revision_count,
        revised_at=held.revised_at,
        excluded=held.excluded,
    )
    if as_held != held:
        writes.closings.append(Closing.of(held, event.recorded_at))
        writes.records.append(fresh)
