"""One projector for several processes: whoever holds the lock makes the commits, the others ask it over a local socket.

The rows of a commit have landed before its hash is asked for, so whoever makes it finds it there. When the process that makes
them ends, however it ends, the next one that asks takes its place: it finishes what was left, as every start does. Before an
answer leaves, the hash is in its row, where every process reads it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from lamina import limits
from lamina.errors import Fault, LaminaError, Unavailable
from lamina.store.documents.projector import LOCK, CommitRows, Projector
from lamina.store.ports.documents import Commit, Landed
from lamina.store.ports.projecting import kept, out_of_reach

__all__ = ["SharedProjector", "StandingRows"]

_LOG = logging.getLogger("lamina.store")
_SOCKET: Final = "projector.sock"
_PATH_BYTES_MAX: Final = 100
"""What an address of a socket holds, on every system: 104 bytes with its end."""
_CONNECT_S: Final = 1.0
_AGAIN_S: Final = 0.02
_LENGTH: Final = struct.Struct("!I")
_ANSWER_BYTES_MAX: Final = 4 * 1024 * 1024
_NOBODY: Final = "nobody answers"

Json = dict[str, Any]  # Any: JSON


class StandingRows(CommitRows, Protocol):
    """The rows, as those ask of them who came after a commit was made."""

    def sha_of(self, tenant_id: str, number: int) -> str:
        """The hash of a commit, empty while its row has none."""
        ...


class SharedProjector:
    """Mirrors ``Projecting``, for processes that all write documents."""

    def __init__(self, folder: Path, rows: StandingRows, projector: Projector) -> None:
        """``projector`` notes hashes before it answers."""
        self._folder = folder
        self._rows = rows
        self._own = projector
        self._service: _Service | None = None
        self._idle: list[socket.socket] = []
        self._lock = threading.Lock()
        self._closed = False

    def claim(self) -> None:
        """Mirrors ``Projecting.claim``: nothing where this process makes commits, or another answers that does."""
        if self._mine() or self._idle:
            return
        until = time.monotonic() + limits.WAIT_S_MAX
        while True:
            with contextlib.suppress(_Gone):
                self._ask({"op": "behind"})
                return
            try:
                self._take_over()
            except Unavailable as error:
                # It has the lock and does not answer yet, or is none that shares.
                if error.code != "DOCUMENTS_IN_USE" or time.monotonic() > until:
                    raise
                time.sleep(_AGAIN_S)
            else:
                return

    def rebuild(self, tenant_ids: Collection[str]) -> None:
        """Mirrors ``Projecting.rebuild``."""
        self.claim()
        if self._mine():
            self._own.rebuild(tenant_ids)
            return
        with contextlib.suppress(_Gone):  # who comes next looks for itself
            self._ask({"op": "rebuild", "tenants": sorted(tenant_ids)})

    def rewrite(self, tenant_id: str) -> None:
        """Mirrors ``Projecting.rewrite``."""
        if self._mine():
            self._own.rebuild([tenant_id])
            return
        try:
            self._ask({"op": "rebuild", "tenants": [tenant_id]})
        except _Gone:
            self._own.rewrite(tenant_id)

    def recover(self) -> None:
        """Mirrors ``Projecting.recover``."""
        try:
            self._take_over()
        except Unavailable as error:
            _LOG.info("repositories are looked after by another process: %s", error)
            return
        self._own.recover()

    def stand(self, commits: Sequence[Landed]) -> list[str]:
        """Mirrors ``Projecting.stand``."""
        until = time.monotonic() + limits.WAIT_S_MAX
        while True:
            if self._mine():
                return self._made(commits)
            try:
                places = [[each.tenant_id, each.commit.number] for each in commits]
                return [str(sha) for sha in self._ask({"op": "stand", "commits": places})["shas"]]
            except _Gone:
                if time.monotonic() > until:
                    raise kept(_NOBODY) from None
            try:
                self._take_over()
            except Unavailable as error:
                if error.code != "DOCUMENTS_IN_USE":
                    raise kept(error.message) from error
                time.sleep(_AGAIN_S)

    def head(self, tenant_id: str) -> Commit | None:  # noqa: ARG002 - the port's shape
        """Mirrors ``Projecting.head``: the rows say it."""
        return None

    def behind(self) -> int:
        """Mirrors ``Projecting.behind``; 0 while nobody makes commits."""
        if self._mine():
            return self._own.behind()
        try:
            return int(self._ask({"op": "behind"})["behind"])
        except (_Gone, LaminaError):
            return 0

    def close(self) -> None:
        """Mirrors ``Projecting.close``."""
        with self._lock:
            self._closed = True
            service, self._service = self._service, None
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        if service is not None:
            service.close()
        self._own.close()

    # ---- who makes commits

    def _mine(self) -> bool:
        return self._service is not None

    def _take_over(self) -> None:
        """Make commits here from now on; raises ``Unavailable`` (DOCUMENTS_IN_USE) while another process does, and as ``claim`` of the
        projector."""
        with self._lock:
            if self._service is None:
                self._own.claim()
                if not self._closed:
                    try:
                        self._service = _Service(self._folder, self._answered)
                    except OSError as error:
                        raise out_of_reach(error.strerror or str(error)) from error

    def _made(self, commits: Sequence[Landed]) -> list[str]:
        """The hashes of commits, also of those that a process made which ended before it could say so."""
        known = [self._rows.sha_of(each.tenant_id, each.commit.number) for each in commits]
        fresh = iter(self._own.stand([each for each, sha in zip(commits, known, strict=True) if not sha]))
        return [sha or next(fresh) for sha in known]

    def _answered(self, asked: Json) -> Json:
        """What another process is told."""
        if asked["op"] == "behind":
            return {"behind": self._own.behind()}
        if asked["op"] == "rebuild":
            self._own.rebuild([str(each) for each in asked["tenants"]])
            return {}
        commits = [Landed(tenant_id, Commit(number, "", "", "", 0)) for tenant_id, number in asked["commits"]]
        return {"shas": self._made(commits)}

    # ---- asking who does

    def _ask(self, request: Json) -> Json:
        """The answer of whoever makes commits; raises ``_Gone`` when nobody answers, and what it refused with."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        answer = None if connection is None else self._answer_over(connection, request)
        if answer is None:  # one that was kept may be of a process that is gone: a new one tells
            answer = self._answer_over(self._connected(), request)
        if answer is None:
            raise _Gone
        if (refused := answer.get("refused")) is not None:
            if refused["closed"]:
                raise _Gone
            kind = Fault if refused["code"] == "INTERNAL" else Unavailable
            raise kind(refused["code"], refused["message"], hint=refused["hint"])
        return answer

    def _answer_over(self, connection: socket.socket, request: Json) -> Json | None:
        """The answer; None where the connection has ended. Otherwise it is kept."""
        try:
            _send(connection, request)
            answer = _receive(connection)
        except OSError:
            connection.close()
            return None
        with self._lock:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)
        return answer

    def _connected(self) -> socket.socket:
        try:
            address = (self._folder / LOCK).read_text().strip()
        except OSError:
            raise _Gone from None
        if not address:
            raise _Gone
        try:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        except OSError:  # too many open files
            raise _Gone from None
        try:
            connection.settimeout(_CONNECT_S)
            connection.connect(address)
            connection.settimeout(limits.WAIT_S_MAX)
        except OSError:
            connection.close()
            raise _Gone from None
        return connection


