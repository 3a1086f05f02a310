"""Continuity as a whole: every operation over capsules, files and context, on parts that they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.context.operations import context_operations
from lamina.continuity.context.orienting import Orienting
from lamina.continuity.context.retrieving import Reminders, Retrieving
from lamina.continuity.context.snapshots import Snapshots
from lamina.continuity.files.directory import Directory
from lamina.continuity.files.finding import Finding
from lamina.continuity.files.operations import file_operations
from lamina.continuity.files.ports import Finder
from lamina.continuity.graph.graphing import Graphing
from lamina.continuity.graph.sources import GraphSources
from lamina.continuity.handlers.operations import continuity_operations
from lamina.continuity.handlers.reading import CapsuleReading
from lamina.continuity.shelf.documents import Shelf
from lamina.continuity.shelf.uses import Uses
from lamina.kernel.operations import Call, Operation
from lamina.store.ports.documents import Documents
from lamina.store.ports.idempotency import Idempotency

__all__ = ["SECTIONS", "RelayBounds", "Surroundings", "relay_operations"]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What continuity asks of others: what finds documents, what is due about subjects, what was used, and which keys."""

    finder: Finder
    reminders: Reminders
    version: str
    uses: Uses
    idempotency: Idempotency


SECTIONS: Final = ("context.retrieve:graph_context", "continuity.read:graph_summary")
"""What stands in answers beside what their requests tell, as ``tool:field``: sections that ``relay_operations`` wires."""


@dataclass(frozen=True, slots=True)
class RelayBounds:
    """Archives are stale past ``archive_days``."""

    archive_days: int = 90


def relay_operations(documents: Documents, around: Surroundings, bounds: RelayBounds) -> list[Operation[Any]]:
    """Every operation, within the bounds that an operator chose."""
    shelf, directory = Shelf(documents), Directory(documents)
    finding = Finding(documents, directory, around.finder)
    graphing = Graphing(GraphSources(documents, directory))

    def due(subject: Subject, call: Call) -> Mapping[str, Any]:
        return around.reminders([subject], call)

    sections = {"graph_summary": graphing.summary, "schedule_context": due}
    reading = CapsuleReading(shelf, sections)
    orienting = Orienting(shelf, reading)
    retrieving = Retrieving(documents, finding, orienting, graphing, around.reminders)
    groups: Sequence[list[Operation[Any]]] = (
        continuity_operations(
            documents, sections=sections, archive_days=bounds.archive_days, shelf=shelf, uses=around.uses
        ),
        file_operations(documents, finding, around.idempotency),
        context_operations(retrieving, Snapshots(documents, finding, around.version)),
    )
    return [operation for group in groups for operation in group]
