"""A command in a process of its own: no shell, no input, bounds of time, memory and output, and apart as far as the machine can.

What keeps it apart are namespaces of Linux, by ``unshare``: no network, no other processes, and empty folders where the
server has its data, its backups and its socket, which no power is left to uncover. Which of them a machine has is tried
once. Where one is missing, the outcome names it.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lamina.coordination.checking import bounds
from lamina.kernel.folder_socket import socket_path

__all__ = ["APART", "CheckOutcome", "Sandbox"]

APART: Final = ("network", "processes", "data")
"""What a check can be kept apart from."""

_LAUNCH: Final = Path(__file__).with_name("launch.py")
_USER: Final = ("--user", "--map-root-user")
_ALONE: Final = (*_USER, "--mount", "--pid", "--fork", "--kill-child")
_WAYS: Final[Sequence[tuple[tuple[str, ...], frozenset[str]]]] = (
    ((*_ALONE, "--net", "--mount-proc"), frozenset(APART)),
    ((*_ALONE, "--net"), frozenset({"network", "data"})),
    ((*_USER, "--net"), frozenset({"network"})),
)
"""Options of ``unshare`` from the most to the least, with what each keeps apart."""

_ENVIRONMENT: Final = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
}
_CHUNK: Final = 65_536


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """How a command ended. ``return_code`` is negative where a signal ended it; the texts are the ends of what it said."""

    return_code: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool
    said_too_much: bool
    not_apart: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Way:
    options: tuple[str, ...] | None
    apart: frozenset[str]


class Sandbox:
    """Runs commands. ``data`` are the server's folders, which are hidden from them with their sockets; ``seconds`` measures how long they take."""

    def __init__(
        self, data: Sequence[Path], seconds: Callable[[], float], *, wait_s: float = bounds.CHECK_WAIT_S
    ) -> None:
        # The socket of a folder may be elsewhere, and who reaches it is taken for the server's user.
        places = (place for folder in data for place in (folder, socket_path(folder).parent))
        self._data = list(dict.fromkeys(place.resolve() for place in places))
        self._seconds = seconds
        self._wait_s = wait_s
        self._found: _Way | None = None

    def run(self, command: Sequence[str], folder: Path) -> CheckOutcome:
        """Run a command in a folder, to its end or to that of its time."""
        way = self._way()
        prefix = [] if way.options is None else [*_ending_with_us(), _unshare(), *way.options, "--"]
        told = json.dumps(self._bounds(way))
        begun = self._seconds()
        process = subprocess.Popen(  # noqa: S603 - no shell: the operator's own command
            [*prefix, sys.executable, "-I", str(_LAUNCH), told, *command],
            cwd=folder,
            env={**_ENVIRONMENT, "HOME": str(folder), "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            heard = self._heard(process, begun + self._wait_s)
        finally:
            _end(process)
        return CheckOutcome(
            return_code=process.returncode,
            stdout=heard.text("stdout"),
            stderr=heard.text("stderr"),
            seconds=self._seconds() - begun,
            timed_out=heard.timed_out,
            said_too_much=heard.size > bounds.CHECK_OUTPUT_BYTES_MAX,
            not_apart=tuple(each for each in APART if each not in way.apart),
        )

    def _heard(self, process: subprocess.Popen[bytes], ends: float) -> _Heard:
        """What a process says until it says no more, has said too much or has had its time."""
        heard = _Heard({"stdout": b"", "stderr": b""})
        with selectors.DefaultSelector() as selector:
            for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
                assert pipe is not None
                selector.register(pipe, selectors.EVENT_READ, name)
            while selector.get_map():
                left = ends - self._seconds()
                if left <= 0 or heard.size > bounds.CHECK_OUTPUT_BYTES_MAX:
                    heard.timed_out = left <= 0
                    return heard
                for key, _ in selector.select(left):
                    data = os.read(key.fd, _CHUNK)
                    if data:
                        heard.add(key.data, data)
                    else:
                        selector.unregister(key.fileobj)
        try:
            process.wait(max(0.0, ends - self._seconds()))
        except subprocess.TimeoutExpired:
            heard.timed_out = True
        return heard

    def _bounds(self, way: _Way) -> dict[str, object]:
        return {
            "hidden": self._hidden() if "data" in way.apart else [],
            "limits": {
                "RLIMIT_CPU": bounds.CHECK_CPU_S,
                "RLIMIT_AS": bounds.CHECK_MEMORY_BYTES_MAX,
                "RLIMIT_FSIZE": bounds.CHECK_FILE_BYTES_MAX,
                "RLIMIT_NOFILE": bounds.CHECK_FILES_OPEN_MAX,
                "RLIMIT_NPROC": bounds.CHECK_PROCESSES_MAX,
                "RLIMIT_CORE": 0,
            },
        }

    def _hidden(self) -> list[str]:
        return [str(folder) for folder in self._data if folder.is_dir()]

    def _way(self) -> _Way:
        if self._found is None:
            tried = next((way for way in _WAYS if self._holds(way[0])), None)
            self._found = _Way(None, frozenset()) if tried is None else _Way(*tried)
        return self._found

    def _holds(self, options: Sequence[str]) -> bool:
        if not _unshare():
            return False
        hidden = self._hidden() if "--mount" in options else []
        told = json.dumps({"hidden": hidden, "limits": {}})
        command = [_unshare(), *options, "--", sys.executable, "-I", str(_LAUNCH), told, "true"]
        try:
            done = subprocess.run(  # noqa: S603 - no shell
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=bounds.CHECK_PROBE_WAIT_S,
                env=_ENVIRONMENT,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return False
        return done.returncode == 0


@dataclass(slots=True)
class _Heard:
    """The end of what each pipe said, and how much it was in all."""

    ends: dict[str, bytes]
    size: int = 0
    timed_out: bool = False

    def add(self, name: str, data: bytes) -> None:
        self.size += len(data)
        # Four bytes are the most that a character takes, so the end in characters is in there.
        self.ends[name] = (self.ends[name] + data)[-4 * bounds.CHECK_OUTPUT_SHOWN_MAX :]

    def text(self, name: str) -> str:
        text = self.ends[name].decode(errors="replace").replace("\0", "\ufffd")
        return text[-bounds.CHECK_OUTPUT_SHOWN_MAX :]


def _ending_with_us() -> list[str]:
    """The beginning of a command that is killed with this process: a check has no other bound of time then."""
    return [
        sys.executable,
        "-I",
        str(_LAUNCH),
        json.dumps({"hidden": [], "limits": {}, "ends_with_parent": os.getpid()}),
    ]


def _unshare() -> str:
    return shutil.which("unshare", path=_ENVIRONMENT["PATH"]) or ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and every one of its group, whether or not it ended by itself."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
