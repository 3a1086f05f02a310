"""Every place where something of a person may lie, and what takes it away when that person's memory is erased.

A test walks the schema, a data folder and the sources, and fails on a table, a column, a file or a memory of a process that is
missing here. ``erased_by`` names a function of a port of ``Store``; where there is none, ``why`` says why nothing needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

__all__ = ["CACHES", "FILES", "TABLES", "FilePlace", "Holds", "MemoryPlace", "TablePlace"]


class Holds(StrEnum):
    """What a column has: ``CONTENT``, what somebody said or what was made of it; ``NAMES`` of people, scopes, things and paths;
    ``IDS`` and hashes; ``FIGURES``, times, counts, states and settings."""

    CONTENT = "content"
    NAMES = "names"
    IDS = "ids"
    FIGURES = "figures"


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlace:
    """A table: what each column holds, and what erases its rows, or why nothing does."""

    columns: Mapping[str, Holds] = field(repr=False)
    erased_by: tuple[str, ...] = ()
    why: str = ""

    @property
    def keeps_ids(self) -> bool:
        """Whether ids of what was erased may stand here: they are what is left of it."""
        return self.why in (_PROOF, _IMMUTABLE)

    @property
    def tells(self) -> bool:
        """Whether there is content or a name in it."""
        return not {Holds.CONTENT, Holds.NAMES}.isdisjoint(self.columns.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlace:
    """Files of a data folder, by a pattern of ``fnmatch`` over the path in it."""

    erased_by: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """What a process keeps, by module: how it comes that nothing of what was erased is served from it."""

    follows: str


def _table(
    *erased_by: str, content: str = "", names: str = "", ids: str = "", figures: str = "", why: str = ""
) -> TablePlace:
    given = {Holds.CONTENT: content, Holds.NAMES: names, Holds.IDS: ids, Holds.FIGURES: figures}
    columns = {column: holds for holds, listed in given.items() for column in listed.split()}
    return TablePlace(columns=columns, erased_by=erased_by, why=why)


_LOG = "erasing.erase"
_BESIDE = "traces.erase_beside"
_DOCUMENTS = "traces.erase_documents"
_SCRUB = "traces.scrub"
_IMMUTABLE: Final = (
    "the history of decisions, not of memory (seed 002, 11.5); it has hashes of bodies, never bodies"
)
_ACCESS: Final = (
    "who may do what: it goes with the scope's registration (DELETE /v1/scopes), not with its memory"
)
_TOKENS: Final = "tokens are revoked by themselves (seed 002, 11.5)"
_ENGINE: Final = "the engine's own"
_PROOF: Final = "what is left of what was erased: ids, scopes and counts, for 410 and for the proof"

_RECORD: Final = {
    "content": "body object_key slot claim_key topic",
    "names": "scope subject predicate session",
    "ids": "tenant_id id superseded_by closed_by",
    "figures": "version layer position confidence stance valid_from valid_to recorded_from recorded_to excluded status "
    "salience horizon due_at due_offset seen_at",
}
_SUPPORT: Final = {
    "ids": "tenant_id record_id source_id actor accepted_in",
    "figures": "relation weight polarity place part at recorded_at",
}
_TEXT: Final = {
    "content": "terms keys days",
    "names": "scope session speaker",
    "ids": "tenant_id record_id",
    "figures": "layer recorded_at observed_at role characters question_share self_share wants_vector quarantined",
}

# Views stand beside the tables that they read.
TABLES: Final[Mapping[str, TablePlace]] = {
    # ---- the log and what is derived from it
    "event": _table(
        _LOG,
        content="content context directives",
        names="scope caller observed_actor subject parties session origin_channel",
        ids="tenant_id id batch_id",
        figures="seq position modality origin_trust observed_at recorded_at cancelled_after observed_offset zone_offset "
        "redacted_by bears_out",
    ),
    "job": _table(
        _LOG,
        content="last_error",
        names="scope",
        ids="tenant_id event_id lease_owner",
        figures="stage position event_seq state attempts next_attempt_at lease_until fence",
    ),
    "lifecycle": _table(
        _LOG,
        names="scope payload",
        ids="tenant_id id event_id job_id",
        figures="sequence name number arrived_at position",
    ),
    "lifecycle_row": _table(
        _LOG,
        names="payload",
        ids="id event_id job_id",
        figures="row tenant sequence happening place number arrived_at position",
    ),
    "tenant": _table(ids="tenant_id", figures="number", why="a number may not mean another tenant"),
    "happening": _table(figures="number name", why=_ENGINE),
    "record": _table(_LOG, **_RECORD),
    "record_row": _table(
        _LOG,
        content=_RECORD["content"],
        names="session predicate",
        ids="record subject object superseded_by closed_by",
        figures="row shelf " + _RECORD["figures"].replace("layer ", ""),
    ),
    "shelf": _table(
        names="scope",
        ids="tenant_id",
        figures="number layer",
        why="a number may not mean another scope; its scope stands in tombstones, too",
    ),
    "support": _table(_LOG, **_SUPPORT),
    "support_row": _table(
        _LOG,
        ids="record source actor accepted_in",
        figures="relation weight against place part at recorded_at",
    ),
    "identifier": _table(_LOG, names="id", ids="tenant_id", figures="number"),
    "place": _table(
        names="scope",
        ids="tenant_id",
        figures="number",
        why="a number may not mean another scope; its scope stands in tombstones, too",
    ),
    "relation": _table(figures="number name", why="words of our own"),
    "entity": _table(_LOG, names="normalised_name", ids="tenant_id id", figures="type"),
    "touched": _table(_LOG, ids="tenant_id id", figures="number identifier"),
    "mention": _table(
        _LOG, names="scope surface", ids="tenant_id entity_id event_id", figures="position type"
    ),
    "mention_row": _table(_LOG, names="surface", ids="entity event", figures="place position type"),
    "text": _table(_LOG, **{**_TEXT, "figures": f"id excluded {_TEXT['figures']}"}),
    "text_row": _table(
        _LOG,
        content=_TEXT["content"],
        names="session speaker",
        ids="record",
        figures=f"id place excluded {_TEXT['figures']}",
    ),
    "vector": _table(
        _LOG, content="pooled tokens", names="scope", ids="tenant_id record_id", figures="id model"
    ),
    "vector_row": _table(_LOG, content="pooled tokens", ids="record", figures="id place model"),
    "embedder": _table(figures="number name", why="names of models"),
    "token_piece": _table(_LOG, content="tokens", figures="number"),
    "index_change": _table(
        names="scope",
        ids="tenant_id",
        figures="changes",
        why="a counter that may not begin again; its scope stands in tombstones, too",
    ),
    "frozen": _table(_LOG, names="scope", ids="tenant_id record_id", figures="until"),
    "frozen_record": _table(_LOG, **_RECORD),
    "frozen_support": _table(_LOG, **_SUPPORT),
    "frozen_mention": _table(
        _LOG, names="scope surface name", ids="tenant_id entity_id event_id", figures="position type"
    ),
    "frozen_text": _table(_LOG, **_TEXT),
    "log_end": _table(ids="tenant_id", figures="position recorded_at seq", why="where a log ends"),
    "tombstone": _table(
        names="scope", ids="tenant_id id erasure_id audit_id", figures="layer cascade erased_at", why=_PROOF
    ),
    "redacted_derivation": _table(_LOG, ids="tenant_id event_id record_id", why=_PROOF),
    "scrubbing": _table(figures="id asked done pages", why="counters"),
    "stale_scope": _table(
        names="scope", ids="tenant_id", figures="events derived", why="goes once the scope is derived anew"
    ),
    "derived_by": _table(figures="id versions earlier", why="numbers of versions"),
    "lease_counter": _table(figures="id fence", why="a counter"),
    # ---- beside it
    "session": _table(
        _BESIDE,
        content="summary bridge worded",
        names="scope session",
        ids="tenant_id window_events",
        figures="number turns folded opened_at touched_at last_turn_at last_position closed_at revision",
    ),
    "outbox": _table(
        _BESIDE,
        content="last_error",
        names="scope session",
        ids="tenant_id event_id lease_owner",
        figures="id sitting state attempts next_attempt_at lease_until folded_at sent_at created_at fence",
    ),
    "model_output": _table(
        _BESIDE,
        content="text",
        ids="tenant_id input_hash",
        figures="task model tokens_in tokens_out recorded_at",
    ),
    "model_output_source": _table(_BESIDE, ids="tenant_id event_id input_hash"),
    "model_spend": _table(
        ids="tenant_id", figures="day task model asked tokens_in tokens_out", why="what models cost a tenant"
    ),
    "inquiry": _table(
        _BESIDE,
        content="last_error",
        names="scope",
        ids="tenant_id event_id input_hash lease_owner",
        figures="id task position created_at state attempts next_attempt_at lease_until applied_after applied_order "
        "applied_at fence",
    ),
    "definition": _table(
        _BESIDE,
        content="body",
        names="name",
        ids="tenant_id event_id",
        figures="kind position recorded_from recorded_to",
    ),
    "idempotency": _table(
        _BESIDE,
        content="response",
        names="caller key",
        ids="tenant_id body_hash event_id",
        figures="family created_at",
    ),
    "pack": _table(
        _BESIDE, content="content", names="caller", ids="tenant_id id body_hash", figures="kind made_at"
    ),
    "schedule_item": _table(
        "traces.erase_schedule",
        content="title note metadata identity terminal_reason",
        names="task_id thread_id subject_id created_by updated_by terminal_by idempotency_key",
        ids="tenant_id schedule_id identity_hash",
        figures="kind status due_at subject_kind version created_at updated_at terminal_at",
    ),
    # ---- what peers send each other: each message and each answer goes with the document that it stands in
    "message": _table(
        _DOCUMENTS,
        content="record",
        names="thread_id sender recipient path idempotency_key",
        ids="tenant_id id body_hash",
        figures="number sent_at",
    ),
    "delivery": _table(
        _DOCUMENTS,
        ids="tenant_id message_id replayed_to",
        figures="status requires_ack ack_timeout_s max_retries retry_count ack_deadline updated_at version",
    ),
    "message_ack": _table(
        _DOCUMENTS, content="record", names="ack_id path", ids="tenant_id message_id", figures="number"
    ),
    "message_nonce": _table(
        ids="tenant_id hash",
        figures="seen_at expires_at",
        why="hashes with a key's id, kept so that no envelope is used twice",
    ),
    # ---- erasures themselves
    "erasure_preview": _table(
        "erasures.end",
        names="scope made_by figures",
        ids="tenant_id id",
        figures="made_at expires_at",
    ),
    "erasure_line": _table(
        "erasures.end",
        names="id scope",
        ids="tenant_id plan_id record_id",
        figures="kind",
        why=_PROOF,  # what is left there once an erasure is over is the manifest of what it took
    ),
    "erasure": _table(
        names="scope state",
        ids="tenant_id id lease_owner",
        figures="status cancelling next_attempt_at lease_until fence",
        why=_PROOF,
    ),
    "scope": _table(
        _BESIDE, names="path created_by", ids="tenant_id", figures="auto_provisioned created_at pruned"
    ),
    # ---- documents
    "document": _table(_DOCUMENTS, names="path", ids="tenant_id", figures="version base size updated_at"),
    "document_version": _table(
        _DOCUMENTS,
        content="content",
        names="path",
        ids="tenant_id",
        figures="id version kind base size number recorded_at",
    ),
    "document_commit": _table(
        _DOCUMENTS, content="message", names="author", ids="tenant_id sha", figures="number committed_at"
    ),
    "document_event": _table(
        _DOCUMENTS, _BESIDE, names="path scope", ids="tenant_id event_id", figures="ended_number ended_at"
    ),
    "rewriting": _table(ids="tenant_id", figures="rewrites due", why="counters"),
    # ---- who may do what, and what was decided
    "registration": _table(names="path", ids="tenant_id", figures="policies registered_at", why=_ACCESS),
    "member": _table(names="path actor", ids="tenant_id", figures="role", why=_ACCESS),
    "policy": _table(names="target set_by", ids="tenant_id", figures="tier document set_at", why=_ACCESS),
    "access_version": _table(figures="id version", why="a counter"),
    "revocation": _table(
        names="issuer revoked_by", ids="tenant_id jti id", figures="expires_at reason revoked_at", why=_TOKENS
    ),
    "relay_token": _table(
        names="peer_id description read_namespaces write_namespaces",
        ids="tenant_id id sha256 rotated_to rotated_from",
        figures="rights issued_at expires_at revoked_at revoked_reason trust rotated_at",
        why=_TOKENS,
    ),
    "signing_key": _table(
        names="key_id",
        ids="tenant_id",
        figures="algorithm created_at activated_at verifies_until sealed",
        why="keys of servers, sealed: they go when they are rotated",
    ),
    "job_run": _table(
        names="initiator client_ip",
        ids="tenant_id run_id",
        figures="job_id status started_at finished_at lease_until dry_run force error result_keys",
        why="which operator ran which job from this machine; the newest stay",
    ),
    "audit": _table(
        names="actor scope path client_ip user_agent detail",
        ids="tenant_id id token_jti body_hash headers_hash event_id request_id previous hash",
        figures="at endpoint capability decision decided_by_tier method body_bytes pepper_version response_status elapsed_ms "
        "gdpr number",
        why=_IMMUTABLE,
    ),
    "audit_anchor": _table(ids="tenant_id hash row_id", figures="number kept", why=_IMMUTABLE),
    "pepper": _table(ids="tenant_id secret", figures="version created_at", why=_IMMUTABLE),
    "migration": _table(figures="number name checksum", why=_ENGINE),
    "sqlite_sequence": _table(figures="name seq", why=_ENGINE),
}

FILES: Final[Mapping[str, FilePlace]] = {
    "lamina.db": FilePlace(erased_by=_SCRUB),
    "lamina.db-wal": FilePlace(erased_by=_SCRUB),
    "lamina.db-shm": FilePlace(why="numbers of pages"),
    "rederived/*": FilePlace(erased_by="traces.drop_aside"),
    "relay/*.git/objects/*": FilePlace(erased_by=_DOCUMENTS),
    "relay/*.git/refs/*": FilePlace(erased_by=_DOCUMENTS),
    "relay/*.git/*": FilePlace(
        why="what git writes into every empty repository; names of tenants in hashes or plain"
    ),
    "relay/*.git.unreadable-*": FilePlace(erased_by=_DOCUMENTS),
    "relay/projector.*": FilePlace(why="a lock and a socket"),
    "bells/*": FilePlace(why="pipes, without content"),
    "locks/*": FilePlace(
        why="empty files, named by the hash of a key for as long as a call with that key runs"
    ),
    "*.lock": FilePlace(why="locks"),
    "lamina.sock": FilePlace(why="a socket"),
    "worker.failing": FilePlace(why="parts of the worker, with the class or the code of an error"),
    "checked.json": FilePlace(why="what a check of the files saw: damage, by table"),
    "backup.json": FilePlace(why="when the newest backup was made"),
    "backing-up/*": FilePlace(
        erased_by=_SCRUB  # what a killed backup left; one that is being made is dealt with when it is restored (decision 0045)
    ),
    "restoring/*": FilePlace(
        why="a backup on its way in; what was erased after it is applied before it is served"
    ),
    "restored/*": FilePlace(why="the settings of a backup that was restored"),
}

_BY_ROW: Final = MemoryPlace(
    "by the values of a row that was just read: what is not in a row any more is not asked for"
)
_BY_WORDS: Final = MemoryPlace("a function of its arguments, which are asked for by whoever has them")
_BY_SCOPE: Final = MemoryPlace("begins anew when index_change of its scope moves, which every erasure moves")
_NO_CONTENT: Final = MemoryPlace("no content")

CACHES: Final[Mapping[str, MemoryPlace]] = {
    "access/documents.py": _NO_CONTENT,
    "access/presets.py": _NO_CONTENT,
    "models/support.py": _BY_WORDS,
    "continuity/capsule/bounds.py": _NO_CONTENT,
    "continuity/capsule/moments.py": _BY_WORDS,
    "continuity/capsule/stored.py": _NO_CONTENT,
    "continuity/capsule/unknown.py": _NO_CONTENT,
    "continuity/files/directory.py": MemoryPlace("lists anew when Documents.rewrites moves"),
    "coordination/artifacts/cards.py": MemoryPlace("begins anew when Documents.rewrites moves"),
    "continuity/graph/sources.py": MemoryPlace(
        "with the listing that it follows, which is another after an erasure"
    ),
    "continuity/shelf/documents.py": MemoryPlace(
        "by version and time of a document that was just found in the store"
    ),
    "http/describing.py": _NO_CONTENT,
    "http/relay/help.py": _NO_CONTENT,
    "http/relay/rpc/help_methods.py": _NO_CONTENT,
    "http/relay/rpc/readiness.py": _NO_CONTENT,
    "index/blocks.py": MemoryPlace("cleared once no index of a process has the block: see index/resident.py"),
    "index/documents.py": _BY_SCOPE,
    "index/resident.py": _BY_SCOPE,
    "index/tokens.py": _BY_ROW,
    "kernel/scopes.py": _BY_WORDS,
    "language/tokens.py": _BY_WORDS,
    "index/vectors.py": _NO_CONTENT,
    "models/generator.py": _NO_CONTENT,
    "models/minilm.py": _NO_CONTENT,
    "models/recent.py": _BY_WORDS,
    "models/wordpieces.py": _NO_CONTENT,
    "pipeline/extract/parser_files.py": _NO_CONTENT,
    "pipeline/extract/products.py": _NO_CONTENT,
    "pipeline/loops/meaning.py": _BY_WORDS,
    "pipeline/nearness.py": MemoryPlace("vectors by event id, compared with events that are read each time"),
    "pipeline/plays.py": MemoryPlace(
        "actors and lengths by event id, forgotten with the readings once anything was taken out of a scope"
    ),
    "pipeline/posterior.py": _NO_CONTENT,
    "pipeline/titles.py": _BY_WORDS,
    "recall/derived.py": _BY_WORDS,
    "recall/kept.py": _NO_CONTENT,
    "recall/excerpts.py": _BY_WORDS,
    "recall/room.py": _NO_CONTENT,
    "remote/documents.py": _NO_CONTENT,
    "remote/peers.py": _NO_CONTENT,
    "session/folding.py": _BY_WORDS,
    "store/blocks.py": _NO_CONTENT,
    "store/kept.py": MemoryPlace(
        "lets go of what ``Records.touched`` names, and of everything once an erasure has emptied that"
    ),
    "store/documents/growing.py": MemoryPlace("another one for the repository that is written anew"),
    "store/documents/projector.py": MemoryPlace("made anew with the repository"),
    "store/sqlite/log.py": _BY_ROW,
    "store/sqlite/records.py": _BY_ROW,
    "store/sqlite/many.py": _NO_CONTENT,
    "store/sqlite/migrate.py": _NO_CONTENT,
    "store/tallies.py": _NO_CONTENT,
    "store/vocabularies.py": _BY_ROW,
    "lifecycle/tail.py": MemoryPlace("ids, scopes and figures of the newest minutes, for streams"),
}
