"""One person's events erased, in a scope of their own and in a shared one, with vectors, in a folder of many, beside writes of others.

    python bench/erasure.py

Promises (10^5 events, 1,000 documents, 12,480 events of the person): a preview in 2 s; nothing of the person to be read 5 s after it
was asked for; everything gone from pages and packs in 60 s; writes of another tenant meanwhile with a p99 of at most 3 times that
without. The erasure is a process of its own, as the worker is; one thread writes to the folder without a break, flushed.
The baseline is the same writes with no erasure. The seed's own example estimates 240 s.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import fsync_times, machine, milliseconds, publish, temporary_folder
from lamina.continuity.owned import documents_about
from lamina.forget.planning import Planner, place_of_erasure
from lamina.forget.runner import Eraser
from lamina.kernel.erasure_rules import ErasureRules
from lamina.kernel.events import Context, Directives, Event, EventDraft, Origin, Party, Stage, Trust
from lamina.kernel.ids import Prefix, RandomIds, derived_id
from lamina.kernel.records import Belief, Fact, Layer, ObjectValue, Record, Stance, Subject, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import SECOND_US, SystemClock
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.erasures import ErasureJob
from lamina.store.ports.index import TextRow, VectorRow
from lamina.store.ports.log import Capture
from lamina.store.ports.writes import Writes
from lamina.store.sqlite import SqliteStore

TENANT, OTHER = "acme", "other"
ALICE, LAUNCH = Scope("org:acme/user:alice"), Scope("ws:launch")
EVENTS, OWN, SHARED, DOCUMENTS = 100_000, 9_420, 3_060, 1_000
SIZES = ("events", "own", "shared", "documents")
PROMISES = {"preview_s": 2.0, "hidden_s": 5.0, "gone_s": 60.0, "writes_p99_ratio": 3.0}
PEOPLE, OF_HERS = 20, 20
"""Others in the tenant; and of so many documents one is hers alone."""
BATCH = 500
MATTERS = 500
"""What the claims of a scope are about: those of one matter are kept together."""
ALONE_S = 20.0
VECTOR = bytes(386)


def main() -> None:
    """Measure, print, publish."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work is not None:
        work(given.work)
        return
    with temporary_folder(None) as folder:
        about = machine(folder)
        figures = run(folder, given)
    headline = (
        f"{given.own + given.shared} of {given.events} events, {given.documents} documents: preview {figures['preview_s']} s, hidden after "
        f"{figures['hidden_s']} s, gone after {figures['gone_s']} s, {figures['processor_s']} of them of a processor; writes of others p99 {figures['writes beside it']['p99']} ms, "
        f"{figures['writes_p99_ratio']} times that alone; fsync p50 {figures['disk_fsync']['p50']} ms"
    )
    for name, row in figures.items():
        print(f"{name:24}{row}", f"(promised {PROMISES[name]})" if name in PROMISES else "")
    print(headline)
    if not given.no_publish:
        publish(
            "erasure",
            headline,
            figures,
            {"machine": about, "sizes": {name: getattr(given, name) for name in SIZES}},
        )


