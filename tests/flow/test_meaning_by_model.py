"""What is understood of two long conversations where a capable model reads them: its answers, given turn by turn, through our gate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lamina.kernel.scopes import Scope
from meanings import FACTS, conversation, gold_loops, served
from modelled import ModelServer
from readers import ReadChat

USERS = ("denise", "ravi")
TRUE_TOO = (
    r"the Hallorans' wedding",  # the gold has its end ("Halloran wedding") and not its beginning
    r"Anselm's approval of RFC-88",  # the gold calls it a review
)
"""Loops that are truly there and that no pattern of the gold matches: two readers agreed on each."""
STOPS = ("from", "with", "they", "their", "after")
CONTRADICTED = r"Bartholomew|Moon|eleven people$|services done 31|etcd|(?:Denise|Ravi) lives in (?!Bristol)"
"""What the conversations take back, suppose or deny: none of it may stand as current."""


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ReadChat]]:
    model = ModelServer(served(USERS))
    chats = {}
    for user in USERS:
        chat = ReadChat(tmp_path_factory.mktemp(user), model, scope=Scope(f"org:acme/user:{user}"))
        for line in conversation(user):
            chat.say(line.text, role=line.role, session=line.session, at=line.at)
            chat.ask()
        chats[user] = chat
    yield chats
    for chat in chats.values():
        chat.close()
    model.stop()


def test_most_loops_are_opened_and_few_that_are_none(chats: dict[str, ReadChat]) -> None:
    found, opened, true = 0, 0, 0
    for user, chat in chats.items():
        gold, texts = gold_loops(user), [loop.text for loop in chat.loops()]
        found += sum(any(each.pattern.search(text) for text in texts) for each in gold)
        opened += len(texts)
        patterns = [each.pattern for each in gold] + [re.compile(each) for each in TRUE_TOO]
        true += sum(any(each.search(text) for each in patterns) for text in texts)
    assert found >= 24, found
    assert true / opened >= 0.9, (true, opened)


def test_what_is_listed_as_open_at_the_end_mostly_is(chats: dict[str, ReadChat]) -> None:
    listed, right = 0, 0
    for user, chat in chats.items():
        texts = [loop.text for loop in chat.loops() if loop.status == "active"]
        still = [each.pattern for each in gold_loops(user) if each.is_open]
        listed += len(texts)
        right += sum(any(each.search(text) for each in still) for text in texts)
    assert right / listed >= 0.8, (right, listed)


def test_most_facts_are_held_and_none_that_the_text_contradicts(chats: dict[str, ReadChat]) -> None:
    texts = {user: chat.texts() for user, chat in chats.items()}
    known = [
        (user, name)
        for user, facts in FACTS.items()
        for name, pattern in facts.items()
        if any(re.search(pattern, text) for text in texts[user])
    ]
    assert len(known) >= 10, known
    wrong = [text for held in texts.values() for text in held if re.search(CONTRADICTED, text)]
    assert [text for text in wrong if " not " not in text] == []


def test_a_backlog_is_understood_as_turns_that_are_read_one_by_one(
    chats: dict[str, ReadChat], tmp_path: Path
) -> None:
    late = ReadChat(tmp_path, chats["ravi"].model, scope=chats["ravi"].scope)
    for line in conversation("ravi"):
        late.say(line.text, role=line.role, session=line.session, at=line.at)
    late.ask()
    assert set(late.open()) == set(chats["ravi"].open())
    late.close()


def test_no_fact_is_made_that_its_turn_does_not_say(chats: dict[str, ReadChat]) -> None:
    for chat in chats.values():
        for fact in chat.facts():
            turn = chat.store.log.get("acme", [fact.event_id])[fact.event_id]
            said = str(turn.content["text"]).casefold()
            words = re.findall(r"\w{4,}", fact.object.text.casefold())
            assert [word for word in words if word[:5] not in said and word not in STOPS] == [], (
                fact.text,
                said,
            )


def test_a_replay_comes_to_the_same(chats: dict[str, ReadChat]) -> None:
    chat = chats["denise"]
    assert list(chat.store.snapshot()) == chat.replayed()
