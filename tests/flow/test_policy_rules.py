"""Rate limits and what becomes of audit rows, as policy documents lay them down: they hold for the next request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lamina.access.tiers import TieredPolicy
from lamina.kernel.expiry import TtlRules
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import duration_us
from lamina.store.sqlite import SqliteStore
from neighbours import ROOT, Neighbours

HOME = "org:acme/user:alice"
TENANT, DEPLOYMENT = "/v1/policy/tenant/acme", "/v1/policy/deployment"
DAY = duration_us("P1D")


@pytest.fixture(params=["memory", "sqlite"])
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Neighbours]:
    store = SqliteStore(tmp_path, durable=False) if request.param == "sqlite" else None
    neighbours = Neighbours("cloud_shared_saas", store)
    yield neighbours
    neighbours.close()


def put(here: Neighbours, path: str, **defaults: str | bool) -> None:
    here.said("PUT", path, {"defaults": defaults}, by=ROOT)


def limit(here: Neighbours, by: str = "user:alice", tenant: str = "acme") -> str:
    return here.call("GET", "/v1/events", by=by, tenant=tenant, scope=HOME).headers["x-ratelimit-limit"]


def test_a_tenants_rate_holds_for_its_next_request(here: Neighbours) -> None:
    assert limit(here) == "500"
    put(here, TENANT, **{"rate_limit.read": "2/m"})
    answers = [here.call("GET", "/v1/events", scope=HOME).status_code for _ in range(3)]
    assert answers == [200, 200, 429]
    assert here.said("GET", "/v1/policy/effective", by="user:bob")["rate_limits"]["read"] == "2/m"
    assert limit(here, tenant="globex") == "500"
    assert here.write(HOME).status_code == 202
    put(here, TENANT)
    assert limit(here) == "500"


def test_an_actors_rate_is_its_own_and_can_only_be_lower(here: Neighbours) -> None:
    here.said("PUT", "/v1/policy/actor/user:alice", {"defaults": {"rate_limit.read": "7/s"}})
    assert (limit(here), limit(here, "user:bob")) == ("7", "500")
    here.said("PUT", "/v1/policy/actor/user:alice", {"defaults": {"rate_limit.read": "9999/s"}})
    assert limit(here) == "500"


def test_what_is_put_for_the_deployment_bounds_every_tenant(here: Neighbours) -> None:
    put(here, TENANT, **{"rate_limit.read": "400/s"})
    put(here, DEPLOYMENT, **{"rate_limit.read": "30/s"})
    assert (limit(here), limit(here, tenant="globex")) == ("30", "30")
    shown = here.said("GET", "/v1/policy/effective")["rate_limits"]
    assert shown == {"write": "100/s", "read": "30/s", "importer": "1000/s"}


def test_settings_are_shown_as_they_hold(make_world: object) -> None:
    world = make_world(rate_limit_read="3/m")  # type: ignore[operator]
    assert world.get("/v1/policy/effective")["rate_limits"] == {"read": "3/m"}


def test_a_tenant_leaves_the_size_of_bodies_out(here: Neighbours) -> None:
    put(here, TENANT, **{"audit.store_body_bytes": False})
    here.write(HOME)
    here.write("org:globex", tenant="globex")
    own, other = (
        here.said("GET", "/v1/audit", tenant=tenant, capability="scope.write")["items"][0]["request"]
        for tenant in ("acme", "globex")
    )
    assert ("body_bytes" in own, "body_bytes" in other) == (False, True)
    put(here, DEPLOYMENT, **{"audit.store_body_bytes": False})
    put(here, TENANT, **{"audit.store_body_bytes": True})
    here.write(HOME)
    newest = here.said("GET", "/v1/audit", capability="scope.write")["items"][0]
    assert "body_bytes" not in newest["request"]


def test_a_tenant_keeps_its_rows_as_long_as_it_says(here: Neighbours) -> None:
    put(here, TENANT, **{"audit.retention": "P100D"})
    here.write(HOME)
    here.write("org:globex", tenant="globex")
    here.clock.at += 101 * DAY
    retention = here.server.retention()
    retention._clock = here.clock
    assert retention.prune("acme") >= 1
    assert retention.prune("globex") == 0
    put(here, TENANT)
    here.clock.at += 200 * DAY
    assert retention.prune("acme") == 0  # two years again: the row of the deletion is younger


@pytest.mark.parametrize(
    ("path", "defaults"),
    [
        (TENANT, {"audit.retention": "P89D"}),
        (TENANT, {"audit.retention": "P8Y"}),
        (TENANT, {"audit.pepper_rotation_period": "P1D"}),
        ("/v1/policy/actor/user:alice", {"audit.retention": "P1Y"}),
        ("/v1/policy/scope/org:acme", {"rate_limit.read": "1/s"}),
        (TENANT, {"rate_limit.read": "unlimited"}),
        (TENANT, {"ttl.events": "PT59S"}),
        (TENANT, {"ttl.events": "P101Y"}),
        (TENANT, {"ttl.entities": "P1D"}),
        ("/v1/policy/scope/org:acme", {"ttl.erase": True}),
        ("/v1/policy/actor/user:alice", {"ttl.events": "P1D"}),
    ],
)
def test_a_tier_says_only_what_is_its_own(
    here: Neighbours, path: str, defaults: dict[str, str | bool]
) -> None:
    assert here.code("PUT", path, {"defaults": defaults}, by=ROOT) == "INVALID_POLICY"


def test_records_live_as_long_as_the_shortest_time_that_any_tier_says(here: Neighbours) -> None:
    policy = here.server.rules
    assert isinstance(policy, TieredPolicy)
    assert here.write(HOME).status_code == 202
    assert policy.ttl_rules("acme", Scope(HOME)) == TtlRules()
    put(here, DEPLOYMENT, **{"ttl.events": "P90D"})
    put(here, TENANT, **{"ttl.events": "P60D", "ttl.facts": "P1Y", "ttl.erase": True})
    put(here, "/v1/policy/scope/org:acme", **{"ttl.events": "P7D"})
    put(here, f"/v1/policy/scope/{HOME.replace('/', '%2F')}", **{"ttl.events": "P30D"})
    within = policy.ttl_rules("acme", Scope(HOME))
    assert within.ttl_us == {Layer.EVENTS: 7 * DAY, Layer.FACTS: 365 * DAY}
    assert policy.ttl_rules("acme", Scope("user:bob")).ttl_us[Layer.EVENTS] == 60 * DAY
    assert policy.ttl_rules("globex", Scope("user:bob")).ttl_us == {Layer.EVENTS: 90 * DAY}
    assert (within.erases, policy.ttl_rules("globex", Scope(HOME)).erases) == (True, False)
    assert within.follows(Layer.EVENTS) == {Layer.EPISODES, Layer.BELIEFS, Layer.UNDERSTANDING}
    put(here, TENANT)
    assert not policy.ttl_rules("acme", Scope(HOME)).erases


def test_a_rate_that_was_raised_by_the_operator_stands(here: Neighbours) -> None:
    put(here, TENANT, **{"rate_limit.write": "150/s"})
    assert here.write(HOME).headers["x-ratelimit-limit"] == "150"
