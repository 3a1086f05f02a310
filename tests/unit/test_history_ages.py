"""The jobs over histories go by what an operator chose: each setting moves what it names, and nothing else."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from capsules import NOW
from given import ManualClock
from lamina.coordination.operators.artifact_units import ArtifactPasses, MoveArtifacts
from lamina.coordination.operators.histories import HistoryFamily, MoveToCold, StoredHistory
from lamina.coordination.operators.segment_requests import MaintainSegments, StoreSegments
from lamina.coordination.operators.segmenting import SegmentHistory
from lamina.coordination.operators.segments import log_ages
from lamina.kernel.history_settings import HistorySettings
from lamina.kernel.operations import Call, Principal
from lamina.kernel.time import SECOND_US, to_datetime
from lamina.store.memory import MemoryStore
from lamina.store.ports.documents import Change, ChangeKind, Write
from shelves import TENANT, Everything

DAY = 86_400 * SECOND_US


class Shelf:
    """Documents, and jobs over them as an operator's call runs them."""

    def __init__(self) -> None:
        self.clock = ManualClock(NOW)
        self.documents = MemoryStore(clock=self.clock).documents

    def put(self, path: str, content: bytes) -> None:
        change = Change(path, ChangeKind.PUT, content)
        self.documents.write([Write(tenant_id=TENANT, author="agent:kim", message="put", changes=[change])])

    def wait(self, days: int) -> None:
        self.clock.at += days * DAY

    @property
    def call(self) -> Call:
        operator = Principal(TENANT, "agent:kim", "http")
        return Call(principal=operator, request_id="r", now=self.clock.now(), permits=Everything())


def chosen(**settings: int) -> HistorySettings:
    return HistorySettings(**{f"relay_{name}": value for name, value in settings.items()})


# ---- artifacts

ENDED = {
    "handoff": ("memory/coordination/handoffs/a.json", {"recipient_status": "rejected"}),
    "reconciliation": ("memory/coordination/reconciliations/a.json", {"status": "resolved"}),
    "task_done": ("tasks/done/a.json", {"status": "done"}),
    "patch_applied": ("patches/applied/a.json", {"status": "applied"}),
}


@pytest.mark.parametrize(
    ("family", "setting"),
    [
        ("handoff", "handoff_terminal_retention_days"),
        ("reconciliation", "reconciliation_resolved_retention_days"),
        ("task_done", "task_done_hot_retention_days"),
        ("patch_applied", "patch_applied_hot_retention_days"),
    ],
)
def test_artifacts_of_one_kind_leave_after_the_days_of_its_setting(family: str, setting: str) -> None:
    shelf = Shelf()
    for path, value in ENDED.values():
        shelf.put(path, json.dumps(value).encode())
    passes = ArtifactPasses(shelf.documents, chosen(**{setting: 1}))
    assert moved(passes.move(MoveArtifacts(), shelf.call)) == []
    shelf.wait(2)
    assert moved(passes.move(MoveArtifacts(), shelf.call)) == [family]
    assert shelf.documents.read(TENANT, ENDED[family][0]) is None


def moved(answer: Any) -> list[str]:
    return [unit.split("__")[0] for unit in answer.result.history_ids]


def test_all_that_leave_in_one_run_have_numbers_of_their_own() -> None:
    shelf = Shelf()
    for number in range(3):
        shelf.put(f"tasks/done/{number}.json", b'{"status": "done"}')
    shelf.put("memory/episodic/a.jsonl", b"." * 1024)
    shelf.wait(31)
    done: Any = ArtifactPasses(shelf.documents, HistorySettings()).move(MoveArtifacts(), shelf.call).result
    assert ([unit[-4:] for unit in done.history_ids], done.warnings) == (["0001", "0002", "0003"], [])
    segments = SegmentHistory(shelf.documents, chosen(episodic_rollover_bytes=1024))
    numbers = []
    for _ in range(2):
        rolls: Any = segments.maintain(MaintainSegments(), shelf.call).result
        numbers += [segment[-4:] for segment in rolls.rolled_segment_ids]
        shelf.put("memory/episodic/a.jsonl", b"." * 1024)
    assert numbers == ["0001", "0002"]


# ---- cold storage of units

