"""Policy documents over HTTP: who reads and writes them, and that they hold at once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from lamina.access.presets import peer_hosts_under, preset_of
from lamina.app import build_server
from lamina.errors import Invalid
from lamina.kernel.belief_rules import BELIEF_RULES
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from lamina.store.sqlite import SqliteStore
from neighbours import ROOT, Believed, Neighbours

HOME = "org:acme/user:alice"


@pytest.fixture
def here() -> Iterator[Neighbours]:
    neighbours = Neighbours()
    yield neighbours
    neighbours.close()


def test_everybody_reads_the_deployments_preset_and_operators_narrow_it(here: Neighbours) -> None:
    assert here.said("GET", "/v1/policy/deployment")["preset_document"]["allow"] == ["*"]
    body = {"deny": ["scope.read.descend"]}
    assert here.code("PUT", "/v1/policy/deployment", body) == "POLICY_DENIED"
    assert here.said("PUT", "/v1/policy/deployment", body, by=ROOT)["document"]["deny"] == [
        "scope.read.descend"
    ]
    denied = here.call("GET", "/v1/events", scope=HOME, view="descend").json()
    assert denied["details"]["denied_by_tier"] == "deployment"


def test_a_scopes_policy_is_reached_by_either_form_of_its_path(here: Neighbours) -> None:
    here.write(HOME)
    encoded = HOME.replace("/", "%2F")
    put = here.said("PUT", f"/v1/policy/scope/{encoded}", {"deny": ["lifecycle.subscribe"]})
    assert (put["tier"], put["target"], put["set_by"]) == ("scope", HOME, "user:alice")
    assert here.said("GET", "/v1/policy/scope", path=HOME) == here.said("GET", f"/v1/policy/scope/{encoded}")
    assert here.code("GET", "/v1/lifecycle", scope=f"{HOME}/project:p") == "POLICY_DENIED"
    assert here.code("GET", "/v1/policy/scope/not-a-scope") == "INVALID_SCOPE_GRAMMAR"


def test_a_tenants_policy_is_its_administrators(here: Neighbours) -> None:
    path = "/v1/policy/tenant/acme"
    assert here.code("GET", path) == "POLICY_DENIED"
    here.said("PUT", path, {"administrators": ["user:alice"]}, by=ROOT)
    assert here.said("GET", path)["document"]["administrators"] == ["user:alice"]
    assert (
        here.code("PUT", path, {"deny": ["scope.fly"], "administrators": ["user:alice"]})
        == "UNKNOWN_CAPABILITY"
    )
    assert here.code("PUT", "/v1/policy/tenant/globex", {}) == "POLICY_DENIED"
    assert here.code("PUT", "/v1/policy/tenant/globex", {"deny": ["scope.write"]}, by=ROOT) == 200
    assert here.write(HOME, tenant="globex").status_code == 403


@pytest.mark.parametrize(
    ("place", "denied"),
    [
        ("deployment", "policy.administer.deployment"),
        ("tenant/acme", "policy.administer.tenant"),
        (f"scope/{HOME.replace('/', '%2F')}", "policy.administer.scope"),
    ],
)
def test_no_document_takes_from_everybody_what_replaces_it(here: Neighbours, place: str, denied: str) -> None:
    """Once an operator who denied everything could not take it back, and nobody read the tenant's memory again."""
    here.write(HOME)
    path = f"/v1/policy/{place}"
    for pattern in ("*", "policy.*", denied):
        refused = here.call("PUT", path, {"deny": [pattern]}, by=ROOT)
        assert (refused.status_code, refused.json()["error_code"]) == (422, "INVALID_POLICY")
        assert denied in refused.json()["message"]
    assert here.code("PUT", path, {"deny": ["scope.read.*"]}, by=ROOT) == 200
    assert here.code("PUT", path, {}, by=ROOT) == 200


def test_an_actor_narrows_itself_and_keeps_what_others_put_over_it(here: Neighbours) -> None:
    own, other = "/v1/policy/actor/user:alice", "/v1/policy/actor/user:bob"
    assert here.code("PUT", own, {"deny": ["import.*"]}) == 200
    assert here.code("PUT", own, {}) == 200
    assert here.code("GET", other) == "POLICY_DENIED"
    here.said("PUT", own, {"deny": ["scope.write"]}, by=ROOT)
    assert here.code("PUT", own, {}) == "POLICY_DENIED"
    assert here.code("PUT", own, {"deny": ["scope.*"]}) == 200
    assert here.code("PUT", own, {}) == "POLICY_DENIED"
    assert here.write(HOME).json()["details"]["denied_by_tier"] == "actor"


