"""Allergies, conditions and foods that somebody cannot have: the whole list, for whomever it is told, and nothing else."""

from __future__ import annotations

import pytest
from extraction_cases import find_times, say, short

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def read(extractor: RulesExtractor, text: str) -> list[str]:
    return [short(triple) for triple in extractor.extract([say(text)])[0].triples]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        # nouns that the tagger takes for verbs
        ("Ana is allergic to penicillin and shellfish", ["Ana allergic_to penicillin", "Ana allergic_to shellfish"]),
        ("My husband is allergic to shellfish and penicillin", ["Alice's husband allergic_to shellfish", "Alice's husband allergic_to penicillin"]),
        ("i'm allergic to shellfish", ["Alice allergic_to shellfish"]),
        ("I'm allergic to nuts, shellfish and penicillin.", ["Alice allergic_to nuts", "Alice allergic_to shellfish", "Alice allergic_to penicillin"]),
        ("I can't eat nuts or shellfish.", ["Alice not eats nuts", "Alice not eats shellfish"]),
        ("Leo can't eat gluten.", ["Leo not eats gluten"]),
        ("My sister is gluten intolerant.", ["Alice's sister allergic_to gluten"]),
        # an allergy as a thing that one has
        ("I have a nut allergy.", ["Alice allergic_to nut"]),
        ("Leo has a severe peanut allergy.", ["Leo allergic_to peanut"]),
        ("Leo has an allergy to cats and dogs.", ["Leo allergic_to cats", "Leo allergic_to dogs"]),
        ("Ana has a dairy allergy and asthma.", ["Ana allergic_to dairy", "Ana has_condition asthma"]),
        # what one can't have
        ("Maisie can't have dairy.", ["Maisie not eats dairy"]),
        ("Maisie can't have dairy or eggs", ["Maisie not eats dairy", "Maisie not eats eggs"]),
        ("I can't have milk.", ["Alice not drinks milk"]),
        ("My son can't have peanuts.", ["Alice's son not eats peanuts"]),
        ("I can't take aspirin.", ["Alice avoids aspirin"]),
        ("Leo can't tolerate lactose.", ["Leo not eats lactose"]),
        # conditions
        ("My dad is diabetic.", ["Alice's dad has_condition diabetes"]),
        ("I have asthma.", ["Alice has_condition asthma"]),
        ("My son has celiac disease.", ["Alice's son has_condition celiac disease"]),
        ("I have high blood pressure.", ["Alice has_condition high blood pressure"]),
        # whoever it is told of, and not what is denied
        ("Ana and Leo are allergic to cats.", ["Ana allergic_to cats", "Leo allergic_to cats"]),
        ("My mum and I are allergic to latex.", ["Alice allergic_to latex", "Alice's mum allergic_to latex"]),
        ("Neither Ana nor I eat meat.", ["Alice not eats meat", "Ana not eats meat"]),
        ("I eat neither meat nor fish.", ["Alice not eats meat", "Alice not eats fish"]),
        ("Ana isn't allergic to nuts.", ["Ana not allergic_to nuts"]),
        ("I don't have asthma.", ["Alice not has_condition asthma"]),
        # as before
        ("I am lactose intolerant.", ["Alice allergic_to lactose"]),
        ("I've been allergic to peanuts since 2019.", ["Alice allergic_to peanuts"]),
        ("Tom is allergic to peanut butter.", ["Tom allergic_to peanut butter"]),
        ("I can't eat sesame.", ["Alice not eats sesame"]),
    ],
)  # fmt: skip
def test_health(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    "text",
    [
        "I can't have kids.", "I can't have another meeting.", "We can't have dogs in the flat.", "I can't take the bus.",
        "Maisie can't have another biscuit.", "I can't eat any more.", "I can't eat that.", "I can't have a coffee right now.",
        "Ana has no allergies.", "If I had asthma I would tell you.", "I wish I had no allergies.", "Do I have asthma?",
        "I could have milk.", "You can't have nuts.", "You have a nut allergy?", "My diabetes nurse called.",
    ],
)  # fmt: skip
def test_what_is_no_matter_of_health_is_none(extractor: RulesExtractor, text: str) -> None:
    about = ("allergic_to", "has_condition", "eats", "drinks", "avoids")
    assert [claim for claim in read(extractor, text) if any(f" {word} " in claim for word in about)] == []


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I'm allergic to cats and sneeze all day.", ["Alice allergic_to cats"]),
        ("I'm allergic to nuts and live in Rome.", ["Alice allergic_to nuts"]),
        ("I have an allergy appointment tomorrow.", ["Alice has_scheduled allergy appointment"]),
        ("I can't eat or sleep.", []),
        ("We eat out.", []),
    ],
)
def test_a_list_ends_where_another_clause_begins(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert read(extractor, text) == claims
