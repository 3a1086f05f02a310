"""Derived records are weighed by how much of the question they have, and by whom they are about."""

from __future__ import annotations

from typing import Any

from given import NOON, fact
from lamina.kernel.heads import RecordHead
from lamina.kernel.records import ObjectValue, Subject
from lamina.recall.weighed import WeighedRecord, weigh

ANA = Subject("ent_ana", "Ana", "entity")
CALLUM = Subject("ent_callum", "Callum", "entity")


def order(*scored: WeighedRecord) -> list[str]:
    return [one.head.id for one in scored]


def head(name: str, **said: Any) -> RecordHead:
    return RecordHead.of(fact(name, **said))


def test_what_has_more_of_the_question_stands_before_what_is_as_new_and_as_sure() -> None:
    name, job = head("name", subject=ANA), head("job", subject=ANA)
    scored = weigh([name, job], {name.id: 0.1, job.id: 0.9}, {}, NOON)
    assert order(*scored) == [job.id, name.id]
    assert scored[1].contributions["semantic"] == 0.04


def test_a_share_of_the_question_is_not_measured_by_the_best_of_the_layer() -> None:
    name = head("name", subject=ANA)
    (scored,) = weigh([name], {name.id: 0.2}, {}, NOON)
    assert scored.contributions["semantic"] == 0.08


def test_what_is_told_of_another_than_the_question_names_counts_half() -> None:
    hers, his = head("hers", subject=ANA), head("his", subject=CALLUM)
    lexical, graph = {hers.id: 0.6, his.id: 0.6}, {his.id: 1.0}
    assert order(*weigh([hers, his], lexical, graph, NOON)) == [his.id, hers.id]
    named = weigh([hers, his], lexical, graph, NOON, {ANA.id})
    assert order(*named) == [hers.id, his.id]
    assert named[1].contributions["graph"] == 0.1


def test_who_is_the_object_is_told_of_too_and_with_nobody_named_all_count_alike() -> None:
    met = head("met", subject=CALLUM, object=ObjectValue("entity", None, None, None, "ent_ana", "Ana"))
    other = head("other", subject=CALLUM)
    graph = {met.id: 0.5, other.id: 0.6}
    assert order(*weigh([met, other], {}, graph, NOON, {ANA.id})) == [met.id, other.id]
    assert order(*weigh([met, other], {}, graph, NOON, {"ent_nobody"})) == [other.id, met.id]


def test_of_what_says_nothing_of_what_is_asked_newness_importance_and_sureness_count_half() -> None:
    name, job = head("name", subject=ANA), head("job", subject=ANA)
    lexical = {name.id: 0.3, job.id: 0.2}
    assert order(*weigh([name, job], lexical, {}, NOON)) == [name.id, job.id]
    scored = weigh([name, job], lexical, {}, NOON, apart={name.id})
    assert order(*scored) == [job.id, name.id]
    assert scored[1].contributions["semantic"] == 0.12
    for part in ("recency", "importance", "confidence"):
        half = scored[0].contributions[part] / 2
        assert abs(scored[1].contributions[part] - half) < 1e-3
