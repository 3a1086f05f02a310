"""By which rules and which calibration a reader of an instant sees beliefs."""

from __future__ import annotations

from lamina.kernel.belief_rules import BELIEF_RULES, BeliefRules
from lamina.kernel.calibration import CALIBRATION, Calibration
from lamina.kernel.heads import RecordHead
from lamina.kernel.records import Belief, Layer, Record
from lamina.kernel.time import Instant
from lamina.kernel.views import BeliefLens
from lamina.store.ports.definitions import Definition, DefinitionKind, Definitions

__all__ = ["calibrated", "calibrated_heads", "calibration_of", "lens_of"]


def lens_of(definitions: Definitions, tenant_id: str, seen_at: Instant | None, *, now: Instant) -> BeliefLens:
    """What beliefs are seen by now, or as of an instant of the log."""
    rules = _standing(definitions, tenant_id, BELIEF_RULES, seen_at)
    return BeliefLens(
        now if seen_at is None else seen_at,
        BeliefRules() if rules is None else BeliefRules.of(rules.body),
        calibration_of(definitions, tenant_id, seen_at),
    )


def calibrated(run: Calibration | None, found: dict[str, Record]) -> dict[str, Record]:
    """Records, the beliefs among them with the confidence that they are shown with by a run; None where there was none."""
    if run is None:
        return found
    return found | {each.id: run.seen(each) for each in found.values() if isinstance(each, Belief)}


def calibrated_heads(run: Calibration | None, found: dict[str, RecordHead]) -> dict[str, RecordHead]:
    """Mirrors ``calibrated``, of the heads of records."""
    if run is None:
        return found
    beliefs = [each for each in found.values() if each.layer is Layer.BELIEFS]
    return found | {each.id: each._replace(confidence=run.shown(each.confidence)) for each in beliefs}


def calibration_of(definitions: Definitions, tenant_id: str, seen_at: Instant | None) -> Calibration | None:
    """The calibration of now, or as of an instant of the log; None where there was none."""
    run = _standing(definitions, tenant_id, CALIBRATION, seen_at)
    return None if run is None else Calibration.of(run.body, run.recorded_from)


def _standing(
    definitions: Definitions, tenant_id: str, place: tuple[DefinitionKind, str], seen_at: Instant | None
) -> Definition | None:
    held = definitions.held(tenant_id, place[0], seen_at=seen_at)
    return next((each for each in held if each.name == place[1]), None)
