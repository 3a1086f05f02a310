"""kill -9 of any process of a server, again and again, under sixteen writers: is anything lost or doubled?

    python bench/crash.py --rounds 40 --seed 20260513 --processes 2

Promise: whatever was acknowledged is there, whatever was sent under one key is there once, however the processes died.
Sixteen writers capture, send batches, ingest turns, append to journals, write capsules and make reminders, each request
under a key of its own. What a kill leaves unanswered is sent again under the same key. After every tenth round and at the
end all is read back over HTTP and counted, the commits of the repository are, and ``lamina doctor`` and ``lamina audit
verify`` look at the folder of the stopped server. What keeps the others starts them anew; with several processes it serves nobody itself, and the serving ones are killed, too.
Four followers of the lifecycle resume their streams wherever they are answered: nothing may be missing between what they saw
first and last.
Ends with 1 where anything is lost, doubled, torn or damaged. Loopback alone; nothing is published.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from harness import ROOT, SEED, Server, commit, temporary_folder

WRITERS, ROUNDS, CHECKED_EVERY = 16, 40, 10
DOORS = ("capture", "bulk", "ingest", "append", "upsert", "schedule")
FOLLOWERS = 4
VICTIMS = ("server", "worker", "both")
"""The process that was started, the worker, or all of them."""
BULK_ITEMS = 5
_TENANT = "crash"
_ROUND_S = (0.5, 3.0)
"""Before a kill: from a server that has hardly begun to one in full swing."""
_PAUSE_S_MAX = 0.1
_STARTED_S_MAX, _DERIVED_S_MAX, _REPLACED_S_MAX = 120.0, 1800.0, 60.0
_BEGAN = datetime(2026, 5, 13, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Asked:
    """One write: what it asks, and the marks by which its outcome is known; one key, however often it is sent."""

    door: str
    path: str
    body: dict[str, Any]  # Any: JSON
    marks: tuple[str, ...]
    key: str


@dataclass(slots=True)
class Writer:
    """Writes through one door after the other, and sends again what was not answered."""

    number: int
    seed: int
    port: int
    acknowledged: list[Asked] = field(default_factory=list)
    sent_again: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    _made: Iterator[int] = field(default_factory=itertools.count)

    def write(self, over: threading.Event) -> None:
        """Until ``over``, and then until the last request has its answer."""
        chance = random.Random(f"{self.seed} {self.number} {len(self.acknowledged)}")
        while not over.is_set():
            self._deliver(self._next(next(self._made)))
            time.sleep(chance.uniform(0, _PAUSE_S_MAX))

    def _deliver(self, asked: Asked) -> None:
        headers = {"Content-Type": "application/json", "X-Cortex-Idempotency-Key": asked.key}
        if asked.door == "ingest":
            del headers["X-Cortex-Idempotency-Key"]  # it has a field of its own
        tries = 0
        until = time.monotonic() + _STARTED_S_MAX
        while time.monotonic() < until:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_STARTED_S_MAX)
                with contextlib.closing(connection):
                    connection.connect()  # nobody there yet: nothing was sent
                    tries += 1
                    connection.request("POST", asked.path, json.dumps(asked.body), headers)
                    response = connection.getresponse()
                    text = response.read()
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)
                continue
            if response.status < 300:
                self.acknowledged.append(asked)
                self.sent_again += tries > 1
                return
            if response.status not in (429, 503):
                said = json.loads(text)
                code = said.get("error_code") or said.get("detail")
                self.refused[f"{asked.door} {response.status} {code}"] += 1
                return
            time.sleep(0.2)
        self.refused[f"{asked.door}: no answer"] += 1

    def _next(self, made: int) -> Asked:
        door = DOORS[(made + self.number) % len(DOORS)]
        key = f"{door}-{self.number}-{made}"
        marks = tuple(f"{key}-{at}" for at in range(BULK_ITEMS)) if door == "bulk" else (key,)
        at = (_BEGAN + timedelta(seconds=made)).isoformat().replace("+00:00", "Z")
        path, body = _REQUESTS[door](self.number, at, marks)
        return Asked(door, path, body, marks, key)


# ---- what is sent through each door


def _scope(writer: int) -> str:
    return f"org:{_TENANT}/user:w{writer}"


def _item(at: str, mark: str) -> dict[str, Any]:
    return {
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": f"I bought apples. {mark}"},
        "context": {"observed_at": at},
    }


def _capture(writer: int, at: str, marks: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    return "/v1/experience", {"scope": _scope(writer), **_item(at, marks[0])}


def _bulk(writer: int, at: str, marks: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    items = [_item(at, mark) | {"idempotency_key": mark} for mark in marks]
    return "/v1/experience/bulk", {"scope": _scope(writer), "items": items}


def _ingest(writer: int, at: str, marks: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    who = {"tenantId": _TENANT, "userId": f"w{writer}", "personaId": "tester", "sessionId": f"s{writer}"}
    turn = {"role": "user", "text": f"I ate a pear. {marks[0]}", "timestamp": at, "idempotencyKey": marks[0]}
    return "/ingest", who | turn


def _append(writer: int, at: str, marks: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    return "/v1/append", {"path": _journal(writer), "record": {"mark": marks[0], "at": at}}


def _journal(writer: int) -> str:
    return f"memory/journal-{writer}.jsonl"


def _upsert(writer: int, at: str, marks: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    about = {"subject_kind": "thread", "subject_id": f"w{writer}"}
    capsule = {
        **about,
        "updated_at": at,
        "verified_at": at,
        "source": {"producer": "bench", "update_reason": "manual"},
        "continuity": {
            "top_priorities": ["hold"],
            "active_concerns": ["kill -9"],
            "active_constraints": [],
            "open_loops": [],
            "stance_summary": f"What is acknowledged stays. {marks[0]}",
            "drift_signals": [],
        },
        "confidence": {"continuity": 0.8, "relationship_model": 0.5},
    }
    return "/v1/continuity/upsert", {**about, "capsule": capsule, "commit_message": marks[0]}


def _schedule(_writer: int, _at: str, marks: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    return "/v1/schedule/items", {"kind": "reminder", "title": marks[0], "due_at": "2036-05-13T12:00:00Z"}


_REQUESTS: dict[str, Callable[[int, str, tuple[str, ...]], tuple[str, dict[str, Any]]]] = {
    "capture": _capture,
    "bulk": _bulk,
    "ingest": _ingest,
    "append": _append,
    "upsert": _upsert,
    "schedule": _schedule,
}


# ---- the processes


class Folder:
    """A data folder, and the server that runs over it on one port whenever it is started."""

    def __init__(self, data: Path, processes: int = 1) -> None:
        self.data = data
        self.processes = processes
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("LAMINA_")
        }
        self._environment["PYTHONPATH"] = str(ROOT / "src")
        self.process: subprocess.Popen[bytes] | None = None

    def lamina(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command over the folder."""
        command = [sys.executable, "-m", "lamina", *arguments, "--data", str(self.data)]
        return subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        command = [
            sys.executable,
            "-m",
            "lamina",
            "serve",
            "--port",
            str(self.port),
            "--data",
            str(self.data),
            "--processes",
            str(self.processes),
        ]
        with (self.data.parent / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, env=self._environment, stderr=log, stdout=log, start_new_session=True
            )
        until = time.monotonic() + _STARTED_S_MAX
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
                with contextlib.closing(connection):
                    connection.request("GET", "/v1/admin/version")
                    if connection.getresponse().status == 200:
                        return
            if self.process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"the server does not start; {self.data.parent / 'server.log'} says why")
            time.sleep(0.05)

    def kill(self, victim: str) -> str:
        """kill -9; a server that died is started again. What was killed: there may be no worker at the moment."""
        assert self.process is not None, "it was started"
        victims = _kinds(self.process.pid)
        if victim == "forks" and victims["serving"]:
            # There is one while somebody is to be replaced.
            os.kill(victims["serving"][0], signal.SIGKILL)
            until = time.monotonic() + _REPLACED_S_MAX
            while not (victims := _kinds(self.process.pid))["forks"] and time.monotonic() < until:
                time.sleep(0.01)
        if victim in victims and not victims[victim]:
            victim = "server"
        if victim in victims:
            os.kill(victims[victim][0], signal.SIGKILL)
            return victim
        if victim == "both":
            os.killpg(self.process.pid, signal.SIGKILL)
        else:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.start()
        return victim

    def stop(self) -> None:
        """As a person stops it."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def end(self) -> None:
        """Leave nothing behind."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def server(self) -> Server:
        """A caller of what runs."""
        assert self.process is not None, "it was started"
        return Server(self.port, self.process, 0.0, self.data)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += map(int, (task / "children").read_text().split())
    return sorted(set(found))