UNITS = {
    "handoff": ("artifact", "memory/coordination/handoffs/history", "handoff_cold_after_days"),
    "shared_history": ("artifact", "memory/coordination/shared/history", "shared_history_cold_after_days"),
    "reconciliation": ("artifact", "memory/coordination/reconciliations/history", "reconciliation_cold_after_days"),
    "task_done": ("artifact", "tasks/history/done", "task_done_cold_after_days"),
    "patch_applied": ("artifact", "patches/history/applied", "patch_applied_cold_after_days"),
    "delivery": ("registry", "messages/state/history/delivery", "delivery_history_cold_after_days"),
    "peer_trust": ("registry", "peers/history/trust", "peer_trust_history_cold_after_days"),
    "replication_state": ("registry", "peers/history/replication_state", "replication_history_cold_after_days"),
    "replication_tombstones": ("registry", "peers/history/tombstones", "replication_tombstone_cold_after_days"),
}  # fmt: skip


def put_unit(shelf: Shelf, kind: str, number: int = 1) -> None:
    family, folder, _ = UNITS[kind]
    unit = f"{kind}__{to_datetime(shelf.clock.at):%Y%m%dT%H%M%SZ}__{number:04}"
    stub = {"schema_type": f"{family}_history_stub", "payload_path": f"{folder}/{unit}.json"}
    shelf.put(f"{folder}/{unit}.json", b"{}")
    shelf.put(f"{folder}/index/{unit}.json", json.dumps(stub).encode())


@pytest.mark.parametrize("kind", UNITS)
def test_units_of_one_kind_go_cold_after_the_days_of_its_setting(kind: str) -> None:
    shelf = Shelf()
    for each in (*UNITS, kind):
        put_unit(shelf, each)
    family: HistoryFamily = UNITS[kind][0]  # type: ignore[assignment] # a text of the table
    history = StoredHistory(shelf.documents, family, chosen(**{UNITS[kind][2]: 1}))
    assert moved(history.store(MoveToCold(), shelf.call)) == []
    shelf.wait(2)
    put_unit(shelf, kind)  # too young
    assert moved(history.store(MoveToCold(), shelf.call)) == [kind]
    assert moved(history.store(MoveToCold(), shelf.call)) == []
    cold = [path.path for path in shelf.documents.below(TENANT, "") if "/cold/" in path.path]
    assert [path.rpartition("/cold/")[0] for path in cold] == [UNITS[kind][1]]


def test_a_unit_that_cannot_go_cold_is_told_of_and_keeps_no_other_back() -> None:
    shelf = Shelf()
    put_unit(shelf, "task_done", 1)
    put_unit(shelf, "task_done", 2)
    put_unit(shelf, "task_done", 3)
    (first, *_) = [each.path for each in shelf.documents.below(TENANT, "tasks/history/done/index/")]
    shelf.put(first, b"[]")
    shelf.wait(91)
    history = StoredHistory(shelf.documents, "artifact", chosen(artifact_history_batch_limit=2))
    done: Any = history.store(MoveToCold(), shelf.call).result
    assert (done.selection_count, done.cold_stored_count, done.batch_limit_reached) == (2, 1, True)
    (warning,) = done.warnings
    assert warning.startswith("history_not_cold_stored:INVALID_HISTORY:tasks/history/done/task_done__")


# ---- logs

LOGS = {
    "journal": "journal/2020/2020-01-01.md",
    "api_audit": "logs/api_audit.jsonl",
    "ops_runs": "logs/ops_runs.jsonl",
    "message_stream": "messages/inbox/bo.jsonl",
    "message_thread": "messages/threads/t.jsonl",
    "episodic": "memory/episodic/a.jsonl",
}
NAMES = {"api_audit": "audit_log", "ops_runs": "ops_run"}
AGES = [
    *(
        (family, "bytes_max", f"{NAMES.get(family, family)}_rollover_bytes")
        for family in LOGS
        if family != "journal"
    ),
    *((family, "cold_after_days", f"{NAMES.get(family, family)}_cold_after_days") for family in LOGS),
    ("message_stream", "idle_days", "message_stream_max_hot_days"),
    ("message_thread", "idle_days", "message_thread_inactivity_days"),
]


@pytest.mark.parametrize(("family", "field", "setting"), AGES)
def test_a_setting_of_logs_is_that_of_its_family_alone(family: str, field: str, setting: str) -> None:
    default = {name: asdict(ages) for name, ages in log_ages(HistorySettings()).items()}
    changed = {name: asdict(ages) for name, ages in log_ages(chosen(**{setting: 7777})).items()}
    assert changed == {**default, family: {**default[family], field: 7777}}


