"""Random writes of documents to both engines, against a plain dictionary: the same answers all along."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from given import NOON, CountedIds, ManualClock, draft
from lamina.errors import Conflict
from lamina.kernel.events import Origin, Trust
from lamina.kernel.relay import DOCUMENTS_CHANNEL
from lamina.store.memory import MemoryStore
from lamina.store.ports.documents import Change, ChangeKind, LandedWrite, Write
from lamina.store.ports.log import Capture
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore

STEPS = 150
SEEDS = [int(os.environ["SIMULATION_SEED"])] if "SIMULATION_SEED" in os.environ else [1, 2, 3]
PATHS = ["a", "a/b", "a/b/c", "a.b", "a0", "d/e", "d/f", "ü"]
TENANTS = ["acme", "other"]

Model = dict[tuple[str, str], bytes]
"""What stands, by tenant and path."""


def changes(rng: random.Random, versions: dict[tuple[str, str], int], tenant: str) -> list[Change]:
    made = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        path = rng.choice(PATHS)
        kind = rng.choice([ChangeKind.PUT, ChangeKind.PUT, ChangeKind.APPEND, ChangeKind.REMOVE])
        expected = rng.choice([None, None, versions.get((tenant, path), 0), rng.randrange(4)])
        content = b"" if kind is ChangeKind.REMOVE else rng.randbytes(rng.randrange(60)).hex().encode()
        made.append(Change(path, kind, content, expected))
    return made


def landed(model: Model, versions: dict[tuple[str, str], int], write: Write) -> Model | None:
    """What stands after a write, None where it is refused; an own statement of the rules."""
    after, seen = dict(model), dict(versions)
    for change in write.changes:
        place = (write.tenant_id, change.path)
        found = seen.get(place, 0) if place in after else 0
        if change.expected_version not in (None, found):
            return None
        if change.kind is ChangeKind.REMOVE:
            if place not in after:
                return None
            del after[place]
        else:
            others = [path for tenant, path in after if tenant == write.tenant_id]
            near = any(
                other.startswith(f"{change.path}/") or change.path.startswith(f"{other}/") for other in others
            )
            if place not in after and near:
                return None
            before = after.get(place, b"") if change.kind is ChangeKind.APPEND else b""
            after[place] = before + change.content
        seen[place] = seen.get(place, 0) + 1
    versions.update(seen)
    return after


@pytest.mark.parametrize("seed", SEEDS)
def test_both_engines_do_what_a_dictionary_does(seed: int, tmp_path: Path) -> None:
    rng, clock = random.Random(seed), ManualClock()
    ids = CountedIds()
    stores: list[Store] = [
        MemoryStore(clock=clock, ids=CountedIds()),
        SqliteStore(tmp_path, clock=clock, ids=ids, durable=False),
    ]
    told: dict[tuple[str, str], set[str]] = {}
    ended: dict[str, list[tuple[int, str]]] = {tenant: [] for tenant in TENANTS}
    model: Model = {}
    versions: dict[tuple[str, str], int] = {}
    past: list[tuple[int, Model]] = []
    for step in range(STEPS):
        clock.at = NOON + step * 1_000_000
        if rng.random() < 0.03:
            stores[1].close()
            stores[1] = SqliteStore(tmp_path, clock=clock, ids=ids, durable=False)
        tenant = rng.choice(TENANTS)
        write = Write(
            tenant_id=tenant,
            author=f"agent:{step}",
            message=f"step {step}",
            changes=(made := changes(rng, versions, tenant)),
            captures=[telling(tenant, rng.choice(made).path)] if rng.random() < 0.7 else [],
        )
        answers = [attempt(store, write) for store in stores]
        assert answers[0] == answers[1], f"seed {seed}, step {step}"
        after = landed(model, versions, write)
        assert (answers[0] == "refused") == (after is None), f"seed {seed}, step {step}: {write}"
        model = model if after is None else after
        if isinstance(answers[0], LandedWrite):
            ended[tenant] += end(told, write, answers[0])
        past.append((clock.at, model))
    for store in stores:
        check(store, model, past)
    for store in stores:
        assert {tenant: ends(store, tenant) for tenant in TENANTS} == {t: sorted(ended[t]) for t in TENANTS}
    histories = [
        [store.documents.history(t, p, limit=500) for t in TENANTS for p in PATHS] for store in stores
    ]
    assert histories[0] == histories[1]
    heads = [[store.documents.head(tenant) for tenant in TENANTS] for store in stores]
    assert heads[0] == heads[1]
    stores[1].close()
    shutil.rmtree(tmp_path / "relay")
    again = SqliteStore(tmp_path, durable=False)
    again.documents.recover()
    assert [again.documents.head(tenant) for tenant in TENANTS] == heads[0]
    again.close()


def telling(tenant: str, path: str) -> Capture:
    content = {"kind": "text", "text": "so it stands", "path": path}
    origin = Origin("agent:nia", DOCUMENTS_CHANNEL, Trust.EXTERNAL)
    return Capture(draft(tenant_id=tenant, content=content, origin=origin))


def end(told: dict[tuple[str, str], set[str]], write: Write, written: LandedWrite) -> list[tuple[int, str]]:
    """What ends with a write, and note what it tells of."""
    replaced = {change.path for change in write.changes if change.kind is not ChangeKind.APPEND}
    gone = [event_id for path in replaced for event_id in told.pop((write.tenant_id, path), ())]
    for capture, event_id in zip(write.captures, written.event_ids, strict=True):
        told.setdefault((write.tenant_id, capture.draft.content["path"]), set()).add(event_id)
    return [(written.commit.number, event_id) for event_id in gone]


def ends(store: Store, tenant: str) -> list[tuple[int, str]]:
    return [(number, event_id) for number, event_id, _ in store.index.ends_after(tenant, draft().scope, 0)]


def attempt(store: Store, write: Write) -> object:
    try:
        (written,) = store.documents.write([write])
    except Conflict:
        return "refused"
    return written


def check(store: Store, model: Model, past: list[tuple[int, Model]]) -> None:
    for tenant in TENANTS:
        listed = store.documents.below(tenant, "", with_content=True)
        assert {(tenant, each.path): each.content for each in listed} == {
            place: content for place, content in model.items() if place[0] == tenant
        }
        assert {path: each.content for path, each in store.documents.read_many(tenant, PATHS).items()} == {
            each.path: each.content for each in listed
        }
        for at, stood in past[::7]:
            for path in PATHS:
                document = store.documents.read(tenant, path, at=at)
                assert (document and document.content) == stood.get((tenant, path))
