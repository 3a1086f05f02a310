"""A loop goes with the turns that have its words: what only ends it, or says yes to it, tells it to nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from given import ALICE, TENANT, found_by
from lamina.kernel.records import Layer
from lamina.kernel.time import Axes
from lamina.store.ports.records import RecordQuery
from talks import Talk

OFFER = "Shall I remind you to call Zetabob tomorrow?"
TREE = "I need to water the Zetatree."


@pytest.fixture
def talk(tmp_path: Path):
    talk = Talk(tmp_path)
    yield talk
    talk.store.close()


def told(talk: Talk) -> str:
    """What lists, also of what was superseded, and the index have."""
    axes = Axes(seen_at=1 << 62, superseded=True)
    query = RecordQuery(tenant_id=TENANT, layer=Layer.FACTS, scopes=[ALICE], axes=axes, limit=99)
    texts = [record.text for record in talk.store.records.query(query)]
    found = found_by(talk.store, "zetabob", "zetatree")
    return " ".join(sorted([*texts, *(key for key in found if key.startswith("fct"))]))


def cancel(talk: Talk, event_id: str) -> None:
    talk.store.log.cancel(TENANT, event_id)
    talk.worker.drain()


def test_an_offer_takes_what_a_yes_made_of_it_along(talk):
    offer = talk.say(OFFER, role="assistant")
    talk.say("yes please")
    assert talk.open() == ["Call Zetabob"]
    cancel(talk, offer)
    assert (talk.open(), told(talk)) == ([], "")
    talk.replays()


def test_a_yes_takes_along_what_it_made_of_an_offer(talk):
    talk.say(OFFER, role="assistant")
    yes = talk.say("yes please")
    cancel(talk, yes)
    assert (talk.open(), told(talk)) == ([], "")
    talk.replays()


def test_a_yes_to_an_offer_that_was_cancelled_before_opens_nothing(talk):
    cancel(talk, talk.say(OFFER, role="assistant"))
    talk.say("yes please")
    assert (talk.open(), told(talk)) == ([], "")
    talk.replays()


@pytest.mark.parametrize("before", [True, False])
def test_what_was_offered_and_said_in_own_words_stays(talk, before):
    turns = [OFFER, "I need to call Zetabob tomorrow."]
    if before:
        talk.say(turns[1])
    offer = talk.say(OFFER, role="assistant")
    talk.say("yes please")
    if not before:
        talk.say(turns[1])
    assert talk.open() == ["Call Zetabob"]
    cancel(talk, offer)
    assert talk.open() == ["Call Zetabob"]
    talk.replays()


@pytest.mark.parametrize(
    "end", ["done", "I watered the Zetatree.", "Never mind the Zetatree.", "A: Did you water the Zetatree?"]
)
def test_what_ends_a_loop_does_not_tell_it(talk, end):
    opened = talk.say(TREE)
    talk.hear(end)
    if end.startswith("A: "):
        talk.hear("yes")
    assert talk.open() == []
    cancel(talk, opened)
    assert "fct" not in told(talk)
    assert "open commitment" not in told(talk)
    talk.replays()


def test_what_ends_a_cancelled_loop_brings_nothing_back(talk):
    cancel(talk, talk.say(TREE))
    talk.say("I watered the Zetatree.")
    assert "open commitment" not in told(talk)
    talk.replays()


def test_what_another_turn_says_in_its_own_words_stays(talk):
    opened = talk.say(TREE)
    talk.say("I really need to water the Zetatree.")
    cancel(talk, opened)
    assert talk.open() == ["Water the Zetatree"]
    talk.replays()
