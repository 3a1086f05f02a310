"""The worker processes that ``lamina serve`` keeps running."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time

from lamina.observe.rounds import Failures
from lamina.settings import Settings

__all__ = ["Workers"]

_LOG = logging.getLogger("lamina.serve")
_RESTART_S = 0.5
_RESTART_S_MAX = 30.0
_STEADY_S = 60.0
_STOP_S = 10.0
_PART = "the worker process"
_WAITING = "waiting for the worker process"


class Workers:
    """Starts the derivation process, and starts it again when it dies, waiting longer each time it dies soon."""

    def __init__(self, settings: Settings, failures: Failures) -> None:
        self._settings = settings
        self._failures = failures
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._keep, name="lamina-workers", daemon=True)

    def start(self) -> None:
        """Begin; nothing happens when the settings leave derivation to others."""
        if self._settings.workers > 0:
            self._thread.start()

    def stop(self) -> None:
        """Let the worker finish its batch, then end it."""
        self._stopping.set()
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_S)
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
            if self._stopping.is_set():
                return
            self._failures.note(_PART, reason)
            steady = time.monotonic() - started > _STEADY_S
            wait_s = _RESTART_S if steady else min(2 * wait_s, _RESTART_S_MAX)
            _LOG.error("the worker is started again in %.1f s", wait_s)
            self._stopping.wait(wait_s)

    def _run(self) -> int:
        """Start the worker and wait for its end; its exit code."""
        command = [sys.executable, "-m", "lamina", "worker", "--data", str(self._settings.data)]
        command += ["--parent", str(os.getpid())]
        self._process = process = subprocess.Popen(command)  # noqa: S603 - our own module
        if self._stopping.is_set():
            process.terminate()  # it was told to stop before there was anything to stop
        while True:
            # A wait that fails says nothing of the worker: one that lives is never given up for another.
            try:
                return process.wait(_STEADY_S)
            except subprocess.TimeoutExpired:
                self._failures.over(_PART)
                self._failures.over(_WAITING)
            except Exception as error:
                if (code := process.poll()) is not None:
                    return code
                self._stopping.wait(self._failures.note(_WAITING, error))
