"""A large scope in little time: the real pipeline over pooled parses and vectors.

A few thousand texts are parsed and embedded for real. Every event says one of them and adds a sentence of its own;
it takes over the pooled text's claims and token vectors, and its pooled vector with a little noise. Everything after
the models (resolution, beliefs, episodes, concepts, index rows) is the server's own code. So the words of the events
differ as in real talk, while claims repeat more often: facts and beliefs grow more slowly than events do.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from corpus import Corpus, Said
from lamina.kernel.operations import Principal
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SystemClock
from lamina.language.temporal import find_times
from lamina.models.minilm import MiniLmEmbedder
from lamina.models.ports import Encoded
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.envelope import Envelope, draft_of
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.values import Extraction, Utterance
from lamina.pipeline.worker import Worker
from lamina.store.ports import Capture
from lamina.store.sqlite import SqliteStore

__all__ = ["Seeder"]

POOL_TEXTS, POOL_VECTORS = 6000, 1500
_CHUNK = 2000
_NOISE = 0.02
_TAIL = " … "


@dataclass(frozen=True, slots=True)
class _Pooled:
    said: Said
    extraction: Extraction


class Seeder:
    """Appends made-up events to a scope and derives them."""

    def __init__(self, folder: Path, scope: str, seed: int) -> None:
        self._scope = Scope.parse(scope)
        self._random = random.Random(seed)
        self._tails = Corpus(seed + 1)
        self._pool = _parsed(list(Corpus(seed).turns(POOL_TEXTS)))
        self._store = SqliteStore(folder, durable=False)
        extractor = _PooledExtractor({one.said.text: one.extraction for one in self._pool})
        embedder = _PooledEmbedder([one.said.text for one in self._pool[:POOL_VECTORS]], seed)
        deriver = Deriver(self._store, extractor, embedder, embed_eagerly=True)  # type: ignore[arg-type] # pooled
        self._worker = Worker(self._store, deriver, embedder, SystemClock(), "seeding")
        self._at = datetime(2023, 1, 2, 8, 0, tzinfo=UTC)
        self._count = 0

    def grow(self, count: int) -> None:
        """Append and derive until the scope holds ``count`` events."""
        principal = Principal("local", "user:local", "http")
        turns = self._turns(count - self._count)
        while chunk := [said for _, said in zip(range(_CHUNK), turns, strict=False)]:
            captures = []
            for said in chunk:
                envelope = Envelope.model_validate(
                    {"scope": str(self._scope), **said.item(f"seed-{self._count}")}
                )
                captures.append(Capture(draft_of(envelope, self._scope, principal), None, ""))
                self._count += 1
            self._store.log.append(captures)
            self._worker.drain()

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def _turns(self, count: int) -> Iterator[Said]:
        tails = self._tails.turns(count)
        for number, tail in enumerate(tails, start=self._count):
            core = self._random.choice(self._pool).said
            self._at += timedelta(minutes=90) if number % 20 == 0 else timedelta(seconds=20)
            text = f"{core.text}{_TAIL}{tail.text}"
            yield replace(core, text=text, session=f"session-{number // 20}", observed_at=self._at)


def _parsed(turns: Sequence[Said]) -> list[_Pooled]:
    extractor = RulesExtractor(find_times)
    found = []
    for first in range(0, len(turns), 64):
        part = turns[first : first + 64]
        utterances = [
            Utterance(t.text, f"user:{t.speaker.lower()}", t.observed_at, t.speaker, "user") for t in part
        ]
        found += [_Pooled(t, e) for t, e in zip(part, extractor.extract(utterances), strict=True)]
    return found


class _PooledExtractor:
    """The claims of the pooled text that an utterance begins with."""

    name = RulesExtractor.name

    def __init__(self, known: dict[str, Extraction]) -> None:
        self._known = known

    def extract(self, utterances: Sequence[Utterance]) -> list[Extraction]:
        return [self._known[utterance.text.split(_TAIL)[0]] for utterance in utterances]


class _PooledEmbedder:
    """Vectors of pooled texts under the name of the model that made them."""

    name = MiniLmEmbedder.name
    dim_pooled = MiniLmEmbedder.dim_pooled
    dim_tokens = MiniLmEmbedder.dim_tokens

    def __init__(self, texts: Sequence[str], seed: int) -> None:
        self._draw = np.random.default_rng(seed)
        self._encoded = MiniLmEmbedder().encode(texts)

    def encode(self, texts: Sequence[str]) -> Encoded:
        picked = self._draw.integers(len(self._encoded.pooled), size=len(texts))
        pooled = self._encoded.pooled[picked] + self._draw.normal(
            0, _NOISE, (len(texts), self.dim_pooled)
        ).astype(np.float32)
        pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
        return Encoded(pooled, [self._encoded.tokens[at] for at in picked])
