"""Memory files of a store in memory, with a worker that needs no models and an index to find them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from capsules import NOW
from given import ManualClock
from lamina.continuity.permission import READS, Reach
from lamina.continuity.relay import RelayBounds, Surroundings, relay_operations
from lamina.continuity.shelf.uses import NoUses
from lamina.index.documents import DocumentIndex
from lamina.index.resident import ResidentIndexes
from lamina.kernel.operations import Answer, Call, Operation
from lamina.kernel.relay import RELAY_SCOPE, RelayGrant, RelayRight
from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.models.ports import Encoded, TokenMatrix
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.store.memory import MemoryStore
from shelves import AGENT, OWNER, Everything, Granted

DIMENSIONS = 8
SUBJECTS = ("tea coffee drink", "boat ship sail", "code test bug")


class Meanings:
    """An embedder that knows three subjects: texts about the same one are near each other."""

    name = "meanings"
    dim_pooled = DIMENSIONS

    def encode(self, texts: Sequence[str]) -> Encoded:
        pooled = np.zeros((len(texts), DIMENSIONS), np.float32)
        for number, text in enumerate(texts):
            for subject, words in enumerate(SUBJECTS):
                pooled[number, subject] = sum(word in text.lower() for word in words.split())
            pooled[number, -1] += 0.0 if pooled[number].any() else 1.0
            pooled[number] /= np.linalg.norm(pooled[number])
        empty = TokenMatrix(np.zeros((0, DIMENSIONS), np.int8), np.zeros(0, np.float32))
        return Encoded(pooled, [empty] * len(texts))


def folders(read: Collection[str] = (), write: Collection[str] = ()) -> RelayGrant:
    """Every right but to administer, in these folders."""
    return RelayGrant(
        frozenset(set(RelayRight) - {RelayRight.ADMIN_PEERS}), frozenset(read), frozenset(write)
    )


def call_by(grant: RelayGrant, at: int = NOW) -> Call:
    """A call of an agent with a grant."""
    return Call(principal=AGENT, request_id="r", now=at, permits=Everything(), relay=Granted(grant))


def reach(grant: RelayGrant = OWNER) -> Reach:
    """What an agent with a grant may read."""
    return Reach(call_by(grant), READS)


class Library:
    """The operations over memory files, called by name; ``clock.at`` is now, ``grant`` what the caller may touch."""

    def __init__(self, grant: RelayGrant = OWNER) -> None:
        self.clock = ManualClock(NOW)
        self.store = MemoryStore(clock=self.clock)
        self.grant = grant
        embedder = Meanings()
        indexes = ResidentIndexes(self.store.index, embedder.name, embedder.dim_pooled)
        self.finder = DocumentIndex(self.store.log, indexes, embedder, RELAY_SCOPE)
        around = Surroundings(
            self.finder,
            lambda subjects, call: {"about": [each.id for each in subjects]},
            "1",
            NoUses(),
            self.store.idempotency,
        )
        rows = relay_operations(self.store.documents, around, RelayBounds())
        self.operations: dict[str, Operation[Any]] = {row.name: row for row in rows}
        extractor = RulesExtractor(find_times, use_parser=False)
        self.worker = Worker(
            self.store, Deriver(self.store, extractor, embedder), embedder, self.clock, "test"
        )

    def __call__(self, name: str, **body: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.answer(name, **body).result.model_dump(mode="json")
        return result

    def answer(self, name: str, **body: Any) -> Answer:
        """What an operation answers, with what goes beside its result."""
        operation = self.operations[name]
        call = call_by(self.grant, self.clock.now())
        answer = operation.handler(operation.request.model_validate(body), call)
        assert isinstance(answer.result, operation.result)
        return answer

    def write(self, path: str, content: str) -> None:
        """A file, a second after the last."""
        self.clock.at += SECOND_US
        self("file_write", path=path, content=content)

    def append(self, path: str, **record: Any) -> None:
        """A record, a second after the last change."""
        self.clock.at += SECOND_US
        self("file_append", path=path, record=record)

    def derive(self) -> None:
        """Let the worker catch up."""
        self.worker.drain()

    def found(self, query: str, **more: Any) -> list[str]:
        """The paths that a search gives."""
        return [row["path"] for row in self("file_search", query=query, **more)["results"]]

    def newest(self, **more: Any) -> list[str]:
        """The paths that changed last."""
        return [row["path"] for row in self("file_recent", **more)["results"]]
