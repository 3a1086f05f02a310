"""Moving: to a place, which becomes the home, or to something else, which does not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from extraction_cases import NOW, TODAY, find_times, say, short

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.places import is_place_name, is_tool_name
from lamina.pipeline.extract.syntax import Parser
from lamina.pipeline.extract.values import Triple

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def read(extractor: RulesExtractor, text: str) -> list[Triple]:
    return list(extractor.extract([say(text)])[0].triples)


@pytest.mark.parametrize(
    ("text", "who", "where"),
    [
        ("I moved to Leeds.", "Alice", "Leeds"),
        ("We moved to Leeds.", "Alice", "Leeds"),
        ("we moved to Portishead last week", "Alice", "Portishead"),
        ("I moved back to Leeds.", "Alice", "Leeds"),
        ("I've moved up to Scotland.", "Alice", "Scotland"),
        ("I moved down to London in 2015.", "Alice", "London"),
        ("we moved house to Leeds", "Alice", "Leeds"),
        ("I moved to Bath.", "Alice", "Bath"),
        ("I moved to Reading.", "Alice", "Reading"),
        ("I moved to Hull.", "Alice", "Hull"),
        ("I moved to New York.", "Alice", "New York"),
        ("I moved to Zermatt.", "Alice", "Zermatt"),
        ("I moved to Crystal Palace.", "Alice", "Crystal Palace"),
        ("We moved to Lyon.", "Alice", "Lyon"),
        ("I relocated to Oslo.", "Alice", "Oslo"),
        ("I emigrated to Canada.", "Alice", "Canada"),
        ("moved to Leeds 📦", "Alice", "Leeds"),
        ("I moved to Leeds📦 yesterday", "Alice", "Leeds"),
        ("My sister Anna moved to York.", "Anna", "York"),
        ("our neighbours moved to Spain", "Alice's neighbours", "Spain"),
    ],
)
def test_who_moves_to_a_place_lives_there(extractor: RulesExtractor, text: str, who: str, where: str) -> None:
    found = [short(t) for t in read(extractor, text)]
    assert found[:2] == [f"{who} moved_to {where}", f"{who} lives_in {where}"]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("we moved to Postgres", ["Alice switched_to Postgres"]),
        ("We moved to Slack", ["Alice switched_to Slack"]),
        ("we moved over to Notion", ["Alice switched_to Notion"]),
        ("we moved from Jenkins to GitHub Actions last week", ["Alice switched_to GitHub Actions"]),
        ("We moved from Jira to Linear", ["Alice switched_to Linear"]),
        ("I moved to Spotify from Apple Music", ["Alice switched_to Spotify"]),
        ("I moved to iPhone", ["Alice switched_to iPhone"]),
        ("I use Foobar. We moved from Foobar to Berlin", ["Alice uses Foobar", "Alice switched_to Berlin"]),
        ("I moved to the backend team", ["Alice moved_to backend team"]),
        ("I moved to team Falcon", []),
        ("I moved to Google", ["Alice moved_to Google"]),
        ("I moved to a small village", ["Alice moved_to small village"]),
        ("I moved from my home country", ["Alice moved_from home country"]),
        ("I moved on to a more complex project", []),
        ("I moved my savings to Monzo", ["Alice move savings"]),
        ("We moved the meeting to Friday", []),
        ("We moved out of the flat", []),
        ("I didn't move to Leeds", ["Alice not moved_to Leeds"]),
        ("I could have moved to Leeds", []),
        ("I might move to Leeds", ["Alice maybe considers moving to Leeds"]),
        ("I left Berlin in 2015.", ["Alice left Berlin"]),
        ("I left Berlin yesterday.", ["Alice left Berlin"]),
        ("I left Google last week.", ["Alice left Google", "Alice not works_at Google"]),
    ],
)
def test_what_is_no_home_or_only_may_be_one(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert [short(t) for t in read(extractor, text)] == claims


@pytest.mark.parametrize(
    ("text", "event", "since"),
    [
        ("I moved out of Leeds", "Alice moved_from Leeds", NOW),
        ("I moved away from Leeds yesterday", "Alice moved_from Leeds", TODAY - timedelta(days=1)),
        ("I left Leeds last week", "Alice left Leeds", TODAY - timedelta(days=8)),
        ("I left Leeds for good", "Alice left Leeds", NOW),
    ],
)
def test_who_leaves_a_place_lives_there_no_more(
    extractor: RulesExtractor, text: str, event: str, since: object
) -> None:
    left, home = read(extractor, text)
    assert (short(left), short(home)) == (event, "Alice not lives_in Leeds")
    assert home.valid_from == since


def test_names_of_places_and_of_tools() -> None:
    assert all(map(is_place_name, ["Leeds", "leeds", "São Paulo", "New York", "The Netherlands"]))
    assert all(map(is_tool_name, ["Postgres", "GitHub Actions", "Python 3.13", "Google Docs", "c++"]))
    assert not any(map(is_tool_name, ["Leeds", "Crystal Palace", "Spring Hill", "Google", ""]))
    assert not any(map(is_place_name, ["Postgres", "Slack", ""]))
