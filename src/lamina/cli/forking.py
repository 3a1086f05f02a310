"""The supervisor's side of the process that forks serving processes off: it is started when it is needed, and ended when it is not."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Protocol

from lamina.cli.fork_server import MESSAGE_BYTES_MAX
from lamina.cli.share import ServingProcess

__all__ = ["ForkServer", "Forked", "KeptProcess", "adopt_orphans", "reap_orphans"]

_TRIES = 2
_STOP_S = 10.0
_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of what descends from this process once its own has ended (prctl(2)); where the system knows no such
    thing, nothing is forked."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_orphans(own: Collection[int | None]) -> None:
    """Let go of adopted processes that have ended, such as those that a dead worker had begun; for the ``own`` somebody waits."""
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if ended.si_pid in own:
                return
            os.waitpid(ended.si_pid, 0)


class KeptProcess(Protocol):
    """A process that is kept running; each mirrors the attribute or method of ``subprocess.Popen``."""

    pid: int

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended; raises ``subprocess.TimeoutExpired``."""
        ...

    def terminate(self) -> None:
        """Ask it to end."""
        ...

    def kill(self) -> None:
        """End it."""
        ...


class ForkServer:
    """Begins processes by forking one that has loaded what they need. Safe for any thread.

    Once there are as many as are wanted that one ends, for it would hold a process's memory; for who is begun later another is started, which
    takes seconds. What was forked lives on, as a child of this process.
    """

    def __init__(self, command: Sequence[str], inherited: Sequence[int], wanted: int) -> None:
        """``command`` starts it, with the number of a socket's descriptor behind; ``inherited`` are those of the shares, of which so
        many are ``wanted``."""
        self._command = command
        self._inherited = inherited
        self._missing = wanted
        self._waiting = 0
        self._count = threading.Lock()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._closed = False

    def begin(self, share: ServingProcess) -> Forked:
        """Fork a process for a share, which is given its line; raises ``OSError`` where there is no room for one."""
        with self._count:
            self._waiting += 1
        with self._lock:
            try:
                begun = self._begun(share)
                self._missing -= 1
                return begun
            finally:
                with self._count:
                    self._waiting -= 1
                    is_idle = not self._waiting and self._missing <= 0
                if is_idle:
                    self._end()

    def _begun(self, share: ServingProcess) -> Forked:
        for left in reversed(range(_TRIES)):
            try:
                line = self._started()
                socket.send_fds(line, [json.dumps({"share": str(share)}).encode()], [share.line])
                message, descriptors, _, _ = socket.recv_fds(line, MESSAGE_BYTES_MAX, 1)
                if not message:
                    raise ConnectionResetError("what forks serving processes has ended")
                return Forked(int(json.loads(message)["pid"]), descriptors[0], partial(self._exit_code, line))
            except ConnectionError:
                self._end()
                if left == 0 or self._closed:
                    raise
        raise AssertionError("it begins one or raises")

    @property
    def pid(self) -> int | None:
        """The number of the process that forks, while there is one."""
        return None if (process := self._process) is None else process.pid

    def close(self) -> None:
        """Begin no more. It holds the port too, so it goes before those that finish their answers."""
        self._closed = True
        if (process := self._process) is not None:
            process.terminate()  # who waits for its answer has none
        with self._lock:
            self._end()

    def _exit_code(self, line: socket.socket, pid: int) -> int | None:
        """What a process ended with, by the one at the other end of the line, who forked it; None where that is gone."""
        with self._lock:
            try:
                line.send(json.dumps({"ended": pid}).encode())
                message = line.recv(MESSAGE_BYTES_MAX)
            except OSError:
                return None
            code = json.loads(message)["code"] if message else None
            return None if code is None else int(code)

    def _started(self) -> socket.socket:
        if self._closed:
            raise ConnectionAbortedError("the server is stopping")
        if self._line is None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 - our own module
                    [*self._command, str(theirs.fileno())], pass_fds=[*self._inherited, theirs.fileno()]
                )
            self._line = ours
        return self._line

    def _end(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None
        if self._process is not None:
            self._process.kill()
            self._process.wait(_STOP_S)
            self._process = None


class Forked:
    """A process that another one forked off, held by a descriptor of it: its number may be given again once it has ended."""

    def __init__(self, pid: int, descriptor: int, exit_code: Callable[[int], int | None]) -> None:
        """``exit_code`` says what a process of a number ended with, where the one that forked it lives and knows."""
        self.pid = pid
        self._descriptor = descriptor
        self._exit_code = exit_code
        self._lock = threading.Lock()
        self._code: int | None = None

    def poll(self) -> int | None:
        """Mirrors ``KeptProcess.poll``."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Mirrors ``KeptProcess.wait``; 1 where nobody is left who knows the code."""
        if self._code is None:
            ended = select.poll()
            ended.register(self._descriptor, select.POLLIN)
            if not ended.poll(None if timeout is None else round(1000 * timeout)):
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            with self._lock:
                if self._code is None:
                    # One after the other: who asks the one that forked it waits while that loads for another.
                    asked = (self._own_code, partial(self._exit_code, self.pid), self._own_code)
                    codes = (code() for code in asked)
                    self._code = next((code for code in codes if code is not None), 1)
        return self._code

    def terminate(self) -> None:
        """Mirrors ``KeptProcess.terminate``."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Mirrors ``KeptProcess.kill``."""
        self._signal(signal.SIGKILL)

    def _own_code(self) -> int | None:
        """What it ended with, where it is a child of this process: its parent has ended."""
        with contextlib.suppress(ChildProcessError):
            ended = os.waitid(os.P_PIDFD, self._descriptor, os.WEXITED | os.WNOHANG)
            if ended is not None:
                return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        return None

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has ended
            signal.pidfd_send_signal(self._descriptor, number)

    def __del__(self) -> None:
        os.close(self._descriptor)