class _Gone(Exception):
    """Nobody answers: the process that made commits has ended, or is about to."""


class _Service:
    """The socket of the process that makes commits, and a thread for each connection to it."""

    def __init__(self, folder: Path, answered: Callable[[Json], Json]) -> None:
        self._answered = answered
        self._own_folder: str | None = None
        path = folder / _SOCKET
        if len(os.fsencode(path)) > _PATH_BYTES_MAX:
            self._own_folder = tempfile.mkdtemp(prefix="lamina-")
            path = Path(self._own_folder) / _SOCKET
        self._path = path
        self._lock_file = folder / LOCK
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._open: set[socket.socket] = set()
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._closing = False
        path.unlink(missing_ok=True)  # of the dead: the lock is held here
        self._listener.bind(str(path))
        self._path.chmod(0o600)
        self._listener.listen(socket.SOMAXCONN)
        self._lock_file.write_text(str(path))
        threading.Thread(target=self._accept, name="lamina-commits", daemon=True).start()

    def close(self) -> None:
        """Answer what is asked already, and then nobody."""
        with self._lock:
            self._closing = True
            connections, threads = list(self._open), list(self._threads)
        with contextlib.suppress(OSError):
            self._lock_file.write_text("")
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._path.unlink(missing_ok=True)
        if self._own_folder is not None:
            shutil.rmtree(self._own_folder, ignore_errors=True)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RD)
        for thread in threads:
            thread.join(limits.STOP_STUCK_S)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(
                target=self._serve, args=(connection,), name="lamina-commit", daemon=True
            )
            with self._lock:
                if self._closing:
                    connection.close()
                    return
                self._open.add(connection)
                self._threads.add(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, contextlib.suppress(OSError):
                while True:
                    _send(connection, self._answer(_receive(connection)))
        finally:
            with self._lock:
                self._open.discard(connection)
                self._threads.discard(threading.current_thread())

    def _answer(self, asked: Json) -> Json:
        try:
            return self._answered(asked)
        except LaminaError as error:
            said = {"code": error.code, "message": error.message, "hint": error.hint}
            return {"refused": {**said, "closed": self._closing}}


def _send(connection: socket.socket, message: Json) -> None:
    data = json.dumps(message).encode("utf-8", "surrogatepass")
    connection.sendall(_LENGTH.pack(len(data)) + data)


def _receive(connection: socket.socket) -> Json:
    """The next message; raises ``OSError`` at the end of a connection, and where somebody else speaks."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if length > _ANSWER_BYTES_MAX:
        raise OSError("a message is too long to be one")
    try:
        message: Json = json.loads(_exactly(connection, length))
    except ValueError as error:
        raise OSError("a message is no JSON") from error
    return message


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionResetError("the connection has ended")
        data += part
    return data
