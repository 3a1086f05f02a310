"""Erasures as they are planned and carried out: previews with their manifests, and jobs (seed 002, 8.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, NamedTuple, Protocol

from lamina import limits
from lamina.kernel.audit import AuditDraft
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Instant, waits
from lamina.store.ports.lifecycle import LifecycleDraft

__all__ = [
    "ERASURE_WAIT_US_MAX",
    "ErasedPlace",
    "ErasureFigures",
    "ErasureJob",
    "ErasureLine",
    "ErasureOutcome",
    "ErasurePhase",
    "ErasureStatus",
    "Erasures",
    "LineKind",
    "Preview",
    "TouchedScope",
]

ERASURE_WAIT_US_MAX: Final = int(limits.ERASURE_AGAIN_S_MAX * SECOND_US)

ErasureStatus = Literal["running", "completed", "cancelled", "failed"]


class ErasurePhase(StrEnum):
    """The five phases of seed 002, 11.3, in their order."""

    ENUMERATE = "enumerate"
    REFCOUNT = "refcount"
    CATEGORIZE = "categorize"
    DELETE = "delete"
    DEMOTE = "demote"


class LineKind(StrEnum):
    """What a line of a manifest says of an id. Their order is that of the manifest."""

    DELETE = "1-delete"
    REDACT = "2-redact"
    HELD = "3-held"
    REFERENCE = "4-reference"
    DEMOTE = "5-demote"
    DOCUMENT = "6-document"
    SHARED = "7-shared"
    RESIDUE = "8-residue"


class ErasureLine(NamedTuple):
    """A line of a manifest: ids alone, and paths of documents. ``record_id`` is what cites the event, of a reference only; ``scope`` is
    where the event, the record or the document lies."""

    kind: LineKind
    id: str
    scope: Scope
    record_id: str = ""


@dataclass(frozen=True, slots=True)
class TouchedScope:
    """A scope outside the erased one that cites its events, or holds some of them.

    ``erased`` where it goes as a whole, since nobody but the person owns it.
    """

    scope: Scope
    events: int
    co_owners: tuple[str, ...]
    erased: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureFigures:
    """How much a plan reaches: counts of events and of records."""

    events: int = 0
    episodes: int = 0
    facts: int = 0
    beliefs: int = 0
    understanding: int = 0
    delete: int = 0
    redact: int = 0
    held: int = 0
    demote: int = 0
    residue: int = 0
    touched: tuple[TouchedScope, ...] = ()
    holds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A plan that was shown, and until when it may be carried out."""

    tenant_id: str
    id: str
    scope: Scope
    made_by: str
    made_at: Instant
    expires_at: Instant
    figures: ErasureFigures


@dataclass(frozen=True, slots=True)
class ErasureOutcome:
    """What an erasure has done so far. ``took_us`` counts the time in which it worked."""

    deleted_events: int = 0
    redacted_events: int = 0
    held_events: int = 0
    deleted_episodes: int = 0
    deleted_facts: int = 0
    deleted_beliefs: int = 0
    deleted_understanding: int = 0
    demoted_beliefs: int = 0
    took_us: int = 0

    @property
    def deleted_records(self) -> int:
        """Derived records of every layer that are no more."""
        return self.deleted_episodes + self.deleted_facts + self.deleted_beliefs + self.deleted_understanding


@dataclass(frozen=True, slots=True)
class ErasedPlace:
    """What a running erasure hides: its scopes with all below them, but for those under a legal hold.

    ``actors`` are the names of the person whose memory goes; whatever they say meanwhile is refused.
    """

    erasure_id: str
    scopes: tuple[Scope, ...]
    held: tuple[Scope, ...] = ()
    actors: tuple[str, ...] = ()

    def hides(self, scope: Scope) -> bool:
        """Whether nothing of a scope is served."""
        return any(each.contains(scope) for each in self.scopes) and not self.keeps(scope)

    def keeps(self, scope: Scope) -> bool:
        """Whether a legal hold keeps a scope as it is."""
        return any(each.contains(scope) for each in self.held)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureJob:
    """An erasure as a job. ``place`` is what it hides while it runs.

    ``crosses`` says whether who asked may reach beyond the scope, ``unregisters`` whether the scope's registration goes with it.
    ``factor`` and ``floor`` are the policy's of demoted beliefs. ``ended_at`` and ``audit_id`` are None while it runs.
    """

    tenant_id: str
    id: str
    scope: Scope
    place: ErasedPlace
    requested_by: str
    audit_note: str
    started_at: Instant
    holds: tuple[str, ...] = ()
    crosses: bool = False
    unregisters: bool = False
    factor: float = 0.5
    floor: float = 0.3
    status: ErasureStatus = "running"
    phase: ErasurePhase = ErasurePhase.ENUMERATE
    fraction: float = 0.0
    outcome: ErasureOutcome = field(default_factory=ErasureOutcome)
    cancelling: bool = False
    ended_at: Instant | None = None
    audit_id: str | None = None
    attempts: int = 0
    next_attempt_at: Instant = 0
    last_error: str | None = None
    lease_until: Instant | None = None
    lease_owner: str | None = None
    fence: int = 0
    """The number of its lease, 0 while nobody has it."""

    def is_due(self, now: Instant) -> bool:
        """Whether somebody may work on it: nobody does, and its last failure is long enough ago."""
        free = not waits(self.lease_until or 0, now)
        waiting = waits(self.next_attempt_at, now, ERASURE_WAIT_US_MAX)
        return self.status == "running" and free and not waiting


