"""Commands of ``lamina`` as processes that begin with everything loaded: forks of one process that has done nothing but import.

Starting Python and importing a server takes three seconds of processor, and its worker two; a fork takes some hundredths. What runs is a
process like any other: with a number, a group, files and an environment of its own, that a test can kill. That the command starts from
nothing is told by the tests that run it so (``test_cli_process``, ``test_several_processes``, the pages that are printed).

Run as a program, with the number of a socket that listens, this is the process that is forked. ``forked_command.py`` is a command
that asks it, for shells.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import forked_command

__all__ = ["Forked", "begin", "command", "ran"]

_PAUSE_S = 0.02


class _Process:
    """What tests and the server's keeper use of ``subprocess.Popen``; ``_ended`` is the wait status once it has ended."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._looking = threading.Lock()

    def _ended(self) -> int | None:
        raise NotImplementedError

    def poll(self) -> int | None:
        """The exit code, minus the signal where one ended it; None while it runs. Who waits and who stops it may ask at once, and the
        system says it once."""
        with self._looking:
            if self.returncode is None and (status := self._ended()) is not None:
                self.returncode = os.waitstatus_to_exitcode(status)
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code; raises ``subprocess.TimeoutExpired``."""
        until = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            time.sleep(_PAUSE_S)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forked(_Process):
    """A command that a test began."""

    def _ended(self) -> int | None:
        ended: int | None = _source().asked({"ended": self.pid})["status"]
        return ended


def begin(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None, files: Sequence[int] = ()
) -> Forked:
    """``lamina`` with these arguments, in a session of its own; a Python file where that is the first of them.

    ``files`` are its standard input, output and error; without them it is silent.
    """
    told = {
        "arguments": list(arguments),
        "environment": dict(os.environ if environment is None else environment),
    }
    return Forked(_source().asked(told, files)["pid"])


def command() -> list[str]:
    """What a shell runs in place of ``python -m lamina``, but for the arguments."""
    return [sys.executable, "-I", "-S", forked_command.__file__, _source().address]


def ran(
    *arguments: str, given: str = "", environment: Mapping[str, str] | None = None, seconds: float = 300.0
) -> subprocess.CompletedProcess[str]:
    """What came of a command that was ``given`` a text as its standard input; raises ``subprocess.TimeoutExpired`` after ``seconds``."""
    with contextlib.ExitStack() as held:
        files = [held.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8")) for _ in range(3)]
        files[0].write(given)
        files[0].seek(0)
        code = begin(arguments, environment, [each.fileno() for each in files]).wait(seconds)
        for each in files[1:]:
            each.seek(0)
        return subprocess.CompletedProcess(arguments, code, files[1].read(), files[2].read())


class _Source:
    """The process that is forked, as tests see it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="lamina-forks-")
        self.address = f"{self._folder.name}/source"
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(self.address)
            listener.listen()
            self._line.connect(self.address)  # the first: with it the process ends
            number = listener.fileno()
            command = [sys.executable, __file__, str(number)]
            self._process = subprocess.Popen(command, pass_fds=[number], stderr=subprocess.DEVNULL)
        atexit.register(self._close)

    def asked(self, request: Mapping[str, Any], files: Sequence[int] = ()) -> dict[str, Any]:
        with self._lock:
            return forked_command.asked(self._line, request, files)

    def _close(self) -> None:
        self._line.close()
        self._process.wait()
        self._folder.cleanup()


@functools.cache
def _source() -> _Source:
    return _Source()


# ---- in the process that is forked


def _serve(listener: socket.socket) -> None:
    """Answer whoever asks, until the first who came is gone."""
    statuses: dict[int, int] = {}  # a process is waited for once, and may be asked about by several threads
    lines: list[socket.socket] = []
    while True:
        for ready in select.select([listener, *lines], [], [])[0]:
            if ready is listener:
                lines.append(listener.accept()[0])
                continue
            request, files = forked_command.heard(ready)
            if request is None:
                if ready is lines[0]:
                    return
                lines.remove(ready)
                ready.close()
            elif "ended" in request:
                forked_command.say(ready, {"status": _status_of(request["ended"], statuses)})
            else:
                pid = os.fork()
                if pid == 0:
                    for each in (listener, *lines):
                        each.close()
                    os.setsid()
                    for place, file in enumerate(files):
                        os.dup2(file, place)
                    _become(request["arguments"], request["environment"], request.get("folder"))
                for file in files:
                    os.close(file)
                forked_command.say(ready, {"pid": pid})


def _status_of(pid: int, statuses: dict[int, int]) -> int | None:
    if pid not in statuses:
        ended, status = os.waitpid(pid, os.WNOHANG)
        statuses.update({pid: status} if ended else {})
    return statuses.get(pid)


def _become(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None, folder: str | None = None
) -> None:
    """Run the command and end; nothing of the process that was forked is returned to."""
    code = 1
    try:
        if environment is not None:
            os.environ.clear()
            os.environ.update(environment)
        if folder is not None:
            os.chdir(folder)
        if arguments and arguments[0].endswith(".py"):
            sys.argv = list(arguments)
            sys.path.insert(0, os.path.dirname(arguments[0]))  # as Python does
            runpy.run_path(arguments[0], run_name="__main__")
        else:
            if arguments and arguments[0] == "serve":
                _fork_its_worker()
            sys.argv = ["lamina", *arguments]
            from lamina.cli import main

            main()
        code = 0
    except SystemExit as left:
        if isinstance(left.code, str):
            print(left.code, file=sys.stderr)
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def _fork_its_worker() -> None:
    """Let the first worker that this process keeps be a fork too, made now: before there are threads, files and sockets that it
    must not have."""
    from lamina.cli import supervise

    begun, spare = supervise._begin, _Spare()

    def begin_worker(command: Sequence[str]) -> Any:  # Any: what the keeper uses of Popen
        taken = list(command[:3]) == [sys.executable, "-m", "lamina"] and spare.start(command[3:])
        return spare if taken else begun(command)

    supervise._begin = begin_worker


class _Spare(_Process):
    """A child that waits to be told what command it is, and ends with its parent."""

    def __init__(self) -> None:
        hears, self._tells = os.pipe()
        super().__init__(os.fork())
        if self.pid == 0:
            os.close(self._tells)
            with open(hears, encoding="utf-8") as told:
                arguments = told.read()
            if arguments:
                _become(json.loads(arguments))
            os._exit(0)
        os.close(hears)
        self._started = False

    def start(self, arguments: Sequence[str]) -> bool:
        """Whether it was still to be had."""
        if self._started:
            return False
        self._started = True
        with open(self._tells, "w", encoding="utf-8") as tells:
            tells.write(json.dumps(list(arguments)))
        return True

    def _ended(self) -> int | None:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return status if pid else None


def _load() -> None:
    """Import what servers and workers need; the parser is a fork's from the start, what has threads is not."""
    import pkgutil

    import lamina.app
    import lamina.cli
    import lamina.worker_app
    from lamina.pipeline.extract import extractor

    for module in pkgutil.iter_modules(lamina.cli.__path__, "lamina.cli."):
        __import__(module.name)
    extractor.Parser = functools.cache(extractor.Parser)  # type: ignore[misc]
    extractor.Parser()
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of the tests is none of the command's
    _load()
    with socket.socket(fileno=int(sys.argv[1])) as _listener:
        _serve(_listener)
