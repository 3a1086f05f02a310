"""What is told beside a question or a request, and behind "remember that"; and what stays a question."""

from __future__ import annotations

import time

import pytest
from extraction_cases import find_times, say, short

from lamina.language.sentences import split_sentences
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.statements import told_apart
from lamina.pipeline.extract.syntax import Parser

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def read(extractor: RulesExtractor, text: str, **more: object) -> list[str]:
    return [short(t) for t in extractor.extract([say(text, **more)])[0].triples]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        # to be kept in mind
        ("Please remember that I'm allergic to penicillin.", ["Alice allergic_to penicillin"]),
        ("Please note: my son is allergic to nuts", ["Alice's son allergic_to nuts"]),
        ("Don't forget that Mia is allergic to peanuts.", ["Mia allergic_to peanuts"]),
        ("please remember that mum is vegan", ["Alice's mum diet vegan"]),
        ("Keep in mind that I'm vegan.", ["Alice diet vegan"]),
        ("Can you remember that my name is Carl?", ["Alice name_is Carl"]),
        ("Could you please note that Mia works at Google?", ["Mia works_at Google"]),
        ("I want you to know that I'm vegan.", ["Alice diet vegan"]),
        ("Did you know that I live in Leeds?", ["Alice lives_in Leeds"]),
        ("Please remember that I'm vegan, ok?", ["Alice diet vegan"]),
        ("I live in Leeds and don't forget that I'm vegan.", ["Alice lives_in Leeds", "Alice diet vegan"]),
        ("Anna forgot that I'm vegan.", ["Alice diet vegan"]),
        ("You know that I live in Leeds.", ["Alice lives_in Leeds"]),
        # beside a question
        ("I'm allergic to nuts, is this safe?", ["Alice allergic_to nuts"]),
        ("My daughter is allergic to eggs, can she have mayonnaise?", ["Alice's daughter allergic_to eggs"]),
        ("I have two kids, so can you find a family hotel?", ["Alice kid_count 2"]),
        ("I live in Leeds - what should I see?", ["Alice lives_in Leeds"]),
        ("I'm Carl, can you help me?", ["Alice name_is Carl"]),
        ("As I'm allergic to nuts, can you check the recipe?", ["Alice allergic_to nuts"]),
        ("Is pesto okay given that I'm allergic to nuts?", ["Alice allergic_to nuts"]),
        ("Can you find another recipe because I'm vegan?", ["Alice diet vegan"]),
        # beside a request
        ("I'm allergic to penicillin, so don't let me forget to tell the dentist.", ["Alice allergic_to penicillin"]),
        ("I live in Leeds, so don't book anything in London.", ["Alice lives_in Leeds"]),
        ("I live in Leeds, please don't tell him.", ["Alice lives_in Leeds"]),
        ("Anna works at Google, so don't ask Paul.", ["Anna works_at Google"]),
        ("My son is allergic to nuts, don't forget.", ["Alice's son allergic_to nuts"]),
        ("I live in Leeds, so I don't think I need a car.", ["Alice lives_in Leeds"]),
        ("As I live in Leeds, I know the market.", ["Alice lives_in Leeds"]),
        ("Given that I'm allergic to nuts, suggest a dessert.", ["Alice allergic_to nuts"]),
    ],
)  # fmt: skip
def test_a_statement_beside_a_question_or_request_is_told(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    "text",
    [
        # asked about the claim itself
        "Do you think I'm allergic to nuts?", "Am I allergic to nuts, do you know?", "Would you say I live in London?",
        "I live in Leeds, right?", "I'm allergic to nuts, aren't I?", "I'm allergic to nuts, is that true?", "I live in Leeds, or is it London?",
        "You think I'm allergic to nuts, do you?", "So I live in Leeds?", "Do you know that I live in Leeds or not?", "Is it true that I'm vegan?",
        "Does it say that I'm allergic to nuts?", "Have I told you that I live in Leeds?", "You should know that I live in Leeds, right?",
        "Are you saying I live in Leeds, and why?", "I'm not sure, am I allergic to nuts?", "Could it be that I'm vegan, or is it my son?",
        # conditions and suppositions
        "If I'm allergic to nuts, can I eat this?", "Can I eat this if I'm vegan?", "When I'm 65, can I retire?", "Even if I'm vegan, can I eat this?",
        "Suppose I live in Leeds, what would I pay?", "Let's say I'm allergic to nuts, what can I eat?", "What if I'm vegan, is it safe?",
        "Whether I'm vegan or not, can I eat this?", "Once I live in Leeds, can I vote?", "Should I say I live in Leeds?",
        # no reasons
        "Is it because I'm allergic to nuts?", "Am I ill because I have asthma?", "Is he as tall as I am?", "Do you like it as long as I live in Leeds?",
        # not to be kept in mind
        "Can you check whether I live in Leeds?", "Do you remember where I live?", "Remember when I lived in Leeds?", "Can you remember what my name is?",
        "Can you make sure that I'm vegan?", "Please tell me if I'm vegan.", "Please don't assume I'm vegan.", "Forget that I live in Leeds.",
        "You can forget that I'm vegan.", "You said I live in Leeds.", "You don't know that I live in Leeds.", "I don't know that Anna works at Google.",
        # taken back by what follows
        "I'm allergic to nuts, I don't think.", "I live in Leeds, he doesn't believe.", "I live in Leeds, I doubt it.",
        "As long as I live in Leeds, I am happy.", "She asked \"I live in Leeds, is it far?\"",
    ],
)  # fmt: skip
def test_what_is_asked_supposed_or_doubted_is_not_told(extractor: RulesExtractor, text: str) -> None:
    assert read(extractor, text) == []


def test_an_assistant_that_asks_tells_nothing(extractor: RulesExtractor) -> None:
    assert read(extractor, "Mia is allergic to nuts, can she have this?", role="assistant") == []


def test_what_is_told_keeps_its_place() -> None:
    text = "Hello. Is pesto okay given that I'm vegan? I live in Leeds, so can you help?"
    parts = list(told_apart(split_sentences(text)))
    assert [p.sentence.text for p in parts if not p.asked] == ["Hello.", "I'm vegan", "I live in Leeds"]
    assert all(text[p.sentence.start : p.sentence.end] == p.sentence.text for p in parts)


@pytest.mark.parametrize(
    "piece",
    ["so can ", "as ", ", and so but ", "please ", "my a ", ", ", "Ab, ", "or is ", "given that I'm "],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    sentences = split_sentences("I " + piece * (20_000 // len(piece)) + "?")
    began = time.process_time()
    assert list(told_apart(sentences))
    assert time.process_time() - began < 5.0
