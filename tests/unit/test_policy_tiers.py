"""The four tiers: presets, narrowing, who is denied by whom."""

from __future__ import annotations

import time
from typing import Any

import pytest

from given import NOON, TENANT, append
from lamina.access.documents import CATALOGUE, PolicyDocument, TenantDocument
from lamina.access.policy import PolicyPermits
from lamina.access.presets import load_preset
from lamina.access.tiers import TieredPolicy
from lamina.errors import Forbidden, Invalid
from lamina.kernel.operations import Grant, Principal
from lamina.kernel.scopes import Scope
from lamina.store.memory import MemoryStore
from lamina.store.ports.registry import PolicyRow
from tables import every_row

ALICE = Principal(TENANT, "user:alice", "http")
ROOT = Principal(TENANT, "user:root", "http")
HOME = Scope("org:acme/user:alice")

# Appendix A, and scope.write.others_memory, which is ours: on_prem_enterprise, cloud_shared_saas, cloud_private, dev_local.
PRESETS = ("on_prem_enterprise", "cloud_shared_saas", "cloud_private", "dev_local")
APPENDIX_A = """
scope.create.global              Y N Y Y
scope.create.cross_tenant        Y N N Y
scope.create.org                 Y Y Y Y
scope.create.user                Y Y Y Y
scope.create.agent               Y Y Y Y
scope.create.ws                  Y Y Y Y
scope.write                      Y Y Y Y
scope.write.elevated             Y ~ Y Y
scope.write.on_behalf_of         Y ~ Y Y
scope.write.about_other          Y ~ Y Y
scope.write.others_memory        ~ ~ ~ Y
scope.create.custom              Y N Y Y
scope.read.local                 Y Y Y Y
scope.read.holistic              Y Y Y Y
scope.read.descend               Y ~ Y Y
scope.read.cross_tenant          Y N N Y
understanding.read               Y Y Y Y
understanding.read.cross_scope   Y N Y Y
understanding.synthesize         Y Y Y Y
forget.cascade.derived_only      Y Y Y Y
forget.cascade.redact_events     Y Y Y Y
forget.gdpr                      Y Y Y Y
forget.gdpr.cross_workspace      Y Y Y Y
import.from.mem0                 Y Y Y Y
import.from.zep                  Y Y Y Y
import.from.letta                Y Y Y Y
import.from.openai               Y Y Y Y
import.from.jsonl                Y Y Y Y
export.format.mem0               Y Y Y Y
export.format.zep                Y Y Y Y
export.format.jsonl              Y Y Y Y
lifecycle.subscribe              Y Y Y Y
llm.invoke                       Y Y Y Y
diagnostics.read                 Y ~ Y Y
audit.read                       Y Y Y Y
audit.read.cross_actor           Y N Y Y
auth.revoke                      T T T Y
temporal.phrases.read            Y Y Y Y
temporal.phrases.write           Y Y Y Y
vocabulary.read                  Y Y Y Y
vocabulary.write                 Y Y Y Y
policy.administer.deployment     O O O Y
policy.administer.tenant         T T T Y
policy.administer.scope          Y Y Y Y
policy.administer.actor          Y Y Y Y
blob.upload                      Y Y Y Y
blob.read                        Y Y Y Y
admin.flush                      O O O Y
admin.compact                    O O O Y
admin.health                     Y Y Y Y
"""
"""``~`` is left to the tenant and denied until it allows; ``O`` takes an operator, ``T`` an administrator of the tenant.
The table itself has Y for ``auth.revoke``; 8.16.1 says who holds it."""
CELLS = [
    (capability, preset, cell)
    for capability, *cells in map(str.split, APPENDIX_A.strip().splitlines())
    for preset, cell in zip(PRESETS, cells, strict=True)
]


