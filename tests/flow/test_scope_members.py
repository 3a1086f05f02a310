"""Registering scopes, who enters them, and what becomes of scopes that nobody uses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from lamina.kernel.time import SECOND_US, rfc3339
from neighbours import ROOT, Neighbours

ACME, TEAM, WS = "org:acme", "org:acme/team:x", "ws:launch"
OF_TEAM = f"{TEAM}/user:alice"
CLOSED = "NOT_A_MEMBER: scope.read.local is denied by the scope tier to who is no member of the scope"
"""It cites the tier (seed 002, 18.2 item 4), and holds for a person's own memory, which nobody registered, as well."""


@pytest.fixture
def here() -> Iterator[Neighbours]:
    neighbours = Neighbours()
    yield neighbours
    neighbours.close()


@pytest.fixture
def shared() -> Iterator[Neighbours]:
    neighbours = Neighbours("cloud_shared_saas")
    yield neighbours
    neighbours.close()


def read(here: Neighbours, scope: str, by: str, **query: Any) -> int | str:
    return here.code("GET", "/v1/events", by=by, scope=scope, **query)


def test_a_scope_is_registered_once_with_its_members(here: Neighbours) -> None:
    response = here.call(
        "POST", "/v1/scopes", {"path": WS, "members": [{"actor": "user:alice", "role": "owner"}]}
    )
    assert response.status_code == 201
    record = response.json()
    assert (record["path"], record["auto_provisioned"]) == (WS, False)
    assert record["members"] == [{"actor": "user:alice", "role": "owner"}]
    assert here.said("GET", "/v1/scopes", path=WS) == record
    assert here.code("POST", "/v1/scopes", {"path": WS}) == "SCOPE_REGISTRATION_EXISTS"
    assert here.code("POST", "/v1/scopes", {"path": WS}, by="user:bob") == "NOT_A_MEMBER"


def test_roles_say_who_reads_writes_and_administers(here: Neighbours) -> None:
    here.register(WS, alice="owner", bob="writer", carol="reader")
    full = {"members": [{"actor": "user:alice", "role": "owner"}]}
    expected = {
        "user:alice": (200, 202, 200),
        "user:bob": (200, 202, "POLICY_DENIED"),
        "user:carol": (200, "POLICY_DENIED", "POLICY_DENIED"),
        "user:eve": ("NOT_A_MEMBER", "NOT_A_MEMBER", "NOT_A_MEMBER"),
    }
    for actor in ("user:eve", "user:carol", "user:bob", "user:alice"):
        wrote = here.write(WS, by=actor)
        written = wrote.status_code if wrote.status_code < 300 else wrote.json()["error_code"]
        administered = here.code("PUT", "/v1/scopes/members", full, by=actor, path=WS)
        assert (read(here, WS, actor), written, administered) == expected[actor], actor
    assert read(here, WS, "user:bob") == "NOT_A_MEMBER"


def test_a_registered_scope_governs_what_lies_below_until_another_does(here: Neighbours) -> None:
    here.register(TEAM, alice="owner", bob="writer")
    assert here.write(OF_TEAM, by="user:bob").status_code == 202
    assert here.write(OF_TEAM, by="user:eve").json()["error_code"] == "NOT_A_MEMBER"
    assert read(here, OF_TEAM, "user:eve") == "NOT_A_MEMBER"
    here.register(OF_TEAM, by="user:alice", alice="owner")
    assert read(here, OF_TEAM, "user:bob") == "NOT_A_MEMBER"


def test_nobody_takes_over_what_others_wrote(here: Neighbours) -> None:
    here.write(OF_TEAM)
    claims = {"path": OF_TEAM}, {"path": TEAM}
    assert [here.code("POST", "/v1/scopes", claim, by="user:eve") for claim in claims] == [
        "POLICY_DENIED"
    ] * 2
    assert here.code("POST", "/v1/scopes", claims[0]) == 201
    assert here.code("POST", "/v1/scopes", claims[1], by=ROOT) == 201


