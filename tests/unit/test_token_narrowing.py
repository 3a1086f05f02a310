"""What a token leaves of what policy allows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.access.presets import load_preset
from lamina.access.tiers import Snapshot, TieredPolicy
from lamina.access.tokens.narrowing import token_allows
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Grant, Principal
from lamina.kernel.scopes import Scope
from lamina.kernel.tokens import ScopeLimit, TokenFacts
from lamina.store.memory import MemoryStore

ENG = Scope("org:acme/dept:eng")


def caller(
    caps: list[str] | None = None, scopes: list[tuple[str, str]] | None = None, actor: str = "user:alice"
) -> Principal:
    limits = tuple(
        ScopeLimit(name, Scope(path.removesuffix("/*")), path.endswith("/*")) for name, path in scopes or []
    )
    facts = TokenFacts("t-1", "https://x", 0, None if caps is None else frozenset(caps), limits)
    return Principal("acme", actor, "http", facts)


def test_without_a_token_and_without_narrowing_everything_is_left() -> None:
    grant = Grant(Capability.SCOPE_WRITE, ENG)
    assert token_allows(Principal("acme", "user:alice", "http"), grant)
    assert token_allows(caller(), grant)


@pytest.mark.parametrize(
    ("caps", "left"),
    [(["scope.write"], True), (["scope.read.local"], False), ([], False), (["scope.*"], False), (["*"], False),
     (["scope"], False), (["scope.write.elevated"], False)],
)  # fmt: skip
def test_caps_leave_what_they_name_and_nothing_else(caps: list[str], left: bool) -> None:
    assert token_allows(caller(caps), Grant(Capability.SCOPE_WRITE, ENG)) is left


@pytest.mark.parametrize(
    ("path", "scope", "left"),
    [
        ("org:acme/dept:eng/*", "org:acme/dept:eng", True),
        ("org:acme/dept:eng/*", "org:acme/dept:eng/user:x", True),
        ("org:acme/dept:eng/*", "org:acme/dept:engineering", False),
        ("org:acme/dept:eng/*", "org:acme", False),
        ("org:acme/dept:eng", "org:acme/dept:eng", True),
        ("org:acme/dept:eng", "org:acme/dept:eng/user:x", False),
    ],
)
def test_scopes_bind_a_capability_to_a_path_or_to_what_lies_below_it(
    path: str, scope: str, left: bool
) -> None:
    narrowed = caller(scopes=[("scope.write", path)])
    assert token_allows(narrowed, Grant(Capability.SCOPE_WRITE, Scope(scope))) is left
    assert token_allows(narrowed, Grant(Capability.SCOPE_READ_LOCAL, Scope(scope)))


def test_several_entries_of_a_capability_add_up() -> None:
    narrowed = caller(scopes=[("scope.write", "org:a/*"), ("scope.write", "org:b")])
    assert [token_allows(narrowed, Grant("scope.write", Scope(f"org:{name}"))) for name in "abc"] == [
        True,
        True,
        False,
    ]


def test_a_grant_without_a_scope_passes_only_where_it_is_asked_again() -> None:
    assert not token_allows(caller(scopes=[("audit.read", "org:a/*")]), Grant(Capability.AUDIT_READ))
    assert token_allows(caller(scopes=[("scope.write", "org:a/*")]), Grant(Capability.SCOPE_WRITE))
    assert not token_allows(caller([], scopes=[("scope.write", "org:a/*")]), Grant(Capability.SCOPE_WRITE))


def test_service_accounts_never_erase_for_good() -> None:
    service = caller(actor="service:cleaner")
    for capability in (Capability.FORGET_GDPR, Capability.FORGET_GDPR_CROSS_WORKSPACE):
        assert not token_allows(service, Grant(capability, ENG))
        assert token_allows(caller(), Grant(capability, ENG))
    assert token_allows(service, Grant(Capability.FORGET_REDACT_EVENTS, ENG))


def tiers(preset: str = "dev_local", **narrowing: Any) -> Snapshot:
    store = MemoryStore()
    return TieredPolicy(load_preset(preset), store.registry, **narrowing).current()


def test_the_denial_names_the_token() -> None:
    policy = tiers(token_allows=token_allows)
    denied = policy.decide(caller([]), Grant("scope.write", ENG))
    assert (denied.allowed, denied.tier) == (False, "token")
    assert policy.decide(caller(), Grant("scope.write", ENG)).tier == "deployment"


PRESETS = ("on_prem_enterprise", "cloud_shared_saas", "dev_local")
WIDE = {name: tiers(name) for name in PRESETS}
NARROW = {name: tiers(name, token_allows=token_allows) for name in PRESETS}
NAMES = st.sampled_from([str(item) for item in Capability])
PATHS = st.sampled_from(["org:a", "org:a/*", "org:a/user:x", "org:b/*", "org:a/user:x/*"])
GRANTS = st.builds(
    Grant, NAMES, st.sampled_from([None, *map(Scope, ("org:a", "org:a/user:x", "org:b", "org:c"))])
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(PRESETS), st.none() | st.lists(NAMES), st.lists(st.tuples(NAMES, PATHS)), GRANTS)
def test_no_token_gives_what_policy_denies(
    preset: str, caps: list[str] | None, scopes: list[tuple[str, str]], grant: Grant
) -> None:
    principal = caller(caps, scopes)
    narrowed, wide = NARROW[preset].decide(principal, grant), WIDE[preset].decide(principal, grant)
    assert not narrowed.allowed or (wide.allowed and token_allows(principal, grant))
    if wide.allowed and not narrowed.allowed:
        assert narrowed.tier == "token"
