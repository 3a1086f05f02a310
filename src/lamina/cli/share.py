"""What one of several serving processes is given by its supervisor, and what they tell each other."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Self

from lamina.errors import Invalid
from lamina.settings import Settings, cores

__all__ = ["ServingProcess", "SupervisorLine", "processes_of", "say_token", "say_where"]

_PARTS: Final = 7


def processes_of(wanted: int) -> int:
    """How many processes serve: as many as wanted, for 0 one below the cores, for the worker needs one too; at least one."""
    return wanted or max(1, cores() - 1)


def say_where(settings: Settings, listener: socket.socket) -> None:
    """Tell the terminal where the server is; who starts one reads this line."""
    where = "a local socket"
    if listener.family != socket.AF_UNIX:
        host, port = listener.getsockname()[:2]
        where = f"http://{host}:{port}"
    print(f"lamina serves {where} from {settings.data}", file=sys.stderr, flush=True)


def say_token(token: str) -> None:
    """Show the owner's first token; it is kept nowhere."""
    print(f"the owner's token, shown this once: {token}", file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class ServingProcess:
    """One serving process among several: its number, from 1, of how many; the sockets that all of them take connections
    from, its line to the supervisor, and the memory that all of them count in and hold vectors in, as file descriptors."""

    number: int
    of: int
    listeners: tuple[int, ...]
    line: int
    tallies: int
    blocks: int
    begins: bool = False
    """Whether nothing of this server ran before it: then whoever derives is another's worker."""

    @property
    def leads(self) -> bool:
        """Whether this is the one that does what is done once for the folder."""
        return self.number == 1

    def __str__(self) -> str:
        listeners = "+".join(map(str, self.listeners))
        return f"{self.number}/{self.of}/{listeners}/{self.line}/{self.tallies}/{self.blocks}/{self.begins:d}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """What ``str`` made; raises ``Invalid`` (INVALID_SETTING)."""
        parts = text.split("/")
        with contextlib.suppress(ValueError):
            if len(parts) == _PARTS:
                number, of, listeners, line, tallies, blocks, begins = parts
                descriptors = tuple(int(each) for each in listeners.split("+"))
                memory = int(tallies), int(blocks)
                return cls(int(number), int(of), descriptors, int(line), *memory, begins == "1")
        raise Invalid("INVALID_SETTING", f"--share is {text!r}; lamina serve gives it to its own processes")

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All that the process inherits."""
        return (*self.listeners, self.line, self.tallies, self.blocks)


class SupervisorLine:
    """A line between the supervisor and one process: messages of what fails, by part, in both ways."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._lock = threading.Lock()
        self._told: Callable[[Mapping[str, object]], None] | None = None
        self._unheard: Mapping[str, object] | None = None

    @classmethod
    def of(cls, share: ServingProcess) -> Self:
        """The line of a serving process."""
        return cls(socket.socket(fileno=share.line))

    def tell(self, message: Mapping[str, object]) -> None:
        """Send a message; nothing where the other end is gone."""
        data = json.dumps(message).encode() + b"\n"
        with self._lock, contextlib.suppress(OSError):
            self._end.sendall(data)

    def listen(self, told: Callable[[Mapping[str, object]], None]) -> None:
        """Pass on what comes until the other end is gone."""
        with contextlib.suppress(OSError, ValueError), self._end.makefile("rb") as lines:
            for line in lines:
                told(json.loads(line))

    def end_with_it(self) -> None:
        """Listen on a thread; once the other end is gone, end this process: in good order where it serves, and at once while it
        is still beginning, for it has the port."""

        def wait() -> None:
            self.listen(self._pass_on)
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=wait, name="lamina-input", daemon=True).start()

    def pass_to(self, told: Callable[[Mapping[str, object]], None]) -> None:
        """Who hears what comes, and the newest of what came before."""
        with self._lock:
            self._told, unheard = told, self._unheard
        if unheard is not None:
            told(unheard)

    def _pass_on(self, message: Mapping[str, object]) -> None:
        with self._lock:
            told, self._unheard = self._told, message
        if told is not None:
            told(message)

    def close(self) -> None:
        """Let go of this end."""
        with contextlib.suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)
        self._end.close()