class Erasures(Protocol):
    """Previews, manifests and jobs. Every change lands whole, durable on return.

    While an erasure runs, appending an event to what it hides, or by whom it is about, is refused with ``Conflict``
    (ERASURE_RUNNING); each begin and end moves ``Registry.version``.
    """

    def put_preview(self, preview: Preview, lines: Sequence[ErasureLine]) -> None:
        """Keep a plan with its manifest."""
        ...

    def prune(self, now: Instant) -> None:
        """Let go of the manifests of plans of every tenant that have expired by now, and of plans that are not remembered any more."""
        ...

    def preview(self, tenant_id: str, preview_id: str) -> Preview | None:
        """A plan that was shown, or None; it may have expired."""
        ...

    def put_lines(self, tenant_id: str, plan_id: str, lines: Sequence[ErasureLine]) -> None:
        """Keep the manifest of an erasure in place of the one that it had."""
        ...

    def lines(
        self, tenant_id: str, plan_id: str, *, after: ErasureLine | None = None, limit: int
    ) -> list[ErasureLine]:
        """Lines of the manifest of a preview or an erasure, in the order of their values, past one of them."""
        ...

    def ids(self, tenant_id: str, plan_id: str, kind: LineKind) -> list[str]:
        """The ids of all lines of a kind, in order."""
        ...

    def begin(self, erasure: ErasureJob) -> ErasureJob:
        """Keep a new erasure, which hides its place from now on. Raises ``Conflict`` (ERASURE_RUNNING) where one that runs hides
        the scope, or lies below it."""
        ...

    def get(self, tenant_id: str, erasure_id: str) -> ErasureJob | None:
        """One erasure, or None."""
        ...

    def listed(self, tenant_id: str, *, before: str | None = None, limit: int) -> list[ErasureJob]:
        """Erasures, newest first by id, past one of them."""
        ...

    def places(self, tenant_id: str) -> list[ErasedPlace]:
        """What the erasures that run hide."""
        ...

    def cancel(self, tenant_id: str, erasure_id: str) -> ErasureJob | None:
        """Have an erasure stop at its next boundary, where it runs; as it stands then, None where there is none."""
        ...

    def claim(self, *, now: Instant, lease_until: Instant, owner: str) -> ErasureJob | None:
        """Lease the oldest erasure that is due, under a new fence; None where there is none."""
        ...

    def advance(
        self, erasure: ErasureJob, *, lease_until: Instant, told: Sequence[LifecycleDraft] = ()
    ) -> ErasureJob | None:
        """Keep how far an erasure is (place, phase, fraction, outcome) and go on holding it, with rows of lifecycle; as it stands then, also whether
        it is to stop. None, with nothing done, where its lease is lost."""
        ...

    def put_off(self, erasure: ErasureJob, error: str, *, retry_at: Instant) -> None:
        """Note a failed attempt: due again at ``retry_at``. Nothing where its lease is lost."""
        ...

    def take_over(self) -> int:
        """For a worker that knows it is alone: the others are dead, so their leases end. How many."""
        ...

    def end(
        self, erasure: ErasureJob, *, told: Sequence[LifecycleDraft] = (), audit: AuditDraft | None = None
    ) -> bool:
        """End an erasure as its ``status`` says: nothing is hidden any more. Its audit row and its rows of lifecycle land with it. False, with nothing
        done, where its lease is lost.

        With one that is completed go the plans of its scope, and the paths in its manifest.
        """
        ...

    def counted(self, tenant_id: str, erasure_id: str) -> dict[Layer, int]:
        """How many ids of each layer an erasure left a mark of."""
        ...

    def pace(self) -> tuple[int, int]:
        """Over the erasures that were completed here last: events, and the microseconds that they took; zeros where there is none."""
        ...
