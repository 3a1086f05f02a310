"""Cold storage for units of history that stand as documents (Relay contract 7.5): compressed beside their stub, and brought back to the byte.

A unit is ``<folder>/<id>.json``, its stub ``<folder>/index/<id>.json`` and its compressed copy ``<folder>/cold/<id>.json.gz``. The stub says
by ``payload_path`` which of the two stands. Each move is one commit.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import from_json

from lamina import limits
from lamina.continuity.landing import retried
from lamina.coordination.operators import bounds
from lamina.coordination.operators.moving import landed_for, sole_author, telling_of
from lamina.errors import Conflict, Malformed, NotFound
from lamina.kernel.canonical import indented
from lamina.kernel.history_settings import HistorySettings
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import SECOND_US, Instant, from_datetime
from lamina.kernel.wire import Request, Result, Text
from lamina.store.ports.documents import Change, ChangeKind, Document, Documents

__all__ = [
    "HistoriesStored",
    "HistoryFamily",
    "HistoryMoved",
    "HistoryStored",
    "MoveToCold",
    "Rehydrate",
    "StoredHistory",
    "history_object",
    "unpacked_history",
]

HistoryFamily = Literal["artifact", "registry"]
_Path = Annotated[Text, Field(max_length=bounds.OPS_PATH_LENGTH_MAX)]
_FOLDERS: Final[Mapping[HistoryFamily, str]] = {
    "artifact": r"memory/coordination/(?:handoffs|shared|reconciliations)/history|tasks/history/done|patches/history/applied",
    "registry": r"messages/state/history/delivery|peers/history/[a-z_]+",
}
_UNITS: Final[Mapping[HistoryFamily, tuple[str, ...]]] = {
    "artifact": (
        "memory/coordination/handoffs/history/",
        "memory/coordination/shared/history/",
        "memory/coordination/reconciliations/history/",
        "tasks/history/done/",
        "patches/history/applied/",
    ),
    "registry": ("messages/state/history/delivery/", "peers/history/"),
}
"""Below which folders units of each family stand."""
_ID: Final = r"[a-z_]+__[0-9]{8}T[0-9]{6}Z__[0-9]{4}"


class MoveToCold(Request):
    """Which unit, by the path of its payload; where none is named those that are old enough, ``batch_limit`` at most."""

    source_payload_path: _Path | None = None
    batch_limit: Annotated[int, Field(ge=1, le=bounds.HISTORY_CALL_MAX)] | None = None

    @model_validator(mode="after")
    def _one_or_many(self) -> Self:
        if self.source_payload_path is not None and self.batch_limit is not None:
            raise ValueError("source_payload_path is one unit: leave batch_limit out")
        return self


class Rehydrate(Request):
    """Which unit, by the path that its payload had or by that of its stub."""

    source_payload_path: _Path | None = None
    cold_stub_path: _Path | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.source_payload_path is None) == (self.cold_stub_path is None):
            raise ValueError("name one of source_payload_path and cold_stub_path")
        return self


class HistoryStored(Result):
    """What a run compressed: one unit, or those that were old enough."""


class HistoryMoved(HistoryStored):
    """Where the unit stands now; ``stub_path`` says so to who reads it."""

    ok: bool = True
    history_id: str
    payload_path: str
    stub_path: str
    cold_path: str
    committed_files: list[str]
    latest_commit: str | None


class HistoriesStored(HistoryStored):
    """How many units were to go to cold storage, and those that went; a warning names each that stays."""

    ok: bool = True
    selection_count: int
    cold_stored_count: int
    batch_limit_reached: bool
    history_ids: list[str]
    committed_files: list[str]
    latest_commit: str | None
    warnings: list[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Unit:
    folder: str
    id: str

    @property
    def made_at(self) -> Instant | None:
        """When its artifact or shard left for the history, as its id says; None where that is no time."""
        try:
            time = datetime.strptime(self.id.split("__")[-2], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        except ValueError:
            return None
        return from_datetime(time)

    @property
    def payload(self) -> str:
        return f"{self.folder}/{self.id}.json"

    @property
    def stub(self) -> str:
        return f"{self.folder}/index/{self.id}.json"

    @property
    def cold(self) -> str:
        return f"{self.folder}/cold/{self.id}.json.gz"


class StoredHistory:
    """The units of one family in the caller's tenant."""

    def __init__(self, documents: Documents, family: HistoryFamily, chosen: HistorySettings) -> None:
        self._documents = documents
        self._family = family
        self._cold_after_days = _cold_after_days(chosen)
        artifacts, registries = (
            chosen.relay_artifact_history_batch_limit,
            chosen.relay_registry_history_batch_limit,
        )
        self._batch = artifacts if family == "artifact" else registries
        self._payload = re.compile(rf"({_FOLDERS[family]})/({_ID})\.json")
        self._stub = re.compile(rf"({_FOLDERS[family]})/index/({_ID})\.json")

    def store(self, request: MoveToCold, call: Call) -> Answer:
        """Compress a unit; raises ``NotFound`` (HISTORY_NOT_FOUND), ``Conflict`` (HISTORY_CONFLICT), ``Malformed`` (INVALID_HISTORY).

        Where none is named those that are old enough go, and one that cannot is told of by a warning.
        """
        if request.source_payload_path is None:
            return Answer(self._stored_old(request.batch_limit or self._batch, call))
        unit = _named(self._payload, request.source_payload_path)
        return Answer(retried(lambda: self._stored(unit, call)))

    def rehydrate(self, request: Rehydrate, call: Call) -> Answer:
        """Bring a unit back; raises as ``store`` does."""
        if request.cold_stub_path is not None:
            unit = _named(self._stub, request.cold_stub_path)
        else:
            unit = _named(self._payload, request.source_payload_path or "")
        return Answer(retried(lambda: self._rehydrated(unit, call)))

    def _stored_old(self, limit: int, call: Call) -> HistoriesStored:
        chosen = list(islice(self._old(call), limit + 1))
        stored: list[HistoryMoved] = []
        warnings = []
        for unit in chosen[:limit]:
            try:
                stored.append(retried(lambda each=unit: self._stored(each, call)))  # type: ignore[misc]
            except (Conflict, Malformed, NotFound) as error:
                warnings.append(f"history_not_cold_stored:{error.code}:{unit.payload}")
        return HistoriesStored(
            selection_count=min(len(chosen), limit),
            cold_stored_count=len(stored),
            batch_limit_reached=len(chosen) > limit,
            history_ids=[each.history_id for each in stored],
            committed_files=[path for each in stored for path in each.committed_files],
            latest_commit=stored[-1].latest_commit if stored else None,
            warnings=warnings,
        )

    def _old(self, call: Call) -> Iterator[_Unit]:
        """Units that stand and are old enough, by their paths. Of a kind that nobody knows none is."""
        for folder in _UNITS[self._family]:
            after = ""
            while page := self._documents.below(
                call.principal.tenant_id, folder, after=after, limit=limits.DOCUMENTS_PAGE
            ):
                for document in page:
                    match = self._payload.fullmatch(document.path)
                    unit = None if match is None else _Unit(match[1], match[2])
                    if unit is not None and self._is_old(unit, call.now):
                        yield unit
                after = page[-1].path

    def _is_old(self, unit: _Unit, now: Instant) -> bool:
        days, made_at = self._cold_after_days.get(unit.id.split("__")[0]), unit.made_at
        return days is not None and made_at is not None and now - made_at >= days * 86_400 * SECOND_US

    def _stored(self, unit: _Unit, call: Call) -> HistoryMoved:
        standing = self._standing(unit, call)
        payload, stub = _there(standing, unit.payload), _there(standing, unit.stub)
        if len(payload.content) > bounds.HISTORY_UNIT_BYTES_MAX:
            raise _invalid(
                f"the unit has {len(payload.content)} bytes, and may have {bounds.HISTORY_UNIT_BYTES_MAX}"
            )
        if unit.cold in standing:
            raise _conflict(unit, "a compressed copy stands there already")
        changes = [
            _put(unit.cold, gzip.compress(payload.content, compresslevel=9, mtime=0), None),
            Change(unit.payload, ChangeKind.REMOVE, expected_version=payload.version),
            self._repointed(unit, stub, unit.payload, unit.cold),
        ]
        return self._moved(unit, call, changes, payload.path, "cold-store")

    def _rehydrated(self, unit: _Unit, call: Call) -> HistoryMoved:
        standing = self._standing(unit, call)
        cold, stub = _there(standing, unit.cold), _there(standing, unit.stub)
        if unit.payload in standing:
            raise _conflict(unit, "its payload stands there already")
        changes = [
            _put(unit.payload, unpacked_history(cold.content), None),
            Change(unit.cold, ChangeKind.REMOVE, expected_version=cold.version),
            self._repointed(unit, stub, unit.cold, unit.payload),
        ]
        return self._moved(unit, call, changes, cold.path, "cold-rehydrate")

    def _standing(self, unit: _Unit, call: Call) -> dict[str, Document]:
        return self._documents.read_many(call.principal.tenant_id, [unit.payload, unit.stub, unit.cold])

    def _repointed(self, unit: _Unit, stub: Document, before: str, after: str) -> Change:
        value = history_object(stub.content)
        if value.get("schema_type") != f"{self._family}_history_stub":
            raise _invalid("the stub is none of this history")
        if value.get("payload_path") != before:
            raise _conflict(unit, "its stub names another payload")
        return _put(unit.stub, indented(value | {"payload_path": after}), stub.version)

    def _moved(self, unit: _Unit, call: Call, changes: list[Change], source: str, done: str) -> HistoryMoved:
        payload = unit.payload if source == unit.cold else unit.cold
        message = f"{self._family}-history: {done} {unit.id.partition('__')[0]} {unit.id}"
        author = sole_author(self._documents, call, source)
        back = changes[0].content if payload == unit.payload else None
        captures = [] if back is None else telling_of(call, author, payload, back, call.now)
        commit = landed_for(self._documents, call, author, message, changes, captures)
        return HistoryMoved(
            history_id=unit.id,
            payload_path=payload,
            stub_path=unit.stub,
            cold_path=unit.cold,
            committed_files=[change.path for change in changes],
            latest_commit=commit.sha or None,
        )


