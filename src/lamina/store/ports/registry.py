"""What the store keeps for access: registered scopes with their members, and policy documents.

``version`` rises with every change that a decision could notice, in any process: of members and policies, and when a
token is taken back. A scope that registers itself with its first write changes no decision about others and leaves it
alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from lamina.kernel.events import EventDraft
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant

__all__ = ["Activation", "IdleScope", "PolicyRow", "Registry", "ScopeState"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeState:
    """A scope as access sees it. ``registered_at`` is None for one that registered itself with its first write."""

    tenant_id: str
    path: Scope
    created_by: str
    created_at: Instant
    registered_at: Instant | None = None
    members: Mapping[str, str] = field(default_factory=dict)
    """Role by actor: ``owner``, ``writer`` or ``reader``. Of a registered scope only."""
    policies: Mapping[str, Any] = field(default_factory=dict)

    @property
    def registered(self) -> bool:
        """Whether somebody registered it, so that its members count."""
        return self.registered_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRow:
    """A policy document as it was put. The deployment's has no tenant and no target."""

    tenant_id: str
    tier: str
    target: str
    document: Mapping[str, Any]
    set_by: str
    set_at: Instant


@dataclass(frozen=True, slots=True)
class IdleScope:
    """A scope that nobody registered and that was not written to for long."""

    path: Scope
    last_write_at: Instant
    events: int
    facts: int


@dataclass(frozen=True, slots=True)
class Activation:
    """What a place of policy says of the vocabularies that are active: the entry of the log, and the name of its definition."""

    entry: EventDraft
    name: str


class Registry(Protocol):
    """Scopes, members and policy documents. Every change lands whole, durable on return."""

    def version(self) -> int:
        """The number of changes so far."""
        ...

    def states(self, tenant_id: str, paths: Collection[Scope]) -> dict[Scope, ScopeState]:
        """The scopes among those paths that exist."""
        ...

    def listed(
        self,
        tenant_id: str,
        prefix: str,
        *,
        auto_provisioned: bool | None = None,
        after: str = "",
        skip: int = 0,
        limit: int = 50,
    ) -> list[ScopeState]:
        """Scopes that were not pruned and whose path begins with ``prefix``, by path, past ``after`` and then past ``skip`` more."""
        ...

    def owns_below(self, tenant_id: str, actor: str, path: Scope) -> bool:
        """Whether the actor owns or may write as a member to a scope strictly below the path."""
        ...

    def others_below(self, tenant_id: str, actor: str, path: Scope, *, names: Collection[str] = ()) -> bool:
        """Whether a scope strictly below the path is owned by somebody other than the actor.

        ``names`` are the segments that name the actor as a person. Given, an unregistered scope in the memory of a person is that
        person's, whoever wrote there first.
        """
        ...

    def register(self, state: ScopeState, activation: Activation | None = None) -> None:
        """Give a scope members and policies; raises ``Conflict`` (SCOPE_REGISTRATION_EXISTS) when it has them.

        ``activation`` lands with it where it says something else of the vocabularies that are active than what stands.
        """
        ...

    def set_members(self, tenant_id: str, path: Scope, members: Mapping[str, str]) -> None:
        """Replace the members of a registered scope; raises ``NotFound`` for one that is not registered."""
        ...

    def delete(self, tenant_id: str, path: Scope, activations: Sequence[Activation] = ()) -> None:
        """Drop a scope's registration, members and policy document. Where it holds events it goes on to exist."""
        ...

    def documents(self, tenant_id: str, tier: str, targets: Collection[str]) -> dict[str, PolicyRow]:
        """The policy documents of a tier, by target."""
        ...

    def put_document(
        self, row: PolicyRow, activation: Activation | None = None, rules: EventDraft | None = None
    ) -> None:
        """Keep a policy document in place of the one before; ``activation`` as in ``register``.

        ``rules`` is the entry of the log that says what it lays down for beliefs. It lands with the document where it says something else
        than what stands.
        """
        ...

    def idle(self, tenant_id: str, before: Instant, limit: int) -> tuple[list[IdleScope], int]:
        """Scopes without a registration or policy document and without a write since ``before`` that were not pruned;
        up to ``limit`` by path, and how many in all."""
        ...

    def prune(self, tenant_id: str, before: Instant) -> int:
        """Leave those scopes out of lists and descents until they are written to or registered; how many.

        What they hold stays, and stays with who made them: ``states`` tells of them as before. Only a scope that
        holds nothing is gone.
        """
        ...
