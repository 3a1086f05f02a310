"""Snapshots: what is known for a task, kept as a file. It can be taken of an earlier state of the documents, too."""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lamina import limits
from lamina.continuity.capsule.moments import moment
from lamina.continuity.context.gathering import core_memory, guarded, open_questions
from lamina.continuity.context.requests import AsOf, ReadSnapshot, Snapshot, SnapshotMade, SnapshotRead
from lamina.continuity.files.cards import card_of, text_of
from lamina.continuity.files.finding import Finding
from lamina.continuity.files.names import folder_of, is_text
from lamina.continuity.landing import EventWords, retried, written
from lamina.continuity.permission import READS, Reach
from lamina.errors import Malformed, NotFound
from lamina.kernel.canonical import digest, indented
from lamina.kernel.operations import Answer, Call
from lamina.kernel.relay import RelayRight
from lamina.kernel.time import Instant, rfc3339, to_datetime
from lamina.store.ports.documents import Change, ChangeKind, Commit, Document, Documents

__all__ = ["FOLDER", "Snapshots", "snapshot_told"]

FOLDER: Final = "snapshots/context"
"""Where snapshots stand."""
_ID: Final = re.compile(r"snap_\d{8}T\d{6}Z_[0-9a-f]{8}")
_SHA: Final = re.compile(r"[0-9a-f]{7,40}")
_WORD: Final = re.compile(r"[\w-]{2,}")
_ITEM: Final = ("path", "type", "snippet", "importance", "score")


@dataclass(frozen=True, slots=True)
class _Shown:
    sha: str | None
    items: list[dict[str, Any]]
    left_out: int
    core: list[dict[str, str]]
    rewrites: int


class Snapshots:
    """Take and read snapshots."""

    def __init__(self, documents: Documents, finding: Finding, version: str) -> None:
        self._documents = documents
        self._finding = finding
        self._version = version

    def create(self, request: Snapshot, call: Call) -> Answer:
        """Keep what is known for a task.

        Raises ``Malformed`` (INVALID_AS_OF) where the state cannot be named so, ``NotFound`` (COMMIT_NOT_FOUND) where
        there was nothing yet.
        """
        reach, tenant_id = Reach(call, RelayRight.SEARCH), call.principal.tenant_id
        snapshot_id = _snapshot_id(call)
        path = f"{FOLDER}/{snapshot_id}.json"
        reach.require("write", path)
        commit = self._commit(tenant_id, request.as_of)
        return retried(lambda: self._create(snapshot_id, path, request, call, commit, reach))

    def _create(
        self, snapshot_id: str, path: str, request: Snapshot, call: Call, commit: Commit | None, reach: Reach
    ) -> Answer:
        shown = self._shown(request, call, commit, reach)
        items, left_out = shown.items, shown.left_out
        as_of = {"mode": request.as_of.mode, "value": shown.sha}
        kept = {
            "schema_version": "1.0",
            "snapshot_id": snapshot_id,
            "task": request.task,
            "created_at": rfc3339(call.now),
            "as_of": as_of,
            "filters": {
                "include_types": request.include_types,
                "limit": request.limit,
                "include_core": request.include_core,
            },
            "core_memory": shown.core,
            "items": items,
            "open_questions": open_questions(items),
            "provenance": {"source": "context_snapshot_create", "service_version": self._version}
            | ({"documents_left_out": left_out} if left_out else {}),
        }
        change = Change(path, ChangeKind.PUT, indented(kept))
        told = snapshot_told(path, kept)
        message = f"snapshot: create {snapshot_id}"
        head = written(self._documents, call, message, [change], told, rewrites=shown.rewrites).commit
        return Answer(
            SnapshotMade(
                snapshot_id=snapshot_id, path=path, as_of=as_of, item_count=len(items), latest_commit=head.sha
            ),
            warnings=(f"documents_left_out={left_out}",) if left_out else (),
        )

    def read(self, request: ReadSnapshot, call: Call) -> Answer:
        """A snapshot as it was kept."""
        path = f"{FOLDER}/{request.snapshot_id}.json"
        document = None
        if _ID.fullmatch(request.snapshot_id):
            Reach(call, READS).require("read", path)
            document = self._documents.read(call.principal.tenant_id, path)
        if document is None:
            raise NotFound("SNAPSHOT_NOT_FOUND", f"there is no snapshot {request.snapshot_id[:64]}")
        try:
            kept = json.loads(document.content)
        except ValueError:
            kept = None
        if not isinstance(kept, dict):
            raise Malformed("SNAPSHOT_DAMAGED", f"{path} does not hold a snapshot", details={"path": path})
        return Answer(SnapshotRead(snapshot=kept))

    def _shown(self, request: Snapshot, call: Call, commit: Commit | None, reach: Reach) -> _Shown:
        """What the snapshot shows, and how often documents had been erased before that was read."""
        tenant_id = call.principal.tenant_id
        rewrites = self._documents.rewrites(tenant_id)
        if commit is not None:  # hashes change with an erasure, times do not
            standing = self._documents.commit_at(tenant_id, commit.committed_at)
            commit = standing if standing is not None and standing.sha else commit
        at = None if commit is None else commit.committed_at
        items, left_out = (
            (self._found(request, call), 0)
            if commit is None
            else self._stood(request, commit, reach, tenant_id)
        )
        core = core_memory(self._documents, tenant_id, reach, at) if request.include_core else []
        return _Shown(None if commit is None else commit.sha, items, left_out, core, rewrites)

    def _commit(self, tenant_id: str, as_of: AsOf) -> Commit | None:
        if as_of.mode == "working_tree":
            return None
        value = (as_of.value or "").strip()
        if as_of.mode == "commit":
            commit = self._documents.head(tenant_id) if value == "HEAD" else None
            if commit is None and _SHA.fullmatch(value):
                commit = self._documents.commit_of(tenant_id, value)
            if commit is None:
                raise _unnamed(
                    as_of, "no commit is named so", "give a hash that an answer's latest_commit gave"
                )
            return commit
        at = moment(value)
        if at is None:
            raise _unnamed(as_of, "it is no timestamp", "write for example 2026-05-13T15:42:00Z")
        commit = self._documents.commit_at(tenant_id, at)
        if commit is None:
            raise NotFound("COMMIT_NOT_FOUND", f"nothing had been written by {value[:64]}")
        return commit

    def _found(self, request: Snapshot, call: Call) -> list[dict[str, Any]]:
        rows = self._finding.rows(call, request.task, request.limit, request.include_types, None)
        return [
            {name: getattr(row, name) for name in _ITEM}
            | {"snippet": guarded(row.snippet), "source_ref": "working_tree"}
            for row in rows
        ]

    def _stood(
        self, request: Snapshot, commit: Commit, reach: Reach, tenant_id: str
    ) -> tuple[list[dict[str, Any]], int]:
        """The texts that stood then, those that share words with the task first; and how many were not looked at."""
        terms, at = set(_WORD.findall(request.task.lower())), commit.committed_at
        paths, left_out = self._likeliest(request, terms, at, reach, tenant_id)
        items: list[dict[str, Any]] = []
        bytes_left = limits.SNAPSHOT_BYTES_MAX
        for looked_at, path in enumerate(paths):
            if bytes_left <= 0:
                left_out += len(paths) - looked_at
                break
            document = self._documents.read(tenant_id, path, at=at)
            if document is None:
                continue  # erased meanwhile: all else that stood at an instant goes on to have stood there
            bytes_left -= len(document.content)
            item = _item(document, terms, commit.sha)
            if not request.include_types or item["type"] in request.include_types:
                items.append(item)
        return heapq.nsmallest(
            request.limit, items, key=lambda each: (-each["score"], each["path"])
        ), left_out

    def _likeliest(
        self, request: Snapshot, terms: set[str], at: Instant, reach: Reach, tenant_id: str
    ) -> tuple[list[str], int]:
        """Paths whose content is worth reading, those that share words with the task first, then the newest; and of how
        many more that is not known."""
        found = 0

        def texts() -> Iterator[Document]:
            nonlocal found
            for each in self._standing(tenant_id, at):
                if _may_be_wanted(each.path, request.include_types) and reach.reads(each.path):
                    found += 1
                    yield each

        def promise(each: Document) -> tuple[int, Instant, str]:
            return (-_shared(each.path, terms), -each.updated_at, each.path)

        likeliest = heapq.nsmallest(limits.SNAPSHOT_DOCUMENTS_MAX, texts(), key=promise)
        return [each.path for each in likeliest], found - len(likeliest)

    def _standing(self, tenant_id: str, at: Instant) -> Iterator[Document]:
        """The documents of an instant, without their content."""
        after = ""
        while True:
            page = self._documents.below(tenant_id, "", after=after, limit=limits.DOCUMENTS_PAGE, at=at)
            yield from page
            if len(page) < limits.DOCUMENTS_PAGE:
                return
            after = page[-1].path


