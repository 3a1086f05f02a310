"""Sessions of several server tenants and presets: equal ids never meet, and an orchestrator takes the grants it is said to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from neighbours import ROOT, Neighbours

WHO = {"tenantId": "acme", "userId": "u", "personaId": "p", "sessionId": "s"}
VOICE = "service:voice"


@pytest.fixture
def meet() -> Iterator[Callable[[str], Neighbours]]:
    made: list[Neighbours] = []

    def make(preset: str) -> Neighbours:
        made.append(Neighbours(preset))
        return made[-1]

    yield make
    for each in made:
        each.server.close()


def ingest(server: Neighbours, text: str = "hi", **more: Any) -> int | str:
    body = {**WHO, "role": "user", "text": text, "timestamp": "2026-05-13T12:00:00Z"}
    given = {name: more.pop(name) for name in list(more) if name in body}
    return server.code("POST", "/ingest", body | given, **{"by": VOICE, **more})


def texts(server: Neighbours, **more: Any) -> list[str]:
    body = {**WHO, "now": "2026-05-13T12:00:01Z", "mode": "in_session"}
    found = server.said("POST", "/brief", body, **{"by": VOICE, **more})
    return [turn["text"] for turn in found["workingMemory"]]


def test_two_server_tenants_with_equal_ids_stay_apart(meet):
    server = meet("on_prem_enterprise")
    assert ingest(server, "mine") == 200
    assert ingest(server, "theirs", tenant="zeta") == 200
    assert (texts(server), texts(server, tenant="zeta")) == (["mine"], ["theirs"])


def test_another_organisation_crosses_tenants_where_the_preset_says_so(meet):
    assert ingest(meet("on_prem_enterprise"), tenantId="other") == 200
    assert ingest(meet("cloud_private"), tenantId="other") == "POLICY_DENIED"


def test_speaking_for_a_user_takes_the_right_to(meet):
    server = meet("cloud_shared_saas")
    assert ingest(server) == "POLICY_DENIED"
    assert ingest(server, by="user:u2", userId="u2") == 200
    document = {"administrators": [ROOT], "allow": ["scope.write.on_behalf_of"]}
    server.said("PUT", "/v1/policy/tenant/acme", document, by=ROOT)
    assert ingest(server, "more") == 200
