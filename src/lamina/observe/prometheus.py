"""How the server is and what its calls came to, as Prometheus reads it. Loaded when somebody asks: the library takes a while.

No label holds what callers choose: operations, outcomes, stages and tasks are words of the product, so there are never more series than
these. What is counted is counted by all serving processes together, and what is measured is the store's: whoever is asked says
the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from lamina import __version__
from lamina.errors import Fault, Unavailable
from lamina.kernel.time import DAY_US, SECOND_US, Instant
from lamina.observe.figures import BOUNDS_S, OUTCOMES, CallCounts
from lamina.observe.rounds import Failures
from lamina.store.ports.store import Store

__all__ = ["Measuring"]

_BUCKETS: Final = (*(str(bound) for bound in BOUNDS_S), "+Inf")


class Measuring:
    """What there is to measure, in a registry of its own."""

    def __init__(
        self,
        store: Store,
        failures: Failures,
        calls: CallCounts,
        *,
        processes: int,
        operations: Sequence[str],
    ) -> None:
        """``operations`` are the names of those that are served."""
        self._store = store
        self._failures = failures
        self._calls = calls
        self._processes = processes
        self._operations = operations

    def page(self, now: Instant) -> str:
        """Everything as of an instant, in the text format."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Collector(self, now))
        return generate_latest(registry).decode()

    def metrics(self, now: Instant) -> Iterator[Metric]:
        """Every metric as of an instant. Of a store that cannot be read there is that alone."""
        yield _gauge("lamina_build_info", "Which build answers.", 1, version=__version__)
        yield _gauge(
            "lamina_serving_processes", "How many processes serve and count together.", self._processes
        )
        yield from self._of_calls()
        try:
            yield from list(self._of_store(now))
            readable = 1
        except (Unavailable, Fault):
            readable = 0
        yield _gauge("lamina_store_readable", "Whether the store can be read.", readable)

    def _of_calls(self) -> Iterator[Metric]:
        ended = CounterMetricFamily(
            "lamina_operations", "Calls by operation and how they ended.", labels=("operation", "outcome")
        )
        took = HistogramMetricFamily(
            "lamina_operation_duration_seconds",
            "How long calls ran behind their door; of a stream, until it began.",
            labels=("operation",),
        )
        for each in self._calls.figures(self._operations):
            for outcome, count in zip(OUTCOMES, each.outcomes, strict=True):
                if count:
                    ended.add_metric((each.operation, outcome), count)
            counts = zip(_BUCKETS, accumulate(each.durations), strict=True)
            took.add_metric((each.operation,), buckets=list(counts), sum_value=each.seconds)
        yield ended
        yield took

    def _of_store(self, now: Instant) -> Iterator[Metric]:
        upkeep, state = self._store.upkeep, self._store.upkeep.state()
        yield _gauge("lamina_store_writable", "Whether the disk takes writes.", not upkeep.refuses())
        if state.disk_free_bytes is not None:
            yield _gauge(
                "lamina_disk_free_bytes", "Free bytes on the disk of the log.", state.disk_free_bytes
            )
        if state.worker_alive is not None:
            yield _gauge(
                "lamina_worker_alive", "Whether a worker derives what is written.", state.worker_alive
            )
        jobs = GaugeMetricFamily("lamina_jobs", "Events on their way through derivation.", labels=("state",))
        for name, count in sorted(self._store.jobs.backlog().items()):
            jobs.add_metric((name,), count)
        yield jobs
        yield _gauge("lamina_oldest_pending_seconds", "How long the oldest event has waited to be derived.",
                     _age_s(state.oldest_pending_at, now))  # fmt: skip
        yield _gauge("lamina_recorded_ahead_seconds", "How far the newest event lies ahead of the clock.",
                     max(0, (state.last_recorded_at or 0) - now) / SECOND_US)  # fmt: skip
        yield _gauge("lamina_repositories_behind", "Git repositories that lack something of their documents.",
                     state.repositories_behind)  # fmt: skip
        yield _gauge("lamina_outbox_failed", "Turns that reached no graph, for good.", state.outbox_failed)
        yield _gauge("lamina_inquiries_failed", "Questions to a language model that failed for good.",
                     state.inquiries_failed)  # fmt: skip
        yield _gauge("lamina_summaries_waiting", "Folded turns that wait for a language model's words.",
                     state.summaries_waiting)  # fmt: skip
        yield _gauge("lamina_parts_failing", "Parts behind the calls that fail just now and are tried again.",
                     len({**state.failing, **self._failures.everywhere()}))  # fmt: skip
        left = self._store.rederivation.state()
        yield _gauge("lamina_rederivation_scopes_left", "Scopes that another release derived.", left.scopes)
        yield _gauge("lamina_rederivation_events_left", "Events that another release derived.", left.events)
        if state.checked is not None:
            yield _gauge("lamina_damage", "What the last check of the disk found damaged.",
                         len(state.checked.database) + len(state.checked.repositories))  # fmt: skip
            yield _gauge("lamina_check_age_seconds", "How long ago the disk was checked.",
                         _age_s(state.checked.checked_at, now))  # fmt: skip
        if state.backed_up_at is not None:
            yield _gauge("lamina_backup_age_seconds", "How old the newest backup is.",
                         _age_s(state.backed_up_at, now))  # fmt: skip
        yield from self._of_models(now)

    def _of_models(self, now: Instant) -> Iterator[Metric]:
        """What models were asked today (UTC). By task: models have names that operators choose."""
        sums: dict[str, tuple[int, int, int]] = {}
        for each in self._store.model_outputs.spent(None, now // DAY_US):
            asked, tokens_in, tokens_out = sums.get(each.task, (0, 0, 0))
            sums[each.task] = asked + each.asked, tokens_in + each.tokens_in, tokens_out + each.tokens_out
        questions = GaugeMetricFamily(
            "lamina_model_questions_today", "Questions to models since midnight UTC.", labels=("task",)
        )
        tokens = GaugeMetricFamily(
            "lamina_model_tokens_today", "Tokens of models since midnight UTC.", labels=("task", "direction")
        )
        for task, (asked, tokens_in, tokens_out) in sorted(sums.items()):
            questions.add_metric((task,), asked)
            tokens.add_metric((task, "in"), tokens_in)
            tokens.add_metric((task, "out"), tokens_out)
        yield questions
        yield tokens


class _Collector(Collector):
    """What the library asks, as of one instant."""

    def __init__(self, measuring: Measuring, now: Instant) -> None:
        self._measuring = measuring
        self._now = now

    def collect(self) -> Iterator[Metric]:
        """Mirrors ``Collector.collect``."""
        return self._measuring.metrics(self._now)


def _gauge(name: str, about: str, value: float, **labels: str) -> Metric:
    family = GaugeMetricFamily(name, about, labels=tuple(labels))
    family.add_metric(tuple(labels.values()), float(value))
    return family


def _age_s(at: Instant | None, now: Instant) -> float:
    return 0.0 if at is None else max(0, now - at) / SECOND_US
