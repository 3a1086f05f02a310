"""Processes that are kept running: the worker under ``lamina serve``, and those that serve beside each other."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence

from lamina.cli.forking import KeptProcess
from lamina.observe.rounds import Failures
from lamina.settings import Settings

__all__ = ["Helper", "SupervisedProcess", "Workers"]

_LOG = logging.getLogger("lamina.serve")
_RESTART_S = 0.5
_RESTART_S_MAX = 30.0
_STEADY_S = 60.0
_STOP_S = 10.0


class SupervisedProcess:
    """Starts a process, and starts it again when it dies, waiting longer each time it dies soon."""

    def __init__(
        self,
        part: str,
        begin: Callable[[], KeptProcess],
        failures: Failures,
        *,
        gives_up: Callable[[], bool] = lambda: False,
    ) -> None:
        """``part`` names it in logs and among the failures; where the keeper ``gives_up``, a death is the last."""
        self._gives_up = gives_up
        self._part = part
        self._waiting = f"waiting for {part}"
        self._begin = begin
        self._failures = failures
        self._stopping = threading.Event()
        self._process: KeptProcess | None = None
        self._thread = threading.Thread(target=self._keep, name="lamina-workers", daemon=True)

    @property
    def pid(self) -> int | None:
        """The number of the process, or of the last one."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def tell_to_stop(self) -> None:
        """Let the process end in good order, and start it no more; does not wait."""
        self._stopping.set()
        if self._process is not None:
            self._process.terminate()

    def stop(self, wait_s: float = _STOP_S) -> None:
        """Let the process finish what it is at, then end it."""
        self.tell_to_stop()
        if self._process is not None:
            try:
                self._process.wait(wait_s)
            except subprocess.TimeoutExpired:
                self._process.kill()
        if self._thread.is_alive():
            self._thread.join(_STOP_S)

    def _keep(self) -> None:
        wait_s = _RESTART_S
        while not self._stopping.is_set():
            started = time.monotonic()
            reason: str | Exception
            try:
                reason = f"ended with code {self._run()}"
            except Exception as error:  # no room for another process, say
                reason = error
            if self._stopping.is_set() or self._gives_up():
                return
            self._failures.note(self._part, reason)
            steady = time.monotonic() - started > _STEADY_S
            wait_s = _RESTART_S if steady else min(2 * wait_s, _RESTART_S_MAX)
            _LOG.error("%s is started again in %.1f s", self._part, wait_s)
            self._stopping.wait(wait_s)

    def _run(self) -> int:
        """Start the process and wait for its end; its exit code."""
        self._process = process = self._begin()
        if self._stopping.is_set():
            process.terminate()  # it was told to stop before there was anything to stop
        while True:
            # A wait that fails says nothing of the process: one that lives is never given up for another.
            try:
                return process.wait(_STEADY_S)
            except subprocess.TimeoutExpired:
                self._failures.over(self._part)
                self._failures.over(self._waiting)
            except Exception as error:
                if (code := process.poll()) is not None:
                    return code
                self._stopping.wait(self._failures.note(self._waiting, error))


class Helper(SupervisedProcess):
    """A process that derives beside the worker that starts it."""

    def __init__(self, settings: Settings, number: int, lock: int, failures: Failures) -> None:
        """``number`` counts from 2, the worker being the first; ``lock`` is the descriptor of the folder's lock, which it holds, too."""
        command = [*_worker_of(settings), "--helper", str(number)]
        super().__init__(f"worker process {number}", lambda: _begin_with(command, lock), failures)


class Workers(SupervisedProcess):
    """The derivation process, which starts the others where there are to be several."""

    def __init__(self, settings: Settings, failures: Failures) -> None:
        command = [*_worker_of(settings), "--workers", str(settings.workers)]
        super().__init__("the worker process", lambda: _begin(command), failures)
        self._count = settings.workers

    def start(self) -> None:
        """Begin; nothing happens when the settings leave derivation to others."""
        if self._count > 0:
            super().start()


def _begin(command: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command)  # noqa: S603 - our own module


def _begin_with(command: Sequence[str], descriptor: int) -> subprocess.Popen[bytes]:
    """A process that inherits an open file."""
    return subprocess.Popen(command, pass_fds=(descriptor,))  # noqa: S603 - our own module


def _worker_of(settings: Settings) -> Sequence[str]:
    """Ends with this process, however that ends."""
    command = [sys.executable, "-m", "lamina", "worker", "--data", str(settings.data)]
    return [*command, "--parent", str(os.getpid())]