class World:
    """A policy over a store of its own."""

    def __init__(self, preset: str = "dev_local", **more: Any) -> None:
        self.store = MemoryStore()
        self.policy = TieredPolicy(load_preset(preset), self.store.registry, **more)

    def put(self, tier: str, target: str = TENANT, **document: Any) -> None:
        tenant_id = "" if tier == "deployment" else TENANT
        kind = TenantDocument if tier == "tenant" else PolicyDocument
        written = kind.model_validate(document).model_dump(exclude_unset=True)
        row = PolicyRow(
            tenant_id=tenant_id,
            tier=tier,
            target="" if tier == "deployment" else target,
            document=written,
            set_by="user:root",
            set_at=NOON,
        )
        self.store.registry.put_document(row)

    def tier(self, capability: str, scope: str | None = None, who: Principal = ALICE) -> str | None:
        """Which tier denies; None when the capability is held."""
        decision = self.policy.current().decide(who, Grant(capability, Scope(scope) if scope else None))
        return None if decision.allowed else decision.tier


def test_the_table_names_the_whole_catalogue() -> None:
    assert {capability for capability, _, _ in CELLS} == CATALOGUE


@every_row(("capability", "preset", "cell"), CELLS)
def test_a_preset_allows_what_the_appendix_says(capability: str, preset: str, cell: str) -> None:
    world = World(preset, operators=[f"{TENANT}/user:root"])
    expected = {"Y": None, "N": "deployment", "~": "tenant", "O": "deployment", "T": "tenant"}[cell]
    assert world.tier(capability) == expected
    if cell in "OT":
        assert world.tier(capability, who=ROOT) is None
    world.put("tenant", allow=[capability])
    still = {"N": "deployment", "O": "deployment", "T": "tenant"}
    assert world.tier(capability) == still.get(cell)


@pytest.mark.parametrize("tier", ["deployment", "tenant", "scope", "actor"])
def test_each_tier_denies_and_is_named(tier: str) -> None:
    world = World()
    target = {"tenant": TENANT, "scope": "org:acme", "actor": "user:alice"}.get(tier, "")
    world.put(tier, target, deny=["scope.read.*"])
    assert world.tier("scope.read.holistic", HOME) == tier
    assert world.tier("scope.write", HOME) is None
    permits = PolicyPermits(world.policy, ALICE)
    with pytest.raises(Forbidden) as caught:
        permits.require(Grant("scope.read.local", HOME))
    assert caught.value.details == {
        "capability": "scope.read.local",
        "denied_by_tier": tier,
        "deployment_preset": "dev_local",
    }


def test_the_outermost_tier_that_denies_is_named() -> None:
    world = World()
    for tier, target in (("actor", "user:alice"), ("scope", "org:acme"), ("tenant", TENANT)):
        world.put(tier, target, deny=["scope.write"])
        assert world.tier("scope.write", HOME) == tier


def test_deny_wins_inside_a_document_and_silence_inherits() -> None:
    world = World("cloud_shared_saas")
    world.put("tenant", allow=["diagnostics.read", "scope.read.descend"], deny=["diagnostics.*"])
    assert world.tier("diagnostics.read") == "tenant"
    assert world.tier("scope.read.descend", HOME) is None
    assert world.tier("scope.write.about_other", HOME) == "tenant"


def test_a_token_only_narrows() -> None:
    def without_reads(principal: Principal, grant: Grant) -> bool:
        return not grant.capability.startswith("scope.read")

    world = World("cloud_shared_saas", token_allows=without_reads)
    assert world.tier("scope.read.local", HOME) == "token"
    assert world.tier("scope.create.global") == "deployment"


def test_a_capability_that_nobody_knows_is_denied() -> None:
    assert World().tier("scope.fly") == "deployment"


def test_another_tenants_policy_is_not_ones_own() -> None:
    world = World()
    world.put("tenant", deny=["*"])
    assert world.tier("scope.write", HOME) == "tenant"
    assert world.tier("scope.write", HOME, Principal("globex", "user:alice", "http")) is None


def test_a_snapshot_stands_while_policy_moves_on() -> None:
    world = World()
    before = world.policy.current()
    assert before.decide(ALICE, Grant("scope.read.local", HOME)).allowed
    world.put("actor", "user:alice", deny=["scope.read.local"])
    assert before.decide(ALICE, Grant("scope.read.local", HOME)).allowed
    assert world.tier("scope.read.local", HOME) == "actor"


def test_named_administrators_take_over_from_everybody() -> None:
    world = World()
    assert world.tier("policy.administer.tenant") is None
    world.put("tenant", administrators=["user:bob"])
    assert world.tier("policy.administer.tenant") == "tenant"
    assert world.tier("policy.administer.tenant", who=Principal(TENANT, "user:bob", "http")) is None


