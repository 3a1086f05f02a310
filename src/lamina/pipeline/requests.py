"""Request and result types of the write operations (seed 002, 8.1 and 8.2)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, RootModel, model_validator

from lamina import limits
from lamina.kernel.wire import Request, Result, ScopePath
from lamina.pipeline.envelope import Envelope, EnvelopeDirectives, Item, Key, PartyIn, with_older_name

__all__ = [
    "BatchCaptured",
    "BulkExperience",
    "ByKey",
    "Captured",
    "CapturedOrWaited",
    "Experience",
    "StoredByKey",
    "Waited",
]


class Experience(Request):
    """One experience, and how long to wait: until it is on disk, or until a later stage is done."""

    envelope: Envelope
    wait: Literal["captured", "indexed", "consolidated"] | None = None


class BulkExperience(Request):
    """Up to a thousand experiences of one scope.

    ``strict_temporal`` stores them in the order of ``observed_at``, ``batch_throughput`` as they come.
    """

    scope: ScopePath
    observed_actor: PartyIn | None = None
    items: Annotated[list[Item], Field(min_length=1, max_length=limits.BULK_ITEMS_MAX)]
    directives: EnvelopeDirectives | None = None
    ordering: Literal["strict_temporal", "batch_throughput"] = "batch_throughput"
    idempotency_key: Key | None = None

    @model_validator(mode="before")
    @classmethod
    def _older_name(cls, value: Any) -> Any:
        return with_older_name(value)


class ByKey(Request):
    """The idempotency key of an earlier write."""

    key: Key


class Captured(Result):
    """The experience is on disk; its stages go on behind the answer."""

    event_id: str
    status: Literal["captured"]
    wal_offset: int
    lifecycle_stream: str


class Waited(Result):
    """How far the experience came while the caller waited. ``elapsed_ms`` is per stage."""

    event_id: str
    status: str
    wal_offset: int
    stages_completed: list[str]
    derives: list[str]
    elapsed_ms: dict[str, int]
    lifecycle_stream: str


class CapturedOrWaited(RootModel[Waited | Captured]):
    """How far the experience came; without ``wait`` that it is on disk."""


class BatchCaptured(Result):
    """Every item of the batch is on disk."""

    batch_id: str
    accepted: int
    lifecycle_stream: str


class StoredByKey(Result):
    """The event behind an idempotency key, and how far it came."""

    idempotency_key: str
    event_id: str
    status: str
    wal_offset: int
    batch_id: str | None
    stages_completed: list[str]
    lifecycle_stream: str