def run(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """The figures, over a folder that is filled first."""
    data = folder / "data"
    if given.keep is None:
        filled(data, given)
    else:
        if not given.keep.exists():
            filled(given.keep, given)
        shutil.copytree(given.keep, data)
    store = SqliteStore(data)
    clock, rules = SystemClock(), ErasureRules()
    planner = Planner(store, documents_about(store.traces))
    figures: dict[str, Any] = {"disk_fsync": milliseconds(fsync_times(folder))}
    figures["writes alone"] = milliseconds(beside(store, lambda: time.sleep(ALONE_S)))
    erasure_id = RandomIds().stamped(Prefix.ERASURE, clock.now())

    def preview() -> None:
        planned = planner.plan(TENANT, ALICE, rules)
        store.erasures.put_lines(TENANT, erasure_id, planned.lines())
        figures.update({"delete": planned.figures.delete, "redact": planned.figures.redact})

    def begin() -> None:
        planner.plan(TENANT, ALICE, rules)  # whoever begins one is shown that nothing has drifted
        job = ErasureJob(
            tenant_id=TENANT,
            id=erasure_id,
            scope=ALICE,
            place=place_of_erasure(erasure_id, ALICE, rules),
            requested_by="user:alice",
            audit_note="bench",
            started_at=clock.now(),
            crosses=True,
        )
        store.erasures.begin(job)

    figures["preview_s"] = seconds(preview)
    began = time.perf_counter()
    figures["hidden_s"] = seconds(begin)
    command = [sys.executable, __file__, "--work", str(data)]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    before = used.ru_utime + used.ru_stime
    times = beside(store, lambda: subprocess.run(command, check=True))
    figures["gone_s"] = round(time.perf_counter() - began, 2)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures["processor_s"] = round(used.ru_utime + used.ru_stime - before, 1)
    figures["writes beside it"] = milliseconds(times) | {
        "writes": len(times),
        "longest_ms": round(max(times) * 1000, 1),
    }
    figures["writes_p99_ratio"] = round(
        figures["writes beside it"]["p99"] / figures["writes alone"]["p99"], 2
    )
    done = store.erasures.get(TENANT, erasure_id)
    assert done is not None
    assert done.status == "completed"
    figures["us_per_event"] = round(done.outcome.took_us / (given.own + given.shared))
    assert store.traces.look() == ()
    store.close()
    return figures


def parser_of(description: str) -> argparse.ArgumentParser:
    """What both benches of a person's events in a folder of many are told."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=EVENTS, help="in the folder, the person's among them")
    parser.add_argument("--own", type=int, default=OWN, help="of theirs, in their own scope")
    parser.add_argument("--shared", type=int, default=SHARED, help="of theirs, in a scope that others share")
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument(
        "--keep",
        type=Path,
        help="a folder with what is filled in, made there if it is empty; each run has a copy",
    )
    parser.add_argument("--no-publish", action="store_true")
    return parser


def filled(data: Path, given: argparse.Namespace) -> None:
    """A folder with the events, what they made, and the documents."""
    store = SqliteStore(data, durable=False)
    others = (given.events - given.own - given.shared) // PEOPLE
    for number in range(PEOPLE):
        fill(store, Scope(f"org:acme/user:u{number}"), f"user:u{number}", others)
    fill(store, ALICE, "user:alice", given.own)
    fill(store, LAUNCH, "user:alice", given.shared)
    write_documents(store, given.documents)
    store.close()


def work(data: Path) -> None:
    """What the worker does of it, in a process of its own; starting it counts."""
    store = SqliteStore(data, durable=False)
    assert Eraser(store, SystemClock(), "bench", about=documents_about(store.traces)).step()
    store.close()


def seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return round(time.perf_counter() - began, 2)


def beside(store: SqliteStore, work: Callable[[], object]) -> list[float]:
    """How long single writes of another tenant take while ``work`` goes on."""
    over, times = threading.Event(), list[float]()

    def write() -> None:
        scope = Scope("org:other/user:maya")
        while not over.is_set():
            began = time.perf_counter()
            store.log.append([Capture(draft(scope, "user:maya", len(times), OTHER))])
            times.append(time.perf_counter() - began)
            time.sleep(0.005)  # a writer, and not a flood: a person's tools send a hundred a second at most

    thread = threading.Thread(target=write)
    thread.start()
    try:
        work()
    finally:
        over.set()
        thread.join()
    return times


def write_documents(store: SqliteStore, count: int) -> None:
    """Documents of two versions each; one of ``OF_HERS`` is hers alone."""
    for version in range(2):
        for start in range(0, count, BATCH):
            writes = []
            for number in range(start, min(start + BATCH, count)):
                author = "user:alice" if number % OF_HERS == 0 else f"user:u{number % PEOPLE}"
                change = Change(
                    f"memory/n{number}.md", ChangeKind.PUT, f"# note {number}, {version}\n".encode() * 20
                )
                writes.append(Write(tenant_id=TENANT, author=author, message=f"n{number}", changes=[change]))
            store.documents.write(writes)


def fill(store: SqliteStore, scope: Scope, actor: str, count: int) -> None:
    """Events of one author in a scope, a fact of each, a belief of every eighth, and rows of search with vectors."""
    for start in range(0, count, BATCH):
        captures = [
            Capture(draft(scope, actor, number)) for number in range(start, min(start + BATCH, count))
        ]
        store.log.append(captures)
        until = time.time_ns() // 1000 + 60 * SECOND_US
        jobs = store.jobs.claim(Stage.EXTRACTED, limit=BATCH, lease_until=until, now=until, owner="bench")
        store.jobs.finish([(job, derived(job.event)) for job in jobs])


def draft(scope: Scope, actor: str, number: int, tenant: str = TENANT) -> EventDraft:
    return EventDraft(
        tenant_id=tenant,
        scope=scope,
        caller=actor,
        observed_actor=Party.of(actor),
        subject=Party.of(actor),
        session=None,
        modality="conversation",
        content={
            "kind": "message",
            "role": "user",
            "text": f"turn {number} of {actor}: " + "tea and cake " * 12,
        },
        context=Context(observed_at=1_778_673_600 * SECOND_US + number),
        directives=Directives(),
        origin=Origin(actor, "http", Trust.PRINCIPAL),
    )


def derived(event: Event) -> Writes:
    """What an event makes: nothing that a fact of another event shares, but for beliefs."""
    fact = claim(Prefix.FACT, event)
    records: list[Record] = [
        Fact(**fact, event_id=event.id, text="Tea.", kind="state", extractor="bench", slot=None)
    ]
    supports = [support(fact["id"], event)]
    if event.position % 8 == 0:
        belief = claim(Prefix.BELIEF, event)
        records.append(
            Belief(
                **belief, stance=Stance.SUPPORTED, alpha=3.0, beta=1.0, lower=0.4, upper=0.9, revision_count=0
            )
        )
        supports.append(support(belief["id"], event)._replace(source_id=fact["id"]))
    return Writes(records=records, supports=supports, texts=[text(event)], vectors=[vector(event)])


def claim(prefix: Prefix, event: Event) -> dict[str, Any]:  # Any: what facts and beliefs are made of alike
    return {
        "tenant_id": TENANT,
        "id": derived_id(prefix, event.recorded_at, event.id),
        "scope": event.scope,
        "version": 1,
        "position": event.position,
        "confidence": 0.9,
        "valid_from": event.recorded_at,
        "valid_to": None,
        "recorded_from": event.recorded_at,
        "subject": Subject(f"ent_{event.position % MATTERS}", "Tea"),
        "predicate": "likes",
        "object": ObjectValue("literal", f"{event.position}", "string"),
        "negated": False,
        "external": False,
    }


def support(record_id: object, event: Event) -> Support:
    return Support(
        TENANT,
        str(record_id),
        event.id,
        Tie.EXTRACTED_FROM,
        recorded_at=event.recorded_at,
        at=event.recorded_at,
    )


def text(event: Event) -> TextRow:
    return TextRow(
        tenant_id=TENANT, record_id=event.id, layer=Layer.EVENTS, scope=event.scope, recorded_at=event.recorded_at,
        observed_at=event.recorded_at, session=None, speaker=event.caller, role="user", characters=180,
        question_share=0.0, self_share=0.0, terms="tea cake turn", keys="",
    )  # fmt: skip


def vector(event: Event) -> VectorRow:
    return VectorRow(
        tenant_id=TENANT, record_id=event.id, scope=event.scope, model="bench", pooled=VECTOR, tokens=VECTOR
    )


if __name__ == "__main__":
    main()
