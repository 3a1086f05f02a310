"""What every workload needs: a real server of its own, the machine's facts, a place for results.

Each workload runs without flags, prints few numbers beside a named baseline, and writes them with commit, machine,
sizes, seed and model names to ``bench/results/<workload>.json``; ``bench/results/README.md`` is made from these files.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from lamina.kernel.events import Stage
from lamina.store.sqlite.codec import STAGE_NUMBERS

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
SEED = 20_260_513

_START_S_MAX = 60.0
_KEPT_S = 3.0
_LOAD_NOTE = "shared with other work; compare runs on one machine only"


@dataclass(slots=True)
class Server:
    """A ``lamina serve`` process and a keep-alive connection to it."""

    port: int
    process: subprocess.Popen[bytes]
    started_s: float
    """From starting the process to the answer of its first request."""
    data: Path
    token: str | None = None
    """Sent with every request, where it is set."""
    _connection: http.client.HTTPConnection = field(init=False)
    _used_at: float = 0.0

    def __post_init__(self) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)

    def call(self, verb: str, path: str, body: Any = None) -> Any:
        """The JSON answer of one request; fails loudly on an error."""
        payload = None if body is None else json.dumps(body).encode()
        return self.send(verb, path, payload)

    def send(self, verb: str, path: str, payload: bytes | None = None) -> Any:
        """As ``call``, of a body that is JSON already."""
        if time.monotonic() - self._used_at > _KEPT_S:
            self._connection.close()  # the server may have done so; the next request opens it again
        headers = {"Content-Type": "application/json"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        self._connection.request(verb, path, payload, headers)
        response = self._connection.getresponse()
        text = response.read()
        self._used_at = time.monotonic()
        if response.status >= 300:
            raise SystemExit(f"{verb} {path} answered {response.status}: {text[:500].decode()}")
        return json.loads(text)

    def memory_mb(self) -> dict[str, float]:
        """Resident megabytes of the server and of its worker; ``own`` leaves out mapped files."""
        found: dict[str, float] = {}
        for name, pid in (("server", self.process.pid), *_children(self.process.pid)):
            fields = _status(pid)
            found[name] = round(fields["VmRSS"] / 1024, 1)
            found[f"{name}_own"] = round(fields["RssAnon"] / 1024, 1)
        return found

    def cpu_s(self) -> float:
        """Processor seconds that the server process has used: steadier than the clock on a shared machine."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wait_derived(self, timeout_s: float) -> float:
        """Seconds until nothing is left to derive, looked up in the database beside the server."""
        started = time.perf_counter()
        while time.perf_counter() - started < timeout_s:
            if not self.backlog():
                return time.perf_counter() - started
            time.sleep(0.2)
        raise SystemExit(f"{self.backlog()} jobs are left after {timeout_s:.0f} s")

    def backlog(self) -> int:
        """How many events are still to be derived or embedded; what failed for good is not among them."""
        return self._count(
            "SELECT (SELECT count(*) FROM job WHERE state <> 'failed')"
            " + (SELECT count(*) FROM text_row WHERE wants_vector = 1)"
        )

    def failed(self) -> int:
        """How many events a stage gave up on."""
        return self._count("SELECT count(*) FROM job WHERE state = 'failed'")

    def waiting_for(self, stage: Stage) -> int:
        """How many events have not passed a stage."""
        return self._count(f"SELECT count(*) FROM job WHERE stage <= {STAGE_NUMBERS[stage]}")

    def _count(self, sql: str) -> int:
        database = apsw.Connection(str(self.data / "lamina.db"), flags=apsw.SQLITE_OPEN_READONLY)
        database.set_busy_timeout(5000)
        try:
            return int(next(iter(database.execute(sql)))[0])
        finally:
            database.close()


