"""What entries of the log change that nobody told: that two entities are one or one is two, and that understanding is made anew.

Such an entry is derived at its place, as a cancellation is (``mending.py``), so that readers of before see what was held then and a replay
comes to the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from lamina.index.rows import record_row
from lamina.kernel.events import SYNTHESIS, Event, Stage
from lamina.kernel.records import Belief, Concept, Fact, Layer, Loop, Record, Stance
from lamina.kernel.sameness import EntitySplit, entities_of, sameness_of
from lamina.kernel.ties import Tie
from lamina.pipeline.beliefs import BeliefReviser
from lamina.pipeline.concepts import ConceptSynthesizer
from lamina.pipeline.matters import is_shared
from lamina.pipeline.mending import Mender
from lamina.pipeline.senders import Senders
from lamina.pipeline.versions import deprecate_belief, tie
from lamina.pipeline.view import View
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.ports.writes import Writes

__all__ = ["Decided", "stage_row"]

_FACTS_MAX: Final = 2_000
_BELIEFS_MAX: Final = 64


class Decided:
    """Derives what such entries change, stage by stage."""

    def __init__(self, mender: Mender, senders: Senders) -> None:
        self._mender = mender
        self._senders = senders

    def facts(self, view: View) -> Writes:
        """The facts that name the entities of a decision, anew."""
        event, writes = view.event, Writes()
        decision = sameness_of(event)
        touched: list[str] = []
        if decision is not None:
            writes.supports += [tie(event, event.id, each, Tie.DECIDES) for each in entities_of(decision)]
            changed, touched = self._mender.renamed(
                view.after(writes, event), entities_of(decision), parts=isinstance(decision, EntitySplit)
            )
            writes.add(changed)
            writes.supports += [tie(event, each, event.id, Tie.RENAMED_BY) for each in touched]
        derived = {"facts": len(touched), "entities": 0, "beliefs": 0, "episodes": 0}
        writes.lifecycle += _told(event, Stage.EXTRACTED, {"derived": derived})
        return writes

    def indexed(self, event: Event) -> Writes:
        """No words: they are those of a decision, and of no memory."""
        return Writes(lifecycle=_told(event, Stage.INDEXED, {"layers_indexed": []}))

    def beliefs(self, view: View) -> Writes:
        """What the facts amount to, for those whom they name now; of those whom they named before it is deprecated (seed 002, 7.4.1)."""
        now, before = _renamed(view)
        decision = sameness_of(view.event)
        if decision is not None:
            sent, sent_before = self._senders.renamed(view, entities_of(decision))
            now, before = [*now, *sent], [*before, *sent_before]
        writes = BeliefReviser(view, self._senders).revise(now)
        # The values that are left of whom they named before; what was said of one thing is found by its words, whoever said it.
        left = [each for each in before if each.slot is not None and not is_shared(each)]
        writes.add(BeliefReviser(view.after(writes, view.event), self._senders).revise(left))
        _deprecate(view.after(writes, view.event), before, {each.claim_key for each in now}, writes)
        writes.texts += [record_row(record) for record in writes.records if record.version == 1]
        payload = {
            "beliefs_updated": len({record.id for record in writes.records}),
            "conflicts_resolved": 0,
            "superseded_facts": [],
        }
        writes.lifecycle += _told(view.event, Stage.CONSOLIDATED, payload)
        return writes

    def concepts(self, view: View) -> Writes:
        """The concepts of the entities that facts name now, or all that were asked for."""
        event, synthesizer = view.event, ConceptSynthesizer(view)
        decision = sameness_of(event)
        if decision is not None:
            now, _ = _renamed(view)
            writes = synthesizer.decided(decision, now)
        elif event.origin.channel == SYNTHESIS:
            content: Mapping[str, Any] = event.content  # Any: JSON, which the operation wrote
            # Of an entry that lost its topics nobody knows what was to be made anew, and what was is forgotten.
            found = view.query(Layer.FACTS, limit=_FACTS_MAX) if "topics" in content else []
            facts = [each for each in found if isinstance(each, Fact) and each.is_stated]
            writes = synthesizer.anew(
                facts, [str(each) for each in content.get("topics", ())], force=bool(content["force"])
            )
        else:
            return Writes()
        writes.texts += [record_row(record) for record in writes.records if isinstance(record, Concept)]
        ids = sorted({record.id for record in writes.records})
        writes.lifecycle += _told(event, Stage.COMPRESSED, {"episode_id": None, "understanding_ids": ids})
        return writes


def stage_row(event: Event, stage: Stage, payload: Mapping[str, Any]) -> LifecycleDraft:
    """The lifecycle row that says that a stage of an event is done."""
    return LifecycleDraft(
        tenant_id=event.tenant_id,
        name=stage.value,
        scope=event.scope,
        event_id=event.id,
        job_id=event.batch_id,
        position=event.position,
        payload=payload,
    )


def _told(event: Event, stage: Stage, payload: Mapping[str, Any]) -> list[LifecycleDraft]:
    """The lifecycle row of an entry that somebody follows; the others say nothing of themselves."""
    follows = sameness_of(event) is not None or event.origin.channel == SYNTHESIS
    return [stage_row(event, stage, payload)] if follows else []


def _renamed(view: View) -> tuple[list[Fact], list[Fact]]:
    """The facts that an entry touched, as they are now and as they were before; one that another took in has no now."""
    ties = [each for each in view.dependants_of([view.event.id]) if each.relation == Tie.RENAMED_BY]
    ids = sorted({each.record_id for each in ties})
    return _facts_in(view.record(each) for each in ids), _facts_in(view.before(each) for each in ids)


def _facts_in(records: Iterable[Record | None]) -> list[Fact]:
    return [each for each in records if isinstance(each, Fact) and not isinstance(each, Loop)]


def _deprecate(view: View, before: Sequence[Fact], made: Collection[str], writes: Writes) -> None:
    """Deprecate the beliefs in claims that no fact makes any more, since it names another entity; ``made`` are claims that facts make."""
    event = view.event
    for claim_key in dict.fromkeys(each.claim_key for each in before):
        if claim_key in made or view.query(Layer.FACTS, claim_key=claim_key, limit=1):
            continue
        held = view.query(Layer.BELIEFS, claim_key=claim_key, limit=_BELIEFS_MAX)
        ended = [each for each in map(view.record, _ended(event, writes)) if isinstance(each, Belief)]
        for belief in (*held, *(each for each in ended if each.claim_key == claim_key)):
            if not isinstance(belief, Belief) or belief.stance is Stance.DEPRECATED:
                continue
            deprecate_belief(event, belief, writes)


def _ended(event: Event, writes: Writes) -> list[str]:
    """What ended here and has no version from here on."""
    fresh = {each.id for each in writes.records if each.recorded_from == event.recorded_at}
    return [each.id for each in writes.closings if each.id not in fresh]
