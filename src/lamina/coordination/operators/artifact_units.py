"""The job that moves artifacts which ended into the history of artifacts, a unit with a stub for each (Relay contract 7.5).

The original has the passes and no way to run them. What moved is read as a file, and by no route of its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from lamina.continuity.landing import retried
from lamina.coordination.operators import bounds
from lamina.coordination.operators.histories import history_object
from lamina.coordination.operators.moving import free_number, landed_for, sole_author, telling_of
from lamina.errors import Conflict, Malformed
from lamina.kernel.canonical import indented
from lamina.kernel.history_settings import HistorySettings
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import SECOND_US, rfc3339, to_datetime
from lamina.kernel.wire import Request, Result
from lamina.store.ports.documents import Change, ChangeKind, Document, Documents
from lamina.store.walking import documents_below

__all__ = ["ArtifactFamily", "ArtifactPasses", "ArtifactsMoved", "MoveArtifacts"]

ArtifactFamily = Literal["handoff", "reconciliation", "task_done", "patch_applied"]
_JSON = Mapping[str, Any]  # Any: JSON


@dataclass(frozen=True, slots=True)
class _Kind:
    """Where artifacts of a family stand and their history is, and which of them ended."""

    folder: str
    history: str
    ended: Callable[[_JSON], bool]


_COORDINATION: Final = "memory/coordination"
_KINDS: Final[Mapping[ArtifactFamily, _Kind]] = {
    "handoff": _Kind(
        f"{_COORDINATION}/handoffs",
        f"{_COORDINATION}/handoffs/history",
        lambda value: value.get("recipient_status") in ("accepted_advisory", "deferred", "rejected"),
    ),
    "reconciliation": _Kind(
        f"{_COORDINATION}/reconciliations",
        f"{_COORDINATION}/reconciliations/history",
        lambda value: value.get("status") == "resolved",
    ),
    "task_done": _Kind("tasks/done", "tasks/history/done", lambda value: value.get("status") == "done"),
    "patch_applied": _Kind(
        "patches/applied", "patches/history/applied", lambda value: value.get("status") == "applied"
    ),
}


class MoveArtifacts(Request):
    """Of which family, or of all, and how many artifacts at most; where nothing is said, as many as an operator chose."""

    family: ArtifactFamily | None = None
    batch_limit: Annotated[int, Field(ge=1, le=bounds.HISTORY_CALL_MAX)] | None = None


class ArtifactsMoved(Result):
    """How many artifacts were to move, and the units that they became."""

    ok: bool = True
    operation: Literal["artifact_history_maintenance"] = "artifact_history_maintenance"
    family: ArtifactFamily | None
    selection_count: int
    moved_count: int
    batch_limit_reached: bool
    history_ids: list[str]
    durable: bool = True
    committed_files: list[str]
    latest_commit: str | None
    warnings: list[str] = Field(default_factory=list)


class ArtifactPasses:
    """Moves artifacts of the caller's tenant."""

    def __init__(self, documents: Documents, chosen: HistorySettings) -> None:
        self._documents = documents
        self._rest_days: Mapping[ArtifactFamily, int] = {
            "handoff": chosen.relay_handoff_terminal_retention_days,
            "reconciliation": chosen.relay_reconciliation_resolved_retention_days,
            "task_done": chosen.relay_task_done_hot_retention_days,
            "patch_applied": chosen.relay_patch_applied_hot_retention_days,
        }
        self._batch = chosen.relay_artifact_history_batch_limit

    def move(self, request: MoveArtifacts, call: Call) -> Answer:
        """Move what ended, and stood untouched for as many days as its family rests."""
        limit = request.batch_limit or self._batch
        families = _KINDS if request.family is None else [request.family]
        old = chain.from_iterable(self._ended(family, call) for family in families)
        chosen = list(islice(old, limit + 1))
        ids, files, commit, warnings = [], [], None, []
        for family, path in chosen[:limit]:
            try:
                unit, written, commit = retried(lambda f=family, p=path: self._moved(f, p, call))  # type: ignore[misc]
            except Conflict as conflict:
                warnings.append(f"artifact_history_not_moved:{conflict.code}:{path}")
                continue
            ids.append(unit)
            files += written
        return Answer(
            ArtifactsMoved(
                family=request.family,
                selection_count=min(len(chosen), limit),
                moved_count=len(ids),
                batch_limit_reached=len(chosen) > limit,
                history_ids=ids,
                committed_files=files,
                latest_commit=commit,
                warnings=warnings,
            )
        )

    def _ended(self, family: ArtifactFamily, call: Call) -> Iterator[tuple[ArtifactFamily, str]]:
        """The artifacts of a family that are to move, by their paths. What cannot be read stays where somebody finds it."""
        kind = _KINDS[family]
        latest = call.now - self._rest_days[family] * 86_400 * SECOND_US
        folder = f"{kind.folder}/"
        for document in documents_below(self._documents, call.principal.tenant_id, folder):
            name = document.path.removeprefix(folder)
            if "/" not in name and document.updated_at <= latest and _has_ended(kind, document):
                yield family, document.path

    def _moved(self, family: ArtifactFamily, path: str, call: Call) -> tuple[str, list[str], str | None]:
        kind, tenant_id = _KINDS[family], call.principal.tenant_id
        source = self._documents.read(tenant_id, path)
        if source is None or not _has_ended(kind, source):
            raise Conflict(
                "DOCUMENT_CHANGED",
                f"{path} is another one now",
                hint="run the job again",
                details={"path": path},
            )
        stem = f"{family}__{to_datetime(call.now):%Y%m%dT%H%M%SZ}"
        unit = f"{stem}__{free_number(self._documents, tenant_id, kind.history, stem):04}"
        payload, stub = f"{kind.history}/{unit}.json", f"{kind.history}/index/{unit}.json"
        content = _unit(family, unit, source, call)
        changes = [
            Change(payload, ChangeKind.PUT, content, expected_version=0),
            Change(stub, ChangeKind.PUT, _stub(family, unit, source, payload, call), expected_version=0),
            Change(path, ChangeKind.REMOVE, expected_version=source.version),
        ]
        author = sole_author(self._documents, call, path)
        captures = telling_of(call, author, payload, content, source.updated_at)
        message = f"artifact-history: move {family} {unit}"
        commit = landed_for(self._documents, call, author, message, changes, captures)
        return unit, [change.path for change in changes], commit.sha or None


def _has_ended(kind: _Kind, document: Document) -> bool:
    try:
        return kind.ended(history_object(document.content))
    except Malformed:
        return False


def _unit(family: str, unit: str, source: Document, call: Call) -> bytes:
    return _text(
        {
            "schema_type": f"{family}_history_unit",
            "schema_version": "1.0",
            "family": family,
            "history_id": unit,
            "created_at": rfc3339(call.now),
            "source_path": source.path,
            "artifact": history_object(source.content),
        }
    )


def _stub(family: str, unit: str, source: Document, payload: str, call: Call) -> bytes:
    return _text(
        {
            "schema_type": "artifact_history_stub",
            "schema_version": "1.0",
            "family": family,
            "history_id": unit,
            "payload_path": payload,
            "created_at": rfc3339(call.now),
            "source_path": source.path,
            "summary": {"ended_by": rfc3339(source.updated_at)},
        }
    )


def _text(value: _JSON) -> bytes:
    return indented(value)
