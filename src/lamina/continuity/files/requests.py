"""Request and result types of memory files: their keys and the order of these are a promise of the contract."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from lamina.kernel.wire import Result, Text

__all__ = [
    "AppendRecord",
    "FoundFiles",
    "Incremental",
    "IndexStatus",
    "ReadFile",
    "ReadText",
    "RebuildIndex",
    "Rebuilt",
    "RebuiltIncrementally",
    "Recent",
    "RecentFiles",
    "Row",
    "Search",
    "WriteFile",
    "Written",
]

_HOURS_MAX = 87_600
_DAYS_MAX = 3650
_ROWS_MAX = 100


class _Request(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class WriteFile(_Request):
    """Write a file as a whole."""

    path: Text
    content: Text
    commit_message: Text | None = None


class AppendRecord(_Request):
    """Add a record to a file, as a line of JSON."""

    path: Text
    record: dict[str, Any]  # Any: the caller's own
    commit_message: Text | None = None

    @field_validator("record")
    @classmethod
    def _is_json(cls, record: dict[str, Any]) -> dict[str, Any]:
        try:
            json.dumps(record, allow_nan=False)
        except ValueError as error:
            raise ValueError("must hold finite numbers only") from error
        return record


class ReadFile(_Request):
    """Read a file."""

    path: Text


class Written(Result):
    """The file holds what was sent; ``committed`` is false where it did already."""

    ok: Literal[True] = True
    path: str
    committed: bool
    latest_commit: str | None


class ReadText(Result):
    """A file as it stands."""

    ok: Literal[True] = True
    path: str
    content: str


_Limit = Annotated[int, Field(ge=1, le=_ROWS_MAX)]
_Hours = Annotated[int, Field(ge=1, le=_HOURS_MAX)]


class Search(_Request):
    """Find files by words and by meaning."""

    query: Text
    limit: _Limit = 10
    include_types: list[Text] = []
    sort_by: Literal["relevance", "recent"] = "relevance"
    time_window_hours: _Hours | None = None


class Recent(_Request):
    """The files that changed last. Hours win over days."""

    limit: _Limit = 10
    include_types: list[Text] = []
    time_window_hours: _Hours | None = None
    time_window_days: Annotated[int, Field(ge=1, le=_DAYS_MAX)] | None = None


class Row(Result):
    """A file that was found. ``score`` is higher for better."""

    path: str
    type: str
    size: int
    modified_at: str
    snippet: str
    tags: list[str]
    importance: float | None
    score: float


class FoundFiles(Result):
    """What a search found, best or newest first."""

    ok: Literal[True] = True
    query: str
    sort_by: str
    count: int
    results: list[Row]


class RecentFiles(Result):
    """The newest files."""

    ok: Literal[True] = True
    count: int
    results: list[Row]


class RebuildIndex(_Request):
    """Nothing is asked: a body is ignored."""


class Rebuilt(Result):
    """What the index covers. Nothing is committed: it is kept beside the documents."""

    ok: Literal[True] = True
    file_count: int
    committed_files: list[str] = Field(default_factory=list)
    latest_commit: str | None


class Incremental(Result):
    """What the index took in since it was asked for the last time."""

    changed_count: int
    removed_count: int
    unchanged_count: int


class RebuiltIncrementally(Rebuilt):
    """The same, with what changed."""

    incremental: Incremental


class IndexStatus(Result):
    """How far the index is. ``sqlite_fts`` says that it answers, ``state_file`` that it knows every document."""

    ok: Literal[True] = True
    generated_at: str | None
    file_count: int
    sqlite_fts: bool
    state_file: bool
