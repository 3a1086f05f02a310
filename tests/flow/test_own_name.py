"""Names that callers give as their own in scopes that others write to: nobody speaks as somebody else by giving their name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from lamina.kernel.time import SECOND_US
from lamina.language.entities import entity_id, normalise_name
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from neighbours import ROOT, Neighbours

TEAM, MALLORY = "ws:launch", "user:mallory"
POSED = {"id": MALLORY, "name": "Alice"}


class Team(Neighbours):
    """Alice, who said where she lives in a scope to which Mallory writes, too, where nobody may write about others."""

    def __init__(self) -> None:
        super().__init__("cloud_shared_saas")
        self.register(TEAM, alice="owner", mallory="writer")
        self.worker = Worker(
            self.store,
            Deriver(self.store, RulesExtractor(find_times, use_parser=False), None),
            None,
            self.clock,
            "test",
        )
        assert self.tell("I live in Porto.", "user:alice") == 202

    def tell(self, text: str, by: str = MALLORY, scope: str = TEAM, **more: Any) -> int | str:
        self.clock.at += 3600 * SECOND_US
        code = self.code("POST", "/v1/experience", self.envelope(scope, text, **more), by=by)
        self.worker.drain()
        return code

    def told(self, kind: str = "facts") -> str:
        return self.call("GET", f"/v1/{kind}", scope=TEAM).text


@pytest.fixture(name="team")
def _team() -> Iterator[Team]:
    team = Team()
    yield team
    team.close()


@pytest.mark.parametrize(
    "posed",
    [
        {"observed_actor": POSED},
        {"observed_actor": {**POSED, "name": " ALICE’s "}},
        {"subject": POSED},
        {"observed_actor": POSED, "scope": MALLORY, "directives": {"consolidate_into": TEAM}},
    ],
)
def test_nobody_speaks_as_somebody_else_by_their_name(team: Team, posed: dict[str, Any]) -> None:
    before = team.told(), team.told("beliefs")
    assert team.tell("I moved to Oslo last week. I no longer live in Porto.", **posed) == "POLICY_DENIED"
    assert (team.told(), team.told("beliefs")) == before


def test_a_batch_says_which_item_goes_by_anothers_name(team: Team) -> None:
    envelopes = [team.envelope(TEAM, f"I like tea {number}.") for number in range(2)]
    items = [{key: each[key] for key in each if key != "scope"} for each in envelopes]
    items[1]["observed_actor"] = POSED
    answer = team.call("POST", "/v1/experience/bulk", {"scope": TEAM, "items": items}, by=MALLORY).json()
    assert (answer["error_code"], answer["details"]["field"]) == (
        "POLICY_DENIED",
        "items.1.observed_actor.name",
    )


def test_nobody_corrects_somebody_else_by_their_name(team: Team) -> None:
    (fact,) = team.said("GET", "/v1/facts", scope=TEAM)["items"]
    sent = {"object": "Oslo", "observed_actor": POSED}
    assert team.code("POST", f"/v1/facts/{fact['id']}/correct", sent, by=MALLORY) == "POLICY_DENIED"


def test_a_name_of_ones_own_is_given_whatever_others_say_of_it(team: Team) -> None:
    named = {"observed_actor": {"id": MALLORY, "name": "Mal Ortega"}}
    assert team.tell("I live in Rome.", **named) == 202
    assert team.tell("Mal Ortega lives in Bonn.", "user:alice") == 202
    assert team.tell("I like tea.", **named) == 202
    assert "Mal Ortega likes tea" in team.told()


def test_who_may_write_about_others_gives_any_name(team: Team) -> None:
    sent = {**team.envelope(TEAM, "I live in Rome."), "observed_actor": POSED}
    allowed = {"allow": ["scope.write.about_other"]}
    team.said("PUT", "/v1/policy/tenant/acme", allowed, by=ROOT)
    assert team.code("POST", "/v1/experience", sent, by=MALLORY) == 202
    team.said("PUT", "/v1/policy/tenant/acme", {}, by=ROOT)
    assert team.code("POST", "/v1/experience", sent, by=MALLORY) == 202, "it was stored already"


def test_nobody_is_refused_their_name_for_having_said_much(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lamina.pipeline.own_name._READ", (1, 2))
    named = {"observed_actor": {"id": MALLORY, "name": "Mal Ortega"}}
    said = [team.tell(f"I like {what}.", **named) for what in ("tea", "jam", "rain", "chess")]
    assert said == [202] * 4
    assert team.tell(
        "I like snow.", "user:alice", observed_actor={"id": "user:alice", "name": "Mal Ortega"}
    ) == ("POLICY_DENIED")


def entity(name: str) -> str:
    return entity_id("acme", normalise_name(name))


@pytest.mark.parametrize(
    ("taken", "action", "body"),
    [
        ("alice", "merge", {"into": entity("mallory")}),
        ("mallory", "merge", {"into": entity("alice")}),
        ("alice", "split", {"name": "Mallory"}),
    ],
)
def test_nobody_decides_that_somebody_who_speaks_there_is_they(
    team: Team, taken: str, action: str, body: dict[str, Any]
) -> None:
    """Once who decided of themselves decided of anybody beside."""
    if action == "merge":
        assert team.tell("I like tea.") == 202
    facts = team.call("GET", "/v1/facts", scope=TEAM, subject=entity("alice"), by="user:alice").json()[
        "items"
    ]
    told = {"facts": [each["id"] for each in facts]} if action == "split" else {}
    before = team.told()
    refused = team.code(
        "POST", f"/v1/entities/{entity(taken)}/{action}", {"scope": TEAM, **body, **told}, by=MALLORY
    )
    team.worker.drain()
    assert (refused, team.told()) == ("POLICY_DENIED", before)


def test_who_goes_by_two_names_says_so(team: Team) -> None:
    assert team.tell("I like tea.") == 202
    assert team.tell("I like coffee.", observed_actor={"id": MALLORY, "name": "Mal"}) == 202
    body = {"scope": TEAM, "into": entity("mallory")}
    assert team.code("POST", f"/v1/entities/{entity('mal')}/merge", body, by=MALLORY) == 202
