"""Request and result types of tasks. The contract has no bounds; those here are ours, far beyond what agents write."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from lamina import limits
from lamina.kernel.canonical import canonical, holds_nul
from lamina.kernel.wire import Request, Result, Text

__all__ = [
    "AgentTask",
    "CreateTask",
    "FoundTasks",
    "QueryTasks",
    "TaskChanged",
    "TaskCreated",
    "TaskStatus",
    "UpdateTask",
]

TaskStatus = Literal["open", "in_progress", "blocked", "done"]


def _small(value: dict[str, Any]) -> dict[str, Any]:  # Any: the caller's own
    if holds_nul(value) or len(canonical(value)) > limits.TASK_METADATA_BYTES_MAX:
        raise ValueError(f"must take at most {limits.TASK_METADATA_BYTES_MAX} bytes as JSON, without NUL")
    return value


_Id = Annotated[Text, Field(min_length=1, max_length=limits.TASK_ID_LENGTH_MAX)]
_Name = Annotated[Text, Field(min_length=1, max_length=limits.COORDINATION_LINK_LENGTH_MAX)]
_Names = Annotated[tuple[_Name, ...], Field(max_length=limits.TASK_NAMES_MAX)]
_Title = Annotated[Text, Field(min_length=1, max_length=limits.TASK_TITLE_LENGTH_MAX)]
_Description = Annotated[Text, Field(max_length=limits.TASK_DESCRIPTION_LENGTH_MAX)]
_DueAt = Annotated[Text, Field(max_length=limits.TASK_DUE_LENGTH_MAX)]
_Metadata = Annotated[dict[str, Any], AfterValidator(_small)]  # Any: the caller's own


class _Loose(Request):
    model_config = ConfigDict(extra="ignore")


class CreateTask(_Loose):
    """A new task, under an id of the caller's own."""

    task_id: _Id
    title: _Title
    owner_peer: _Name
    description: _Description = ""
    status: TaskStatus = "open"
    collaborators: _Names = ()
    thread_id: _Name | None = None
    blocked_by: _Names = ()
    due_at: _DueAt | None = None
    metadata: _Metadata = Field(default_factory=dict)


class UpdateTask(_Loose):
    """What changes of a task; what is null or left out stays. A task that is done stays so."""

    task_id: _Id
    status: TaskStatus | None = None
    title: _Title | None = None
    description: _Description | None = None
    owner_peer: _Name | None = None
    collaborators: _Names | None = None
    thread_id: _Name | None = None
    blocked_by: _Names | None = None
    due_at: _DueAt | None = None
    metadata: _Metadata | None = None


class QueryTasks(_Loose):
    """Tasks by state, owner, collaborator and thread, the last updated first; all of them without a filter."""

    status: TaskStatus | None = None
    owner_peer: _Name | None = None
    collaborator: _Name | None = None
    thread_id: _Name | None = None
    limit: Annotated[int, Field(ge=1, le=limits.TASK_PAGE_MAX)] = 100


class AgentTask(Result):
    """A task as its file has it; what another server wrote beside these keys stays."""

    model_config = ConfigDict(extra="allow")

    schema_version: str = "1.0"
    task_id: str
    title: str
    description: str = ""
    status: TaskStatus
    owner_peer: str
    collaborators: tuple[str, ...] = ()
    thread_id: str | None = None
    blocked_by: tuple[str, ...] = ()
    due_at: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)  # Any: its writer's own
    created_at: str | None = None
    created_by: str | None = None
    updated_at: str | None = None
    updated_by: str | None = None


class TaskCreated(Result):
    """The task that was made, and the event that tells of it."""

    ok: Literal[True] = True
    task: AgentTask
    path: str
    committed: Literal[True] = True
    latest_commit: str | None
    event_id: str | None = None


class TaskChanged(Result):
    """The task as it stands, and the files of the commit."""

    ok: Literal[True] = True
    task: AgentTask
    path: str
    committed_files: tuple[str, ...]
    latest_commit: str | None
    event_id: str | None = None


class FoundTasks(Result):
    """Tasks, the last updated first. A file that is no task is left out."""

    ok: Literal[True] = True
    count: int
    tasks: tuple[AgentTask, ...]
