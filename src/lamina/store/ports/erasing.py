"""Erasing: events that go or lose their words, derived records that go, and what stays of what rests on them (decision 0043)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from lamina.kernel.events import Event
from lamina.kernel.records import Layer, Record, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.ports.writes import Closing

__all__ = ["Cascade", "Erased", "Erasing", "Erasure", "Frozen", "Tombstone"]

Cascade = Literal["derived_only", "redact_events", "gdpr"]
"""How far forgetting goes: derived rows alone, the words of events, or events themselves (seed 002, 11.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """One step of forgetting, which lands whole. A long erasure is many of these, each of at most ``ERASURE_STEP_MAX`` events.

    ``delete`` and ``redact`` are ids of events: those to delete of which something outside ``scopes`` rests are redacted, too.
    ``scopes`` are those of which nothing derived stays. ``records`` are ids of derived records that go themselves. ``actor`` stands in
    the place of whoever said what is redacted, where given. A belief all of whose words are gone has its confidence multiplied by
    ``factor``, and goes where it is below ``floor`` then.

    With ``sweeps`` it is the last step of an erasure of ``scopes``: what is left there of what other scopes sent goes, at most
    ``ERASURE_SWEEP_MAX`` records in a step, and events of other scopes are sent there no more, also in a replay.
    """

    tenant_id: str
    erasure_id: str
    by_actor: str
    cascade: Cascade
    delete: Collection[str] = ()
    redact: Collection[str] = ()
    scopes: Collection[Scope] = ()
    records: Collection[str] = ()
    sweeps: bool = False
    actor: str | None = None
    audit_id: str | None = None
    factor: float = 0.5
    floor: float = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What a step did; nothing of what an earlier one had done already.

    ``gone`` are the ids of derived records that are no more, by layer, without what is made anew; ``kept`` are the records that rest on
    erased words, by scope; ``entries`` the ids of the log's entries that say so. ``remade`` are the scopes that are derived anew.
    ``beside_s`` are the seconds of the step in which others could write, as long as it only read.
    """

    deleted: Sequence[str] = ()
    redacted: Sequence[str] = ()
    gone: Mapping[Layer, Sequence[str]] = field(default_factory=dict)
    kept: Mapping[Scope, Sequence[str]] = field(default_factory=dict)
    demoted: Sequence[str] = ()
    entries: Sequence[str] = ()
    remade: Sequence[Scope] = ()
    beside_s: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """The id of what is no more, where it was and by what it went."""

    tenant_id: str
    id: str
    layer: Layer
    scope: Scope
    cascade: Cascade
    erasure_id: str
    audit_id: str | None
    erased_at: Instant


@dataclass(frozen=True, slots=True)
class Frozen:
    """What one instant of the log made of frozen records: versions that begin, versions that end, and supports."""

    records: Sequence[Record] = ()
    closings: Sequence[Closing] = ()
    supports: Sequence[Support] = ()


class Erasing(Protocol):
    """The one place where what was stored is taken away."""

    def erase(self, erasure: Erasure) -> Erased:
        """Do one step of forgetting in one transaction, durable on return; done again it changes nothing.

        What is erased is served no more from then on, by any process: rows of search, vectors, mentions, supports, jobs and lifecycle
        rows of it go at once. Claims of other scopes, and of events' own scopes that are not among ``scopes``, are kept as they
        stand (``frozen``); their episodes and understanding go, and these scopes are listed to be derived anew.
        """
        ...

    def mark(self, stones: Sequence[Tombstone]) -> None:
        """Leave marks of records that are not there, without anything else: where their scope is derived anew they stay away."""
        ...

    def tombstone(self, tenant_id: str, record_id: str) -> Tombstone | None:
        """What stands in the place of an id that was erased; None for one that is there again, or never was."""
        ...

    def derived_once(self, tenant_id: str, event_id: str) -> Sequence[str]:
        """What had rested on an event without words and was deleted with them, by id (seed 002, 18.2 item 2); facts and episodes alone,
        since ids of others are hashes of what they say."""
        ...

    def has_frozen(self, tenant_id: str) -> bool:
        """Whether anything of a tenant is frozen, or any event without its words."""
        ...

    def frozen_until(self, tenant_id: str, record_ids: Collection[str]) -> dict[str, Instant]:
        """Those of some records that are frozen: up to which instant of the log nothing changes them."""
        ...

    def frozen_matters(
        self, tenant_id: str, scope: Scope, matters: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], Instant]:
        """Those subjects and predicates of a scope that have frozen claims: up to which instant nothing else is derived of them."""
        ...

    def frozen_at(self, event: Event) -> Frozen:
        """What an event, or an entry, had made of frozen records when it was derived first."""
        ...
