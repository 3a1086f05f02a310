"""Slips put right in words, recipients, days and months, and states of the past."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from extraction_cases import say, short

from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.meant import meant
from lamina.pipeline.extract.syntax import Parser
from lamina.pipeline.extract.values import Previous, Triple

pytestmark = pytest.mark.model

NINTH = datetime(2026, 11, 9, 8, 30, tzinfo=UTC)


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def triples(extractor: RulesExtractor, text: str, *before: str) -> list[Triple]:
    previous = tuple(Previous("Alice", each) for each in before)
    return list(extractor.extract([say(text, previous=previous, observed_at=NINTH)])[0].triples)


def read(extractor: RulesExtractor, text: str, *before: str) -> list[str]:
    return [short(triple) for triple in triples(extractor, text, *before)]


@pytest.mark.parametrize(
    ("before", "text", "claims"),
    [
        ("", "I live in Leeds. Sorry, I meant York.", ["Alice corrects lives_in York"]),
        ("", "I moved to Leeds. Oops, I meant York.", ["Alice corrects moved_to York", "Alice corrects lives_in York"]),
        ("", "I live in Leeds. Sorry, it's York.", ["Alice corrects lives_in York"]),
        ("", "I have two kids. Actually, make that three.", ["Alice corrects kid_count 3"]),
        ("I live in Leeds.", "Sorry, I meant York", ["Alice corrects lives_in York"]),
        ("I have two kids.", "make that three", ["Alice corrects kid_count 3"]),
        ("I weigh 70 kg.", "sorry, I meant 72", ["Alice corrects weight 72"]),
        ("I'm allergic to nuts.", "sorry, I meant shellfish", ["Alice corrects allergic_to shellfish", "Alice not allergic_to nuts"]),
        ("My name is Nora.", "Sorry, I meant Norah", ["Alice corrects name_is Norah"]),
        ("I'm a nurse.", "oops, I meant midwife", ["Alice corrects works_as midwife"]),
        ("Ana can't have dairy.", "I was wrong about Ana, it's eggs she can't have", ["Ana not corrects eats eggs", "Ana maybe eats dairy"]),
    ],
)  # fmt: skip
def test_what_was_meant_takes_the_place_of_what_was_said(
    extractor: RulesExtractor, before: str, text: str, claims: list[str]
) -> None:
    found = read(extractor, text, *([before] if before else []))
    assert sorted(found) == sorted(claims)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("I'm allergic to nuts.", "I meant well"),
        ("I'm allergic to nuts.", "I meant to call you"),
        ("I'm allergic to nuts.", "I meant it"),
        ("I'm allergic to nuts.", "sorry, I meant Tuesday"),
        ("I'm allergic to nuts.", "No, it's fine."),
        ("I live in Leeds.", "make it quick"),
        ("I live in Leeds.", "That's York."),
        ("I live in Leeds.", "Sorry, it's York."),
        ("I live in Leeds.", "I meant 3"),
        ("I work at Google and live in Leeds.", "Sorry, I meant York"),
        ("Hello there.", "I meant York"),
        ("What a day.", "I was wrong about Ana, it's eggs she can't have"),
    ],
)
def test_what_corrects_nothing(extractor: RulesExtractor, before: str, text: str) -> None:
    assert read(extractor, text, before) == []


def test_another_speakers_word_is_not_put_right(extractor: RulesExtractor) -> None:
    before = (Previous("Bob", "I live in Leeds."),)
    assert extractor.extract([say("Sorry, I meant York", previous=before)])[0].triples == ()


def test_what_stands_in_the_same_words_stays(extractor: RulesExtractor) -> None:
    assert read(extractor, "I live in Leeds. It's great.") == ["Alice lives_in Leeds"]
    assert read(extractor, "I live in Leeds. Actually it's lovely.") == ["Alice lives_in Leeds"]
    assert meant("It's York I love.") is None


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I bought Maisie a ride-on digger", ["Alice bought ride-on digger"]),
        ("I bought my mum a scarf", ["Alice bought scarf"]),
        ("I sold Marcus my old bike", ["Alice sold old bike", "Alice not owns bike"]),
        ("I ordered Callum a pizza", ["Alice ordered pizza"]),
        ("I lent Ana my drill.", ["Alice lend drill"]),
        ("I owe Luis 120 bucks.", ["Alice owe 120 bucks"]),
        ("I repainted my bedroom walls a lighter shade of gray.", ["Alice repaint bedroom walls"]),
        # one object, joined ones, and a day that stands behind it
        ("I bought milk and eggs.", ["Alice bought milk", "Alice bought eggs"]),
        ("I bought a scarf for my mum.", ["Alice bought scarf"]),
        ("I sold my bike to Marcus last week.", ["Alice sold bike", "Alice not owns bike"]),
        ("I bought a house last year.", ["Alice bought house"]),
        ("I met Anna yesterday.", ["Alice met Anna"]),
        ("I like Anna and Tom.", ["Alice likes Anna", "Alice likes Tom"]),
    ],
)
def test_who_gets_something_is_not_what_is_got(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("My birthday is 4 May", ["Alice birthday 4 May"]),
        ("My birthday is May 4.", ["Alice birthday May 4"]),
        ("The deadline is 30 November", []),
        ("The deadline is November 30.", []),
        ("the match moved to Sunday 13 December", []),
        ("The exam is 12 January.", []),
        ("My wedding is 3 June.", []),
        # amounts stay amounts
        ("Acme moved to 200 seats.", ["Acme seat_count 200"]),
        ("I have two kids.", ["Alice kid_count 2"]),
        ("The plan costs $30.", ["plan price 30"]),
        ("I'm 34.", ["Alice age 34"]),
        ("The team has 4 members.", ["team size 4"]),
        ("We have 12 employees in May.", ["Alice employee_count 12"]),
    ],
)
def test_days_are_not_amounts_of_months(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("I have a meeting on the 24th.", "2026-11-24 2026-11-25"),
        ("I have an interview on the 3rd.", "2026-12-03 2026-12-04"),
        ("I have a meeting on Friday.", "2026-11-13 2026-11-14"),
        ("I had a meeting on the 3rd.", "2026-11-03 2026-11-04"),
        ("I had a meeting on the 24th.", "2026-10-24 2026-10-25"),
    ],
)
def test_what_is_scheduled_is_to_come(extractor: RulesExtractor, text: str, days: str) -> None:
    (triple,) = triples(extractor, text)
    assert f"{triple.valid_from:%Y-%m-%d} {triple.valid_to:%Y-%m-%d}" == days


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("The garage was closed.", True),
        ("The garage was closed yesterday.", True),
        ("The site was blocked.", True),
        ("The deal was signed.", False),
        ("The project was cancelled.", False),
        ("The deal is signed.", False),
        ("The garage has been closed.", False),
        ("The flight was delayed.", True),
    ],
)
def test_a_passing_state_of_the_past_is_over(extractor: RulesExtractor, text: str, over: bool) -> None:
    (triple,) = triples(extractor, text)
    assert (triple.predicate, triple.valid_to is not None) == ("status", over)


@pytest.mark.parametrize(
    ("text", "claims", "taken_back"),
    [
        (
            "I stopped taking metformin. Sorry, I meant sertraline.",
            ["Alice not corrects takes_medication sertraline", "Alice corrects stopped taking sertraline"],
            ["sertraline_dose"],
        ),
        (
            "I take 500 mg of metformin twice a day. Sorry, I meant 1000 mg.",
            ["Alice corrects metformin_dose 1000 mg twice a day", "Alice takes_medication metformin"],
            [],
        ),
        (
            "I take 500 mg of metformin. Sorry, I meant sertraline.",
            ["Alice corrects sertraline_dose 500 mg", "Alice corrects takes_medication sertraline"],
            [],
        ),
        ("I take metformin. Sorry, I meant 1000 mg.", ["Alice takes_medication metformin"], []),
        ("I take metformin. Sorry, I meant sertraline.", ["Alice corrects takes_medication sertraline"], []),
    ],
)
def test_a_slip_about_a_medicine_keeps_doses_and_medicines_apart(
    extractor: RulesExtractor, text: str, claims: list[str], taken_back: list[str]
) -> None:
    (found,) = extractor.extract([say(text, observed_at=NINTH)])
    assert sorted(short(triple) for triple in found.triples) == sorted(claims)
    assert [each.predicate for each in found.taken_back] == taken_back


def test_many_slips_cost_one_look_at_the_turns_before() -> None:
    quick = RulesExtractor(find_times, use_parser=False)
    slips = "\n".join(["Sorry, I meant Leeds."] * 40)
    started = time.process_time()
    read(quick, slips, f"I live in York.\n{slips}", slips)
    assert time.process_time() - started < 2
