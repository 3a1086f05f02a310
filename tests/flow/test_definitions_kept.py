"""Where the log has what a tenant defines is no caller's to read, to own or to erase."""

from __future__ import annotations

import pytest

from lamina.kernel.defining import DEFINITIONS_SCOPE
from lamina.store.ports.log import EventQuery
from neighbours import ROOT, Neighbours

VOCABULARY = {"name": "sales", "predicates": [{"id": "deal_stage", "values": ["poc", "close"]}]}
BELOW = f"{DEFINITIONS_SCOPE}/ws:x"


@pytest.mark.parametrize("preset", ["dev_local", "on_prem_enterprise", "cloud_private", "cloud_shared_saas"])
@pytest.mark.parametrize("by", ["user:eve", ROOT])
def test_nobody_takes_away_what_a_tenant_defines_by_its_scope(preset: str, by: str) -> None:
    here = Neighbours(preset)
    here.said("POST", "/v1/vocabularies", VOCABULARY, by=ROOT)
    query = EventQuery(tenant_id="acme", scopes=[DEFINITIONS_SCOPE], with_excluded=True, limit=9)
    (entry,) = here.store.log.query(query)
    selector = {"memory_ids": [entry.id]}
    for scope in (DEFINITIONS_SCOPE, BELOW):
        erased = {"scope": scope, "audit_note": "x"}
        answers = [
            here.code("POST", "/v1/experience", here.envelope(scope), by=by),
            here.code("POST", "/v1/scopes", {"path": scope, "members": []}, by=by),
            here.code("POST", "/v1/erasures", erased, by=by),
            here.code("POST", "/v1/forget", {**erased, "selector": selector}, by=by),
            here.code("DELETE", "/v1/scopes", by=by, path=scope, records="forget"),
            here.code("GET", "/v1/events", by=by, scope=scope),
        ]
        assert set(answers) == {"POLICY_DENIED"}
    assert here.code("GET", f"/v1/events/{entry.id}", by=by) == "NOT_FOUND"
    assert here.code("POST", f"/v1/lifecycle/memory-event/{entry.id}/cancel", {}, by=by) == "NOT_FOUND"
    assert [each["name"] for each in here.said("GET", "/v1/vocabularies", by=ROOT)["items"]] == ["sales"]
    here.close()
