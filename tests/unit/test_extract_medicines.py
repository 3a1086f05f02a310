"""What somebody takes, how much, since when and no longer; what they were diagnosed with; and all else that is taken or on."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from extraction_cases import TODAY, find_times, say, short

from lamina.pipeline.extract.consumed import is_medicine
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser
from lamina.pipeline.extract.values import Triple

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def read(extractor: RulesExtractor, text: str, **more: object) -> list[Triple]:
    return list(extractor.extract([say(text, **more)])[0].triples)


TAKEN = [
    ("I take warfarin.", ["Alice takes_medication warfarin"]),
    ("I'm on warfarin and ramipril.", ["Alice takes_medication warfarin", "Alice takes_medication ramipril"]),
    ("My father takes 500 mg of metformin twice a day.",
     ["Alice's father takes_medication metformin", "Alice's father metformin_dose 500 mg twice a day"]),
    ("My mother has diabetes and takes metformin 500 mg twice a day.",
     ["Alice's mother has_condition diabetes", "Alice's mother takes_medication metformin", "Alice's mother metformin_dose 500 mg twice a day"]),
    ("Rolf takes ramipril 5 mg and metformin 500 mg twice a day.",
     ["Rolf takes_medication ramipril", "Rolf ramipril_dose 5 mg", "Rolf takes_medication metformin", "Rolf metformin_dose 500 mg twice a day"]),
    ("I take 500 mg metformin and 5 mg ramipril.",
     ["Alice takes_medication metformin", "Alice metformin_dose 500 mg", "Alice takes_medication ramipril", "Alice ramipril_dose 5 mg"]),
    ("I take 500 mg of metformin, 5 mg of ramipril and aspirin.",
     ["Alice takes_medication metformin", "Alice metformin_dose 500 mg", "Alice takes_medication ramipril", "Alice ramipril_dose 5 mg",
      "Alice takes_medication aspirin"]),
    ("I take aspirin 75 mg metformin.", ["Alice takes_medication aspirin", "Alice takes_medication metformin"]),
    ("I take aspirin and metformin 500 mg.", ["Alice takes_medication aspirin", "Alice takes_medication metformin", "Alice metformin_dose 500 mg"]),
    ("I take metformin, 500 mg twice a day.", ["Alice takes_medication metformin", "Alice metformin_dose 500 mg twice a day"]),
    ("I take 500 mg of metformin in the morning and 1000 mg at night.",
     ["Alice takes_medication metformin", "Alice metformin_dose 500 mg in the morning and 1000 mg at night"]),
    ("I take Xyzal 5 mg every evening.", ["Alice takes_medication xyzal", "Alice xyzal_dose 5 mg every evening"]),
    ("I take Paracetamol 500mg when needed.", ["Alice takes_medication paracetamol", "Alice paracetamol_dose 500mg when needed"]),
    ("I take vitamin D every day.", ["Alice takes_medication vitamin D", "Alice vitamin_d_dose every day"]),
    ("My dad is on blood pressure tablets.", ["Alice's dad takes_medication blood pressure tablets"]),
    ("I take two metformin tablets a day.", ["Alice takes_medication metformin"]),
    ("I'm taking ibuprofen for my back.", ["Alice takes_medication ibuprofen"]),
    ("My doctor put me on statins.", ["Alice takes_medication statins"]),
    ("My doctor prescribed me amoxicillin.", ["Alice takes_medication amoxicillin"]),
    ("Rolf has been prescribed ramipril 5 mg.", ["Rolf takes_medication ramipril", "Rolf ramipril_dose 5 mg"]),
    ("I doubled my metformin to 1000 mg.", ["Alice takes_medication metformin", "Alice metformin_dose 1000 mg"]),
    ("My metformin was increased to 1000 mg daily.", ["Alice takes_medication metformin", "Alice metformin_dose 1000 mg daily"]),
    # over
    ("I came off sertraline.", ["Alice not takes_medication sertraline"]),
    ("I'm off warfarin now.", ["Alice not takes_medication warfarin"]),
    ("I no longer take metformin.", ["Alice not takes_medication metformin"]),
    ("I stopped taking ibuprofen.", ["Alice not takes_medication ibuprofen", "Alice stopped taking ibuprofen"]),
    ("I switched from sertraline to escitalopram.", ["Alice not takes_medication sertraline", "Alice takes_medication escitalopram"]),
    ("My doctor switched me from sertraline to escitalopram.", ["Alice not takes_medication sertraline", "Alice takes_medication escitalopram"]),
    ("My doctor took me off warfarin.", ["Alice not takes_medication warfarin"]),
    ("My sister isn't on antidepressants.", ["Alice's sister not takes_medication antidepressants"]),
    # found by a doctor
    ("Rolf was diagnosed with diabetes.", ["Rolf has_condition diabetes"]),
    ("I've been diagnosed with type 2 diabetes.", ["Alice has_condition type 2 diabetes"]),
    ("My doctor diagnosed me with asthma.", ["Alice has_condition asthma"]),
    ("My mum has asthma and eczema.", ["Alice's mum has_condition asthma", "Alice's mum has_condition eczema"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "claims"), TAKEN, ids=[text for text, _ in TAKEN])
def test_what_is_taken(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert [short(t) for t in read(extractor, text)] == claims


@pytest.mark.parametrize(
    "text",
    [
        "I take the bus.", "I take sugar in my tea.", "I take care of my mother.", "she is on holiday", "I'm on the phone.", "I'm on a diet.",
        "I take Spanish lessons.", "I take the train in April.", "I'm on it.", "I'm on my way.", "We're on a break.", "I take photos of birds.",
        "I take after my mother.", "I take a nap every day.", "I'm taking a course.", "I take my medication in the morning.", "I switched to decaf.",
        "I take my pills.", "I came off the motorway.", "I got off the train.", "I put my coat on.", "I started a new job.", "I stopped the car.",
        "Should I take ibuprofen?", "I might take ibuprofen.", "If I took aspirin I'd bleed.", "I should take metformin.", "I can take aspirin.",
        "I took ibuprofen yesterday.", "I have to take amoxicillin for a week.", "Would you take aspirin?", "You take warfarin.",
        "The doctor started him on statins.", "They doubled his metformin to 1000 mg twice a day.", "The team is on warfarin duty.",
        "The build was diagnosed with errors.", "I wasn't diagnosed with asthma.", "I lowered the heating to 20 degrees.",
        "I increased my savings to 1000 euros.", "I raised my rent to 500 pounds.",
    ],
)  # fmt: skip
def test_what_is_no_medicine_or_not_taken(extractor: RulesExtractor, text: str) -> None:
    found = [t.predicate for t in read(extractor, text)]
    assert not [
        name for name in found if name in ("takes_medication", "has_condition") or name.endswith("_dose")
    ]


def test_what_was_taken_has_ended(extractor: RulesExtractor) -> None:
    for text in ("I used to take metformin.", "I was on metformin."):
        (triple,) = read(extractor, text)
        assert short(triple) == "Alice takes_medication metformin"
        assert triple.valid_to is not None


def test_a_medicine_is_taken_since_it_was_begun(extractor: RulesExtractor) -> None:
    begun = read(extractor, "I've been taking levothyroxine since 2019.")
    assert begun[0].valid_from == datetime(2019, 1, 1, tzinfo=UTC)
    assert read(extractor, "I started on ramipril last week.")[0].valid_from < TODAY  # type: ignore[operator]
    assert read(extractor, "Rolf was diagnosed with asthma in 2015.")[0].valid_from == datetime(
        2015, 1, 1, tzinfo=UTC
    )


def test_an_assistant_ends_no_dose(extractor: RulesExtractor) -> None:
    (said,) = extractor.extract([say("Rolf came off metformin.", role="assistant")])
    assert said.taken_back == ()


@pytest.mark.parametrize(
    "word", ["atorvastatin", "ramipril", "omeprazole", "amoxicillin", "levothyroxine", "insulin"]
)
def test_medicines_are_known(word: str) -> None:
    assert is_medicine(word)


@pytest.mark.parametrize(
    "word",
    [
        "bus",
        "april",
        "sugar",
        "care",
        "holiday",
        "phone",
        "diet",
        "train",
        "coffee",
        "spartan",
        "machine",
        "photograph",
    ],
)
def test_other_words_are_no_medicines(word: str) -> None:
    assert not is_medicine(word)


def test_a_long_list_of_doses_takes_linear_time(extractor: RulesExtractor) -> None:
    extractor.extract([say("I take aspirin.")])
    began = time.process_time()
    extractor.extract([say("I take " + "500 mg of aspirin twice a day and " * 60)])
    assert time.process_time() - began < 5.0
