"""The capsules of a retrieval: found, judged, ranked, and made to fit their shares of the budget.

What was in the way is said in words: ``warnings`` about the state of a capsule, ``recovery_warnings`` about how it
came to be found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.context.requests import Retrieve
from lamina.continuity.context.selecting import Selection, label
from lamina.continuity.handlers.reading import CapsuleReading
from lamina.continuity.judgements.freshness import freshness
from lamina.continuity.judgements.recovery_warnings import (
    ACTIVE_INVALID,
    ACTIVE_MISSING,
    FALLBACK_MISSING,
    FALLBACK_USED,
    TRUST_AGGREGATE_FAILED,
    superseded,
)
from lamina.continuity.judgements.salience import Salience, salience, salience_metadata
from lamina.continuity.judgements.trimming import fitted, rendered, shares, tokens
from lamina.continuity.judgements.trust import HEALTH_RANK, TrustSignals, aggregate, health
from lamina.continuity.permission import Reach
from lamina.continuity.shelf.documents import Shelf
from lamina.continuity.shelf.loading import Loaded
from lamina.continuity.shelf.uses import note_use
from lamina.errors import Malformed, NotFound
from lamina.kernel.operations import Call
from lamina.kernel.time import Instant

__all__ = ["Oriented", "Orienting"]

_OWNER_ONLY: Final = " (owner only)"
_INVALID: Final = "continuity_invalid_capsule"
_TO_ZERO: Final = "continuity_truncated_to_zero"
_CAPSULE_TO_ZERO: Final = "continuity_capsule_truncated_to_zero"


@dataclass(frozen=True, slots=True)
class Oriented:
    """The block ``continuity_state``, and the capsules as they were found, before they were made to fit."""

    state: dict[str, Any]
    found: dict[Subject, CapsuleObject]


@dataclass(frozen=True, slots=True)
class _Held:
    subject: Subject
    capsule: CapsuleObject
    source_state: str
    ranked: Salience


@dataclass(slots=True)
class _Notes:
    """The warnings on the way; with selectors each names its subject."""

    by_selector: bool
    state: list[str] = field(default_factory=list)
    recovery: list[str] = field(default_factory=list)

    def judged(self, subject: Subject, warning: str) -> None:
        """Note something about a capsule."""
        self.state.append(self._named(subject, warning))

    def recovered(self, subject: Subject, *warnings: str) -> None:
        """Note how a capsule was found."""
        self.recovery += [self._named(subject, warning) for warning in warnings]

    def _named(self, subject: Subject, warning: str) -> str:
        return f"{warning}:{label(subject)}" if self.by_selector else warning


class Orienting:
    """Builds the block of capsules."""

    def __init__(self, shelf: Shelf, reading: CapsuleReading) -> None:
        self._shelf = shelf
        self._reading = reading

    def state(self, request: Retrieve, selection: Selection, reach: Reach, call: Call) -> Oriented:
        """The block for what was selected.

        Raises ``NotFound`` (CAPSULE_NOT_FOUND) where capsules are required and there are none, ``Malformed``
        (STORED_CAPSULE_INVALID) for a single damaged one without a snapshot.
        """
        notes = _Notes(selection.by_selector)
        if request.continuity_mode == "off":
            return Oriented(_state(request, None, [], [], notes), {})
        held = []
        for subject in selection.taken:
            one = self._held(request, selection, subject, reach, call, notes)
            if one is not None:
                held.append(one)
        shown = _shown(_ranked(request, held), request.max_tokens_estimate, call.now, notes)
        if request.continuity_mode == "required" and not shown:
            raise NotFound(
                "CAPSULE_NOT_FOUND",
                "no capsule is there for what was asked",
                hint="continuity_mode auto answers without one",
                details={"selectors": [label(each) for each in (*selection.taken, *selection.omitted)]},
            )
        state = _state(request, selection, [one for one, _ in shown], [made for _, made in shown], notes)
        return Oriented(state, {one.subject: one.capsule for one in held})

    def _held(
        self,
        request: Retrieve,
        selection: Selection,
        subject: Subject,
        reach: Reach,
        call: Call,
        notes: _Notes,
    ) -> _Held | None:
        found, source_state = self._found(request, selection, subject, reach, call, notes)
        if found is None:
            return None
        note_use(call, subject)
        successor = superseded(found.capsule)
        notes.recovered(subject, *found.warnings, *([successor] if successor else []))
        phase, judged = freshness(found.capsule, call.now), health(found.capsule).status
        if phase.warning is not None:
            notes.judged(subject, phase.warning)
        if judged != "healthy":
            notes.judged(subject, f"continuity_{judged}")
        if phase.expired or (
            request.continuity_verification_policy == "require_healthy" and judged != "healthy"
        ):
            return None
        return _Held(subject, found.capsule, source_state, salience(found.capsule, call.now))

    def _found(
        self,
        request: Retrieve,
        selection: Selection,
        subject: Subject,
        reach: Reach,
        call: Call,
        notes: _Notes,
    ) -> tuple[Loaded | None, str]:
        """The capsule or its snapshot. What the caller may not read is missing for them."""
        if not reach.reads(subject.active_path):
            notes.recovered(subject, ACTIVE_MISSING + _OWNER_ONLY)
            return None, "missing"
        tenant_id = call.principal.tenant_id
        damaged: Malformed | None = None
        try:
            return self._reading.active(tenant_id, subject), "active"
        except NotFound:
            notes.recovered(subject, ACTIVE_MISSING)
        except Malformed as error:
            damaged = error
            notes.recovered(subject, ACTIVE_INVALID)
        if request.continuity_resilience_policy == "require_active":
            return None, "missing"
        if not reach.reads(subject.fallback_path):
            notes.recovered(subject, FALLBACK_MISSING + _OWNER_ONLY)
            return None, "missing"
        found = self._shelf.fallback(tenant_id, subject)
        if found is not None:
            notes.recovered(subject, FALLBACK_USED)
            return found, "fallback"
        if damaged is None:
            notes.recovered(subject, FALLBACK_MISSING)
        elif len(selection.taken) > 1:
            notes.judged(subject, _INVALID)
        else:
            raise damaged
        return None, "missing"


def _ranked(request: Retrieve, held: Iterable[_Held]) -> list[_Held]:
    ranked = sorted(held, key=lambda one: one.ranked.key)
    if request.continuity_verification_policy == "prefer_healthy":
        ranked.sort(key=lambda one: HEALTH_RANK[health(one.capsule).status])
    return ranked


def _shown(
    ranked: list[_Held], budget: int, now: Instant, notes: _Notes
) -> list[tuple[_Held, CapsuleObject]]:
    """The capsules that fit, each inside its share."""
    shown: list[tuple[_Held, CapsuleObject]] = []
    for one, share in zip(ranked, shares(budget, max(len(ranked), 1)), strict=False):
        made = fitted(one.capsule, share, now, one.source_state, one.ranked, len(shown))
        if made is not None:
            notes.recovered(one.subject, *made.warnings)
            shown.append((one, made.capsule))
        elif notes.by_selector:
            notes.judged(one.subject, _CAPSULE_TO_ZERO)
        else:
            notes.judged(one.subject, _TO_ZERO)
    return shown


def _state(
    request: Retrieve,
    selection: Selection | None,
    shown: list[_Held],
    capsules: list[CapsuleObject],
    notes: _Notes,
) -> dict[str, Any]:
    asked = () if selection is None else (*selection.taken, *selection.omitted)
    kept = {one.subject for one in shown}
    origin = "explicit" if selection is None else selection.origin
    trust = _aggregated(capsules, len(asked), notes)
    return {
        "present": bool(capsules),
        "requested_selectors": [label(each) for each in asked],
        "omitted_selectors": [label(each) for each in asked if each not in kept],
        "capsules": capsules,
        "selection_order": [f"{origin}:{label(one.subject)}" for one in shown],
        "budget": {
            "requested_max_tokens_estimate": request.max_tokens_estimate,
            "token_budget_hint": request.max_tokens_estimate,
            "continuity_tokens_reserved": request.max_tokens_estimate,
            "continuity_tokens_used": sum(tokens(rendered(each)) for each in capsules),
        },
        "warnings": notes.state,
        "fallback_used": any(one.source_state == "fallback" for one in shown),
        "recovery_warnings": notes.recovery,
        "trust_signals": trust,
        "salience_metadata": salience_metadata([one.ranked for one in shown]),
    }


def _aggregated(capsules: list[CapsuleObject], requested: int, notes: _Notes) -> TrustSignals | None:
    if not capsules:
        return None
    try:
        return aggregate(
            [each.get("trust_signals") for each in capsules], requested=requested, returned=len(capsules)
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        notes.recovery.append(TRUST_AGGREGATE_FAILED)
        return None