def test_what_is_effective_names_every_denial(here: Neighbours) -> None:
    here.write(HOME)
    here.said(
        "PUT", "/v1/policy/actor/user:alice", {"deny": ["import.*"], "defaults": {"rate_limit.read": "5/s"}}
    )
    shown = here.said("GET", "/v1/policy/effective", scope=f"{HOME}/project:p")
    assert shown["deployment_preset"] == "on_prem_enterprise"
    assert "scope.write" in shown["allowed"]
    assert {"capability": "import.from.zep", "denied_by_tier": "actor"} in shown["denied"]
    assert {"capability": "admin.flush", "denied_by_tier": "deployment"} in shown["denied"]
    assert (shown["natural_level"], shown["rate_limits"]) == (HOME, {"read": "5/s"})
    assert here.said("GET", "/v1/policy/effective", scope="org:acme")["natural_level"] is None
    assert here.code("GET", "/v1/policy/effective", actor="user:bob") == "POLICY_DENIED"
    assert here.said("GET", "/v1/policy/effective", actor="user:bob", scope=HOME)["actor"] == "user:bob"
    assert here.said("GET", "/v1/policy/effective", actor="user:alice", by=ROOT)["rate_limits"] == {
        "read": "5/s"
    }


def test_a_tenant_takes_no_more_calls_than_the_deployment_gives() -> None:
    here = Neighbours("cloud_shared_saas")
    here.said("PUT", "/v1/policy/tenant/acme", {"administrators": ["user:alice"]}, by=ROOT)
    more = {"administrators": ["user:alice"], "defaults": {"rate_limit.write": "101/s"}}
    assert here.code("PUT", "/v1/policy/tenant/acme", more) == "POLICY_DENIED"
    assert here.code("PUT", "/v1/policy/tenant/acme", more, by=ROOT) == 200
    here.close()


@pytest.mark.parametrize("silent", ["preset", "deployment"])
def test_importers_of_a_tenant_have_at_most_ten_times_the_writes_that_it_is_given(silent: str) -> None:
    here = Neighbours("cloud_shared_saas" if silent == "preset" else "on_prem_enterprise")
    if silent == "deployment":
        here.said("PUT", "/v1/policy/deployment", {"defaults": {"rate_limit.write": "100/s"}}, by=ROOT)
    here.said("PUT", "/v1/policy/tenant/acme", {"administrators": ["user:alice"]}, by=ROOT)
    for rate, answer in (("1000/s", 200), ("1001/s", "POLICY_DENIED")):
        more = {"administrators": ["user:alice"], "defaults": {"rate_limit.importer": rate}}
        assert here.code("PUT", "/v1/policy/tenant/acme", more) == answer
    here.close()


def test_a_policy_that_is_refused_lays_down_no_rules_for_beliefs(here: Neighbours) -> None:
    document = {"defaults": {"tenant.confidence_floor": 0.9}, "vocabularies": ["never"]}
    assert here.code("PUT", "/v1/policy/tenant/acme", document, by=ROOT) == "UNKNOWN_VOCABULARY"
    assert here.store.definitions.held("acme", BELIEF_RULES[0]) == []


KILLED = """
import os, sys
from pathlib import Path
from lamina.store.sqlite import SqliteStore
from neighbours import ROOT, Neighbours

store = SqliteStore(Path(sys.argv[1]))
store.registry.put_document = lambda *_, **__: os._exit(9)
document = {"defaults": {"tenant.confidence_floor": 0.9}}
Neighbours(store=store).said("PUT", "/v1/policy/tenant/acme", document, by=ROOT)
"""


def test_a_kill_leaves_no_rules_for_beliefs_without_their_document(tmp_path: Path) -> None:
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], env=paths, timeout=300, check=False)
    assert done.returncode == 9
    store = SqliteStore(tmp_path, durable=False)
    assert store.definitions.held("acme", BELIEF_RULES[0]) == []
    assert store.registry.documents("acme", "tenant", ["acme"]) == {}
    store.close()


def test_a_policy_that_cannot_be_kept_lays_down_no_rules_for_beliefs(tmp_path: Path) -> None:
    here = Neighbours(store=SqliteStore(tmp_path, durable=False))
    connection = apsw.Connection(str(tmp_path / "lamina.db"))
    connection.execute("CREATE TRIGGER full BEFORE INSERT ON policy BEGIN SELECT RAISE(ABORT, 'full'); END")
    document = {"defaults": {"tenant.confidence_floor": 0.9}}
    assert here.code("PUT", "/v1/policy/tenant/acme", document, by=ROOT) != 200
    assert here.store.definitions.held("acme", BELIEF_RULES[0]) == []
    connection.execute("DROP TRIGGER full")
    assert here.code("PUT", "/v1/policy/tenant/acme", document, by=ROOT) == 200
    assert len(here.store.definitions.held("acme", BELIEF_RULES[0])) == 1
    here.close()


