"""What a deployment lays down for its tenants beyond grants: how long audit rows are kept, how fast actors may call.

The presets' own numbers are those of seed 002, 5.3; settings override them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from lamina.errors import Invalid
from lamina.kernel.time import duration_us
from lamina.settings import Settings

__all__ = ["RETENTION_MAX_US", "RETENTION_MIN_US", "AuditRules", "Rate", "RateRules", "Rules", "rules_of"]

RETENTION_MIN_US: Final = duration_us("P90D")
RETENTION_MAX_US: Final = duration_us("P7Y")
_RETENTION: Mapping[str, str] = {
    "on_prem_enterprise": "P1Y",
    "cloud_shared_saas": "P2Y",
    "cloud_private": "P3Y",
    "dev_local": "P7D",
}
_RETENTION_OF_OTHERS = "P2Y"
_RATES: Mapping[str, tuple[str, str]] = {"cloud_shared_saas": ("500/s", "100/s")}
_IMPORTER_FACTOR = 10
_RATE = re.compile(r"([1-9]\d{0,8})/(s|m|h)")
_PERIOD_S = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class AuditRules:
    """How long rows stay, how often peppers change and how long one is kept beyond the rows it was used for."""

    retention_us: int = duration_us("P2Y")
    pepper_rotation_us: int = duration_us("P3M")
    pepper_buffer_us: int = duration_us("P3M")
    store_body_bytes: bool = True


@dataclass(frozen=True, slots=True)
class Rate:
    """So many calls in a period: the size of the bucket, and how long it takes to fill."""

    count: int
    period_s: int

    @classmethod
    def parse(cls, text: str) -> Rate | None:
        """The rate of ``100/s``, ``6000/m`` or ``1000/h``; None for ``unlimited``. Raises ``Invalid`` (INVALID_RATE)."""
        if text == "unlimited":
            return None
        match = _RATE.fullmatch(text)
        if match is None:
            raise Invalid(
                "INVALID_RATE",
                f"{text[:32]!r} is no rate",
                hint="write a count per s, m or h, such as 100/s, or unlimited",
            )
        return cls(int(match[1]), _PERIOD_S[match[2]])

    def times(self, factor: int) -> Rate:
        """The rate that allows ``factor`` times as much."""
        return Rate(self.count * factor, self.period_s)


@dataclass(frozen=True, slots=True)
class RateRules:
    """How fast one actor may read and write, and how fast a tenant's importers may; None is without limit."""

    read: Rate | None = None
    write: Rate | None = None
    importer: Rate | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """What is laid down for one tenant."""

    audit: AuditRules = AuditRules()
    rates: RateRules = RateRules()


def rules_of(settings: Settings) -> Callable[[str], Rules]:
    """The rules by tenant: the preset's numbers under the operator's settings."""
    read, write = _RATES.get(settings.preset, ("unlimited", "unlimited"))
    writes = Rate.parse(settings.rate_limit_write or write)
    rules = Rules(
        AuditRules(
            retention_us=_retention_us(settings),
            store_body_bytes=settings.audit_store_body_bytes,
        ),
        RateRules(
            read=Rate.parse(settings.rate_limit_read or read),
            write=writes,
            importer=writes.times(_IMPORTER_FACTOR) if writes else None,
        ),
    )
    return lambda tenant_id: rules  # noqa: ARG005 - tenants may differ once they have documents of their own


def _retention_us(settings: Settings) -> int:
    if not settings.audit_retention:
        return duration_us(_RETENTION.get(settings.preset, _RETENTION_OF_OTHERS))
    length_us = duration_us(settings.audit_retention, field="LAMINA_AUDIT_RETENTION")
    if not RETENTION_MIN_US <= length_us <= RETENTION_MAX_US:
        raise Invalid(
            "INVALID_SETTING",
            f"LAMINA_AUDIT_RETENTION is {settings.audit_retention!r}; accepted: P90D to P7Y",
            details={"setting": "LAMINA_AUDIT_RETENTION"},
        )
    return length_us