def test_rates_are_the_tenants_own_or_the_deployments_and_an_actor_lowers_them() -> None:
    world = World("cloud_shared_saas")

    def rates() -> dict[str, str]:
        return dict(world.policy.current().rate_rules(TENANT, "user:alice").shown())

    assert rates() == {"write": "100/s", "read": "500/s", "importer": "1000/s"}
    world.put("tenant", defaults={"rate_limit.write": "50/s", "rate_limit.importer": "60/m"})
    world.put("actor", "user:alice", defaults={"rate_limit.write": "99/s", "rate_limit.read": "10/s"})
    assert rates() == {"write": "50/s", "read": "10/s", "importer": "60/m"}


def test_how_fast_calls_may_come_is_not_read_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    world, asked = World("cloud_shared_saas"), 0
    version = world.store.registry.version

    def counted() -> int:
        nonlocal asked
        asked += 1
        return version()

    monkeypatch.setattr(world.store.registry, "version", counted)

    def writes() -> str:
        return world.policy.rate_rules(TENANT, "user:alice").shown()["write"]

    assert {writes() for _ in range(1000)} == {"100/s"}
    assert asked < 100
    world.put("tenant", defaults={"rate_limit.write": "50/s"})
    assert world.tier("scope.write", HOME) is None  # who decides anything reads what stands now
    assert writes() == "50/s"
    world.put("tenant", defaults={"rate_limit.write": "40/s"})
    until = time.monotonic() + 300
    while writes() != "40/s":  # what another process put
        assert time.monotonic() < until


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"deny": ["scope.fly"]}, "UNKNOWN_CAPABILITY"),
        ({"allow": ["scope.*.local"]}, "UNKNOWN_CAPABILITY"),
        ({"allow": ["scope."]}, "UNKNOWN_CAPABILITY"),
        ({"defaults": {"rate_limit.write": "fast"}}, "INVALID_POLICY"),
        ({"defaults": {"audit.retention": "1 year"}}, "INVALID_DURATION"),
        ({"defaults": {"actor.require_signed": False}}, "INVALID_POLICY"),
        ({"defaults": {"colour": "blue"}}, "INVALID_POLICY"),
    ],
)
def test_a_document_that_means_nothing_is_refused(document: dict[str, Any], code: str) -> None:
    with pytest.raises(Invalid) as caught:
        PolicyDocument.model_validate(document)
    assert caught.value.code == code


def test_what_was_allowed_is_looked_up_until_something_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    write_first(world, "org:acme/user:bob", "user:bob")
    assert world.tier("scope.write", "org:acme/user:bob") is None  # elevated: it is another person's memory
    asked = reads_of_scopes(monkeypatch, world)
    assert world.tier("scope.write", "org:acme/user:bob") is None
    assert not asked
    world.put("tenant", deny=["scope.write.elevated"])
    assert world.tier("scope.write", "org:acme/user:bob") == "tenant"
    assert asked


def test_the_right_to_make_a_scope_is_used_up_by_whoever_makes_it() -> None:
    world = World()
    world.put("tenant", deny=["scope.write.elevated"])
    assert world.tier("scope.write", "project:kite") is None
    write_first(world, "project:kite", "user:bob")
    assert world.tier("scope.write", "project:kite") == "tenant"


def test_what_was_denied_is_looked_into_anew() -> None:
    world = World()
    world.put("tenant", deny=["scope.write.elevated"])
    write_first(world, "project:kite/team:sail", "user:bob")
    assert world.tier("scope.write", "project:kite/team:sail") == "tenant"
    write_first(world, "project:kite", "user:alice")
    assert world.tier("scope.write", "project:kite/team:sail") is None


def write_first(world: World, scope: str, actor: str) -> None:
    append(world.store, "hello", scope=Scope(scope), caller=actor)


def reads_of_scopes(monkeypatch: pytest.MonkeyPatch, world: World) -> list[Any]:
    reads: list[Any] = []
    states = world.store.registry.states

    def noted(tenant_id: str, paths: Any) -> Any:
        reads.append(paths)
        return states(tenant_id, paths)

    monkeypatch.setattr(world.store.registry, "states", noted)
    return reads
