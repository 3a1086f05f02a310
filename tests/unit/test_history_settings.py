"""The settings of the Relay contract: each name is read within its bounds, or stands on a list of those that mean nothing here."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from lamina.coordination.operator_bounds import alarm_bounds, failure_bounds
from lamina.errors import Invalid
from lamina.kernel.history_settings import HISTORY_DAYS_MAX, HISTORY_ORDER, HistorySettings
from lamina.settings import Settings, load_settings
from tables import every_row

HISTORIES = """
DELIVERY_TERMINAL_RETENTION_DAYS 30, DELIVERY_HISTORY_COLD_AFTER_DAYS 90, DELIVERY_IDEMPOTENCY_RETENTION_DAYS 30, NONCE_RETENTION_DAYS 7,
PEER_TRUST_HISTORY_MAX_HOT_ENTRIES 32, PEER_TRUST_HISTORY_HOT_RETENTION_DAYS 30, PEER_TRUST_HISTORY_COLD_AFTER_DAYS 120,
REPLICATION_HISTORY_HOT_RETENTION_DAYS 14, REPLICATION_HISTORY_COLD_AFTER_DAYS 90, REPLICATION_PULL_IDEMPOTENCY_RETENTION_DAYS 14,
REPLICATION_TOMBSTONE_GRACE_DAYS 30, REPLICATION_TOMBSTONE_COLD_AFTER_DAYS 90, REPLICATION_TOMBSTONE_RETENTION_DAYS 365,
REGISTRY_HISTORY_BATCH_LIMIT 500, HANDOFF_TERMINAL_RETENTION_DAYS 30, HANDOFF_COLD_AFTER_DAYS 90, SHARED_HISTORY_HOT_RETENTION_DAYS 30,
SHARED_HISTORY_COLD_AFTER_DAYS 90, RECONCILIATION_RESOLVED_RETENTION_DAYS 30, RECONCILIATION_COLD_AFTER_DAYS 90,
TASK_DONE_HOT_RETENTION_DAYS 30, TASK_DONE_COLD_AFTER_DAYS 90, PATCH_APPLIED_HOT_RETENTION_DAYS 30, PATCH_APPLIED_COLD_AFTER_DAYS 90,
ARTIFACT_HISTORY_BATCH_LIMIT 500, JOURNAL_COLD_AFTER_DAYS 30, JOURNAL_RETENTION_DAYS 365, AUDIT_LOG_ROLLOVER_BYTES 1048576,
AUDIT_LOG_COLD_AFTER_DAYS 30, AUDIT_LOG_RETENTION_DAYS 365, OPS_RUN_ROLLOVER_BYTES 1048576, OPS_RUN_COLD_AFTER_DAYS 30,
OPS_RUN_RETENTION_DAYS 365, MESSAGE_STREAM_ROLLOVER_BYTES 1048576, MESSAGE_STREAM_MAX_HOT_DAYS 14, MESSAGE_STREAM_COLD_AFTER_DAYS 30,
MESSAGE_STREAM_RETENTION_DAYS 180, MESSAGE_THREAD_ROLLOVER_BYTES 2097152, MESSAGE_THREAD_INACTIVITY_DAYS 30,
MESSAGE_THREAD_COLD_AFTER_DAYS 60, MESSAGE_THREAD_RETENTION_DAYS 365, EPISODIC_ROLLOVER_BYTES 1048576, EPISODIC_COLD_AFTER_DAYS 30,
EPISODIC_RETENTION_DAYS 180, SEGMENT_HISTORY_BATCH_LIMIT 500
"""
"""The settings of histories as the contract counts them, with their defaults."""

OTHERS = """
TOKENS† AUDIT_LOG_ENABLED† AUTO_INIT_GIT† GIT_AUTHOR_NAME† GIT_AUTHOR_EMAIL† REPO_ROOT† REQUIRE_SIGNED_INGRESS† USE_EXTERNAL_KEY_STORE†
KEY_STORE_PATH† DOCS_SOURCE_ROOT UI_ENABLED UI_REQUIRE_LOCALHOST UI_READ_ONLY UI_SSE_POLL_INTERVAL_SECONDS MAX_PAYLOAD_BYTES†
TOKEN_RATE_LIMIT_PER_MIN† IP_RATE_LIMIT_PER_MIN† VERIFY_FAILURE_LIMIT† VERIFY_FAILURE_WINDOW_SECONDS† BACKLOG_ALARM_THRESHOLD†
VERIFICATION_ALARM_THRESHOLD† REPLICATION_DRIFT_MAX_AGE_SECONDS† CONTRACT_VERSION† COORDINATION_QUERY_SCAN_THRESHOLD MAX_JSONL_READ_BYTES
CONTINUITY_RETENTION_ARCHIVE_DAYS SCHEDULE_DUE_LIMIT SCHEDULE_UPCOMING_LIMIT SCHEDULE_UPCOMING_WINDOW_HOURS
"""
"""The rows of the contract's table; those marked have an older name, too."""

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")


