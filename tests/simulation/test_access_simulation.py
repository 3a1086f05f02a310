"""Two tenants, twenty scopes, random traffic: nobody is shown what an independent account of members hides.

Every text carries a mark of its tenant and scope. Each answer is searched for marks, ids and paths of scopes that
its caller may not read; cursors are opened first. Denied placeholders of a descent are the one exception: they are
checked to hold a count and nothing else. The same paths exist in both tenants.
"""

from __future__ import annotations

import base64
import json
import os
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel
from pydantic_core import to_json

import given
from lamina.access.principals import Credentials
from lamina.app import build_server
from lamina.errors import Forbidden, LaminaError
from lamina.gateway import Inbound
from lamina.http.errors import envelope
from lamina.index.rows import event_row, record_row
from lamina.kernel.events import Stage
from lamina.kernel.operations import Principal
from lamina.kernel.records import Subject
from lamina.kernel.scopes import Scope
from lamina.models.ports import Encoded, quantise
from lamina.pipeline.indexing import vector_rows
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes
from lamina.store.sqlite import SqliteStore
from neighbours import ROOT, Believed

SEEDS = [int(os.environ["SIMULATION_SEED"])] if "SIMULATION_SEED" in os.environ else [11]
TENANTS = ("acme", "globex")
PATHS = [
    Scope(path)
    for path in (
        "org:acme", "org:acme/team:a", "org:acme/team:b", "org:acme/team:a/user:ann", "org:acme/team:a/user:bob",
        "org:acme/team:b/user:cid", "org:acme/team:b/user:cid/project:p", "ws:x", "ws:x/project:q", "ws:y",
    )
]  # fmt: skip
ACTORS = ["user:ann", "user:bob", "user:cid", "user:dan"]
MARK = re.compile(r"zz(acme|globex)(\d\d)")
ID = re.compile(r"\b(?:evt|fact|belief|ep|concept|lce)_[0-9a-f-]{20,}")


class Marks:
    """An embedder that knows letters only; what it finds does not matter here, whose it is does."""

    name, dim_pooled = "marks", 384

    def encode(self, texts: Sequence[str]) -> Encoded:
        pooled = np.zeros((len(texts), 384), np.float32)
        tokens = []
        for row, text in enumerate(texts):
            for letter in text:
                pooled[row, ord(letter) % 384] += 1.0
            pooled[row] /= max(float(np.linalg.norm(pooled[row])), 1.0)
            tokens.append(quantise(np.ones((min(4, len(text)), 32), np.float32) / np.sqrt(np.float32(32))))
        return Encoded(pooled, tokens)


class Account:
    """Who may read what, kept by the test itself and told as plainly as possible."""

    def __init__(self) -> None:
        self.members: dict[tuple[str, Scope], dict[str, str]] = {}
        self.blind: set[tuple[str, str]] = set()
        self.closed: set[tuple[str, Scope]] = set()

    def reads(self, tenant: str, actor: str, path: Scope) -> bool:
        if (tenant, actor) in self.blind or any((tenant, each) in self.closed for each in path.lineage()):
            return False
        for each in path.lineage():
            if (tenant, each) in self.members:
                return actor in self.members[tenant, each]
        persons = [segment for segment in path.segments if segment.startswith("user:")]
        return not actor.startswith("user:") or not persons or actor == persons[0]


