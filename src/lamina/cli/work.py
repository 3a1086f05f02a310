"""``lamina worker`` and ``lamina retry``: derivation from the command line."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence

from lamina.cli.daily_backup import DailyBackup
from lamina.cli.damage import erasures_check
from lamina.cli.process import collect_seldom, use_one_core_a_product
from lamina.cli.supervise import Helper
from lamina.errors import Fault, LaminaError
from lamina.kernel.time import SystemClock
from lamina.language.temporal import find_times
from lamina.models.minilm import MiniLmEmbedder
from lamina.observe.rounds import Failures
from lamina.observe.steady_clock import SteadyClock
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.settings import Settings
from lamina.store.opening import alone, make_folder, open_store, require_store
from lamina.worker_app import (
    build_drain,
    build_eraser,
    build_expirer,
    build_inquirer,
    build_upgrader,
    build_worker,
    helper_name,
)

__all__ = ["run_retry", "run_worker", "warn_of_erasures", "work_beside"]

_log = logging.getLogger(__name__)

_BEHIND_STOP_S = 5.0  # a row that a model or a graph is slow to take is tried again after its lease
_NICENESS = 5  # captures and recalls come before derivation on a busy machine


def run_worker(settings: Settings, parent: int | None = None) -> None:
    """Derive until told to stop, or until ``parent``, the process that keeps this one, is gone.

    Where the settings want several processes, it keeps the others running. Raises ``Fault`` (INTERNAL) when a thread of it ended by
    itself: whoever keeps the worker starts all of it again.
    """
    stop = _set_up()
    # Nothing leaves this machine unasked; the graph's vectors are those of the embedder here.
    os.environ.setdefault("GRAPHITI_TELEMETRY_ENABLED", "false")
    os.environ.setdefault("EMBEDDING_DIM", str(MiniLmEmbedder.dim_pooled))
    require_store(settings.data)
    make_folder(settings.data)
    with alone(settings.data) as lock, contextlib.ExitStack() as held:
        store = open_store(settings, durable=False)
        store.jobs.take_over(SystemClock().now())
        store.sessions.take_over()
        store.inquiries.take_over()
        store.erasures.take_over()
        store.upkeep.note_failing({})
        warn_of_erasures(settings)
        failures = Failures(store.upkeep.note_failing)

        def told() -> bool:
            return stop.is_set() or parent not in (None, os.getppid())

        steady = SteadyClock(SystemClock(), store.upkeep.state().last_recorded_at)
        behind = [
            ("lamina-drain", build_drain(settings, store, held, failures).run),
            ("lamina-eraser", build_eraser(settings, store, failures).run),
            ("lamina-expirer", build_expirer(settings, store, failures, steady).run),
        ]
        if (inquirer := build_inquirer(settings, store, held, failures)) is not None:
            behind += [
                (f"lamina-inquirer-{number}", inquirer.run)
                for number in range(1, settings.llm_concurrency + 1)
            ]
        if settings.backup_at:
            behind.append(("lamina-backup", DailyBackup(settings, SystemClock(), failures).run))
        extractor = RulesExtractor(find_times)  # one for both: a parser is large
        upgrader = build_upgrader(store, extractor, failures)
        upgrader.begin()
        worker = build_worker(
            settings, store, failures, behind=upgrader.step, extractor=extractor, steady=steady
        )
        helpers = [Helper(settings, number, lock, failures) for number in range(2, settings.workers + 1)]
        for each in helpers:
            each.start()
        lost = work_beside(worker.run, behind, told)
        for each in helpers:
            each.tell_to_stop()
        for each in helpers:
            each.stop()
        upgrader.close()
        store.upkeep.note_failing({})
        store.close()
    if lost:
        raise Fault("INTERNAL", f"{' and '.join(lost)} ended by itself", hint="start the worker again")


def warn_of_erasures(settings: Settings) -> None:
    """Say in the log where the folder is an older copy of itself, from before something was erased. A list that cannot be read stops nothing."""
    try:
        check = erasures_check(settings)
    except (LaminaError, OSError) as error:
        _log.warning("what was erased cannot be compared with the folder: %s", error)
        return
    if check.state != "ok":
        _log.warning("%s: %s", check.found, check.hint)


def run_helper(settings: Settings, parent: int, number: int) -> None:
    """Derive beside the worker ``parent`` until told to stop or until that is gone. Scopes are shared out by the leases of their jobs."""
    stop = _set_up()
    name = helper_name(parent, number)
    store = open_store(settings, durable=False)
    store.jobs.take_over(SystemClock().now(), owner=name)  # those of the one before under this number
    build_worker(settings, store, helper=name).run(lambda: stop.is_set() or os.getppid() != parent)
    store.jobs.release(name)
    store.close()


def _set_up() -> threading.Event:
    """What every process that derives does first; set once it is told to stop."""
    os.nice(_NICENESS)
    use_one_core_a_product()
    collect_seldom()
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    return stop


_Run = Callable[[Callable[[], bool]], None]


def work_beside(front: _Run, behind: Sequence[tuple[str, _Run]], told: Callable[[], bool]) -> list[str]:
    """Run ``front`` here and what is ``behind`` it on threads, until told to stop or until one of these threads has ended
    by itself; the names of those that have."""
    over = threading.Event()
    threads = [
        threading.Thread(target=run, args=(lambda: over.is_set() or told(),), name=name, daemon=True)
        for name, run in behind
    ]
    lost: list[str] = []

    def stopping() -> bool:
        if told():
            return True
        lost[:] = [thread.name for thread in threads if not thread.is_alive()]
        return bool(lost)

    for thread in threads:
        thread.start()
    try:
        front(stopping)
    finally:
        over.set()
    until = time.monotonic() + _BEHIND_STOP_S
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return lost


def run_retry(settings: Settings) -> int:
    """Have the stages that failed for good tried again, by the worker that runs or comes next; returns how many."""
    require_store(settings.data)
    store = open_store(settings)
    try:
        return store.jobs.retry_failed()
    finally:
        store.close()
