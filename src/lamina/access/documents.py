"""Policy documents: what a tier says of capabilities and defaults, as it is sent, stored and compiled.

A document names capabilities by their own name or by a wildcard (``scope.read.*``, ``*``). What it does not name it
leaves to the tier above. ``deny`` wins over ``allow``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, Final, Self, cast

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from lamina import limits
from lamina.access.rules import RETENTION_MAX_US, RETENTION_MIN_US, Rate
from lamina.errors import Invalid
from lamina.kernel.capabilities import Capability
from lamina.kernel.erasure_rules import LegalHold
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import duration_us
from lamina.kernel.vocabularies import VocabularyName
from lamina.kernel.wire import Request, ScopePath
from lamina.types.stating import is_share

__all__ = [
    "CATALOGUE",
    "CompiledDocument",
    "DefaultValue",
    "DeploymentDocument",
    "HoldDocument",
    "PolicyDocument",
    "PolicyTier",
    "TenantDocument",
    "check_defaults",
    "check_replaceable",
    "compiled",
    "matching",
]

CATALOGUE: Final = frozenset(Capability)
NAMED_ONLY: Final = frozenset({Capability.SCOPE_WRITE_OTHERS_MEMORY})
"""What no wildcard of an ``allow`` gives: a preset or a tenant says it by name. It is ours, so that no document of the contract means it."""

DefaultValue = bool | int | float | str
_COOLDOWN_MAX_US: Final = duration_us("P1D")
_ACTOR = re.compile(r"[a-z][a-z0-9_]{0,31}:[A-Za-z0-9_\-.@+]{1,200}")
_TYPE = re.compile(r"[a-z][a-z0-9_]{0,31}")
_HOLD: Final = r"^[A-Za-z0-9][A-Za-z0-9_\-.:#/]*$"


class PolicyTier(StrEnum):
    """The four tiers, outermost first; each narrows the one before."""

    DEPLOYMENT = "deployment"
    TENANT = "tenant"
    SCOPE = "scope"
    ACTOR = "actor"


@lru_cache(maxsize=4096)
def matching(pattern: str) -> frozenset[Capability]:
    """The capabilities behind a name or a wildcard; raises ``Invalid`` (UNKNOWN_CAPABILITY) when there is none."""
    if pattern == "*":
        return CATALOGUE
    if pattern.endswith(".*"):
        found = frozenset(each for each in CATALOGUE if each.startswith(pattern[:-1]))
    else:
        found = frozenset(each for each in CATALOGUE if each == pattern)
    if not found:
        raise Invalid(
            "UNKNOWN_CAPABILITY",
            f"{pattern[:80]!r} names no capability",
            hint="the names are in docs/reference/policy.md; a wildcard is '*' or ends in '.*'",
            details={"capability": pattern[:80]},
        )
    return found


def _known_patterns(
    value: Any,
) -> Any:  # Any: whatever came in; the field's type judges what is no list of texts
    if isinstance(value, list):
        for pattern in value:
            if isinstance(pattern, str):
                matching(pattern)
    return value


def _all_match(pattern: re.Pattern[str], what: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:  # Any: as above
        if isinstance(value, list):
            for each in value:
                if isinstance(each, str) and not pattern.fullmatch(each):
                    raise ValueError(f"{each[:64]!r} is no {what}")
        return value

    return check


Patterns = Annotated[
    list[Annotated[str, Field(max_length=80)]],
    BeforeValidator(_known_patterns),
    Field(max_length=limits.POLICY_PATTERNS_MAX),
]
"""Capabilities, each by name or wildcard."""

ScopeTypes = Annotated[
    list[str], BeforeValidator(_all_match(_TYPE, "scope type")), Field(max_length=limits.POLICY_PATTERNS_MAX)
]
Actors = Annotated[
    list[str],
    BeforeValidator(_all_match(_ACTOR, "actor (type:id)")),
    Field(max_length=limits.SCOPE_MEMBERS_MAX),
]


def _flag(value: object) -> bool:
    return isinstance(value, bool)


def _duration(value: object) -> bool:
    if not isinstance(value, str):
        return False
    duration_us(value)
    return True


def _cooldown(value: object) -> bool:
    return _duration(value) and 0 <= duration_us(str(value)) <= _COOLDOWN_MAX_US


def _ttl(value: object) -> bool:
    return _duration(value) and limits.TTL_US_MIN <= duration_us(str(value)) <= limits.TTL_US_MAX


def _per_hour(value: object) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and 1 <= cast("int", value) <= limits.REVISIONS_PER_HOUR_MAX


def _events(value: object) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and 0 <= cast("int", value) <= limits.ERASURE_DRIFT_MAX


def _rate(value: object) -> bool:
    try:
        return isinstance(value, str) and Rate.parse(value) is not None
    except Invalid:
        return False


_DEFAULTS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "actor.require_signed": (_flag, "true or false"),
    "scope.auto_register": (_flag, "true or false"),
    "tenant.open_administration": (_flag, "true or false"),
    "relay.open": (_flag, "true or false"),
    "user_memory.open": (_flag, "true or false"),
    "tenant.confidence_floor": (is_share, "a number from 0 to 1"),
    "beliefs.cooldown": (_cooldown, "an ISO 8601 duration of at most a day"),
    "beliefs.max_revisions_per_hour": (_per_hour, f"a whole number from 1 to {limits.REVISIONS_PER_HOUR_MAX}"),
    "beliefs.confidence_after_full_redaction_factor": (is_share, "a number from 0 to 1"),
    "erasure.drift_threshold": (_events, f"a whole number from 0 to {limits.ERASURE_DRIFT_MAX}"),
    "forget.cascade.default": (lambda value: value in ("derived_only", "redact_events"), "derived_only or redact_events"),
    **{f"ttl.{layer}": (_ttl, "an ISO 8601 duration from PT1M to P100Y") for layer in Layer},
    "ttl.erase": (_flag, "true or false"),
    "audit.retention": (_duration, "an ISO 8601 duration"),
    "audit.store_body_bytes": (_flag, "true or false"),
    "audit.pepper_rotation_period": (_duration, "an ISO 8601 duration"),
    "audit.pepper_retention_buffer": (_duration, "an ISO 8601 duration"),
    "rate_limit.write": (_rate, "a rate such as 100/s"),
    "rate_limit.read": (_rate, "a rate such as 500/s"),
    "rate_limit.importer": (_rate, "a rate such as 1000/s"),
}  # fmt: skip
_BELIEFS: Final = frozenset({"tenant.confidence_floor", "beliefs.cooldown", "beliefs.max_revisions_per_hour"})
_NUMBERS: Final = {
    "tenant.confidence_floor": {"type": "number", "minimum": 0, "maximum": 1},
    "beliefs.confidence_after_full_redaction_factor": {"type": "number", "minimum": 0, "maximum": 1},
    "erasure.drift_threshold": {"type": "integer", "minimum": 0, "maximum": limits.ERASURE_DRIFT_MAX},
    "beliefs.max_revisions_per_hour": {
        "type": "integer",
        "minimum": 1,
        "maximum": limits.REVISIONS_PER_HOUR_MAX,
    },
}
_TTLS: Final = frozenset(f"ttl.{layer}" for layer in Layer)
_OPERATORS: Final = frozenset({"audit.pepper_rotation_period", "audit.pepper_retention_buffer"})
_RATES: Final = frozenset({"rate_limit.write", "rate_limit.read", "rate_limit.importer"})
_PRESETS_AND_TENANTS: Final = frozenset({"relay.open", "user_memory.open"})
_DEPLOYMENT_ONLY: Final = frozenset({"actor.require_signed", "tenant.open_administration"})


Defaults = Annotated[
    dict[str, DefaultValue],
    WithJsonSchema(
        {
            "type": "object",
            "properties": {
                name: {"type": "boolean"}
                if fits is _flag
                else _NUMBERS.get(name, {"type": "string", "description": accepted})
                for name, (fits, accepted) in _DEFAULTS.items()
            },
            "additionalProperties": False,
        }
    ),
]
"""Values by name; docs/reference/policy.md lists which tier may say which."""


class PolicyDocument(Request):
    """What one tier says. Silence on a capability leaves it as the tier above has it."""

    allow: Patterns = Field(default_factory=list)
    deny: Patterns = Field(default_factory=list)
    defaults: Defaults = Field(default_factory=dict)
    vocabularies: Annotated[list[VocabularyName], Field(max_length=limits.VOCABULARIES_ACTIVE_MAX)] | None = (
        None
    )
    """Active for the tier's scopes, the first before the next; None leaves it to what is above, an empty list has none."""
    allowed_scope_types: ScopeTypes | None = None

    @model_validator(mode="after")
    def _known_defaults(self) -> Self:
        if self.vocabularies is not None and self._of_deployment():
            raise _invalid("vocabularies", "a preset does not say it: vocabularies are a tenant's")
        for name, value in self.defaults.items():
            if name not in _DEFAULTS or (name in _DEPLOYMENT_ONLY and not self._of_deployment()):
                raise _invalid(f"defaults.{name[:64]}", "it is not a default of this tier")
            fits, accepted = _DEFAULTS[name]
            if not fits(value):
                raise _invalid(f"defaults.{name}", f"it is {str(value)[:64]!r}; accepted: {accepted}")
        return self

    def _of_deployment(self) -> bool:
        return False