class Town:
    """The server, and what was put where."""

    def __init__(self, store: Store, seed: int) -> None:
        self.random = random.Random(seed)
        self.store = store
        settings = Settings(
            preset="on_prem_enterprise", operators=",".join(f"{each}/{ROOT}" for each in TENANTS)
        )
        self.server = build_server(settings, store=store, clock=given.ManualClock(), principals=Believed())
        self.operations = {operation.name: operation for operation in self.server.operations}
        self.account = Account()
        self.homes: dict[str, tuple[str, Scope]] = {}
        self.ids: list[str] = []
        self.count = 0
        self.refusals = 0

    # ---- one operation

    def run(self, name: str, tenant: str, actor: str, **asked: Any) -> Any:
        operation = self.operations[name]
        principal = Principal(tenant, actor, "http")
        self.count += 1
        body = json.dumps(asked).encode()
        inbound = Inbound(Credentials("http"), f"req-{self.count}", body)
        try:
            request = operation.request.model_validate(asked)
            reply = self.server.gateway.execute(operation, request, inbound, principal)
        except LaminaError as error:
            self.refusals += isinstance(error, Forbidden)
            self.check(envelope(error, "req"), body.decode(), tenant, actor, name)
            return error
        result = reply.answer.result
        assert isinstance(result, BaseModel)
        shown = json.loads(to_json(result))
        self.check([shown, dict(reply.headers)], body.decode(), tenant, actor, name)
        return shown

    def check(self, shown: Any, asked: str, tenant: str, actor: str, name: str) -> None:
        text = json.dumps(_without_placeholders(shown, allowed='"descend"' in asked))
        for cursor in re.findall(r'"next_cursor": "([^"]+)"', text):
            text += base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        where = f"{name} by {tenant}/{actor}: {asked}"
        for owner, number in MARK.findall(text):
            assert owner == tenant, f"{where} shows a mark of {owner}"
            assert self.account.reads(tenant, actor, PATHS[int(number)]), (
                f"{where} shows {PATHS[int(number)]}"
            )
        for found in set(ID.findall(text)) - set(ID.findall(asked)):
            owner, path = self.homes.get(found, (tenant, None))
            assert owner == tenant, f"{where} shows {found} of {owner}"
            assert path is None or self.account.reads(tenant, actor, path), f"{where} shows {found} of {path}"
        for path in PATHS:
            if (
                f'"{path}"' in text and f'"{path}' not in asked
            ):  # what one asks of, and what lies above it, one knows
                assert self.account.reads(tenant, actor, path), f"{where} names {path}"

    # ---- traffic

    def step(self) -> None:
        choose = self.random.choices
        kinds = {
            self.write: 14, self.listing: 30, self.by_id: 16, self.recall: 8, self.lifecycle: 12, self.why: 3,
            self.scopes: 8, self.coverage: 4, self.govern: 3, self.restrict: 1, self.effective: 1,
        }  # fmt: skip
        choose(list(kinds), list(kinds.values()))[0]()

    def somebody(self) -> tuple[str, str, Scope]:
        return self.random.choice(TENANTS), self.random.choice(ACTORS), self.random.choice(PATHS)

    def write(self) -> None:
        tenant, actor, path = self.somebody()
        mark = f"zz{tenant}{PATHS.index(path):02}"
        shown = self.run(
            "experience",
            tenant,
            actor,
            envelope={
                "scope": path,
                "modality": "conversation",
                "content": {"kind": "message", "role": "user", "text": f"the {mark} plan is green"},
                "context": {"observed_at": "2026-05-13T12:00:00Z", "labels": [mark]},
                "idempotency_key": f"key-{self.count}",
            },
        )
        if isinstance(shown, dict):
            self.note(shown["event_id"], tenant, path)
            if self.random.random() < 0.4:
                self.derive(shown["event_id"], tenant, path, mark)

    def derive(self, event_id: str, tenant: str, path: Scope, mark: str) -> None:
        """Land one record of each layer, as the worker would."""
        jobs = self.store.jobs.claim(Stage.EXTRACTED, limit=1000, lease_until=2, now=1, owner="w")
        (job,) = [job for job in jobs if job.event.id == event_id]
        common = {"tenant_id": tenant, "scope": path, "recorded_from": job.event.recorded_at}
        subject = Subject(f"ent_{mark}", mark)
        name = f"{mark}-{self.count}"
        records = [
            given.fact(name, **common, subject=subject, text=f"{mark} is green", event_id=event_id),
            given.belief(name, **common, subject=subject),
            given.episode(name, **common, summary=mark),
            given.concept(name, **common, summary=mark, topic=mark),
        ]
        writes = Writes(
            records=list(records),
            supports=[given.support(record.id, event_id, tenant_id=tenant) for record in records],
            texts=[event_row(job.event, [], wants_vector=False), *map(record_row, records)],
            vectors=vector_rows([job.event], Marks()),
            lifecycle=[
                LifecycleDraft(
                    tenant_id=tenant, name="extracted", scope=path, payload={"said": mark}, event_id=event_id
                )
            ],
        )
        self.store.jobs.finish([(job, writes)])
        self.store.jobs.release("w")
        for record in records:
            self.note(record.id, tenant, path)

    def note(self, record_id: str, tenant: str, path: Scope) -> None:
        self.homes[record_id] = tenant, path
        self.ids.append(record_id)

    def listing(self) -> None:
        tenant, actor, path = self.somebody()
        name = self.random.choice(["events", "facts", "beliefs", "episodes", "understanding"])
        view = self.random.choice(["local", "holistic", "descend"])
        shown = self.run(name, tenant, actor, scope=path, view=view, limit=self.random.choice([1, 3, 50]))
        assert isinstance(shown, Forbidden) is not self.account.reads(tenant, actor, path), (
            name,
            actor,
            path,
        )
        if isinstance(shown, dict) and shown["next_cursor"]:
            other = self.random.choice(ACTORS)
            self.run(name, tenant, other, scope=path, view=view, cursor=shown["next_cursor"])

    def by_id(self) -> None:
        tenant, actor, _ = self.somebody()
        if not self.ids:
            return
        known = self.random.choice(self.ids[-400:])
        kind = known.split("_")[0]
        name = {"evt": "event", "fact": "fact", "belief": "belief", "ep": "episode", "concept": "concept"}[
            kind
        ]
        field = {"evt": "event_id", "ep": "episode_id"}.get(kind, f"{kind}_id")
        shown = self.run(name, tenant, actor, **{field: known})
        owner, path = self.homes[known]
        assert isinstance(shown, dict) is (owner == tenant and self.account.reads(tenant, actor, path)), known
        if kind == "evt":
            self.run("lifecycle_memory_event", tenant, actor, evt_id=known)

    def recall(self) -> None:
        tenant, actor, path = self.somebody()
        _, other, _ = self.somebody()
        self.run(
            "recall",
            tenant,
            actor,
            scope=path,
            view=self.random.choice(["holistic", "descend", "local", "raw"]),
            query=f"what of the plan of {other}?",
            diagnostics=self.random.choice(["none", "full"]),
        )

    def lifecycle(self) -> None:
        tenant, actor, path = self.somebody()
        asked = self.random.choice([{}, {"scope": path}])
        shown = self.run("lifecycle", tenant, actor, limit=self.random.choice([1, 20]), **asked)
        if isinstance(shown, dict):
            for item in shown["items"]:
                self.homes[item["lifecycle_id"]] = tenant, Scope(item["scope"])
            if shown["items"]:
                last = shown["items"][-1]["lifecycle_id"]
                self.run("lifecycle_event", *self.somebody()[:2], lce_id=last)

    def why(self) -> None:
        tenant, actor, _ = self.somebody()
        beliefs = [each for each in self.ids[-400:] if each.startswith("belief_")]
        if beliefs:
            self.run("beliefs_why", tenant, actor, belief_id=self.random.choice(beliefs))

    def scopes(self) -> None:
        tenant, actor, path = self.somebody()
        shown = self.run("scopes", tenant, actor, prefix=self.random.choice(["", "org:", path]), limit=2)
        if isinstance(shown, dict) and shown["next_cursor"]:
            self.run("scopes", tenant, actor, prefix="", cursor=shown["next_cursor"])
        self.run("scopes", tenant, actor, path=path)

    def coverage(self) -> None:
        tenant, actor, path = self.somebody()
        shown = self.run("understanding_coverage", tenant, actor, scope=path, view="descend")
        if isinstance(shown, dict):
            readable = [
                each
                for each, (owner, home) in self.homes.items()
                if each.startswith("concept_") and owner == tenant and path.contains(home)
                and self.account.reads(tenant, actor, home)
            ]  # fmt: skip
            assert shown["concept_count"] == len(readable)

    def govern(self) -> None:
        """Register a scope, change its members, or drop its registration."""
        tenant, _, path = self.somebody()
        chosen = self.random.sample(ACTORS, self.random.randint(1, 3))
        roles = {each: self.random.choice(["writer", "reader", "owner"]) for each in chosen} | {
            chosen[0]: "owner"
        }
        members = [{"actor": actor, "role": role} for actor, role in roles.items()]
        key = (tenant, path)
        if key not in self.account.members:
            shown = self.run("scope_register", tenant, ROOT, path=path, members=members)
        elif self.random.random() < 0.7:
            shown = self.run("scope_members", tenant, ROOT, path=path, members=members)
        else:
            del self.account.members[key]
            self.account.closed.discard(key)
            shown = self.run("scope_remove", tenant, ROOT, path=path)
            assert isinstance(shown, dict), shown
            return
        assert isinstance(shown, dict), shown
        self.account.members[key] = roles

    def restrict(self) -> None:
        """Take reading away from an actor or a scope, or give it back."""
        tenant, actor, path = self.somebody()
        denied = self.random.random() < 0.4
        document = {"deny": ["scope.read.*"] if denied else []}
        if self.random.random() < 0.5:
            self.run("policy_actor_put", tenant, ROOT, actor_id=actor, document=document)
            _toggle(self.account.blind, (tenant, actor), on=denied)
        else:
            self.run("policy_scope_put", tenant, ROOT, path=path, document=document)
            _toggle(self.account.closed, (tenant, path), on=denied)

    def effective(self) -> None:
        tenant, actor, path = self.somebody()
        shown = self.run("policy_effective", tenant, actor, scope=path)
        assert ("scope.read.local" in shown["allowed"]) is self.account.reads(tenant, actor, path)


