"""A part of an answer that could not be made is left out with a warning, and told to the log: by its class, not its message."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from capsules import NOW, body
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.graph.blocks import SUMMARY_CAPS
from lamina.continuity.graph.graphing import Graphing
from lamina.continuity.judgements.recovery_warnings import SUMMARY_FAILED, TRUST_FAILED
from lamina.continuity.judgements.salience import salience
from lamina.continuity.judgements.trimming import fitted
from libraries import OWNER, call_by, reach
from shelves import Continuity

SECRET = "Maya is ill"  # as an error may quote it
ABOUT = {"subject_kind": "thread", "subject_id": "launch"}


def broken(*given: Any, **named: Any) -> NoReturn:
    raise KeyError(SECRET)


def logged(caplog: pytest.LogCaptureFixture) -> str:
    assert "builtins.KeyError" in caplog.text
    assert SECRET not in caplog.text
    return caplog.text


class Broken:
    around = staticmethod(broken)


def test_a_graph_that_could_not_be_derived(caplog: pytest.LogCaptureFixture) -> None:
    graphing = Graphing(Broken())  # type: ignore[arg-type]
    block = graphing.block(Subject("thread", "launch"), call_by(OWNER), reach(), SUMMARY_CAPS)
    assert "graph_derivation_failed" in str(block)
    assert "the graph of a subject failed" in logged(caplog)


@pytest.mark.parametrize(
    ("part", "warning", "told"),
    [
        ("startup_summary", SUMMARY_FAILED, "a startup summary failed"),
        ("trust_signals", TRUST_FAILED, "trust signals failed"),
    ],
)
def test_a_part_of_a_read_that_could_not_be_made(
    part: str, warning: str, told: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    continuity = Continuity()
    continuity("upsert", **ABOUT, capsule=body())
    monkeypatch.setattr(f"lamina.continuity.handlers.reading.{part}", broken)
    answer = continuity("read", **ABOUT, view="startup")
    assert (answer["capsule"]["subject_id"], answer[part]) == ("launch", None)
    assert warning in answer["recovery_warnings"]
    assert told in logged(caplog)


def test_signals_of_a_capsule_in_a_budget_that_could_not_be_made(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    capsule = body() | {"verification_kind": "self_review"}
    ranked = salience(capsule, NOW)  # type: ignore[arg-type]
    monkeypatch.setattr("lamina.continuity.judgements.trimming.trust_signals", broken)
    found = fitted(capsule, 1000, NOW, "active", ranked, 0)  # type: ignore[arg-type]
    assert found is not None
    assert (found.capsule["trust_signals"], found.warnings) == (None, (TRUST_FAILED,))
    assert "trust signals failed" in logged(caplog)