def _kinds(supervisor: int) -> dict[str, list[int]]:
    """Which processes are the worker, which serve, and which forks those that do."""
    found: dict[str, list[int]] = {"worker": [], "serving": [], "forks": []}
    for child in _children(supervisor):
        with contextlib.suppress(OSError):
            for pid in (child, *_children(child)):
                command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if b"--forks" in command:
                    name = Path(f"/proc/{pid}/comm").read_text().strip()
                    found["serving" if name == "lamina serves" else "forks"].append(pid)
                elif pid == child:
                    found["serving" if b"--share" in command else "worker"].append(pid)
    return found


# ---- who follows


@dataclass(slots=True)
class Follower:
    """Follows the lifecycle of the tenant, and goes on from the last row that it saw."""

    port: int
    seen: list[str] = field(default_factory=list)
    began_again: int = 0
    _goes_on_from: str | None = None
    """The id of the last whole block, that of where the stream began as well."""

    def follow(self, over: threading.Event) -> None:
        """Until ``over``."""
        while not over.is_set():
            headers = {"Last-Event-ID": self._goes_on_from} if self._goes_on_from else {}
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2.0)
            try:
                with contextlib.closing(connection):
                    connection.request("GET", f"/v1/lifecycle/stream?scope=org:{_TENANT}", headers=headers)
                    response = connection.getresponse()
                    block: dict[bytes, str] = {}
                    while response.status == 200 and not over.is_set() and (line := response.readline()):
                        if line.strip():
                            name, _, value = line.partition(b": ")
                            block[name] = value.strip().decode()
                            continue
                        if b"id" in block:
                            self._goes_on_from = block[b"id"]
                            self.seen += [block[b"id"]] if b"data" in block else []
                        block = {}
            except (OSError, http.client.HTTPException):
                pass
            self.began_again += 1
            time.sleep(0.05)


