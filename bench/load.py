"""Recalls by 1 and 32 callers, captures by 64 and whole batches by 2, for one serving process and for two.

    python bench/load.py --processes 1 2

Promise: 32 callers get no fewer recalls than one, with p99 at most 3 x p50, and two processes on two cores at least 1.7 times as
many as one, with 200 captures a second going on within a tenth of both; 1,800 single captures a second at 64 callers with two
processes, each on disk when it is answered, and 15,000 a second in batches of a thousand.

The callers are one cheap process, which other workloads use too: raw keep-alive sockets over one selector, requests encoded
beforehand. They share the machine with the server, so that each request costs the client one send, one receive and a look at
the status line; what the client takes of a core is printed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import selectors
import shutil
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

__all__ = ["Load", "encode", "run_apart"]


@dataclass(frozen=True, slots=True)
class Load:
    """What a run of callers saw: seconds of each request, and of the whole."""

    taken_s: list[float]
    elapsed_s: float
    client_cpu_s: float

    @property
    def per_second(self) -> float:
        """Requests answered in a second."""
        return len(self.taken_s) / self.elapsed_s


def encode(path: str, body: bytes, verb: str = "POST", token: str | None = None) -> bytes:
    """The bytes of a request on a connection that is kept."""
    head = f"{verb} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer {token}\r\n" if token else ""
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def run(port: int, requests: Sequence[bytes], callers: int) -> Load:
    """Send the requests, each as soon as one of ``callers`` connections is free."""
    selector = selectors.DefaultSelector()
    left = iter(requests)
    taken: list[float] = []
    sent_at: dict[int, float] = {}
    received: dict[int, bytes] = {}
    started, cpu = time.perf_counter(), time.process_time()
    for request in [r for _, r in zip(range(callers), left, strict=False)]:
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(connection, selectors.EVENT_READ)
        sent_at[connection.fileno()] = time.perf_counter()
        connection.sendall(request)
    while selector.get_map():
        for key, _ in selector.select():
            connection = key.fileobj  # type: ignore[assignment] # a socket was registered
            number = key.fd
            data = received.get(number, b"") + connection.recv(262_144)
            if not _complete(data):
                received[number] = data
                continue
            received[number] = b""
            if not data.startswith((b"HTTP/1.1 200", b"HTTP/1.1 202")):
                raise SystemExit(data[:800].decode(errors="replace"))
            now = time.perf_counter()
            taken.append(now - sent_at[number])
            following = next(left, None)
            if following is None:
                selector.unregister(connection)
                connection.close()
            else:
                sent_at[number] = now
                connection.sendall(following)
    return Load(taken, time.perf_counter() - started, time.process_time() - cpu)


def _complete(data: bytes) -> bool:
    end = data.find(b"\r\n\r\n")
    if end < 0:
        if not data:
            raise SystemExit("the server closed a connection")
        return False
    head = data[:end].lower()
    at = head.index(b"content-length:") + 15
    return len(data) >= end + 4 + int(head[at:].split(b"\r\n", 1)[0])


def run_apart(port: int, requests: Sequence[bytes], callers: int) -> Load:
    """``run`` in a process of its own, so that the caller's interpreter does not stand in the way."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(run, (port, list(requests), callers))


def run_beside(
    port: int, requests: Sequence[bytes], callers: int, others: Sequence[bytes], per_second: float
) -> tuple[Load, float]:
    """``run_apart`` while another process sends the ``others`` at their times, so many a second; and how many of them were answered a second."""
    context = multiprocessing.get_context("spawn")
    over = context.Event()
    ours, theirs = context.Pipe(duplex=False)
    sender = context.Process(target=_send_at_times, args=(port, list(others), per_second, over, theirs))
    sender.start()
    theirs.close()
    ours.recv()  # it sends
    load = run_apart(port, requests, callers)
    over.set()
    answered: float = ours.recv()
    sender.join()
    return load, answered


def _send_at_times(
    port: int, requests: Sequence[bytes], per_second: float, over: Event, told: Connection
) -> None:
    """Each request at its time on the next of a few connections, whatever became of those before it."""
    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(_BESIDE_CALLERS)]
    for connection in connections:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    waiting: list[bytes | None] = [None] * len(
        connections
    )  # what came of an answer so far; None where none is owed
    answered, sent, began = 0, 0, time.perf_counter()
    told.send(True)
    while not over.is_set() and sent < len(requests):
        at, connection = sent % len(connections), connections[sent % len(connections)]
        if (part := waiting[at]) is not None:
            while not (part and _complete(part)):
                part += connection.recv(65_536)
            if not part.startswith((b"HTTP/1.1 200", b"HTTP/1.1 202")):
                raise SystemExit(part[:800].decode(errors="replace"))
            answered += 1
        time.sleep(max(0.0, began + sent / per_second - time.perf_counter()))
        connection.sendall(requests[sent])
        waiting[at], sent = b"", sent + 1
    told.send(answered / (time.perf_counter() - began))


# ---- the workload

EVENTS, ASKED, CAPTURED = 10_000, 400, 4000
BESIDE = 200.0
"""Captures a second while recalls are measured."""
_BESIDE_S_MAX = 120
_BATCHES, _BATCH = 32, 1000
_BESIDE_CALLERS = 8
_SCOPE = "org:bench/user:load"


