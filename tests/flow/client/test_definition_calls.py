"""Vocabularies and phrases by the Python client and by commands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from given import ManualClock
from lamina.app import build_server
from lamina.cli.main import app
from lamina.client import AsyncClient, Client
from lamina.errors import Conflict, Invalid, NotFound
from lamina.kernel.time import SECOND_US
from lamina.settings import Settings
from lamina.store.sqlite import SqliteStore

TERMS = [
    {"id": "deal_stage", "values": ["poc", "close"], "synonyms": ["stage"]},
    {"id": "contact", "datatype": "entity"},
]
Run = Callable[..., Result]


@pytest.fixture(name="listens")
def _listens(tmp_path: Path, listening: Any) -> Iterator[Any]:
    """A server of its own, since what a tenant defines is everybody's there, with a clock."""
    clock = ManualClock()
    store = SqliteStore(tmp_path, clock=clock, durable=False)
    with listening(build_server(Settings(data=tmp_path, workers=0), store=store, clock=clock)) as live:
        yield live, clock


@pytest.fixture(name="admin")
def _admin(listens: Any) -> Iterator[Client]:
    with Client(listens[0].url) as client:
        yield client.allow_unstable()


@pytest.fixture(name="run")
def _run(listens: Any) -> Run:
    def run(*arguments: str, **more: Any) -> Result:
        return CliRunner().invoke(app, [*arguments, "--url", listens[0].url], **more)

    return run


def test_a_vocabulary_is_registered_read_and_replaced(admin: Client, listens: Any) -> None:
    made = admin.vocabularies.register("sales", description="Deals", predicates=TERMS)
    assert [term.id for term in made.predicates or ()] == ["deal_stage", "contact"]
    assert admin.vocabularies.get("sales") == made
    with pytest.raises(Conflict, match="VOCABULARY_EXISTS"):
        admin.vocabularies.register("sales", predicates=TERMS)
    with pytest.raises(Invalid):
        admin.vocabularies.register("sales", predicates=[])
    listens[1].at += SECOND_US
    replaced = admin.vocabularies.replace("sales", predicates=TERMS[:1])
    assert replaced.deprecates == ["contact"]
    assert [each.terms for each in admin.vocabularies.list().items] == [1]
    assert [each.terms for each in admin.vocabularies.list(as_of="2026-05-13T12:00:00.5Z").items] == [2]
    assert admin.vocabularies.get("sales", as_of="2026-05-13T12:00:00.5Z") == made
    relations = admin.vocabularies.register("trade", relations=[{"id": "supplies"}])
    assert (relations.kind, relations.text) == ("relation", "trade\n- supplies")
    with pytest.raises(NotFound):
        admin.vocabularies.get("never")


def test_a_phrase_is_registered_listed_and_removed(admin: Client) -> None:
    made = admin.phrases.register("fiscal_q3", "fiscal Q3", "2026-07-01", "2026-10-01")
    assert admin.phrases.list().items == [made]
    with pytest.raises(Conflict, match="PHRASE_EXISTS"):
        admin.phrases.register("fiscal_q3", "third", "2026-07-01", "2026-10-01")
    admin.phrases.remove("fiscal_q3")
    assert admin.phrases.list().items == []
    with pytest.raises(NotFound):
        admin.phrases.remove("fiscal_q3")


def test_the_asynchronous_client_does_the_same(listens: Any) -> None:
    async def talk() -> tuple[list[str], list[str], list[str]]:
        async with AsyncClient(listens[0].url) as client:
            client.allow_unstable()
            await client.vocabularies.register("sales", predicates=TERMS)
            replaced = await client.vocabularies.replace("sales", predicates=TERMS[1:])
            assert (await client.vocabularies.get("sales")).name == "sales"
            await client.phrases.register("q3", "fiscal Q3", "2026-07-01", "2026-10-01")
            listed = [each.name for each in (await client.phrases.list()).items]
            await client.phrases.remove("q3")
            return replaced.deprecates, [v.name for v in (await client.vocabularies.list()).items], listed

    assert asyncio.run(talk()) == (["deal_stage"], ["sales"], ["q3"])


def test_commands_keep_a_vocabulary(run: Run, tmp_path: Path) -> None:
    assert run("vocabulary", "list").stdout == "(nothing)\n"
    file = tmp_path / "sales.json"
    file.write_text(json.dumps({"name": "sales", "predicates": TERMS}))
    made = run("vocabulary", "register", str(file))
    assert made.exit_code == 0, made.output
    text = "sales\n- deal_stage: string, one of: poc, close; one value at a time (also said: stage)\n"
    assert made.stdout == f"{text}- contact: entity; many values\n"
    assert run("vocabulary", "register", str(file)).exit_code == 5
    shown = json.loads(run("vocabulary", "show", "sales", "--json").stdout)
    shown["predicates"].pop()
    replaced = run("vocabulary", "replace", "-", input=json.dumps(shown))
    assert replaced.stdout == f"{text}no more: contact\n"
    assert "sales  predicate  1" in run("vocabulary", "list").stdout
    assert run("vocabulary", "show", "never").exit_code == 4
    assert run("vocabulary", "register", "-", input="[1]").exit_code == 2


def test_commands_keep_phrases(run: Run) -> None:
    assert run("phrase", "list").stdout == "(nothing)\n"
    made = run("phrase", "register", "q3", "fiscal Q3", "2026-07-01", "2026-10-01")
    assert made.stdout == "q3: 'fiscal Q3' is 2026-07-01T00:00:00Z to 2026-10-01T00:00:00Z\n"
    assert "q3    fiscal Q3  2026-07-01T00:00:00Z" in run("phrase", "list").stdout
    assert json.loads(run("phrase", "list", "--json").stdout)["items"][0]["pattern"] == "fiscal Q3"
    assert run("phrase", "remove", "q3").stdout == "q3 is taken back\n"
    assert run("phrase", "remove", "q3").exit_code == 4