def _cold_after_days(chosen: HistorySettings) -> Mapping[str, int]:
    """After how many days units go to cold storage, by what their ids begin with."""
    return {
        "handoff": chosen.relay_handoff_cold_after_days,
        "shared_history": chosen.relay_shared_history_cold_after_days,
        "reconciliation": chosen.relay_reconciliation_cold_after_days,
        "task_done": chosen.relay_task_done_cold_after_days,
        "patch_applied": chosen.relay_patch_applied_cold_after_days,
        "delivery": chosen.relay_delivery_history_cold_after_days,
        "peer_trust": chosen.relay_peer_trust_history_cold_after_days,
        "replication_state": chosen.relay_replication_history_cold_after_days,
        "replication_tombstones": chosen.relay_replication_tombstone_cold_after_days,
    }


def _named(pattern: re.Pattern[str], path: str) -> _Unit:
    match = pattern.fullmatch(path)
    if match is None:
        raise _invalid("the path is none of a unit of this history")
    return _Unit(match[1], match[2])


def _there(standing: Mapping[str, Document], path: str) -> Document:
    document = standing.get(path)
    if document is None:
        raise NotFound("HISTORY_NOT_FOUND", f"there is no document {path}", details={"path": path})
    return document


def _put(path: str, content: bytes, version: int | None) -> Change:
    return Change(path, ChangeKind.PUT, content, expected_version=version)


def unpacked_history(content: bytes) -> bytes:
    """What a compressed copy holds; raises ``Malformed`` (INVALID_HISTORY)."""
    decoder = zlib.decompressobj(wbits=31)
    try:
        payload = decoder.decompress(content, bounds.HISTORY_UNIT_BYTES_MAX)
    except zlib.error as error:
        raise _invalid("the compressed copy is damaged") from error
    if not decoder.eof:
        raise _invalid("the compressed copy is cut off, or larger than any document")
    return payload


def history_object(content: bytes) -> dict[str, Any]:  # Any: JSON
    """What a stub says; raises ``Malformed`` (INVALID_HISTORY)."""
    try:
        value = from_json(content, allow_inf_nan=False)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise _invalid("the stub is no object of JSON")
    return value


def _conflict(unit: _Unit, reason: str) -> Conflict:
    return Conflict("HISTORY_CONFLICT", f"{unit.id}: {reason}", details={"path": unit.stub})


def _invalid(reason: str) -> Malformed:
    return Malformed("INVALID_HISTORY", reason)
