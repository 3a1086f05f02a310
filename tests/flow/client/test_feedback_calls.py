"""Judging a fact by the Python client and by a command."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from typer.testing import CliRunner

from lamina.cli.main import app
from lamina.client import AsyncClient, Client
from lamina.errors import NotFound


def _stated(client: Client, live: Any) -> str:
    said = {"kind": "triple", "subject": "Acme", "predicate": "lives_in", "object": "Porto"}
    client.experience(content=said, modality="observation")
    live.drain()
    (fact,) = client.facts.list(subject="Acme").items
    return fact.id


def test_a_verdict_is_given_by_the_clients(client: Client, live: Any, maya: str) -> None:
    fact_id = _stated(client, live)
    event = client.events.get(client.feedback(fact_id, "confirm", "I saw it").event_id)
    assert (event.modality, event.content["verdict"], event.content["note"]) == (
        "feedback",
        "confirm",
        "I saw it",
    )

    async def end_it() -> None:
        async with AsyncClient(live.url, actor=maya) as other:
            await other.feedback(fact_id, "outdated")

    asyncio.run(end_it())
    live.drain()
    assert client.facts.list(subject="Acme").items == []
    with pytest.raises(NotFound):
        client.feedback("fact_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b", "deny")


def test_a_verdict_is_given_by_a_command(client: Client, live: Any, maya: str) -> None:
    fact_id = _stated(client, live)
    given = ["--url", live.url, "--actor", maya]
    done = CliRunner().invoke(app, ["feedback", fact_id, "outdated", "--note", "she moved", *given])
    assert done.stdout.startswith(f"{fact_id} is judged by evt_"), done.output
    live.drain()
    assert client.facts.list(subject="Acme").items == []
    wrong = CliRunner().invoke(app, ["feedback", fact_id, "maybe", *given])
    assert (wrong.exit_code, "confirm, deny, outdated, irrelevant" in wrong.stderr) == (2, True)
