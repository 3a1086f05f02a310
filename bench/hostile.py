"""A million keys, a valid bulk of 60 MB and 600 half-open requests at once: what another caller waits meanwhile.

Starts a server on a temporary folder, loopback only. A quiet caller writes, reads and recalls in turn, one call after another;
in the second phase the hostile requests come beside it, from other loopback addresses, and come again until the caller is done.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import socket
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import SEED, Server, serving

CALLS = 1000
HALF_OPEN = 600
KEYS = 1_000_000
BULK_BYTES = 60_000_000
ITEMS = 1000
P99_MS_MAX = 300.0
MEMORY_MB_MAX = 1000.0
_WORDS = ["river", "lamp", "garden", "copper", "window", "letter", "market", "quiet", "seven", "orange"]


@dataclass
class Watch:
    """What was seen beside the calls, by threads that end when told."""

    port: int
    done: threading.Event = field(default_factory=threading.Event)
    answers: list[str] = field(default_factory=list)
    memory_mb: float = 0.0

    def send(self, name: str, path: str, body: bytes, actor: str, *, again: bool) -> None:
        """Post a body, again and again until the calls are done where asked."""
        while True:
            started = time.perf_counter()
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            try:
                headers = {"Content-Type": "application/json", "X-Cortex-Actor": actor}
                connection.request("POST", path, body, headers)
                response = connection.getresponse()
                code = json.loads(response.read()).get("error_code", "")
                said = f"{response.status} {code}".strip()
            except OSError as error:
                said = type(error).__name__
            finally:
                connection.close()
            self.answers.append(f"{name}: {said} after {time.perf_counter() - started:.2f} s")
            if not again or self.done.wait(0.5):
                return

    def look_at_memory(self, server: Server) -> None:
        """The most that the server process held at any time."""
        while not self.done.wait(0.05):
            self.memory_mb = max(self.memory_mb, server.memory_mb()["server"])


def half_open(port: int) -> list[socket.socket]:
    """Requests of which half of the head has come, from an address of their own."""
    connections = []
    for _ in range(HALF_OPEN):
        connection = socket.create_connection(("127.0.0.1", port), 30, source_address=("127.0.0.2", 0))
        connection.sendall(b"POST /v1/experience HTTP/1.1\r\nHost: localhost\r\nX-Half: ")
        connections.append(connection)
    return connections


def bomb() -> bytes:
    """A batch of one item with very many unknown keys."""
    keys = ",".join(f'"k{number}":1' for number in range(KEYS))
    return f'{{"scope":"user:mallory","items":[{{{keys}}}]}}'.encode()


def bulk(rng: random.Random) -> bytes:
    """A valid batch."""
    size = BULK_BYTES // ITEMS
    items = [
        item(" ".join(rng.choices(_WORDS, k=size // 6))[: size - 200], f"bulk-{n}") for n in range(ITEMS)
    ]
    return json.dumps({"scope": "user:bulk", "items": items}).encode()


def item(text: str, key: str) -> dict[str, Any]:
    """One experience."""
    return {
        "modality": "document",
        "content": {"kind": "message", "role": "user", "text": text},
        "context": {"observed_at": "2026-05-13T12:00:00Z"},
        "idempotency_key": key,
    }


def quiet_calls(server: Server, count: int, name: str) -> list[float]:
    """Milliseconds of each call of one caller: a write, a list, a recall, in turn."""
    taken = []
    for number in range(count):
        started = time.perf_counter()
        if number % 4 == 0:
            words = item(f"I bought {number} lamps.", f"{name}-{number}")
            server.call("POST", "/v1/experience", {"scope": "user:quiet", **words})
        elif number % 4 == 1:
            server.call("POST", "/v1/recall", {"scope": "user:quiet", "query": "lamps"})
        else:
            server.call("GET", "/v1/events?scope=user:quiet&limit=10")
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def shown(name: str, taken: list[float]) -> float:
    """Print the figures of a phase; gives its p99."""
    ordered = sorted(taken)
    p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    longest = taken.index(ordered[-1])
    kind = ("write", "recall", "list", "list")[longest % 4]
    print(
        f"{name:8} {len(taken)} calls: p50 {p50:.1f} ms, p99 {p99:.1f} ms, longest {ordered[-1]:.1f} ms, a {kind}"
    )
    return p99


def main() -> None:
    """Run it and print what was seen; ends with 1 where a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--workers", type=int, default=1, choices=(0, 1))
    options = parser.parse_args()
    large, many = bulk(random.Random(SEED)), bomb()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), workers=options.workers) as server:
        quiet_calls(server, 20, "warm")
        shown("alone", quiet_calls(server, max(100, options.calls // 4), "alone"))
        watch = Watch(server.port)
        connections = half_open(server.port)
        beside = [
            threading.Thread(target=watch.look_at_memory, args=(server,)),
            threading.Thread(
                target=watch.send,
                args=("bulk", "/v1/experience/bulk", large, "user:bulk"),
                kwargs={"again": False},
            ),
            threading.Thread(
                target=watch.send,
                args=("bomb", "/v1/experience/bulk", many, "user:mallory"),
                kwargs={"again": True},
            ),
        ]
        for thread in beside:
            thread.start()
        started = time.perf_counter()
        p99 = shown("beside", quiet_calls(server, options.calls, "beside"))
        print(f"in {time.perf_counter() - started:.1f} s")
        watch.done.set()
        for thread in beside:
            thread.join()
        for connection in connections:
            connection.close()
        for line in [each for each in watch.answers if each.startswith("bulk")] + watch.answers[:2]:
            print(line)
        print(f"{len(watch.answers) - 1} bombs, {HALF_OPEN} half-open requests")
        print(f"the server held {watch.memory_mb:.0f} MB at most")
    if p99 > P99_MS_MAX or watch.memory_mb > MEMORY_MB_MAX:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