@contextlib.contextmanager
def serving(data: Path, *, workers: int = 1, **settings: str) -> Iterator[Server]:
    """A server over ``data`` on a free port until the block ends. ``settings`` are ``LAMINA_*`` without the prefix."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LAMINA_")}
    environment["PYTHONPATH"] = str(ROOT / "src")
    environment["LAMINA_PROCESSES"] = "1"  # unless the workload asks for more
    environment |= {f"LAMINA_{name.upper()}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "lamina", "serve", "--port", "0", "--data", str(data)]
    started = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--workers", str(workers)], env=environment, stderr=subprocess.PIPE, cwd=ROOT
    )
    try:
        assert process.stderr is not None, "it was asked for"
        line = process.stderr.readline().decode()
        if "serves http" not in line:
            raise SystemExit(f"the server did not start: {line}{process.stderr.read().decode()}")
        port = int(line.split("127.0.0.1:")[1].split()[0])
        _first_answer(port)
        yield Server(port, process, time.perf_counter() - started, data)
    finally:
        process.terminate()
        process.wait(30)


def _first_answer(port: int) -> None:
    deadline = time.perf_counter() + _START_S_MAX
    while True:
        with contextlib.suppress(OSError):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_START_S_MAX)
            connection.request("GET", "/v1/events?scope=org%3Abench&limit=1")
            connection.getresponse().read()
            return
        if time.perf_counter() > deadline:
            raise SystemExit("the server does not answer")
        time.sleep(0.01)


def _status(pid: int) -> dict[str, float]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {
        line.split(":")[0]: float(line.split()[1]) for line in lines if line.startswith(("VmRSS", "RssAnon"))
    }


def _children(pid: int) -> list[tuple[str, int]]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            children += (task / "children").read_text().split()
    return [("worker", int(child)) for child in dict.fromkeys(children)]


@contextlib.contextmanager
def temporary_folder(kept: Path | None = None) -> Iterator[Path]:
    """A folder that goes with the block, or ``kept``, which stays."""
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="lamina-bench-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` of the sorted values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """p50, p95 and p99 in milliseconds."""
    return {
        name: round(1000 * percentile(seconds, share), 2)
        for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
    }


def median(values: Sequence[float]) -> float:
    """The median, rounded for people."""
    return round(statistics.median(values), 2)


def fsync_times(folder: Path, writes: int = 300, *, grows: bool = False) -> list[float]:
    """Seconds of one 4 kB write with fsync, ``writes`` times, over a file that is there already or one that grows.

    A write-ahead log does the first nearly always: it is written over once it has reached its size.
    """
    path = folder / "fsync.probe"
    path.write_bytes(b"" if grows else bytes(4096 * writes))
    handle = os.open(path, os.O_WRONLY)
    os.fsync(handle)
    taken = []
    for _ in range(writes):
        started = time.perf_counter()
        os.write(handle, b"\x55" * 4096)
        os.fsync(handle)
        taken.append(time.perf_counter() - started)
    os.close(handle)
    path.unlink()
    return taken


def machine(folder: Path) -> dict[str, Any]:
    """What the figures hang on: processor, cores, load, memory, this disk's fsync, versions."""
    cpu = next(
        (line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")),
        platform.processor(),
    )  # fmt: skip
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load_before": [round(load, 2) for load in os.getloadavg()],
        "note": _LOAD_NOTE,
        "fsync_ms": milliseconds(fsync_times(folder)),
        "fsync_growing_ms": milliseconds(fsync_times(folder, grows=True)),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def commit() -> str:
    """The commit that is measured, marked when the tree differs from it."""
    head = _git("rev-parse", "--short=12", "HEAD")
    return f"{head}-dirty" if _git("status", "--porcelain", "--", "src") else head


def _git(*arguments: str) -> str:
    found = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.strip()


def models() -> dict[str, str]:
    """The models behind derived figures."""
    from lamina.models.minilm import NAME
    from lamina.recall.weights import DEFAULT

    return {"embedder": NAME, "parser": "en_core_web_sm 3.8", "ranking": str(DEFAULT)}


def publish(workload: str, headline: str, figures: dict[str, Any], about: dict[str, Any]) -> None:
    """Write ``results/<workload>.json`` and the table of all results."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    result = {
        "workload": workload,
        "commit": commit(),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "headline": headline,
        "seed": SEED,
        "models": models(),
        **about,
        "figures": figures,
    }
    path = RESULTS / f"{workload}.json"
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    rows = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]
    lines = [
        "# Results",
        "",
        "Made by `bench/*.py`; each row is the latest run of a workload, its file has everything.",
        "",
        "| workload | commit | day | cores, fsync p50 | figures |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        fsync = f"{row['machine']['cores']} shared, {row['machine']['fsync_ms']['p50']} ms"
        day = row["measured_at"][:10]
        lines.append(f"| {row['workload']} | {row['commit']} | {day} | {fsync} | {row['headline']} |")
    (RESULTS / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"\n{headline}\nwritten to {path.relative_to(ROOT)}")
