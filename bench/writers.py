"""Two ways for several processes to write one folder: each by itself under SQLite's lock, or one of them for all.

    python bench/writers.py

Answers the question of decision 0034: single durable captures a second of two processes at 1, 8 and 64 writers. ``own`` is what
the server does: each process has its writer with group commit, and SQLite's lock keeps them apart. ``one`` is the other way, as
cheaply as it can be made: the processes send each capture over a local socket to a third, which appends it on a thread of its own
and answers when it is on disk. ``alone`` is one process, for comparison. No HTTP, no derivation.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import socket
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpus import Corpus
from harness import SEED, fsync_times, milliseconds, temporary_folder
from lamina.kernel.operations import Principal
from lamina.kernel.scopes import Scope
from lamina.pipeline.drafting import draft_of
from lamina.store.ports.log import Capture
from lamina.store.sqlite import SqliteStore
from lamina.types.envelope import Envelope

WRITERS, SECONDS = (1, 8, 64), 4.0
_LENGTH = struct.Struct("!I")
_SPAWN = multiprocessing.get_context("spawn")


def main() -> None:
    """Measure each way at each number of writers, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--writers", type=int, nargs="+", default=WRITERS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    with temporary_folder() as outer:
        print(f"fsync of this disk: {milliseconds(fsync_times(outer))} ms", flush=True)
        for writers in options.writers:
            for name, run in (("alone", _alone), ("own", _own), ("one", _one)):
                folder = outer / f"{name}-{writers}"
                folder.mkdir()
                taken = run(folder, writers, options.seconds)
                shown = milliseconds(taken)
                print(
                    f"{writers:3} writers, {name:5}: {len(taken) / options.seconds:7.0f}/s {shown}",
                    flush=True,
                )


def _alone(folder: Path, writers: int, seconds: float) -> list[float]:
    return _spread(_write_here, folder, [writers], seconds)


def _own(folder: Path, writers: int, seconds: float) -> list[float]:
    return _spread(_write_here, folder, _halves(writers), seconds)


def _one(folder: Path, writers: int, seconds: float) -> list[float]:
    ready = _SPAWN.Event()
    writing = _SPAWN.Process(target=_writing_process, args=(folder, ready), daemon=True)
    writing.start()
    ready.wait(60)
    try:
        return _spread(_write_there, folder, _halves(writers), seconds)
    finally:
        writing.terminate()
        writing.join()


def _halves(writers: int) -> list[int]:
    return [each for each in (writers - writers // 2, writers // 2) if each]


def _spread(work: Callable[..., None], folder: Path, shares: list[int], seconds: float) -> list[float]:
    """Seconds of each write of all processes."""
    results = _SPAWN.Queue()
    start = _SPAWN.Barrier(len(shares))
    processes = [
        _SPAWN.Process(target=work, args=(folder, number, share, seconds, start, results))
        for number, share in enumerate(shares)
    ]
    for each in processes:
        each.start()
    taken: list[float] = []
    for _ in processes:
        taken += results.get(timeout=120)
    for each in processes:
        each.join()
    return taken


def _captures(number: int) -> list[Capture]:
    principal, scope = Principal("local", "user:local", "http"), Scope.parse(f"org:bench/user:w{number}")
    turns = Corpus(SEED + number).turns(500)
    envelopes = [Envelope.model_validate({"scope": str(scope), **said.item("k")}) for said in turns]
    return [Capture(draft_of(each, scope, principal), None, "") for each in envelopes]


def _timed(
    number: int,
    share: int,
    seconds: float,
    start: Any,
    results: Any,
    send: Callable[[], Callable[[Capture], object]],
) -> None:
    captures, taken, lock = _captures(number), list[float](), threading.Lock()

    def write(first: int) -> None:
        put, at, own = send(), first, list[float]()
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            put(captures[at % len(captures)])
            own.append(time.perf_counter() - began)
            at += share
        with lock:
            taken.extend(own)

    threads = [threading.Thread(target=write, args=(first,)) for first in range(share)]
    start.wait(60)
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    results.put(taken)


def _write_here(folder: Path, number: int, share: int, seconds: float, start: Any, results: Any) -> None:
    store = SqliteStore(folder)
    _timed(number, share, seconds, start, results, lambda: lambda capture: store.log.append([capture]))
    store.close()


def _write_there(folder: Path, number: int, share: int, seconds: float, start: Any, results: Any) -> None:
    def connected() -> Callable[[Capture], object]:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(str(folder / "writer.sock"))

        def put(capture: Capture) -> object:
            data = pickle.dumps(capture)
            connection.sendall(_LENGTH.pack(len(data)) + data)
            return _received(connection)

        return put

    _timed(number, share, seconds, start, results, connected)


def _writing_process(folder: Path, ready: Any) -> None:
    store = SqliteStore(folder)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(folder / "writer.sock"))
    listener.listen(128)
    ready.set()

    def serve(connection: socket.socket) -> None:
        while (data := _received(connection)) is not None:
            (appended,) = store.log.append([pickle.loads(data)])
            answer = pickle.dumps(appended)
            connection.sendall(_LENGTH.pack(len(answer)) + answer)

    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


def _received(connection: socket.socket) -> bytes | None:
    head = connection.recv(_LENGTH.size, socket.MSG_WAITALL)
    if len(head) < _LENGTH.size:
        return None
    return connection.recv(_LENGTH.unpack(head)[0], socket.MSG_WAITALL)


if __name__ == "__main__":
    main()
