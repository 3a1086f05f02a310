"""Erasures carried out, behind the calls: five phases that a worker goes through, and may go through again (seed 002, 11.3).

What an erasure is about is hidden and takes nothing new from its first moment, so that the plan that the first three phases make
is the last. The fourth deletes and redacts in bounded transactions, first what lies in other scopes. Whatever is interrupted is
done again: each step changes nothing the second time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from lamina import limits
from lamina.errors import LaminaError, Unavailable
from lamina.forget.clearing import clear_places
from lamina.forget.counting import Area
from lamina.forget.ending import audit_id_of, audit_of, listed_of, told_of
from lamina.forget.planning import PlannedErasure, Planner, Unnaming
from lamina.kernel.defining import definition_by
from lamina.kernel.erasure_rules import ErasureRules, LegalHold
from lamina.kernel.records import Belief, Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Clock, Instant, doubling_us
from lamina.kernel.vocabularies import ACTIVE_VOCABULARIES
from lamina.observe.rounds import Failures, class_of, keep_at
from lamina.store.ports.documents import Change
from lamina.store.ports.erasing import Erased, Erasure
from lamina.store.ports.erasures import ErasedPlace, ErasureJob, ErasureOutcome, ErasurePhase, LineKind
from lamina.store.ports.registry import Activation
from lamina.store.ports.store import Store
from lamina.store.ports.tombstones import TombstoneList
from lamina.store.ports.traces import About, Owned

__all__ = ["Eraser"]

_PART: Final = "erasing"
T = TypeVar("T")
_FRACTIONS: Final = {
    ErasurePhase.ENUMERATE: 0.0,
    ErasurePhase.REFCOUNT: 0.1,
    ErasurePhase.CATEGORIZE: 0.2,
    ErasurePhase.DELETE: 0.25,
    ErasurePhase.DEMOTE: 0.95,
}
_KEPT_NS: Final = 1_000_000_000
_LOOKS_MAX: Final = 8
"""How often at most what others make meanwhile is looked for: somebody may do so all the time."""
_CLEARING: Final = 0.8
"""How far an erasure is when all rows are gone and the other places are next."""


class _LeaseLostError(Exception):
    """Somebody else has the erasure by now."""


class Eraser:
    """Carries out the erasures of a store, one after the other. Each is put into the list of ``tombstones`` before anything of it goes."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        owner: str,
        *,
        about: About | None = None,
        unnaming: Unnaming | None = None,
        tombstones: TombstoneList | None = None,
        failures: Failures | None = None,
        elapsed_ns: Callable[[], int] = time.perf_counter_ns,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._planner = Planner(store, about)
        self._unnaming = unnaming or _named_nowhere
        self._tombstones = tombstones
        self._failures = failures or Failures()
        self._elapsed_ns = elapsed_ns
        self._sleep = sleep

    def run(self, stopping: Callable[[], bool]) -> None:
        """Work until told to stop."""
        keep_at(_PART, self.step, stopping, idle_s=limits.ERASURE_LOOK_S, failures=self._failures)

    def step(self) -> bool:
        """One erasure to its end, or the files cleared of what was forgotten; whether there was anything to do. A failure is noted with it, and it comes again."""
        job = self._store.erasures.claim(now=self._clock.now(), lease_until=self._until(), owner=self._owner)
        if job is None:
            # What POST /v1/forget took is cleared from the files behind the call.
            return self._store.traces.scrub_due() and self._store.traces.scrub().log_emptied
        work = _Work(
            self._store,
            self._planner,
            self._unnaming,
            self._clock,
            job,
            self._tombstones,
            self._elapsed_ns,
            self._sleep,
        )
        try:
            work.run()
        except _LeaseLostError:
            return True
        except Exception as error:
            wait_us = doubling_us(limits.ERASURE_AGAIN_S, job.attempts + 1, limits.ERASURE_AGAIN_S_MAX)
            said = str(error) if isinstance(error, LaminaError) else class_of(error)
            late = replace(work.job, attempts=job.attempts)
            self._store.erasures.put_off(late, said, retry_at=self._clock.now() + wait_us)
            raise
        return True

    def _until(self) -> Instant:
        return self._clock.now() + int(limits.ERASURE_LEASE_S * SECOND_US)


