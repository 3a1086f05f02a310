"""What is said of projects and firms: tools in lists, roles, units, and values that changed."""

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
        ("We use Django 4.2 and Celery.", ["Alice uses Django 4.2", "Alice uses Celery"]),
        ("We use ruff and black, line length 100.", ["Alice uses ruff", "Alice uses black"]),
        ("Kestrel Foods wants SSO and an on-prem option.", ["Kestrel Foods wants SSO", "Kestrel Foods wants on-prem option"]),
        ("In the novel I'm writing, the heroine is a lawyer and lives in Oslo.", []),
        ("In my story, Tom lives in Oslo.", []),
        # as before
        ("We use Kafka 3.7 and Flink.", ["Alice uses Kafka 3.7", "Alice uses Flink"]),
        ("We use Windows 11.", ["Alice uses Windows 11"]),
        ("We use Python, and it's great.", ["Alice uses Python"]),
        ("We don't use Kafka anymore.", ["Alice not uses Kafka"]),
        ("I no longer live in Kiel.", ["Alice not lives_in Kiel"]),
        ("Ana works at Bank of America.", ["Ana works_at Bank of America"]),
        ("Kestrel's budget is 75,000 euros.", ["Kestrel budget 75,000 euros"]),
        ("I upgraded to 500 Mbps.", ["Alice upgrade_to 500 Mbps"]),
        ("I enjoy in-depth articles.", ["Alice likes in-depth articles"]),
        ("In the office, Tom works as a chef.", ["Tom works_in office", "Tom works_as chef"]),
    ],
)  # fmt: skip
def test_projects(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert read(extractor, text) == claims


@pytest.mark.parametrize(
    "text", ["The latency is 600 ms.", "The timeout is 30 s.", "The build takes 14 mins."]
)
def test_units_are_no_things_to_count(extractor: RulesExtractor, text: str) -> None:
    found = extractor.extract([say(text)])[0].triples
    assert not [each for each in found if each.predicate.endswith("_count")]


@pytest.mark.parametrize(
    ("text", "dropped"),
    [
        ("We might drop Kafka.", []),
        ("We didn't drop Kafka.", []),
        ("We dropped Max at the station.", []),
        ("We moved from Leeds to York.", []),
        ("We want to drop Kafka.", []),
    ],
)
def test_what_is_in_use_no_more(extractor: RulesExtractor, text: str, dropped: list[str]) -> None:
    found = extractor.extract([say(text)])[0].taken_back
    assert [
        each.object.name for each in found if each.predicate == "uses" and each.object is not None
    ] == dropped
