"""Derived records are weighed by how much of the question they have, and by whom they are about."""

from __future__ import annotations

from given import NOON, fact
from lamina.kernel.records import ObjectValue, Subject
from lamina.recall.score import score_records

ANA = Subject("ent_ana", "Ana", "entity")
CALLUM = Subject("ent_callum", "Callum", "entity")


def order(*scored: object) -> list[str]:
    return [one.record.id for one in scored]  # type: ignore[attr-defined] # scored records


def test_what_has_more_of_the_question_stands_before_what_is_as_new_and_as_sure() -> None:
    name, job = fact("name", subject=ANA), fact("job", subject=ANA)
    scored = score_records([name, job], {name.id: 0.1, job.id: 0.9}, {}, NOON)
    assert order(*scored) == [job.id, name.id]
    assert scored[1].contributions["semantic"] == 0.04


def test_a_share_of_the_question_is_not_measured_by_the_best_of_the_layer() -> None:
    name = fact("name", subject=ANA)
    (scored,) = score_records([name], {name.id: 0.2}, {}, NOON)
    assert scored.contributions["semantic"] == 0.08


def test_what_is_told_of_another_than_the_question_names_counts_half() -> None:
    hers, his = fact("hers", subject=ANA), fact("his", subject=CALLUM)
    lexical, graph = {hers.id: 0.6, his.id: 0.6}, {his.id: 1.0}
    assert order(*score_records([hers, his], lexical, graph, NOON)) == [his.id, hers.id]
    named = score_records([hers, his], lexical, graph, NOON, {ANA.id})
    assert order(*named) == [hers.id, his.id]
    assert named[1].contributions["graph"] == 0.1


def test_who_is_the_object_is_told_of_too_and_with_nobody_named_all_count_alike() -> None:
    met = fact("met", subject=CALLUM, object=ObjectValue("entity", None, None, None, "ent_ana", "Ana"))
    other = fact("other", subject=CALLUM)
    graph = {met.id: 0.5, other.id: 0.6}
    assert order(*score_records([met, other], {}, graph, NOON, {ANA.id})) == [met.id, other.id]
    assert order(*score_records([met, other], {}, graph, NOON, {"ent_nobody"})) == [other.id, met.id]


def test_of_what_says_nothing_of_what_is_asked_newness_importance_and_sureness_count_half() -> None:
    name, job = fact("name", subject=ANA), fact("job", subject=ANA)
    lexical = {name.id: 0.3, job.id: 0.2}
    assert order(*score_records([name, job], lexical, {}, NOON)) == [name.id, job.id]
    scored = score_records([name, job], lexical, {}, NOON, apart={name.id})
    assert order(*scored) == [job.id, name.id]
    assert scored[1].contributions["semantic"] == 0.12
    for part in ("recency", "importance", "confidence"):
        half = scored[0].contributions[part] / 2
        assert abs(scored[1].contributions[part] - half) < 1e-3
