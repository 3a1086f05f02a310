"""Several people on one account: who says "Tom here" on Ana's is no new name of hers, and speaks for himself in that turn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from given import ALICE, TENANT
from lamina.kernel.events import Party
from lamina.kernel.records import Fact, Layer, Loop
from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.session.identity import identity_of
from modelled import ModelServer
from readers import ReadChat, reading, says
from told import DAY, START, Memory

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def extractor() -> RulesExtractor:
    return RulesExtractor(find_times)


@pytest.fixture
def talk(make_memory: Callable[..., Memory], extractor: RulesExtractor) -> Callable[..., Memory]:
    """A memory of turns of one account, a day apart."""

    def told(*turns: str) -> Memory:
        memory = make_memory(extractor)
        for day, turn in enumerate(turns):
            memory.tell(turn, START + day * DAY)
        memory.derive()
        live, again = memory.replayed()
        assert live == again
        return memory

    return told


def name(memory: Memory) -> str | None:
    found: str | None = memory.shown()["identity"]["name"]
    return found


def facts(memory: Memory) -> list[str]:
    held: list[Fact] = memory.held(Layer.FACTS)
    return sorted(fact.text for fact in held if fact.valid_to is None and fact.predicate != "name_is")


@pytest.mark.parametrize(
    ("turns", "known"),
    [
        (["My name is Lena Hartmann.", "Tom here."], "Lena Hartmann"),
        (["My name is Lena Hartmann.", "Hi, this is Tom.", "Jonas here.", "I'm Mia."], "Lena Hartmann"),
        (["My name is Lena Hartmann.", "This is Tom speaking.", "Hi, I'm Mia."], "Lena Hartmann"),
        (["Hi, I'm Lena Hartmann.", "Tom here.", "Lena here."], "Lena Hartmann"),
        (["My name is Callum.", "Everybody calls me Cal.", "Cal here."], "Cal"),
        (["Hi, I'm Ana.", "Hi, I'm Ana Petrova."], "Ana Petrova"),
        (["My name is Ana.", "Ana Petrova here."], "Ana Petrova"),
        (["Tom here."], "Tom"),
        (["Hi, I'm Nora.", "Actually my name is Nova."], "Nova"),
        (["Tom here.", "My name is Lena."], "Lena"),
        (["My name is Ana Petrova.", "I changed my name to Ana Silva."], "Ana Silva"),
        (["My name is Callum.", "Call me Cal."], "Cal"),
    ],
)
def test_the_name_of_an_account_is_that_of_whoever_said_so_first_until_it_is_corrected(
    talk: Callable[..., Memory], turns: list[str], known: str
) -> None:
    assert name(talk(*turns)) == known


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ("Tom here. I live in Leeds.", ["Tom lives in Leeds"]),
        ("Hi, this is Tom. My sister works at Google.", ["Tom's sister works at Google"]),
        ("Lena here. I live in Leeds.", ["Ana lives in Leeds"]),
        ("My name is Tom. I live in Leeds.", ["Ana lives in Leeds"]),
        ("Tom lives in Leeds.", ["Tom lives in Leeds"]),
    ],
)
def test_the_turn_in_which_somebody_else_introduces_themselves_is_theirs(
    talk: Callable[..., Memory], turn: str, expected: list[str]
) -> None:
    assert facts(talk("My name is Lena Hartmann.", turn)) == expected


def test_a_turn_before_any_name_is_known_is_the_accounts(talk: Callable[..., Memory]) -> None:
    assert facts(talk("Tom here. I live in Leeds.")) == ["Ana lives in Leeds"]


def test_another_speakers_word_outlives_that_a_like_one_is_cancelled(
    make_memory: Callable[..., Memory], extractor: RulesExtractor
) -> None:
    memory = make_memory(extractor)
    memory.tell("My name is Lena Hartmann.", START)
    wrong = memory.tell("Tom here. I live in York.", START + DAY)
    memory.tell("Tom here. I live in Leeds.", START + 2 * DAY)
    memory.derive()
    memory.cancel(wrong)
    memory.derive()
    assert facts(memory) == ["Tom lives in Leeds"]
    live, again = memory.replayed()
    assert live == again


@pytest.fixture
def account(make_memory: Callable[..., Memory], extractor: RulesExtractor) -> Callable[..., list[str]]:
    """What is open and what holds after turns of Ana's own account, a day apart."""

    def told(*turns: str) -> list[str]:
        memory = make_memory(extractor)
        for day, turn in enumerate(("My name is Ana Petrova.", *turns)):
            memory.tell(turn, START + day * DAY, who=Party(ALICE.rsplit("/", 1)[-1], "user", "Ana"))
        memory.derive()
        live, again = memory.replayed()
        assert live == again
        held = [each for each in memory.held(Layer.FACTS) if isinstance(each, Fact)]
        return [
            f"{each.object.text} {each.status.value}"
            if isinstance(each, Loop)
            else f"{each.text} to {each.valid_to}"
            for each in held
        ]

    return told


DOSE, PASSPORT = "I take 500 mg of metformin twice a day.", "I need to renew my passport by Friday."


@pytest.mark.parametrize(
    ("known", "said", "told"),
    [
        (DOSE, "I stopped taking metformin.", "Take 500 mg of metformin twice a day dropped"),
        (PASSPORT, "I renewed my passport.", "Renew my passport completed"),
        ("It's sunny.", "I need to call the bank tomorrow.", "Call the bank active"),
    ],
)
def test_what_somebody_else_did_and_has_to_do_is_not_the_accounts_own(
    account: Callable[..., list[str]], known: str, said: str, told: str
) -> None:
    assert told in account(known, said)
    assert told in account(known, f"Ana here. {said}")
    assert told not in account(known, f"Tom here. {said}")


def test_who_is_speaking_is_for_the_rules_to_say_where_a_model_reads(
    tmp_path: Path, extractor: RulesExtractor
) -> None:
    model = ModelServer()
    chat = ReadChat(tmp_path, model, extractor=extractor)
    chat.say("My name is Alice. I live in Berlin.")
    name = {"slot": "name", "value": "Tom", "quote": "Tom here"}
    home = {"slot": "home", "value": "Porto", "quote": "I live in Porto"}
    rent = {"text": "Pay the rent", "quote": "I need to pay the rent"}
    alice = {"slot": "home", "value": "Berlin", "quote": "I live in Berlin"}
    called = {"slot": "name", "value": "Alice", "quote": "My name is Alice"}
    model.answers = says(
        Tom=reading(identity=[name, home], new=[rent]),
        Berlin=reading(identity=[alice, called]),
        Moon=reading({"predicate": "lives_in", "object": "Moon", "quote": "I lived on the Moon"}),
    )
    chat.ask()
    chat.hear("Tom here. I live in Porto. I need to pay the rent.")
    found = identity_of(chat.store.records, TENANT, ALICE, "user:alice", chat.clock.at)
    assert (found.name, found.facts["home"], chat.open()) == ("Alice", "Berlin", [])
    assert "Tom lives in Porto" in chat.texts()
    chat.hear("Suppose I lived on the Moon, so I ask you.")
    assert not [text for text in chat.texts() if "Moon" in text]
    chat.close()
    model.stop()
