"""A large scope in little time: the real pipeline over pooled parses and vectors.

A few thousand texts are parsed and embedded for real. Every event says one of them and adds a sentence of its own;
it takes over the pooled text's claims and token vectors, and its pooled vector with a little noise. Everything after
the models (resolution, beliefs, episodes, concepts, index rows) is the server's own code. So the words of the events
differ as in real talk, while claims repeat more often: facts and beliefs grow more slowly than events do.

Past ``DERIVED`` events the scope grows by copies of itself: events with new tails, times, sessions and vectors, and
the derived rows under new ids, about the same entities.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from corpus import Corpus, Said
from lamina.index.rows import days_noted, event_row
from lamina.kernel.operations import Principal
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Instant, SystemClock, from_datetime
from lamina.language.temporal import find_times
from lamina.models.minilm import MiniLmEmbedder
from lamina.models.ports import Encoded
from lamina.pipeline.derived_by import DERIVED_BY
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.drafting import draft_of
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.values import Extraction, Utterance
from lamina.pipeline.indexing import vector_rows
from lamina.pipeline.worker import Worker
from lamina.store.blocks import load_blocks
from lamina.store.bodies import packed, unpacked
from lamina.store.ports.log import Capture
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.codec import event_row as stored_event
from lamina.store.sqlite.folding import unfold
from lamina.store.sqlite.index import put_texts, put_vectors
from lamina.types.envelope import Envelope

__all__ = ["PooledEmbedder", "Seeder"]

POOL_TEXTS, POOL_VECTORS = 6000, 1500
DERIVED = 10_000
_CHUNK = 2000
_NOISE = 0.02
_TAIL = " … "


_COPIES = (
    """INSERT INTO record
    SELECT tenant_id, replace(replace(id, :old, :new), :old_concept, :new_concept), version, layer, scope, position + :moved, subject, predicate,
           object_key, slot, claim_key, session, topic, confidence, stance, valid_from, valid_to,
           recorded_from + :span, recorded_to + :span, replace(replace(superseded_by, :old, :new), :old_concept, :new_concept),
           replace(replace(closed_by, :old, :new), :old_concept, :new_concept), excluded,
           packed_of(layer, replace(replace(text_of(body), :old, :new), :old_concept, :new_concept)),
           status, salience, horizon, due_at, due_offset, seen_at
    FROM record WHERE tenant_id = :tenant AND position <= :last""",
    """INSERT INTO support
    SELECT tenant_id, replace(replace(record_id, :old, :new), :old_concept, :new_concept), replace(replace(source_id, :old, :new), :old_concept, :new_concept), relation, weight, polarity,
           place, actor, recorded_at + :span, at, part, replace(accepted_in, :old, :new)
    FROM support
    WHERE tenant_id = :tenant AND (instr(source_id, :old) OR instr(source_id, :old_concept))""",
    """INSERT INTO mention
    SELECT tenant_id, entity_id, scope, replace(replace(event_id, :old, :new), :old_concept, :new_concept), position + :moved, surface, type
    FROM mention WHERE tenant_id = :tenant AND position <= :last""",
)


_FIRST_CONCEPT = "concept_00000000"
"""A concept's id is a function of its subject and not of a moment."""


