"""Request and result types of policy and scopes (seed 002, 5.5 and 8.8)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import ConfigDict, Field, RootModel, model_validator

from lamina import limits
from lamina.access.documents import PolicyDocument, TenantDocument
from lamina.errors import Invalid
from lamina.kernel.views.parts import Stamp
from lamina.kernel.vocabularies import VocabularyName
from lamina.kernel.wire import DurationText, Limit, Request, Result, ScopePath

__all__ = [
    "ActorPolicy",
    "DeletedScope",
    "DeploymentPolicy",
    "EffectivePolicy",
    "EffectiveRequest",
    "IdleScopeView",
    "Member",
    "Members",
    "PolicyView",
    "PruneRequest",
    "Pruned",
    "PutActorPolicy",
    "PutDeploymentPolicy",
    "PutScopePolicy",
    "PutTenantPolicy",
    "RegisterScope",
    "ScopeLookup",
    "ScopeOrPage",
    "ScopePage",
    "ScopePolicy",
    "ScopeRecord",
    "ScopeRemoval",
    "TenantPolicy",
]

ActorName = Annotated[
    str, Field(max_length=limits.ACTOR_LENGTH_MAX, pattern=r"^[a-z][a-z0-9_]{0,31}:[A-Za-z0-9_\-.@+]{1,200}$")
]
TenantName = Annotated[str, Field(min_length=1, max_length=128)]


# ---- policy


class DeploymentPolicy(Request):
    """The deployment's policy."""


class PutDeploymentPolicy(Request):
    """What the deployment denies beside its preset."""

    document: PolicyDocument


class TenantPolicy(Request):
    """A tenant's policy."""

    tenant_id: TenantName


class PutTenantPolicy(TenantPolicy):
    """A tenant's document, in place of the one before."""

    document: TenantDocument


class ScopePolicy(Request):
    """A scope's policy. The path stands in the URL, percent-encoded, or in ``path``."""

    path: ScopePath


class PutScopePolicy(ScopePolicy):
    """A scope's document, in place of the one before."""

    document: PolicyDocument


class ActorPolicy(Request):
    """An actor's policy."""

    actor_id: ActorName


class PutActorPolicy(ActorPolicy):
    """An actor's document, in place of the one before."""

    document: PolicyDocument


class PolicyView(Result):
    """A tier's document as it stands; empty lists where nobody put one. ``preset_document`` is the deployment's ceiling."""

    tier: Literal["deployment", "tenant", "scope", "actor"]
    target: str | None
    deployment_preset: str
    document: dict[str, Any]  # Any: a policy document
    preset_document: dict[str, Any] | None = None  # Any: as above
    set_by: str | None = None
    set_at: Stamp | None = None


class EffectiveRequest(Request):
    """Whose capabilities, and on which scope; the caller's own, bound to none, where left out."""

    actor: ActorName | None = None
    scope: ScopePath | None = None


class DeniedCapability(Result):
    """A capability that is not held, and the tier that denies it."""

    capability: str
    denied_by_tier: str


class EffectivePolicy(Result):
    """What is left after every tier. ``natural_level`` is the deepest path on the scope's line that is the actor's to
    write without ``scope.write.elevated``."""

    actor: str
    scope: str | None
    deployment_preset: str
    allowed: list[str]
    denied: list[DeniedCapability]
    rate_limits: dict[str, str]
    natural_level: str | None


# ---- scopes


class Member(Request):
    """An actor's role in a scope."""

    actor: ActorName
    role: Literal["owner", "writer", "reader"]


_OWNED: Final = {"contains": {"properties": {"role": {"const": "owner"}}}}


def _with_an_owner(members: list[Member]) -> None:
    if len({member.actor for member in members}) != len(members):
        raise Invalid("INVALID_MEMBERS", "an actor is named twice", details={"field": "members"})
    if not any(member.role == "owner" for member in members):
        raise Invalid(
            "INVALID_MEMBERS",
            "nobody among the members is an owner",
            hint="send the full list, with at least one owner",
            details={"field": "members"},
        )


