"""Beliefs: what the facts of a scope amount to, as a Beta posterior over weighted supports.

Evidence counts by distinct observed actor, not by repetition: of one actor's statements of a claim only the strongest
counts, so saying a thing again (or hearing it recalled and agreeing) adds nothing. An orchestrator that speaks for several
people brings each one's word: whoever may write for others is trusted with their voices. A later value of the same
slot speaks against the claim that it replaced; hearsay (``hearsay.py``) does not against anybody's word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Final, Literal

from lamina.kernel.events import Event
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.local import Offset
from lamina.kernel.records import Author, Belief, Fact, Layer, Stance, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.pipeline.posterior import Posterior
from lamina.pipeline.view import View
from lamina.store.ports.writes import Closing, Writes

__all__ = ["CONFIDENCE_FLOOR", "BeliefReviser"]

EVIDENCE_STRENGTH: Final = 3.0
"""How many coin tosses one certain statement is worth against the uniform prior."""

CONFIDENCE_FLOOR: Final = 0.3
"""A belief below it is deleted (seed 002, 7.4 and 18.2 item 16)."""

SUPERSESSION_STRENGTH: Final = 3 * EVIDENCE_STRENGTH
"""A later value of the same slot weighs more against the claim than a statement weighs for it: the newer wins."""

SUPPORTED_FROM: Final = 0.6
CONTRADICTED_TO: Final = 0.4

_PERIODS_MAX: Final = 100
"""So many times a claim may have come back."""

_DATED = frozenset({"plan"})
"""Kinds of which a belief has a day."""
_UNBELIEVED_KINDS = frozenset({"event", "commitment"})


class BeliefReviser:
    """Revises the beliefs that an event's facts touch."""

    def __init__(self, view: View) -> None:
        self._view = view

    def revise(self, facts: Sequence[Fact]) -> Writes:
        """New versions of the beliefs about what these facts claim, in the event's scope and where it consolidates."""
        writes = Writes()
        event = self._view.event
        if not event.directives.wants("beliefs"):
            return writes
        for fact in sorted(facts, key=lambda fact: fact.id):
            if fact.kind in _UNBELIEVED_KINDS or _was_over(event, fact):
                continue
            for scope in dict.fromkeys([event.scope, event.directives.consolidate_into or event.scope]):
                self._revise(event, fact, scope, writes)
        return writes

    def end(self, facts: Sequence[Fact], writes: Writes) -> None:
        """End the beliefs in facts that were taken back: what they were worth stays, that they hold does not. What had a day
        and was moved or given up holds when its fact does."""
        event = self._view.event
        if not event.directives.wants("beliefs"):
            return
        for fact in facts:
            for scope in dict.fromkeys([event.scope, event.directives.consolidate_into or event.scope]):
                held = self._held(scope, fact, writes)
                if held is None:
                    continue
                if held.valid_to is None:
                    _put(event, held, replace(held, valid_to=fact.valid_to, to_offset=fact.to_offset), writes)
                elif fact.kind in _DATED and (held.valid_from, held.valid_to) != (
                    fact.valid_from,
                    fact.valid_to,
                ):
                    changed = replace(
                        held,
                        valid_from=fact.valid_from,
                        valid_to=fact.valid_to,
                        from_offset=fact.from_offset,
                        to_offset=fact.to_offset,
                    )
                    _put(event, held, changed, writes)

    def _revise(self, event: Event, fact: Fact, scope: Scope, writes: Writes) -> None:
        belief = self._held(scope, fact, writes)
        belief_id = belief.id if belief else _belief_id(event, scope, fact)
        self._weigh(event, fact, belief, belief_id, scope, writes)
        held = self._held(scope, fact, writes)
        for rival_id in filter(None, (fact.supersedes, fact.superseded_by)):
            rival = self._view.record(rival_id)
            if not isinstance(rival, Fact):
                continue
            theirs = self._held(scope, rival, writes)
            if theirs is None and rival_id == fact.superseded_by:
                # What was one belief until this fact came in between holds again after it.
                self._weigh(event, rival, None, _belief_id(event, scope, rival), scope, writes)
                theirs = self._held(scope, rival, writes)
            if theirs is None or held is None:
                continue
            if rival_id == fact.supersedes:
                if rival.external or not fact.external:
                    self._contradict(event, theirs, held.id, fact, writes)
            elif fact.external or not rival.external:
                self._contradict(event, held, theirs.id, rival, writes)

    def _weigh(
        self, event: Event, fact: Fact, belief: Belief | None, belief_id: str, scope: Scope, writes: Writes
    ) -> None:
        support = Support(
            tenant_id=event.tenant_id,
            record_id=belief_id,
            source_id=fact.id,
            relation="supported_by",
            weight=fact.confidence,
            recorded_at=event.recorded_at,
        )
        posterior = self._posterior(belief_id, [support])
        if belief is None:
            revised = _new_belief(event, fact, belief_id, scope, posterior)
            _put(event, None, revised, writes)
        else:
            revised = _moved(belief, posterior, valid_to=fact.valid_to, offset=fact.to_offset)
            revised = replace(
                revised,
                external=belief.external and fact.external,
                by_assistant=belief.by_assistant and fact.by_assistant,
                handed_over=belief.handed_over and fact.handed_over,
                said_by=_said_by(belief, fact),
            )
            if not _differs(belief, revised):
                writes.supports.append(support)
                return
            _put(event, belief, revised, writes)
        writes.supports.append(support)

    def _contradict(self, event: Event, older: Belief, belief_id: str, fact: Fact, writes: Writes) -> None:
        against = Support(
            tenant_id=event.tenant_id,
            record_id=older.id,
            source_id=fact.id,
            relation="contradicted_by",
            weight=fact.confidence,
            polarity="against",
            recorded_at=event.recorded_at,
        )
        posterior = self._posterior(older.id, [against])
        revised = _moved(older, posterior, valid_to=fact.valid_from, offset=fact.from_offset)
        if revised.valid_from > fact.valid_from:
            revised = replace(revised, valid_from=fact.valid_from - 1, from_offset=fact.from_offset)
        revised = replace(revised, contradicts=tuple(dict.fromkeys([*older.contradicts, belief_id])))
        _put(event, older, revised, writes)
        writes.supports.append(against)

    def _posterior(self, belief_id: str, new: Sequence[Support]) -> Posterior:
        """From every fact that bears on the belief: for each actor and polarity, only the strongest counts."""
        known = self._view.supports_of([belief_id]).get(belief_id, [])
        bearing = {(s.source_id, s.polarity): s for s in [*known, *new]}
        sources = self._view.standing_supports({source for source, _ in bearing})
        strongest: dict[tuple[str, Literal["supports", "against"]], float] = {}
        for (source, polarity), support in bearing.items():
            for statement in sources.get(source, []):
                actor = statement.role or statement.source_id
                weight = max(support.weight if polarity == "against" else 0.0, statement.weight)
                strongest[actor, polarity] = max(strongest.get((actor, polarity), 0.0), weight)
        alpha, beta = 1.0, 1.0
        for (_, polarity), weight in sorted(strongest.items()):
            speaks_for = polarity == "supports"
            strength = EVIDENCE_STRENGTH if speaks_for else SUPERSESSION_STRENGTH
            alpha += strength * (weight if speaks_for else 1.0 - weight)
            beta += strength * (1.0 - weight if speaks_for else weight)
        return Posterior(round(alpha, 6), round(beta, 6))

    def _held(self, scope: Scope, fact: Fact, writes: Writes) -> Belief | None:
        """The belief in a fact's claim for its time. A claim that held, ended and came back is believed anew."""
        found = self._view.query(Layer.BELIEFS, scope=scope, claim_key=fact.claim_key, limit=_PERIODS_MAX)
        dropped = {closing.id for closing in writes.closings}
        held = {each.id: each for each in found if isinstance(each, Belief) and each.id not in dropped}
        for record in writes.records:
            if isinstance(record, Belief) and record.scope == scope and record.claim_key == fact.claim_key:
                held[record.id] = record
        of_its_time = [each for each in held.values() if _overlap(each, fact)]
        if not of_its_time and held:
            # The fact may have moved since: it yielded to what was said later.
            of_its_time = self._resting_on(fact, held)
        return max(of_its_time, key=lambda each: (each.valid_from, each.id), default=None)

    def _resting_on(self, fact: Fact, held: Mapping[str, Belief]) -> list[Belief]:
        supports = self._view.supports_of(sorted(held))
        resting = {key for key, found in supports.items() if any(s.source_id == fact.id for s in found)}
        return [held[key] for key in sorted(resting)]


