"""Recorded answers of models in SQLite."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import astuple

import apsw

from lamina.store.blocks import load_blocks
from lamina.store.ports.model_outputs import ModelOutput, Spending
from lamina.store.ports.writes import Inquiry
from lamina.store.rows import Row
from lamina.store.sqlite.connection import Readers, Writer

__all__ = ["SqliteModelOutputs", "put_output"]

_SQL = load_blocks("lamina.store.sqlite")


def put_output(connection: apsw.Connection, output: ModelOutput, sources: Collection[str]) -> None:
    """Keep an answer, unless its input has one, with the events that it was made from."""
    connection.execute(_SQL["insert_model_output"], astuple(output))
    connection.executemany(
        _SQL["insert_model_output_source"],
        [(output.tenant_id, event_id, output.input_hash) for event_id in sources],
    )


def words_stand(connection: apsw.Connection, tenant_id: str, event_ids: Collection[str]) -> bool:
    """Whether all of some events still have their words."""
    return not any(connection.execute(_SQL["lost_words"], (tenant_id, json.dumps(list(event_ids)))))


class SqliteModelOutputs:
    """``ModelOutputs`` over its two tables."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    def record(
        self,
        output: ModelOutput,
        sources: Collection[str],
        asked: Inquiry | None = None,
        worded: Collection[str] = (),
    ) -> ModelOutput:
        """Mirrors ``ModelOutputs.record``."""
        tenant_id = output.tenant_id
        key = (tenant_id, output.input_hash)

        def work(connection: apsw.Connection) -> ModelOutput:
            if asked is not None and not any(connection.execute(_SQL["asked_still"], (tenant_id, asked.id))):
                return output
            if not words_stand(connection, tenant_id, worded):
                return output
            put_output(connection, output, sources)
            return _output(next(connection.execute(_SQL["find_model_output"], key)))

        return self._writer.write(work)

    def find(self, tenant_id: str, input_hash: str) -> ModelOutput | None:
        """Mirrors ``ModelOutputs.find``."""
        row = self._readers.row(_SQL["find_model_output"], (tenant_id, input_hash))
        return None if row is None else _output(row)

    def spend(self, spending: Spending) -> None:
        """Mirrors ``ModelOutputs.spend``."""

        def work(connection: apsw.Connection) -> None:
            connection.execute(_SQL["add_model_spend"], spending)

        self._writer.write(work)

    def spent(self, tenant_id: str | None, day: int) -> list[Spending]:
        """Mirrors ``ModelOutputs.spent``."""
        if tenant_id is None:
            return [Spending(*row) for row in self._readers.rows(_SQL["model_spend_on"], (day,))]
        return [Spending(*row) for row in self._readers.rows(_SQL["model_spend_of"], (tenant_id, day))]

    def drop(self, tenant_id: str, input_hashes: Collection[str]) -> int:
        """Mirrors ``ModelOutputs.drop``."""
        bindings = (tenant_id, json.dumps(list(input_hashes)))

        def work(connection: apsw.Connection) -> int:
            connection.execute(_SQL["delete_output_sources"], bindings)
            connection.execute(_SQL["delete_outputs"], bindings)
            return connection.changes()

        return self._writer.write(work)

    def forget(self, tenant_id: str, event_ids: Collection[str]) -> int:
        """Mirrors ``ModelOutputs.forget``."""
        bindings = (tenant_id, json.dumps(list(event_ids)))

        def work(connection: apsw.Connection) -> int:
            connection.execute(_SQL["forget_model_outputs"], bindings)
            gone = connection.changes()
            connection.execute(_SQL["forget_model_output_sources"], (tenant_id,))
            return gone

        return self._writer.write(work)


def _output(row: Row) -> ModelOutput:
    tenant_id, input_hash, task, model, text, tokens_in, tokens_out, recorded_at = row
    return ModelOutput(
        tenant_id=tenant_id,
        input_hash=input_hash,
        task=task,
        model=model,
        text=text,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        recorded_at=recorded_at,
    )
