"""Reading and writing policy documents, and what is left of capabilities after all tiers (seed 002, 5.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lamina.access.activating import activation_at, require_registered
from lamina.access.documents import (
    CATALOGUE,
    PolicyDocument,
    PolicyTier,
    check_defaults,
    check_replaceable,
    compiled,
)
from lamina.access.policy import PolicyPermits
from lamina.access.requests import (
    ActorPolicy,
    DeniedCapability,
    DeploymentPolicy,
    EffectivePolicy,
    EffectiveRequest,
    PolicyView,
    PutActorPolicy,
    PutDeploymentPolicy,
    PutScopePolicy,
    PutTenantPolicy,
    ScopePolicy,
    TenantPolicy,
)
from lamina.access.rules import Rate
from lamina.access.tiers import TieredPolicy
from lamina.errors import Forbidden
from lamina.kernel.belief_rules import BELIEF_RULES, BeliefRules
from lamina.kernel.capabilities import Capability
from lamina.kernel.defining import definition_entry
from lamina.kernel.operations import Answer, Call, Grant, Principal
from lamina.kernel.scopes import Scope
from lamina.store.ports.definitions import Definitions
from lamina.store.ports.registry import PolicyRow, Registry

__all__ = ["Administering"]


class Administering:
    """Handlers of ``/v1/policy/*``. The gateway has asked for the capability; these ask whose policy it is."""

    def __init__(self, policy: TieredPolicy, registry: Registry, definitions: Definitions) -> None:
        self._policy = policy
        self._registry = registry
        self._definitions = definitions

    # ---- documents

    def deployment(self, request: DeploymentPolicy, call: Call) -> Answer:  # noqa: ARG002 - the handlers' shape
        """The preset, and what was denied beside it."""
        return Answer(self._view("", PolicyTier.DEPLOYMENT, ""))

    def put_deployment(self, request: PutDeploymentPolicy, call: Call) -> Answer:
        """Narrow the preset; nothing widens it but another preset at the next start."""
        return self._put("", PolicyTier.DEPLOYMENT, "", request.document, call)

    def tenant(self, request: TenantPolicy, call: Call) -> Answer:
        """A tenant's document: one's own tenant's, any for an operator."""
        self._own_tenant(request.tenant_id, call)
        return Answer(self._view(request.tenant_id, PolicyTier.TENANT, request.tenant_id))

    def put_tenant(self, request: PutTenantPolicy, call: Call) -> Answer:
        """Replace a tenant's document. Only an operator gives a tenant more calls than the deployment does."""
        self._own_tenant(request.tenant_id, call)
        self._no_more_calls(request.document, call)
        return self._put(request.tenant_id, PolicyTier.TENANT, request.tenant_id, request.document, call)

    def scope(self, request: ScopePolicy, call: Call) -> Answer:
        """A scope's document."""
        return Answer(self._view(call.principal.tenant_id, PolicyTier.SCOPE, request.path))

    def put_scope(self, request: PutScopePolicy, call: Call) -> Answer:
        """Replace a scope's document; it holds for everything below the scope too."""
        return self._put(call.principal.tenant_id, PolicyTier.SCOPE, request.path, request.document, call)

    def actor(self, request: ActorPolicy, call: Call) -> Answer:
        """An actor's document: one's own, anybody's for an administrator of the tenant."""
        self._own_or_administered(request.actor_id, call)
        return Answer(self._view(call.principal.tenant_id, PolicyTier.ACTOR, request.actor_id))

    def put_actor(self, request: PutActorPolicy, call: Call) -> Answer:
        """Replace an actor's document. What another put over an actor, the actor can only narrow."""
        self._own_or_administered(request.actor_id, call)
        tenant_id = call.principal.tenant_id
        known = self._registry.documents(tenant_id, PolicyTier.ACTOR, [request.actor_id]).get(
            request.actor_id
        )
        foreign = known is not None and known.set_by != call.principal.actor
        if known is not None and foreign and not _administers(call):
            _require_narrower(
                PolicyDocument.model_validate(dict(known.document)), request.document, self._name
            )
        set_by = known.set_by if known is not None and foreign and not _administers(call) else None
        return self._put(tenant_id, PolicyTier.ACTOR, request.actor_id, request.document, call, set_by=set_by)

    # ---- what is left

    def effective(self, request: EffectiveRequest, call: Call) -> Answer:
        """What an actor may on a scope, and which tier denies the rest: one's own, or another's for who administers them."""
        principal = call.principal
        scope = None if request.scope is None else Scope(request.scope)
        if request.actor not in (None, principal.actor):
            self._may_look_at_others(scope, call)
            principal = Principal(principal.tenant_id, str(request.actor), principal.channel)
        snapshot = self._policy.current()
        denied = PolicyPermits(self._policy, principal).denials(scope)
        place = None if scope is None else snapshot.place(principal.tenant_id, scope, anew=True)
        return Answer(
            EffectivePolicy(
                actor=principal.actor,
                scope=scope,
                deployment_preset=self._name,
                allowed=sorted(each.value for each in CATALOGUE if each.value not in denied),
                denied=[
                    DeniedCapability(capability=name, denied_by_tier=tier)
                    for name, tier in sorted(denied.items())
                ],
                rate_limits=dict(snapshot.rate_rules(principal.tenant_id, principal.actor).shown()),
                natural_level=place.natural_level(principal.actor) if place else None,
            )
        )

    def _may_look_at_others(self, scope: Scope | None, call: Call) -> None:
        call.permits.require(Grant(Capability.POLICY_ADMINISTER_ACTOR))
        if scope is None or not call.permits.allows(Grant(Capability.POLICY_ADMINISTER_SCOPE, scope)):
            call.permits.require(Grant(Capability.POLICY_ADMINISTER_TENANT))

    # ---- helpers

    @property
    def _name(self) -> str:
        return self._policy.current().preset.name

    def _own_tenant(self, tenant_id: str, call: Call) -> None:
        if tenant_id != call.principal.tenant_id:
            call.permits.require(Grant(Capability.POLICY_ADMINISTER_DEPLOYMENT))

    def _own_or_administered(self, actor: str, call: Call) -> None:
        if actor != call.principal.actor:
            call.permits.require(Grant(Capability.POLICY_ADMINISTER_TENANT))

    def _no_more_calls(self, document: PolicyDocument, call: Call) -> None:
        snapshot, wanted = self._policy.current(), compiled(document)
        importer = snapshot.rate_rules("", "").importer  # by the write rate where the preset is silent
        for name in ("write", "read", "importer"):
            rate, most = wanted.rate(name), snapshot.preset.rules.rate(name)
            if most is None and name == "importer":
                most = importer
            if rate is not None and most is not None and rate > most:
                call.permits.require(Grant(Capability.POLICY_ADMINISTER_DEPLOYMENT))

    def _put(
        self,
        tenant_id: str,
        tier: PolicyTier,
        target: str,
        document: PolicyDocument,
        call: Call,
        *,
        set_by: str | None = None,
    ) -> Answer:
        check_defaults(document, tier)
        check_replaceable(document, tier)
        require_registered(self._definitions, tenant_id, document.vocabularies)
        activation = rules = None
        if tier is PolicyTier.TENANT:
            # An entry of the log: derivation follows the rules that stood at an event.
            said = BeliefRules.of(document.defaults).said()
            rules = definition_entry(call, BELIEF_RULES[0], said, tenant_id=tenant_id)
        if tier in (PolicyTier.TENANT, PolicyTier.SCOPE):
            place = "tenant" if tier is PolicyTier.TENANT else f"policy {target}"
            activation = activation_at(place, document.vocabularies, call, tenant_id=tenant_id)
        self._registry.put_document(
            PolicyRow(
                tenant_id=tenant_id,
                tier=tier,
                target=target,
                document=document.model_dump(mode="json", exclude_unset=True),
                set_by=set_by or call.principal.actor,
                set_at=call.now,
            ),
            activation,
            rules,
        )
        return Answer(self._view(tenant_id, tier, target))

    def _view(self, tenant_id: str, tier: PolicyTier, target: str) -> PolicyView:
        row = self._registry.documents(tenant_id, tier, [target]).get(target)
        preset = self._policy.current().preset
        written: Mapping[str, Any] = row.document if row else {}
        return PolicyView(
            tier=tier.value,
            target=target or None,
            deployment_preset=preset.name,
            document={"allow": [], "deny": [], "defaults": {}, **written},
            preset_document=preset.document.model_dump(mode="json", exclude_unset=True)
            if tier is PolicyTier.DEPLOYMENT
            else None,
            set_by=row.set_by if row else None,
            set_at=row.set_at if row else None,
        )


def _administers(call: Call) -> bool:
    return call.permits.allows(Grant(Capability.POLICY_ADMINISTER_TENANT))


def _require_narrower(known: PolicyDocument, wanted: PolicyDocument, preset: str) -> None:
    before, after = compiled(known), compiled(wanted)
    lost = before.denies - after.denies
    rates: list[tuple[Rate | None, Rate | None]] = [
        (before.rate(name), after.rate(name)) for name in ("write", "read", "importer")
    ]
    if lost or any(old is not None and (new is None or new > old) for old, new in rates):
        raise Forbidden(
            "POLICY_DENIED",
            "an administrator put this document over you; you can narrow it, not widen it",
            details={
                "capability": Capability.POLICY_ADMINISTER_ACTOR.value,
                "denied_by_tier": PolicyTier.ACTOR.value,
                "deployment_preset": preset,
                "widened": sorted(lost),
            },
        )