def _toggle(entries: set[Any], key: Any, *, on: bool) -> None:
    if on:
        entries.add(key)
    else:
        entries.discard(key)


def _without_placeholders(shown: Any, *, allowed: bool) -> Any:
    """The answer without what a descent says of scopes it may not enter, which is checked on the way."""
    if isinstance(shown, dict):
        if shown.get("denied") is True and "item_count" in shown:
            assert allowed
            assert set(shown) == {"scope", "denied", "item_count", "denied_reason"}
            assert not MARK.search(json.dumps(shown))
            return None
        return {key: _without_placeholders(value, allowed=allowed) for key, value in shown.items()}
    if isinstance(shown, list):
        return [_without_placeholders(each, allowed=allowed) for each in shown]
    return shown


def simulate(store: Store, seed: int, operations: int, monkeypatch: pytest.MonkeyPatch) -> Town:
    monkeypatch.setattr("lamina.app.MiniLmEmbedder", Marks)
    town = Town(store, seed)
    print(f"seed {seed}")
    while town.count < operations:
        town.step()
    town.server.pool.shutdown()
    return town


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_shows_to_whom_it_is_hidden(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    town = simulate(MemoryStore(clock=given.ManualClock()), seed, 5500, monkeypatch)
    assert town.refusals > 500
    assert len(town.homes) > 800


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_nothing_shows_on_disk_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(tmp_path, clock=given.ManualClock(), durable=False)
    town = simulate(store, 7, 2500, monkeypatch)
    assert town.refusals > 200
    town.server.close()


def test_the_simulation_would_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A town whose account hides more than the server does is found out."""
    monkeypatch.setattr(Account, "reads", lambda self, tenant, actor, path: path.type != "project")
    with pytest.raises(AssertionError):
        simulate(MemoryStore(clock=given.ManualClock()), 3, 400, monkeypatch)
