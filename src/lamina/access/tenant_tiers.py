"""What the upper two tiers say of one tenant, put together: preset, what was put for the deployment, and the tenant's document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lamina.access.documents import CompiledDocument, DefaultValue, PolicyTier
from lamina.access.rules import RETENTION_MAX_US, RETENTION_MIN_US, AuditRules, Rate, RateRules
from lamina.kernel.capabilities import Capability
from lamina.kernel.erasure_rules import FULL_REDACTION_FACTOR, ErasureRules
from lamina.kernel.expiry import TtlRules
from lamina.kernel.records import Layer

__all__ = ["TenantTiers"]

_RATES: Final = ("read", "write", "importer")
_IMPORTER_FACTOR: Final = 10


@dataclass(frozen=True, slots=True)
class TenantTiers:
    """Who denies what to a tenant, and what else is said."""

    denied_by: Mapping[Capability, PolicyTier]
    document: CompiledDocument
    stored: CompiledDocument
    """What was put for the deployment, beside its preset."""
    preset: CompiledDocument

    def default(self, name: str) -> DefaultValue | None:
        """A default, as the tenant has it, or else the deployment."""
        said = (each.default(name) for each in (self.document, self.stored, self.preset))
        return next((value for value in said if value is not None), None)

    def rate_rules(self, actor: CompiledDocument) -> RateRules:
        """The rates of an actor by their own document.

        A tenant's rate takes the place of the preset's. What was put for the deployment beside its preset, and for
        the actor, only lowers it. Importers have ten times the write rate unless told (seed 002, 18.2 item 6).
        """
        said = {name: self.document.rate(name) or self.preset.rate(name) for name in _RATES}
        write = _least(said["write"], self.stored.rate("write"))
        if said["importer"] is None and write is not None:
            said["importer"] = write.times(_IMPORTER_FACTOR)
        return RateRules(
            **{name: _least(rate, self.stored.rate(name), actor.rate(name)) for name, rate in said.items()}
        )

    def audit_rules(self) -> AuditRules:
        """A tenant chooses its retention within the contract's bounds."""
        plain = AuditRules()
        retention = self.stored.length_us("audit.retention") or self.preset.length_us("audit.retention")
        own = self.document.length_us("audit.retention")
        if own is not None:
            retention = min(max(own, RETENTION_MIN_US), RETENTION_MAX_US)
        said = [each.default("audit.store_body_bytes") for each in (self.preset, self.stored, self.document)]
        return AuditRules(
            retention_us=retention or plain.retention_us,
            pepper_rotation_us=self._of_deployment("audit.pepper_rotation_period")
            or plain.pepper_rotation_us,
            pepper_buffer_us=self._of_deployment("audit.pepper_retention_buffer") or plain.pepper_buffer_us,
            store_body_bytes=False not in said,
        )

    def _of_deployment(self, name: str) -> int | None:
        return self.stored.length_us(name) or self.preset.length_us(name)

    def erasure_rules(self) -> ErasureRules:
        """What is laid down for a tenant's erasures. Legal holds are the tenant's alone."""
        drift = self.default("erasure.drift_threshold")
        factor = self.default("beliefs.confidence_after_full_redaction_factor")
        floor = self.default("tenant.confidence_floor")
        plain = ErasureRules()
        return ErasureRules(
            self.document.legal_holds,
            plain.drift_threshold if drift is None else int(drift),
            FULL_REDACTION_FACTOR if factor is None else float(factor),
            plain.floor if floor is None else float(floor),
            "redact_events" if self.default("forget.cascade.default") == "redact_events" else plain.cascade,
        )

    def ttl_rules(self, scopes: Sequence[CompiledDocument]) -> TtlRules:
        """How long records live by these tiers and by the documents of scopes. Whether what is over is erased is the tenant's to say."""
        said = [self.preset, self.stored, self.document, *scopes]
        lengths = {layer: [each.length_us(f"ttl.{layer}") for each in said] for layer in Layer}
        stated = {layer: [each for each in found if each is not None] for layer, found in lengths.items()}
        return TtlRules(
            {layer: min(found) for layer, found in stated.items() if found},
            erases=self.default("ttl.erase") is True,
            holds=self.document.legal_holds,
        )


def _least(*rates: Rate | None) -> Rate | None:
    """The slowest of the limits that there are."""
    return min((rate for rate in rates if rate is not None), default=None)
