"""No sequence of policy documents and token claims grants what an upper tier denies, compared with a plain model.

The model knows nothing of snapshots, compiled documents or caches: it walks the tiers from the outside in, expands
wildcards by itself, and answers with the first tier that denies. Documents are put one after another at all four
tiers, under the four presets and under presets of random lists; after each some capabilities are asked for on some
scopes, with the token of the caller in force.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import Phase
from hypothesis import given as holds
from hypothesis import settings as examples
from hypothesis import strategies as st

from given import NOON
from lamina.access.documents import DeploymentDocument, PolicyDocument, TenantDocument, compiled
from lamina.access.membership import Role, needed_role
from lamina.access.presets import Preset, load_preset
from lamina.access.tiers import TieredPolicy
from lamina.access.tokens.narrowing import token_allows
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Grant, Principal
from lamina.kernel.scopes import Scope
from lamina.kernel.tokens import ScopeLimit, TokenFacts
from lamina.store.memory import MemoryStore
from lamina.store.ports.registry import PolicyRow

NAMES = sorted(each.value for each in Capability)
FEW = [
    "scope.read.local",
    "scope.write",
    "understanding.read",
    "forget.gdpr",
    "llm.invoke",
    "diagnostics.read",
]
"""Asked for, and named by tokens, more often than the others: so that both meet."""
PREFIXES = sorted({name[: at + 1] for name in NAMES for at, char in enumerate(name) if char == "."})
TENANTS = ("acme", "globex")
ACTORS = ("user:alice", "user:bob", "service:importer", "user:root")
SCOPES = (
    "org:acme",
    "org:acme/team:a",
    "org:acme/team:a/user:alice",
    "org:acme/team:b",
    "ws:x",
    "ws:x/project:p",
)
OPERATOR = ("acme", "user:root")
OF_ADMINISTRATORS = ("policy.administer.tenant", "auth.revoke")
"""What takes an operator or an administrator of the tenant (8.16.1 of seed 002 for the second); no document here names any, so
everybody is one where the preset says so, and otherwise the operator alone."""

PATTERNS = st.sampled_from([*NAMES, *NAMES, "*", *(f"{prefix}*" for prefix in PREFIXES)])
LISTS = st.lists(PATTERNS, max_size=5)
DOCUMENTS = st.fixed_dictionaries({"allow": LISTS, "deny": LISTS})
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("deployment"), st.just(("", "")), DOCUMENTS),
        st.tuples(st.just("tenant"), st.sampled_from([(name, name) for name in TENANTS]), DOCUMENTS),
        st.tuples(st.just("scope"), st.tuples(st.sampled_from(TENANTS), st.sampled_from(SCOPES)), DOCUMENTS),
        st.tuples(st.just("actor"), st.tuples(st.sampled_from(TENANTS), st.sampled_from(ACTORS)), DOCUMENTS),
    ),
    min_size=1,
    max_size=8,
)
CUSTOM = st.fixed_dictionaries(
    {"allow": LISTS, "deny": LISTS, "tenant_decides": LISTS, "operators_only": st.lists(PATTERNS, max_size=2)}
)
PRESETS = st.sampled_from(["on_prem_enterprise", "cloud_shared_saas", "cloud_private", "dev_local"]) | CUSTOM
ONE = st.sampled_from(FEW) | st.sampled_from(NAMES)
LIMITS = st.lists(st.tuples(ONE, st.sampled_from(SCOPES), st.booleans()), max_size=4)
TOKENS = st.none() | st.tuples(st.none() | st.frozensets(st.sampled_from(NAMES), max_size=20), LIMITS)
ASKED = st.lists(
    st.tuples(
        ONE,
        st.none() | st.sampled_from(SCOPES),
        st.sampled_from(TENANTS),
        st.sampled_from(ACTORS),
    ),
    min_size=4,
    max_size=12,
)


def named(patterns: list[str], capability: str) -> bool:
    return any(
        pattern in ("*", capability) or (pattern.endswith(".*") and capability.startswith(pattern[:-1]))
        for pattern in patterns
    )


def given(patterns: Any, capability: str) -> bool:
    """As ``named``, but for what no wildcard gives."""
    return (
        capability in patterns if capability == "scope.write.others_memory" else named(patterns, capability)
    )


@dataclass
class Model:
    """The documents as they were put, and the rules of seed 002, 4.2 and 5.1, in as many words."""

    preset: dict[str, Any]
    documents: dict[tuple[str, str, str], dict[str, list[str]]] = field(default_factory=dict)

    def denies(self, tier: str, tenant: str, target: str, capability: str) -> bool:
        return named(self.documents.get((tier, tenant, target), {}).get("deny", []), capability)

    def tier(self, who: Principal, capability: str, scope: str | None) -> str | None:
        """The first tier that denies, from the outside in; None where none does."""
        preset, tenant = self.preset, who.tenant_id
        within = not named(preset.get("deny", []), capability)
        allowed = within and given(preset["allow"], capability)
        decides = within and named(preset.get("tenant_decides", []), capability)
        if not (allowed or decides) or self.denies("deployment", "", "", capability):
            return "deployment"
        own = self.documents.get(("tenant", tenant, tenant), {})
        opened = given(own.get("allow", []), capability)
        if self.denies("tenant", tenant, tenant, capability) or not (allowed or opened):
            return "tenant"
        operates = not preset.get("operators_only") or (tenant, who.actor) == OPERATOR
        if named(preset.get("operators_only", []), capability) and not operates:
            return "deployment"
        open_to_all = preset.get("defaults", {}).get("tenant.open_administration") is True
        if capability in OF_ADMINISTRATORS and not (open_to_all or (tenant, who.actor) == OPERATOR):
            return "tenant"
        parts = scope.split("/") if scope else []
        if any(
            self.denies("scope", tenant, "/".join(parts[:n]), capability) for n in range(1, len(parts) + 1)
        ):
            return "scope"
        if self.denies("actor", tenant, who.actor, capability):
            return "actor"
        return "token" if who.token is not None and not self.carries(who, capability, scope) else None

    @staticmethod
    def carries(who: Principal, capability: str, scope: str | None) -> bool:
        token = who.token
        assert token is not None
        if who.actor.startswith("service:") and capability in ("forget.gdpr", "forget.gdpr.cross_workspace"):
            return False
        if token.caps is not None and capability not in token.caps:
            return False
        entries = [each for each in token.scopes if each.capability == capability]
        if not entries or scope is None:
            return not entries or capability in (
                "scope.read.local", "scope.write", "understanding.read", "lifecycle.subscribe",
            )  # fmt: skip
        return any(
            scope == each.scope or (each.below and scope.startswith(f"{each.scope}/")) for each in entries
        )


def preset_of(said: str | dict[str, Any]) -> tuple[Preset, dict[str, Any]]:
    if isinstance(said, str):
        preset = load_preset(said)
        return preset, preset.document.model_dump()
    document = DeploymentDocument.model_validate({"preset": "own", **said})
    return Preset("own", document, compiled(document)), said


def facts(said: Any) -> TokenFacts | None:
    if said is None:
        return None
    caps, limits = said
    entries = tuple(ScopeLimit(name, Scope(path), below) for name, path, below in limits)
    return TokenFacts("t-1", "issuer", 2**40, caps, entries)


def put(store: MemoryStore, tier: str, at: tuple[str, str], document: dict[str, list[str]]) -> None:
    kind = TenantDocument if tier == "tenant" else PolicyDocument
    written = kind.model_validate(document).model_dump(exclude_unset=True)
    tenant, target = at
    store.registry.put_document(
        PolicyRow(
            tenant_id=tenant, tier=tier, target=target, document=written, set_by="user:root", set_at=NOON
        )
    )


@examples(max_examples=200, deadline=None, phases=[Phase.generate])
@holds(said=PRESETS, steps=STEPS, token=TOKENS, asked=ASKED)
def test_nothing_grants_what_a_tier_above_denies(said: Any, steps: Any, token: Any, asked: Any) -> None:
    preset, written = preset_of(said)
    store = MemoryStore()
    policy = TieredPolicy(preset, store.registry, operators=["/".join(OPERATOR)], token_allows=token_allows)
    model = Model(written)
    for tier, (tenant, target), document in steps:
        put(store, tier, (tenant, target), document)
        model.documents[tier, tenant, target] = document
        for capability, scope, of_tenant, actor in asked:
            who = Principal(of_tenant, actor, "http", facts(token))
            decision = policy.current().decide(who, Grant(capability, Scope(scope) if scope else None))
            expected = model.tier(who, capability, scope)
            where = f"{capability} on {scope} for {of_tenant}/{actor} after {tier} {target}"
            if expected is not None:
                assert not decision.allowed, f"{where}: the {expected} tier denies it"
                assert decision.tier == expected, where
            elif reads_across(capability, scope, of_tenant):
                across = model.tier(who, "scope.read.cross_tenant", scope)
                assert across is None or not decision.allowed, f"{where}: {across} denies crossing tenants"
            elif plain(capability, scope):
                assert decision.allowed, f"{where}: the {decision.tier} tier denies it"


def reads_across(capability: str, scope: str | None, tenant: str) -> bool:
    """Whether a read names another tenant's organisation."""
    reads = ("scope.read.local", "scope.read.holistic", "scope.read.descend")
    return capability in reads and scope is not None and scope.startswith("org:acme") and tenant != "acme"


def plain(capability: str, scope: str | None) -> bool:
    """Whether nothing but the tiers and the token has a say: no membership, no borders."""
    return scope is None or needed_role(Capability(capability)) is Role.NONE