def test_a_change_of_another_process_holds_for_the_next_request(tmp_path: Path) -> None:
    one = Neighbours(store=SqliteStore(tmp_path, durable=False))
    other = Neighbours(store=SqliteStore(tmp_path, durable=False))
    assert one.write(HOME).status_code == 202
    other.register("ws:launch", alice="owner")
    assert one.code("GET", "/v1/events", by="user:bob", scope="ws:launch") == "NOT_A_MEMBER"
    other.said("PUT", "/v1/policy/actor/user:alice", {"deny": ["scope.write"]})
    assert one.write(HOME).status_code == 403
    other.said("PUT", "/v1/policy/actor/user:alice", {})
    assert one.write(HOME).status_code == 202
    one.close()
    other.close()


def test_a_preset_of_ones_own_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        "preset: lab\nallow: ['*']\ndeny: [llm.*]\nallowed_scope_types: [temp]\ndefaults: {actor.require_signed: true}\n"
    )
    here = Neighbours(str(path))
    shown = here.said("GET", "/v1/policy/effective")
    assert shown["deployment_preset"] == "lab"
    assert {"capability": "llm.invoke", "denied_by_tier": "deployment"} in shown["denied"]
    assert here.code("POST", "/v1/scopes", {"path": "org:acme/temp:debug"}) == 201
    here.close()


def test_what_hangs_on_a_presets_name_holds_for_a_file_of_that_name(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("preset: cloud_shared_saas\nallow: ['*']\ndefaults: {actor.require_signed: true}\n")
    settings = Settings(preset=str(path))
    assert not peer_hosts_under(settings, preset_of(settings)).loopback
    with pytest.raises(Invalid) as caught:
        preset_of(Settings(preset=str(path), relay_checks="test=python3 -m unittest"))
    assert caught.value.details["setting"] == "LAMINA_RELAY_CHECKS"
    path.write_text("preset: on_prem_enterprise\nallow: ['*']\ndefaults: {actor.require_signed: true}\n")
    here = Neighbours(str(path), experimental=False)
    assert here.code("POST", "/v1/admin/compact", {}, by=ROOT) != "EXPERIMENTAL_DISABLED"
    here.close()


@pytest.mark.parametrize(
    "text",
    [
        "preset: lab\nallow: ['*']",
        "preset: lab\nallow: [scope.fly]\ndefaults: {actor.require_signed: true}",
        "preset: lab\nallow: ['*']\ndefaults: {actor.require_signed: false}",
        "preset: [",
        "- a",
        "preset: lab\nalow: ['*']",
    ],
)
def test_a_preset_that_means_nothing_stops_the_start(tmp_path: Path, text: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    for name in (str(path), str(tmp_path / "absent.yaml")):
        with pytest.raises(Invalid) as caught:
            build_server(Settings(preset=name), store=MemoryStore(), principals=Believed())
        assert caught.value.code == "INVALID_PRESET"


@pytest.mark.parametrize("preset", ["cloud_shared_saas", "cloud_private", "on_prem_enterprise", "dev_local"])
@pytest.mark.parametrize("enabled", [False, True])
def test_putting_policy_is_experimental_and_reading_it_is_not(preset: str, enabled: bool) -> None:
    """Seed 002, 2.4.3: outside of on_prem_enterprise and dev_local it takes CORTEX_ENABLE_EXPERIMENTAL=1."""
    here = Neighbours(preset, experimental=enabled)
    here.write(HOME)
    offered = enabled or preset in ("on_prem_enterprise", "dev_local")
    for path in ("deployment", "tenant/acme", f"scope/{HOME.replace('/', '%2F')}", "actor/user:alice"):
        put = here.call("PUT", f"/v1/policy/{path}", {}, by=ROOT)
        assert (put.status_code, put.headers["x-cortex-stability"]) == (
            200 if offered else 501,
            "experimental",
        )
        assert "x-cortex-experimental-notice" in put.headers
        if not offered:
            assert put.json()["error_code"] == "EXPERIMENTAL_DISABLED"
        read = here.call("GET", f"/v1/policy/{path}", by=ROOT)
        assert (read.status_code, read.headers["x-cortex-stability"]) == (200, "stable")
    here.close()
