"""What an erasure costs: a person's events, in a scope of their own and in a shared one, with vectors, in a folder of many.

Prints how long the preview takes, until when something of the scope could be read, and until everything is gone from the files.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from harness import machine, publish
from lamina.forget.planning import Planner, place_of_erasure
from lamina.forget.runner import Eraser
from lamina.kernel.erasure_rules import ErasureRules
from lamina.kernel.events import Context, Directives, Event, EventDraft, Origin, Party, Stage, Trust
from lamina.kernel.ids import Prefix, RandomIds, derived_id
from lamina.kernel.records import Belief, Fact, Layer, ObjectValue, Record, Stance, Subject, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, SystemClock
from lamina.store.ports.erasures import ErasureJob
from lamina.store.ports.index import TextRow, VectorRow
from lamina.store.ports.log import Capture
from lamina.store.ports.writes import Writes
from lamina.store.sqlite import SqliteStore

TENANT = "acme"
ALICE, LAUNCH = Scope("org:acme/user:alice"), Scope("ws:launch")
PROMISE_PREVIEW_S, PROMISE_HIDDEN_S, PROMISE_GONE_S = 2.0, 5.0, 60.0
BATCH = 500
VECTOR = bytes(384)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--own", type=int, default=9_420)
    parser.add_argument("--shared", type=int, default=3_060)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        about = machine(Path(folder))
        figures = run(Path(folder), given.events, given.own, given.shared)
    load = about["load_before"][0]
    headline = (
        f"{given.own + given.shared} of {given.events} events: preview {figures['preview_s']:.1f} s, hidden {figures['hidden_s']:.2f} s, "
        f"gone {figures['gone_s']:.0f} s; load {load}"
    )
    print(headline, {name: round(value, 2) for name, value in figures.items()})
    publish("erasure", headline, figures, about)


def run(folder: Path, events: int, own: int, shared: int) -> dict[str, float]:
    store = SqliteStore(folder, durable=False)
    others = (events - own - shared) // 20
    for number in range(20):
        fill(store, Scope(f"org:acme/user:u{number}"), f"user:u{number}", others)
    fill(store, ALICE, "user:alice", own)
    fill(store, LAUNCH, "user:alice", shared)
    clock, figures = SystemClock(), {}
    started = time.perf_counter()
    planned = Planner(store).plan(TENANT, ALICE, ErasureRules())
    lines = planned.lines()
    figures["plan_s"] = time.perf_counter() - started
    started = time.perf_counter()
    erasure_id = RandomIds().stamped(Prefix.ERASURE, clock.now())
    store.erasures.put_lines(TENANT, erasure_id, lines)
    figures["preview_s"] = figures["plan_s"] + time.perf_counter() - started
    figures |= {"delete": float(planned.figures.delete), "redact": float(planned.figures.redact)}
    started = time.perf_counter()
    store.erasures.begin(
        ErasureJob(
            tenant_id=TENANT,
            id=erasure_id,
            scope=ALICE,
            place=place_of_erasure(erasure_id, ALICE, ErasureRules()),
            requested_by="user:alice",
            audit_note="bench",
            started_at=clock.now(),
            crosses=True,
        )
    )
    figures["hidden_s"] = time.perf_counter() - started
    assert Eraser(store, clock, "bench").step()
    figures["gone_s"] = time.perf_counter() - started
    done = store.erasures.get(TENANT, erasure_id)
    assert done is not None
    assert done.status == "completed"
    figures["us_per_event"] = done.outcome.took_us / (own + shared)
    store.close()
    return figures


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


def draft(scope: Scope, actor: str, number: int) -> EventDraft:
    return EventDraft(
        tenant_id=TENANT,
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


def claim(prefix: Prefix, event: Event) -> dict[str, object]:
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
        "subject": Subject("ent_tea", "Tea"),
        "predicate": "likes",
        "object": ObjectValue("literal", f"{event.position}", "string"),
        "negated": False,
        "external": False,
    }


def support(record_id: object, event: Event) -> Support:
    return Support(TENANT, str(record_id), event.id, "extracted_from", recorded_at=event.recorded_at)


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
