"""What is laid down beyond grants: how long audit rows are kept and what they hold, how fast actors may call.

A preset's defaults are the start, an operator's settings take their place (``presets.preset_of``), and the documents of
tenants and actors follow (``Snapshot.audit_rules``, ``Snapshot.rate_rules``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from lamina.errors import Invalid
from lamina.kernel.time import duration_us
from lamina.settings import Settings

__all__ = [
    "RETENTION_MAX_US",
    "RETENTION_MIN_US",
    "AuditRules",
    "Rate",
    "RateRules",
    "Rules",
    "settings_defaults",
]

RETENTION_MIN_US: Final = duration_us("P90D")
RETENTION_MAX_US: Final = duration_us("P7Y")
_RATE = re.compile(r"([1-9]\d{0,8})/(s|m|h)", re.ASCII)
_PERIOD_S: Final = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class AuditRules:
    """How long rows stay, how often peppers change and how long one is kept beyond the rows it was used for."""

    retention_us: int = duration_us("P2Y")
    pepper_rotation_us: int = duration_us("P3M")
    pepper_buffer_us: int = duration_us("P3M")
    store_body_bytes: bool = True


@dataclass(frozen=True, slots=True)
class Rate:
    """So many calls in a period: the size of the bucket, and how long it takes to fill. Compared by calls per second."""

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

    def __lt__(self, other: Rate) -> bool:
        return self.count * other.period_s < other.count * self.period_s

    def __gt__(self, other: Rate) -> bool:
        return other < self

    def __str__(self) -> str:
        unit = next(unit for unit, seconds in _PERIOD_S.items() if seconds == self.period_s)
        return f"{self.count}/{unit}"


@dataclass(frozen=True, slots=True)
class RateRules:
    """How fast one actor may read and write, and how fast a tenant's importers may; None is without limit."""

    read: Rate | None = None
    write: Rate | None = None
    importer: Rate | None = None

    def shown(self) -> Mapping[str, str]:
        """The limits as texts, by name; none where there is none."""
        named = {"write": self.write, "read": self.read, "importer": self.importer}
        return {name: str(rate) for name, rate in named.items() if rate is not None}


class Rules(Protocol):
    """What holds now: each look may find what was put a moment ago."""

    def audit_rules(self, tenant_id: str) -> AuditRules:
        """What is laid down for a tenant's audit rows."""
        ...

    def rate_rules(self, tenant_id: str, actor: str) -> RateRules:
        """How fast an actor may call. An empty tenant is that of callers who are not known."""
        ...


def settings_defaults(settings: Settings) -> dict[str, bool | str | None]:
    """What an operator's settings put in place of a preset's defaults; None takes one away. Raises ``Invalid``."""
    said: dict[str, bool | str | None] = {}
    for name, text in (("write", settings.rate_limit_write), ("read", settings.rate_limit_read)):
        if text:
            said[f"rate_limit.{name}"] = None if Rate.parse(text) is None else text
    if settings.audit_retention:
        length_us = duration_us(settings.audit_retention, field="LAMINA_AUDIT_RETENTION")
        if not RETENTION_MIN_US <= length_us <= RETENTION_MAX_US:
            raise Invalid(
                "INVALID_SETTING",
                f"LAMINA_AUDIT_RETENTION is {settings.audit_retention!r}; accepted: P90D to P7Y",
                details={"setting": "LAMINA_AUDIT_RETENTION"},
            )
        said["audit.retention"] = settings.audit_retention
    if not settings.audit_store_body_bytes:
        said["audit.store_body_bytes"] = False
    return said
