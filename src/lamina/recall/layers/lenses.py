"""By which rules and which calibration a reader of an instant sees beliefs."""

from __future__ import annotations

from collections.abc import Mapping

from lamina.kernel.belief_rules import BELIEF_RULES, BeliefRules
from lamina.kernel.calibration import CALIBRATION, Calibration
from lamina.kernel.heads import RecordHead
from lamina.kernel.records import Belief, Layer, Record
from lamina.kernel.time import Instant
from lamina.kernel.views import BeliefLens
from lamina.store.ports.definitions import Definition, DefinitionKind, Definitions

__all__ = ["calibrated", "calibrated_heads", "lens_of"]


def lens_of(definitions: Definitions, tenant_id: str, seen_at: Instant | None, *, now: Instant) -> BeliefLens:
    """What beliefs are seen by now, or as of an instant of the log."""
    rules = _standing(definitions, tenant_id, BELIEF_RULES, seen_at)
    return BeliefLens(
        now if seen_at is None else seen_at,
        BeliefRules() if rules is None else BeliefRules.of(rules.body),
        _calibration(definitions, tenant_id, seen_at),
    )


def calibrated(
    definitions: Definitions, tenant_id: str, found: Mapping[str, Record], seen_at: Instant | None
) -> dict[str, Record]:
    """Records, the beliefs among them with the confidence that they are shown with now, or as of an instant of the log."""
    shown = dict(found)
    beliefs = [each for each in found.values() if isinstance(each, Belief)]
    run = _calibration(definitions, tenant_id, seen_at) if beliefs else None
    return shown if run is None else shown | {each.id: run.seen(each) for each in beliefs}


def calibrated_heads(
    definitions: Definitions, tenant_id: str, found: Mapping[str, RecordHead], seen_at: Instant | None
) -> dict[str, RecordHead]:
    """Mirrors ``calibrated``, of the heads of records."""
    shown = dict(found)
    beliefs = [each for each in found.values() if each.layer is Layer.BELIEFS]
    run = _calibration(definitions, tenant_id, seen_at) if beliefs else None
    if run is None:
        return shown
    return shown | {each.id: each._replace(confidence=run.shown(each.confidence)) for each in beliefs}


def _calibration(definitions: Definitions, tenant_id: str, seen_at: Instant | None) -> Calibration | None:
    run = _standing(definitions, tenant_id, CALIBRATION, seen_at)
    return None if run is None else Calibration.of(run.body, run.recorded_from)


def _standing(
    definitions: Definitions, tenant_id: str, place: tuple[DefinitionKind, str], seen_at: Instant | None
) -> Definition | None:
    held = definitions.held(tenant_id, place[0], seen_at=seen_at)
    return next((each for each in held if each.name == place[1]), None)
