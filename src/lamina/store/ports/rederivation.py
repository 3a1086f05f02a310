"""Rederivation: what earlier versions of derivation made is made anew, scope by scope, while readers see the old rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lamina.kernel.scopes import Scope

if TYPE_CHECKING:
    from lamina.store.ports.store import Store

__all__ = ["Rederivation", "RederivationState", "ScopeGroup", "Versions"]

Versions = Mapping[str, str]
"""What derives: part to its version, such as facts to ``lamina-rules/5``."""


@dataclass(frozen=True, slots=True)
class ScopeGroup:
    """Scopes of a tenant that are derived anew together, since events of one make beliefs in another; sorted."""

    tenant_id: str
    scopes: tuple[Scope, ...]


@dataclass(frozen=True, slots=True)
class RederivationState:
    """How far a store is: the versions that its rows are made by, or are being made anew by, and those before.

    ``versions`` is empty where no worker has noted any, ``earlier`` where nothing was noted before. ``scopes`` and
    ``events`` are those that are left; of ``events`` so many as ``derived`` are done already and wait for the rest of
    their scope.
    """

    versions: Versions
    earlier: Versions
    scopes: int = 0
    events: int = 0
    derived: int = 0


class Rederivation(Protocol):
    """For the one worker that derives. Every method may be called again after a crash."""

    def begin(self, versions: Versions) -> RederivationState:
        """Note by which versions rows are made from now on; where they differ, list every scope that has derived rows."""
        ...

    def ask(self, tenant_id: str, scopes: Collection[Scope]) -> None:
        """List scopes to be derived anew, whatever their versions: what they were derived from is not all there any more."""
        ...

    def note_all(self, versions: Versions) -> None:
        """Everything is derived anew anyway, as in a replay: nothing is left to do here."""
        ...

    def state(self) -> RederivationState:
        """How far it is, in whichever process it is asked."""
        ...

    def next_group(self) -> ScopeGroup | None:
        """The next scopes that are to be derived anew."""
        ...

    def aside(self, group: ScopeGroup) -> Store:
        """A store beside this one with the log of a group, up to the first event that still waits for derivation here.

        All of it waits to be derived. What an earlier process had derived of it so far is kept. The caller closes it.
        """
        ...

    def note_derived(self, group: ScopeGroup, events: int) -> None:
        """How many events of a group have been derived aside, for ``state``."""
        ...

    def swap(self, group: ScopeGroup) -> bool:
        """Put what was derived aside, which is closed by now, in the place of a group's rows, in one transaction.

        Events that came since are queued to be derived again. False, with nothing done, where the log of the group changed
        below them meanwhile (a cancellation, an answer of a model, a stage tried again), or what was kept without its words was
        forgotten: the group is begun anew.
        """
        ...
