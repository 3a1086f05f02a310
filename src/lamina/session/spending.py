"""What language models may cost is counted by UTC days."""

from __future__ import annotations

from typing import Final

from lamina.kernel.time import SECOND_US, Instant

__all__ = ["DAY_US", "day_of"]

DAY_US: Final = 24 * 3600 * SECOND_US


def day_of(at: Instant) -> int:
    """The UTC day of an instant, in days since 1970."""
    return at // DAY_US