def _gaps(server: Server, followers: list[Follower]) -> list[str]:
    """What followers missed between the first and the last row that they saw, or saw in another order."""
    rows, query = [], f"/v1/lifecycle?scope=org:{_TENANT}&limit=1000"
    cursor: str | None = ""
    while cursor is not None:
        page = server.call("GET", query + (f"&cursor={cursor}" if cursor else ""))
        rows += [item["lifecycle_id"] for item in page["items"]]
        cursor = page.get("next_cursor")
    wrong = []
    for number, each in enumerate(followers):
        if not each.seen:
            wrong.append(f"follower {number} saw nothing")
            continue
        first = rows.index(each.seen[0])
        if rows[first : first + len(each.seen)] != each.seen:
            wrong.append(f"follower {number} has a gap among {len(each.seen)} rows")
    rows_seen, again = sum(len(each.seen) for each in followers), sum(each.began_again for each in followers)
    print(f"followers: {rows_seen} rows seen, {again} times begun again, {len(wrong)} with a gap")
    return wrong


# ---- what is there


def _present(server: Server) -> dict[str, Counter[str]]:
    """How often each mark is there, by the door that it came through."""
    found: dict[str, Counter[str]] = {door: Counter() for door in DOORS}
    for writer in range(WRITERS):
        for text in _event_texts(server, _scope(writer)):
            mark = text.rsplit(" ", 1)[-1]
            found[mark.split("-")[0]][mark] += 1
        with contextlib.suppress(SystemExit):  # nothing was appended yet
            content = server.call("GET", f"/v1/read?path={_journal(writer)}")["content"]
            found["append"].update(json.loads(line)["mark"] for line in content.splitlines())
    offset, total = 0, 1
    while offset < total:
        page = server.call("GET", f"/v1/schedule/items?limit=100&offset={offset}")
        offset, total = offset + 100, page["total"]
        found["schedule"].update(item["title"] for item in page["items"])
    command = ["git", "--git-dir", str(server.data / "relay" / "local.git"), "log", "--format=%s"]
    subjects = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found["upsert"].update(subject for subject in subjects if subject.startswith("upsert-"))
    return found


def _event_texts(server: Server, scope: str) -> Iterator[str]:
    cursor = ""
    while True:
        quoted = scope.replace(":", "%3A").replace("/", "%2F")
        page = server.call("GET", f"/v1/events?scope={quoted}&limit=1000{cursor}")
        for event in page["items"]:
            yield event["content"]["text"]
        if not page.get("next_cursor"):
            return
        cursor = f"&cursor={page['next_cursor']}"


def _latest_capsules(server: Server, writers: list[Writer]) -> list[str]:
    """The writers whose capsule is not what was acknowledged last."""
    wrong = []
    for writer in writers:
        last = next((asked for asked in reversed(writer.acknowledged) if asked.door == "upsert"), None)
        if last is not None:
            about = {"subject_kind": "thread", "subject_id": f"w{writer.number}"}
            capsule = server.call("POST", "/v1/continuity/read", about)["capsule"]
            if not capsule["continuity"]["stance_summary"].endswith(f" {last.key}"):
                wrong.append(last.key)
    return wrong


