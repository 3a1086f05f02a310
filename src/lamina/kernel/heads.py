"""What a derived version is weighed by, without the rest of what it says: a recall weighs ten times as many as it shows."""

from __future__ import annotations

from typing import NamedTuple

from lamina.kernel.local import Offset
from lamina.kernel.records import Belief, Claim, Concept, Episode, Fact, Layer, Record, Stance
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant

__all__ = ["RecordHead"]


class RecordHead(NamedTuple):
    """Mirrors the fields of ``Record``, ``Claim`` and ``Fact`` under their names; what a layer has not is empty. A tuple, since a recall
    reads hundreds of them.

    ``amount`` is how much is behind it: the weight of a belief's evidence for and against, the size of an episode, the inputs of a concept.
    """

    id: str
    layer: Layer
    scope: Scope
    version: int
    excluded: bool
    is_deprecated: bool
    confidence: float
    amount: float
    valid_from: Instant
    valid_to: Instant | None
    recorded_from: Instant
    recorded_to: Instant | None
    superseded_by: str | None
    subject_id: str = ""
    subject_name: str = ""
    predicate: str = ""
    object_id: str | None = None
    object_key: str = ""
    object_text: str = ""
    negated: bool = False
    external: bool = False
    is_own_word: bool = True
    event_id: str = ""
    kind: str = ""
    text: str = ""
    slot: str | None = None
    is_stated: bool = True
    fades_at: Instant | None = None
    to_offset: Offset | None = None

    @classmethod
    def of(cls, record: Record) -> RecordHead:
        """That of a version at hand."""
        head = cls(
            record.id,
            record.layer,
            record.scope,
            record.version,
            record.excluded,
            isinstance(record, Belief | Concept) and record.stance is Stance.DEPRECATED,
            record.confidence,
            _amount(record),
            record.valid_from,
            record.valid_to,
            record.recorded_from,
            record.recorded_to,
            record.superseded_by,
        )
        if isinstance(record, Claim):
            head = head._replace(
                subject_id=record.subject.id,
                subject_name=record.subject.name,
                predicate=record.predicate,
                object_id=record.object.id,
                object_key=record.object.key,
                object_text=record.object.text,
                negated=record.negated,
                external=record.external,
                is_own_word=record.said_by is None,
                to_offset=record.to_offset,
            )
        if isinstance(record, Fact):
            head = head._replace(
                event_id=record.event_id,
                kind=record.kind,
                text=record.text,
                slot=record.slot,
                is_stated=record.is_stated,
                fades_at=record.fades_at,
            )
        return head

    @property
    def is_claim(self) -> bool:
        """Whether something is said of a subject."""
        return self.layer in _CLAIMS

    @property
    def claim(self) -> tuple[str, str, str, bool]:
        """Mirrors ``Claim.claim_key``: equal for those that say the same of the same subject."""
        return self.subject_id, self.predicate, self.object_key, self.negated

    def as_stood(self, seen_at: Instant | None) -> RecordHead:
        """Without an end that came after an instant; None is now."""
        if seen_at is None or self.recorded_to is None or self.recorded_to <= seen_at:
            return self
        return self._replace(recorded_to=None)


_CLAIMS = (Layer.FACTS, Layer.BELIEFS)


def _amount(record: Record) -> float:
    match record:
        case Belief():
            return record.alpha + record.beta
        case Episode():
            return record.size
        case Concept():
            return record.consulted
        case _:
            return 0.0