class _Past:
    """Thirty days ago: copies are recorded after the events that they repeat, and before now."""

    def now(self) -> Instant:
        return SystemClock().now() - 30 * 86_400 * SECOND_US


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
        self._store = SqliteStore(folder, clock=_Past(), durable=False)
        # Or a worker derives all of it anew beside whatever is measured.
        self._store.rederivation.note_all(DERIVED_BY)
        extractor = _PooledExtractor({one.said.text: one.extraction for one in self._pool})
        self._embedder = PooledEmbedder([one.said.text for one in self._pool[:POOL_VECTORS]], seed)
        deriver = Deriver(self._store, extractor, self._embedder, embed_eagerly=True)  # type: ignore[arg-type]
        self._worker = Worker(self._store, deriver, self._embedder, SystemClock(), "seeding")
        self._at = datetime(2023, 1, 2, 8, 0, tzinfo=UTC)
        self._count = 0

    def grow(self, count: int) -> None:
        """Append and derive until the scope holds ``count`` events; past ``DERIVED`` a multiple of it."""
        self._derive(min(count, DERIVED))
        while self._count < count:
            copy = self._count // DERIVED
            self._store._writer.write(partial(self._copy, copy=copy))
            self._count += DERIVED

    def _derive(self, count: int) -> None:
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

    def _copy(self, connection: apsw.Connection, copy: int) -> None:
        """The first ``DERIVED`` events and all that rests on them once more, as the ``copy``-th time."""
        tenant, base = "local", self._store.log.walk("local", 0, DERIVED)
        span = base[-1].recorded_at - base[0].recorded_at + 1_000_000
        old, new = base[0].id[3:8], f"_{copy + 1:02x}{base[0].id[6:8]}"
        for first in range(0, len(base), _CHUNK):
            part = base[first : first + _CHUNK]
            events = [
                replace(
                    event,
                    id=event.id.replace(old, new),
                    position=event.position + copy * DERIVED,
                    recorded_at=event.recorded_at + copy * span,
                    session=said.session,
                    content={**event.content, "text": said.text},
                    context=event.context._replace(observed_at=from_datetime(said.observed_at)),
                )
                for event, said in zip(part, self._turns(len(part), start=self._count + first), strict=True)
            ]
            stored = [stored_event(e.position, e.position, e.id, e.recorded_at, e) for e in events]
            connection.executemany(load_blocks("lamina.store.sqlite")["insert_event"], stored)
            put_texts(
                connection,
                [event_row(event, [], wants_vector=False, days=days_noted(event)) for event in events],
            )
            put_vectors(connection, vector_rows(events, self._embedder))
        concept = f"concept_{copy:08x}"
        bindings = {
            "tenant": tenant,
            "old": old,
            "new": new,
            "old_concept": _FIRST_CONCEPT,
            "new_concept": concept,
            "span": copy * span,
            "moved": copy * DERIVED,
            "last": DERIVED,
        }
        connection.create_scalar_function("text_of", _text_of, 1, deterministic=True)
        connection.create_scalar_function("packed_of", _packed_of, 2, deterministic=True)
        ids = connection.execute("SELECT DISTINCT id FROM record WHERE tenant_id = ?", (tenant,))
        unfold(connection, tenant, [str(row[0]) for row in ids.fetchall()])
        for sql in _COPIES:
            names = set(re.findall(r":([a-z_]+)", sql))
            connection.execute(sql, {name: bindings[name] for name in names})
        rows = self._store.index.texts_after(tenant, self._scope, 0, 1_000_000)
        put_texts(
            connection,
            [
                row._replace(record_id=row.record_id.replace(old, new).replace(_FIRST_CONCEPT, concept))
                for row in rows
                if row.layer is not Layer.EVENTS and (old in row.record_id or _FIRST_CONCEPT in row.record_id)
            ],
        )

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def _turns(self, count: int, start: int | None = None) -> Iterator[Said]:
        tails = self._tails.turns(count)
        for number, tail in enumerate(tails, start=self._count if start is None else start):
            core = self._random.choice(self._pool).said
            self._at += timedelta(minutes=90) if number % 20 == 0 else timedelta(seconds=20)
            text = f"{core.text}{_TAIL}{tail.text}"
            yield replace(core, text=text, session=f"session-{number // 20}", observed_at=self._at)


def _text_of(*values: Any) -> str:  # Any: a value of SQL
    (body,) = values
    return unpacked(body)


def _packed_of(*values: Any) -> str | bytes:  # Any: values of SQL
    layer, body = values
    return packed(Layer(layer), body)


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

    def load(self) -> None:
        """All is there."""

    def extract(self, utterances: Sequence[Utterance]) -> list[Extraction]:
        return [self._known[utterance.text.split(_TAIL)[0]] for utterance in utterances]


class PooledEmbedder:
    """Vectors of pooled texts under the name of the model that made them."""

    name = MiniLmEmbedder.name
    dim_pooled = MiniLmEmbedder.dim_pooled

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