def rows() -> list[tuple[str, int]]:
    return [(name, int(default)) for name, default in re.findall(r"(\w+) (\d+)", HISTORIES)]


def refused(**environment: str) -> Invalid:
    with pytest.raises(Invalid) as caught:
        load_settings(environment)
    assert caught.value.code == "INVALID_SETTING"
    return caught.value


@every_row(("name", "default"), rows())
def test_a_setting_of_histories_is_read_by_both_names_within_its_bounds(name: str, default: int) -> None:
    ours, contract = f"LAMINA_RELAY_{name}", f"COGNIRELAY_{name}"
    field, least = f"relay_{name.lower()}", 1024 if name.endswith("_BYTES") else 1
    # What it is compared with stands far off, so that its own bounds are what is tried.
    far = {f"LAMINA_{kept.upper()}": str(HISTORY_DAYS_MAX) for _, kept in HISTORY_ORDER if kept != field}
    beside = {f"LAMINA_{cold.upper()}": "1" for cold, kept in HISTORY_ORDER if kept == field}
    others = {**far, **beside}
    assert getattr(load_settings({}), field) == default
    for given in (ours, contract):
        for value in (least, default + 1):
            settings = load_settings({**others, given: str(value)})
            assert getattr(settings, field) == value
            assert getattr(settings.histories, field) == value
        for wrong in (str(least - 1), "-1", "ten", "1.5", "", "10000000000"):
            error = refused(**others, **{given: wrong})
            assert "accepted" in error.message
            assert f"{ours} or {contract}" in error.message


def test_the_settings_of_histories_are_those_of_the_contract() -> None:
    names = {f"relay_{name.lower()}" for name, _ in rows()}
    assert len(names) == 45
    assert {item.name for item in fields(HistorySettings)} == names


@every_row(
    ("cold", "kept"),
    [("REPLICATION_TOMBSTONE_COLD_AFTER_DAYS", "REPLICATION_TOMBSTONE_RETENTION_DAYS"),
     *((f"{family}_COLD_AFTER_DAYS", f"{family}_RETENTION_DAYS")
       for family in ("JOURNAL", "AUDIT_LOG", "OPS_RUN", "MESSAGE_STREAM", "MESSAGE_THREAD", "EPISODIC"))],
)  # fmt: skip
def test_what_goes_to_cold_storage_is_kept_beyond_that(cold: str, kept: str) -> None:
    most = dict(rows())[kept]
    assert load_settings({f"COGNIRELAY_{cold}": str(most)})
    error = refused(**{f"COGNIRELAY_{cold}": str(most + 1)})
    assert f"COGNIRELAY_{cold} is {most + 1}" in error.message
    assert f"COGNIRELAY_{kept}" in (error.hint or "")
    assert error.details == {"setting": f"LAMINA_RELAY_{cold}"}
    assert load_settings({f"COGNIRELAY_{cold}": str(most + 1), f"COGNIRELAY_{kept}": str(most + 1)})
    assert f"COGNIRELAY_{kept}" in refused(**{f"COGNIRELAY_{kept}": "1"}).message


@pytest.mark.parametrize("prefix", ["COGNIRELAY_", "AMR_"])
def test_refused_signatures_are_counted_as_an_operator_says(prefix: str) -> None:
    given = {f"{prefix}VERIFY_FAILURE_LIMIT": "3", f"{prefix}VERIFY_FAILURE_WINDOW_SECONDS": "60"}
    settings = load_settings(given)
    bounds, alarms = failure_bounds(settings), alarm_bounds(settings)
    assert (bounds.most, bounds.window_s, alarms.window_s) == (3, 60, 60)
    default = failure_bounds(Settings())
    assert (default.most, default.window_s) == (20, 600)
    for name, wrong in (("VERIFY_FAILURE_LIMIT", "0"), ("VERIFY_FAILURE_WINDOW_SECONDS", "59")):
        assert f"{prefix}{name}" in refused(**{f"{prefix}{name}": wrong}).message


def test_every_other_name_of_the_contract_is_read_or_said_to_mean_nothing_here() -> None:
    known = {name for item in fields(Settings) for name in item.metadata["names"]}
    _, _, without = PAGE.partition("## Names of the Relay contract that are not read")
    for word in OTHERS.split():
        name = word.rstrip("†")
        names = {f"COGNIRELAY_{name}"} | ({f"AMR_{name}"} if word.endswith("†") else set())
        assert names <= known or (not names & known and f"`{name}`" in without), name