class Children(Request):
    """How scopes below come to be."""

    auto_register: bool = True


class ScopePolicies(Request):
    """How a scope behaves. ``inherit_from`` are the scopes that a holistic read goes on to, in place of all ancestors.
    ``vocabularies`` are active for it and the scopes below, unless a policy document or a nearer scope says otherwise."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    consolidation: Annotated[str, Field(max_length=128)] | None = None
    conflict_resolution: Annotated[str, Field(max_length=128)] | None = None
    inherit_from: Annotated[list[ScopePath], Field(max_length=limits.SCOPE_INHERITS_MAX)] | None = None
    audit: Annotated[str, Field(max_length=32)] | None = None
    children: Children | None = None
    vocabularies: Annotated[list[VocabularyName], Field(max_length=limits.VOCABULARIES_ACTIVE_MAX)] | None = (
        None
    )


class RegisterScope(Request):
    """A scope with members of its own; the caller alone, as owner, where none are named."""

    path: ScopePath
    members: Annotated[list[Member], Field(max_length=limits.SCOPE_MEMBERS_MAX)] = Field(default_factory=list)
    policies: ScopePolicies = ScopePolicies()

    @model_validator(mode="after")
    def _owned(self) -> Self:
        if self.members:
            _with_an_owner(self.members)
        return self


class ScopeLookup(Request):
    """One scope by ``path``, or those whose path begins with ``prefix``."""

    path: ScopePath | None = None
    prefix: (
        Annotated[str, Field(max_length=limits.SCOPE_LENGTH_MAX, pattern=r"^[a-zA-Z0-9_\-:/]*$")] | None
    ) = None
    auto_provisioned: bool | None = None
    limit: Limit = limits.PAGE_LIMIT_DEFAULT
    cursor: str | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.path is not None and self.prefix is not None:
            raise Invalid("INVALID_REQUEST", "path and prefix are both given", details={"field": "prefix"})
        return self


class Members(Request):
    """The members of a scope, all of them."""

    path: ScopePath
    members: Annotated[
        list[Member],
        Field(min_length=1, max_length=limits.SCOPE_MEMBERS_MAX, json_schema_extra=_OWNED),
    ]

    @model_validator(mode="after")
    def _owned(self) -> Self:
        _with_an_owner(self.members)
        return self


class ScopeRemoval(Request):
    """A registration to drop, and what becomes of the records."""

    path: ScopePath
    records: Literal["keep", "forget"] = "keep"


class PruneRequest(Request):
    """How long nobody wrote, and whether only to look."""

    older_than: DurationText
    dry_run: bool = False


class MemberView(Result):
    """An actor's role in a scope."""

    actor: str
    role: str


class ScopeRecord(Result):
    """A scope. One that registered itself with its first write has its creator as only member, or the person whose memory it is."""

    path: str
    auto_provisioned: bool
    created_by: str
    created_at: Stamp
    registered_at: Stamp | None
    members: list[MemberView]
    policies: dict[str, Any]  # Any: as registered


class ScopePage(Result):
    """Scopes by path, those that the caller may read."""

    items: list[ScopeRecord]
    next_cursor: str | None
    has_more: bool


class ScopeOrPage(RootModel[ScopeRecord | ScopePage]):
    """The scope that was looked up, or a page of those under a prefix."""


class DeletedScope(Result):
    """What was dropped, or is once the erasure ``erasure_id`` is completed."""

    path: str
    records: Literal["keep", "forget"]
    erasure_id: str | None = None


class IdleRecords(Result):
    """How much a scope holds."""

    events: int
    facts: int


class IdleScopeView(Result):
    """A scope that nobody cared for."""

    path: str
    last_write: Stamp
    records: IdleRecords


class Pruned(Result):
    """The first of the candidates, how many there are, and how many were dropped."""

    candidates: list[IdleScopeView]
    total: int
    pruned: int