class _Work:
    """One erasure, held by its lease."""

    def __init__(
        self,
        store: Store,
        planner: Planner,
        unnaming: Unnaming,
        clock: Clock,
        job: ErasureJob,
        tombstones: TombstoneList | None,
        elapsed_ns: Callable[[], int],
        sleep: Callable[[float], None],
    ) -> None:
        self._store = store
        self._planner = planner
        self._unnaming = unnaming
        self._clock = clock
        self._tombstones = tombstones
        self._elapsed_ns = elapsed_ns
        self._sleep = sleep
        self._since = elapsed_ns()
        self._planned: PlannedErasure | None = None
        self.job = job

    def run(self) -> None:
        """Every phase that is left, and the end."""
        phases = list(ErasurePhase)
        for phase in phases[phases.index(self.job.phase) :]:
            if self.job.cancelling:
                self._cancel()
                return
            self._keep(phase=phase, fraction=max(self.job.fraction, _FRACTIONS[phase]))
            if phase in (ErasurePhase.ENUMERATE, ErasurePhase.REFCOUNT):
                self._plan()
            elif phase is ErasurePhase.CATEGORIZE:
                if not self._categorize():
                    self._list_as_over()
                    self._end("failed")
                    return
            elif phase is ErasurePhase.DELETE:
                self._delete()
            else:
                self._count()
        if self.job.unregisters:
            self._unregister()
        self._end("completed")

    def _cancel(self) -> None:
        """End it. Where that cannot be listed it hides nothing from now on, and its end comes again."""
        try:
            self._list_as_over()
        except Unavailable:
            self._keep(place=ErasedPlace(self.job.id, (), self.job.place.held))
            raise
        self._end("cancelled")

    def _list_as_over(self) -> None:
        """Have a backup know in which it is under way: there it would be carried out. Where it was listed as taking something that counts alone."""
        if self._tombstones is not None:
            self._tombstones.append(listed_of(self.job, cancelled=True))

    # ---- the phases

    def _plan(self) -> PlannedErasure:
        """The plan, made once by each process: what is hidden does not change, and what is deleted is in the manifest by then."""
        if self._planned is None:
            rules = ErasureRules(tuple(LegalHold("", scope) for scope in self.job.place.held))
            self._planned = self._planner.plan(self.job.tenant_id, self.job.scope, rules)
        return self._planned

    def _categorize(self) -> bool:
        """Keep the manifest, and hide what else goes as a whole; False where it reaches further than its caller may."""
        planned = self._plan()
        if planned.figures.touched and not self.job.crosses:
            self.job = replace(self.job, last_error="forget.gdpr.cross_workspace is missing")
            return False
        self._store.erasures.put_lines(self.job.tenant_id, self.job.id, planned.lines())
        place = replace(self.job.place, scopes=planned.area.roots)
        outcome = replace(self.job.outcome, held_events=len(planned.plan.held))
        self._keep(place=place, outcome=outcome)
        return True

    def _delete(self) -> None:
        """Take away events and what rests on them, then everything beside them."""
        if self._tombstones is not None:
            self._tombstones.append(listed_of(self.job))
        lines = {kind: self._lines(kind) for kind in (LineKind.DELETE, LineKind.REDACT)}
        inside = self._inside()
        owned = self._owned()
        self._erase_records(self._planner.of_documents(self.job.tenant_id, owned), inside)
        going = [(scope in inside, kind, id_) for kind, found in lines.items() for id_, scope in found]
        # What others' claims rest on goes first, while all that these rest on is there; then what lies in others' scopes.
        going.sort(key=lambda each: (each[1] is LineKind.DELETE, each[0]))
        done = self._done([id_ for _, _, id_ in going])
        self._erase_events([(kind, id_) for _, kind, id_ in going if id_ not in done], inside)
        self._sweep(inside)
        self._keep(fraction=_CLEARING)
        gone = {id_ for _, _, id_ in going}
        owned = self._with_late(owned, gone, inside)
        self._clear({*gone, *owned.event_ids}, owned)

    def _done(self, event_ids: Sequence[str]) -> set[str]:
        """Those that an interrupted run has dealt with."""
        left = {
            event.id
            for portion in _portions(event_ids, limits.ERASURE_LINES_AT_ONCE)
            for event in self._store.log.get(self.job.tenant_id, portion).values()
            if event.redacted_by != self.job.id
        }
        return set(event_ids) - left

    def _erase_events(self, going: Sequence[tuple[LineKind, str]], inside: Collection[Scope]) -> None:
        done, size = 0, limits.ERASURE_STEP_MAX
        while portion := going[done : done + size]:
            began_ns = self._elapsed_ns()
            erased = self._store.erasing.erase(
                replace(
                    self._step(inside),
                    delete=[id_ for kind, id_ in portion if kind is LineKind.DELETE],
                    redact=[id_ for kind, id_ in portion if kind is LineKind.REDACT],
                )
            )
            held_s = max(0.0, (self._elapsed_ns() - began_ns) / 1e9 - erased.beside_s)
            done += len(portion)
            share = _FRACTIONS[ErasurePhase.DELETE]
            self._note(erased, share + (_CLEARING - share) * done / len(going))
            # Others wait for as long as a step has the lock, and write while it reads and while this sleeps: half of the time is theirs.
            size = _next_size(size, held_s)
            self._sleep(min(held_s, limits.ERASURE_PAUSE_S_MAX))

    def _owned(self) -> Owned:
        place = self.job.place
        return self._planner.owned(self.job.tenant_id, place.actors, place.held)

    def _with_late(self, owned: Owned, gone: Collection[str], inside: Collection[Scope]) -> Owned:
        """What is owned, with what others made of it since the plan, which can be minutes ago: what tells of that goes here."""
        done = set(gone)
        for _ in range(_LOOKS_MAX):
            late = set(owned.event_ids) - done
            if late:
                told = replace(owned, event_ids=tuple(sorted(late)))
                self._erase_records(self._planner.of_documents(self.job.tenant_id, told), inside)
                self._erase_events([(LineKind.DELETE, id_) for id_ in told.event_ids], inside)
                done |= late
            now = owned.joined(self._owned())
            if now == owned:
                break
            owned = now
        return owned

    def _sweep(self, inside: Collection[Scope]) -> None:
        """Derived records of the erased scopes that no event led to; and what others sent there is sent there no more."""
        while True:
            erased = self._store.erasing.erase(replace(self._step(inside), sweeps=True))
            if not erased.gone:
                return
            self._note(erased, self.job.fraction)

    def _erase_records(self, record_ids: Collection[str], inside: Collection[Scope]) -> None:
        for portion in _portions(sorted(record_ids), limits.ERASURE_STEP_MAX):
            erased = self._store.erasing.erase(replace(self._step(inside), records=portion))
            self._note(erased, self.job.fraction)

    def _clear(self, event_ids: Collection[str], owned: Owned) -> None:
        """The places beside the log. Where a hold keeps a part of a scope, or the whole, what goes there is told by the events that go."""
        job = self.job
        scopes = [
            root
            for root in job.place.scopes
            if not any(root.contains(held) or held.contains(root) for held in job.place.held)
        ]
        clear_places(
            self._store,
            job.tenant_id,
            scopes=scopes,
            event_ids=event_ids,
            actors=job.place.actors,
            stand_in=_stand_in(job),
            held=job.place.held,
            owned=owned,
            renewed=self._unnaming(job.tenant_id, owned.paths),
        )
        self._keep()

    def _count(self) -> None:
        """What became of it, counted from what stands: also of what was done before an interruption."""
        job = self.job
        marks = self._store.erasures.counted(job.tenant_id, job.id)
        demoted = self._store.records.get(
            job.tenant_id, self._store.erasures.ids(job.tenant_id, job.id, LineKind.DEMOTE)
        )
        touched = [
            *(id_ for id_, _ in self._lines(LineKind.DELETE)),
            *(id_ for id_, _ in self._lines(LineKind.REDACT)),
        ]
        redacted = sum(
            len(self._store.log.get(job.tenant_id, portion)) for portion in _portions(touched, 1000)
        )
        outcome = replace(
            job.outcome,
            deleted_events=marks.get(Layer.EVENTS, 0),
            redacted_events=redacted,
            deleted_episodes=marks.get(Layer.EPISODES, 0),
            deleted_facts=marks.get(Layer.FACTS, 0),
            deleted_beliefs=marks.get(Layer.BELIEFS, 0),
            deleted_understanding=marks.get(Layer.UNDERSTANDING, 0),
            demoted_beliefs=sum(
                isinstance(each, Belief) and each.demoted_by is not None for each in demoted.values()
            ),
        )
        self._keep(outcome=outcome)

    def _unregister(self) -> None:
        """Drop the scope's registration and policy, with what they said of vocabularies."""
        job = self.job
        activations = [
            Activation(
                definition_by(
                    job.tenant_id,
                    job.requested_by,
                    {"kind": ACTIVE_VOCABULARIES, "place": place, "vocabularies": None},
                    job.started_at,
                ),
                place,
            )
            for place in (f"policy {job.scope}", f"registration {job.scope}")
        ]
        self._store.registry.delete(job.tenant_id, job.scope, activations)

    # ---- what they share

    def _lines(self, kind: LineKind) -> list[tuple[str, Scope]]:
        """The ids of a kind in the manifest, each with its scope."""
        found: list[tuple[str, Scope]] = []
        after = None
        while True:
            page = self._store.erasures.lines(
                self.job.tenant_id, self.job.id, after=after, limit=limits.ERASURE_LINES_AT_ONCE
            )
            found += [(line.id, line.scope) for line in page if line.kind is kind]
            if len(page) < limits.ERASURE_LINES_AT_ONCE or page[-1].kind > kind:
                return found
            after = page[-1]

    def _inside(self) -> frozenset[Scope]:
        """The scopes of which nothing derived stays, one by one."""
        area = Area(self.job.place.scopes, self.job.place.held)
        found = {
            each.scope
            for root in area.roots
            for each in self._store.citations.within(self.job.tenant_id, root)
        }
        for root in area.roots:
            for records in self._store.citations.records_within(self.job.tenant_id, root).values():
                found |= {scope for _, scope in records}
        # An interrupted run may have emptied scopes, which others may have sent something to.
        found |= {mark.scope for mark in self._store.traces.remains(self.job.tenant_id, self.job.id).marks}
        return frozenset(scope for scope in {*found, *area.roots} if area.covers(scope))

    def _step(self, inside: Collection[Scope]) -> Erasure:
        job = self.job
        return Erasure(
            tenant_id=job.tenant_id,
            erasure_id=job.id,
            by_actor=job.requested_by,
            cascade="gdpr",
            scopes=inside,
            actor=_stand_in(job),
            audit_id=audit_id_of(job),
            factor=job.factor,
            floor=job.floor,
        )

    def _note(self, erased: Erased, fraction: float) -> None:
        """Count what a step did; it is put down with the first step of each percent and each second, not with every one."""
        outcome = self.job.outcome
        gone = {layer: len(ids) for layer, ids in erased.gone.items()}
        outcome = replace(
            outcome,
            deleted_events=outcome.deleted_events + len(erased.deleted),
            redacted_events=outcome.redacted_events + len(erased.redacted),
            deleted_episodes=outcome.deleted_episodes + gone.get(Layer.EPISODES, 0),
            deleted_facts=outcome.deleted_facts + gone.get(Layer.FACTS, 0),
            deleted_beliefs=outcome.deleted_beliefs + gone.get(Layer.BELIEFS, 0),
            deleted_understanding=outcome.deleted_understanding + gone.get(Layer.UNDERSTANDING, 0),
            demoted_beliefs=outcome.demoted_beliefs + len(erased.demoted),
        )
        further = replace(self.job, fraction=fraction, outcome=outcome)
        if _percent(further) == _percent(self.job) and self._elapsed_ns() - self._since < _KEPT_NS:
            self.job = further
        else:
            self._keep(fraction=fraction, outcome=outcome)

    def _keep(self, **changes: object) -> None:
        """Put down how far it is, tell those who follow, and go on holding it; raises where somebody else has it."""
        changed = replace(self.job, **changes)  # type: ignore[arg-type]
        told = changed.phase is not self.job.phase or _percent(changed) != _percent(self.job)
        changed = replace(changed, outcome=self._timed(changed.outcome))
        kept = self._store.erasures.advance(
            changed,
            lease_until=self._clock.now() + int(limits.ERASURE_LEASE_S * SECOND_US),
            told=[told_of(changed)] if told or changed.phase is ErasurePhase.ENUMERATE else [],
        )
        if kept is None:
            raise _LeaseLostError
        self.job = kept

    def _timed(self, outcome: ErasureOutcome) -> ErasureOutcome:
        now = self._elapsed_ns()
        took_us, self._since = (now - self._since) // 1000, now
        return replace(outcome, took_us=outcome.took_us + took_us)

    def _end(self, status: str) -> None:
        ended = replace(
            self.job,
            status=status,  # type: ignore[arg-type]
            fraction=1.0 if status == "completed" else self.job.fraction,
            ended_at=self._clock.now(),
            audit_id=audit_id_of(self.job),
            outcome=self._timed(self.job.outcome),
        )
        if not self._store.erasures.end(ended, told=[told_of(ended)], audit=audit_of(ended)):
            raise _LeaseLostError
        self.job = ended


def _named_nowhere(tenant_id: str, paths: Collection[str]) -> Sequence[Change]:  # noqa: ARG001 - the shape of ``Unnaming``
    return ()


def _next_size(size: int, held_s: float) -> int:
    """How many events the next step is to have, after one of ``size`` events: as many as fit into ``ERASURE_STEP_S``."""
    fitting = int(size * limits.ERASURE_STEP_S / max(held_s, 1e-6))
    least = min(limits.ERASURE_STEP_MIN, limits.ERASURE_STEP_MAX)
    return max(least, min(limits.ERASURE_STEP_MAX, fitting, 2 * size))


def _stand_in(job: ErasureJob) -> str:
    """Who is named in the place of whoever is erased."""
    return f"redacted:gdpr_{job.id}"


def _percent(job: ErasureJob) -> int:
    """How far it is as far as anybody is told: not of every step."""
    return int(job.fraction * 100)


def _portions(values: Sequence[T], size: int) -> Iterator[list[T]]:
    for start in range(0, len(values), size):
        yield list(values[start : start + size])
