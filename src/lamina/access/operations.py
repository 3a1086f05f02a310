"""The operations of policy and scopes (seed 002, 5.5 and 8.8)."""

from __future__ import annotations

from typing import Any

from lamina.access import requests
from lamina.access.administering import Administering
from lamina.access.registering import EraseScope, Registering, registering_grants
from lamina.access.tiers import TieredPolicy
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Effect, Grant, Operation, Tier
from lamina.kernel.scopes import Scope
from lamina.store.ports.definitions import Definitions
from lamina.store.ports.registry import Registry

__all__ = ["access_operations"]


def access_operations(
    policy: TieredPolicy, registry: Registry, definitions: Definitions, erase: EraseScope
) -> list[Operation[Any]]:
    """The operations that say who may do what."""
    return [
        *_policy_operations(Administering(policy, registry, definitions)),
        *_scope_operations(Registering(policy, registry, definitions, erase)),
    ]


def _policy_operations(administering: Administering) -> list[Operation[Any]]:
    return [
        Operation(
            name="policy_deployment",
            request=requests.DeploymentPolicy,
            result=requests.PolicyView,
            capability=Capability.POLICY_ADMINISTER_DEPLOYMENT,
            effect=Effect.READ,
            tier=Tier.STABLE,
            handler=administering.deployment,
            summary="The deployment's preset and what is denied beside it.",
            personal=True,
        ),
        _putting("policy_deployment_put", requests.PutDeploymentPolicy, Capability.POLICY_ADMINISTER_DEPLOYMENT,
                 administering.put_deployment, "Narrow the deployment's preset."),
        _reading("policy_tenant", requests.TenantPolicy, Capability.POLICY_ADMINISTER_TENANT,
                 administering.tenant, "A tenant's policy document."),
        _putting("policy_tenant_put", requests.PutTenantPolicy, Capability.POLICY_ADMINISTER_TENANT,
                 administering.put_tenant, "Replace a tenant's policy document."),
        _reading("policy_scope", requests.ScopePolicy, Capability.POLICY_ADMINISTER_SCOPE,
                 administering.scope, "A scope's policy document."),
        _putting("policy_scope_put", requests.PutScopePolicy, Capability.POLICY_ADMINISTER_SCOPE,
                 administering.put_scope, "Replace a scope's policy document."),
        _reading("policy_actor", requests.ActorPolicy, Capability.POLICY_ADMINISTER_ACTOR,
                 administering.actor, "An actor's policy document."),
        _putting("policy_actor_put", requests.PutActorPolicy, Capability.POLICY_ADMINISTER_ACTOR,
                 administering.put_actor, "Replace an actor's policy document."),
        Operation(
            name="policy_effective",
            request=requests.EffectiveRequest,
            result=requests.EffectivePolicy,
            capability=Capability.POLICY_ADMINISTER_ACTOR,
            effect=Effect.READ,
            tier=Tier.STABLE,
            handler=administering.effective,
            summary="What an actor may, after every tier.",
            personal=True,
        ),
    ]  # fmt: skip


def _scope_operations(registering: Registering) -> list[Operation[Any]]:
    return [
        Operation(
            name="scope_register",
            request=requests.RegisterScope,
            result=requests.ScopeOrPage,
            capability=Capability.POLICY_ADMINISTER_SCOPE,
            effect=Effect.WRITE,
            tier=Tier.STABLE,
            grants=registering_grants,
            handler=registering.register,
            summary="Register a scope with members and policies.",
            commits_with=201,
            answers=(201,),
            fails=("SCOPE_REGISTRATION_EXISTS", "UNREGISTERED_SCOPE_TYPE"),
        ),
        Operation(
            name="scopes",
            request=requests.ScopeLookup,
            result=requests.ScopeOrPage,
            capability=Capability.SCOPE_READ_LOCAL,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=lambda r, p: [Grant(Capability.SCOPE_READ_LOCAL, Scope(r.path) if r.path else None)],  # noqa: ARG005 - the port's shape
            handler=registering.lookup,
            summary="Look up a scope by path, or list those under a prefix.",
            fails=("NOT_FOUND",),
        ),
        Operation(
            name="scope_members",
            request=requests.Members,
            result=requests.ScopeOrPage,
            capability=Capability.POLICY_ADMINISTER_SCOPE,
            effect=Effect.WRITE,
            tier=Tier.STABLE,
            grants=lambda r, p: [Grant(Capability.POLICY_ADMINISTER_SCOPE, Scope(r.path))],  # noqa: ARG005 - as above
            handler=registering.members,
            summary="Replace the members of a scope.",
            fails=("NOT_FOUND",),
        ),
        Operation(
            name="scope_remove",
            request=requests.ScopeRemoval,
            result=requests.DeletedScope,
            capability=Capability.POLICY_ADMINISTER_SCOPE,
            effect=Effect.WRITE,
            tier=Tier.STABLE,
            grants=_removal_grants,
            handler=registering.remove,
            summary="Drop a scope's registration and policy, and its records where that is asked.",
            answers=(200, 202),
            fails=("NOT_FOUND", "ERASURE_RUNNING"),
        ),
        Operation(
            name="scopes_prune",
            request=requests.PruneRequest,
            result=requests.Pruned,
            capability=Capability.POLICY_ADMINISTER_TENANT,
            effect=Effect.WRITE,
            tier=Tier.EXPERIMENTAL,
            grants=lambda r, p: [Grant(Capability.POLICY_ADMINISTER_TENANT)],  # noqa: ARG005 - as above
            handler=registering.prune,
            summary="Drop scopes that nobody uses or cared for.",
        ),
    ]


def _removal_grants(request: requests.ScopeRemoval, principal: object) -> list[Grant]:  # noqa: ARG001 - the port's shape
    grants = [Grant(Capability.POLICY_ADMINISTER_SCOPE, Scope(request.path))]
    if request.records == "forget":
        grants.append(Grant(Capability.FORGET_GDPR, Scope(request.path)))
    return grants


def _grants(
    capability: Capability,
) -> Any:  # Any: the shape of Operation.grants, for requests of several types
    def grants(request: Any, principal: object) -> list[Grant]:  # noqa: ARG001 - the port's shape
        path = getattr(request, "path", None)
        return [Grant(capability, None if path is None else Scope(path))]

    return grants


def _reading(name: str, request: Any, capability: Capability, handler: Any, summary: str) -> Operation[Any]:
    return Operation(
        name=name,
        request=request,
        result=requests.PolicyView,
        capability=capability,
        effect=Effect.READ,
        tier=Tier.STABLE,
        grants=_grants(capability),
        handler=handler,
        summary=summary,
    )


def _putting(name: str, request: Any, capability: Capability, handler: Any, summary: str) -> Operation[Any]:
    return Operation(
        name=name,
        request=request,
        result=requests.PolicyView,
        capability=capability,
        effect=Effect.WRITE,
        tier=Tier.EXPERIMENTAL,
        grants=_grants(capability),
        handler=handler,
        summary=summary,
    )