def test_a_scratchpad_is_open_and_its_first_writer_owns_it(here: Neighbours) -> None:
    here.write(WS)
    record = here.said("GET", "/v1/scopes", by="user:bob", path=WS)
    assert (record["auto_provisioned"], record["members"]) == (
        True,
        [{"actor": "user:alice", "role": "owner"}],
    )
    assert here.write(WS, by="user:bob").status_code == 202
    assert (
        here.code("PUT", "/v1/policy/scope", {"deny": ["scope.write"]}, by="user:bob", path=WS)
        == "POLICY_DENIED"
    )
    assert here.code("PUT", "/v1/policy/scope", {"deny": ["scope.write"]}, path=WS) == 200


def test_the_own_memory_of_a_person_is_closed_to_other_people(here: Neighbours) -> None:
    own, below = "org:acme/user:alice", "org:acme/user:alice/project:p"
    here.write(own, "my diary")
    here.write(below, "my plan")
    for scope in (own, below):
        assert (read(here, scope, "user:alice"), read(here, scope, "user:bob")) == (200, "NOT_A_MEMBER")
        assert read(here, scope, "agent:helper") == 200
    assert [item["path"] for item in here.said("GET", "/v1/scopes", by="user:bob")["items"]] == []
    asked = {"scope": "org:acme", "query": "diary", "view": "descend"}
    assert "diary" not in json.dumps(here.said("POST", "/v1/recall", asked, by="user:bob")["layers"])
    here.register(own, alice="owner", bob="reader")
    assert (read(here, own, "user:bob"), read(here, below, "user:bob")) == (200, 200)


def test_a_tenant_may_open_the_memories_of_its_people_to_each_other(here: Neighbours) -> None:
    own = "org:acme/user:alice"
    here.write(own)
    document = {"administrators": [ROOT], "defaults": {"user_memory.open": True}}
    here.said("PUT", "/v1/policy/tenant/acme", document, by=ROOT)
    assert read(here, own, "user:bob") == 200


def test_who_began_the_memory_of_another_neither_reads_nor_owns_it(here: Neighbours) -> None:
    own = "org:acme/user:alice"
    here.said(
        "PUT", "/v1/policy/tenant/acme",
        {"administrators": [ROOT], "allow": ["scope.write.others_memory"]}, by=ROOT,
    )  # fmt: skip
    assert here.write(own, by="user:bob").status_code == 202
    assert [read(here, own, by) for by in ("user:alice", "user:bob", "user:eve")] == [
        200, "NOT_A_MEMBER", "NOT_A_MEMBER",
    ]  # fmt: skip
    shown = here.said("GET", "/v1/scopes", path=own)
    assert (shown["created_by"], shown["members"]) == ("user:bob", [{"actor": "user:alice", "role": "owner"}])
    assert here.code("POST", "/v1/scopes", {"path": own}, by="user:bob") == "POLICY_DENIED"
    assert here.code("POST", "/v1/scopes", {"path": own}) == 201


def test_a_service_that_began_the_memory_of_a_person_owns_it_with_them(here: Neighbours) -> None:
    own = "org:acme/user:alice"
    here.write(own, by="service:app")
    owners = [{"actor": "user:alice", "role": "owner"}, {"actor": "service:app", "role": "owner"}]
    assert here.said("GET", "/v1/scopes", path=own)["members"] == owners
    assert here.code("POST", "/v1/scopes", {"path": own}, by="user:bob") == "POLICY_DENIED"
    assert here.code("POST", "/v1/scopes", {"path": own}, by="service:app") == 201


def test_an_unknown_scope_is_not_found_only_for_who_may_read_it(here: Neighbours) -> None:
    here.register(TEAM, alice="owner")
    path = f"{TEAM}/user:nobody"
    assert here.code("GET", "/v1/scopes", path=path) == "NOT_FOUND"
    assert here.code("GET", "/v1/scopes", by="user:eve", path=path) == "NOT_A_MEMBER"


def test_members_need_an_owner_and_name_each_actor_once(here: Neighbours) -> None:
    here.register(WS, alice="owner")
    for members in (
        [{"actor": "user:bob", "role": "writer"}],
        [{"actor": "user:bob", "role": "owner"}, {"actor": "user:bob", "role": "reader"}],
    ):
        assert here.code("PUT", "/v1/scopes/members", {"members": members}, path=WS) == "INVALID_MEMBERS"
        assert here.code("POST", "/v1/scopes", {"path": "ws:y", "members": members}) == "INVALID_MEMBERS"
    assert here.said("GET", "/v1/scopes", path=WS)["members"] == [{"actor": "user:alice", "role": "owner"}]


