"""What others say or think of the speaker is no fact; what the speaker says to others, and what an expert tells the speaker, is."""

from __future__ import annotations

import pytest
from extraction_cases import find_times, read

from lamina.language.attributed import denial, is_attributed
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


@pytest.mark.parametrize(
    "text",
    [
        "Tom told everyone I'm pregnant.",
        "Tom told everyone I'm pregnant. I'm not.",
        "My aunt tells people I live in Berlin.",
        "Mum told the neighbours I'm a doctor.",
        "Everyone thinks I'm pregnant.",
        "everyone thinks im pregnant",
        "According to Leonie I'm an alcoholic.",
        "I'm an alcoholic, according to Leonie.",
        "Jonas claimed I owe him 50 euros.",
        "Tom keeps telling me I have to lose weight.",
        "He keeps saying I need to get a haircut.",
        "I told them I'm a nurse, which is a lie.",
        "I told them I'm a nurse. That's a lie.",
        "I told her I live in Berlin, but that's not true.",
        "I'm diabetic, Tom says.",
        "I live in Leeds, my aunt claims.",
        "Tom is convinced I'm pregnant.",
        "Rumour has it I'm pregnant.",
        "Tom's sure I live in Berlin",
        "My boss said I was hired and I need to move to Leeds.",
        "Tom says I'm vegan and I hate mushrooms.",
        "Tom tells people Anna is my wife.",
        "My colleagues have been saying that I'm pregnant.",
        "There's a rumour that I'm pregnant.",
        "In Tom's opinion I'm an alcoholic.",
        "The doctor told me I'm diabetic. I'm not.",
        "My ex told my boss that I live in Leeds. It isn't true!",
        "My sister told me she's pregnant. That's a lie.",
        "My mum is telling everybody that I work at Google.",
        "My friends at work all believe I'm vegan.",
        "I was told by Tom that I'm allergic to nuts.",
        "My gran still thinks I work at Google.",
        "Tom said that I was allergic to nuts.",
        "Everybody assumes I like football.",
        "My ex swears I hate dogs.",
        "My aunt, who thinks I'm pregnant, called.",
        "Tom tells people I'm his boss.",
    ],
)
def test_what_others_say_of_the_speaker_is_no_fact(extractor: RulesExtractor, text: str) -> None:
    assert read(extractor, text) == []


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I told my boss I'm pregnant.", ["Alice status pregnant"]),
        ("I told everyone I'm vegan.", ["Alice diet vegan"]),
        ("My sister told me she's pregnant.", ["Alice's sister status pregnant"]),
        ("Told my boss I'm pregnant.", ["Alice status pregnant"]),
        ("I think I'm allergic to nuts.", ["Alice maybe allergic_to nuts"]),
        ("Anna forgot that I'm vegan.", ["Alice diet vegan"]),
        ("Tom knows I live in Leeds.", ["Alice lives_in Leeds"]),
        ("Tom says I'm lazy, but I work at Google.", ["Alice works_at Google"]),
        ("Tom says I'm lazy. I live in Leeds.", ["Alice lives_in Leeds"]),
        ("I live in Leeds, so Tom thinks it's far.", ["Alice lives_in Leeds"]),
        ("My mum says hi and I live in Leeds now.", ["Alice lives_in Leeds"]),
        ("My wife and I told them we live in Leeds.", ["Alice lives_in Leeds"]),
        ("I want to tell you I'm vegan.", ["Alice diet vegan"]),
        ("I have to tell Tom I'm pregnant.", ["Alice needs_to tell Tom", "Alice status pregnant"]),
        ("The test says I'm pregnant.", ["Alice status pregnant"]),
        ("I said I'm vegan.", ["Alice diet vegan"]),
        ("I'm pregnant, I told you.", ["Alice status pregnant"]),
        ("I told my boss I'm pregnant. I'm not happy about it.", ["Alice status pregnant"]),
        ("I'm vegan, and Tom thinks that's silly.", ["Alice diet vegan"]),
        ("Tom thinks Anna lives in Leeds.", ["Anna maybe lives_in Leeds"]),
        ("My brother told me Anna works at Google.", ["Anna works_at Google"]),
        ("Dr Weller said I'm allergic to penicillin.", ["Alice allergic_to penicillin"]),
        ("I asked Tom to tell them I'm vegan.", ["Alice diet vegan"]),
        ("My sister says her husband is allergic to nuts.", ["Alice's sister's husband allergic_to nuts"]),
        ("I live in Leeds. That's not true of Tom.", ["Alice lives_in Leeds"]),
        (
            "My mum, who lives in Leeds, told me she likes tea.",
            ["Alice's mum lives_in Leeds", "Alice's mum likes tea"],
        ),
        ("My boss thinks highly of me and I work at Google.", ["Alice works_at Google"]),
        ("Tom told me about the job, so I work at Google now.", ["Alice works_at Google"]),
        ("I've told my boss I'm pregnant.", ["Alice status pregnant"]),
        ("I once jokingly told them I live in Leeds.", ["Alice lives_in Leeds"]),
        ("Yesterday I told Tom that I'm vegan.", ["Alice diet vegan"]),
        ("I'm telling everyone I'm vegan.", ["Alice diet vegan"]),
        ("We've always said we live in Leeds.", ["Alice lives_in Leeds"]),
        ("Then I said I'm vegan.", ["Alice diet vegan"]),
        ("I'd already told Tom I live in Leeds.", ["Alice lives_in Leeds"]),
        ("I called and said I'm vegan.", ["Alice diet vegan"]),
        ("My wife thinks we should move, I work at Google.", ["Alice works_at Google"]),
    ],
)
def test_the_speakers_own_word_stays(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("my aunt says ", " a nurse"), ("Tom told the whole office that ", " 30"), ("the rumour is that ", " ill"), ("she is sure ", " 40"),
        ("", " 40, Tom thinks"), ("according to my ex ", " lazy"), ("", " lazy, according to my ex"), ("to my mum's mind ", " a child"),
    ],
)  # fmt: skip
def test_words_put_a_clause_down_to_others(before: str, after: str) -> None:
    assert is_attributed(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", " a nurse"), ("I told my aunt ", " a nurse"), ("my doctor says ", " diabetic"), ("my opinion is that ", " right"),
        ("I'm sure ", " 40"), ("according to my payslip ", " on level 3"), ("Tom called but ", " 40"), ("", " 40, I think"), ("in my mum's house ", " at home"),
    ],
)  # fmt: skip
def test_words_leave_a_clause_to_the_speaker(before: str, after: str) -> None:
    assert not is_attributed(before, after)


@pytest.mark.parametrize(
    ("after", "following", "which"),
    [
        (", which is a lie.", "", "all"), (", but it's not true.", "", "all"), (".", "That's complete nonsense!", "all"), (".", "Not true.", "all"),
        (".", "He is wrong.", "all"), (".", "But I'm really not.", "own"), (".", "I don't.", "own"), (", though I'm not.", "", "own"),
        (".", "I'm not happy.", None), (".", "I don't like it.", None), (".", "That's not true of her.", None), (", which is fun.", "", None), (".", "", None),
        (".", "It was wrong to go there.", None),
    ],
)  # fmt: skip
def test_what_denies_a_claim_right_behind_it(after: str, following: str, which: str | None) -> None:
    assert denial(after, following) == which


@pytest.mark.parametrize(("text", "claims"), [
    ("Everyone thinks my name is Bob", []), ("Tom says my name is Bob", []), ("I told them my name is Ali", ["Alice name_is Ali"]),
])  # fmt: skip
def test_without_a_parser_too(text: str, claims: list[str]) -> None:
    assert read(RulesExtractor(find_times, use_parser=False), text) == claims