def _said_by(belief: Belief, fact: Fact) -> Author | None:
    """Who says it of somebody else, as long as no more than hearsay and others do."""
    if belief.external:
        return fact.said_by
    return belief.said_by if fact.external or fact.said_by is not None else None


def _overlap(belief: Belief, fact: Fact) -> bool:
    starts_before = fact.valid_to is None or belief.valid_from < fact.valid_to
    return starts_before and (belief.valid_to is None or fact.valid_from < belief.valid_to)


def _was_over(event: Event, fact: Fact) -> bool:
    """ "I used to live in Rome": nothing to believe of the present, and no rival to what is held."""
    return fact.slot is None and fact.valid_to is not None and fact.valid_to <= event.context.observed_at


def _belief_id(event: Event, scope: Scope, fact: Fact) -> str:
    return derived_id(Prefix.BELIEF, event.recorded_at, event.id, scope, fact.claim_key)


def _new_belief(event: Event, fact: Fact, belief_id: str, scope: Scope, posterior: Posterior) -> Belief:
    ttl = event.directives.belief_ttl_us
    expires_at = event.context.observed_at + ttl if ttl is not None else None
    ends_at = min((end for end in (fact.valid_to, expires_at) if end is not None), default=None)
    lower, upper = posterior.interval()
    return Belief(
        tenant_id=event.tenant_id,
        id=belief_id,
        scope=scope,
        version=1,
        position=event.position,
        confidence=round(posterior.mean, 4),
        valid_from=fact.valid_from,
        valid_to=ends_at,
        from_offset=fact.from_offset,
        to_offset=fact.to_offset if ends_at == fact.valid_to else event.offset,
        recorded_from=event.recorded_at,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        negated=fact.negated,
        stance=_stance(posterior),
        external=fact.external,
        by_assistant=fact.by_assistant,
        handed_over=fact.handed_over,
        said_by=fact.said_by,
        alpha=posterior.alpha,
        beta=posterior.beta,
        lower=lower,
        upper=upper,
        revision_count=0,
    )


