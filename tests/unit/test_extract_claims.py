"""Claims read from parsed sentences, one table for each kind."""

from __future__ import annotations

from datetime import timedelta

import pytest
from extraction_cases import NOW, TODAY, find_times, say, short

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser
from lamina.pipeline.extract.values import EntityRef, Previous, Triple, Utterance

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def read(extractor: RulesExtractor, utterance: Utterance | str) -> list[Triple]:
    utterance = say(utterance) if isinstance(utterance, str) else utterance
    return list(extractor.extract([utterance])[0].triples)


CLAIMS = [
    ("identity", "My name is Alice.", ["Alice name_is Alice"]),
    ("identity", "I'm 34 years old.", ["Alice age 34"]),
    ("identity", "I'm originally from Sweden.", ["Alice from Sweden"]),
    ("identity", "I'm vegan.", ["Alice diet vegan"]),
    ("identity", "I've been allergic to peanuts since 2019.", ["Alice allergic_to peanuts"]),
    ("identity", "Call me Al.", ["Alice goes_by Al"]),
    ("identity", "My birthday is on May 3.", ["Alice birthday May 3"]),
    ("identity", "I speak Spanish and French.", ["Alice speaks Spanish", "Alice speaks French"]),
    (
        "role",
        "I work as a nurse at Mercy Hospital.",
        ["Alice works_at Mercy Hospital", "Alice works_as nurse"],
    ),
    (
        "role",
        "I'm a software engineer at Google.",
        ["Alice works_at Google", "Alice works_as software engineer"],
    ),
    ("role", "My brother is a lawyer.", ["Alice's brother works_as lawyer"]),
    ("place", "I live in Berlin.", ["Alice lives_in Berlin"]),
    ("place", "You live in Boston.", ["Bob lives_in Boston"]),
    ("place", "I moved to Lisbon.", ["Alice moved_to Lisbon", "Alice lives_in Lisbon"]),
    ("possession", "We adopted a dog named Max.", ["Alice adopted Max", "Alice has_pet Max"]),
    ("possession", "I own a small boat.", ["Alice owns small boat"]),
    ("attribute", "I rent a flat in Rome.", ["Alice rent_in Rome"]),
    ("role", "I'm a student at MIT.", ["Alice studies_at MIT", "Alice works_as student"]),
    ("relation", "My sister Anna lives in Berlin.", ["Anna lives_in Berlin", "Alice sibling_of Anna"]),
    ("relation", "My daughter's name is Lily.", ["Alice parent_of Lily"]),
    ("relation", "I've been married to Tom for years.", ["Alice married_to Tom"]),
    ("relation", "Tom is my boss.", ["Alice manager Tom"]),
    ("preference", "My favourite food is ramen.", ["Alice favourite_food ramen"]),
    ("preference", "Ramen is my favorite food.", ["Alice favourite_food Ramen"]),
    ("preference", "I don't like coffee.", ["Alice dislikes coffee"]),
    ("preference", "I prefer tea to coffee.", ["Alice prefers tea"]),
    ("preference", "I love painting landscapes.", ["Alice likes painting landscapes"]),
    ("plan", "I'm planning to open a dance studio.", ["Alice plans_to open a dance studio"]),
    ("plan", "I'm going to Paris next week.", ["Alice plans_to go to Paris"]),
    ("plan", "I'm thinking of getting a new car.", ["Alice considers getting a new car"]),
    ("plan", "I'm planning a family trip.", ["Alice plans family trip"]),
    ("plan", "I'd love to visit Japan.", ["Alice wants_to visit Japan"]),
    ("commitment", "I'll send the deck by Friday.", ["Alice committed_to send the deck"]),
    ("commitment", "I need to renew my passport.", ["Alice needs_to renew Alice's passport"]),
    ("quantity", "Our company has 12 employees.", ["Alice's company employee_count 12"]),
    ("quantity", "I have two kids.", ["Alice kid_count 2"]),
    ("quantity", "I weigh 70 kg.", ["Alice weight 70"]),
    ("event", "I attended my best friend Rachel's baby shower.", ["Alice attended Rachel's baby shower"]),
    ("event", "We moved our office to Lisbon.", ["Alice move office"]),
    ("event", "I signed up for a pottery class yesterday.", ["Alice signed_up_for pottery class"]),
    ("event", "I went to a support group yesterday.", ["Alice attended support group"]),
    ("event", "My wife and I went to Japan last week.", ["Alice visited Japan"]),
]


@pytest.mark.parametrize(("kind", "text", "claims"), CLAIMS, ids=[text for _, text, _ in CLAIMS])
def test_claims(extractor: RulesExtractor, kind: str, text: str, claims: list[str]) -> None:
    found = read(extractor, text)
    assert [short(triple) for triple in found] == claims
    assert kind in {triple.kind for triple in found}