def test_types_that_the_deployment_does_not_know_are_not_registered(here: Neighbours) -> None:
    assert here.code("POST", "/v1/scopes", {"path": "org:acme/temp:debug"}) == "UNREGISTERED_SCOPE_TYPE"
    assert here.write("org:acme/temp:debug").status_code == 202


def test_making_global_scopes_takes_its_capability_however_they_are_made(shared: Neighbours) -> None:
    for answer in (shared.call("POST", "/v1/scopes", {"path": "global:pool"}), shared.write("global:pool")):
        assert answer.status_code == 403
        assert answer.json()["details"]["capability"] == "scope.create.global"
        assert answer.json()["details"]["denied_by_tier"] == "deployment"
    crossing = shared.write("org:globex/user:alice").json()
    assert crossing["details"]["capability"] == "scope.create.cross_tenant"


def test_writing_above_ones_level_takes_elevation(shared: Neighbours) -> None:
    assert shared.write(OF_TEAM).status_code == 202
    for scope, by in ((TEAM, "user:alice"), (ACME, "user:alice"), (OF_TEAM, "agent:helper")):
        assert shared.write(scope, by=by).json()["details"]["capability"] == "scope.write.elevated"
    assert shared.write(f"{OF_TEAM}/project:p").status_code == 202
    details = shared.write(OF_TEAM, by="user:bob").json()["details"]
    assert details.pop("hint")
    assert details == {
        "capability": "scope.write.others_memory",
        "denied_by_tier": "tenant",
        "deployment_preset": "cloud_shared_saas",
    }
    shared.said("PUT", "/v1/policy/tenant/acme", {"allow": ["scope.write.elevated"]}, by=ROOT)
    assert shared.write(ACME).status_code == 202


def test_a_holistic_read_goes_where_the_registration_says(here: Neighbours) -> None:
    for scope in (ACME, TEAM, OF_TEAM, "ws:notes"):
        here.write(scope, f"text of {scope}")

    def walked(by: str = "user:alice") -> list[str]:
        page = here.said("GET", "/v1/events", by=by, scope=OF_TEAM, view="holistic")
        assert {item["scope"] for item in page["items"]} == {
            each["scope"] for each in page["scopes_traversed"]
        }
        return [each["scope"] for each in page["scopes_traversed"]]

    assert walked() == [OF_TEAM, TEAM, ACME]
    here.register(OF_TEAM, alice="owner", bob="reader", policies={"inherit_from": [ACME, "ws:notes"]})
    assert walked() == [OF_TEAM, ACME, "ws:notes"]
    here.register("ws:notes", alice="owner")
    assert walked("user:bob") == [OF_TEAM, ACME]


def test_a_descent_shows_closed_scopes_as_counts(here: Neighbours) -> None:
    here.write(ACME, "open")
    here.write(OF_TEAM, "secret")
    here.register(OF_TEAM, alice="owner")
    page = here.said("GET", "/v1/events", by="user:bob", scope=ACME, view="descend")
    assert [item["content"]["text"] for item in page["items"]] == ["open"]
    assert page["scopes_traversed"] == [
        {"scope": ACME, "items": 1},
        {
            "scope": OF_TEAM,
            "denied": True,
            "item_count": 1,
            "denied_reason": CLOSED,
        },
    ]


