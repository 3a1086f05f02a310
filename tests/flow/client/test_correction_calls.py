"""Correcting and retracting a fact by the Python client and by commands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lamina.cli.main import app
from lamina.client import AsyncClient, Client
from lamina.errors import Conflict, NotFound
from lamina.kernel.time import instant
from lamina.kernel.views import FactView

Run = Callable[..., Result]
SINCE = "2026-02-01T00:00:00Z"


@pytest.fixture(name="run")
def _run(live: Any, maya: str) -> Run:
    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, [*arguments, "--url", live.url, "--actor", maya])

    return run


def _stated(client: Client, live: Any, value: Any) -> FactView:
    """A fact that the client stated, about a subject that nobody else speaks of."""
    said = {
        "kind": "triple",
        "subject": "Acme",
        "predicate": "lives_in",
        "object": value,
        "valid_from": "2026-01-01",
    }
    client.experience(content=said, modality="observation")
    live.drain()
    return _held(client)[-1]


def _held(client: Client) -> list[FactView]:
    return sorted(client.facts.list(subject="Acme").items, key=lambda fact: fact.valid_from)


def _values(client: Client) -> list[Any]:
    return [fact.object.name for fact in _held(client)]


def test_a_fact_is_corrected_from_its_beginning(client: Client, live: Any) -> None:
    wrong = _stated(client, live, "Porto")
    done = client.facts.correct(wrong.id, "Lisbon", why="I misspoke", quote="no, Lisbon")
    live.drain()
    assert (done.action, done.fact_id, done.erased) == ("correct", wrong.id, False)
    (held,) = _held(client)
    assert (held.object.name, held.valid_from, held.supersedes) == ("Lisbon", wrong.valid_from, wrong.id)
    event = client.events.get(done.event_id)
    assert (event.modality, event.content["why"], event.content["quote"]) == (
        "correction",
        "I misspoke",
        "no, Lisbon",
    )
    with pytest.raises(Conflict, match="FACT_ENDED"):
        client.facts.correct(wrong.id, "Rome")
    with pytest.raises(NotFound):
        client.facts.correct("fact_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b", "Rome")


def test_a_fact_is_corrected_from_a_day_on(client: Client, live: Any) -> None:
    before = _stated(client, live, "Porto")
    client.facts.correct(before.id, "Lisbon", valid_from=SINCE)
    live.drain()
    assert _values(client) == ["Lisbon"]
    assert client.facts.get(before.id).valid_to == instant(SINCE)


def test_a_correction_may_wait_for_what_it_makes(client: Client, live: Any, worker_lives: None) -> None:
    wrong = _stated(client, live, "Porto")
    with live.draining():
        done = client.facts.correct(wrong.id, "Lisbon", wait="consolidated")
    assert done.status == "consolidated"
    assert _held(client)[0].id in done.derives


def test_a_fact_is_retracted(client: Client, live: Any) -> None:
    wrong = _stated(client, live, "Porto")
    done = client.facts.retract(wrong.id, valid_to=SINCE, why="she moved away")
    live.drain()
    assert done.action == "retract"
    assert _held(client) == []
    assert client.facts.get(wrong.id).valid_to == instant(SINCE)


def test_the_asynchronous_client_does_the_same(client: Client, live: Any, maya: str) -> None:
    wrong = _stated(client, live, "Porto")

    async def put_right() -> None:
        async with AsyncClient(live.url, actor=maya) as other:
            other.allow_unstable()
            await other.facts.correct(wrong.id, "Lisbon")
            await asyncio.to_thread(live.drain)
            (held,) = (await other.facts.list(subject="Acme")).items
            await other.facts.retract(held.id)

    asyncio.run(put_right())
    live.drain()
    assert _held(client) == []


def test_commands_correct_and_retract(client: Client, live: Any, run: Run) -> None:
    wrong = _stated(client, live, "Porto")
    done = run("correct", wrong.id, "Lisbon", "--why", "I misspoke", "--since", "2026-02-01")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(f"{wrong.id} is corrected by evt_")
    assert "Nothing is erased" in done.stdout
    live.drain()
    assert _values(client) == ["Lisbon"]
    again = run("correct", wrong.id, "Rome")
    assert (again.exit_code, again.stderr[:19]) == (5, "lamina: FACT_ENDED:")
    (held,) = _held(client)
    told = json.loads(run("retract", held.id, "--json").stdout)
    live.drain()
    assert (told["action"], told["erased"]) == ("retract", False)
    assert _held(client) == []
    assert run("retract", "fact_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b").exit_code == 4


def test_a_command_corrects_a_number_with_a_number(client: Client, live: Any, run: Run) -> None:
    client.experience(content={"kind": "triple", "subject": "Acme", "predicate": "seats", "object": 200})
    live.drain()
    (seats,) = _held(client)
    assert run("correct", seats.id, "250").exit_code == 0
    live.drain()
    assert [fact.object.value for fact in _held(client)] == [250]


@pytest.mark.parametrize("value", ["01067", "+4917012345", "1.10", "1e5", "1_000", "٣"])
def test_a_command_keeps_what_is_more_than_its_number(
    client: Client, live: Any, run: Run, value: str
) -> None:
    client.experience(content={"kind": "triple", "subject": "Acme", "predicate": "has_code", "object": "old"})
    live.drain()
    (code,) = _held(client)
    assert run("correct", code.id, value).exit_code == 0
    live.drain()
    (held,) = _held(client)
    assert (held.object.name or held.object.value) == value
