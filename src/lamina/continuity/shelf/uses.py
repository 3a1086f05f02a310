"""Which capsules were used of late: the audit rows of calls say so, and the refresh plan asks."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Protocol

from lamina.continuity.capsule.subjects import Subject
from lamina.kernel.operations import Call
from lamina.kernel.time import SECOND_US, Instant

__all__ = ["NoUses", "Uses", "note_use", "recently_used"]

_RECENT_US: Final = 7 * 86_400 * SECOND_US
_NOTED: Final = "subjects"


class Uses(Protocol):
    """What calls noted, as far as their audit rows are on disk."""

    def noted(self, tenant_id: str, name: str, since: Instant) -> Collection[str]:
        """Every entry of the lists that calls of a tenant noted under a name, from an instant on."""
        ...


class NoUses:
    """``Uses`` where calls leave no rows."""

    def noted(self, tenant_id: str, name: str, since: Instant) -> Collection[str]:  # noqa: ARG002
        """Mirrors ``Uses.noted``."""
        return ()


def note_use(call: Call, subject: Subject) -> None:
    """The call gave out the subject's capsule."""
    call.noted.setdefault(_NOTED, []).append(_label(subject))


def recently_used(uses: Uses, call: Call) -> frozenset[str]:
    """The paths of the capsules that were given out in the last seven days."""
    since = call.now - _RECENT_US
    labels = uses.noted(call.principal.tenant_id, _NOTED, since)
    return frozenset(Subject(*label.split(":", 1)).active_path for label in labels)


def _label(subject: Subject) -> str:
    return f"{subject.kind}:{subject.slug}"
