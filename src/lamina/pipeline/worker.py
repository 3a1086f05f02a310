"""The worker: claims jobs, runs their stages, lands what they derive, and survives what fails."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Sequence

from lamina import limits
from lamina.errors import Conflict, LaminaError, Unavailable
from lamina.kernel.events import Event, Modality, Stage
from lamina.kernel.time import SECOND_US, Clock
from lamina.models.ports import Embedder
from lamina.observe.rounds import Failures, class_of, frames_of, keep_at
from lamina.pipeline.calibrating import Calibrator
from lamina.pipeline.concept_words import TASK as CONCEPTS
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.indexing import vector_rows
from lamina.pipeline.readings.loops_alone import applies_at
from lamina.pipeline.readings.question import TASK as EXTRACT
from lamina.store.ports.index import VectorRow
from lamina.store.ports.inquiries import Ready
from lamina.store.ports.jobs import LEASE_LOST, Job
from lamina.store.ports.store import Store
from lamina.store.rules.attempts import JOBS
from lamina.store.rules.log import reading_of, wording_of

__all__ = ["Worker"]

_LOG = logging.getLogger("lamina.worker")
_STAGES = [stage for stage in Stage if stage is not Stage.CAPTURED]
_IDLE_S = 0.02
_PRUNE_EVERY_S = 600.0
_BEHIND_EVERY = 4  # rounds: what is behind goes on where derivation never rests


class Worker:
    """One derivation loop over a store."""

    def __init__(
        self,
        store: Store,
        deriver: Deriver,
        embedder: Embedder | None,
        clock: Clock,
        owner: str,
        *,
        failures: Failures | None = None,
        sleep: Callable[[float], None] = time.sleep,
        behind: Callable[[], bool] | None = None,
        calibrates: bool = True,
        helps: bool = False,
        steady: Clock | None = None,
    ) -> None:
        """``behind`` is a step of what has time: done when nothing else is to do, and now and then beside it. With ``calibrates`` what is
        derived of verdicts is followed by a run of the calibration. One that ``helps`` runs the stages beside another, which does what is
        done once for a store: it lets answers take effect, embeds what was put off and forgets old keys and plans of erasures. By which age
        these are forgotten a ``steady`` clock says, where there is one."""
        self._helps = helps
        self._calibrator = Calibrator(store) if calibrates else None
        self._judged: set[str] = set()
        self._store = store
        self._behind = behind
        self._rounds = 0
        self._deriver = deriver
        self._embedder = embedder
        self._clock = clock
        self._steady = steady or clock
        self._owner = owner
        self._failures = failures or Failures()
        self._sleep = sleep
        self._pruned_at = 0
        self._loaded = False
        self._embeds_at = 0
        self._left_out: set[tuple[str, str]] = set()

    def run(self, stopping: Callable[[], bool]) -> None:
        """Work until told to stop; when nothing is due, do what was put off, then sleep briefly. A round that fails is
        logged, and comes again."""
        keep_at(
            "derivation",
            self._round,
            stopping,
            idle_s=_IDLE_S,
            failures=self._failures,
            sleep=self._sleep,
        )

    def _round(self) -> bool:
        try:
            busy = bool(self.step() or (not self._helps and self._embed_when_due()))
            self._rounds += 1
            if self._behind is not None and (not busy or self._rounds % _BEHIND_EVERY == 0):
                busy = self._behind() or busy
            if busy:
                return True
        except Exception:
            # A lease that ran out would count as an attempt of its job.
            with contextlib.suppress(LaminaError):
                self._store.jobs.release(self._owner)
            raise
        if not self._helps:
            self._prune()
        return False

    def drain(self) -> int:
        """Work until nothing is due any more; returns how many jobs and answers there were."""
        done = 0
        while claimed := self.step():
            done += claimed
        while not self._helps and self.embed_pending():
            pass
        return done

    def step(self) -> int:
        """One batch of every stage, and what models answered; returns how many jobs and answers there were."""
        self._load()
        done = 0 if self._helps else self._apply_answers()
        done += sum(self._work(stage) for stage in _STAGES)
        self._calibrate()
        return done

    def _calibrate(self) -> None:
        """Follow the verdicts that were derived since."""
        while self._calibrator is not None and self._judged:
            tenant_id = min(self._judged)
            self._calibrator.run(tenant_id)
            self._judged.remove(tenant_id)

    def embed_pending(self) -> int:
        """Embed one batch of the rows whose vectors were put off; returns how many. One that cannot be embedded where others
        can is left out until the next start."""
        if self._embedder is None:
            return 0
        waiting = self._store.index.unembedded(limits.JOB_BATCH_MAX + len(self._left_out))
        rows = [row for row in waiting if row not in self._left_out][: limits.JOB_BATCH_MAX]
        events = [
            event
            for tenant_id in dict.fromkeys(tenant for tenant, _ in rows)
            for event in self._store.log.get(tenant_id, [rid for t, rid in rows if t == tenant_id]).values()
        ]
        if events:
            self._embed(events, self._embedder)
        return len(events)

    def _embed(self, events: Sequence[Event], embedder: Embedder) -> None:
        try:
            vectors = vector_rows(events, embedder)
        except Exception:
            vectors, failed = _one_by_one(events, embedder)
            if not vectors:
                raise  # the embedder is at fault, or all that is left
            for event in failed:
                _LOG.error("%s could not be embedded and is left to its words until the next start", event.id)
            self._left_out |= {(event.tenant_id, event.id) for event in failed}
        self._store.index.embed(vectors)

    def _embed_when_due(self) -> int:
        """As ``embed_pending``; an embedder that fails keeps derivation from nothing, and is tried again later each time."""
        if self._clock.now() < self._embeds_at:
            return 0
        try:
            done = self.embed_pending()
        except Exception as error:
            wait_s = self._failures.note("embedding", error)
            self._embeds_at = self._clock.now() + int(wait_s * SECOND_US)
            return 0
        self._failures.over("embedding")
        return done

    def _work(self, stage: Stage) -> int:
        now = self._clock.now()
        lease_until = now + int(limits.JOB_LEASE_S * SECOND_US)
        jobs = self._store.jobs.claim(
            stage, limit=limits.JOB_BATCH_MAX, lease_until=lease_until, now=now, owner=self._owner
        )
        spent = [job for job in jobs if JOBS.is_over(job.attempts)]
        for job in spent:
            self._give_up(job, LEASE_LOST)
        left = [job for job in jobs if job not in spent]
        if left:
            self._land(stage, left)
        return len(jobs)

    def _load(self) -> None:
        """Load the models before the first job is leased: who is ended while he loads has tried nothing."""
        if self._loaded:
            return
        backlog = self._store.jobs.backlog()
        if not (backlog["pending"] or backlog["running"]):
            return
        self._loaded = True
        try:
            self._deriver.load()
        except Exception as error:
            # The jobs that need what is missing say so, each for itself.
            _LOG.error("the models could not be loaded: %s", class_of(error))

    def _apply_answers(self) -> int:
        """Let answers take effect where nothing is left to extract; how many did."""
        return sum(map(self._apply, self._store.inquiries.ready(limits.JOB_BATCH_MAX)))

    def _apply(self, ready: Ready) -> bool:
        try:
            if ready.inquiry.task in (EXTRACT, CONCEPTS):
                return self._enter(ready)
            writes = self._deriver.answered(ready)
            if writes is None:
                self._store.inquiries.drop(ready.inquiry)
                return False
            return self._store.inquiries.apply(ready, applies_at(ready.after), writes)
        except Unavailable:
            raise  # the store is away, and the answer is kept
        except Exception as error:
            if isinstance(error, Conflict) and error.code == "ERASURE_RUNNING":
                return False  # it goes with its turn, or takes effect once the erasure is cancelled
            name = class_of(error)
            _LOG.error(
                "an answer about %s could not be applied: %s\n%s",
                ready.inquiry.event_id,
                name,
                frames_of(error),
            )
            self._store.inquiries.put_off(ready.inquiry, name, retry_at=None)
            return False

    def _enter(self, ready: Ready) -> bool:
        """Put the entry into the log from which on an answer counts; it is derived like any other event."""
        inquiry = ready.inquiry
        turn = self._store.log.get(inquiry.tenant_id, [inquiry.event_id]).get(inquiry.event_id)
        words = inquiry.task == CONCEPTS
        if turn is None or (turn.excluded and not words) or inquiry.input_hash is None:
            self._store.inquiries.drop(inquiry)
            return False
        entry = (wording_of if words else reading_of)(turn, inquiry.task, inquiry.input_hash)
        return self._store.inquiries.enter(ready, entry) is not None

    def _land(self, stage: Stage, jobs: Sequence[Job]) -> bool:
        """Land a batch; when it fails, the jobs that are left are tried one by one, so that one bad event is alone."""
        left = {job.event.id: job for job in jobs}
        try:
            while left:
                for landings in self._deriver.run(stage, list(left.values())):
                    settled = self._store.jobs.finish(landings)
                    for job, _ in landings[:settled]:
                        if stage is Stage.CONSOLIDATED and job.event.modality == Modality.FEEDBACK:
                            self._judged.add(job.event.tenant_id)
                        del left[job.event.id]
                    if settled < len(landings):
                        break  # a job was gone: what is behind it is derived anew, without it
        except Exception as error:
            if len(jobs) == 1:
                self._fail(jobs[0], error)
                return False
            _LOG.warning("a batch of %s failed and is tried one by one: %s", stage, type(error).__name__)
            failed_scopes = set()
            for job in left.values():
                if job.event.scope not in failed_scopes and not self._land(stage, [job]):
                    failed_scopes.add(job.event.scope)
            # What is behind a failure in its scope keeps its place: its lease goes back.
            self._store.jobs.release(self._owner)
            return False
        return True

    def _fail(self, job: Job, error: Exception) -> None:
        name = class_of(error)
        _LOG.error(
            "%s of %s failed, attempt %d: %s\n%s",
            job.stage,
            job.event.id,
            job.attempts + 1,
            name,
            frames_of(error),
        )
        retry_at = JOBS.retry_at(job.attempts + 1, self._clock.now())
        if retry_at is None:
            self._give_up(job, name)
        else:
            self._store.jobs.fail(job, name, retry_at=retry_at)

    def _give_up(self, job: Job, error: str) -> None:
        """What could not be derived is found by its words at least, and tried again when somebody asks for it."""
        _LOG.error("%s of %s failed for good: %s", job.stage, job.event.id, error)
        try:
            words = self._deriver.words_of(job)
        except Exception as failure:
            _LOG.error("%s is not found by its words: %s", job.event.id, class_of(failure))
            words = None
        self._store.jobs.fail(job, error, retry_at=None, writes=words)

    def _prune(self) -> None:
        now = self._clock.now()
        if now - self._pruned_at > _PRUNE_EVERY_S * SECOND_US:
            self._pruned_at = now
            self._store.idempotency.prune(self._steady.now() - limits.IDEMPOTENCY_TTL_S * SECOND_US)
            self._store.packs.prune(now)
            self._store.erasures.prune(self._steady.now())


def _one_by_one(events: Sequence[Event], embedder: Embedder) -> tuple[list[VectorRow], list[Event]]:
    """The vectors of those that can be embedded, and those that cannot."""
    vectors: list[VectorRow] = []
    failed: list[Event] = []
    for event in events:
        try:
            vectors += vector_rows([event], embedder)
        except Exception:
            failed.append(event)
    return vectors, failed
