"""The whole of a store: every port, over one place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from lamina.store.ports.audit import Audit, Peppers
from lamina.store.ports.changes import Changes
from lamina.store.ports.citations import Citations
from lamina.store.ports.definitions import Definitions
from lamina.store.ports.documents import Documents
from lamina.store.ports.erasing import Erasing
from lamina.store.ports.erasures import Erasures
from lamina.store.ports.expiries import Expiries
from lamina.store.ports.idempotency import Idempotency
from lamina.store.ports.index import IndexRows
from lamina.store.ports.inquiries import Inquiries
from lamina.store.ports.job_runs import JobRuns
from lamina.store.ports.jobs import Jobs
from lamina.store.ports.lifecycle import Lifecycle
from lamina.store.ports.log import EventLog
from lamina.store.ports.messages import Messages
from lamina.store.ports.model_outputs import ModelOutputs
from lamina.store.ports.packs import Packs
from lamina.store.ports.records import Records
from lamina.store.ports.rederivation import Rederivation
from lamina.store.ports.registry import Registry
from lamina.store.ports.relay_tokens import RelayTokens
from lamina.store.ports.revocations import Revocations
from lamina.store.ports.schedule import Schedule
from lamina.store.ports.scopes import Scopes
from lamina.store.ports.sessions import Sessions
from lamina.store.ports.signing_keys import SealedKeys
from lamina.store.ports.traces import Traces
from lamina.store.ports.upkeep import Upkeep

__all__ = ["Store"]


class Store(Protocol):
    """One engine."""

    @property
    def log(self) -> EventLog:
        """The append-only truth."""
        ...

    @property
    def expiries(self) -> Expiries:
        """What is past its time to live."""
        ...

    @property
    def idempotency(self) -> Idempotency:
        """Keys and what they led to."""
        ...

    @property
    def jobs(self) -> Jobs:
        """What is still to derive."""
        ...

    @property
    def records(self) -> Records:
        """What was derived."""
        ...

    @property
    def index(self) -> IndexRows:
        """What search reads."""
        ...

    @property
    def lifecycle(self) -> Lifecycle:
        """What happened to events and jobs."""
        ...

    @property
    def scopes(self) -> Scopes:
        """The scopes that exist."""
        ...

    @property
    def registry(self) -> Registry:
        """Registered scopes, members and policy documents."""
        ...

    @property
    def audit(self) -> Audit:
        """Who asked for what, and what they were told."""
        ...

    @property
    def peppers(self) -> Peppers:
        """The secrets behind the hashes of audit rows."""
        ...

    @property
    def documents(self) -> Documents:
        """Versioned documents, and their repository."""
        ...

    @property
    def relay_tokens(self) -> RelayTokens:
        """The opaque tokens of Relay peers."""
        ...

    @property
    def signing_keys(self) -> SealedKeys:
        """Keys that peers sign with."""
        ...

    @property
    def job_runs(self) -> JobRuns:
        """Runs of operators' jobs."""
        ...

    @property
    def messages(self) -> Messages:
        """What peers send each other."""
        ...

    @property
    def upkeep(self) -> Upkeep:
        """What operators ask."""
        ...

    @property
    def revocations(self) -> Revocations:
        """Tokens that hold no more."""
        ...

    @property
    def definitions(self) -> Definitions:
        """What tenants define for themselves."""
        ...

    @property
    def schedule(self) -> Schedule:
        """One-shot reminders."""
        ...

    @property
    def sessions(self) -> Sessions:
        """Sittings, their windows and the outbox."""
        ...

    @property
    def model_outputs(self) -> ModelOutputs:
        """What language models answered."""
        ...

    @property
    def packs(self) -> Packs:
        """What was made for callers within the last minute."""
        ...

    @property
    def inquiries(self) -> Inquiries:
        """What language models are asked of events."""
        ...

    @property
    def traces(self) -> Traces:
        """What erasing takes beside log and derived rows."""
        ...

    @property
    def rederivation(self) -> Rederivation:
        """What earlier versions derived, and is derived anew."""
        ...

    @property
    def citations(self) -> Citations:
        """What rests on the events of somebody, wherever it lies."""
        ...

    @property
    def erasures(self) -> Erasures:
        """Erasures, as they are planned and carried out."""
        ...

    @property
    def erasing(self) -> Erasing:
        """What is erased, and what stays of what rested on it."""
        ...

    @property
    def changes(self) -> Changes:
        """What is committed, for those who follow it."""
        ...

    def snapshot(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Every derived row as (table, values), sorted, without store numbers: what replay must reproduce."""
        ...

    def close(self) -> None:
        """Finish what is queued and let go of the files."""
        ...
