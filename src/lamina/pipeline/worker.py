"""The worker: claims jobs, runs their stages, lands what they derive, and survives what fails."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Sequence

from lamina import limits
from lamina.kernel.events import Stage
from lamina.kernel.time import SECOND_US, Clock
from lamina.models.ports import Embedder
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.indexing import vector_rows
from lamina.pipeline.loops.applying import applies_at
from lamina.store.ports.inquiries import Ready
from lamina.store.ports.jobs import LEASE_LOST, Job
from lamina.store.ports.store import Store

__all__ = ["Worker", "backoff_us"]

_LOG = logging.getLogger("lamina.worker")
_STAGES = [stage for stage in Stage if stage is not Stage.CAPTURED]
_IDLE_S = 0.02
_PRUNE_EVERY_S = 600.0


def backoff_us(attempts: int) -> int | None:
    """How long a job waits after its ``attempts``-th failure: 5, 10, 20, 40 s; None after the fifth."""
    if attempts >= limits.JOB_ATTEMPTS_MAX:
        return None
    return int(limits.JOB_BACKOFF_BASE_S * SECOND_US) << (attempts - 1)


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
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store = store
        self._deriver = deriver
        self._embedder = embedder
        self._clock = clock
        self._owner = owner
        self._sleep = sleep
        self._pruned_at = 0
        self._loaded = False

    def run(self, stopping: Callable[[], bool]) -> None:
        """Work until told to stop; when nothing is due, do what was put off, then sleep briefly."""
        while not stopping():
            if not (self.step() or self.embed_pending()):
                self._prune()
                self._sleep(_IDLE_S)

    def drain(self) -> int:
        """Work until nothing is due any more; returns how many jobs and answers there were."""
        done = 0
        while claimed := self.step():
            done += claimed
        while self.embed_pending():
            pass
        return done

    def step(self) -> int:
        """One batch of every stage, and what models answered; returns how many jobs and answers there were."""
        self._load()
        return self._apply_answers() + sum(self._work(stage) for stage in _STAGES)

    def embed_pending(self) -> int:
        """Embed one batch of the rows whose vectors were put off; returns how many."""
        if self._embedder is None:
            return 0
        waiting = self._store.index.unembedded(limits.JOB_BATCH_MAX)
        events = [
            event
            for tenant_id in dict.fromkeys(tenant for tenant, _ in waiting)
            for event in self._store.log.get(
                tenant_id, [rid for t, rid in waiting if t == tenant_id]
            ).values()
        ]
        if events:
            self._store.index.embed(vector_rows(events, self._embedder))
        return len(events)

    def _work(self, stage: Stage) -> int:
        now = self._clock.now()
        lease_until = now + int(limits.JOB_LEASE_S * SECOND_US)
        jobs = self._store.jobs.claim(
            stage, limit=limits.JOB_BATCH_MAX, lease_until=lease_until, now=now, owner=self._owner
        )
        spent = [job for job in jobs if job.attempts >= limits.JOB_ATTEMPTS_MAX]
        for job in spent:
            self._give_up(job, LEASE_LOST)
        left = [job for job in jobs if job not in spent]
        if left:
            self._land(stage, left)
        return len(jobs)

    def _load(self) -> None:
        """Load the models before the first job is leased: who is ended while he loads has tried nothing."""
        if not self._loaded and any(self._store.jobs.backlog()[state] for state in ("pending", "running")):
            self._loaded = True
            try:
                self._deriver.load()
            except Exception as error:
                # The jobs that need what is missing say so, each for itself.
                _LOG.error("the models could not be loaded: %s", type(error).__name__)

    def _apply_answers(self) -> int:
        """Let answers take effect where nothing is left to extract; how many did."""
        return sum(map(self._apply, self._store.inquiries.ready(limits.JOB_BATCH_MAX)))

    def _apply(self, ready: Ready) -> bool:
        try:
            writes = self._deriver.answered(ready)
            if writes is None:
                self._store.inquiries.drop(ready.inquiry)
                return False
            return self._store.inquiries.apply(ready, applies_at(ready.after), writes)
        except Exception as error:
            name = f"{type(error).__module__}.{type(error).__qualname__}"
            frames = "".join(traceback.format_tb(error.__traceback__))
            _LOG.error(
                "an answer about %s could not be applied: %s\n%s", ready.inquiry.event_id, name, frames
            )
            self._store.inquiries.put_off(ready.inquiry, name, retry_at=None)
            return False

    def _land(self, stage: Stage, jobs: Sequence[Job]) -> bool:
        """Land a batch; when it fails, the jobs that are left are tried one by one, so that one bad event is alone."""
        left = {job.event.id: job for job in jobs}
        try:
            while left:
                for landings in self._deriver.run(stage, list(left.values())):
                    settled = self._store.jobs.finish(landings)
                    for job, _ in landings[:settled]:
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
        wait_us = backoff_us(job.attempts + 1)
        # The class and not the message: a message may quote the memory.
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        frames = "".join(traceback.format_tb(error.__traceback__))
        _LOG.error(
            "%s of %s failed, attempt %d: %s\n%s", job.stage, job.event.id, job.attempts + 1, name, frames
        )
        if wait_us is None:
            self._give_up(job, name)
        else:
            self._store.jobs.fail(job, name, retry_at=self._clock.now() + wait_us)

    def _give_up(self, job: Job, error: str) -> None:
        """What could not be derived is found by its words at least, and tried again when somebody asks for it."""
        _LOG.error("%s of %s failed for good: %s", job.stage, job.event.id, error)
        try:
            words = self._deriver.words_of(job)
        except Exception as failure:
            _LOG.error("%s is not found by its words: %s", job.event.id, type(failure).__name__)
            words = None
        self._store.jobs.fail(job, error, retry_at=None, writes=words)

    def _prune(self) -> None:
        now = self._clock.now()
        if now - self._pruned_at > _PRUNE_EVERY_S * SECOND_US:
            self._pruned_at = now
            self._store.idempotency.prune(now - limits.IDEMPOTENCY_TTL_S * SECOND_US)
