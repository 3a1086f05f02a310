"""The derived layers: versions of records, what they rest on, and the entities that they name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from lamina.kernel.heads import RecordHead
from lamina.kernel.records import Entity, Horizon, Layer, Loop, Mention, Record, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Axes, Instant
from lamina.kernel.understanding import FactState

__all__ = [
    "Attestation",
    "InputState",
    "NamedAs",
    "NewerFact",
    "RecordQuery",
    "Records",
    "Touched",
    "WhyGraph",
]

NamedAs = Literal["subject", "object"]
"""The place in which a fact names an entity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordQuery:
    """Which versions of derived records are wanted; None means any. Newest knowledge first.

    ``after`` is the (recorded_from, id) to go on from; only versions that were recorded after ``newer_than`` are wanted. Excluded records
    are left out.
    """

    tenant_id: str
    layer: Layer
    scopes: Collection[Scope]
    axes: Axes
    subject: str | None = None
    predicate: str | None = None
    object_key: str | None = None
    slot: str | None = None
    claim_key: str | None = None
    session: str | None = None
    topic: str | None = None
    min_confidence: float = 0.0
    stances: Collection[str] | None = None
    after: tuple[Instant, str] | None = None
    newer_than: Instant | None = None
    with_excluded: bool = False
    """Derivation sees excluded records too, so that a replay finds what live derivation found."""
    limit: int = 50


class Attestation(NamedTuple):
    """An event that spoke of a fact: by what relation, who said it, when, and from when on it says that the fact holds."""

    fact_id: str
    event_id: str
    relation: Tie
    actor: str | None
    holds_from: Instant
    observed_at: Instant
    recorded_at: Instant


class InputState(NamedTuple):
    """Whether a record that a concept was made from is kept out, and of a fact how it stands."""

    excluded: bool
    fact: FactState | None


class NewerFact(NamedTuple):
    """How a fact stands, and since when it is known."""

    recorded_from: Instant
    state: FactState


class Touched(NamedTuple):
    """The ``number`` of the newest change, and the ``ids`` of the records whose versions or edges changed after an earlier one, and of what
    such an edge leads to; None where that is not known any more."""

    number: int
    ids: Collection[str] | None


class WhyGraph(Protocol):
    """What rests on what."""

    def scopes_of(self, tenant_id: str, ids: Collection[str]) -> dict[str, Scope]:
        """The scope of each record that exists. A record keeps its scope in all its versions."""
        ...

    def redacted_among(self, tenant_id: str, event_ids: Collection[str]) -> dict[str, Scope]:
        """The scopes of those of the events whose words went: what rested on them may lie in other scopes."""
        ...

    def resting_on(
        self, tenant_id: str, source_ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, list[str]]:
        """The ids of the records that rest on each source, or did at ``seen_at``, in their order, each once."""
        ...

    def supports_of(
        self, tenant_id: str, record_ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, list[Support]]:
        """What each record rests on, or rested on at ``seen_at``, in the order of ``order_of``."""
        ...

    def supports_related(
        self,
        tenant_id: str,
        record_ids: Collection[str],
        relation: Tie,
        *,
        seen_at: Instant | None = None,
    ) -> dict[str, list[Support]]:
        """Mirrors ``supports_of`` those of the records that have a support of a relation."""
        ...

    def ended_by(
        self, tenant_id: str, last: Mapping[str, Instant | None]
    ) -> dict[str, Mapping[str, Instant]]:
        """The ids of what told that claims are over, in their order, each with when that was first recorded: of what speaks against
        each, and of what tells of its ``last`` instant, where it has one that counts."""
        ...

    def sources_below(
        self,
        tenant_id: str,
        record_ids: Collection[str],
        steps: int,
        width: int,
        *,
        most: int | None = None,
        seen_at: Instant | None = None,
    ) -> dict[str, list[str]]:
        """The ids alone of what records rest on, in the order of ``supports_of`` and as often as there; of what the records among the
        first ``width`` of each rest on, and so on: so many steps in one statement. Of each record no more than its first ``most``, of
        which ``width`` is a part."""
        ...

    def sources_among(
        self, tenant_id: str, wanted: Mapping[str, Sequence[str]], *, seen_at: Instant | None = None
    ) -> dict[str, list[str]]:
        """Those of the ids ``wanted`` of each record that it rests on, or did at ``seen_at``, in the order of ``supports_of`` and as often
        as there."""
        ...