def test_a_descent_counts_what_a_closed_scope_held_then(here: Neighbours) -> None:
    here.write(ACME, "open")
    here.write(OF_TEAM, "secret")
    then = rfc3339(here.clock.at + SECOND_US // 2)  # each event has an instant of its own
    here.clock.at += SECOND_US
    here.write(OF_TEAM, "another secret")
    here.register(OF_TEAM, alice="owner")
    page = here.said("GET", "/v1/events", by="user:bob", scope=ACME, view="descend", as_of=then)
    assert page["scopes_traversed"][1]["item_count"] == 1


def test_recall_descends_past_closed_scopes_with_counts(here: Neighbours) -> None:
    """Seed 002, 18.2 item 4."""
    here.write(ACME, "the plan is open")
    here.write(OF_TEAM, "the plan is secret")
    here.write(OF_TEAM, "the plan is still secret")
    here.register(OF_TEAM, alice="owner")
    asked = {"scope": ACME, "query": "what is the plan?", "view": "descend"}
    answer = here.call("POST", "/v1/recall", asked, by="user:bob")
    assert (answer.status_code, answer.headers["x-cortex-warning"]) == (200, "scopes_denied=1")
    denied = {
        "scope": OF_TEAM,
        "denied": True,
        "item_count": 2,
        "denied_reason": CLOSED,
    }
    opened, closed = answer.json()["scopes_traversed"]
    assert (opened["scope"], closed) == (ACME, denied)
    assert "secret" not in answer.text
    here.said("PUT", "/v1/policy/actor/user:bob", {"deny": ["scope.read.descend"]}, by=ROOT)
    assert here.code("POST", "/v1/recall", asked, by="user:bob") == "POLICY_DENIED"


def test_lists_show_what_the_caller_may_read_page_by_page(here: Neighbours) -> None:
    for name in ("a", "b", "c", "d", "e"):
        here.write(f"org:acme/team:{name}")
    for name in ("b", "c"):
        here.register(f"org:acme/team:{name}", alice="owner")
    shown, cursor = [], {}
    while True:
        page = here.said("GET", "/v1/scopes", by="user:bob", prefix="org:acme/", limit=1, **cursor)
        shown += [item["path"] for item in page["items"]]
        if not page["has_more"]:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert shown == [f"org:acme/team:{name}" for name in "ade"]
    registered = here.said("GET", "/v1/scopes", prefix="org:acme/", auto_provisioned=False)["items"]
    assert [item["path"] for item in registered] == ["org:acme/team:b", "org:acme/team:c"]


def test_a_page_goes_past_many_closed_scopes_with_few_looks(
    here: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a page of one looked at two scopes at a time, each time past all before them: half a minute for 5,000 closed ones."""
    for number in range(30):
        here.register(f"org:acme/team:{number:02}", alice="owner")
    here.write("org:acme/team:99")
    looks: list[int] = []
    listed = here.store.registry.listed

    def counted(*asked: Any, **more: Any) -> Any:
        looks.append(more["skip"])
        return listed(*asked, **more)

    monkeypatch.setattr(here.store.registry, "listed", counted)
    monkeypatch.setattr("lamina.limits.LIST_SCAN_MAX", 20)
    monkeypatch.setattr("lamina.access.registering._LISTED_AT_ONCE", 10)
    first = here.said("GET", "/v1/scopes", by="user:bob", prefix="org:acme/team:", limit=1)
    assert (first["items"], first["has_more"], looks) == ([], True, [0, 0])
    cursor = first["next_cursor"]
    rest = here.said("GET", "/v1/scopes", by="user:bob", prefix="org:acme/team:", limit=1, cursor=cursor)
    assert ([item["path"] for item in rest["items"]], rest["has_more"]) == (["org:acme/team:99"], False)
    assert looks[2:] == [20, 0]


def test_a_dropped_registration_leaves_the_records(here: Neighbours) -> None:
    here.register(WS, alice="owner")
    here.write(WS)
    assert here.code("DELETE", "/v1/scopes", by="user:eve", path=WS) == "NOT_A_MEMBER"
    response = here.call("DELETE", "/v1/scopes", path=WS)
    assert (response.status_code, response.json()) == (
        200,
        {"path": WS, "records": "keep", "erasure_id": None},
    )
    assert response.headers["x-cortex-warning"] == "scope_is_now_unregistered"
    assert read(here, WS, "user:eve") == 200
    assert here.said("GET", "/v1/scopes", path=WS)["auto_provisioned"] is True


def test_pruning_takes_an_administrator_and_drops_idle_scopes(here: Neighbours) -> None:
    here.write("org:acme/user:bob/temp:debug", by="user:bob")
    here.clock.at += 100 * 24 * 3600 * 1_000_000
    here.write(ACME)
    asked = {"older_than": "P90D", "dry_run": True}
    assert here.code("POST", "/v1/scopes/prune", asked) == "POLICY_DENIED"
    assert here.said("POST", "/v1/scopes/prune", asked, by=ROOT) == {
        "candidates": [
            {
                "path": "org:acme/user:bob/temp:debug",
                "last_write": "2026-05-13T12:00:00Z",
                "records": {"events": 1, "facts": 0},
            }
        ],
        "total": 1,
        "pruned": 0,
    }
    assert here.said("POST", "/v1/scopes/prune", {"older_than": "P90D"}, by=ROOT)["pruned"] == 1
    assert [item["path"] for item in here.said("GET", "/v1/scopes")["items"]] == [ACME]


def test_children_come_by_writing_only_where_the_scope_says_so(here: Neighbours) -> None:
    here.register(TEAM, alice="owner", policies={"children": {"auto_register": False}})
    assert here.write(OF_TEAM).json()["details"]["denied_by_tier"] == "scope"
    here.register(OF_TEAM, alice="owner")
    assert here.write(OF_TEAM).status_code == 202


def test_a_pack_that_was_kept_is_not_shown_once_one_of_its_scopes_closed(here: Neighbours) -> None:
    project = f"{TEAM}/project:p"
    here.write(project, "tea at five")
    here.write(ACME, "coffee at six")
    asked = {
        "scope": project,
        "query": "tea",
        "idempotency_key": "again",
        "budgets": {"per_layer_limits": {"events": 0}},
    }

    def walked() -> list[str]:
        return [
            each["scope"]
            for each in here.said("POST", "/v1/recall", asked, by="user:bob")["scopes_traversed"]
        ]

    assert walked() == [project, TEAM, ACME]
    here.register(ACME, by=ROOT, alice="owner")
    here.register(project, by=ROOT, bob="reader", alice="owner")
    assert walked() == [project]


def test_a_pruned_scope_is_nobody_elses_to_take(here: Neighbours) -> None:
    below = f"{OF_TEAM}/project:p"
    here.write(OF_TEAM, "my diary")
    here.write(below, "my plan")
    here.clock.at += 100 * 24 * 3600 * 1_000_000
    assert here.said("POST", "/v1/scopes/prune", {"older_than": "P90D"}, by=ROOT)["pruned"] == 2
    assert here.said("GET", "/v1/scopes")["items"] == []
    for path in (OF_TEAM, TEAM, below):
        assert here.code("POST", "/v1/scopes", {"path": path}, by="user:eve") == "POLICY_DENIED"
        assert here.code(
            "PUT", "/v1/policy/scope", {"deny": ["scope.read.local"]}, by="user:eve", path=path
        ) == ("POLICY_DENIED")
    here.write(OF_TEAM, by="user:eve")
    assert here.code("POST", "/v1/scopes", {"path": OF_TEAM}, by="user:eve") == "POLICY_DENIED"
    assert here.said("GET", "/v1/scopes", path=OF_TEAM)["created_by"] == "user:alice"
    assert here.code("POST", "/v1/scopes", {"path": OF_TEAM}) == 201
    assert [item["path"] for item in here.said("GET", "/v1/scopes")["items"]] == [OF_TEAM]
    assert (read(here, OF_TEAM, "user:alice"), read(here, below, "user:alice")) == (200, 200)
    assert read(here, OF_TEAM, "user:eve") == "NOT_A_MEMBER"


def test_writing_to_a_pruned_scope_takes_what_it_took_before(shared: Neighbours) -> None:
    assert shared.write(OF_TEAM).status_code == 202
    shared.clock.at += 100 * 24 * 3600 * 1_000_000
    assert shared.said("POST", "/v1/scopes/prune", {"older_than": "P90D"}, by=ROOT)["pruned"] == 1
    for by, capability in (
        ("user:bob", "scope.write.others_memory"),
        ("agent:helper", "scope.write.elevated"),
    ):
        assert shared.write(OF_TEAM, by=by).json()["details"]["capability"] == capability
    assert shared.write(OF_TEAM).status_code == 202
