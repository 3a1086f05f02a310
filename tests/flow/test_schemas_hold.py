"""What a server sends fits the schemas that are published."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from lamina.kernel.events import Stage

FOLDER = Path(__file__).parents[2] / "docs" / "reference" / "schemas"
ALICE = "org:acme/user:alice"


def fits(name: str, value: Any) -> None:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    checker = Draft202012Validator.FORMAT_CHECKER
    errors = list(Draft202012Validator(schema, format_checker=checker).iter_errors(value))
    assert not errors, [f"{error.json_path}: {error.message}" for error in errors]


def test_records_of_every_layer_fit(world: Any) -> None:
    event = world.event("Acme is at poc")
    fact, belief = world.fact(), world.belief()
    episode, concept = world.episode(), world.concept()
    records = (fact, belief, episode, concept)
    world.land(*records, supports=[world.support(each.id, event.id) for each in records])
    fits("event", world.get(f"/v1/events/{event.id}"))
    fits("fact", world.get(f"/v1/facts/{fact.id}"))
    fits("belief", world.get(f"/v1/beliefs/{belief.id}"))
    fits("episode", world.get(f"/v1/episodes/{episode.id}"))
    fits("concept", world.get(f"/v1/understanding/{concept.id}"))


def test_a_pack_fits_with_all_its_layers(world: Any) -> None:
    world.land(world.fact(), world.belief(), world.episode(), world.concept())
    world.event("Acme Corp is at the stage poc")
    for asked in ({}, {"view": "descend"}, {"view": "structured"}, {"exclude_content": True}):
        pack = world.post("/v1/recall", {"scope": ALICE, "query": "at which stage is Acme?", **asked}).json()
        fits("stratified_pack", pack)


def test_rows_of_the_audit_log_fit_with_and_without_the_size(make_world: Any) -> None:
    for keeps in (True, False):
        world = make_world(audit_store_body_bytes=keeps)
        world.post("/v1/recall", {"scope": ALICE, "query": "tea"})
        row = world.get("/v1/audit")["items"][0]
        fits("audit_row", row)
        assert ("body_bytes" in row["request"]) is keeps


def test_policy_scopes_and_errors_fit(world: Any) -> None:
    fits("capability_set", world.get("/v1/policy/effective", scope=ALICE))
    fits("policy", world.get("/v1/policy/deployment")["preset_document"])
    fits("policy", world.get("/v1/policy/actor/user:local")["document"])
    world.event()
    fits("scope", world.get(f"/v1/scopes?path={ALICE}"))
    made = world.call("POST", "/v1/scopes", body={"path": "ws:x"})
    fits("scope", made.json())
    fits("error_envelope", world.call("GET", "/v1/events").json())


def test_what_a_stream_sends_fits(world: Any) -> None:
    async def run() -> None:
        async with world.stream() as blocks:
            event = world.event()
            world.advance(event, Stage.EXTRACTED)
            block = await blocks.get()
            said = dict(line.split(": ", 1) for line in block.strip().splitlines())
            fits("lifecycle_event", {**said, "data": json.loads(said["data"])})

    asyncio.run(run())
