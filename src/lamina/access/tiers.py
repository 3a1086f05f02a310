"""The four-tier stack (seed 002, 5.1): deployment, tenant, scope, actor; each can only narrow the one before.

A capability is held when no tier denies it, the token does not narrow it away, and the scope's registration knows
the caller. Documents and members are read once and kept until the store's registry says that something changed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, TypeVar

from lamina import limits
from lamina.access.documents import (
    CATALOGUE,
    CompiledDocument,
    DefaultValue,
    PolicyDocument,
    PolicyTier,
    TenantDocument,
    compiled,
)
from lamina.access.membership import Place, Role, crosses_tenants, needed_role, place_of, written_names
from lamina.access.policy import Decision
from lamina.access.presets import Preset
from lamina.access.rules import AuditRules, RateRules
from lamina.access.tenant_tiers import TenantTiers
from lamina.kernel.capabilities import Capability
from lamina.kernel.defining import DEFINITIONS_SCOPE
from lamina.kernel.erasure_rules import ErasureRules
from lamina.kernel.expiry import TtlRules
from lamina.kernel.operations import Grant, Principal
from lamina.kernel.scopes import Scope
from lamina.store.ports.erasures import ErasedPlace, Erasures
from lamina.store.ports.registry import PolicyRow, Registry

__all__ = ["Snapshot", "TieredPolicy", "TokenAllows"]

TokenAllows = Callable[[Principal, Grant], bool]
"""Whether the caller's token leaves a grant to it; tokens only narrow."""

T = TypeVar("T")
_SILENT: Final = CompiledDocument()
_RECENT_S: Final = 0.1
_ERASES: Final = frozenset({Capability.FORGET_GDPR, Capability.FORGET_GDPR_CROSS_WORKSPACE})
_SHOWS_MEMORY: Final = ("scope.read.", "understanding.read", "export.", "blob.read")
"""Capabilities of which nothing is left on a memory that is being erased."""
_READS_ACROSS: Final = frozenset(
    {Capability.SCOPE_READ_LOCAL, Capability.SCOPE_READ_HOLISTIC, Capability.SCOPE_READ_DESCEND}
)

_TAKES_OUT: Final = frozenset({Capability.FORGET_DERIVED_ONLY, Capability.FORGET_REDACT_EVENTS})
_FOR_OTHERS: Final = frozenset({Capability.SCOPE_WRITE_ON_BEHALF_OF, Capability.SCOPE_WRITE_ABOUT_OTHER})


def _any_token(principal: Principal, grant: Grant) -> bool:  # noqa: ARG001 - the shape of TokenAllows
    return True


class TieredPolicy:
    """``Policy`` and ``Rules`` over a preset and the documents and members in a store."""

    def __init__(
        self,
        preset: Preset,
        registry: Registry,
        *,
        operators: Collection[str] = (),
        token_allows: TokenAllows = _any_token,
        erasures: Erasures | None = None,
    ) -> None:
        """``operators`` are ``tenant/type:id``; see docs/reference/policy.md. What is being erased is hidden where ``erasures`` say so."""
        self._preset = preset
        self._registry = registry
        self._operators = frozenset(operators)
        self._token_allows = token_allows
        self._erasures = erasures
        self._newest = self._snapshot(-1)
        self._read_at = -math.inf

    def current(self) -> Snapshot:
        """Mirrors ``Policy.current``. While nobody changed a policy or a member it reads one row."""
        # The version before the rows: what is read under a version is then at least as new as it.
        version = self._registry.version()
        newest = self._newest
        if newest.version < version:
            newest = self._newest = self._snapshot(version)
        self._read_at = time.monotonic()
        return newest

    def audit_rules(self, tenant_id: str) -> AuditRules:
        """Mirrors ``Rules.audit_rules``. They are those under which the call's permits were made, or newer."""
        return self._recent().audit_rules(tenant_id)

    def rate_rules(self, tenant_id: str, actor: str) -> RateRules:
        """Mirrors ``Rules.rate_rules``. Another process's change of a rate counts here a tenth of a second later at most."""
        return self._recent().rate_rules(tenant_id, actor)

    def _recent(self) -> Snapshot:
        """Policy as it stood a moment ago, for what decides no grant: each call is asked of on the event loop, where nothing is
        read from a disk if that can be helped."""
        return self._newest if time.monotonic() - self._read_at < _RECENT_S else self.current()

    def _snapshot(self, version: int) -> Snapshot:
        return Snapshot(
            version, self._preset, self._registry, self._operators, self._token_allows, self._erasures
        )

    def erasure_rules(self, tenant_id: str) -> ErasureRules:
        """What is laid down for a tenant's erasures, now."""
        return self.current().erasure_rules(tenant_id)

    def ttl_rules(self, tenant_id: str, scope: Scope) -> TtlRules:
        """How long the records of a scope live, now."""
        return self.current().ttl_rules(tenant_id, scope)


