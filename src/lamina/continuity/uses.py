"""Which capsules were read of late in this process: a hint for the refresh plan, not a record."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from lamina import limits
from lamina.continuity.subjects import Subject
from lamina.kernel.time import SECOND_US, Instant

__all__ = ["RecentUses"]

_RECENT_US: Final = 7 * 86_400 * SECOND_US


class RecentUses:
    """The last uses of subjects, the longest unused forgotten first."""

    def __init__(self) -> None:
        self._last: OrderedDict[tuple[str, str, str], Instant] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, tenant_id: str, subject: Subject, now: Instant) -> None:
        """The subject's capsule was used now."""
        key = (tenant_id, subject.kind, subject.slug)
        with self._lock:
            self._last[key] = now
            self._last.move_to_end(key)
            while len(self._last) > limits.CONTINUITY_READS_KEPT_MAX:
                self._last.popitem(last=False)

    def recent(self, tenant_id: str, subject: Subject, now: Instant) -> bool:
        """Whether the subject's capsule was used in the last seven days."""
        with self._lock:
            last = self._last.get((tenant_id, subject.kind, subject.slug))
        return last is not None and now - last <= _RECENT_US
