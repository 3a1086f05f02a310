"""What a failed attempt becomes: another one after a while, or a failure for good that stays visible.

Jobs, rows of the outbox and inquiries keep one rule, and differ where callers say so. A lease that ran out is an attempt of a job
alone. A row of the outbox that failed for good after its last attempt keeps the time at which the next would have been, one that was
refused has none. An answer that cannot take effect fails at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lamina import limits
from lamina.kernel.time import Instant, doubling_us

__all__ = ["JOBS", "OUTBOX", "Patience", "kept_error", "lost_wait_us"]


@dataclass(frozen=True, slots=True)
class Patience:
    """How often something is tried, and how long it waits after each failure: ``base_s``, twice that, four times and so on,
    up to ``wait_s_max``."""

    attempts_max: int
    base_s: float
    wait_s_max: float = 86_400.0

    def is_over(self, failures: int) -> bool:
        """Whether nothing is tried again after so many failures."""
        return failures >= self.attempts_max

    def wait_us(self, failures: int) -> int:
        """How long the next attempt waits after so many failures, at least one."""
        return doubling_us(self.base_s, failures, self.wait_s_max)

    def retry_at(self, failures: int, now: Instant) -> Instant | None:
        """When the next attempt is due after so many failures, the last of them ``now``; None for a failure for good.

        >>> [JOBS.retry_at(failures, 0) for failures in (1, 4, 5)]
        [5000000, 40000000, None]
        """
        return None if self.is_over(failures) else now + self.wait_us(failures)


JOBS: Final = Patience(limits.JOB_ATTEMPTS_MAX, limits.JOB_BACKOFF_BASE_S)
OUTBOX: Final = Patience(
    limits.OUTBOX_ATTEMPTS_MAX, limits.OUTBOX_BACKOFF_BASE_S, limits.OUTBOX_BACKOFF_S_MAX
)
"""For inquiries, too."""


def lost_wait_us(lost: int) -> int:
    """How long a job waits after it lost its ``lost``-th lease: not at all, then 5, 10, 20 s."""
    return 0 if lost < 2 else JOBS.wait_us(lost - 1)


def kept_error(error: str) -> str:
    """What is kept of an error beside what failed."""
    return error[: limits.JOB_ERROR_LENGTH_MAX]