class Snapshot:
    """``Decider`` under one version of documents and members. Entries are read on first need and kept."""

    def __init__(
        self,
        version: int,
        preset: Preset,
        registry: Registry,
        operators: frozenset[str],
        token_allows: TokenAllows,
        erasures: Erasures | None = None,
    ) -> None:
        self.version = version
        self.preset = preset
        self._registry = registry
        self._operators = operators
        self._token_allows = token_allows
        self._erasures = erasures
        self._tenants: dict[str, TenantTiers] = {}
        self._erased: dict[str, list[ErasedPlace]] = {}
        self._actors: dict[tuple[str, str], CompiledDocument] = {}
        self._rates: dict[tuple[str, str], RateRules] = {}
        self._audits: dict[str, AuditRules] = {}
        self._ttls: dict[tuple[str, Scope], TtlRules] = {}
        self._scopes: dict[tuple[str, Scope], frozenset[Capability]] = {}
        self._places: dict[tuple[str, Scope], Place] = {}
        self._allowed: dict[tuple[Principal, Grant], Decision] = {}

    # ---- the decision

    def decide(self, principal: Principal, grant: Grant) -> Decision:
        """Mirrors ``Decider.decide``. What was allowed under this version is looked up the next time, where nothing else can end it."""
        if principal.token is not None and principal.token.relay is not None:
            return self._decided(principal, grant)
        key = (principal, grant)
        known = self._allowed.get(key)
        if known is None:
            known = self._decided(principal, grant)
            if known.allowed and self._stays_allowed(principal, grant):
                _kept(self._allowed, key, known)
        return known

    def _stays_allowed(self, principal: Principal, grant: Grant) -> bool:
        """Whether no write changes it: a scope that is there stays there under one version, while the right to make one by writing is
        used up by whoever does. Claims of ground are looked into anew."""
        if grant.scope is None or grant.capability in _READS_ACROSS or grant.capability in _FOR_OTHERS:
            return True
        if grant.capability != Capability.SCOPE_WRITE:
            return False
        place = self._places.get((principal.tenant_id, grant.scope))
        return place is not None and place.exists

    def _decided(self, principal: Principal, grant: Grant) -> Decision:
        if grant.capability not in CATALOGUE:
            return self._denied(grant, "deployment", "the capability is not in the catalogue")
        refusal = self._narrowed(principal, grant)
        if refusal is None and grant.scope is not None:
            refusal = self._outside(principal, grant, grant.scope)
        if refusal is None and grant.scope is not None:
            refusal = self._hidden(principal, grant, grant.scope)
        return refusal or Decision(
            grant, allowed=True, tier=self._speaking(principal, grant.scope), preset=self.preset.name
        )

    def _hidden(self, principal: Principal, grant: Grant, scope: Scope) -> Decision | None:
        """What nobody reads any more: a memory that is being erased. Writes are refused by the store, in their own transaction."""
        if not grant.capability.startswith(_SHOWS_MEMORY):
            return None
        if not any(place.hides(scope) for place in self._places_erased(principal.tenant_id)):
            return None
        return self._denied(grant, "scope", "it is being erased: nothing of it is shown any more")

    def _places_erased(self, tenant_id: str) -> list[ErasedPlace]:
        known = self._erased.get(tenant_id)
        if known is None:
            places = [] if self._erasures is None else self._erasures.places(tenant_id)
            known = _kept(self._erased, tenant_id, places)
        return known

    def _narrowed(self, principal: Principal, grant: Grant) -> Decision | None:
        """What the four tiers and the token deny, whoever belongs to the scope."""
        capability, scope = Capability(grant.capability), grant.scope
        tenant = self._tenant(principal.tenant_id)
        if capability in tenant.denied_by:
            return self._denied(grant, tenant.denied_by[capability].value)
        if capability in self.preset.rules.operators_only and not self.is_operator(principal):
            return self._denied(grant, "deployment", "only an operator of the deployment holds it")
        if capability is Capability.POLICY_ADMINISTER_TENANT and not self._administers_tenant(principal):
            return self._denied(grant, "tenant", "only an administrator of the tenant holds it")
        if capability is Capability.AUTH_REVOKE and not self._administers_tenant(principal):
            return self._denied(
                grant,
                "tenant",
                "operators and administrators of the tenant hold it; your own token needs none",
            )
        if scope is not None and capability in self._denied_at(principal.tenant_id, scope):
            return self._denied(grant, "scope")
        if capability in self._actor(principal.tenant_id, principal.actor).denies:
            return self._denied(grant, "actor")
        if not self._token_allows(principal, grant):
            return self._denied(grant, "token", "the token does not carry it")
        return None

    def _outside(self, principal: Principal, grant: Grant, scope: Scope) -> Decision | None:
        """What the scope's tenant, members and creators deny."""
        capability = Capability(grant.capability)
        if capability in _READS_ACROSS and crosses_tenants(scope, principal.tenant_id):
            across = self._narrowed(principal, Grant(Capability.SCOPE_READ_CROSS_TENANT, scope))
            if across is not None:
                return across
        if needed_role(capability) is Role.NONE:
            return None
        if DEFINITIONS_SCOPE.contains(scope):
            return self._denied(grant, "scope", "it is the server's own: what a tenant defines lies there")
        administers = capability is Capability.POLICY_ADMINISTER_SCOPE or capability in _ERASES
        place = self.place(principal.tenant_id, scope, anew=administers)
        if administers and self.overrules_owners(principal):
            return None
        if place.governing is not None:
            refusal = self._not_of_role(principal, grant, place)
            if refusal is not None:
                return refusal
        elif place.is_servers_own:
            return self._not_let_in(principal, grant)
        elif needed_role(capability) is Role.READER and self._is_kept_from(principal, place):
            said = "it is somebody's own memory: they or an administrator of the tenant make you a member"
            return self._denied(grant, "scope", said, code="NOT_A_MEMBER")
        elif needed_role(capability) is Role.WRITER and self._is_foreign_memory(principal, place):
            if capability in _TAKES_OUT:
                said = "whoever may not read a memory takes nothing out of it: the answer counts what fitted"
                return self._denied(grant, "scope", said, code="NOT_A_MEMBER")
            refusal = self._narrowed(principal, Grant(Capability.SCOPE_WRITE_OTHERS_MEMORY, scope))
            if refusal is not None:
                return refusal
        elif administers and not self._may_claim(principal, place):
            return self._denied(
                grant, "scope", "others own it, or scopes below it: ask an administrator of the tenant"
            )
        return self._unwritable(principal, grant, place) if capability is Capability.SCOPE_WRITE else None

    def _not_of_role(self, principal: Principal, grant: Grant, place: Place) -> Decision | None:
        role, needed = place.role(principal.actor), needed_role(Capability(grant.capability))
        if role >= needed:
            return None
        assert place.governing is not None, "only a registered scope has roles"
        if role is Role.NONE:
            said = "ask an owner of the scope to make you a member"
            return self._denied(grant, "scope", said, code="NOT_A_MEMBER")
        return self._denied(
            grant, "scope", f"your role is {role.name.lower()}, it takes {needed.name.lower()}"
        )

    def _not_let_in(self, principal: Principal, grant: Grant) -> Decision | None:
        """What the server's own scope denies: to administer it, and to use it where nobody opened it to the caller."""
        if needed_role(Capability(grant.capability)) is Role.OWNER:
            if self._administers_tenant(principal):
                return None
            return self._denied(grant, "scope", "it is the server's own: ask an administrator of the tenant")
        with_token = principal.token is not None and principal.token.relay is not None
        if with_token or self._opens(principal.tenant_id, "relay.open"):
            return None
        said = "come with a Relay token, or ask an administrator of the tenant to open the scope to you"
        return self._denied(grant, "scope", said)

    def _is_kept_from(self, principal: Principal, place: Place) -> bool:
        """Whether it is the own memory of a person, which nobody registered and nobody opened, and the caller is another one."""
        return place.is_of_another(principal.actor) and not self._opens(
            principal.tenant_id, "user_memory.open"
        )

    def _is_foreign_memory(self, principal: Principal, place: Place) -> bool:
        """Whether writing there is writing into the memory of a person that the caller, another one, may not read."""
        return self._is_kept_from(principal, place) and not self.overrules_owners(principal)

    def _opens(self, tenant_id: str, default: str) -> bool:
        said = self._tenant(tenant_id).document.default(default)
        return (self.preset.rules.default(default) if said is None else said) is True

    def _may_claim(self, principal: Principal, place: Place) -> bool:
        """Whether an unregistered path is the actor's to administer: their own memory; or written first by them, or empty ground,
        and nothing of others below.

        Where everybody administers the tenant a memory is a scratchpad like others, and who wrote first registers what they like.
        """
        tenant_id, actor = principal.tenant_id, principal.actor
        if place.is_own(actor):
            return True
        trusted = self._administers_tenant(principal)
        if place.is_of_another(actor) and not trusted:
            return False
        began = place.creators.get(place.path) == actor
        if place.exists and (trusted or not began):
            return began
        names = () if trusted else written_names(actor)
        return not self._registry.others_below(tenant_id, actor, place.path, names=names)

    def _unwritable(self, principal: Principal, grant: Grant, place: Place) -> Decision | None:
        """What a write takes beside ``scope.write``: the rights of the scope that a first write makes, and elevation."""
        if place.exists and place.natural_level(principal.actor) is not None:
            return None
        # Another write may have made the scope meanwhile, which moves no version.
        place = self.place(principal.tenant_id, place.path, anew=True)
        if not place.exists:
            refusal = self._not_made_by_writing(principal, grant, place)
            if refusal is not None:
                return refusal
        if self._needs_elevation(principal, place):
            return self._narrowed(principal, Grant(Capability.SCOPE_WRITE_ELEVATED, grant.scope))
        return None

    def _needs_elevation(self, principal: Principal, place: Place) -> bool:
        actor = principal.actor
        if place.governing is not None or place.is_own(actor) or place.natural_level(actor) is not None:
            return False
        if place.exists or place.is_of_another(actor):
            return True
        return self._registry.owns_below(principal.tenant_id, principal.actor, place.path)

    def _not_made_by_writing(self, principal: Principal, grant: Grant, place: Place) -> Decision | None:
        if self.default(principal.tenant_id, "scope.auto_register") is False:
            return self._denied(grant, "deployment", "scopes are registered before they are written to")
        if not place.children_register_themselves:
            return self._denied(grant, "scope", "the scope above makes no children by writing")
        for capability in self.creating(place.path, principal.tenant_id):
            refusal = self._narrowed(principal, Grant(capability, place.path))
            if refusal is not None:
                return refusal
        return None

    @staticmethod
    def creating(scope: Scope, tenant_id: str) -> Iterable[Capability]:
        """What making a scope takes whichever way it is made: global pools and other tenants' names are gated."""
        if "global" in scope.types:
            yield Capability.SCOPE_CREATE_GLOBAL
        if crosses_tenants(scope, tenant_id):
            yield Capability.SCOPE_CREATE_CROSS_TENANT

    def _denied(
        self, grant: Grant, tier: str, remediation: str | None = None, *, code: str = "POLICY_DENIED"
    ) -> Decision:
        return Decision(
            grant, allowed=False, tier=tier, preset=self.preset.name, code=code, remediation=remediation
        )

    def _speaking(self, principal: Principal, scope: Scope | None) -> str:
        """The innermost tier that has something to say here: the one an allowed decision is put down to."""
        if self._actor(principal.tenant_id, principal.actor) is not _SILENT:
            return "actor"
        if scope is not None and self.place(principal.tenant_id, scope).governing is not None:
            return "scope"
        return "tenant" if self._tenant(principal.tenant_id).document is not _SILENT else "deployment"

    # ---- who somebody is

    def is_operator(self, principal: Principal) -> bool:
        """Whether the caller operates the deployment; without operators-only capabilities everybody does."""
        return (
            not self.preset.rules.operators_only
            or f"{principal.tenant_id}/{principal.actor}" in self._operators
        )

    def overrules_owners(self, principal: Principal) -> bool:
        """Whether the caller administers scopes that others own: a named administrator or operator."""
        named = self._tenant(principal.tenant_id).document.administrators
        return principal.actor in named or f"{principal.tenant_id}/{principal.actor}" in self._operators

    def _administers_tenant(self, principal: Principal) -> bool:
        if self.overrules_owners(principal):
            return True
        named = self._tenant(principal.tenant_id).document.administrators
        return not named and self.preset.rules.default("tenant.open_administration") is True

    # ---- what tiers say

    def above(self, principal: Principal, scope: Scope) -> Sequence[Scope]:
        """Mirrors ``Decider.above``."""
        return self.place(principal.tenant_id, scope).above()

    def default(self, tenant_id: str, name: str) -> DefaultValue | None:
        """A default, as the tenant has it, or else the deployment."""
        return self._tenant(tenant_id).default(name)

    def rate_rules(self, tenant_id: str, actor: str) -> RateRules:
        """Mirrors ``Rules.rate_rules``."""
        key = (tenant_id, actor)
        known = self._rates.get(key)
        if known is None:
            own = self._actor(tenant_id, actor) if tenant_id else _SILENT
            known = _kept(self._rates, key, self._tenant(tenant_id).rate_rules(own))
        return known

    def audit_rules(self, tenant_id: str) -> AuditRules:
        """Mirrors ``Rules.audit_rules``. A tenant chooses its retention within the contract's bounds."""
        known = self._audits.get(tenant_id)
        if known is None:
            known = _kept(self._audits, tenant_id, self._tenant(tenant_id).audit_rules())
        return known

    def erasure_rules(self, tenant_id: str) -> ErasureRules:
        """What is laid down for a tenant's erasures."""
        return self._tenant(tenant_id).erasure_rules()

    def ttl_rules(self, tenant_id: str, scope: Scope) -> TtlRules:
        """How long the records of a scope live: the shortest that any tier says, of a scope those above it too."""
        key = (tenant_id, scope)
        known = self._ttls.get(key)
        if known is None:
            rows = self._registry.documents(tenant_id, PolicyTier.SCOPE, scope.lineage())
            known = _kept(
                self._ttls, key, self._tenant(tenant_id).ttl_rules([_compiled(row) for row in rows.values()])
            )
        return known

    def scope_types(self, tenant_id: str) -> frozenset[str]:
        """The scope types of the operator's and the tenant's own that may be registered."""
        types = self.preset.rules.scope_types or frozenset()
        tenant = self._tenant(tenant_id)
        for narrower in (tenant.stored.scope_types, tenant.document.scope_types):
            types = types if narrower is None else types & narrower
        return types

    def place(self, tenant_id: str, scope: Scope, *, anew: bool = False) -> Place:
        """What governs a path and who made it; ``anew`` for who must see a scope made a moment ago."""
        key = (tenant_id, scope)
        known = None if anew else self._places.get(key)
        if known is None:
            known = place_of(scope, self._registry.states(tenant_id, scope.lineage()))
            _kept(self._places, key, known)
        return known

    def _tenant(self, tenant_id: str) -> TenantTiers:
        known = self._tenants.get(tenant_id)
        if known is None:
            rules = self.preset.rules
            stored = self._read("", PolicyTier.DEPLOYMENT, "")
            own = self._read(tenant_id, PolicyTier.TENANT, tenant_id)
            denied_by = dict.fromkeys(CATALOGUE - rules.allows - rules.tenant_decides, PolicyTier.DEPLOYMENT)
            denied_by |= dict.fromkeys(stored.denies, PolicyTier.DEPLOYMENT)
            for capability in (rules.tenant_decides - own.allows - rules.allows) | own.denies:
                denied_by.setdefault(capability, PolicyTier.TENANT)
            known = _kept(self._tenants, tenant_id, TenantTiers(denied_by, own, stored, rules))
        return known

    def _denied_at(self, tenant_id: str, scope: Scope) -> frozenset[Capability]:
        """What the documents of a path and of every path above it deny."""
        key = (tenant_id, scope)
        known = self._scopes.get(key)
        if known is None:
            rows = self._registry.documents(tenant_id, PolicyTier.SCOPE, scope.lineage())
            denied: frozenset[Capability] = frozenset().union(
                *(_compiled(row).denies for row in rows.values())
            )
            known = _kept(self._scopes, key, denied)
        return known

    def _actor(self, tenant_id: str, actor: str) -> CompiledDocument:
        key = (tenant_id, actor)
        known = self._actors.get(key)
        if known is None:
            known = _kept(self._actors, key, self._read(tenant_id, PolicyTier.ACTOR, actor))
        return known

    def _read(self, tenant_id: str, tier: PolicyTier, target: str) -> CompiledDocument:
        row = self._registry.documents(tenant_id, tier, [target]).get(target)
        return _SILENT if row is None else _compiled(row)


def _compiled(row: PolicyRow) -> CompiledDocument:
    kind = TenantDocument if row.tier == PolicyTier.TENANT else PolicyDocument
    return compiled(kind.model_validate(dict(row.document)))


K = TypeVar("K")


def _kept(entries: dict[K, T], key: K, value: T) -> T:
    if len(entries) >= limits.POLICY_ENTRIES_KEPT_MAX:
        entries.clear()
    entries[key] = value
    return value
