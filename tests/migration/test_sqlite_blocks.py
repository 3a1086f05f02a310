"""The SQL of the embedded engine: every block is used, keeps to its tenant, and the hot ones use an index."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

import apsw
import pytest

from lamina import limits
from lamina.store.blocks import load_blocks
from lamina.store.rows import Row
from lamina.store.sqlite.claims import due_jobs
from lamina.store.sqlite.codec import ALL_STAGES
from lamina.store.sqlite.connection import open_connection
from lamina.store.sqlite.migrate import migrate
from tables import every_row

PACKAGE = "lamina.store.sqlite"
BLOCKS = load_blocks(PACKAGE)

ACROSS_TENANTS: Mapping[str, str] = {
    "pending_jobs": "workers serve every tenant; each row names its own",
    "free_scopes": "workers serve every tenant; each row names its own, no content is read",
    "any_sent": "workers serve every tenant; no content is read",
    "any_lease_lost": "workers serve every tenant; no content is read",
    "running_jobs": "workers serve every tenant; each row names its own, no content is read",
    "lost_leases": "workers serve every tenant",
    "leases_left": "a worker that is alone takes over what the dead held, of every tenant",
    "retry_failed": "an operator has all tried again, of every tenant",
    "release_jobs": "a worker gives back what it held, of every tenant",
    "ask_scrubbing": "a counter of the whole file; no content",
    "note_pages_cleared": "a counter of the whole file; no content",
    "scrubbing_state": "a counter of the whole file; no content",
    "end_scrubbing": "a counter of the whole file; no content",
    "rewritings_due": "whoever makes the commits serves every tenant; no content is read",
    "oldest_pending": "a time for operators; no content is read",
    "backlog": "counts for operators; no content is read",
    "requeue_all": "a replay rebuilds every tenant",
    "forget_touched": "an erasure makes whoever keeps anything of any tenant begin anew; no content is read",
    "touched_since": "the numbers of changes count for all tenants; the ids are of one",
    "note_index_reset": "a replay rebuilds every tenant",
    "audit_tenants": "the list of tenants, for checking and retention",
    "find_relay_token": "the hash of a token is how its tenant is found",
    "sealed_keys": "a restore says of which keys the secrets are lost, of every tenant; each row names its own",
    "document_tenants": "the list of tenants, whose repositories are opened",
    "tenants": "the list of tenants, for replay and export",
    "told_last": "a server loads ahead for every tenant; each row names its own, no content is read",
    "newest_change": "the store's own row number; a number, no content",
    "tenants_changed": "the list of tenants that are looked at by those who follow them",
    "newest_recorded": "a time for operators; no content is read",
    "last_seq": "the store's own row number; a number, no content",
    "old_keys": "keys expire alike for every tenant; each row names its own",
    "prune_revocations": "revocations expire alike for every tenant",
    "clear_packs": "of a copy: every tenant's packs go; no content is read",
    "empty_packs": "packs expire alike for every tenant; no content is read",
    "prune_packs": "packs expire alike for every tenant; no content is read",
    "unpacked_bodies": "who looks after the file serves every tenant; each row names its own",
    "undivided_tokens": "who looks after the file serves every tenant; row numbers alone",
    "tokens_undivided": "row numbers, found just before by who looks after the file",
    "divide_tokens": "a row number, found just before by who looks after the file",
    "insert_lifecycle": "the number of its tenant was looked up just before",
    "number_happening": "words of our own for every tenant; no content",
    "insert_piece": "the row was written with its tenant just before, or found by who looks after the file",
    "tokens_by_row": "the row that leads to its pieces names the tenant",
    "unembedded": "the embedder serves every tenant; each row names its own",
    "access_version": "counts changes for every tenant; a number, no content",
    "note_access_change": "counts changes for every tenant; a number, no content",
    "sittings_after": "a replay tells the summaries of every tenant anew; each row names its own",
    "idle_sessions": "the closer serves every tenant; each row names its own, no content is read",
    "outbox_heads": "the drain serves every tenant; each row names its own, no content is read",
    "lease_outbox": "a row's number, found in the transaction's own claim",
    "send_outbox": "row numbers that the drain holds by its lease",
    "put_off_outbox": "a row number that the drain holds by its lease",
    "release_outbox": "row numbers that the drain holds by its lease",
    "next_fence": "counts leases for every tenant; a number, no content",
    "outbox_leases_left": "a worker that is alone frees what the dead held, of every tenant",
    "inquiry_heads": "the inquirer serves every tenant; each row names its own, no content is read",
    "lease_inquiry": "a row's number, found just before; each row names its tenant",
    "lease_behind": "row numbers, found just before under their tenant",
    "answer_inquiry": "a row number that the inquirer holds by its lease",
    "put_off_inquiry": "a row number that the inquirer holds by its lease",
    "defer_inquiry": "a row number that the inquirer holds by its lease",
    "summaries_waiting": "a count and a time for operators; no content is read",
    "model_spend_on": "figures of a day for operators; no content",
    "drop_inquiry": "a row number that the inquirer holds by its lease",
    "answered_inquiries": "a worker serves every tenant; each row names its own",
    "count_failed_outbox": "a count for operators; no content is read",
    "count_zeroed_events": "a count for operators, of what is damaged",
    "count_failed_inquiries": "a count for operators; no content is read",
    "release_inquiries": "row numbers that the inquirer holds by its lease",
    "inquiry_leases_left": "a worker that is alone frees what the dead held, of every tenant",
    "due_erasure": "a worker serves every tenant; each row names its own",
    "erasure_leases_left": "a worker that is alone frees what the dead held, of every tenant",
    "expired_manifests": "the worker serves every tenant; each row names its own",
    "old_previews": "the worker serves every tenant; each row names its own",
    "newest_completed": "times and counts of every tenant; nothing of them is shown but a pace",
    "derived_by": "versions of the whole folder; no content",
    "note_derived_by": "versions of the whole folder; no content",
    "next_stale_scope": "the worker serves every tenant; each row names its own, no content is read",
    "forget_stale_scopes": "a replay rebuilds every tenant",
    "stale_totals": "counts for operators; no content is read",
    "aside_is_of": "the database aside has rows of one tenant alone",
    "newest_aside": "the database aside has rows of one tenant alone",
    "fill_definitions": "the database aside has rows of one tenant alone",
    "fill_events": "the database aside has rows of one tenant alone",
    "fill_inquiries": "the database aside has rows of one tenant alone",
    "fill_outputs": "the database aside has rows of one tenant alone",
    "fill_output_sources": "the database aside has rows of one tenant alone",
    "changed_below": "the database aside has rows of one tenant alone",
    "swap_entities": "the database aside has rows of one tenant alone",
    "swap_failed_jobs": "the database aside has rows of one tenant alone",
    "note_swapped_records": "each of its parts names the tenant",
    "note_swapped_entities": "its part of the store names the tenant",
    "made_scratch": "a table of one transaction",
    "dropped_scratch": "a table of one transaction",
    "put_record": "a whole row, which names its tenant",
    "put_frozen_record": "a whole row, which names its tenant",
    "put_frozen_support": "a whole row, which names its tenant",
    "put_frozen_text": "a whole row, which names its tenant",
    "put_frozen_mention": "a whole row, which names its tenant",
    "drop_derivable_tombstones": "a replay rebuilds every tenant",
    "frozen_texts": "a replay rebuilds every tenant, and the database aside has rows of one alone",
    "fill_frozen": "the database aside has rows of one tenant alone",
    "fill_frozen_records": "the database aside has rows of one tenant alone",
    "fill_frozen_supports": "the database aside has rows of one tenant alone",
    "fill_frozen_mentions": "the database aside has rows of one tenant alone",
    "fill_frozen_texts": "the database aside has rows of one tenant alone",
    "pieces_of_none": "what is of no row is of no tenant",
    "made_replayed": "a table of one transaction",
    "dropped_replayed": "a table of one transaction",
}


def bare(block: str) -> str:
    return re.sub(r"--[^\n]*", "", BLOCKS[block])


def keeps_to_its_tenant(sql: str) -> bool:
    if re.match(r"\s*INSERT", sql):
        return bool(re.search(r"\(\s*tenant_id|\btenant_id,", sql))
    # A database aside has the rows of one tenant alone, and what is temporary those of one transaction; a number is one tenant's.
    own = set(re.findall(r"\bWITH(?: RECURSIVE)?\s+(\w+)", sql))
    named = re.findall(
        r"\b(?:FROM|JOIN|UPDATE)\s+(?!json_each|dependant|source|(?:record|support|mention|text|vector|lifecycle)_row|happening|relation|embedder|aside\.|temp\.|\()(\w+)",
        sql,
    )
    reads = len([name for name in named if name not in own])
    filters = len(re.findall(r"\btenant_id\s*=\s*(?:\?\d|:tenant_id|\w+\.tenant_id)", sql))
    return filters >= max(1, reads)


@every_row("block", sorted(set(BLOCKS) - set(ACROSS_TENANTS)))
def test_every_statement_keeps_to_its_tenant(block: str) -> None:
    assert keeps_to_its_tenant(bare(block)), (
        f"{block} touches rows without naming the tenant; filter it, or name it in ACROSS_TENANTS with its reason"
    )


def test_exceptions_are_needed_and_exist() -> None:
    assert set(ACROSS_TENANTS) <= set(BLOCKS)
    assert [name for name in ACROSS_TENANTS if keeps_to_its_tenant(bare(name))] == [
        "requeue_all",
        "note_index_reset",
    ]


def test_the_check_notices_a_forgotten_tenant() -> None:
    assert not keeps_to_its_tenant("SELECT * FROM event WHERE id = ?1")
    assert not keeps_to_its_tenant("SELECT * FROM event e JOIN job j ON j.id = e.id WHERE e.tenant_id = ?1")
    assert not keeps_to_its_tenant("UPDATE record SET excluded = 1 WHERE id = ?2")


def test_every_block_is_used_and_every_use_has_a_block() -> None:
    sources = [path.read_text() for path in files(PACKAGE).iterdir() if path.name.endswith(".py")]
    used = {name for text in sources for name in re.findall(r'"([a-z0-9_]+)"', text)}
    asked = {name for text in sources for name in re.findall(r'_SQL\["([a-z0-9_]+)"\]', text)}
    assert set(BLOCKS) - used == set()
    assert asked - set(BLOCKS) == set()


def test_every_header_opens_a_block_and_every_block_says_its_purpose() -> None:
    folder = files(PACKAGE).joinpath("sql")
    headers = sum(path.read_text().count("-- name:") for path in folder.iterdir())
    assert headers == len(BLOCKS)
    assert [name for name, sql in BLOCKS.items() if not sql.startswith("-- ")] == []
    assert [name for name in BLOCKS if not re.fullmatch(r"[^;]+;\s*", bare(name))] == []


# ---- plans

HOT: Mapping[str, str] = {
    "last_event": "event_position",
    "last_seq": "INTEGER PRIMARY KEY|SEARCH event",
    "last_lifecycle": r"lifecycle_tenant \(tenant=\?\)",
    "find_idempotency": "PRIMARY KEY",
    "old_keys": r"PRIMARY KEY \(\(tenant_id,caller,family,key\)>\(\?,\?,\?,\?\)\)",
    "forget_key": r"PRIMARY KEY \(tenant_id=\? AND caller=\? AND family=\? AND key=\?",
    "find_relay_token": "relay_token_sha256",
    "find_signing_key": r"PRIMARY KEY \(tenant_id=\? AND key_id=\?",
    "end_active_key": r"signing_key_active \(tenant_id=\?",
    "find_message": r"message_id \(tenant_id=\? AND id=\?",
    "find_keyed_message": r"message_key \(tenant_id=\? AND sender=\? AND recipient=\? AND idempotency_key=\?",
    "inbox_after": r"message_inbox \(tenant_id=\? AND recipient=\? AND number>\?",
    "inbox_last": r"message_inbox \(tenant_id=\? AND recipient=\?",
    "thread_last": r"message_thread \(tenant_id=\? AND thread_id=\?",
    "find_delivery": r"PRIMARY KEY \(tenant_id=\? AND message_id=\?",
    "pending_deliveries": r"SEARCH m USING INDEX message_id \(tenant_id=\? AND id=\?",
    "acks_of": r"message_ack_id \(tenant_id=\? AND message_id=\?",
    "find_nonce": r"PRIMARY KEY \(tenant_id=\? AND hash=\?",
    "prune_nonces": r"message_nonce_end \(tenant_id=\? AND expires_at<\?",
    "delete_messages_at": r"message_path \(tenant_id=\? AND path=\?",
    "find_model_output": r"PRIMARY KEY \(tenant_id=\? AND input_hash=\?",
    "model_spend_of": r"\(tenant_id=\? AND day=\?|\(day=\? AND tenant_id=\?",
    "model_spend_on": "model_spend_day",
    "find_revocation": r"PRIMARY KEY \(tenant_id=\? AND jti=\? AND issuer=\?",
    "prune_revocations": "revocation_expiry",
    "find_pack": r"PRIMARY KEY|sqlite_autoindex_pack_1 \(tenant_id=\? AND kind=\? AND caller=\? AND id=\?",
    "empty_packs": "pack_held",
    "trim_packs": r"pack_made \(tenant_id=\?",
    "find_schedule_item": r"PRIMARY KEY \(tenant_id=\? AND schedule_id=\?",
    "schedule_items_in_place": r"schedule_item_key \(tenant_id=\? AND idempotency_key=\?",
    "replace_schedule_item": r"PRIMARY KEY \(tenant_id=\? AND schedule_id=\?",
    "query_schedule": r"schedule_item_due \(tenant_id=\?",
    "schedule_pending_about": r"schedule_item_task \(tenant_id=\? AND task_id=\? AND due_at>\? AND due_at<\?",
    "find_event": "event_id",
    "events_by_id": "event_id",
    "events_newest_first": r"event_scope \(tenant_id=\? AND scope=\?",
    "events_oldest_first": r"event_scope \(tenant_id=\? AND scope=\?",
    "events_of_session_newest_first": r"event_session \(tenant_id=\? AND scope=\? AND session=\?",
    "events_of_session_oldest_first": r"event_session \(tenant_id=\? AND scope=\? AND session=\?",
    "events_before_in_session": "event_session",
    "events_before_in_scope": r"event_alone \(tenant_id=\? AND scope=\? AND position<\?",
    "walk_events": "event_position",
    "pending_jobs": r"job_due \(stage=\? AND state=\? AND event_seq>\?",
    "pending_of_scope": r"job_scope \(tenant_id=\? AND scope=\? AND stage=\?",
    "running_jobs": r"job_due \(stage=\? AND state=\?",
    "first_before": r"job_scope \(tenant_id=\? AND scope=\? AND stage=\?",
    "free_scopes": r"SEARCH j USING INDEX job_scope \(tenant_id=\? AND scope=\? AND stage=\? AND position=\?",
    "any_lease_lost": r"job_due \(stage=\? AND state=\?",
    "lost_leases": r"job_due \(stage=\? AND state=\?",
    "leases_left": r"job_due \(stage=\? AND state=\?",
    "retry_failed": r"job_due \(stage=\? AND state=\?",
    "release_jobs": r"job_due \(stage=\? AND state=\?",
    "backlog": r"job_due \(stage=\? AND state=\?",
    "oldest_pending": r"job_due \(stage=\? AND state=\?",
    "lease_job": "PRIMARY KEY",
    "end_job": "PRIMARY KEY",
    "last_number": r"lifecycle_position \(tenant=\? AND position=\?",
    "find_lifecycle": r"SEARCH next USING INDEX lifecycle_tenant \(tenant=\? AND sequence=\?",
    "query_lifecycle_of_event": r"lifecycle_position \(tenant=\? AND position=\?",
    "query_lifecycle_of_job": "lifecycle_job",
    "entity_types": r"SEARCH m USING PRIMARY KEY \(entity=\? AND place=\?",
    "records_in_slots": r"record_slot \(shelf=\? AND slot=\?",
    "loops_spoken_of": r"record_topic \(shelf=\? AND topic=\? AND <expr>=\?",
    "statements": r"event_id \(tenant_id=\? AND id=\?",
    "query_records": r"record_scope \(shelf=\? AND recorded_from>\? AND recorded_from<\?",
    "query_records_of_subject": r"record_subject \(subject=\? AND shelf=\? AND recorded_from>\?",
    "query_records_of_matter": r"record_claim \(shelf=\? AND claim_key>\? AND claim_key<\?",
    "query_records_of_object": r"record_object \(object=\? AND shelf=\? AND recorded_from>\?",
    "query_records_of_topic": r"record_topic \(shelf=\? AND topic=\? AND <expr>>\?",
    "records_in_slot": r"record_slot \(shelf=\? AND slot=\?",
    "records_of_claim": r"record_claim \(shelf=\? AND claim_key=\?",
    "latest_records": r"^SEARCH r USING INTEGER PRIMARY KEY",
    "versions_followed": r"^SEARCH o USING INTEGER PRIMARY KEY \(rowid=\?",
    "bodies_onward": r"^SEARCH r USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?",
    "record_scopes": r"^SEARCH r USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?",
    "close_record": r"^SEARCH record_row USING INTEGER PRIMARY KEY \(rowid=\?",
    "pack_body": r"^SEARCH record_row USING INTEGER PRIMARY KEY \(rowid=\?",
    "versions_of_records": r"^SEARCH r USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?",
    "input_states": r"^SEARCH r USING INTEGER PRIMARY KEY",
    "newer_facts_about": r"record_subject \(subject=\? AND shelf=\? AND recorded_from>\? AND recorded_from<\?",
    "newer_facts_naming": r"record_object \(object=\? AND shelf=\? AND recorded_from>\? AND recorded_from<\?",
    "changed_at": r"record_ended \(recorded_to=\?",
    "claims_of": r"record_subject \(subject=\? AND shelf=\?",
    "excluded_sources": r"^SEARCH r USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?",
    "records_unrenewed": r"record_scope \(shelf=\? AND recorded_from>\? AND recorded_from<\?",
    "scope_counts": r"record_scope \(shelf=\?",
    "supports_of": r"SEARCH e USING PRIMARY KEY \(record=\?",
    "dependants_of": r"support_source \(source=\?",
    "sources_of": r"SEARCH e USING PRIMARY KEY \(record=\?",
    "episodes_of": r"support_source \(source=\?",
    "type_by_first_mention": r"PRIMARY KEY \(tenant_id=\? AND id=\?",
    "resting_on": r"COVERING INDEX support_source \(source=\?",
    "events_within": r"event_scope \(tenant_id=\? AND scope>\? AND scope<\?",
    "citations_above": r"support_source \(source=\?",
    "erasures_running": r"erasure_running \(tenant_id=\?",
    "erasure_lines": r"PRIMARY KEY \(tenant_id=\? AND plan_id=\?",
    "all_dependants": r"support_source \(source=\?",
    "event_supports_left": r"^SEARCH e USING PRIMARY KEY \(record=\?",
    "entities_by_name": r"entity_name \(tenant_id=\? AND normalised_name=\?",
    "latest_session": r"PRIMARY KEY \(tenant_id=\? AND scope=\? AND session=\?",
    "newest_sessions": r"session_newest \(tenant_id=\? AND scope=\?",
    "idle_sessions": "session_open",
    "outbox_heads": r"SEARCH n USING COVERING INDEX outbox_pending \(tenant_id=\? AND scope=\? AND session>\?",
    "outbox_of_session": r"outbox_pending \(tenant_id=\? AND scope=\? AND session=\?",
    "outbox_left": r"outbox_left \(tenant_id=\?",
    "inquiry_heads": r"SEARCH n USING INDEX inquiry_open \(tenant_id=\? AND scope>\?",
    "answered_inquiries": "inquiry_answered",
    "inquiries_behind": r"inquiry_open \(tenant_id=\? AND scope=\?",
    "extraction_left": r"job_scope \(tenant_id=\? AND scope=\?",
    "newest_extracted": r"event_scope \(tenant_id=\? AND scope=\?",
    "apply_inquiry": r"inquiry_applied \(tenant_id=\? AND scope=\? AND applied_after=\?",
    "inquiries_applied_after": r"inquiry_applied \(tenant_id=\? AND scope=\? AND applied_after>\? AND applied_after<\?",
    "inquiries_unsettled": r"inquiry_unsettled \(tenant_id=\?",
    "last_audit": r"audit_number \(tenant_id=\?",
    "find_audit": r"audit_id \(tenant_id=\? AND id=\?",
    "query_audit": r"audit_number \(tenant_id=\?",
    "query_audit_of_actor": r"audit_actor \(tenant_id=\? AND actor=\?",
    "walk_audit": r"audit_number \(tenant_id=\? AND number>\?",
    "query_lifecycle": r"lifecycle_tenant \(tenant=\? AND sequence>\?",
    "mentions_in_scopes": r"PRIMARY KEY \(entity=\? AND place=\?",
    "find_text": "text_row_record",
    "index_tip": r"job_scope \(tenant_id=\? AND scope=\? AND stage=\?",
    "waiting_events": r"job_scope \(tenant_id=\? AND scope=\? AND stage=\? AND position>\?",
    "texts_after": r"text_row_place \(place=\? AND rowid>\?",
    "last_commit": r"PRIMARY KEY \(tenant_id=\?",
    "find_standing": "PRIMARY KEY",
    "first_beginning": r"PRIMARY KEY \(tenant_id=\? AND path>\? AND path<\?",
    "first_below": r"PRIMARY KEY \(tenant_id=\? AND path>\? AND path<\?",
    "standing_below": r"PRIMARY KEY \(tenant_id=\? AND path>\? AND path<\?",
    "standing_below_at": r"document_version_path \(tenant_id=\? AND path=\? AND version=\?",
    "standing_many": r"PRIMARY KEY \(tenant_id=\? AND path=\?",
    "standing_at": r"document_version_path \(tenant_id=\? AND path=\?",
    "contents_of": r"document_version_path \(tenant_id=\? AND path=\? AND version>\? AND version<\?",
    "history": r"document_version_path \(tenant_id=\? AND path=\? AND version<\?",
    "commits_after": r"PRIMARY KEY \(tenant_id=\? AND number>\?",
    "end_document_events": r"PRIMARY KEY \(tenant_id=\? AND path=\? AND ended_number=\?",
    "ends_after": r"document_event_end \(tenant_id=\? AND scope=\? AND ended_number>\?",
    "last_end": r"document_event_end \(tenant_id=\? AND scope=\?",
    "find_step": r"document_version_path \(tenant_id=\? AND path=\? AND version=\?",
    "standing_in_commit": r"document_version_commit \(tenant_id=\? AND number=\?",
    "vectors_after": r"vector_row_place \(place=\? AND model=\? AND rowid>\?",
    "tokens_by_row": r"^SEARCH p USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?",
    "unembedded": "text_row_unembedded",
}


def opened() -> apsw.Connection:
    """An empty database of today's shape, with the settings of a store's own connections."""
    connection = open_connection(Path(":memory:"), durable=False)
    migrate(connection)
    return connection


looked_at = cache(opened)
"""One for all whose plans are looked at: to make it is a hundred times the work of a plan."""


def nothing(block: str) -> dict[str, None] | list[None]:
    """NULL for everything that a block binds."""
    names = set(re.findall(r":([a-z_]+)", bare(block)))
    return dict.fromkeys(names) or [None] * len(set(re.findall(r"\?\d+", bare(block))))


@every_row("block", HOT)
def test_a_hot_statement_reads_by_its_index(block: str) -> None:
    connection = looked_at()
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {BLOCKS[block]}", nothing(block))]
    assert any(re.search(HOT[block], line) for line in plan), plan
    full = [
        line
        for line in plan
        if line.startswith("SCAN ")
        and not re.search(
            r"SCAN (head$|json_each|wanted|earlier|p$|m$|d$|s$|\(|source|dependant|CONSTANT|lifecycle$)",
            line,
        )
    ]
    assert [line for line in full if "USING" not in line] == []


READS = [block for block in BLOCKS if bare(block).lstrip().startswith(("SELECT", "WITH"))]


@every_row("block", [block for block in READS if "aside." not in BLOCKS[block]])
def test_what_is_bound_makes_no_statement_be_planned_anew(block: str) -> None:
    connection, asked = looked_at(), 0

    def planned(*_: object) -> int:
        nonlocal asked
        asked += 1
        return apsw.SQLITE_OK

    connection.authorizer = planned  # is asked while a statement is read and planned
    named = nothing(block)
    for value in (1, 2):
        asked = 0
        bound = dict.fromkeys(named, value) if isinstance(named, dict) else [value] * len(named)
        with contextlib.suppress(apsw.Error):  # a number is no path of JSON; by then the statement is planned
            list(connection.execute(BLOCKS[block], bound))
        if value == 1:
            assert asked
    connection.authorizer = None
    assert not asked


@every_row(
    "block",
    [
        "events_before_in_session",
        "events_before_in_scope",
        "query_lifecycle",
        "walk_events",
        "pending_jobs",
        "pending_of_scope",
        "texts_after",
        "walk_audit",
        "standing_below_at",
        "old_keys",
    ],
)
def test_a_page_is_read_in_order_not_sorted(block: str) -> None:
    connection = looked_at()
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {BLOCKS[block]}", nothing(block))]
    assert not any("TEMP B-TREE" in line for line in plan), plan


# ---- work, in hundreds of steps of SQLite's machine: the same for the same rows, however busy the computer is


def work(connection: apsw.Connection, block: str, bindings: Sequence[object] | Mapping[str, object]) -> int:
    counted = 0

    def count() -> bool:
        nonlocal counted
        counted += 1
        return False

    connection.set_progress_handler(count, 100)
    for _ in connection.execute(BLOCKS[block], bindings):
        pass
    connection.set_progress_handler(None)
    return counted


def appended_to(times: int) -> apsw.Connection:
    connection = opened()
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        " INSERT INTO document_version (tenant_id, path, version, kind, base, size, number, recorded_at, content)"
        " SELECT 't', 'logs/a', i, 'append', 1, i, i, i, x'' FROM n",
        (times,),
    )
    return connection


def test_an_earlier_state_of_a_long_file_costs_by_its_length() -> None:
    costs = []
    for times in (1000, 2000):
        connection = appended_to(times)
        wanted = ("t", "", "z", 10, times // 2)
        assert [row[1] for row in connection.execute(BLOCKS["standing_below_at"], wanted)] == [times // 2]
        costs.append(work(connection, "standing_below_at", wanted))
    assert costs[1] < 2.5 * costs[0]


def claimed(predicates: int) -> apsw.Connection:
    """Ten claims of one subject by each of so many predicates."""
    connection = opened()
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10 * ?1)"
        " INSERT INTO record (tenant_id, id, version, layer, scope, position, subject, predicate, object_key, claim_key,"
        " confidence, valid_from, recorded_from, body)"
        " SELECT 't', 'fact_' || i, 1, 'facts', 's', i, 'ent_1', 'p' || (i % ?1), 'x' || i,"
        " 'ent_1|p' || (i % ?1) || '|x' || i || '|0', 0.9, i, i, '{}' FROM n",
        (predicates,),
    )
    return connection


def test_what_is_said_by_one_predicate_costs_the_same_however_much_is_told_of_its_subject() -> None:
    wanted = {
        **nothing_named("query_records_of_matter"),
        "tenant_id": "t",
        "scopes": '["s"]',
        "layer": "facts",
    }
    wanted |= {
        "with_excluded": 1,
        "superseded": 0,
        "newer_than": 0,
        "seen_at": 1 << 60,
        "min_confidence": 0.0,
    }
    wanted["limit"] = 256
    wanted |= {"subject": "ent_1", "predicate": "p3", "claims": "ent_1|p3|", "claims_end": "ent_1|p3}"}
    costs = []
    for predicates in (10, 400):
        connection = claimed(predicates)
        assert len(list(connection.execute(BLOCKS["query_records_of_matter"], wanted))) == 10
        costs.append(work(connection, "query_records_of_matter", wanted))
    assert costs[1] <= costs[0] + 1


def opening(loops: int) -> apsw.Connection:
    """So many open loops of one scope."""
    connection = opened()
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        " INSERT INTO record (tenant_id, id, version, layer, scope, position, topic, confidence, valid_from, recorded_from,"
        " body, status, salience, horizon, seen_at)"
        " SELECT 't', 'fact_' || i, 1, 'facts', 's', i, 'loops.open', 0.9, i, i, '{}', 'active', 3, 'ongoing', i FROM n",
        (loops,),
    )
    return connection


def test_the_loops_of_a_brief_cost_the_same_however_many_are_open() -> None:
    costs = []
    for loops in (200, 4000):
        connection = opening(loops)
        wanted = ("t", "s", "{}", 100, 5, 0, 1)
        newest = [f"fact_{number}" for number in range(loops, loops - 5, -1)]
        assert [row[1] for row in connection.execute(BLOCKS["loops_spoken_of"], wanted)] == newest
        costs.append(work(connection, "loops_spoken_of", wanted))
    assert costs[1] <= costs[0] + 1


def nothing_named(block: str) -> dict[str, object]:
    return dict.fromkeys(re.findall(r":([a-z_]+)", bare(block)))


def queued(jobs: int, *, state: str = "pending", scopes: int = 1, head_waits: bool = True) -> apsw.Connection:
    """Jobs of the first stage in scopes of equal length, the first of each put off."""
    connection = opened()
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)"
        " INSERT INTO job (tenant_id, event_id, stage, scope, position, event_seq, state, next_attempt_at, lease_until)"
        " SELECT 't', 'evt_' || i, 1, 's' || (i % ?2), i + 1, i + 1, ?3, iif(?4 AND i < ?2, 99, 0), 99 FROM n",
        (jobs, scopes, state, head_waits),
    )
    return connection


@every_row(
    ("block", "bindings"),
    [
        ("any_lease_lost", (1, 5)),
        ("lost_leases", (1, 5, 5, "lost", 5)),
        ("leases_left", (5, ALL_STAGES, None)),
        ("retry_failed", (ALL_STAGES,)),
        ("release_jobs", ("worker", ALL_STAGES)),
        ("oldest_pending", (ALL_STAGES,)),
        ("running_jobs", (1,)),
        ("first_before", ("t", "s0", "[1, 2]")),
        ("free_scopes", (1, 5, "[]", 32, "", "", 9)),
        ("free_scopes", (2, 5, "[1]", 32, "t", "s0", 9)),
        ("pending_jobs", (1, 0, 32)),
        ("pending_of_scope", ("t", "s0", 1, 32)),
    ],
)
def test_a_long_backlog_costs_a_statement_about_jobs_nothing(block: str, bindings: Sequence[object]) -> None:
    costs = [work(queued(jobs), block, bindings) for jobs in (100, 10_000)]
    assert costs[1] <= costs[0] + 1


@pytest.mark.parametrize("scopes", [1, 20])
def test_a_look_for_work_behind_scopes_that_wait_costs_by_the_scopes(scopes: int) -> None:
    costs = []
    for jobs in (2000, 20_000):
        connection, read = queued(jobs, scopes=scopes), []

        def rows(sql: str, bindings: Row, connection: apsw.Connection = connection) -> list[Row]:
            found = list(connection.execute(sql, bindings))
            read.extend(found)  # noqa: B023 - of this turn
            return found

        assert due_jobs(rows, 1, 32, 5) == []
        costs.append(len(read))
    assert costs[0] == costs[1] <= limits.JOB_PAGE * limits.JOB_PAGES_MAX + 2 * scopes