@pytest.mark.parametrize(
    "text",
    [
        "If I lived in Paris I would be happy.",
        "I wish I had a dog.",
        "I could move to Paris.",
        "Do I live in Paris",
        "Move to Paris with Anna.",
        "That is a great idea and it works.",
        "I love your drawing of Paris.",
        "I wonder whether Anna lives in Paris.",
        "I'm not gonna give up on my dreams.",
        "I'm doing well in the league, we're 3-2 so far!",
        "I'm two weeks into my new job.",
        "I wanted to show my support.",
        "You're a great friend, Bob 100%.",
        "Remind me not to call Carol tomorrow.",
        "Remind me never to date a musician again.",
        "Please remind me to not eat before the scan.",
    ],
)
def test_questions_orders_wishes_and_praise_claim_nothing(extractor: RulesExtractor, text: str) -> None:
    assert read(extractor, text) == []


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("I don't have a car.", "Alice not has car"),
        ("I no longer work at Google.", "Alice not works_at Google"),
        ("I think Anna works at Google.", "Anna maybe works_at Google"),
        ("I might move to Canada.", "Alice maybe considers moving to Canada"),
    ],
)
def test_negation_and_hedging(extractor: RulesExtractor, text: str, claim: str) -> None:
    assert [short(triple) for triple in read(extractor, text)] == [claim]


def test_hedged_claims_are_less_sure(extractor: RulesExtractor) -> None:
    plain, hedged = (
        read(extractor, text)[0].confidence
        for text in ("Anna works at Google.", "I think Anna works at Google.")
    )
    assert hedged < plain <= 1


def test_correction_gives_the_new_value_only(extractor: RulesExtractor) -> None:
    found = read(extractor, "Actually, I moved to Lisbon, not Porto.")
    assert [short(t) for t in found] == ["Alice corrects moved_to Lisbon", "Alice corrects lives_in Lisbon"]


def test_she_is_the_one_woman_named_before(extractor: RulesExtractor) -> None:
    one = (Previous("Alice", "My sister Anna called me."),)
    two = (*one, Previous("Alice", "My sister Eve called me."))
    assert [short(t) for t in read(extractor, say("She works as a teacher.", previous=one))] == [
        "Anna works_as teacher"
    ]
    assert read(extractor, say("She works as a teacher.", previous=two)) == []


def test_first_person_is_the_speaker_and_the_speakers_id_is_kept(extractor: RulesExtractor) -> None:
    (triple,) = read(extractor, say("I live in Berlin.", speaker_name=None))
    assert triple.subject == EntityRef("user:alice", "user:alice", "person", "user:alice")


def test_documents_have_no_first_person(extractor: RulesExtractor) -> None:
    found = read(extractor, say("I live in Berlin. Anna lives in Rome.", personal=False))
    assert [short(t) for t in found] == ["Anna lives_in Rome"]


def test_tools_have_no_first_person(extractor: RulesExtractor) -> None:
    assert read(extractor, say("I live in Berlin.", role="tool")) == []


def test_second_person_without_a_known_addressee_claims_nothing(extractor: RulesExtractor) -> None:
    assert read(extractor, say("You live in Boston.", addressee_name=None)) == []


def test_event_lasts_for_the_day_it_happened(extractor: RulesExtractor) -> None:
    (triple,) = read(extractor, "I signed up for a pottery class yesterday.")
    assert (triple.valid_from, triple.valid_to) == (TODAY - timedelta(days=1), TODAY)


def test_state_begins_with_its_date_and_stays_open(extractor: RulesExtractor) -> None:
    (triple,) = read(extractor, "I've been allergic to peanuts since 2019.")
    assert triple.valid_from is not None
    assert (triple.valid_from.year, triple.valid_to) == (2019, None)


def test_past_state_has_ended(extractor: RulesExtractor) -> None:
    (triple,) = read(extractor, "I used to live in Rome.")
    assert (triple.valid_from, triple.valid_to, triple.negated) == (None, NOW, False)


def test_deadline_ends_a_commitment_and_keeps_its_words(extractor: RulesExtractor) -> None:
    (triple,) = read(extractor, "I'll send the deck by Friday.")
    assert (triple.valid_from, triple.valid_to) == (None, TODAY + timedelta(days=4))
    assert triple.qualifiers == (("due", "by Friday"),)


def test_evidence_is_the_sentence(extractor: RulesExtractor) -> None:
    text = "Hi Bob! I live in Berlin. Nice, isn't it?"
    (triple,) = read(extractor, text)
    assert text[triple.evidence.start : triple.evidence.end] == "I live in Berlin."


def test_mentions_carry_type_and_aliases(extractor: RulesExtractor) -> None:
    mentions = extractor.extract([say("My sister Anna lives in Berlin with our dog Max.")])[0].mentions
    by_key = {mention.key: mention for mention in mentions}
    assert by_key["berlin"].type == "place"
    assert by_key["max"].type == "animal"
    assert "alice's sister" in {alias for m in mentions if m.key == "anna" for alias in m.aliases}


def test_result_does_not_depend_on_the_batch(extractor: RulesExtractor) -> None:
    utterances = [say(text) for _, text, _ in CLAIMS]
    together = extractor.extract(utterances)
    apart = [extractor.extract([utterance])[0] for utterance in reversed(utterances)]
    assert together == apart[::-1]


def test_odd_text_is_no_error(extractor: RulesExtractor) -> None:
    odd = [
        "\x00",
        "((((" * 500,
        "I " * 3_000,
        "a" * 50_000,
        "😀 I 😀 love 😀",
        "I live in \ud800.",
        "my my my's 's's",
        "I’m   \t from\u200b X1",
    ]
    assert len(extractor.extract([say(text) for text in odd])) == len(odd)


def test_assistants_are_believed_less(extractor: RulesExtractor) -> None:
    (said,) = read(extractor, say("Anna lives in Rome.", role="assistant"))
    (known,) = read(extractor, say("Anna lives in Rome.", role="user"))
    assert said.confidence < known.confidence
