"""Answers by the client and by the command, over turns that nobody derived."""

from __future__ import annotations

import asyncio
import json

import pytest
from typer.testing import CliRunner, Result

from lamina.cli.main import app
from lamina.client import AsyncClient
from lamina.client.results import CitationsChunk, DoneChunk
from lamina.errors import NotFound

QUESTION = "Where is the pottery course?"


@pytest.fixture
def told(client):
    client.experience("The pottery course is in the old mill at Lindenau.")
    return client


@pytest.fixture
def run(live, maya, monkeypatch):
    monkeypatch.setenv("LAMINA_URL", live.url)
    monkeypatch.setenv("LAMINA_ACTOR", maya)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments)

    return run


def test_the_client_has_a_question_answered(told):
    pack = told.recall(QUESTION)
    answer = told.answer(QUESTION, use_pack_id=pack.pack_id, diagnostics="summary")
    assert "in the old mill at Lindenau" in answer.answer
    assert (answer.answered, answer.answer_model, answer.pack_id) == (True, "extractive", pack.pack_id)
    assert answer.citations[0].id == pack.layers.events[0].id
    assert answer.diagnostics["pack_used"] == {"events": 1}
    with pytest.raises(NotFound, match="PACK_NOT_FOUND"):
        told.answer(QUESTION, use_pack_id="pack_0")


def test_a_streamed_answer_is_the_answer(told, live, maya):
    *words, cited, _, done = told.answer_stream(QUESTION)
    answer = told.answer(QUESTION)
    assert "".join(chunk.text for chunk in words) == answer.answer
    assert isinstance(cited, CitationsChunk)
    assert cited.citations[0]["id"] == answer.citations[0].id
    assert isinstance(done, DoneChunk)

    async def asked():
        async with AsyncClient(live.url, actor=maya) as client:
            client.allow_unstable()
            return await client.answer(QUESTION), [chunk async for chunk in client.answer_stream(QUESTION)]

    other, chunks = asyncio.run(asked())
    assert other.answer == answer.answer
    assert isinstance(chunks[-1], DoneChunk)


def test_the_command_shows_answer_and_sources(told, run):
    shown = run("answer", QUESTION, "--explain")
    assert shown.exit_code == 0, shown.output
    assert "in the old mill at Lindenau" in shown.stdout
    assert "Worded by: sentences of memory as they stand" in shown.stdout
    assert "answer_model=extractive" in shown.stdout.replace("\n", "")
    printed = json.loads(run("answer", QUESTION, "--json").stdout)
    assert printed["citations"][0]["id"] in shown.stdout.replace("\n", "")


def test_the_command_says_that_it_is_not_known(told, run):
    shown = run("answer", "Which orchestra conducted the Bruckner symphony in Vienna?")
    assert (shown.exit_code, shown.stdout.splitlines()[0]) == (
        0,
        "Not known: memory holds nothing that answers this.",
    )
    wrong = run("answer", QUESTION, "--model", "claude")
    assert wrong.exit_code == 2
    assert "ANSWER_MODEL_NOT_OFFERED" in wrong.stderr
