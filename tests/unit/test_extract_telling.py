"""What an assistant says of the one it speaks to is no claim; what it says of the world is, and everybody else's words are as they were."""

from __future__ import annotations

import pytest
from extraction_cases import find_times, say, short

from given import ManualClock, append
from lamina.kernel.events import Party
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser
from lamina.pipeline.reading import utterance_of
from lamina.store.memory import MemoryStore


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def told(extractor: RulesExtractor, text: str, **more: object) -> list[str]:
    """What Alice's assistant, or who else is said, claims."""
    speaker = {"speaker": "agent:juno", "speaker_name": "Juno", "addressee_name": "Alice"}
    known = {"role": "assistant", "advises": True, **speaker, **more}
    return [short(triple) for triple in extractor.extract([say(text, **known)])[0].triples]


OF_THE_USER = [
    "Got it, you live in Leicester and you're a nurse.",
    "You work at Bosch, so take the A8.",
    "Noted, you work as a plumber at Bosch.",
    "You are 43.",
    "Noted, you're allergic to amoxicillin, Alice.",
    "You don't live in Leeds.",
    "Your dog Max will like that.",
    "Your dog's name is Max.",
    "I remember that your son Tim is allergic to nuts.",
    "Your sister lives in Paris.",
    "Your sister Eva lives in Paris.",
    "Your son's friend Jim lives in York.",
    "Alice works at Google in Leicester.",
    "Alice's mother works at Google.",
    "I remember you prefer tea to coffee.",
    "You moved to Berlin last week.",
    "You used to live in Rome.",
    "Bob is your brother.",
]


@pytest.mark.model
@pytest.mark.parametrize("text", OF_THE_USER)
def test_an_assistant_claims_nothing_of_the_one_it_speaks_to(extractor: RulesExtractor, text: str) -> None:
    assert told(extractor, text, advises=False) != []
    assert told(extractor, text) == []


@pytest.mark.model
@pytest.mark.parametrize("text", OF_THE_USER[:10])
def test_nor_does_an_agent_that_writes_to_a_person_without_a_role(
    extractor: RulesExtractor, text: str
) -> None:
    assert told(extractor, text, role=None) == []


@pytest.mark.model
@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Anna lives in Rome.", ["Anna lives_in Rome"]),
        ("Anna works at Google.", ["Anna works_at Google"]),
        ("Anna is not allergic to nuts.", ["Anna not allergic_to nuts"]),
        ("Anna's dog Rex is 3.", ["Anna has_pet Rex"]),
        ("Anna is Tom's sister.", ["Tom sibling_of Anna"]),
        ("Alice Springs is located in Australia.", ["Alice Springs located_in Australia"]),
        ("Google is based in California.", ["Google lives_in California"]),
        ("Atlas uses PostgreSQL.", ["Atlas uses PostgreSQL"]),
        ("Your sister is kind, and Anna lives in Rome.", ["Anna lives_in Rome"]),
    ],
)
def test_of_others_and_of_the_world_it_claims_what_it_did(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert told(extractor, text) == claims
    assert told(extractor, text, advises=False) == claims


@pytest.mark.model
@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("You live in Leicester.", ["Alice lives_in Leicester"]),
        ("Your dog Max will like that.", ["Alice has_pet Max"]),
        ("You work at Bosch.", ["Alice works_at Bosch"]),
        ("You are 43.", ["Alice age 43"]),
    ],
)
def test_what_people_and_agents_among_themselves_say_to_each_other_stays(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    people = {"speaker": "user:bob", "speaker_name": "Bob", "advises": False}
    assert told(extractor, text, role="user", **people) == claims
    assert told(extractor, text, role=None, **people) == claims
    assert told(extractor, text, advises=False) == claims


@pytest.mark.model
@pytest.mark.parametrize(
    "text", ["We switched to PostgreSQL yesterday.", "I live in Rome.", "I chose SQLite."]
)
def test_an_agent_that_keeps_notes_has_its_own_word(extractor: RulesExtractor, text: str) -> None:
    agent = {"speaker": "agent:coder", "speaker_name": "Coder", "addressee_name": None, "advises": False}
    assert [claim.split()[0] for claim in told(extractor, text, role=None, **agent)] == ["Coder"]


ALICE, BOB = Party("user:alice", "user", "Alice"), Party("user:bob", "user", "Bob")
JUNO, CODER = Party("agent:juno", "agent"), Party("agent:coder", "agent")


@pytest.mark.parametrize(
    ("speaker", "role", "before", "advises"),
    [
        (JUNO, "assistant", ALICE, True),
        (JUNO, None, ALICE, True),
        (BOB, "assistant", ALICE, True),
        (JUNO, "assistant", CODER, False),
        (JUNO, None, CODER, False),
        (JUNO, "assistant", None, False),
        (JUNO, "assistant", JUNO, False),
        (ALICE, "user", JUNO, False),
        (ALICE, "user", BOB, False),
        (ALICE, None, BOB, False),
    ],
)
def test_who_advises_whom(speaker: Party, role: str | None, before: Party | None, advises: bool) -> None:
    content = {"kind": "message", "role": role, "text": "x"} if role else {"kind": "text", "text": "x"}
    store = MemoryStore(clock=ManualClock())
    previous = [] if before is None else append(store, "tea", observed_actor=before)
    (event,) = append(store, "x", content=content, observed_actor=speaker)
    assert utterance_of(event, previous).advises is advises
