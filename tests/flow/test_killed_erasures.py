"""An erasure that is killed at any moment hides what it is about, goes on where it was and leaves what one leaves that nobody interrupts;
and a restore that is killed while it erases again leaves no memory at all, or that one.

``ERASURE_KILLS=50`` kills so many of each.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backups import backed_up
from forks import ran
from given import ALICE, BOB, NOON, TENANT, ManualClock, append
from lamina.forget.ending import listed_of
from lamina.forget.planning import place_of_erasure
from lamina.forget.receipts import verify_erasure
from lamina.kernel.erasure_rules import ErasureRules
from lamina.kernel.events import Directives, Party
from lamina.kernel.ids import Prefix, RandomIds
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SystemClock
from lamina.store.backups.tombstones import TombstoneFile
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.erasures import ErasureJob
from lamina.store.sqlite import SqliteStore
from told import Memory

ROUNDS = int(os.environ.get("ERASURE_KILLS", "3"))
SAID = 60
CANARY = "zoo of xyzzy"
"""Words of both, which are erased with all that Alice said, and by themselves of what Bob did."""
SCRIPT = Path(__file__).parents[1] / "killed_erasures.py"
ERASURE, BEGUN = (RandomIds().stamped(Prefix.ERASURE, NOON) for _ in range(2))
CAROL = Scope("org:acme/user:carol")


@pytest.fixture(scope="module")
def memory_of_both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Alice's memory, of which some was sent to Bob's; and documents of both."""
    folder = tmp_path_factory.mktemp("told") / "data"
    store = SqliteStore(folder, durable=False)
    memory = Memory(store, ManualClock(SystemClock().now()))
    for number in range(SAID):
        for scope, who in ((ALICE, "user:alice"), (BOB, "user:bob")):
            party = Party(who, "user", who.removeprefix("user:").capitalize())
            text = f"I like dish {number}." if number % 3 else f"I live in Town{number}, near the {CANARY}."
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
    store.close()
    return folder


def erasure_of(scope: Scope = ALICE, erasure_id: str = ERASURE) -> ErasureJob:
    return ErasureJob(
        tenant_id=TENANT,
        id=erasure_id,
        scope=scope,
        place=place_of_erasure(erasure_id, scope, ErasureRules()),
        requested_by="user:alice",
        audit_note="case 1",
        started_at=NOON,
        crosses=True,
    )


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
        {table: rows[table] for table in ("text_row", "mention", "entity")},
        records_of_bob(store) & before,
    )
    store.close()
    return found


def records_of_bob(store: SqliteStore) -> set[str]:
    return {row[1] for table, row in store.snapshot() if table == "record" and BOB in row}


def killed(work: str, data: Path) -> None:
    """Do a work whole and in ``ROUNDS`` processes that are killed."""
    done = ran(str(SCRIPT), work, str(data), str(ROUNDS), "7", seconds=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    if ROUNDS > 10:
        print(done.stdout)
    assert done.stdout.count("\n") == ROUNDS


def compared(folder: Path, before: set[str]) -> None:
    """What the rounds left is what is left where nobody interrupted."""
    whole = left_in(folder / "whole", before)
    assert whole[0] == "completed"
    assert whole[3][2:] == ({}, [], True), "what a receipt says"
    for number in range(ROUNDS):
        assert left_in(folder / f"round-{number}", before) == whole, number


def test_killed_at_any_moment_it_goes_on(memory_of_both: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(memory_of_both, data)
    store = SqliteStore(data, durable=False)
    before = records_of_bob(store)
    store.erasures.begin(erasure_of())
    store.close()
    (tmp_path / "of_bob").write_text(str(SAID))
    killed("erase", data)
    compared(tmp_path, before)


def test_a_restore_killed_while_it_erases_again_leaves_nothing_or_all(
    memory_of_both: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(memory_of_both, data)
    store = SqliteStore(data, durable=False)
    append(store, *(f"{number} at the {CANARY}" for number in range(6)), scope=CAROL, caller="user:carol")
    store.erasures.begin(erasure_of(CAROL, BEGUN))
    backed_up(data)  # of Carol's erasure, which is under way, too
    before = records_of_bob(store)
    his = [each for each in store.log.walk(TENANT, 0, 10_000) if each.scope == BOB]
    canaries = tuple(each.id for each in his if CANARY in str(each.content))
    store.close()
    alice = listed_of(erasure_of())
    listed = TombstoneFile(tmp_path / "tombstones.jsonl")
    listed.append(replace(alice, id="aud_1", cascade="redact_events", scope=BOB, events=canaries))
    listed.append(alice)
    (tmp_path / "of_bob").write_text(str(SAID - len(canaries)))
    killed("restore", data)
    compared(tmp_path, before)
    for name in ("whole", *(f"round-{number}" for number in range(ROUNDS))):
        files = [path for path in (tmp_path / name).rglob("*") if path.is_file()]
        assert [path for path in files if CANARY.encode() in path.read_bytes()] == []
        assert not (tmp_path / name / "restoring").exists()
        store = SqliteStore(tmp_path / name, durable=False)
        begun = store.erasures.get(TENANT, BEGUN)
        assert begun is not None
        assert (begun.status, begun.outcome.deleted_events) == ("completed", 6)
        store.close()
