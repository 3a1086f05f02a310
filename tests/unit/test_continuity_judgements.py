"""Freshness, trust, salience, trimming, the startup view, comparing, revalidating, and the plans."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules import BEFORE, NOW, STANCE, body, later, rationale, signal, stored
from lamina.continuity.capsule import requests
from lamina.continuity.capsule.shape import Signal
from lamina.continuity.capsule.subjects import Subject, archive_name
from lamina.continuity.capsule.wording import in_words
from lamina.continuity.changes.comparing import candidate_of, changed_fields, compared
from lamina.continuity.changes.revalidating import revalidated
from lamina.continuity.judgements.freshness import freshness
from lamina.continuity.judgements.planning import is_stale, refresh_candidate, refresh_order
from lamina.continuity.judgements.salience import salience, salience_metadata
from lamina.continuity.judgements.startup import startup_summary
from lamina.continuity.judgements.trimming import fitted, rendered, shares, tokens, trimmed
from lamina.continuity.judgements.trust import aggregate, compact, trust_signals
from lamina.continuity.shelf.cold import packed, stub_in, stub_text, unpacked
from lamina.continuity.shelf.envelopes import archive_bytes, archived, fallback, fallback_bytes
from lamina.errors import Conflict, Malformed
from lamina.kernel.time import SECOND_US, instant, rfc3339
from tables import every_row

DAY = 86_400
AT = instant(BEFORE)
SUBJECT = Subject("thread", "launch")


def _after(seconds: float) -> int:
    return AT + int(seconds * SECOND_US)


PHASES: list[tuple[dict[str, Any], float, str, str | None]] = [
    ({"freshness_class": "persistent"}, 10_000 * DAY, "fresh", None),
    ({"freshness_class": "durable"}, 180 * DAY, "fresh", None),
    ({"freshness_class": "durable"}, 180 * DAY + 0.001, "stale_soft", "continuity_stale_soft"),
    ({"freshness_class": "situational"}, 30 * DAY, "fresh", None),
    ({}, 30 * DAY, "fresh", None),
    ({}, 30 * DAY + 1, "stale_soft", "continuity_stale_soft"),
    ({}, 45 * DAY, "stale_soft", "continuity_stale_soft"),
    ({}, 45 * DAY + 1, "stale_hard", "continuity_stale_hard"),
    ({}, 60 * DAY, "stale_hard", "continuity_stale_hard"),
    ({}, 60 * DAY + 1, "expired_by_age", "continuity_expired"),
    ({"freshness_class": "ephemeral"}, 3 * DAY, "fresh", None),
    ({"freshness_class": "ephemeral"}, 6 * DAY + 1, "expired_by_age", "continuity_expired"),
    (
        {"freshness_class": "persistent", "stale_after_seconds": 300},
        301,
        "stale_soft",
        "continuity_stale_soft",
    ),
    ({"expires_at": later(10)}, 10, "fresh", None),
    ({"expires_at": later(10)}, 10.001, "expired", "continuity_expired"),
]


@every_row(("own", "seconds", "phase", "warning"), PHASES)
def test_the_phase_follows_the_time_since_verification(
    own: Any, seconds: float, phase: str, warning: str | None
) -> None:
    found = freshness(stored(freshness=own), _after(seconds))
    assert (found.phase, found.warning) == (phase, warning)


@pytest.mark.parametrize("verified_at", ["soon", "1970-01-01T00:00:00Z"])
def test_a_capsule_that_cannot_say_when_it_was_verified_is_expired(verified_at: str) -> None:
    capsule = stored(freshness={"freshness_class": "persistent"}) | {"verified_at": verified_at}
    assert freshness(capsule, NOW).phase == "expired"
    assert trust_signals(capsule, NOW, "active")["recency"]["verified_age_seconds"] is None


def test_the_trust_signals_say_four_things() -> None:
    assert trust_signals(stored(), NOW, "active") == {
        "recency": {
            "updated_age_seconds": 3600,
            "verified_age_seconds": 3600,
            "phase": "fresh",
            "freshness_class": None,
            "stale_threshold_seconds": 2_592_000,
        },
        "completeness": {
            "orientation_adequate": True,
            "empty_orientation_fields": ["drift_signals"],
            "trimmed": False,
            "trimmed_fields": [],
        },
        "integrity": {
            "source_state": "active",
            "health_status": "healthy",
            "health_reasons": [],
            "verification_status": "unverified",
        },
        "scope_match": {"exact": True},
    }


def test_a_future_time_is_of_age_zero() -> None:
    assert trust_signals(stored(), AT - 5 * SECOND_US, "active")["recency"]["updated_age_seconds"] == 0


def test_signals_of_several_capsules_come_together_full_and_compact() -> None:
    full = trust_signals(stored(), NOW, "active")
    weak = stored(continuity={"open_loops": []}) | {
        "capsule_health": {"status": "degraded", "reasons": ["r"]}
    }
    small = compact(trust_signals(weak, _after(50 * DAY), "fallback"))
    assert small == {
        "compact": True,
        "recency": {"phase": "stale_hard"},
        "completeness": {"orientation_adequate": False, "trimmed": False},
        "integrity": {"source_state": "fallback", "health_status": "degraded"},
        "scope_match": {"exact": False},
    }
    assert aggregate([full, small, None], requested=4, returned=3) == {
        "recency": {
            "worst_phase": "stale_hard",
            "oldest_updated_age_seconds": 3600,
            "oldest_verified_age_seconds": 3600,
        },
        "completeness": {"all_adequate": False, "adequate_count": 1, "total_count": 2, "any_trimmed": False},
        "integrity": {
            "worst_health": "degraded",
            "any_fallback": True,
            "any_degraded": True,
            "any_conflicted": False,
        },
        "scope_match": {
            "selectors_requested": 4,
            "selectors_returned": 3,
            "selectors_omitted": 1,
            "all_returned": False,
        },
    }


BETTER = stored(thread_descriptor={"label": "L"})
WORSE: list[tuple[str, dict[str, Any]]] = [
    ("lifecycle", {"thread_descriptor": {"label": "L", "lifecycle": "suspended"}}),
    ("no lifecycle", {"thread_descriptor": {}}),
    ("health", {"capsule_health": {"status": "conflicted"}}),
    ("freshness", {"verified_at": rfc3339(NOW - 31 * DAY * SECOND_US)}),
    ("resume", {"continuity": BETTER["continuity"] | {"open_loops": []}}),
    ("verification", {}),
    ("age", {"verification_kind": "system_check", "updated_at": rfc3339(NOW - 7200 * SECOND_US)}),
    ("kind", {"verification_kind": "system_check", "subject_kind": "user"}),
    ("id", {"verification_kind": "system_check", "subject_id": "z"}),
]


@pytest.mark.parametrize("more", [case[1] for case in WORSE], ids=[case[0] for case in WORSE])
def test_one_signal_after_the_other_decides_what_is_salient(more: dict[str, Any]) -> None:
    best = BETTER | {"verification_kind": "system_check"}
    assert salience(best, NOW).key < salience(BETTER | more, NOW).key


def test_the_salience_block_shows_natural_values() -> None:
    ranked = salience(BETTER | {"verification_kind": "user_confirmation"}, NOW)
    assert ranked.block(0) == {
        "rank": 0,
        "sort_key": {
            "lifecycle_rank": 0,
            "health_rank": 0,
            "freshness_rank": 0,
            "resume_adequate": True,
            "verification_rank": 3,
            "updated_age_seconds": 3600,
        },
    }
    assert salience_metadata([]) is None
    assert salience_metadata([ranked, salience(stored(), NOW)]) == {
        "sort_applied": True,
        "capsule_count": 2,
        "best_lifecycle_rank": 0,
        "worst_health_rank": 0,
        "worst_freshness_rank": 0,
        "all_resume_adequate": True,
    }


FULL = stored(
    kind="user",
    canonical_sources=["memory/a"],
    metadata={"a": 1},
    freshness={"freshness_class": "durable"},
    attention_policy={"early_load": ["memory/b"], "presence_bias_overrides": ["b" * 40]},
    stable_preferences=[{"tag": "tz", "content": "UTC"}],
    continuity={
        "top_priorities": [f"{n}" + "p" * 80 for n in range(8)],
        "drift_signals": ["d" * 100],
        "working_hypotheses": ["w" * 50],
        "long_horizon_commitments": ["l" * 50],
        "session_trajectory": ["s"],
        "trailing_notes": ["t" * 50],
        "curiosity_queue": ["c" * 50],
        "negative_decisions": [{"decision": "d", "rationale": "r"}],
        "rationale_entries": [rationale()],
        "relationship_model": {"trust_level": "high", "preferred_style": ["x"], "sensitivity_notes": ["y"]},
        "retrieval_hints": {"must_include": ["m" * 50], "avoid": ["a"], "load_next": ["memory/c"]},
    },
)
WHOLE = [
    "metadata",
    "canonical_sources",
    "freshness",
    "attention_policy.presence_bias_overrides",
    "continuity.relationship_model.sensitivity_notes",
    "continuity.relationship_model.preferred_style",
    "continuity.retrieval_hints.avoid",
    "continuity.retrieval_hints.load_next",
    "continuity.trailing_notes",
    "continuity.curiosity_queue",
    "continuity.rationale_entries",
    "continuity.negative_decisions",
    "continuity.working_hypotheses",
    "stable_preferences",
]
GRADUAL = [
    "continuity.retrieval_hints.must_include",
    "continuity.relationship_model",
    "continuity.long_horizon_commitments",
    "continuity.stance_summary",
    "continuity.drift_signals",
    "continuity.open_loops",
    "continuity.active_constraints",
    "continuity.active_concerns",
    "continuity.top_priorities",
]


def test_an_estimate_is_a_token_for_four_characters_begun() -> None:
    assert [tokens("x" * n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert (
        rendered({"a": "b", "c": ["d", {"e": 1}], "f": {"g": None}}) == "a: b\nc:\n- d\n- e: 1\nf:\ng: null"
    )
    assert shares(11, 4) == [3, 3, 3, 2]


def test_trimming_goes_down_the_order_and_stops_when_it_fits() -> None:
    seen: list[str] = []
    for budget in range(tokens(rendered(FULL)), 80, -1):
        found = trimmed(FULL, budget)
        if found is None:
            break
        assert tokens(rendered(found.capsule)) <= budget
        assert [path for path in (*WHOLE, *GRADUAL) if path in found.fields] == list(found.fields)
        assert list(found.fields[: len(WHOLE)]) == WHOLE[: len(found.fields)]
        seen += [path for path in found.fields if path not in seen]
    assert seen[: len(WHOLE)] == WHOLE
    assert trimmed(FULL, tokens(rendered(FULL))).fields == ()  # type: ignore[union-attr] # it fits whole
    assert trimmed(FULL, 10) is None


def test_a_capsule_in_a_share_gives_up_its_signals_before_itself() -> None:
    capsule = stored()
    ranked = salience(capsule, NOW)
    alone = tokens(rendered(capsule))
    roomy = fitted(capsule, 1000, NOW, "active", ranked, 0)
    assert roomy is not None
    assert roomy.capsule["trust_signals"]["recency"]["updated_age_seconds"] == 3600
    assert roomy.capsule["salience"]["rank"] == 0
    full, salient = (
        tokens(rendered(roomy.capsule["trust_signals"])),
        tokens(rendered({"salience": ranked.block(0)})),
    )
    close = fitted(capsule, alone + full // 2 + salient, NOW, "active", ranked, 0)
    assert close is not None
    assert close.capsule["trust_signals"]["compact"]
    assert "trust_signals_compact" in close.warnings
    tight = fitted(capsule, 40, NOW, "active", ranked, 0)
    assert tight is None or "salience" not in tight.capsule


def test_the_startup_summary_has_its_keys_in_order() -> None:
    entries = [rationale("a"), rationale("b", status="retired")]
    capsule = stored(continuity={"rationale_entries": entries})
    trust = trust_signals(capsule, NOW, "active")
    summary = startup_summary(capsule, "active", ["w"], trust)
    assert list(summary) == [
        "recovery",
        "orientation",
        "context",
        "updated_at",
        "trust_signals",
        "stable_preferences",
    ]
    assert summary["recovery"] == {
        "source_state": "active",
        "recovery_warnings": ["w", "continuity_thread_descriptor_missing:thread:launch"],
        "capsule_health_status": None,
        "capsule_health_reasons": [],
    }
    assert list(summary["orientation"]) == [
        "top_priorities",
        "active_constraints",
        "open_loops",
        "negative_decisions",
        "rationale_entries",
    ]
    (entry,) = summary["orientation"]["rationale_entries"]
    assert (entry["tag"], entry["alternatives_considered"], entry["depends_on"]) == ("a", [], [])
    assert list(summary["context"].items())[1] == ("stance_summary", STANCE)
    assert summary["trust_signals"] is trust
    assert summary["stable_preferences"] == []


def test_the_startup_summary_of_nothing_says_so() -> None:
    summary = startup_summary(None, "missing", ["continuity_active_missing"], None)
    assert summary["recovery"]["recovery_warnings"] == ["continuity_active_missing"]
    assert [summary[name] for name in list(summary)[1:]] == [None] * 5


def test_the_summary_adds_little_to_the_answer() -> None:
    from lamina.kernel.canonical import canonical

    capsule = stored()
    summary = startup_summary(capsule, "active", [], trust_signals(capsule, NOW, "active"))
    assert len(canonical(summary)) < 1500


CHANGES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"updated_at": later()}, ["updated_at"]),
    ({"verified_at": later(), "verification_kind": "system_check"}, []),
    ({"source": {"producer": "p", "update_reason": "migration", "inputs": ["i"]}},
     ["source.producer", "source.update_reason", "source.inputs"]),
    ({"confidence": {"continuity": 0.1, "relationship_model": 0.1}},
     ["confidence.continuity", "confidence.relationship_model"]),
    ({"metadata": {"b": 1, "a": 1, "relationship_model": "x"}},
     ["metadata.a", "metadata.b", "metadata.relationship_model"]),
    ({"continuity": {"relationship_model": {"trust_level": "low"}, "stance_summary": "x"}},
     ["continuity.stance_summary", "continuity.relationship_model.trust_level"]),
    ({"thread_descriptor": {"label": "L", "keywords": ["k"]}},
     ["thread_descriptor.label", "thread_descriptor.keywords"]),
    ({"canonical_sources": ["memory/a"], "freshness": {"freshness_class": "durable"}},
     ["freshness.freshness_class", "canonical_sources"]),
]  # fmt: skip


@pytest.mark.parametrize(("more", "fields"), CHANGES)
def test_a_comparison_names_what_differs_in_order(more: dict[str, Any], fields: list[str]) -> None:
    candidate = candidate_of(
        requests.Compare.model_validate(_about(candidate_capsule=body(**more))).candidate_capsule, SUBJECT
    )
    without = [field for field in changed_fields(stored(), candidate) if not _implied(field, fields)]
    assert without == fields


def _implied(field: str, fields: list[str]) -> bool:
    """Empty lists that an object brings along."""
    return field not in fields and field.split(".")[-1] in (
        "preferred_style",
        "sensitivity_notes",
        "scope_anchors",
        "identity_anchors",
    )


def _about(**more: Any) -> dict[str, Any]:
    return {"subject_kind": "thread", "subject_id": "launch", "signals": [signal()]} | more


OUTCOMES = [
    ([signal()], {}, "confirm", "self_review"),
    ([signal()], {"updated_at": later()}, "conflict", "self_review"),
    ([signal(), signal("external_observation")], {"updated_at": later()}, "correct", "external_observation"),
    ([signal("peer_confirmation"), signal("user_confirmation")], {}, "confirm", "user_confirmation"),
    (
        [signal("system_check"), signal("user_confirmation")],
        {"updated_at": later()},
        "correct",
        "system_check",
    ),
]


@pytest.mark.parametrize(("signals", "more", "outcome", "strongest"), OUTCOMES)
def test_the_strongest_signal_recommends_an_outcome(
    signals: Any, more: Any, outcome: str, strongest: str
) -> None:
    found = compared(stored(), stored() | more, [Signal.model_validate(one) for one in signals])
    assert (found.recommended_outcome, found.strongest_signal) == (outcome, strongest)


STATUSES = {
    "self_review": "self_attested",
    "external_observation": "externally_supported",
    "peer_confirmation": "peer_confirmed",
    "user_confirmation": "user_confirmed",
    "system_check": "system_confirmed",
}


@every_row("kind", STATUSES)
@every_row(
    ("outcome", "health", "reason"),
    [("confirm", "healthy", None), ("degrade", "degraded", "r"), ("conflict", "conflicted", "r")],
)
def test_a_revalidation_judges_the_capsule(kind: str, outcome: str, health: str, reason: str | None) -> None:
    request = requests.Revalidate.model_validate(
        _about(outcome=outcome, reason=reason, signals=[signal(kind, f"ref {n}") for n in range(5)])
    )
    found = revalidated(stored(), request, NOW + 5)
    capsule = found.changed.capsule
    assert (found.outcome, found.updated, capsule["updated_at"]) == (outcome, False, BEFORE)
    assert (capsule["verified_at"], capsule["verification_kind"]) == ("2026-05-13T12:00:00Z", kind)
    state = capsule["verification_state"]
    assert state["status"] == ("conflicted" if outcome == "conflict" else STATUSES[kind])
    assert state["evidence_refs"] == ["ref 0", "ref 1", "ref 2", "ref 3"]
    assert state.get("conflict_summary") == ("r" if outcome == "conflict" else None)
    assert capsule["capsule_health"]["status"] == health
    assert capsule["capsule_health"]["reasons"] == ([reason] if reason else [])


@pytest.mark.parametrize(
    "more",
    [
        {"outcome": "correct"},
        {"outcome": "confirm", "candidate_capsule": body()},
        {"outcome": "confirm", "reason": "r"},
        {"outcome": "degrade"},
        {"outcome": "conflict"},
    ],
)
def test_an_outcome_takes_what_it_needs_and_nothing_else(more: dict[str, Any]) -> None:
    with pytest.raises(Malformed) as refused:
        revalidated(stored(), requests.Revalidate.model_validate(_about(**more)), NOW)
    assert refused.value.code == "INVALID_REVALIDATION"


def _correct(candidate: dict[str, Any], standing: Any = None) -> Any:
    request = requests.Revalidate.model_validate(_about(outcome="correct", candidate_capsule=candidate))
    return revalidated(standing or stored(), request, NOW)


def test_a_correction_is_written_as_an_upsert_would() -> None:
    labelled = stored(thread_descriptor={"label": "L"})
    labelled["thread_descriptor"]["lifecycle"] = "concluded"
    descriptor = {"label": "L2", "lifecycle": "active"}
    found = _correct(
        body(updated_at=later(), thread_descriptor=descriptor, continuity={"open_loops": [" a "]}), labelled
    )
    assert found.updated
    assert found.changed.capsule["thread_descriptor"]["lifecycle"] == "concluded"
    assert found.changed.capsule["continuity"]["open_loops"] == ["a"]
    with pytest.raises(Conflict):
        _correct(body(updated_at="2020-01-01T00:00:00Z", continuity={"open_loops": ["a"]}))


def test_a_correction_without_a_difference_is_a_confirmation() -> None:
    found = _correct(body())
    assert (found.outcome, found.updated) == ("confirm", False)


def test_a_candidate_is_about_the_same_subject() -> None:
    with pytest.raises(Malformed) as refused:
        _correct(body(subject_id="other"))
    assert refused.value.code == "SUBJECT_MISMATCH"
    assert _correct(body(subject_id="LAUNCH", updated_at=later())).updated


def test_the_refresh_plan_says_why_and_how_urgent() -> None:
    sick = stored() | {"capsule_health": {"status": "degraded", "reasons": ["r"]}}
    fine = stored() | {"verification_state": {"status": "user_confirmed", "last_revalidated_at": BEFORE}}
    rows = [
        refresh_candidate(fine | {"subject_id": "b"}, NOW, used=True, fallback_only=False),
        refresh_candidate(stored(), _after(31 * DAY), used=True, fallback_only=False),
        refresh_candidate(sick, NOW, used=False, fallback_only=True),
    ]
    plan = refresh_order(rows, include_healthy=False)
    assert [row["reason_codes"] for row in plan] == [
        ["health_degraded", "verification_unverified", "fallback_only"],
        ["verification_unverified", "stale_verified_at", "recently_used"],
    ]
    assert [row["recommended_priority"] for row in plan] == ["high", "medium"]
    assert [row["recommended_priority"] for row in refresh_order(rows, include_healthy=True)] == [
        "high",
        "medium",
        "low",
    ]


@pytest.mark.parametrize(("days", "stale"), [(90, False), (90.1, True)])
def test_an_archive_is_stale_past_its_days(days: float, stale: bool) -> None:
    assert is_stale(AT, _after(days * DAY), 90) is stale


def test_a_snapshot_and_an_envelope_give_the_capsule_back() -> None:
    capsule = stored()
    assert fallback(fallback_bytes(capsule)).capsule == capsule
    put_away = archived(archive_bytes(capsule, now=NOW + 1, actor="agent:a", reason="done"))
    assert (put_away.capsule, put_away.archived_at) == (capsule, NOW + 1)
    assert put_away.archived_at_text == "2026-05-13T12:00:00.000001Z"
    with pytest.raises(Malformed):
        fallback(archive_bytes(capsule, now=NOW, actor="a", reason="done"))


def test_a_stub_can_be_read_without_unpacking() -> None:
    capsule = stored(
        continuity={"open_loops": [f"a\nb{n}" for n in range(9 - 1)], "rationale_entries": [rationale()]}
    )
    envelope = archive_bytes(capsule, now=NOW, actor="agent:a", reason="done")
    name = archive_name(SUBJECT.archive_path(NOW))
    assert name is not None
    text = stub_text(name, archived(envelope), NOW)
    stub = stub_in(name.stub_path, text.encode())
    assert stub.name == name
    assert stub.fields["cold_stored_at"] == "2026-05-13T12:00:00Z"
    assert stub.fields["freshness_class"] is None
    assert "## open_loops\n- a b0\n- a b1\n- a b2\n\n## stance_summary\n" + STANCE in text
    assert "## drift_signals\n\n## session_trajectory" in text
    assert "- [decision] git: s" in text
    assert unpacked(packed(envelope)) == envelope
    assert packed(envelope) == packed(envelope)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"1.1"', '"2.0"'),
        ("type:", "tipe:"),
        ("archive/thread", "archive/task"),
        ("---\n", ""),
        ("cold\n", "hot\n"),
    ],
)
def test_a_stub_that_was_changed_is_no_stub(old: str, new: str) -> None:
    name = archive_name(SUBJECT.archive_path(NOW))
    assert name is not None
    put_away = archived(archive_bytes(stored(), now=NOW, actor="a", reason="done"))
    text = stub_text(name, put_away, NOW).replace(old, new, 1)
    with pytest.raises(Malformed) as refused:
        stub_in(name.stub_path, text.encode())
    assert refused.value.code == "INVALID_COLD_ARTIFACT"


@pytest.mark.parametrize("content", [b"", b"x", packed(b"x" * 100)[:-4], gzip.compress(b"0" * 10_000_000)])
def test_a_damaged_or_swollen_copy_is_refused(content: bytes) -> None:
    with pytest.raises(Malformed):
        unpacked(content)


def test_a_capsule_in_words_says_what_it_holds() -> None:
    text = in_words(
        stored(thread_descriptor={"label": "The launch"}, continuity={"rationale_entries": [rationale()]})
    )
    assert text.splitlines() == [
        "Capsule of thread launch (The launch).",
        f"Stance: {STANCE}",
        "Priorities: ship",
        "Constraints: two cores",
        "Open: tests",
        "Concerns: time",
        "Decision git: s r",
    ]


@given(
    texts=st.lists(st.text(max_size=160), max_size=8),
    stance=st.text(min_size=1, max_size=240),
    notes=st.lists(st.text(max_size=160), max_size=3),
    metadata=st.dictionaries(st.text(min_size=1, max_size=20), st.integers(), max_size=12),
    share=st.integers(1, 1200),
    source_state=st.sampled_from(["active", "fallback"]),
)
@settings(max_examples=150, deadline=None)
def test_what_is_shown_of_a_capsule_never_costs_more_than_its_share(
    texts: list[str], stance: str, notes: list[str], metadata: dict[str, int], share: int, source_state: str
) -> None:
    state = {
        "top_priorities": texts,
        "open_loops": texts[::-1],
        "stance_summary": stance,
        "trailing_notes": notes,
    }
    capsule = body(continuity=state) | {"metadata": metadata}
    made = fitted(capsule, share, NOW, source_state, salience(capsule, NOW), 0)
    if made is not None:
        assert tokens(rendered(made.capsule)) <= share
        signals = made.capsule["trust_signals"]
        if signals is not None and "trimmed_fields" in signals["completeness"]:
            gone = signals["completeness"]["trimmed_fields"]
            assert signals["completeness"]["trimmed"] == bool(gone)
            assert ("metadata" in made.capsule) == ("metadata" not in gone)


def test_a_share_that_the_joined_lines_pass_is_not_given() -> None:
    capsule = body()
    whole = fitted(capsule, 10_000, NOW, "active", salience(capsule, NOW), 0)
    assert whole is not None
    cost = tokens(rendered(whole.capsule))
    assert fitted(capsule, cost, NOW, "active", salience(capsule, NOW), 0) == whole
    less = fitted(capsule, cost - 1, NOW, "active", salience(capsule, NOW), 0)
    assert less is not None
    assert (less != whole, tokens(rendered(less.capsule)) < cost) == (True, True)


@pytest.mark.parametrize("lost", ["soon", "", 5])
def test_an_end_that_cannot_be_read_has_come(lost: object) -> None:
    capsule = stored(freshness={"freshness_class": "persistent"})
    capsule["freshness"]["expires_at"] = lost
    assert freshness(capsule, NOW).phase == "expired"
