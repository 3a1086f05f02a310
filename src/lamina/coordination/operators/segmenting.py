"""The jobs that move append logs into the history, from there to cold storage and back (Relay contract 7.6).

Each log and each segment is one commit, or two that land together where what leaves is another's than what stays: a run that ends half way
leaves whole ones. What moves stays findable by its words until it goes
to cold storage.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from lamina import limits
from lamina.continuity.landing import retried
from lamina.coordination.operators import bounds
from lamina.coordination.operators.histories import unpacked_history
from lamina.coordination.operators.moving import (
    free_number,
    landed_for,
    sole_author,
    telling_of,
    write_of,
)
from lamina.coordination.operators.segment_requests import (
    MaintainSegments,
    RehydrateSegment,
    SegmentRehydrated,
    SegmentsMaintained,
    SegmentsStored,
    StoreSegments,
)
from lamina.coordination.operators.segment_stubs import (
    digest_of,
    new_stub,
    put,
    segment_conflict,
    segment_invalid,
    segment_named,
    stub_bytes,
    stub_of,
    stub_value,
)
from lamina.coordination.operators.segments import (
    SEGMENT_FAMILIES,
    AppendLogs,
    Segment,
    SegmentFamily,
    day_of,
    is_due,
    log_ages,
    segment_of,
)
from lamina.errors import Conflict, Invalid
from lamina.kernel.history_settings import HistorySettings
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import SECOND_US, Instant, rfc3339
from lamina.store.documents.paths import document_path
from lamina.store.ports.documents import Change, ChangeKind, Document, Documents

__all__ = ["SegmentHistory"]

_ROWS: Final[Mapping[SegmentFamily, str]] = {
    "api_audit": "calls are rows, which GET /v1/audit reads: they are no file, and are not rolled",
    "ops_runs": "runs of jobs are rows, which GET /v1/ops/status reads: they are no file, and are not rolled",
}


@dataclass(frozen=True, slots=True)
class _Log:
    """A log that is to leave."""

    family: SegmentFamily
    path: str
    stream: str


@dataclass(frozen=True, slots=True)
class _Cut:
    """What of a log leaves, when the newest of it was written, and what stays; the version as of which what leaves stood alone."""

    leaves: bytes
    newest_at: Instant
    stays: bytes
    through: int


class SegmentHistory:
    """The segments of the caller's tenant."""

    def __init__(self, documents: Documents, chosen: HistorySettings) -> None:
        self._documents = documents
        self._ages = log_ages(chosen)
        self._batch = chosen.relay_segment_history_batch_limit

    def maintain(self, request: MaintainSegments, call: Call) -> Answer:
        """Move the logs of a family that have grown large or old into its history, or what of them is of earlier days."""
        due = chain.from_iterable(self._due(each, call) for each in _families(request.family))
        limit = request.batch_limit or self._batch
        chosen = list(islice(due, limit + 1))
        rolled, files, commit = [], [], None
        warnings = [_ROWS[request.family]] if request.family is not None and request.family in _ROWS else []
        for log in chosen[:limit]:
            try:
                landed = retried(lambda each=log: self._rolled(each, call))  # type: ignore[misc]
            except (Conflict, Invalid) as error:
                warnings.append(f"segment_history_not_rolled:{error.code}:{log.path}")
                continue
            if landed is not None:
                segment, written, commit = landed
                rolled.append(segment.id)
                files += written
        return Answer(
            SegmentsMaintained(
                operation="segment_history_maintenance",
                family=request.family,
                selection_count=min(len(chosen), limit),
                rolled_count=len(rolled),
                batch_limit_reached=len(chosen) > limit,
                rolled_segment_ids=rolled,
                committed_files=files,
                latest_commit=commit,
                warnings=warnings,
            )
        )

    def store(self, request: StoreSegments, call: Call) -> Answer:
        """Compress segments: those named, or those that are old enough.

        Raises ``Malformed`` (INVALID_HISTORY), ``Conflict`` (HISTORY_CONFLICT). Those named are looked at before the first of them goes.
        """
        limit = request.batch_limit or self._batch
        if request.segment_ids is None or request.family is None:
            old = chain.from_iterable(self._old(each, call) for each in _families(request.family))
            wanted = list(islice(old, limit + 1))
        else:
            wanted = [segment_named(request.family, each) for each in dict.fromkeys(request.segment_ids)]
            for segment in wanted[:limit]:
                self._hot(segment, call)
        chosen = wanted[:limit]
        files, commit = [], None
        for segment in chosen:
            commit = retried(lambda each=segment: self._stored(each, call))  # type: ignore[misc]
            files += [segment.cold, segment.payload, segment.stub]
        return Answer(
            SegmentsStored(
                operation="segment_history_cold_store",
                family=request.family,
                selection_count=len(chosen),
                cold_stored_count=len(chosen),
                batch_limit_reached=len(wanted) > limit,
                cold_segment_ids=[each.id for each in chosen],
                hot_payloads_removed=[each.payload for each in chosen],
                committed_files=files,
                latest_commit=commit,
            )
        )

    def rehydrate(self, request: RehydrateSegment, call: Call) -> Answer:
        """Bring a segment back to the byte; raises as ``store`` does."""
        segment = segment_named(request.family, request.segment_id)
        commit = retried(lambda: self._rehydrated(segment, call))
        return Answer(
            SegmentRehydrated(
                operation="segment_history_cold_rehydrate",
                family=request.family,
                segment_id=segment.id,
                stub_path=segment.stub,
                cold_payload_path=segment.cold,
                rehydrated_payload_path=segment.payload,
                removed_cold_payload_path=segment.cold,
                mutated_stub_path=segment.stub,
                committed_files=[segment.payload, segment.cold, segment.stub],
                latest_commit=commit,
            )
        )

    # ---- logs

    def _due(self, family: SegmentFamily, call: Call) -> Iterator[_Log]:
        logs, tenant_id = SEGMENT_FAMILIES[family], call.principal.tenant_id
        for path in self._sources(logs, tenant_id):
            stream = logs.stream_at(path)
            newest = self._documents.history(tenant_id, path, limit=1) if stream is not None else []
            if stream is None or not newest or newest[0].kind is ChangeKind.REMOVE:
                continue
            log = _Log(family, path, stream)
            if is_due(
                logs, self._ages[family], stream, newest[0].size, newest[0].commit.committed_at, call.now
            ) or (logs.by_day and self._cut(log, call).leaves):
                yield log

    def _sources(self, logs: AppendLogs, tenant_id: str) -> Iterator[str]:
        """Every path at which a log may stand. What lies in folders below is passed over: there may be much of it."""
        depth = logs.prefix.count("/") + logs.parted
        for folder in logs.folders:
            after = ""
            while page := self._documents.below(tenant_id, folder, after=after, limit=limits.DOCUMENTS_PAGE):
                yield from (each.path for each in page)
                parts = page[-1].path.split("/")
                after = page[-1].path if len(parts) <= depth + 1 else "/".join(parts[: depth + 1]) + "0"

    def _cut(self, log: _Log, call: Call) -> _Cut:
        """What of a log leaves: all of one that is due as a whole, and of one kept by day what stood when today began."""
        logs, tenant_id = SEGMENT_FAMILIES[log.family], call.principal.tenant_id
        standing = self._documents.read(tenant_id, log.path)
        if standing is not None and is_due(
            logs, self._ages[log.family], log.stream, len(standing.content), standing.updated_at, call.now
        ):
            return _Cut(standing.content, standing.updated_at, b"", standing.version)
        earlier = self._documents.read(tenant_id, log.path, at=day_of(call.now) - 1) if logs.by_day else None
        # A log that was put anew today is today's, however old its lines are.
        if standing is None or earlier is None or not standing.content.startswith(earlier.content):
            return _Cut(b"", call.now, b"", 0)
        return _Cut(
            earlier.content, earlier.updated_at, standing.content[len(earlier.content) :], earlier.version
        )

    def _rolled(self, log: _Log, call: Call) -> tuple[Segment, list[str], str | None] | None:
        logs, tenant_id = SEGMENT_FAMILIES[log.family], call.principal.tenant_id
        newest = self._documents.history(tenant_id, log.path, limit=1)
        cut = self._cut(log, call)
        if not newest or not cut.leaves:
            return None
        segment = self._free(log, call)
        author = sole_author(self._documents, call, log.path, through=cut.through)
        next_author = sole_author(self._documents, call, log.path, after=cut.through) if cut.stays else author
        version = newest[0].version
        leaving = [
            put(segment.payload, cut.leaves, 0),
            put(segment.stub, new_stub(segment, log.path, cut.leaves, cut.newest_at, call.now), 0),
        ]
        staying = [
            Change(log.path, ChangeKind.REMOVE, expected_version=version)
            if logs.pages
            else put(log.path, cut.stays, version)
        ]
        told = telling_of(call, author, segment.payload, cut.leaves, cut.newest_at)
        left = [] if logs.pages else telling_of(call, next_author, log.path, cut.stays, call.now)
        message = f"segment-history: roll {log.family} {log.stream}"
        # In one commit the words of one would be another's, and go or stay with them.
        writes = (
            [write_of(call, author, message, [*leaving, *staying], [*told, *left])]
            if author == next_author
            else [
                write_of(call, author, message, leaving, told),
                write_of(call, next_author, message, staying, left),
            ]
        )
        commit = self._documents.write(writes)[-1].commit
        return segment, [change.path for change in (*leaving, *staying)], commit.sha or None

    def _free(self, log: _Log, call: Call) -> Segment:
        """A segment of this second whose id nothing has; raises ``Invalid`` where its path would be too long."""
        first = Segment(log.family, log.stream, call.now - call.now % SECOND_US, 1)
        number = free_number(self._documents, call.principal.tenant_id, first.folder, first.stem)
        segment = Segment(first.family, first.stream, first.rolled_at, number)
        document_path(segment.cold)
        document_path(segment.stub)
        return segment

    # ---- cold storage

    def _old(self, family: SegmentFamily, call: Call) -> Iterator[Segment]:
        """Segments that stand and are old enough, by their paths."""
        logs, after = SEGMENT_FAMILIES[family], ""
        tenant_id, folder = call.principal.tenant_id, f"{logs.history}/"
        while page := self._documents.below(tenant_id, folder, after=after, limit=limits.DOCUMENTS_PAGE):
            for document in page:
                name = document.path.rpartition("/")[2].removesuffix(logs.ending)
                segment = segment_of(family, name)
                stands = segment is not None and segment.payload == document.path
                if segment is not None and stands and segment.is_old(self._ages[family], call.now):
                    yield segment
            after = page[-1].path

    def _hot(self, segment: Segment, call: Call) -> tuple[Document, Document]:
        """A segment that stands, and its stub."""
        standing = self._standing(segment, call)
        stub = stub_of(segment, standing)
        if segment.cold in standing:
            raise segment_conflict(segment, "already_cold", "is in cold storage")
        if segment.payload not in standing:
            raise segment_conflict(segment, "payload_not_found", "does not stand where its stub says")
        if stub_value(stub)["payload_path"] != segment.payload:
            raise segment_conflict(segment, "already_cold", "is named elsewhere by its stub")
        return standing[segment.payload], stub

    def _stored(self, segment: Segment, call: Call) -> str | None:
        payload, stub = self._hot(segment, call)
        if len(payload.content) > bounds.HISTORY_UNIT_BYTES_MAX:
            raise segment_invalid(segment, "too_large", f"has {len(payload.content)} bytes")
        changes = [
            put(segment.cold, gzip.compress(payload.content, compresslevel=9, mtime=0), 0),
            Change(segment.payload, ChangeKind.REMOVE, expected_version=payload.version),
            put(
                segment.stub,
                stub_bytes(
                    stub_value(stub) | {"payload_path": segment.cold, "cold_stored_at": rfc3339(call.now)}
                ),
                stub.version,
            ),
        ]
        author = sole_author(self._documents, call, segment.payload)
        message = f"segment-history: cold-store {segment.family} {segment.id}"
        return landed_for(self._documents, call, author, message, changes).sha or None

    def _rehydrated(self, segment: Segment, call: Call) -> str | None:
        standing = self._standing(segment, call)
        stub = stub_of(segment, standing)
        value = stub_value(stub)
        if segment.payload in standing:
            if segment.cold in standing:
                raise segment_conflict(segment, "rehydrate_conflict", "stands beside its compressed copy")
            raise segment_conflict(segment, "not_cold", "is not in cold storage")
        cold = standing.get(segment.cold)
        if cold is None or value["payload_path"] != segment.cold:
            raise segment_conflict(
                segment, "cold_payload_missing", "has no compressed copy where its stub says"
            )
        content = unpacked_history(cold.content)
        if digest_of(content) != value["summary"].get("sha256", digest_of(content)):
            raise segment_invalid(segment, "cold_payload_corrupt", "is not what it was")
        value = {key: kept for key, kept in value.items() if key != "cold_stored_at"}
        changes = [
            put(segment.payload, content, 0),
            Change(segment.cold, ChangeKind.REMOVE, expected_version=cold.version),
            put(segment.stub, stub_bytes(value | {"payload_path": segment.payload}), stub.version),
        ]
        author = sole_author(self._documents, call, segment.cold)
        captures = telling_of(call, author, segment.payload, content, segment.rolled_at)
        message = f"segment-history: cold-rehydrate {segment.family} {segment.id}"
        return landed_for(self._documents, call, author, message, changes, captures).sha or None

    def _standing(self, segment: Segment, call: Call) -> dict[str, Document]:
        paths = [segment.payload, segment.stub, segment.cold]
        return self._documents.read_many(call.principal.tenant_id, paths)


def _families(named: SegmentFamily | None) -> Iterable[SegmentFamily]:
    return SEGMENT_FAMILIES if named is None else [named]
