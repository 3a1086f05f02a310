"""Every thread that works behind the calls: an error that nobody thought of is seen, and stops none of them for good."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from given import ALICE, NOON, TENANT, ManualClock, append
from lamina import limits
from lamina.cli import supervise, trim
from lamina.cli.check import RegularCheck
from lamina.cli.retain import DailyRetention
from lamina.cli.supervise import Workers
from lamina.cli.trim import RegularTrim
from lamina.errors import LaminaError
from lamina.forget.expired import ExpiredEraser
from lamina.forget.expiring import Expirer
from lamina.forget.planning import place_of_erasure
from lamina.forget.runner import Eraser
from lamina.kernel.erasure_rules import ErasureRules
from lamina.kernel.events import Stage
from lamina.kernel.expiry import TtlRules
from lamina.kernel.local import LocalTime
from lamina.kernel.operations import Principal
from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.lifecycle.feed import Feed, Listener
from lamina.models.ports import Generated
from lamina.observe.rounds import Failures
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.session.drain import Drain
from lamina.session.ingest import turn_capture
from lamina.session.inquirer import Inquirer
from lamina.settings import Settings
from lamina.store.backups.tombstones import NoTombstones
from lamina.store.documents.repository import GitRepository
from lamina.store.memory import MemoryStore
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.erasures import ErasureJob
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.upkeep import Integrity
from lamina.store.sqlite import SqliteStore, checkpoints
from lamina.store.watch import Watch
from lamina.worker_app import build_drain, build_inquirer
from libraries import Meanings

SECRET = "Maya is ill"  # as an error may quote it
SOURCE = Path(__file__).parents[2] / "src" / "lamina"


class Fault:
    """Breaks what it is put before, while it is on."""

    def __init__(self) -> None:
        self.on = True

    def before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def broken(*given: Any, **named: Any) -> Any:
            if self.on:
                raise KeyError(SECRET)
            return call(*given, **named)

        return broken


class World:
    def __init__(self, folder: Path, patches: pytest.MonkeyPatch, stack: ExitStack) -> None:
        self.folder, self.patches, self.stack = folder, patches, stack
        patches.setattr(limits, "ROUND_BACKOFF_BASE_S", 0.02)
        self.fault, self.failures, self.clock = Fault(), Failures(), ManualClock()
        self.store = SqliteStore(folder / "kept", clock=self.clock, durable=False)
        stack.callback(self.store.close)

    def breaks(self, where: Any, name: str) -> None:
        self.patches.setattr(where, name, self.fault.before(getattr(where, name)))

    def runs(self, run: Callable[[Callable[[], bool]], None]) -> None:
        stop = threading.Event()
        thread = threading.Thread(target=run, args=(stop.is_set,))
        self.stack.callback(thread.join)
        self.stack.callback(stop.set)
        thread.start()

    def in_engine(self) -> Mapping[str, str]:
        return self.store.upkeep.state().failing


def nothing() -> None:
    return None


@dataclass(frozen=True)
class Part:
    """What works behind the calls: ``poke`` gives it something to do, ``worked`` says that it did it."""

    worked: Callable[[], bool]
    poke: Callable[[], None] = nothing
    standing: Callable[[], Mapping[str, str]] | None = None


def writer(world: World) -> Part:
    landed: list[None] = []

    def write() -> None:
        world.store.upkeep.probe()
        landed.append(None)

    world.breaks(world.store._writer._riders, "due_s")
    return Part(lambda: bool(landed), write, world.in_engine)


def moving_pages(world: World) -> Part:
    world.patches.setattr(checkpoints, "_PAGES", 1)
    world.breaks(checkpoints, "open_connection")
    moved = world.store._checkpoints
    return Part(lambda: moved._moved > 0, world.store.upkeep.probe, world.in_engine)


def documents(world: World) -> Callable[[], None]:
    paths = iter(range(10**6))

    def write() -> None:
        change = Change(f"memory/{next(paths)}.md", ChangeKind.PUT, b"x")
        try:
            world.store.documents.write([Write(tenant_id=TENANT, author="a", message="m", changes=[change])])
        except LaminaError:
            return

    return write


def projector(world: World) -> Part:
    world.breaks(GitRepository, "add")
    commits = world.store.documents
    return Part(lambda: commits.head(TENANT) is not None, documents(world), world.in_engine)


def projector_itself(world: World) -> Part:
    world.breaks(world.store._projector, "_attempt")
    commits = world.store.documents
    return Part(lambda: commits.head(TENANT) is not None, documents(world), world.in_engine)


def gathering(world: World) -> Part:
    world.patches.setattr(GitRepository, "is_scattered", property(lambda _: True))
    world.breaks(GitRepository, "gather")
    return Part(lambda: True, documents(world), world.in_engine)


def look_out(world: World) -> Part:
    feed, loop = Feed(world.store, world.failures), asyncio.new_event_loop()
    world.stack.callback(loop.close)
    world.stack.callback(feed.close)
    world.breaks(world.store.changes, "follow")
    listening: list[Listener] = []

    def listen() -> None:
        listener = Listener(LifecycleQuery(tenant_id=TENANT, limit=10), loop)
        listening.append(listener)
        feed.add(listener)
        append(world.store, "news")

    return Part(lambda: any(each.due is not None and not each.ended for each in listening), listen)


def waiting(world: World) -> Part:
    watch, (event,) = Watch(world.store, world.failures), append(world.store, "tea")
    pool = world.stack.enter_context(ThreadPoolExecutor(1))
    world.breaks(world.store.changes, "follow")
    future = pool.submit(watch.wait_for, TENANT, event.id, Stage.EXTRACTED, timeout_s=20)

    def derive() -> None:
        if not world.fault.on:
            worker(world, Failures()).drain()

    return Part(future.done, derive)


def worker(world: World, failures: Failures) -> Worker:
    extractor, embedder = RulesExtractor(find_times, use_parser=False), Meanings()
    deriver = Deriver(world.store, extractor, embedder, embed_eagerly=False)
    return Worker(world.store, deriver, embedder, world.clock, "w", failures=failures)


def derivation(world: World) -> Part:
    (event,) = append(world.store, "tea")
    world.breaks(world.store.jobs, "claim")
    world.runs(worker(world, world.failures).run)
    return Part(lambda: not world.store.jobs.of_event(TENANT, event.id))


def embedding(world: World) -> Part:
    append(world.store, "tea")
    world.breaks(Meanings, "encode")
    world.runs(worker(world, world.failures).run)

    def later() -> None:
        world.clock.at += 60 * SECOND_US

    indexed = world.store.index
    return Part(lambda: not world.fault.on and not indexed.unembedded(9), later)


def outbox(world: World) -> Part:
    principal = Principal(TENANT, "service:app", "http")
    for number in range(13):
        turn = turn_capture(
            principal,
            ALICE,
            actor="user:alice",
            persona=None,
            role="user",
            text=f"turn {number}",
            at=LocalTime(NOON + number),
            session="s",
            named="s",
        )
        world.store.sessions.take([turn])
    world.breaks(world.store.sessions, "claim")
    world.runs(Drain(world.store, world.clock, failures=world.failures).run)
    return Part(lambda: world.store.sessions.outbox(TENANT, None, 1) == [])


def erasing(world: World) -> Part:
    job = ErasureJob(
        tenant_id=TENANT,
        id="erasure_1",
        scope=ALICE,
        place=place_of_erasure("erasure_1", ALICE, ErasureRules()),
        requested_by="user:alice",
        audit_note="",
        started_at=world.clock.now(),
    )
    world.store.erasures.begin(job)
    world.breaks(world.store.erasures, "claim")
    world.runs(Eraser(world.store, world.clock, "test", failures=world.failures).run)
    return Part(lambda: world.store.erasures.places(TENANT) == [])


def expiring(world: World) -> Part:
    passed: list[None] = []
    due = world.store.expiries.due
    append(world.store, "tea at five")

    def looks(*asked: Any, **more: Any) -> Any:
        passed.append(None)
        return due(*asked, **more)

    def rules(*_: Any) -> TtlRules:
        return TtlRules()

    world.patches.setattr(world.store.expiries, "due", world.fault.before(looks))
    eraser = ExpiredEraser(world.store, world.clock, rules, lambda _: ErasureRules(), NoTombstones())
    world.runs(Expirer(world.store, world.clock, rules, eraser, failures=world.failures).run)
    return Part(lambda: bool(passed))


class Silent:
    name = "silent"

    def complete(self, messages: Any, **more: Any) -> Generated:
        raise AssertionError("nobody asks it")


def asking(world: World) -> Part:
    passed: list[None] = []
    claim = world.store.inquiries.claim

    def claims(**asked: Any) -> Any:
        passed.append(None)
        return claim(**asked)

    world.patches.setattr(world.store.inquiries, "claim", world.fault.before(claims))
    world.runs(Inquirer(world.store, world.clock, Silent(), failures=world.failures).run)
    return Part(lambda: bool(passed))


class Pruning:
    def __init__(self) -> None:
        self.runs = 0

    def run(self) -> int:
        self.runs += 1
        return 0


def retention(world: World) -> Part:
    pruning: Any = Pruning()
    world.breaks(pruning, "run")
    daily = DailyRetention(pruning, world.failures, first_s=0.0, again_s=0.0)
    world.stack.callback(daily.stop)
    daily.start()
    return Part(lambda: pruning.runs == 1)


class Checked:
    def __init__(self) -> None:
        self.runs = 0

    def check(self, now: int) -> Integrity:
        self.runs += 1
        return Integrity(now)


def checking(world: World) -> Part:
    checked: Any = Checked()
    world.breaks(checked, "check")
    regular = RegularCheck(checked, world.clock, world.failures, first_s=0.0, again_s=0.0)
    world.stack.callback(regular.stop)
    regular.start()
    return Part(lambda: checked.runs == 1)


def trimming(world: World) -> Part:
    given: list[None] = []
    world.patches.setattr(trim, "give_back", world.fault.before(lambda: given.append(None)))
    regular = RegularTrim(world.failures, every_s=0.0)
    world.stack.callback(regular.stop)
    regular.start()
    return Part(lambda: bool(given))


def keeping_workers(world: World) -> Part:
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def start(command: list[str]) -> subprocess.Popen[bytes]:
        started.append(real([sys.executable, "-c", "import time; time.sleep(60)"]))
        return started[-1]

    world.patches.setattr(supervise, "_STEADY_S", 0.05)
    world.patches.setattr(supervise.subprocess, "Popen", world.fault.before(start))
    workers = Workers(Settings(data=world.folder), world.failures)
    world.stack.callback(workers.stop)
    workers.start()
    return Part(lambda: bool(started))


PARTS: dict[str, list[Callable[[World], Part]]] = {
    "lamina-writer": [writer],
    "lamina-checkpoints": [moving_pages],
    "lamina-projector": [projector, projector_itself],
    "lamina-gather": [gathering],
    "lamina-lifecycle": [look_out],
    "lamina-watch": [waiting],
    "lamina-drain": [outbox],
    "lamina-eraser": [erasing],
    "lamina-expirer": [expiring],
    "lamina-inquirer": [asking],
    "lamina-worker": [derivation, embedding],
    "lamina-retention": [retention],
    "lamina-check": [checking],
    "lamina-trim": [trimming],
    "lamina-workers": [keeping_workers],
}
BY_CALL = {
    "lamina-jwks": "a thread for each reading, whose failure is logged; the next token starts another",
    "lamina-graph": "runs what a row waits for, which gets its error",
    "lamina-bell": "hears that other processes commit; without it the look comes a little later",
    "lamina-commits": "takes connections of processes that ask for commits; its end ends them, and they ask again",
    "lamina-commit": "answers one of them, which gets its error",
    "lamina-backup": "the daily backup, whose failure stands in health and which is tried again: flow/test_daily_backup.py",
    "lamina-line": "hears a serving process out, and ends with it",
    "lamina-warm": "loads ahead, once; whoever asks loads where it failed: unit/test_warming.py",
    "lamina-input": "waits for the end of who started the server, and ends it",
}

NO_THREADS = {
    "lamina-blocks",
    "lamina-data",
    "lamina-hooks",
    "lamina-mcp",
    "lamina-memory",
    "lamina-recall",
    "lamina-shelf",
    "lamina-tallies",
}


def wait_until(holds: Callable[[], bool], between: Callable[[], None]) -> None:
    until = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < until, "it did not happen in time"
        between()
        time.sleep(0.02)


@pytest.mark.parametrize("begin", [each for parts in PARTS.values() for each in parts])
def test_an_error_that_nobody_thought_of_is_seen_and_stops_no_part_for_good(
    begin: Callable[[World], Part],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with ExitStack() as stack, monkeypatch.context() as patches:
        world = World(tmp_path, patches, stack)
        part = begin(world)
        standing = part.standing or world.failures.standing
        wait_until(lambda: bool(standing()), part.poke)
        assert set(standing().values()) == {"builtins.KeyError"}
        world.fault.on = False
        wait_until(part.worked, part.poke)
        wait_until(lambda: not standing(), part.poke)
    assert "KeyError" in caplog.text
    assert SECRET not in caplog.text


def test_every_thread_that_works_behind_the_calls_is_among_them() -> None:
    source = "".join(path.read_text() for path in SOURCE.rglob("*.py"))
    assert all("name=" in begun[:200] for begun in source.split("threading.Thread(")[1:]), (
        "each thread has a name"
    )
    names = set(re.findall(r'"(lamina-[a-z]+)(?:-\{\w+\})?"', source)) - NO_THREADS
    pools = set(
        re.findall(r'thread_name_prefix="([^"]+)"', source)
    )  # what runs there is a call's, which gets its error
    assert names - pools == (PARTS.keys() - {"lamina-worker"}) | BY_CALL.keys()


ENDED = """
import sys
from lamina.session.drain import Drain
Drain.run = lambda drain, stopping: sys.exit()  # what nothing catches
from lamina.cli.main import app
sys.argv = ["lamina", "worker", "--data", sys.argv[1]]
app()
"""


def test_a_worker_that_lost_a_thread_ends_with_an_error_that_names_it(tmp_path: Path) -> None:
    SqliteStore(tmp_path).close()
    command = [sys.executable, "-c", ENDED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, "lamina-drain ended by itself" in done.stderr) == (1, True), done.stderr


UNSTOPPABLE = """
import sys
from lamina.cli.main import app
from lamina.cli.serve import _Uvicorn
from lamina.cli.trim import RegularTrim
def fail(_):
    raise RuntimeError("does not stop")
RegularTrim.stop = fail
_Uvicorn.run = lambda *_, **__: None
sys.argv = ["lamina", "serve", "--data", sys.argv[1], "--port", "0", "--workers", "0"]
app()
"""


def test_a_server_lets_go_of_its_store_where_something_beside_it_does_not_stop(tmp_path: Path) -> None:
    command = [sys.executable, "-c", UNSTOPPABLE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, "does not stop" in done.stderr) == (1, True), done.stderr
    assert not (tmp_path / "lamina.db-wal").exists(), "SQLite removes it as the last connection closes"


def test_what_a_worker_builds_behind_it_is_let_go_at_its_end() -> None:
    settings = Settings(
        llm_url="http://127.0.0.1:1", llm_model="small", llm_loops=True, graphiti="kuzu:///:memory:"
    )
    with ExitStack() as held:
        build_drain(settings, MemoryStore(), held)
        inquirer = build_inquirer(settings, MemoryStore(), held)
        assert "lamina-graph" in {thread.name for thread in threading.enumerate()}
    assert "lamina-graph" not in {thread.name for thread in threading.enumerate()}
    assert inquirer is not None
    assert inquirer._rewording.folder._generator is inquirer._generator
    assert inquirer._generator._client.is_closed
