"""The scope of Relay's documents is the server's own: nobody owns it by writing, and who comes without a Relay token is let in first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from capsules import body, later
from given import NOON
from lamina.access.relay_tokens import issue, owner_grant
from lamina.kernel.ids import RandomIds
from lamina.kernel.relay import RELAY_SCOPE, RelayGrant
from neighbours import ROOT, Neighbours

ABOUT = {"subject_kind": "thread", "subject_id": "launch"}
LINE = {"path": "memory/hi.jsonl", "record": {"a": 1}}
OPENED = {"administrators": [ROOT], "defaults": {"relay.open": True}}
EVIL, BO = "user:evil", "user:bo"
Make = Callable[..., Neighbours]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Neighbours] = []

    def one(preset: str = "on_prem_enterprise") -> Neighbours:
        made.append(Neighbours(preset))
        return made[-1]

    yield one
    for each in made:
        each.close()


def token(here: Neighbours, grant: RelayGrant | None = None) -> dict[str, Any]:
    """The caller ``agent:ana`` with a Relay token."""
    text = issue(
        here.store.relay_tokens,
        RandomIds(),
        NOON,
        tenant_id="acme",
        peer_id="ana",
        grant=grant or owner_grant(),
    )
    return {"by": "agent:ana", "tenant": text}


def put(here: Neighbours, at_s: int = 0, **by: Any) -> int | str:
    capsule = body(updated_at=later(at_s))
    capsule["continuity"]["top_priorities"] = ["Oncology result on Monday"]
    return here.code("POST", "/v1/continuity/upsert", ABOUT | {"capsule": capsule}, **by)


READS: list[tuple[str, str, Any]] = [
    ("POST", "/v1/continuity/read", ABOUT),
    ("POST", "/v1/continuity/list", {}),
    ("POST", "/v1/recall", {"query": "oncology", "scope": RELAY_SCOPE, "view": "local"}),
    ("GET", f"/v1/events?scope={RELAY_SCOPE}", None),
    ("GET", f"/v1/scopes?path={RELAY_SCOPE}", None),
    ("GET", "/v1/schedule/items", None),
    ("POST", "/v1/context/retrieve", {"task": "oncology"}),
]


@pytest.mark.parametrize("preset", ["on_prem_enterprise", "cloud_private", "cloud_shared_saas"])
@pytest.mark.parametrize("written", [False, True])
def test_no_ordinary_member_takes_the_scope_of_all_documents(make: Make, preset: str, written: bool) -> None:
    here = make(preset)
    ana = token(here)
    if written:
        assert put(here, **ana) == 200
    assert here.code("POST", "/v1/scopes", {"path": RELAY_SCOPE}, by=EVIL) == "POLICY_DENIED"
    assert here.code("POST", "/v1/append", LINE, by=EVIL) == "POLICY_DENIED"
    assert here.write(RELAY_SCOPE, by=EVIL).status_code == 403
    document = {"deny": ["scope.write"]}
    assert here.code("PUT", f"/v1/policy/scope?path={RELAY_SCOPE}", document, by=EVIL) == "POLICY_DENIED"
    assert put(here, 9, **ana) == 200
    assert here.code("POST", "/v1/continuity/read", ABOUT, **ana) == 200


def test_who_wrote_there_first_owns_nothing_of_it(make: Make) -> None:
    here = make()
    here.said("PUT", "/v1/policy/tenant/acme", OPENED, by=ROOT)
    assert here.code("POST", "/v1/append", LINE, by=EVIL) == 200
    record = here.said("GET", "/v1/scopes", path=RELAY_SCOPE)
    assert (record["created_by"], record["members"]) == (EVIL, [])
    assert here.code("POST", "/v1/scopes", {"path": RELAY_SCOPE}, by=EVIL) == "POLICY_DENIED"
    assert (
        here.said("GET", "/v1/policy/effective", by=EVIL, scope=f"{RELAY_SCOPE}/ws:x")["natural_level"]
        is None
    )
    here.said("PUT", "/v1/policy/tenant/acme", {"administrators": [ROOT]}, by=ROOT)
    assert here.code("GET", "/v1/read", by=EVIL, path=LINE["path"]) == "POLICY_DENIED"
    assert put(here, **token(here)) == 200


@pytest.mark.parametrize(("verb", "path", "asked"), READS)
def test_documents_are_read_with_a_relay_token_alone_until_they_are_opened(
    make: Make, verb: str, path: str, asked: Any
) -> None:
    here = make()
    ana = token(here)
    assert put(here, **ana) == 200
    assert here.code(verb, path, asked, **ana) == 200
    for caller in (BO, "agent:ana", ROOT):
        answer = here.call(verb, path, asked, by=caller)
        assert (answer.status_code, "ncology" in answer.text) == (403, False), caller
    assert here.code(verb, path, asked, by="user:ana", tenant="globex") == "POLICY_DENIED"


def test_a_tenant_opens_it_by_its_document_or_by_members(make: Make) -> None:
    here = make("cloud_shared_saas")
    ana = token(here)
    assert put(here, **ana) == 200
    assert here.code("PUT", "/v1/policy/tenant/acme", OPENED, by=BO) == "POLICY_DENIED"
    here.said("PUT", "/v1/policy/tenant/acme", OPENED, by=ROOT)
    assert here.code("POST", "/v1/continuity/read", ABOUT, by=BO) == 200
    assert here.code("POST", "/v1/append", LINE, by=BO) == 200
    members = [{"actor": name, "role": role} for name, role in ((ROOT, "owner"), (BO, "reader"))]
    assert here.code("POST", "/v1/scopes", {"path": RELAY_SCOPE, "members": members}, by=ROOT) == 201
    assert here.code("POST", "/v1/continuity/read", ABOUT, by=BO) == 200
    assert here.code("POST", "/v1/append", LINE, by=BO) == "POLICY_DENIED"
    assert here.code("POST", "/v1/continuity/read", ABOUT, by=EVIL) == "NOT_A_MEMBER"
    assert here.code("POST", "/v1/continuity/read", ABOUT, **ana) == "NOT_A_MEMBER"
    assert here.code("DELETE", "/v1/scopes", by=ROOT, path=RELAY_SCOPE, records="keep") == 200
    assert here.code("POST", "/v1/continuity/read", ABOUT, **ana) == 200


def test_who_is_kept_out_is_told_what_would_help(make: Make) -> None:
    here = make()
    for verb, path, asked in (READS[0], READS[3]):
        said = here.call(verb, path, asked, by=BO).json()
        hint = said["hint"] if "hint" in said else said["details"]["hint"]
        assert "Relay token" in hint


def test_only_the_preset_and_the_tenant_open_it(make: Make) -> None:
    here = make()
    opened = {"defaults": {"relay.open": True}}
    for place in ("deployment", "actor/user:alice", f"scope?path={RELAY_SCOPE}"):
        assert here.code("PUT", f"/v1/policy/{place}", opened, by=ROOT) in ("INVALID_POLICY", "POLICY_DENIED")
    assert here.code("POST", "/v1/continuity/read", ABOUT) == "POLICY_DENIED"


def test_a_token_narrowed_to_folders_still_reads_nothing_by_events(make: Make) -> None:
    here = make()
    assert put(here, **token(here)) == 200
    narrow = token(here, RelayGrant(frozenset({"read:files"}), frozenset({"tasks"}), frozenset()))
    assert here.code("GET", "/v1/events", scope=RELAY_SCOPE, **narrow) == "POLICY_DENIED"
    assert here.code("POST", "/v1/continuity/read", ABOUT, **narrow) == "NAMESPACE_DENIED"


def test_on_ones_own_machine_everything_is_open(make: Make) -> None:
    here = make("dev_local")
    assert put(here) == 200
    assert here.code("POST", "/v1/continuity/read", ABOUT, by=BO) == 200
    assert here.code("POST", "/v1/append", LINE, by=BO) == 200
    assert here.write(RELAY_SCOPE, by=BO).status_code == 202
    assert here.code("POST", "/v1/scopes", {"path": RELAY_SCOPE}, by=BO) == 201