def rolled(answer: Any) -> list[str]:
    return sorted(segment.split("__")[0] for segment in answer.result.rolled_segment_ids)


def cold(answer: Any) -> list[str]:
    return sorted(segment.split("__")[0] for segment in answer.result.cold_segment_ids)


@pytest.mark.parametrize(
    ("family", "setting"),
    [("message_stream", "message_stream_max_hot_days"), ("message_thread", "message_thread_inactivity_days")],
)
def test_logs_of_messages_leave_after_the_days_of_their_setting(family: str, setting: str) -> None:
    shelf = Shelf()
    for each in ("message_stream", "message_thread"):
        shelf.put(LOGS[each], b"{}\n")
    segments = SegmentHistory(shelf.documents, chosen(**{setting: 1}))
    assert rolled(segments.maintain(MaintainSegments(), shelf.call)) == []
    shelf.wait(2)
    assert rolled(segments.maintain(MaintainSegments(), shelf.call)) == [family]


@pytest.mark.parametrize("family", [family for family in LOGS if family != "journal"])
def test_logs_leave_from_the_bytes_of_their_setting_on(family: str) -> None:
    shelf = Shelf()
    for path in LOGS.values():
        shelf.put(path, b"." * 1023 + b"\n")
    default = SegmentHistory(shelf.documents, HistorySettings())
    assert rolled(default.maintain(MaintainSegments(), shelf.call)) == ["journal"]  # a page of another day
    setting = f"{NAMES.get(family, family)}_rollover_bytes"
    segments = SegmentHistory(shelf.documents, chosen(**{setting: 1024}))
    assert rolled(segments.maintain(MaintainSegments(), shelf.call)) == [family]


@pytest.mark.parametrize("family", LOGS)
def test_segments_go_cold_after_the_days_of_their_setting(family: str) -> None:
    shelf = Shelf()
    for path in LOGS.values():
        shelf.put(path, b"{}\n")
    setting = f"{NAMES.get(family, family)}_cold_after_days"
    once = chosen(message_stream_max_hot_days=1, message_thread_inactivity_days=1, **{setting: 1})
    segments = SegmentHistory(shelf.documents, once)
    shelf.wait(2)
    assert rolled(segments.maintain(MaintainSegments(), shelf.call)) == sorted(LOGS)
    assert cold(segments.store(StoreSegments(), shelf.call)) == []
    shelf.wait(2)
    assert cold(segments.store(StoreSegments(), shelf.call)) == [family]


def test_a_run_takes_as_many_as_its_setting_says_unless_it_says_so_itself() -> None:
    shelf = Shelf()
    for number in range(4):
        shelf.put(f"journal/2020/2020-01-0{number + 1}.md", b"a day\n")
        shelf.put(f"tasks/done/{number}.json", b'{"status": "done"}')
    shelf.wait(31)
    few = chosen(segment_history_batch_limit=2, artifact_history_batch_limit=1)
    segments, passes = SegmentHistory(shelf.documents, few), ArtifactPasses(shelf.documents, few)
    first: Any = segments.maintain(MaintainSegments(), shelf.call).result
    assert (first.rolled_count, first.batch_limit_reached) == (2, True)
    second: Any = segments.maintain(MaintainSegments(batch_limit=1), shelf.call).result
    assert (second.rolled_count, second.batch_limit_reached) == (1, True)
    assert len(moved(passes.move(MoveArtifacts(), shelf.call))) == 1
    assert len(moved(passes.move(MoveArtifacts(batch_limit=2), shelf.call))) == 2
    shelf.wait(31)
    stored: Any = segments.store(StoreSegments(), shelf.call).result
    assert (stored.cold_stored_count, stored.batch_limit_reached) == (2, True)
    for _ in range(2):
        put_unit(shelf, "delivery", 1)
        put_unit(shelf, "peer_trust", 1)
        shelf.wait(1)
    shelf.wait(200)
    registry = StoredHistory(shelf.documents, "registry", chosen(registry_history_batch_limit=3))
    assert len(moved(registry.store(MoveToCold(), shelf.call))) == 3
    assert len(moved(registry.store(MoveToCold(batch_limit=1), shelf.call))) == 1