def main() -> None:
    """Seed once, measure each number of processes, print, publish."""
    from harness import SEED, machine, publish, temporary_folder
    from seeding import Seeder

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--events", type=int, default=EVENTS, help="in the scope that is asked")
    parser.add_argument("--asked", type=int, default=ASKED, help="recalls by 32 callers; a quarter by one")
    parser.add_argument("--captured", type=int, default=CAPTURED)
    parser.add_argument("--no-publish", action="store_true")
    options = parser.parse_args()
    figures: dict[str, dict[str, Any]] = {}
    with temporary_folder() as outer:
        about = machine(outer)
        seeder = Seeder(outer / "seeded", _SCOPE, SEED)
        seeder.grow(options.events)
        seeder.close()
        for processes in options.processes:
            data = outer / f"data-{processes}"
            shutil.copytree(outer / "seeded", data)
            figures[f"{processes} processes"] = _measured(data, processes, options.asked, options.captured)
            print(f"{processes} processes: {json.dumps(figures[f'{processes} processes'])}", flush=True)
    headline = "; ".join(
        f"{name}: {one['recalls, 1 caller']['per_second']} recalls/s by 1 caller, "
        f"{one['recalls, 32 callers']['per_second']} by 32, {one['captures, 64 callers']['per_second']} captures/s by 64, "
        f"{one['batches, 2 callers']['captures_per_second']:.0f} in batches"
        for name, one in figures.items()
    )
    if options.no_publish:
        print(headline)
        return
    sizes = {"events": options.events, "asked": options.asked, "captured": options.captured}
    publish("load", headline, figures, {"machine": about, "sizes": sizes})


def _measured(data: Path, processes: int, asked: int, captured: int) -> dict[str, Any]:
    from corpus import Corpus, questions
    from harness import SEED, serving

    recalls = [
        encode("/v1/recall", json.dumps({"scope": _SCOPE, "query": each}).encode())
        for each in questions(SEED + 5, 2 * asked + asked // 4 + 64 * processes)
    ]
    beside = int(BESIDE * _BESIDE_S_MAX)
    captures = [
        encode(
            "/v1/experience", json.dumps({"scope": "org:bench/user:new", **said.item(f"load-{at}")}).encode()
        )
        for at, said in enumerate(Corpus(SEED).turns(captured + beside))
    ]
    items = [said.item(f"batch-{at}") for at, said in enumerate(Corpus(SEED + 1).turns(_BATCHES * _BATCH))]
    batches = [
        encode(
            "/v1/experience/bulk",
            json.dumps({"scope": "org:bench/user:new", "items": items[at : at + _BATCH]}).encode(),
        )
        for at in range(0, len(items), _BATCH)
    ]
    with serving(data, workers=0, processes=str(processes)) as server:
        warm, *rest = recalls[: 64 * processes], *recalls[64 * processes :]
        one, many, more = (
            rest[: asked // 4],
            rest[asked // 4 : -asked],
            rest[-asked:],
        )  # nobody asks one again
        _wait_serving(server.process.pid, processes)
        run_apart(server.port, warm, 16 * processes)  # each loads the model and the scope with its first
        found = {
            "recalls, 1 caller": _figures(run_apart(server.port, one, 1)),
            "recalls, 32 callers": _figures(run_apart(server.port, many, 32)),
            "captures, 64 callers": _figures(run_apart(server.port, captures[:captured], 64)),
        }
        bulk = run_apart(server.port, batches, 2)
        found["batches, 2 callers"] = {
            **_figures(bulk),
            "captures_per_second": round(bulk.per_second * _BATCH, 1),
        }
        load, answered = run_beside(server.port, more, 32, captures[captured:], BESIDE)
        name = f"recalls, 32 callers, beside {BESIDE:.0f} captures/s"
        found[name] = {**_figures(load), "captures_per_second": round(answered, 1)}
        return {**found, "memory_mb": _memory_mb(server.process.pid)}


def _wait_serving(pid: int, processes: int) -> None:
    """Until each of several processes takes connections: they begin one after the other."""
    if processes > 1:
        while sum(_name(each) == "lamina serves" for each in _below(pid)) < processes:
            time.sleep(0.05)
        time.sleep(3.0)


def _below(pid: int) -> list[int]:
    """The processes that one started, and those that they did."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    children = sorted({int(child) for task in tasks for child in (task / "children").read_text().split()})
    return [each for child in children for each in (child, *_below(child))]


def _name(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def _memory_mb(pid: int) -> list[float]:
    """Proportional megabytes of the server and of the processes that it keeps: what is shared counts once."""
    lines = [Path(f"/proc/{each}/smaps_rollup").read_text().splitlines() for each in (pid, *_below(pid))]
    return [
        round(int(line.split()[1]) / 1024, 1) for each in lines for line in each if line.startswith("Pss:")
    ]


def _figures(load: Load) -> dict[str, float]:
    from harness import milliseconds

    return {
        "per_second": round(load.per_second, 1),
        **milliseconds(load.taken_s),
        "client_cpu_share": round(load.client_cpu_s / load.elapsed_s, 2),
    }


if __name__ == "__main__":
    main()
