"""An erasure that is killed at any moment hides what it is about, goes on where it was and leaves what one leaves that nobody interrupts.

``ERASURE_KILLS=50`` kills so many.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from given import ALICE, BOB, NOON, TENANT, ManualClock, append
from lamina.forget.planning import place_of_erasure
from lamina.forget.receipts import verify_erasure
from lamina.kernel.erasure_rules import ErasureRules
from lamina.kernel.events import Directives, Party
from lamina.kernel.ids import Prefix, RandomIds
from lamina.kernel.time import SystemClock
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.erasures import ErasureJob
from lamina.store.sqlite import SqliteStore
from told import Memory

ROUNDS = int(os.environ.get("ERASURE_KILLS", "3"))
SAID = 60
SCRIPT = Path(__file__).parents[1] / "killed_erasures.py"
ERASURE = RandomIds().stamped(Prefix.ERASURE, NOON)


def prepared(folder: Path) -> set[str]:
    """Alice's memory, of which some was sent to Bob's; documents of both; and an erasure of hers that has begun. The ids of Bob's records."""
    store = SqliteStore(folder, durable=False)
    memory = Memory(store, ManualClock(SystemClock().now()))
    for number in range(SAID):
        for scope, who in ((ALICE, "user:alice"), (BOB, "user:bob")):
            party = Party(who, "user", who.removeprefix("user:").capitalize())
            text = f"I like dish {number}." if number % 3 else f"I live in Town{number}."
            append(
                store,
                text,
                content={"kind": "message", "role": "user", "text": text},
                scope=scope,
                observed_actor=party,
                subject=party,
                caller=who,
                session="s-1",
                directives=Directives(consolidate_into=BOB if scope == ALICE and number % 5 == 0 else None),
            )
        change = Change(f"memory/n{number % 20}.md", ChangeKind.PUT, f"note {number}".encode())
        author = "user:alice" if number % 2 else "user:bob"
        store.documents.write([Write(tenant_id=TENANT, author=author, message="m", changes=[change])])
    memory.derive()
    (folder / "of_bob").write_text(str(sum(each.scope == BOB for each in store.log.walk(TENANT, 0, 10_000))))
    job = ErasureJob(
        tenant_id=TENANT,
        id=ERASURE,
        scope=ALICE,
        place=place_of_erasure(ERASURE, ALICE, ErasureRules()),
        requested_by="user:alice",
        audit_note="case 1",
        started_at=NOON,
        crosses=True,
    )
    store.erasures.begin(job)
    held = records_of_bob(store)
    store.close()
    return held


def left_in(folder: Path, before: set[str]) -> tuple[Any, ...]:
    """What stands once the erasure is over, but for ids and times that chance gave: of Bob's records those of ``before``."""
    store = SqliteStore(folder, durable=False)
    done = store.erasures.get(TENANT, ERASURE)
    assert done is not None
    events = [each for each in store.log.walk(TENANT, 0, 10_000) if not each.is_entry]
    receipt = verify_erasure(store, TENANT, ERASURE, NOON)
    rows = Counter(table for table, _ in store.snapshot())
    found = (
        done.status,
        [(each.id, each.redacted_by, each.content) for each in events],
        {each.path for each in store.documents.below(TENANT, "", with_content=False)},
        (receipt.gone, receipt.redacted_events, receipt.found, receipt.leftovers, receipt.clean),
        [row.draft.endpoint for row in store.audit.walk(TENANT, 0, 1000)].count("erasure"),
        {table: rows[table] for table in ("text", "vector", "mention", "entity")},
        records_of_bob(store) & before,
    )
    store.close()
    return found


def records_of_bob(store: SqliteStore) -> set[str]:
    return {row[1] for table, row in store.snapshot() if table == "record" and BOB in row}


def test_killed_at_any_moment_it_goes_on(tmp_path: Path) -> None:
    data = tmp_path / "data"
    before = prepared(data)
    paths = {**os.environ, "PYTHONPATH": ":".join([str(SCRIPT.parent), *sys.path])}
    command = [sys.executable, str(SCRIPT), str(data), str(ROUNDS), "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1200, env=paths)
    assert done.returncode == 0, done.stdout + done.stderr
    if ROUNDS > 10:
        print(done.stdout)
    assert done.stdout.count("\n") == ROUNDS
    whole = left_in(tmp_path / "whole", before)
    assert whole[0] == "completed"
    for number in range(ROUNDS):
        assert left_in(tmp_path / f"round-{number}", before) == whole, number
