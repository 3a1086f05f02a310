"""The operations over tasks."""

from __future__ import annotations

from typing import Any, Final

from lamina.continuity.declaring import reads, writes
from lamina.coordination.tasks import requests
from lamina.coordination.tasks.tasking import Tasks
from lamina.kernel.operations import Operation
from lamina.kernel.relay import RelayRight
from lamina.store.ports.documents import Documents

__all__ = ["task_operations"]

_WRITTEN: Final = (
    "INVALID_COORDINATION", "INVALID_FILE_PATH", "NAMESPACE_DENIED", "PATH_COLLISION", "DOCUMENT_CHANGED",
    "REPOSITORY_UNAVAILABLE", "STORED_ARTIFACT_INVALID",
)  # fmt: skip


def task_operations(documents: Documents) -> list[Operation[Any]]:
    """Create, update and query; which file a task is, its handlers ask."""
    tasks, right = Tasks(documents), RelayRight.WRITE_PROJECTS
    return [
        writes(right, "tasks_create", requests.CreateTask, requests.TaskCreated, tasks.create,
               "Create a task.", fails=(*_WRITTEN, "TASK_EXISTS")),
        writes(right, "tasks_update", requests.UpdateTask, requests.TaskChanged, tasks.update,
               "Change a task, or end it as done.", fails=(*_WRITTEN, "TASK_NOT_FOUND", "TASK_DONE")),
        reads(RelayRight.READ_FILES, "tasks_query", requests.QueryTasks, requests.FoundTasks, tasks.query,
              "Find tasks by state, owner, collaborator or thread."),
    ]  # fmt: skip
