"""What a cancellation changes: claims beside which the cancelled one stood are placed anew, from what the others said.

A cancellation has a place in the log and is derived there, like anything told. What had been held until then stays as
it was for readers of that time; what is told later builds on the outcome. The outcome is that of a memory that was
never told the event: facts of its subject and predicate are derived apart, from the events that count, and what differs
becomes a new version. Beliefs are drawn anew from these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from lamina.index.rows import record_row
from lamina.kernel.corrections import correction_of
from lamina.kernel.events import Event
from lamina.kernel.feedback import feedback_of
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.predicates import family_of
from lamina.kernel.records import Claim, Fact, Layer, Loop
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import OF_LOOPS, Tie
from lamina.kernel.time import Instant
from lamina.pipeline.bearing import facts_naming
from lamina.pipeline.beliefs import BeliefReviser
from lamina.pipeline.facts import FactResolver
from lamina.pipeline.freezing import kept_of
from lamina.pipeline.isolation import IsolatedFacts
from lamina.pipeline.loops.keeping import EXTRACTOR, raises_loops
from lamina.pipeline.loops.rereading import LoopRereader
from lamina.pipeline.matters import is_shared, words_of
from lamina.pipeline.pending import Pending
from lamina.pipeline.readings.reading import Reading, shared_out
from lamina.pipeline.readings.standing import Readings
from lamina.pipeline.senders import Senders
from lamina.pipeline.versions import put_version, tie
from lamina.pipeline.view import TIES, IsolatedView, View
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Closing, Writes

__all__ = ["Mender"]

_CLAIMS_MAX = 256
_CORRECTING = (Tie.EXTRACTED_FROM, Tie.CORRECTED_BY)


@dataclass(frozen=True, slots=True)
class _Matter:
    """The claims that bear on each other: values of a slot, or one value and its denial where many may stand, with those that
    corrections put in its place or it in theirs."""

    subjects: tuple[str, ...]
    predicates: tuple[str, ...]
    words: frozenset[str] | None

    def holds(self, claim: Claim) -> bool:
        """Whether a claim is one of them."""
        return (
            claim.subject.id in self.subjects
            and claim.predicate in self.predicates
            and (self.words is None or words_of(claim.object) in self.words)
            and not isinstance(claim, Loop)
        )


class Mender:
    """Derives what a cancelled event touched anew."""

    def __init__(self, store: Store, readings: Readings, senders: Senders) -> None:
        self._store = store
        self._readings = readings
        self._senders = senders
        self._apart = IsolatedFacts(store, readings)

    def facts(self, view: View, event_id: str) -> Writes:
        """The facts as they are without the event, in its scope."""
        writes = Writes()
        writes.supports.append(tie(view.event, event_id, view.event.id, Tie.CANCELLED_BY))
        scope = view.event.scope
        for matter in self._matters(view, event_id):
            held = _facts(view, matter, scope)
            apart = self._derived_apart(view, matter, gone=event_id)
            _replace(view, held, _facts(apart, matter, scope), apart, writes)
        self._take_back_loops(view, event_id, writes)
        return writes

    def _take_back_loops(self, view: View, event_id: str, writes: Writes) -> None:
        """What the event ended, moved or said again of loops is as it was before it."""
        turn = view.events([event_id]).get(event_id)
        if turn is None or not (raises_loops(turn) or correction_of(turn) or feedback_of(turn)):
            return
        entry = view.event
        at = view.after(writes, replace(turn, recorded_at=entry.recorded_at, position=entry.position))
        undone = Writes()
        LoopRereader(at, EXTRACTOR, places=self._readings.places(view, turn)).take_back(undone)
        writes.add(undone)
        view.saw_excluded |= at.saw_excluded or turn.excluded

    def renamed(self, view: View, entities: Sequence[str], *, parts: bool) -> tuple[Writes, list[str]]:
        """The facts that name some entities as they are by what is decided of these at the view's place, and which changed.

        With ``parts`` a fact may lose some of those who said it to another: what is left of it goes on under a new id, for what rests on an
        id never becomes less.
        """
        writes = Writes()
        scope, own = view.event.scope, tuple(sorted(entities))
        facts = facts_naming(view, own, scope)
        for loop in facts:
            if isinstance(loop, Loop):
                _rename(view, loop, writes)
        matters = {
            _Matter(
                own if fact.subject.id in own else (fact.subject.id,), family_of(fact.predicate), None
            ): None
            for fact in facts
            if not isinstance(fact, Loop)
        }
        for matter in matters:
            held = _facts(view, matter, scope)
            apart = self._derived_apart(view, matter)
            stays = self._without_words(view, held)
            held = _others(held, stays)
            fresh = _others(_facts(apart, matter, scope), stays)
            ids = _parted(view, fresh, apart) if parts else {}
            _replace(view, held, [_under(each, ids) for each in fresh], apart, writes, taken_in=True, ids=ids)
        touched = {each.id for each in writes.records} | {each.id for each in writes.closings}
        return writes, sorted(touched)

    def read_anew(self, view: View, turn: Event, reading: Reading) -> Writes:
        """The facts as they are by a reading of a turn that stands from the view's place on, in its scope: in the place of what was
        read in that turn before."""
        writes = Writes()
        alone = IsolatedView(self._store, turn, Pending(), view)
        stated = FactResolver(alone).resolve(shared_out(alone, reading)[0], reading.reader)
        types = {entity.id: entity.type for entity in stated.entities}
        writes.entities = stated.entities
        writes.mentions = [replace(each, type=types.get(each.entity_id)) for each in stated.mentions]
        claims = [each for each in stated.records if isinstance(each, Fact)]
        for matter in self._matters(view, turn.id, claims):
            held = _facts(view, matter, view.event.scope)
            apart = self._derived_apart(view, matter, told_too=turn.id)
            fresh = _facts(apart, matter, view.event.scope)
            _replace(view, held, fresh, apart, writes, taken_in=True)
        touched = dict.fromkeys(
            [*(each.id for each in writes.closings), *(each.id for each in writes.records)]
        )
        writes.supports += [tie(view.event, each, view.event.id, Tie.READ_BY) for each in touched]
        return writes

    def beliefs(self, view: View, event_id: str) -> Writes:
        """The beliefs as they are by what is held now of what the event told, in its scope and where it was sent."""
        told = view.events([event_id]).get(event_id)
        writes = BeliefReviser(view, self._senders).revise_of(told, _told_by(view, event_id))
        writes.texts += [record_row(record) for record in writes.records if record.version == 1]
        return writes

    def touched(self, view: View, event_id: str) -> list[Fact]:
        """What the event told, also where it is gone now, and the facts that are held of what it spoke of, in its scope."""
        scope = view.event.scope
        held = [fact for matter in self._matters(view, event_id) for fact in _facts(view, matter, scope)]
        return [*_told_by(view, event_id), *_promised_in(view, event_id), *held]

    def _without_words(self, view: View, held: Sequence[Claim]) -> set[str]:
        """The claims that rest on events whose words were erased: no words say them again, so they stay as they are."""
        if not self._store.erasing.has_frozen(view.event.tenant_id):
            return set()
        supports = view.supports_of([each.id for each in held])
        facts = {s.source_id for found in supports.values() for s in found if s.polarity == "supports"}
        behind = view.supports_of(facts)
        words = {s.source_id for found in behind.values() for s in found if s.relation in TIES}
        bare = {key for key, event in view.events(facts | words).items() if event.redacted_by is not None}
        bare |= {key for key, found in behind.items() if any(s.source_id in bare for s in found)}
        return {
            key
            for key, found in supports.items()
            if any(s.source_id in bare and s.polarity == "supports" for s in found)
        }

    def _matters(self, view: View, event_id: str, more: Sequence[Fact] = ()) -> list[_Matter]:
        """What the event spoke of, and ``more`` that it is taken to say; none within another."""
        found: dict[_Matter, None] = {}
        for fact in (*_told_by(view, event_id), *more):
            whole = _Matter((fact.subject.id,), family_of(fact.predicate), None)
            single = any(
                each.slot is not None and not is_shared(each)
                for each in (fact, *_facts(view, whole, view.event.scope))
            )
            found[whole if single else replace(whole, words=_corrected_words(view, fact))] = None
        return [each for each in found if each.words is None or replace(each, words=None) not in found]

    def _derived_apart(
        self,
        view: View,
        matter: _Matter,
        *,
        gone: str | None = None,
        told_too: str | None = None,
    ) -> View:
        """A view of what the events that speak of a matter derive, without the cancelled ones, upon what is kept of erased words;
        ``told_too`` is one that may speak of it without anything being held because of it yet."""
        scope = view.event.scope
        ids = [fact.id for fact in _facts(view, matter, scope)]
        if gone is not None:  # also what it denied so that it never was
            ids += [fact.id for fact in _told_by(view, gone) if fact.id not in ids and matter.holds(fact)]
        supports = [each for tied in view.supports_of(ids).values() for each in tied]
        cancelled = {gone, *view.cancelled({each.source_id for each in supports})}
        kept, since = kept_of(self._store, view, ids, gone=gone)
        return self._apart.derived(
            view,
            supports,
            lambda apart: _facts(apart, matter, scope),
            kept=kept,
            counts=lambda event: event.id not in cancelled and _adds(event, since),
            told_too=[] if told_too is None else [told_too],
        )


def _adds(event: Event, since: Mapping[Scope, Instant]) -> bool:
    """Whether an event was told after all that is kept where it counts."""
    places = (event.scope, event.directives.consolidate_into or event.scope)
    return all(event.recorded_at > since.get(each, 0) for each in places)


def _others(claims: Sequence[Fact], stays: Collection[str]) -> list[Fact]:
    return [each for each in claims if each.id not in stays]


def _told_by(view: View, event_id: str) -> list[Fact]:
    """The facts that an event stated or took back, in the order of their ids."""
    tied = {each.record_id for each in view.dependants_of([event_id]) if each.relation in TIES}
    found = [view.record(record_id) for record_id in sorted(tied)]
    return [fact for fact in found if isinstance(fact, Fact) and not isinstance(fact, Loop)]


def _corrected_words(view: View, fact: Fact) -> frozenset[str]:
    """The value of a fact, and those that corrections put in its place or it in theirs, through any number of corrections."""
    found, front = {fact.id: words_of(fact.object)}, [fact.id]
    while front:
        sources = {
            each.source_id
            for tied in view.supports_of(front).values()
            for each in tied
            if each.relation in _CORRECTING
        }
        corrections = [key for key, event in view.events(sources).items() if correction_of(event)]
        joined = {each.record_id for each in view.dependants_of(corrections) if each.relation in _CORRECTING}
        others = [view.record(each) for each in sorted(joined - found.keys())]
        reached = {each.id: words_of(each.object) for each in others if isinstance(each, Fact)}
        found |= reached
        front = list(reached)
    return frozenset(found.values())


def _promised_in(view: View, event_id: str) -> list[Fact]:
    """What an event promised or decided, or said of that."""
    tied = {each.record_id for each in view.dependants_of([event_id]) if each.relation in OF_LOOPS}
    found = [view.record(record_id) for record_id in sorted(tied)]
    return [loop for loop in found if isinstance(loop, Loop) and loop.is_stated]


def _facts(view: View, matter: _Matter, scope: Scope) -> list[Fact]:
    found = [
        each
        for predicate in matter.predicates
        for subject in matter.subjects
        for each in view.query(
            Layer.FACTS, scope=scope, subject=subject, predicate=predicate, limit=_CLAIMS_MAX
        )
    ]
    return [each for each in found if isinstance(each, Fact) and matter.holds(each)]


def _replace(
    view: View,
    held: Sequence[Fact],
    fresh: Sequence[Fact],
    apart: View,
    writes: Writes,
    *,
    taken_in: bool = False,
    ids: Mapping[str, str] | None = None,
) -> None:
    """Put new versions where what is held differs from what was derived apart; end what was not derived there.

    With ``taken_in`` what was not is in another that says the same of who it is about now. ``ids`` are the new ids of some that were
    derived apart.
    """
    event = view.event
    standing = {claim.id: claim for claim in fresh}
    for claim in sorted(held, key=lambda claim: claim.id):
        same = standing.get(claim.id)
        if same is None or not _equal(claim, same):
            into = next((each.id for each in fresh if taken_in and _agree(each, claim)), None)
            writes.closings.append(Closing.of(claim, event.recorded_at, into))
    kept = {claim.id for claim in held}
    for claim in sorted(fresh, key=lambda claim: claim.id):
        stood = view.record(claim.id)
        if isinstance(stood, Fact) and claim.id in kept and _equal(stood, claim):
            continue
        version = 1 if stood is None else stood.version + 1
        writes.records.append(
            replace(
                claim,
                version=version,
                position=event.position,
                recorded_from=event.recorded_at,
                recorded_to=None,
                closed_by=None,
            )
        )
        if stood is None:
            writes.texts.append(record_row(writes.records[-1]))
    _support(view, standing, apart, writes, ids or {})


def _support(
    view: View, ids: Collection[str], apart: View, writes: Writes, renamed: Mapping[str, str]
) -> None:
    known = view.supports_of(ids)
    before = {new: old for old, new in renamed.items()}
    found = apart.supports_of([before.get(each, each) for each in ids])
    for record_id in sorted(ids):
        has = {(each.source_id, each.relation) for each in known.get(record_id, ())}
        writes.supports += [
            each._replace(record_id=record_id, recorded_at=view.event.recorded_at)
            for each in found.get(before.get(record_id, record_id), ())
            if (each.source_id, each.relation) not in has
        ]


def _parted(view: View, fresh: Sequence[Fact], apart: View) -> dict[str, str]:
    """The new ids of those facts that somebody states no more who did, and was not cancelled."""
    known = view.supports_of({each.id for each in fresh})
    said = {
        fact_id: {s.source_id for s in of if s.relation == Tie.EXTRACTED_FROM}
        for fact_id, of in known.items()
    }
    gone = view.cancelled({source for of in said.values() for source in of})
    still = apart.supports_of({each.id for each in fresh})
    return {
        fact_id: derived_id(Prefix.FACT, view.event.recorded_at, view.event.id, fact_id)
        for fact_id, sources in sorted(said.items())
        if sources - gone - {s.source_id for s in still.get(fact_id, ()) if s.relation == Tie.EXTRACTED_FROM}
    }


def _under(fact: Fact, ids: Mapping[str, str]) -> Fact:
    """A fact with new ids in the place of old ones."""
    return replace(
        fact,
        id=ids.get(fact.id, fact.id),
        supersedes=ids.get(fact.supersedes or "", fact.supersedes),
        superseded_by=ids.get(fact.superseded_by or "", fact.superseded_by),
    )


def _agree(one: Claim, other: Claim) -> bool:
    """Whether two claims of one matter say the same, whoever they are about."""
    return (
        one.predicate == other.predicate
        and one.negated == other.negated
        and (words_of(one.object) == words_of(other.object) or one.object.key == other.object.key)
    )


def _rename(view: View, loop: Loop, writes: Writes) -> None:
    """Give a loop to who its speaker is."""
    event = view.events([loop.event_id]).get(loop.event_id)
    if event is None:
        return
    owner = view.entity_of(event.observed_actor, event)
    if owner != loop.subject.id:
        put_version(view.event, loop, replace(loop, subject=replace(loop.subject, id=owner)), writes)


def _equal(one: Fact, other: Fact) -> bool:
    """Whether two versions say the same."""
    return _said(one) == _said(other)


def _said(fact: Fact) -> Fact:
    return replace(
        fact, version=1, position=0, recorded_from=0, recorded_to=None, closed_by=None, excluded=False
    )
