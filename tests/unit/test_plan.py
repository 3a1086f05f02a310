"""What a recall looks for, and when."""

from __future__ import annotations

import pytest

from given import ALICE, NOON, TENANT
from lamina.kernel.operations import Principal
from lamina.kernel.time import Axes, Interval, instant
from lamina.recall.plan import Plan, as_read, plan_recall
from lamina.types.recall import Recall


def planned(question: str) -> Plan:
    asked = Recall.model_validate({"scope": ALICE, "query": question})
    return plan_recall(asked, Principal(tenant_id=TENANT, actor="user:alice", channel="http"), [ALICE], NOON)


def test_the_times_of_a_recall_mean_what_they_mean_in_a_list() -> None:
    """``recorded_during`` reads from its own end, so that what was replaced since is seen."""
    between = {"recorded_during": ["2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"]}
    request = Recall.model_validate({"scope": ALICE, "query": "where", "temporal": between})
    plan = plan_recall(
        request, Principal(tenant_id=TENANT, actor="user:alice", channel="http"), [ALICE], NOON
    )
    start, end = instant("2026-05-01T00:00:00Z"), instant("2026-05-02T00:00:00Z")
    assert plan.axes == Axes.asked(NOON, recorded_during=Interval(start, end))
    assert plan.axes.sees_recorded(start + 5, NOON - 1)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Where does Sam live?", {"sam"}),
        ("Did Ana Silva call?", {"ana silva", "silva"}),
        ("where does ana live", {"ana"}),
    ],
)
def test_names_are_found_behind_other_words(question: str, names: set[str]) -> None:
    assert names <= planned(question).names


@pytest.mark.parametrize(
    ("question", "all_of_it"),
    [
        ("What do you know about me?", True),
        ("Who am I?", True),
        ("Tell me about Sam", True),
        ("What do you remember of Ana Silva?", True),
        ("Where does Sam live?", False),
        ("What am I allergic to?", False),
    ],
)
def test_a_question_may_ask_for_all_that_is_known_of_somebody(question: str, all_of_it: bool) -> None:
    assert planned(question).asks_for_all is all_of_it


def test_a_question_without_apostrophes_is_the_same_question() -> None:
    def plan(question: str) -> tuple[str, tuple[str, ...], str | None]:
        request = Recall.model_validate({"scope": ALICE, "query": question})
        caller = Principal(tenant_id=TENANT, actor="user:alice", channel="http")
        found = plan_recall(request, caller, [ALICE], NOON)
        return found.kind, found.terms, found.asker

    assert plan("wheres the passport that ive ordered") == plan("where's the passport that I've ordered")
    assert plan("what was my id") == plan("what was my ID")


@pytest.mark.parametrize(
    ("temporal", "start", "end"),
    [
        (
            {"natural": "yesterday", "reference_date": "2026-06-30T00:30:00+05:30"},
            "2026-06-28T18:30:00Z",
            "2026-06-29T18:30:00Z",
        ),
        (
            {"natural": "yesterday", "reference_date": "2026-06-30T00:30:00Z"},
            "2026-06-29T00:00:00Z",
            "2026-06-30T00:00:00Z",
        ),
        (
            {"natural": "today", "reference_date": "2026-11-22T20:00:00-08:00"},
            "2026-11-22T08:00:00Z",
            "2026-11-23T08:00:00Z",
        ),
        (
            {"valid_during": ["2026-06-29", "2026-06-30"], "reference_date": "2026-06-30T00:30:00+05:30"},
            "2026-06-28T18:30:00Z",
            "2026-06-29T18:30:00Z",
        ),
        (
            {"valid_during": ["2026-06-29", "2026-06-30"], "reference_date": "2026-06-30"},
            "2026-06-29T00:00:00Z",
            "2026-06-30T00:00:00Z",
        ),
        (
            {
                "valid_during": ["2026-06-29T00:00:00Z", "2026-06-30"],
                "reference_date": "2026-06-30T00:30:00-03:30",
            },
            "2026-06-29T00:00:00Z",
            "2026-06-30T03:30:00Z",
        ),
        ({"valid_during": ["2026-06-29", "2026-06-30"]}, "2026-06-29T00:00:00Z", "2026-06-30T00:00:00Z"),
    ],
)
def test_days_of_a_question_are_those_of_its_reference(
    temporal: dict[str, object], start: str, end: str
) -> None:
    asked = Recall.model_validate({"scope": ALICE, "query": "where", "temporal": temporal})
    plan = plan_recall(asked, Principal(tenant_id=TENANT, actor="user:alice", channel="http"), [ALICE], NOON)
    assert plan.axes.valid_during == Interval(instant(start), instant(end))


def test_words_of_time_in_the_question_are_days_of_its_reference_too() -> None:
    temporal = {"reference_date": "2026-06-30T00:30:00+05:30"}
    asked = Recall.model_validate(
        {"scope": ALICE, "query": "Where was I yesterday?", "temporal": {**temporal, "as_of": "2026-07-01"}}
    )
    plan = plan_recall(
        asked,
        Principal(tenant_id=TENANT, actor="user:alice", channel="http"),
        [ALICE],
        instant("2026-08-01T00:00:00Z"),
    )
    assert plan.window == (instant("2026-06-28T18:30:00Z"), instant("2026-06-29T18:30:00Z"))
    assert plan.axes.seen_at == instant("2026-06-30T18:30:00Z")


@pytest.mark.parametrize(
    ("query", "read"),
    [("dont I like I\u2060DLI?", "don't I like IDLI?"), ("um", "um"), (":x:", ":x:"), (r"\ud83d", r"\ud83d")],
)
def test_a_question_is_read_as_it_would_be_written(query: str, read: str) -> None:
    assert as_read(query) == read
