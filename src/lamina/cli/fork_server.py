"""A process that has loaded what every serving process needs, and forks each of them off.

What is loaded lies in memory once for all of them: the modules and the weights of the embedding model, of which each would
otherwise have some 90 MB of its own. The process itself does nothing but wait for the supervisor to ask, and ends with the last that is
asked for: what it has written to since is 90 MB, too. It has one thread, opens no store and takes no connection, so that a fork finds no
lock that somebody held and no file that two of them would write to.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from lamina.cli.process import share_heaps, use_one_core_a_product
from lamina.cli.share import ServingProcess
from lamina.errors import LaminaError

__all__ = ["MESSAGE_BYTES_MAX", "can_fork", "forked"]

MESSAGE_BYTES_MAX: Final = 4096
_FORKS, _SERVES = "lamina forks", "lamina serves"
"""What tools that list processes call them: their commands are the same."""


def can_fork() -> bool:
    """Whether a process can be forked off and held by its supervisor: Linux has the descriptors of processes that it takes."""
    if not hasattr(os, "pidfd_open"):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:  # a kernel before 5.3, or a sandbox
        return False
    return True


def forked(descriptor: int) -> ServingProcess | None:
    """Serve the supervisor at the other end of a socket: in each process that is forked off its share, at the end None.

    A request names a share and brings its line, and is answered with the number of the process and a descriptor of it; or it
    names a process that ended, and is answered with its exit code.
    """
    with socket.socket(fileno=descriptor) as supervisor:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the supervisor decides
        _be_called(_FORKS)
        with _ending_with(supervisor):
            _load()
        while True:
            try:
                message, descriptors, _, _ = socket.recv_fds(supervisor, MESSAGE_BYTES_MAX, 1)
            except ConnectionError:
                return None
            if not message:
                return None
            asked = json.loads(message)
            if "ended" in asked:
                _answer(supervisor, {"code": _code_of(int(asked["ended"]))})
                continue
            (line,) = descriptors
            pid = os.fork()
            if pid == 0:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                _be_called(_SERVES)
                return replace(ServingProcess.parse(str(asked["share"])), line=line)
            os.close(line)
            process = os.pidfd_open(pid)  # of one that ended already, too: nobody else waits for it
            _answer(supervisor, {"pid": pid}, process)
            os.close(process)


@contextmanager
def _ending_with(supervisor: socket.socket) -> Iterator[None]:
    """For as long as it loads, end this process at once where the supervisor is gone: it has the port, too.

    A thread looks, which is over before anything is forked.
    """
    loaded, told = os.pipe()

    def look() -> None:
        ends = select.poll()
        ends.register(supervisor, 0)  # its end alone: requests wait
        ends.register(loaded, select.POLLIN)
        if any(end != loaded for end, _ in ends.poll()):
            os._exit(1)

    thread = threading.Thread(target=look, name="lamina-input", daemon=True)
    thread.start()
    try:
        yield
    finally:
        os.write(told, b"1")
        thread.join()
        os.close(loaded)
        os.close(told)


def _be_called(name: str) -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name)


def _load() -> None:
    share_heaps()
    import lamina.cli.serve  # noqa: F401 - for the processes to come
    from lamina.index.heap import give_back
    from lamina.models.minilm import MiniLmEmbedder

    use_one_core_a_product()
    with contextlib.suppress(LaminaError):  # a damaged file is told of where it is used
        MiniLmEmbedder().encode([""])
    gc.collect()
    give_back()
    gc.freeze()  # a collection in a fork would write to every object


def _code_of(pid: int) -> int | None:
    with contextlib.suppress(ChildProcessError):
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return None


def _answer(supervisor: socket.socket, message: dict[str, int | None], *descriptors: int) -> None:
    with contextlib.suppress(OSError):  # it is gone: the next look finds the end
        socket.send_fds(supervisor, [json.dumps(message).encode()], descriptors)
