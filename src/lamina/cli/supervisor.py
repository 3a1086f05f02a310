"""``lamina serve`` with several processes: they take connections from one socket, and this one keeps them and the worker running.

The socket is bound here and inherited, so that no connection is lost with a process that dies before it has taken it, and
the port is answered as long as any of them lives. The supervisor serves nobody itself and loads nothing of the store: what
keeps the others has to be what fails last.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import partial
from typing import Final

from lamina import limits
from lamina.cli.fork_server import can_fork
from lamina.cli.forking import ForkServer, KeptProcess, adopt_orphans, reap_orphans
from lamina.cli.keeper import keeping
from lamina.cli.listening import listen
from lamina.cli.local_socket import bound, lock_of
from lamina.cli.share import ServingProcess, SupervisorLine, say_token, say_where
from lamina.cli.supervise import SupervisedProcess, Workers
from lamina.observe.figures import CallCounts
from lamina.observe.logs import set_up_logging
from lamina.observe.rounds import Failures
from lamina.settings import Settings
from lamina.store.tallies import SharedTallies, shared_memory

__all__ = ["run_supervisor"]

_PATIENCE_S: Final = 15.0
"""For an address that processes whose supervisor was killed are still letting go of."""
_ORPHANS_S: Final = 60.0
_SPARE_S: Final = 5.0
"""That a process has to end beyond what it may take for the answers that it owes."""


def run_supervisor(settings: Settings, processes: int) -> int:
    """Serve from so many processes until interrupted; the exit code, that of the first where it could not begin."""
    set_up_logging(settings.log_level)
    adopt_orphans()
    stopping = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stopping.set())
    with listen(settings, patience_s=_PATIENCE_S) as port, contextlib.ExitStack() as held:
        listeners = [port]
        held.enter_context(keeping(settings))
        lock = lock_of(settings.data)
        if lock is not None:  # another server of the folder has the socket otherwise
            held.enter_context(lock)
            listeners.append(held.enter_context(bound(settings.data)))
        for listener in listeners:
            listener.listen(limits.CONNECTIONS_WAITING_MAX)
        serving = _Serving(settings, processes, listeners)
        try:
            return serving.run(stopping)
        finally:
            serving.close()
            print("lamina stopped", file=sys.stderr, flush=True)


class _Serving:
    """The processes, and what they tell."""

    def __init__(self, settings: Settings, processes: int, listeners: list[socket.socket]) -> None:
        self._settings = settings
        self._of = processes
        self._listeners = listeners
        self._tallies = SharedTallies.make(CallCounts.SIZE)
        self._blocks = shared_memory("lamina-blocks", 0)  # whoever holds vectors in it makes it larger
        self._failures = Failures(lambda _: self._spread())
        self._lock = threading.Lock()
        self._lines: dict[int, SupervisorLine] = {}
        self._failing: dict[int, dict[str, str]] = {}
        self._ready = threading.Event()
        self._first_ended: int | None = None
        self._token: str | None = None
        inherited = [*(each.fileno() for each in listeners), self._tallies, self._blocks]
        command = [*self._command(), "--forks"]
        self._forks = ForkServer(command, inherited, processes) if can_fork() else None
        self._kept = [
            SupervisedProcess(
                f"serving process {number}",
                partial(self._begin, number),
                self._failures,
                gives_up=self._is_over,
            )
            for number in range(1, processes + 1)
        ]
        self._workers = Workers(settings, self._failures)

    def run(self, stopping: threading.Event) -> int:
        """The first alone until it serves, for it brings the store up to date; then the others and the worker."""
        first, *others = self._kept
        first.start()
        while not self._ready.wait(0.05):
            if stopping.is_set():
                return 0
            if self._first_ended is not None:
                return self._first_ended
        say_where(self._settings, self._listeners[0])
        if self._token is not None:
            say_token(self._token)
        for each in others:
            each.start()
        self._workers.start()
        while not stopping.wait(_ORPHANS_S):
            own = {each.pid for each in (*self._kept, self._workers)}
            reap_orphans(own if self._forks is None else own | {self._forks.pid})
        return 0

    def close(self) -> None:
        """Let every process finish its answers, then the worker its batch."""
        for listener in self._listeners:
            listener.close()  # who connects now is refused, and asks another server
        for each in self._kept:
            each.tell_to_stop()
        if self._forks is not None:
            self._forks.close()
        for each in self._kept:
            each.stop(limits.STOP_S_MAX + _SPARE_S)
        self._workers.stop()

    # ---- one process

    def _is_over(self) -> bool:
        """Whether the first died before it served: its exit code is the server's."""
        return not self._ready.is_set()

    def _begin(self, number: int) -> KeptProcess:
        """Start the process of a number, with a line of its own."""
        ours, theirs = socket.socketpair()
        line = SupervisorLine(ours)
        with theirs:
            listeners = tuple(each.fileno() for each in self._listeners)
            share = ServingProcess(
                number,
                self._of,
                listeners,
                theirs.fileno(),
                self._tallies,
                self._blocks,
                begins=self._is_over(),
            )
            try:
                process = self._started(share)
            except OSError:
                if number == 1 and self._is_over():
                    self._first_ended = 1
                raise
        with self._lock:
            self._lines[number] = line
            self._failing[number] = {}
        threading.Thread(
            target=self._attend, args=(number, line, process), name="lamina-line", daemon=True
        ).start()
        return process

    def _started(self, share: ServingProcess) -> KeptProcess:
        if self._forks is not None:
            return self._forks.begin(share)
        return subprocess.Popen(  # noqa: S603 - our own module
            [*self._command(), "--share", str(share)],
            pass_fds=share.descriptors,
        )

    def _command(self) -> list[str]:
        settings = self._settings
        command = [sys.executable, "-m", "lamina", "serve", "--data", str(settings.data)]
        command += ["--preset", settings.preset, "--host", settings.host, "--port", str(settings.port)]
        return [*command, "--workers", str(settings.workers)]

    def _attend(self, number: int, line: SupervisorLine, process: KeptProcess) -> None:
        """Hear a process out, to its end."""
        line.listen(lambda message: self._told(number, message))
        line.close()
        with self._lock:
            if self._lines.get(number) is line:
                del self._lines[number]
                self._failing[number] = {}
        if number == 1 and not self._ready.is_set():
            self._first_ended = process.wait() or 1
        self._spread()

    def _told(self, number: int, message: Mapping[str, object]) -> None:
        if message.get("ready"):
            if not self._ready.is_set():
                self._token = None if message.get("token") is None else str(message["token"])
            self._ready.set()
        if isinstance(failing := message.get("failing"), dict):
            with self._lock:
                self._failing[number] = {str(part): str(error) for part, error in failing.items()}
        self._spread()

    def _spread(self) -> None:
        """Tell each process what fails here and in the others, so that health says the same wherever it is asked."""
        with self._lock:
            lines = dict(self._lines)
            failing = {number: dict(parts) for number, parts in self._failing.items()}
        here = self._failures.standing()
        for number, line in lines.items():
            others = [parts for other, parts in sorted(failing.items()) if other != number]
            line.tell(
                {"failing": {part: error for parts in [*others, here] for part, error in parts.items()}}
            )
