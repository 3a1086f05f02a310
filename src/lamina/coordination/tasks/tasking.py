"""Handlers of tasks: create, update, query. Each write is one commit with the event that tells of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from lamina.continuity.files.names import check_new, file_path
from lamina.continuity.landing import EventWords, retried, written
from lamina.coordination.artifacts.cards import ArtifactCards
from lamina.coordination.artifacts.checks import refused
from lamina.coordination.artifacts.kinds import ArtifactKind, Key
from lamina.coordination.artifacts.reading import record_in, record_or_none
from lamina.coordination.tasks.requests import (
    AgentTask,
    CreateTask,
    FoundTasks,
    QueryTasks,
    TaskChanged,
    TaskCreated,
    UpdateTask,
)
from lamina.errors import Conflict, NotFound
from lamina.kernel.canonical import indented
from lamina.kernel.operations import Answer, Call
from lamina.kernel.relay import RelayRight
from lamina.kernel.time import rfc3339
from lamina.store.ports.documents import Change, ChangeKind, Document, Documents

__all__ = ["Tasks"]

_OPEN: Final = "tasks/open"
_DONE: Final = "tasks/done"
_LABEL: Final = "task"


class _TaskKind(ArtifactKind[AgentTask]):
    def stands_at(self, path: str) -> bool:
        return path.startswith((f"{_OPEN}/", f"{_DONE}/")) and path.endswith(".json") and path.count("/") == 2


def _keys(task: AgentTask) -> Iterable[Key]:
    yield ("status", task.status)
    yield ("owner_peer", task.owner_peer)
    if task.thread_id is not None:
        yield ("thread_id", task.thread_id)
    yield from (("collaborator", each) for each in task.collaborators)


_TASKS: Final = _TaskKind(
    "task", "", "tasks", AgentTask, "updated_at", lambda task: (task.owner_peer,), _keys, ""
)


@dataclass(frozen=True, slots=True)
class _Standing:
    task: AgentTask
    document: Document


class Tasks:
    """Create, update and query."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._cards = ArtifactCards(documents)

    def create(self, request: CreateTask, call: Call) -> Answer:
        """Begin a task; an id that any task has, done or not, is taken."""
        path = _path(_folder(request.status), request.task_id)
        _require(call, path)
        check_new(path)
        return Answer(retried(lambda: self._create(path, request, call)))

    def update(self, request: UpdateTask, call: Call) -> Answer:
        """Change a task; one that becomes done moves to the folder of those that are."""
        return Answer(retried(lambda: self._update(request, call)))

    def query(self, request: QueryTasks, call: Call) -> Answer:
        """Tasks of both folders, which the caller has to be allowed to read as a whole."""
        for folder in (_OPEN, _DONE):
            call.relay.require(RelayRight.READ_FILES, "read", f"{folder}/")
        asked = request.model_dump(exclude={"limit"}, exclude_none=True)
        tenant_id = call.principal.tenant_id
        paths = self._cards.matching(_TASKS, tenant_id, frozenset(asked.items())).paths[: request.limit]
        documents = self._documents.read_many(tenant_id, paths)
        found = (record_or_none(_TASKS, documents[path].content) for path in paths if path in documents)
        tasks = tuple(task for task in found if task is not None)
        return Answer(FoundTasks(count=len(tasks), tasks=tasks))

    def _create(self, path: str, request: CreateTask, call: Call) -> TaskCreated:
        standing = self._standing(call, request.task_id)
        if standing is not None:
            raise Conflict(
                "TASK_EXISTS",
                f"there is a task {request.task_id[:64]!r}",
                details={"path": standing.document.path},
            )
        now, caller = rfc3339(call.now), call.relay.peer_id
        stamps = {"created_at": now, "created_by": caller, "updated_at": now, "updated_by": caller}
        task = AgentTask.model_validate({**request.model_dump(), **stamps})
        change = Change(path, ChangeKind.PUT, _bytes(task), expected_version=0, portable=True)
        message = f"tasks: create {task.task_id}"
        other = _path(_OPEN if request.status == "done" else _DONE, request.task_id)
        told = EventWords(path, _words(task), _LABEL)
        done = written(self._documents, call, message, [change], told, absent=[other])
        return TaskCreated(task=task, path=path, latest_commit=done.commit.sha, event_id=done.event_ids[0])

    def _update(self, request: UpdateTask, call: Call) -> TaskChanged:
        tenant_id = call.principal.tenant_id
        standing = self._standing(call, request.task_id)
        if standing is None:
            _require(call, _path(_OPEN, request.task_id))
            raise NotFound("TASK_NOT_FOUND", f"there is no task {request.task_id[:64]!r}")
        before, old = standing.task, standing.document
        _require(call, old.path)
        changes = request.model_dump(exclude={"task_id"}, exclude_none=True)
        if before.status == "done" and changes.get("status", "done") != "done":
            raise Conflict("TASK_DONE", "a task that is done stays done", details={"status": before.status})
        stamps = {"updated_at": rfc3339(call.now), "updated_by": call.relay.peer_id}
        task = before.model_copy(update=changes | stamps)
        path = _path(_folder(task.status), request.task_id)
        told = self._documents.told_by(tenant_id, old.path)
        moved = path != old.path
        if moved:
            _require(call, path)
        message = f"tasks: update{' and move' if moved else ''} {task.task_id}"
        writes = [Change(path, ChangeKind.PUT, _bytes(task), expected_version=None if moved else old.version)]
        if moved:
            writes.append(Change(old.path, ChangeKind.REMOVE, expected_version=old.version))
        sources = () if told is None else (told,)
        done = written(
            self._documents, call, message, writes, EventWords(path, _words(task), _LABEL, sources)
        )
        return TaskChanged(
            task=task,
            path=path,
            committed_files=tuple(each.path for each in writes),
            latest_commit=done.commit.sha,
            event_id=done.event_ids[0],
        )

    def _standing(self, call: Call, task_id: str) -> _Standing | None:
        for folder in (_OPEN, _DONE):
            path = _path(folder, task_id)
            document = self._documents.read(call.principal.tenant_id, path)
            if document is not None:
                return _Standing(record_in(_TASKS, path, document.content), document)
        return None


def _path(folder: str, task_id: str) -> str:
    """Where a task stands; raises ``Malformed`` for an id that would lead elsewhere."""
    if "/" in task_id or "\\" in task_id:
        raise refused("task_id", "has a slash", "letters, digits, dots and dashes make an id")
    if task_id in (".", ".."):  # clients take these out of a URL before they ask
        raise refused("task_id", "is a step of a path", "letters, digits, dots and dashes make an id")
    return file_path(f"{folder}/{task_id}.json")


def _folder(status: str) -> str:
    return _DONE if status == "done" else _OPEN


def _require(call: Call, path: str) -> None:
    call.relay.require(RelayRight.WRITE_PROJECTS, "write", path)


def _bytes(task: AgentTask) -> bytes:
    return indented(task.model_dump(mode="json"))


def _words(task: AgentTask) -> str:
    lines = [f"Task {task.task_id}, {task.status}, of {task.owner_peer}: {task.title}", task.description]
    named = {
        "With": ", ".join(task.collaborators),
        "Thread": task.thread_id,
        "Blocked by": ", ".join(task.blocked_by),
        "Due": task.due_at,
    }
    return "\n".join(
        [each for each in lines if each] + [f"{name}: {said}" for name, said in named.items() if said]
    )
