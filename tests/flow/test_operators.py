"""Operators' calls of the Relay contract: figures with alarms, plans of compaction, and jobs of this machine."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import Any

import pytest

from lamina.coordination.operators import bounds
from lamina.coordination.operators.jobs import JOBS
from lamina.kernel.time import SECOND_US
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.job_runs import JobRun

RUN = "/v1/ops/run"


def put(world: Any, path: str, value: Any) -> None:
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    change = Change(path, ChangeKind.PUT, content)
    world.store.documents.write([Write(tenant_id="acme", author="user:a", message="put", changes=[change])])


def run(world: Any, job_id: str, **more: Any) -> tuple[int, Any]:
    response = world.call("POST", RUN, body={"job_id": job_id, **more})
    said = response.json()
    return response.status_code, said.get("error_code") or said


# ---- figures


def test_figures_count_calls_and_checks_and_name_what_cannot_be_read(world: Any) -> None:
    put(world, "runs/checks/one.json", {"profile": "unit", "status": "passed"})
    put(world, "runs/checks/two.json", {"profile": "unit", "status": "passed"})
    put(world, "runs/checks/bad.json", b"no json")
    world.get("/v1/peers")
    world.call("GET", "/v1/peers")
    world.store.audit.flush()
    said = world.get("/v1/metrics")
    assert said["checks"] == {"summary": {"unit:passed": 2}, "artifact_count": 3}
    assert (said["degraded"], said["warnings"]) == (True, ["check_unreadable:runs/checks/bad.json"])
    assert said["audit"]["event_counts"]["peers_list"] == 2
    assert sum(said["audit"]["peer_counts"].values()) == 2
    assert said["delivery"]["ack_success_ratio"] == 1.0
    assert said["alarms"] == []


def test_a_source_that_was_not_pulled_for_long_is_an_alarm(make_world: Any) -> None:
    world = make_world(relay_alarm_drift_s=60, relay_verify_failure_window_s=60)
    put(world, "peers/replication_state.json", {
        "last_pull_by_source": {"old": {"pulled_at": "2026-05-13T11:58:59Z"}, "new": "2026-05-13T11:59:01Z"},
    })  # fmt: skip
    said = world.get("/v1/metrics")
    (alarm,) = said["alarms"]
    assert (alarm["type"], alarm["severity"], alarm["source_peer"]) == ("replication_drift", "warning", "old")
    assert said["security"]["verification_failure_window_seconds"] == 60


# ---- plans


def test_a_plan_of_compaction_is_two_files_and_changes_nothing_else(world: Any) -> None:
    put(world, "memory/core/identity.md", b"I am Kim.")
    put(world, "memory/episodic/old.jsonl", b"x" * 4000)
    put(world, "projects/plan.md", b"our values")
    put(world, "memory/continuity/thread-a.json", {})
    before = {each.path for each in world.store.documents.below("acme", "")}
    world.clock.at += 40 * 24 * 3600 * SECOND_US
    status, made = 200, world.call("POST", "/v1/compact/run", body={"note": "now"}).json()
    again = world.call("POST", "/v1/compact/run", body={}).json()
    assert (status, made["planner_only"], made["committed_files"]) == (200, True, made["paths"])
    assert made["report_id"] != again["report_id"]
    after = {each.path for each in world.store.documents.below("acme", "")}
    assert after - before == {*made["paths"], *again["paths"]}
    report = json.loads(world.get(f"/v1/read?path={made['paths'][1]}")["content"])
    listed = {action: [each["path"] for each in files] for action, files in report["actions"].items()}
    assert listed == {
        "summarize_now": ["memory/episodic/old.jsonl", "projects/plan.md"],
        "archive_after_summary": ["memory/episodic/old.jsonl"],
        "promote_to_core_candidates": ["projects/plan.md"],
        "keep_hot": ["memory/core/identity.md"],
        "review_manually": [],
    }
    assert report["summary_counts"] == made["summary_counts"]
    assert world.store.documents.head("acme").message == f"memory: add compaction {again['report_id']}"
    # What is planned is nobody's memory.
    assert world.store.log.walk("acme", 0, 10) == []


# ---- jobs


def test_the_catalogue_lists_the_jobs_whose_operation_is_served(world: Any) -> None:
    said = world.get("/v1/ops/catalog")
    served = {operation.name for operation in world.server.operations}
    assert [job["job_id"] for job in said["jobs"]] == [
        job_id for job_id, job in JOBS.items() if job.operation in served
    ]
    assert {"security.rotation_check", "compact.plan", "continuity_cold_store"} <= {
        job["job_id"] for job in said["jobs"]
    }
    assert all(job["local_only"] and job["request_schema"]["type"] == "object" for job in said["jobs"])


def test_a_run_is_kept_with_what_came_of_it_and_the_newest_stands_for_its_job(world: Any) -> None:
    status, ran = run(world, "security.rotation_check", arguments={"lookahead_hours": 48})
    assert (status, ran["status"], ran["job_result"]["lookahead_hours"]) == (200, "succeeded", 48)
    world.clock.at += SECOND_US
    rehearsed = run(world, "security.rotation_check", dry_run=True, arguments={"lookahead_hours": 2})[1]
    assert rehearsed["job_result"]["planned_arguments"] == {"lookahead_hours": 2}
    world.clock.at += SECOND_US
    missing = {"source_archive_path": "memory/continuity/archive/nothing.json"}
    status, _ = run(world, "continuity_cold_store", arguments=missing)
    assert status >= 400
    said = world.get("/v1/ops/status?limit=2")
    assert [(each["job_id"], each["status"], each["dry_run"]) for each in said["recent_runs"]] == [
        ("continuity_cold_store", "failed", False),
        ("security.rotation_check", "succeeded", True),
    ]
    assert said["recent_runs"][0]["error"]
    assert said["last_by_job"]["security.rotation_check"]["run_id"] == ran["run_id"]
    assert said["active_locks"] == []


def test_a_lock_refuses_its_job_alone_and_ends_with_its_time(world: Any) -> None:
    until = world.clock.at + int(bounds.OPS_LEASE_S * SECOND_US)
    world.store.job_runs.begin(
        JobRun(
            tenant_id="acme", run_id="ops_dead", job_id="security.rotation_check", status="running",
            started_at=world.clock.at, lease_until=until,
        )
    )  # fmt: skip
    assert run(world, "security.rotation_check") == (409, "JOB_RUNNING")
    assert run(world, "metrics.poll_and_alarm_eval")[0] == 200
    (lock,) = world.get("/v1/ops/status")["active_locks"]
    assert (lock["run_id"], lock["expires_at"] > lock["started_at"]) == ("ops_dead", True)
    world.clock.at = until
    assert world.get("/v1/ops/status")["active_locks"] == []
    assert run(world, "security.rotation_check")[0] == 200


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"job_id": "rm"}, (422, "UNKNOWN_JOB")),
        ({"job_id": "security.rotation_check", "arguments": {"lookahead_hours": 0}}, (400, "INVALID_JOB_ARGUMENTS")),
        ({"job_id": "security.rotation_check", "arguments": {"colour": 1}}, (400, "INVALID_JOB_ARGUMENTS")),
    ],
)  # fmt: skip
def test_what_is_no_job_or_not_what_it_takes_is_refused_and_not_kept(
    world: Any, body: dict[str, Any], refusal: tuple[int, str]
) -> None:
    assert run(world, **body) == refusal
    assert world.get("/v1/ops/status")["recent_runs"] == []


def test_a_caller_from_elsewhere_is_refused_whatever_it_holds(world: Any) -> None:
    through = {"X-Forwarded-For": "8.8.8.8"}
    for verb, path in (("GET", "/v1/ops/catalog"), ("GET", "/v1/ops/status"), ("POST", RUN)):
        body = {"job_id": "security.rotation_check"} if verb == "POST" else None
        refused = world.call(verb, path, body=body, headers=through)
        assert (refused.status_code, refused.json()["error_code"]) == (403, "LOCAL_ONLY")


def test_schedules_are_files_that_a_shell_reads(world: Any) -> None:
    systemd = world.get("/v1/ops/schedule/export?format=systemd")
    assert set(systemd["jobs"]) <= set(JOBS)
    timers = [text for name, text in systemd["examples"].items() if name.endswith(".timer")]
    assert len(timers) == len(systemd["jobs"])
    assert all("[Timer]\nOnCalendar=" in text for text in timers)
    runner = systemd["examples"]["/usr/local/bin/lamina-job"]
    assert subprocess.run(["sh", "-n"], input=runner, text=True, check=False).returncode == 0
    cron = world.get("/v1/ops/schedule/export?format=cron")["examples"]["/etc/cron.d/lamina"]
    lines = [shlex.split(line) for line in cron.splitlines()[1:]]
    assert [line[-1] for line in lines] == systemd["jobs"]
    assert (
        world.call("GET", "/v1/ops/schedule/export?format=at").json()["error_code"] == "INVALID_JOB_SCHEDULE"
    )


def test_a_runner_asks_the_server_that_wrote_it(make_world: Any) -> None:
    world = make_world(host="::1", port=9100)
    for form in ("systemd", "cron"):
        files = world.get(f"/v1/ops/schedule/export?format={form}")["examples"]
        assert 'URL="${LAMINA_URL:-http://[::1]:9100}"' in files["/usr/local/bin/lamina-job"]


def test_deliveries_are_counted_by_state_and_recipient_and_a_backlog_is_an_alarm(make_world: Any) -> None:
    world = make_world(relay_alarm_backlog=2)
    for number, timeout in enumerate((60, 3600, 3600)):
        message = {
            "thread_id": "t", "sender": "dev", "recipient": "bo", "subject": "hello", "body_md": str(number),
            "delivery": {"requires_ack": True, "ack_timeout_seconds": timeout},
        }  # fmt: skip
        sender = world.get("/v1/auth/whoami")["caller"].removeprefix("agent:")
        sent = world.call("POST", "/v1/messages/send", body=message | {"sender": sender})
        assert sent.status_code == 200, sent.text
    world.clock.at += 120 * SECOND_US
    said = world.get("/v1/metrics")
    assert said["delivery"]["summary"] == {"dead_letter": 1, "pending_ack": 2}
    assert said["delivery"]["by_recipient"] == {
        "bo": {"total": 3, "pending": 2, "acked": 0, "dead_letter": 1}
    }
    assert (said["delivery"]["backlog_depth"], said["delivery"]["ack_success_ratio"]) == (2, 0.0)
    assert [alarm["type"] for alarm in said["alarms"]] == ["delivery_backlog_growth"]


def test_dead_letters_are_swept_and_one_that_cannot_be_sent_ends_nothing(world: Any) -> None:
    sender = world.get("/v1/auth/whoami")["caller"].removeprefix("agent:")
    for number, retries in enumerate((2, 0)):
        message = {
            "thread_id": "t", "sender": sender, "recipient": "bo", "subject": "hello", "body_md": str(number),
            "delivery": {"requires_ack": True, "ack_timeout_seconds": 60, "max_retries": retries},
        }  # fmt: skip
        assert world.call("POST", "/v1/messages/send", body=message).status_code == 200
    world.clock.at += 120 * SECOND_US
    swept = run(world, "messages.replay_dead_letter_sweep")[1]["job_result"]
    assert (swept["scanned"], len(swept["replayed"])) == (2, 1)
    assert list(swept["failed"].values()) == ["RETRIES_USED_UP"]


UNIT = "tasks/history/done/task_done__20260513T120000Z__0001"
STUB = "tasks/history/done/index/task_done__20260513T120000Z__0001.json"


def test_a_unit_of_history_goes_to_cold_storage_and_comes_back_to_the_byte(world: Any) -> None:
    put(world, f"{UNIT}.json", b'{"a":  1}')
    put(world, STUB, {"schema_type": "artifact_history_stub", "payload_path": f"{UNIT}.json", "summary": "s"})
    wanted = {"source_payload_path": f"{UNIT}.json"}
    moved = run(world, "artifact_history_cold_store", arguments=wanted)[1]["job_result"]
    stands = {each.path for each in world.store.documents.below("acme", "tasks")}
    assert stands == {moved["cold_path"], STUB}
    stub = json.loads(world.store.documents.read("acme", STUB).content)
    assert (stub["payload_path"], stub["summary"]) == (moved["cold_path"], "s")
    assert run(world, "artifact_history_cold_store", arguments=wanted) == (404, "HISTORY_NOT_FOUND")
    back = run(world, "artifact_history_cold_rehydrate", arguments={"cold_stub_path": STUB})[1]["job_result"]
    assert back["payload_path"] == f"{UNIT}.json"
    assert world.store.documents.read("acme", f"{UNIT}.json").content == b'{"a":  1}'
    assert world.store.documents.read("acme", moved["cold_path"]) is None


def test_what_is_no_unit_of_the_history_is_not_moved(world: Any) -> None:
    put(world, f"{UNIT}.json", b"{}")
    put(world, STUB, {"schema_type": "artifact_history_stub", "payload_path": "elsewhere.json"})
    put(world, "memory/core/a.md", b"mine")
    for job_id, path, refusal in (
        ("artifact_history_cold_store", f"{UNIT}.json", (409, "HISTORY_CONFLICT")),
        ("registry_history_cold_store", f"{UNIT}.json", (400, "INVALID_HISTORY")),
        ("artifact_history_cold_store", "memory/core/a.md", (400, "INVALID_HISTORY")),
        ("artifact_history_cold_store", "tasks/history/done/../../../x.json", (400, "INVALID_HISTORY")),
    ):
        assert run(world, job_id, arguments={"source_payload_path": path}) == refusal
    assert run(world, "artifact_history_cold_rehydrate") == (400, "INVALID_JOB_ARGUMENTS")
    assert len(world.store.documents.below("acme", "")) == 3


def test_artifacts_that_ended_become_units_that_go_to_cold_storage(make_world: Any) -> None:
    world = make_world(relay_task_done_hot_retention_days=1, relay_task_done_cold_after_days=2)
    caller = world.get("/v1/auth/whoami")["caller"]
    for task_id, status in (("over", "done"), ("under-way", "in_progress")):
        task = {"task_id": task_id, "title": task_id, "owner_peer": caller, "status": "open"}
        assert world.call("POST", "/v1/tasks", body=task).status_code == 200
        assert world.call("PATCH", f"/v1/tasks/{task_id}", body={"status": status}).status_code == 200
    put(world, "tasks/done/damaged.json", b"{")
    assert run(world, "artifact_history_maintenance")[1]["job_result"]["history_ids"] == []
    world.clock.at += (24 * 3600 + 1) * SECOND_US
    moved = run(world, "artifact_history_maintenance", arguments={"family": "task_done"})[1]["job_result"]
    (unit,) = moved["history_ids"]
    path = f"tasks/history/done/{unit}.json"
    kept = json.loads(world.store.documents.read("acme", path).content)
    assert (kept["schema_type"], kept["source_path"], kept["artifact"]["task_id"]) == (
        "task_done_history_unit", "tasks/done/over.json", "over",
    )  # fmt: skip
    assert {each.path for each in world.store.documents.below("acme", "tasks")} == {
        path, f"tasks/history/done/index/{unit}.json", "tasks/open/under-way.json", "tasks/done/damaged.json",
    }  # fmt: skip
    # Whoever wrote it is still who an erasure asks for, and the jobs of cold storage know the unit.
    assert path in world.store.traces.owned("acme", [caller]).paths
    assert run(world, "artifact_history_cold_store")[1]["job_result"]["history_ids"] == []
    world.clock.at += 2 * 24 * 3600 * SECOND_US
    assert run(world, "artifact_history_cold_store")[1]["job_result"]["history_ids"] == [unit]
    both = {"source_payload_path": path, "batch_limit": 1}
    assert run(world, "artifact_history_cold_store", arguments=both) == (400, "INVALID_JOB_ARGUMENTS")
    again = run(world, "artifact_history_maintenance", arguments={"family": "task_done"})[1]["job_result"]
    assert (again["selection_count"], again["batch_limit_reached"]) == (0, False)