def snapshot_told(path: str, kept: Mapping[str, Any]) -> EventWords:
    """What is told of a snapshot: what it was made for, and which documents are in it."""
    items = kept.get("items")
    paths = (
        [str(item.get("path")) for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    )
    return EventWords(path, "\n".join([path, f"Snapshot for: {kept.get('task')}", *paths]), "snapshot")


def _snapshot_id(call: Call) -> str:
    stamp = to_datetime(call.now).strftime("%Y%m%dT%H%M%SZ")
    return f"snap_{stamp}_{digest([call.request_id, call.now, call.principal.actor])[-8:]}"


def _item(document: Document, terms: set[str], sha: str) -> dict[str, Any]:
    card, text = card_of(document), text_of(document.content).lower()
    score = 2 * _shared(document.path, terms) + sum(term in text for term in terms) + (card.importance or 0.0)
    return {
        "path": document.path,
        "type": card.type,
        "snippet": guarded(card.snippet),
        "importance": card.importance,
        "score": round(float(score), 3),
        "source_ref": sha,
    }


def _shared(path: str, terms: set[str]) -> int:
    """How many of the task's words a path has."""
    lowered = path.lower()
    return sum(term in lowered for term in terms)


def _may_be_wanted(path: str, types: Collection[str]) -> bool:
    """Whether a document may be of one of the types: a text in Markdown says of which it is, others have their folder's."""
    return is_text(path) and (not types or path.endswith(".md") or folder_of(path) in types)


def _unnamed(as_of: AsOf, reason: str, hint: str) -> Malformed:
    return Malformed(
        "INVALID_AS_OF",
        f"as_of.value does not name a {as_of.mode}: {reason}",
        hint=hint,
        details={"field": "as_of.value"},
    )
