"""Taking over another server's files: one commit with the events that tell of them, or nothing at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lamina import limits
from lamina.continuity.capsule.subjects import Subject, check_same_subject
from lamina.continuity.landing import retried
from lamina.continuity.restoring import telling
from lamina.continuity.shelf.envelopes import fallback_bytes
from lamina.continuity.shelf.loading import loaded
from lamina.coordination.artifacts.checks import message_of
from lamina.coordination.features import check_offered
from lamina.coordination.replication.deciding import Arrival, Fate, Here, decided
from lamina.coordination.replication.files import (
    check_file,
    check_source,
    invalid,
    subject_of,
    travelling_path,
    travels,
)
from lamina.coordination.replication.requests import Pull, Pulled
from lamina.coordination.replication.state import (
    STATE_PATH,
    AgreedDocument,
    ReplicationState,
    state_change,
    stored_state,
)
from lamina.errors import Conflict
from lamina.kernel.history_settings import HistorySettings
from lamina.kernel.operations import Answer, Call
from lamina.kernel.relay import RelayRight
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.store.keyed import run_once
from lamina.store.ports.documents import Change, ChangeKind, Commit, Document, Documents, Step, Write
from lamina.store.ports.idempotency import Idempotency, IdempotencyEntry, IdempotencyKey
from lamina.store.ports.log import Capture
from lamina.store.ports.peers import Peers

__all__ = ["REPLICATION_SETTING", "Pulling"]

REPLICATION_SETTING = "LAMINA_RELAY_REPLICATION=1"
_DERIVED = "files that a server derives were left out"


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    arrival: Arrival


@dataclass(slots=True)
class _Landing:
    """What a pull comes to, while it is worked out."""

    agreed: dict[str, AgreedDocument]
    changes: list[Change] = field(default_factory=list)
    captures: list[Capture] = field(default_factory=list)
    changed: int = 0
    deleted: int = 0
    conflicts: int = 0
    skipped: int = 0


class Pulling:
    """Takes files over, where the server offers it."""

    def __init__(
        self,
        documents: Documents,
        peers: Peers,
        idempotency: Idempotency,
        histories: HistorySettings,
        *,
        offered: bool,
    ) -> None:
        self._documents = documents
        self._peers = peers
        self._idempotency = idempotency
        self._offered = offered
        # A key is kept for a day from the time that is noted with it; a pull's is kept for as many as an operator chose.
        kept_s = histories.relay_replication_pull_idempotency_retention_days * 86_400
        self._noted_later = (kept_s - limits.IDEMPOTENCY_TTL_S) * SECOND_US

    def pull(self, request: Pull, call: Call) -> Answer:
        """Take over the files of a bundle. A key that was used brings back the counts of then."""
        check_offered("replication", REPLICATION_SETTING, offered=self._offered)
        check_source(call, request.source_peer)
        tenant_id = call.principal.tenant_id
        if self._peers.trust_of(tenant_id, request.source_peer) == "untrusted":
            raise Conflict("UNTRUSTED_PEER", f"the peer {request.source_peer[:64]!r} is untrusted")
        message_of(request.commit_message, "")
        files = _files(request, call)
        return run_once(
            self._idempotency,
            self._entry(request, call),
            call.now,
            lambda once: retried(lambda: self._pull(request, files, call, once)),
            partial(self._earlier, tenant_id),
        )

    def _entry(self, request: Pull, call: Call) -> IdempotencyEntry | None:
        if request.idempotency_key is None:
            return None
        name = f"{request.source_peer}|{request.idempotency_key}"
        key = IdempotencyKey(call.principal.tenant_id, call.principal.actor, "replication_pull", name)
        return IdempotencyEntry(key, call.body_hash(without="idempotency_key"), call.now + self._noted_later)

    def _earlier(self, tenant_id: str, known: IdempotencyEntry) -> Pulled:
        response = known.response or {}
        commit = self._documents.commit_numbered(tenant_id, response["commit"])
        sha = commit.sha if commit is not None and commit.sha else None
        counts: dict[str, Any] = response["pulled"]  # Any: JSON
        return Pulled.model_validate(counts | {"idempotent_replay": True, "latest_commit": sha})

    def _pull(
        self, request: Pull, files: Sequence[_File], call: Call, once: IdempotencyEntry | None
    ) -> Pulled:
        tenant_id = call.principal.tenant_id
        rewrites = self._documents.rewrites(tenant_id)
        stored = stored_state(self._documents, tenant_id)
        standing = self._standing(tenant_id, [each.path for each in files])
        landing = _Landing(dict(stored.state.documents), skipped=len(request.files) - len(files))
        for file in files:
            document = standing.get(file.path)
            local = document.version if document is not None else self._last_version(tenant_id, file.path)
            self._land(request, call, landing, file, _Local(local, document, stored.state))
        noted = {
            "at": rfc3339(call.now),
            "received_count": len(request.files),
            "changed_count": landing.changed,
            "deleted_count": landing.deleted,
            "conflict_count": landing.conflicts,
        }
        after = stored.state.pulled(request.source_peer, noted, landing.agreed)
        changes = [*landing.changes, state_change(stored, after)]
        pulled = Pulled(
            source_peer=request.source_peer,
            received_count=len(request.files),
            changed_count=landing.changed,
            deleted_count=landing.deleted,
            conflict_count=landing.conflicts,
            skipped_count=landing.skipped,
            committed_files=tuple(change.path for change in changes),
            warnings=(_DERIVED,) if len(request.files) > len(files) else (),
        )
        message = message_of(request.commit_message, f"replication: pull {request.source_peer}")
        write = Write(
            tenant_id=tenant_id,
            author=call.principal.actor,
            message=" ".join(message.splitlines()),
            changes=changes,
            captures=landing.captures,
            once=None if once is None else _keeping(once, pulled),
            rewrites=rewrites,
        )
        commit = self._documents.write([write])[0].commit
        return pulled.model_copy(update={"latest_commit": commit.sha or None})

    def _land(self, request: Pull, call: Call, landing: _Landing, file: _File, local: _Local) -> None:
        """Decide about one file, and note what it leads to."""
        here, arrival = local.here(file.path), file.arrival
        decision = decided(arrival, here, request.conflict_policy, request.mode)
        if decision.fate is Fate.REFUSE:
            raise Conflict(
                "REPLICATION_CONFLICT",
                f"{file.path} was written on both sides",
                details={"path": file.path},
            )
        landing.conflicts += decision.conflict
        if decision.fate is not Fate.LAND:
            landing.skipped += 1
            if decision.fate is Fate.SAME and arrival.version is not None and local.version:
                landing.agreed[file.path] = AgreedDocument(version=decision.clock, local=local.version)
            return
        landing.agreed[file.path] = AgreedDocument(version=decision.clock, local=local.version + 1)
        self._change(call, landing, file, local)

    def _change(self, call: Call, landing: _Landing, file: _File, local: _Local) -> None:
        tenant_id, content = call.principal.tenant_id, file.arrival.content
        subject = _subject(file, local)
        if content is None:
            landing.deleted += 1
            landing.changes.append(Change(file.path, ChangeKind.REMOVE, expected_version=local.version))
            if subject and self._documents.read(tenant_id, subject.fallback_path) is not None:
                landing.changes.append(Change(subject.fallback_path, ChangeKind.REMOVE))
            return
        landing.changed += 1
        expected = 0 if local.document is None else local.version
        landing.changes.append(
            Change(file.path, ChangeKind.PUT, content, expected_version=expected, portable=True)
        )
        if subject:  # the snapshot of the last good write, as writing the capsule makes it
            snapshot = fallback_bytes(loaded(content).capsule)
            landing.changes.append(Change(subject.fallback_path, ChangeKind.PUT, snapshot))
        commit = Commit(0, "", call.principal.actor, "", call.now)
        told = telling(tenant_id)(Step(file.path, ChangeKind.PUT, content, commit))
        if told is not None:
            landing.captures.append(told)

    def _standing(self, tenant_id: str, paths: Sequence[str]) -> dict[str, Document]:
        found: dict[str, Document] = {}
        for start in range(0, len(paths), limits.DOCUMENTS_READ_MAX):
            found |= self._documents.read_many(tenant_id, paths[start : start + limits.DOCUMENTS_READ_MAX])
        return found

    def _last_version(self, tenant_id: str, path: str) -> int:
        newest = self._documents.history(tenant_id, path, limit=1)
        return newest[0].version if newest else 0


@dataclass(frozen=True, slots=True)
class _Local:
    """The newest version of a path here, 0 for none, and the document where one stands."""

    version: int
    document: Document | None
    state: ReplicationState

    def here(self, path: str) -> Here:
        known = self.state.agreed(path, self.version)
        content = None if self.document is None else self.document.content
        clock = self.state.clock(path, self.version)
        return Here(clock, 0 if known is None else known.version, content)


def _files(request: Pull, call: Call) -> list[_File]:
    """What travels of a bundle, checked; each file's folder has to be open to the caller."""
    call.relay.require(RelayRight.REPLICATION_SYNC, "write", STATE_PATH)
    seen: set[str] = set()
    files: list[_File] = []
    for number, file in enumerate(request.files):
        path = travelling_path(f"files.{number}.path", file.path, call)
        call.relay.require(RelayRight.REPLICATION_SYNC, "write", path)
        if path in seen:
            raise invalid(f"files.{number}.path", f"{path[:120]!r} stands twice in the bundle")
        seen.add(path)
        if travels(path):
            files.append(_File(path, Arrival(file.version, check_file(path, file))))
    return files


def _subject(file: _File, local: _Local) -> Subject | None:
    """Whose capsule is changed; raises ``Conflict`` (SUBJECT_TAKEN) where that of another subject stands at the path."""
    stood = None if local.document is None else subject_of(file.path, local.document.content)
    if file.arrival.content is None:
        return stood
    subject = subject_of(file.path, file.arrival.content)
    if subject is not None and stood is not None:
        check_same_subject(stood.id, subject)
    return subject


def _keeping(once: IdempotencyEntry, pulled: Pulled) -> IdempotencyEntry:
    counts = pulled.model_dump(mode="json")
    return IdempotencyEntry(once.key, once.body_hash, once.created_at, response={"pulled": counts})
