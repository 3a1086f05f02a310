"""What ends where an entry of the log says that something is over: what rests on nothing else, and what is made of that (decision 0052).

An end is the end of a version, so that readers as of an earlier time see what was held then. What is over had held: whatever else it ended
stays ended, and nothing comes back that may not hold any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from lamina.kernel.expiry import Expiry
from lamina.kernel.records import Concept, Fact, Layer, Loop, Record, Stance, layer_of
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.pipeline.beliefs import BeliefReviser
from lamina.pipeline.concepts import ConceptSynthesizer
from lamina.pipeline.ending import unsupported
from lamina.pipeline.senders import Senders
from lamina.pipeline.versions import tie
from lamina.pipeline.view import View
from lamina.store.ports.writes import Closing, Writes

__all__ = ["expire_beliefs", "expire_facts", "expire_the_rest"]


def expire_facts(view: View, expiry: Expiry) -> Writes:
    """The ends of facts, and what is to be remembered of events that are over."""
    event, writes = view.event, Writes()
    if expiry.layer is Layer.EVENTS:
        writes.supports += [tie(event, each, event.id, Tie.EXPIRED_BY) for each in expiry.ids]
        if Layer.FACTS in expiry.follows:
            after = view.after(writes, event)
            writes.add(_end_unsupported(after, _resting_on(after, expiry.ids, Layer.FACTS)))
    elif expiry.layer is Layer.FACTS:
        writes.add(_end(view, _unrenewed(view, expiry.ids, expiry.until)))
    return writes


def expire_beliefs(view: View, expiry: Expiry, senders: Senders) -> Writes:
    """The beliefs without the facts that ended, where they follow; or the ends of beliefs."""
    if expiry.layer is Layer.BELIEFS:
        return _end(view, _unrenewed(view, expiry.ids, expiry.until))
    if Layer.BELIEFS not in expiry.follows:
        return Writes()
    writes = BeliefReviser(view, senders).revise(_ended_facts(view))
    anew = {each.id for each in writes.records}
    ended = sorted({each.id for each in writes.closings} - anew)
    # Not those of other scopes: who erases this one would find its entry cited there.
    own = [each for each in map(view.record, ended) if each is not None and each.scope == view.event.scope]
    writes.supports += [tie(view.event, each.id, view.event.id, Tie.EXPIRED_BY) for each in own]
    return writes


def expire_the_rest(view: View, expiry: Expiry) -> Writes:
    """The ends of episodes, and understanding without what ended, where they follow; or the ends of such records."""
    event = view.event
    if expiry.layer in (Layer.EPISODES, Layer.UNDERSTANDING):
        return _end(view, _unrenewed(view, expiry.ids, expiry.until))
    writes = Writes()
    if expiry.layer is Layer.EVENTS and Layer.EPISODES in expiry.follows:
        writes.add(_end_unsupported(view, _resting_on(view, expiry.ids, Layer.EPISODES)))
    if Layer.UNDERSTANDING in expiry.follows:
        anew = ConceptSynthesizer(view.after(writes, event)).synthesize(_ended_facts(view))
        standing = {each.id for each in anew.records if _stands(each)}
        ended = sorted({each.id for each in anew.closings} - standing)
        anew.supports += [tie(event, each, event.id, Tie.EXPIRED_BY) for each in ended]
        writes.add(anew)
    return writes


def _end_unsupported(view: View, records: Sequence[Record]) -> Writes:
    return _end(view, unsupported(view, records, view))


def _end(view: View, records: Iterable[Record]) -> Writes:
    event, writes = view.event, Writes()
    for each in records:
        writes.closings.append(Closing.of(each, event.recorded_at))
        writes.supports.append(tie(event, each.id, event.id, Tie.EXPIRED_BY))
    return writes


def _resting_on(view: View, event_ids: Collection[str], layer: Layer) -> list[Record]:
    """The standing records of a layer of the scope that rest on events directly, by id."""
    tied = {each.record_id for each in view.dependants_of(event_ids) if layer_of(each.record_id) is layer}
    return _standing(view, tied)


def _unrenewed(view: View, record_ids: Collection[str], until: Instant) -> list[Record]:
    """Those standing records that nothing bore out, nor changed, since an instant."""
    supports = view.supports_of(record_ids)
    return [
        each
        for each in _standing(view, record_ids)
        if each.recorded_from <= until
        and all(s.recorded_at <= until for s in supports.get(each.id, ()) if s.polarity != "against")
    ]


def _standing(view: View, record_ids: Collection[str]) -> list[Record]:
    found = [view.record(each) for each in sorted(set(record_ids))]
    return [each for each in found if each is not None and each.recorded_to is None]


def _ended_facts(view: View) -> list[Fact]:
    """The facts that the view's entry has ended, by id, but for loops: nothing is made of these."""
    tied = {each.record_id for each in view.dependants_of([view.event.id]) if each.relation == Tie.EXPIRED_BY}
    found = [view.record(each) for each in sorted(tied) if layer_of(each) is Layer.FACTS]
    return [each for each in found if isinstance(each, Fact) and not isinstance(each, Loop)]


def _stands(record: Record) -> bool:
    return not (isinstance(record, Concept) and record.stance is Stance.DEPRECATED)
