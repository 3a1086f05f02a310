"""Beliefs as the contract shows them (seed 002, 7.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field

from lamina.kernel.belief_rules import BeliefRules
from lamina.kernel.calibration import Calibration
from lamina.kernel.changes import MayHaveChanged
from lamina.kernel.records import Belief, Stance, Support
from lamina.kernel.time import Instant
from lamina.kernel.views.parts import (
    ChangeView,
    ClaimedView,
    ObjectView,
    ReferenceView,
    Stamp,
    change_fields,
    changed_in_words,
    claim_fields,
    claim_in_words,
    kind_of,
    object_fields,
    subject_fields,
    supports_held,
)
from lamina.kernel.wire import Result

__all__ = ["BeliefLens", "BeliefView", "belief_fields", "belief_view"]

INTERVAL_LEVEL = 0.90


class ClaimView(Result):
    """The claim in triple form."""

    subject: ReferenceView
    predicate: str
    object: ObjectView
    negated: bool


class IntervalView(Result):
    """The central interval of the posterior around ``confidence``."""

    lower: float
    upper: float
    method: Literal["beta_posterior", "bootstrap", "wilson"] = "beta_posterior"
    level: float = INTERVAL_LEVEL


class CalibrationView(Result):
    """By which curve the confidence is shown, and how far that was checked against verdicts: its mean squared error and its expected
    calibration error over the last 30 days of them. All null and no samples: there is no curve yet, and the confidence is what the
    evidence gives."""

    model: str | None = None
    brier_score_30d: float | None = None
    ece_30d: float | None = None
    samples: int = 0
    last_calibrated_at: Stamp | None = None


class BeliefSupportView(Result):
    """A record that the belief rests on, and for which side it speaks."""

    type: str
    id: str
    weight: float
    polarity: Literal["supports", "against"]


class TensionView(Result):
    """Another belief that cannot hold together with this one.

    ``tension`` is the lesser of the two confidences, null when the other is not at hand; ``resolution`` says
    which won: ``newer_wins``, ``stronger_wins`` or ``unresolved``.
    """

    belief_id: str
    tension: float | None
    resolution: str


class RevisionPolicyView(Result):
    """When the belief is revised. What changes earlier waits for the next revision; the figures are always today's."""

    trigger: str = "new_supporting_evidence_or_contradiction"
    min_evidence_delta: float = 0.0
    cooldown: str = "PT0S"
    max_revisions_per_hour: int | None = None


class BeliefView(ClaimedView):
    """A claim about the world with the confidence that its evidence gives it.

    ``supports`` lists both sides, each with its polarity. ``may_have_changed`` is the newest such mark of the facts among them that the
    reader may see, of either side; null where none has one. ``why_url`` explains the belief down to the events.
    """

    partial_reason: (
        Literal["revision_in_progress", "supporting_evidence_redacted", "calibration_stale"] | None
    ) = Field(default=None, validation_alias="_partial_reason", serialization_alias="_partial_reason")
    claim: ClaimView
    stance: Stance
    confidence_interval: IntervalView
    calibration: CalibrationView = CalibrationView()
    supports: list[BeliefSupportView]
    contradicts: list[TensionView]
    may_have_changed: ChangeView | None = None
    revision_policy: RevisionPolicyView = RevisionPolicyView()
    last_revised_at: Stamp
    revision_count: int
    supporting_evidence_redacted: bool
    supporting_evidence_redacted_fraction: float = Field(ge=0.0, le=1.0)
    why_url: str

    @property
    def in_words(self) -> str:
        """The claim in words, and where it may have changed, by a turn of which day."""
        claim = self.claim
        words = claim_in_words(claim.subject, claim.predicate, claim.object, negated=claim.negated)
        return changed_in_words(words, self.may_have_changed)