def check(folder: Folder, writers: list[Writer], followers: list[Follower]) -> list[str]:
    """Print a row for each door; what is wrong, in words."""
    server = folder.server()
    derived_s = server.wait_derived(_DERIVED_S_MAX)
    present, stale = _present(server), _latest_capsules(server, writers)
    failed = server.failed()
    wrong = [f"{failed} jobs failed for good"] if failed else []
    wrong += _gaps(server, followers)
    wrong += [f"the capsule of {key} is not the last that was acknowledged" for key in stale]
    print(f"{'door':10}{'acknowledged':>14}{'there':>8}{'lost':>6}{'doubled':>9}{'torn':>6}")
    for door in DOORS:
        asked = [each for writer in writers for each in writer.acknowledged if each.door == door]
        counts = present[door]
        lost = [mark for each in asked for mark in each.marks if not counts[mark]]
        doubled = [mark for mark, count in counts.items() if count > 1]
        batches = Counter(mark.rsplit("-", 1)[0] for mark in counts) if door == "bulk" else Counter()
        torn = [key for key, count in batches.items() if count != BULK_ITEMS]
        marks = sum(len(each.marks) for each in asked)
        print(f"{door:10}{marks:14}{counts.total():8}{len(lost):6}{len(doubled):9}{len(torn):6}")
        for what, found in (("lost", lost), ("doubled", doubled), ("torn", torn)):
            wrong += [f"{door}: {len(found)} {what}, {', '.join(sorted(found)[:3])} ..."] if found else []
    refused: Counter[str] = sum((writer.refused for writer in writers), Counter())
    wrong += [f"refused {count} times: {what}" for what, count in refused.items()]
    folder.stop()
    for command in (("doctor",), ("audit", "verify")):
        done = folder.lamina(*command)
        said = (done.stdout + done.stderr).strip().splitlines()
        print(f"lamina {' '.join(command)}: {'clean' if done.returncode == 0 else f'exit {done.returncode}'}")
        if done.returncode != 0:
            wrong.append(f"lamina {' '.join(command)}: {' | '.join(said[-4:])}")
    print(
        f"derived to the end in {derived_s:.0f} s; {sum(w.sent_again for w in writers)} sent again",
        flush=True,
    )
    return wrong


def crash(folder: Folder, rounds: int, seed: int) -> list[str]:
    """The rounds and their checks; everything that was wrong at the last."""
    chance = random.Random(seed)
    writers = [Writer(number, seed, folder.port) for number in range(WRITERS)]
    followers = [Follower(folder.port) for _ in range(FOLLOWERS)]
    victims = (*VICTIMS, "serving", "serving", "forks") if folder.processes > 1 else VICTIMS
    wrong: list[str] = []
    killed: Counter[str] = Counter()
    for first in range(0, rounds, CHECKED_EVERY):
        folder.start()
        over = threading.Event()
        threads = [threading.Thread(target=writer.write, args=(over,)) for writer in writers]
        threads += [threading.Thread(target=each.follow, args=(over,)) for each in followers]
        for thread in threads:
            thread.start()
        try:
            for _ in range(first, min(first + CHECKED_EVERY, rounds)):
                time.sleep(chance.uniform(*_ROUND_S))
                killed[folder.kill(chance.choice(victims))] += 1
        finally:
            over.set()
            for thread in threads:
                thread.join()
        done = min(first + CHECKED_EVERY, rounds)
        print(f"\nafter {done} rounds ({', '.join(f'{n} x {name}' for name, n in sorted(killed.items()))})")
        wrong = check(folder, writers, followers)
        for each in wrong:
            print(f"  {each}", flush=True)
    return wrong


def main() -> None:
    """Kill, count, judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often something is killed")
    parser.add_argument("--seed", type=int, default=SEED, help="of what is killed, when, and of the pauses")
    parser.add_argument("--processes", type=int, default=1, help="that serve")
    parser.add_argument("--data", type=Path, help="keep the folder here, to look at afterwards")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # whoever stops it finds no server left behind
    print(
        f"{options.rounds} rounds, seed {options.seed}, {options.processes} processes, {WRITERS} writers, commit {commit()}",
        flush=True,
    )
    with temporary_folder(options.data) as outer:
        (outer / "data").mkdir()
        folder = Folder(outer / "data", options.processes)
        try:
            wrong = crash(folder, options.rounds, options.seed)
        finally:
            folder.end()
    print(
        f"\n{'BROKEN: ' + '; '.join(wrong) if wrong else 'held: nothing lost, nothing doubled, all checks clean'}"
    )
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