class Records(WhyGraph, Protocol):
    """The derived layers and the why graph."""

    def touched(self, tenant_id: str, after: int) -> Touched:
        """What changed for a tenant after the change of a number, 0 before all, by whichever process. An erasure forgets it."""
        ...

    def get(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, Record]:
        """The latest version of each id that exists, or the latest that had been recorded by ``seen_at``, as it stood then."""
        ...

    def heads(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, RecordHead]:
        """The heads of what ``get`` gives."""
        ...

    def input_states(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, InputState]:
        """How what ``get`` gives stands, without what it says: a concept rests on hundreds."""
        ...

    def newer_facts(
        self,
        tenant_id: str,
        scope: Scope,
        entity_id: str,
        named_as: NamedAs,
        *,
        newer_than: Instant,
        seen_at: Instant,
        limit: int,
    ) -> list[NewerFact]:
        """How those facts of a scope stood at ``seen_at`` that name an entity and were recorded after ``newer_than``, the newest
        first. Mirrors ``query`` without what they say: of what is told of most, many are newer than what is understood of it."""
        ...

    def versions(self, tenant_id: str, record_id: str) -> list[Record]:
        """Every version of a record, first to last."""
        ...

    def query(self, query: RecordQuery) -> list[Record]:
        """The versions that a query wants, as they stood at its ``seen_at``: an end that came later is not theirs.

        ``slot`` and ``claim_key`` look things up alone, without validity.
        """
        ...

    def query_heads(self, query: RecordQuery) -> list[RecordHead]:
        """The heads of what ``query`` gives."""
        ...

    def ended_since(
        self, tenant_id: str, scopes: Collection[Scope], layer: Layer, seen_at: Instant, limit: int
    ) -> list[Record]:
        """The versions that stood at ``seen_at`` and have ended since, as they stood then; newest knowledge first.

        Excluded records are left out.
        """
        ...

    def in_slots(
        self, tenant_id: str, scope: Scope, slots: Collection[str], *, limit: int
    ) -> dict[str, list[Record]]:
        """What each of several slots of a scope holds now, newest knowledge first, at most ``limit`` of each.

        Mirrors ``query`` with each of them; the same order, and excluded records are left out.
        """
        ...

    def heads_in_slots(
        self, tenant_id: str, scope: Scope, slots: Collection[str], *, limit: int
    ) -> list[RecordHead]:
        """The heads of what ``in_slots`` gives, newest knowledge first."""
        ...

    def statements(self, tenant_id: str, fact_ids: Collection[str]) -> dict[str, list[Attestation]]:
        """The events that spoke of each fact and are not cancelled, in the order of the log."""
        ...

    def spoken_of(
        self,
        tenant_id: str,
        scope: Scope,
        since: Mapping[Horizon, Instant],
        *,
        due: tuple[Instant, Instant],
        read: int,
        limit: int,
    ) -> list[Loop]:
        """The active loops of a scope: those with a day from the first up to the second instant of ``due``, by their day; then
        the others, those spoken of last first; then by salience and id.

        Of a horizon in ``since`` only those of which somebody spoke, or whose day was, at that time or later.
        ``read`` is how many of the newest open loops are looked at.
        """
        ...

    def sources_of(
        self, tenant_id: str, record_ids: Collection[str], relation: Tie, *, seen_at: Instant
    ) -> dict[str, list[str]]:
        """The ids alone of what each record rested on by a relation at ``seen_at``, in their order."""
        ...

    def episodes_of(
        self, tenant_id: str, event_ids: Collection[str], *, seen_at: Instant
    ) -> dict[str, list[str]]:
        """The ids of the episodes that held each event at ``seen_at``, in their order."""
        ...

    def dependants_of(self, tenant_id: str, source_ids: Collection[str]) -> dict[str, list[Support]]:
        """The supports that rest on each source."""
        ...

    def entities(self, tenant_id: str, normalised_names: Collection[str]) -> dict[str, Entity]:
        """Entities by normalised name."""
        ...

    def entity_types(self, tenant_id: str, scope: Scope, entity_ids: Collection[str]) -> dict[str, str]:
        """What entities are, as a scope knows them: by the first event there that names them and is not cancelled."""
        ...

    def mentions(
        self, tenant_id: str, entity_ids: Collection[str], scopes: Collection[Scope], limit: int
    ) -> list[Mention]:
        """The newest mentions of entities inside scopes."""
        ...
