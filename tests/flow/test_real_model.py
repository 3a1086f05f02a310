"""A real small language model reads, words and answers: whatever it says, nothing is harmed. ``scripts/real-model`` runs it and prints what came of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from given import TENANT
from lamina.access.policy import PolicyPermits
from lamina.answer.generated import ANSWERING, worded
from lamina.errors import LaminaError
from lamina.kernel.operations import Call, Principal
from lamina.kernel.records import Belief, Concept, Layer
from lamina.kernel.time import DAY_US, SECOND_US, rfc3339
from lamina.models.generator import OpenAiGenerator
from lamina.pipeline.readings.question import TASK
from lamina.recall.grounds import GroundLine
from lamina.session.drain import Drain
from lamina.session.identity import EVERYTHING
from lamina.session.ingest import Ingesting
from lamina.session.inquirer import Inquirer
from lamina.session.names import scope_of
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.sessions import SessionKey
from lamina.types.sessions import Ingest
from policies import OpenPolicy
from readers import ReadChat

PYTHON = os.environ.get("REAL_MODEL", "")
SERVE = Path(__file__).resolve().parents[2] / "scripts" / "serve_model.py"
TURNS = (
    "I need to pay the rent. I have to call mum.",
    "I live in Porto.",
    "I work at Hafenlink as a welder.",
    "I like green tea, but I don't drink coffee.",
    "My sister Winifred moved to Turku in March.",
    "Well, that was quite a day at the office.",
)
OPEN = ["Call mum", "Pay the rent"]

pytestmark = [
    pytest.mark.skipif(not PYTHON, reason="scripts/real-model installs a model, and runs this"),
    pytest.mark.timeout(3000),
]


@pytest.fixture(scope="module")
def generator() -> Iterator[OpenAiGenerator]:
    with subprocess.Popen(
        [PYTHON, str(SERVE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None, "it was asked for"
        generator = OpenAiGenerator(f"{server.stdout.readline().strip()}/v1", "smollm2-135m", timeout_s=600)
        yield generator
        generator.close()
        server.communicate()


class RealChat(ReadChat):
    """A chat whose sittings have windows, beside a real model."""

    def __init__(self, folder: Path, generator: OpenAiGenerator) -> None:
        super().__init__(folder, None, scope=scope_of(TENANT, "alice"))
        self.worker = self.working(asks=TASK, words=True)
        self.drain = Drain(self.store, self.clock, words_by_model=True)
        self.inquirer = Inquirer(self.store, self.clock, generator, timeout_s=600)
        caller = Principal(TENANT, "service:app", "http")
        self.call = Call(caller, "req_1", self.clock.at, PolicyPermits(OpenPolicy(), caller))

    def tell(self, text: str) -> None:
        """A turn of the user's, and what is done behind it."""
        self.at += 60 * SECOND_US
        body = {"tenantId": TENANT, "userId": "alice", "personaId": "p", "role": "user", "text": text}
        turn = Ingest.model_validate({**body, "timestamp": rfc3339(self.at), "sessionId": "s"})
        Ingesting(self.store).ingest(turn, self.call)
        self.worker.drain()
        self.settle()

    def settle(self) -> None:
        """Everything that is due is asked, and takes effect; a model that is left alone is asked after that."""
        for _ in range(4):
            self.drain.drain()
            self.ask()
            self.clock.at += 60 * SECOND_US

    def held(self, layer: Layer) -> list[Concept | Belief]:
        query = RecordQuery(tenant_id=TENANT, layer=layer, scopes=[self.scope], axes=EVERYTHING, limit=100)
        return [each for each in self.store.records.query(query) if isinstance(each, Concept | Belief)]


def test_a_real_model_harms_nothing(tmp_path: Path, generator: OpenAiGenerator) -> None:
    by_rules = ReadChat(tmp_path / "rules", None)
    for text in TURNS:
        by_rules.say(text)
    chat = RealChat(tmp_path / "model", generator)
    for text in TURNS:
        chat.tell(text)
    place = SessionKey(TENANT, chat.scope, "s")
    chat.store.sessions.close(place, chat.clock.at)
    chat.settle()
    sitting = chat.store.sessions.sitting(place)
    assert sitting is not None
    spent = chat.store.model_outputs.spent(TENANT, chat.clock.at // DAY_US)
    print(
        "\nasked, tokens of questions, of answers:",
        *(f"\n  {e.task} {e.asked} {e.tokens_in} {e.tokens_out}" for e in spent),
    )
    print("inquiries:", chat.states())
    print("facts by rules:", sorted(by_rules.texts()), "\nfacts now:", sorted(chat.texts()))
    print("open by rules:", sorted(by_rules.open()), "\nopen now:", sorted(chat.open()))
    print("bridge:", sitting.bridge)
    for concept in chat.held(Layer.UNDERSTANDING):
        assert isinstance(concept, Concept)
        print(f"concept {concept.name!r} by {concept.synthesizer}: {concept.summary}")
    assert set(OPEN) <= set(chat.open()), "nothing that is open was ended"
    said = " ".join(TURNS).casefold()
    for fact in chat.facts():
        assert fact.object.text.casefold() in said
    assert sitting.bridge is not None
    assert "rent" in sitting.bridge
    assert list(chat.store.snapshot()) == chat.replayed()
    by_rules.close()
    chat.close()


@pytest.mark.parametrize("question", ["Where does Alice live?", "What does Alice's brother drive?"])
def test_a_real_model_answers_from_lines_or_not_at_all(generator: OpenAiGenerator, question: str) -> None:
    lines = [
        GroundLine(marker=f"[{number}]", layer="fact", id=f"fact_{number}", text=text, score=1.0, at=0)
        for number, text in enumerate(("Alice lives in Porto", "Alice works at Hafenlink"), 1)
    ]
    try:
        made = worded(generator, ANSWERING, question, lines, tokens_max=200)
    except LaminaError as error:
        print(f"\n{question} {error.code}")
        return
    print(f"\n{question} {[each.worded for each in made.sentences]}, {made.cut} cut")
    for each in made.sentences:
        assert "Porto" in each.text or "Hafenlink" in each.text
