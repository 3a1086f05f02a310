"""Request and result types of replication (contract 1.14). ``version`` of a file is our addition."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lamina import limits
from lamina.coordination.replication import bounds
from lamina.kernel.wire import Request, Result, Text

__all__ = ["ConflictPolicy", "Pull", "Pulled", "Push", "Pushed", "ReplicatedFile"]

ConflictPolicy = Literal["last_write_wins", "source_wins", "target_wins", "error"]

_PeerId = Annotated[Text, Field(min_length=1, max_length=limits.COORDINATION_PEER_LENGTH_MAX)]
_Key = Annotated[Text, Field(min_length=1, max_length=bounds.REPLICATION_KEY_LENGTH_MAX)]
_Path = Annotated[Text, Field(min_length=1, max_length=limits.DOCUMENT_PATH_BYTES_MAX)]
_When = Annotated[Text, Field(max_length=64)]


class ReplicatedFile(BaseModel):
    """A file as its source has it. ``modified_at`` and ``tombstone_at`` are for people: nothing is decided by them."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    path: _Path
    content: Text | None = None
    sha256: Annotated[Text, Field(max_length=71)] | None = None
    version: Annotated[int, Field(ge=1, le=limits.COORDINATION_VERSION_MAX)] | None = None
    modified_at: _When | None = None
    deleted: bool = False
    tombstone_at: _When | None = None


class Pull(Request):
    """Take over the files of another server: all of them, or none."""

    model_config = ConfigDict(extra="ignore")

    source_peer: _PeerId
    files: Annotated[tuple[ReplicatedFile, ...], Field(max_length=bounds.REPLICATION_FILES_MAX)]
    mode: Literal["upsert", "overwrite"] = "upsert"
    conflict_policy: ConflictPolicy = "last_write_wins"
    idempotency_key: _Key | None = None
    commit_message: Text | None = None


class Push(Request):
    """Give the files below some folders to another server."""

    model_config = ConfigDict(extra="ignore")

    peer_id: _PeerId | None = None
    base_url: Annotated[Text, Field(max_length=limits.PEER_URL_LENGTH_MAX)] | None = None
    source_peer: _PeerId | None = None
    idempotency_key: _Key | None = None
    target_path: Annotated[
        Text,
        Field(
            max_length=limits.PEER_URL_LENGTH_MAX, pattern=r"^(/[A-Za-z0-9_\-.~]{1,64})*/v1/replication/pull$"
        ),
    ] = "/v1/replication/pull"
    include_prefixes: Annotated[
        tuple[_Path, ...], Field(min_length=1, max_length=bounds.REPLICATION_PREFIXES_MAX)
    ] = ("journal", "essays", "projects", "memory", "messages", "tasks", "patches", "snapshots", "archive")
    max_files: Annotated[int, Field(ge=1, le=bounds.REPLICATION_PUSH_FILES_MAX)] = 2000
    dry_run: bool = False
    target_token: Annotated[Text, Field(max_length=bounds.REPLICATION_TOKEN_LENGTH_MAX)] | None = None
    include_deleted: bool = True
    conflict_policy: ConflictPolicy = "last_write_wins"


class Pulled(Result):
    """What became of the files. Counted as skipped is what stood so already, was older, or is not taken over."""

    ok: Literal[True] = True
    idempotent_replay: bool = False
    source_peer: str
    received_count: int
    changed_count: int
    deleted_count: int
    conflict_count: int
    skipped_count: int
    committed_files: tuple[str, ...] = ()
    latest_commit: str | None = None
    warnings: tuple[str, ...] = ()


class Pushed(Result):
    """What was sent, or would be: ``remote`` is the sum of the target's answers, and null where nothing was sent."""

    ok: Literal[True] = True
    dry_run: bool
    idempotency_key: str
    file_count: int
    by_prefix: dict[str, int]
    target_base_url: str | None = None
    target_path: str
    target_url: str | None = None
    sample_paths: tuple[str, ...] = ()
    include_deleted: bool
    conflict_policy: ConflictPolicy
    remote: dict[str, Any] | None = None  # Any: counts
    committed_files: tuple[str, ...] = ()
    latest_commit: str | None = None
    warnings: tuple[str, ...] = ()