class HoldDocument(Request):
    """A scope that no erasure touches, with all below it, under the tenant's own name for the reason."""

    id: Annotated[str, Field(pattern=_HOLD, max_length=limits.LEGAL_HOLD_ID_LENGTH_MAX)]
    scope: ScopePath


class TenantDocument(PolicyDocument):
    """What a tenant says; ``administrators`` are the actors that may change it, ``legal_holds`` what no erasure touches."""

    administrators: Actors | None = None
    legal_holds: Annotated[list[HoldDocument], Field(max_length=limits.LEGAL_HOLDS_MAX)] = Field(
        default_factory=list
    )


class DeploymentDocument(PolicyDocument):
    """A preset: the ceiling of everything, so what it does not allow is denied.

    ``tenant_decides`` is denied until a tenant's document allows it. ``operators_only`` takes an operator.
    """

    preset: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    tenant_decides: Patterns = Field(default_factory=list)
    operators_only: Patterns = Field(default_factory=list)

    def _of_deployment(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class CompiledDocument:
    """A document with its wildcards resolved, for deciding."""

    allows: frozenset[Capability] = frozenset()
    denies: frozenset[Capability] = frozenset()
    tenant_decides: frozenset[Capability] = frozenset()
    operators_only: frozenset[Capability] = frozenset()
    administrators: frozenset[str] = frozenset()
    legal_holds: tuple[LegalHold, ...] = ()
    scope_types: frozenset[str] | None = None
    defaults: Mapping[str, DefaultValue] | None = None

    def default(self, name: str) -> DefaultValue | None:
        """What the document says of a default, None where it is silent."""
        return (self.defaults or {}).get(name)

    def rate(self, name: str) -> Rate | None:
        """The rate limit that the document sets."""
        text = self.default(f"rate_limit.{name}")
        return Rate.parse(str(text)) if text is not None else None

    def length_us(self, name: str) -> int | None:
        """A default that is a duration, in microseconds."""
        text = self.default(name)
        return duration_us(str(text)) if text is not None else None


def check_defaults(document: PolicyDocument, tier: PolicyTier) -> None:
    """That a document's defaults are its tier's to say and within bounds; raises ``Invalid`` (INVALID_POLICY)."""
    own = {
        PolicyTier.DEPLOYMENT: _DEFAULTS.keys() - _DEPLOYMENT_ONLY - _PRESETS_AND_TENANTS - _BELIEFS,
        PolicyTier.TENANT: _DEFAULTS.keys() - _DEPLOYMENT_ONLY - _OPERATORS,
        PolicyTier.SCOPE: _TTLS,
        PolicyTier.ACTOR: _RATES,
    }[tier]
    if document.vocabularies is not None and tier not in (PolicyTier.TENANT, PolicyTier.SCOPE):
        raise _invalid("vocabularies", f"the {tier} tier does not say it")
    for name in document.defaults:
        if name not in own:
            raise _invalid(f"defaults.{name}", f"the {tier} tier does not say it")
    kept = document.defaults.get("audit.retention")
    if kept is not None and not RETENTION_MIN_US <= duration_us(str(kept)) <= RETENTION_MAX_US:
        raise _invalid("defaults.audit.retention", f"it is {kept!r}; accepted: P90D to P7Y")


_REPLACES: Final = {
    PolicyTier.DEPLOYMENT: Capability.POLICY_ADMINISTER_DEPLOYMENT,
    PolicyTier.TENANT: Capability.POLICY_ADMINISTER_TENANT,
    PolicyTier.SCOPE: Capability.POLICY_ADMINISTER_SCOPE,
}
"""What it takes to replace a tier's document. An actor's is replaced by an administrator, too."""


def check_replaceable(document: PolicyDocument, tier: PolicyTier) -> None:
    """That a document leaves somebody who can put another in its place; raises ``Invalid`` (INVALID_POLICY)."""
    needed = _REPLACES.get(tier)
    if needed in compiled(document).denies:
        raise _invalid(
            "deny", f"it takes {needed} to replace this document, and nobody would have it any more"
        )


def compiled(document: PolicyDocument) -> CompiledDocument:
    """The document as decisions read it."""
    denies = _resolved(document.deny)
    deployment = document if isinstance(document, DeploymentDocument) else None
    tenant = document if isinstance(document, TenantDocument) else None
    return CompiledDocument(
        allows=_allowed(document.allow) - denies,
        denies=denies,
        tenant_decides=_resolved(deployment.tenant_decides) - denies if deployment else frozenset(),
        operators_only=_resolved(deployment.operators_only) if deployment else frozenset(),
        administrators=frozenset(tenant.administrators or ()) if tenant else frozenset(),
        legal_holds=tuple(LegalHold(hold.id, Scope(hold.scope)) for hold in tenant.legal_holds)
        if tenant
        else (),
        scope_types=None if document.allowed_scope_types is None else frozenset(document.allowed_scope_types),
        defaults=dict(document.defaults),
    )


def _allowed(patterns: Sequence[str]) -> frozenset[Capability]:
    return _resolved(patterns) - (NAMED_ONLY - frozenset(patterns))


def _resolved(patterns: Iterable[str]) -> frozenset[Capability]:
    return frozenset().union(*map(matching, patterns))


def _invalid(field: str, reason: str) -> Invalid:
    return Invalid(
        "INVALID_POLICY",
        f"the policy document is wrong at {field}: {reason}",
        details={"field": field, "reason": reason},
    )