def _moved(
    belief: Belief, posterior: Posterior, *, valid_to: Instant | None, offset: Offset | None
) -> Belief:
    lower, upper = posterior.interval()
    return replace(
        belief,
        confidence=round(posterior.mean, 4),
        alpha=posterior.alpha,
        beta=posterior.beta,
        lower=lower,
        upper=upper,
        stance=_stance(posterior),
        valid_to=valid_to if valid_to is not None else belief.valid_to,
        to_offset=offset if valid_to is not None else belief.to_offset,
    )


def _stance(posterior: Posterior) -> Stance:
    if posterior.mean >= SUPPORTED_FROM:
        return Stance.SUPPORTED
    return Stance.CONTRADICTED if posterior.mean <= CONTRADICTED_TO else Stance.UNCERTAIN


def _differs(one: Belief, other: Belief) -> bool:
    parts = attrgetter(
        "alpha",
        "beta",
        "valid_to",
        "to_offset",
        "contradicts",
        "external",
        "by_assistant",
        "handed_over",
        "said_by",
    )
    return bool(parts(one) != parts(other))


def _put(event: Event, held: Belief | None, revised: Belief, writes: Writes) -> None:
    if held is None:
        writes.records.append(revised)
        return
    if held in writes.records:
        writes.records[writes.records.index(held)] = revised
        return
    writes.closings.append(Closing(held.tenant_id, held.id, held.version, event.recorded_at))
    if revised.confidence < CONFIDENCE_FLOOR:
        return
    writes.records.append(
        replace(
            revised,
            version=held.version + 1,
            position=event.position,
            recorded_from=event.recorded_at,
            recorded_to=None,
            revision_count=held.revision_count + 1,
        )
    )