@dataclass(frozen=True, slots=True)
class BeliefLens:
    """What a reader of an instant sees beliefs by: the tenant's rules, and the calibration, where there is one."""

    seen_at: Instant
    rules: BeliefRules = field(default_factory=BeliefRules)
    calibration: Calibration | None = None

    def seen(self, belief: Belief) -> Belief:
        """A belief with the confidence that it is shown with."""
        return belief if self.calibration is None else self.calibration.seen(belief)

    def least(self, confidence: float) -> float:
        """The least confidence by the evidence that is shown as ``confidence`` or more."""
        return confidence if self.calibration is None else self.calibration.least(confidence)

    def fields(self, belief: Belief) -> dict[str, Any]:
        """The fields of ``belief_view`` that tell of revisions and calibration. A change that waited is a revision from when it may be."""
        revised_at, revisions, waits = belief.recorded_from, belief.revision_count, belief.awaits_revision
        if waits:
            due = self.rules.next_at(belief.revised_at)
            waits = due > self.seen_at
            revised_at, revisions = (belief.revised_at[-1], revisions) if waits else (due, revisions + 1)
        partial = {"partial": True, "partial_reason": "revision_in_progress"} if waits else {}
        run = belief.calibrated_by
        calibration = {} if run is None else {
            "model": run.model, "brier_score_30d": run.brier, "ece_30d": run.ece, "samples": run.samples, "last_calibrated_at": run.at,
        }  # fmt: skip
        return {
            **partial,
            "last_revised_at": revised_at,
            "revision_count": revisions,
            "calibration": calibration,
            "revision_policy": {
                "cooldown": self.rules.cooldown,
                "max_revisions_per_hour": self.rules.revisions_per_hour,
            },
        }


def belief_view(
    belief: Belief,
    supports: Sequence[Support] = (),
    changed: MayHaveChanged | None = None,
    *,
    others: Mapping[str, Belief] | None = None,
    redacted_fraction: float = 0.0,
    lens: BeliefLens | None = None,
) -> BeliefView:
    """The view of a belief; ``others`` are those it contradicts, by id, where they are at hand. With a ``lens`` all of these are as it
    shows them already."""
    fields = belief_fields(
        belief, supports, changed, others=others, redacted_fraction=redacted_fraction, lens=lens
    )
    return BeliefView(**fields)


def belief_fields(
    belief: Belief,
    supports: Sequence[Support] = (),
    changed: MayHaveChanged | None = None,
    *,
    others: Mapping[str, Belief] | None = None,
    redacted_fraction: float = 0.0,
    lens: BeliefLens | None = None,
) -> dict[str, Any]:
    """The fields of ``belief_view``."""
    known = others or {}
    partial: dict[str, Any] = {}
    if belief.demoted_by is not None:
        redacted_fraction = 1.0
    if redacted_fraction > 0.0:
        partial = {"partial": True, "partial_reason": "supporting_evidence_redacted"}
    return {
        **claim_fields(belief),
        **(lens or BeliefLens(belief.recorded_from)).fields(belief),
        **partial,
        "claim": {
            "subject": subject_fields(belief.subject),
            "predicate": belief.predicate,
            "object": object_fields(belief.object),
            "negated": belief.negated,
        },
        "stance": belief.stance,
        "confidence_interval": {"lower": belief.lower, "upper": belief.upper},
        "supports": [
            {
                "type": kind_of(support.source_id),
                "id": support.source_id,
                "weight": support.weight,
                "polarity": support.polarity,
            }
            for support in supports_held(belief, supports)
        ],
        "contradicts": [_tension(belief, other_id, known.get(other_id)) for other_id in belief.contradicts],
        "may_have_changed": change_fields(changed),
        "supporting_evidence_redacted": redacted_fraction > 0.0,
        "supporting_evidence_redacted_fraction": redacted_fraction,
        "why_url": f"/v1/beliefs/why?belief_id={belief.id}",
    }


def _tension(belief: Belief, other_id: str, other: Belief | None) -> dict[str, Any]:
    if other is None:
        return {"belief_id": other_id, "tension": None, "resolution": "unresolved"}
    tension = round(min(belief.confidence, other.confidence), 4)
    winner, loser = sorted((belief, other), key=lambda each: each.confidence, reverse=True)
    if winner.stance is loser.stance:
        resolution = "unresolved"
    else:
        resolution = "newer_wins" if winner.valid_from > loser.valid_from else "stronger_wins"
    return {"belief_id": other_id, "tension": tension, "resolution": resolution}
