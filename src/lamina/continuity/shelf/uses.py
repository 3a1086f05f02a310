"""Which capsules were used of late: the audit rows of calls say so, and the refresh plan asks."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, Protocol

from lamina.continuity.capsule.subjects import Subject
from lamina.kernel.operations import Call
from lamina.kernel.time import SECOND_US, Instant

__all__ = ["NoUses", "Uses", "note_use", "recently_used"]

_RECENT_US: Final = 7 * 86_400 * SECOND_US
_NOTED: Final = "subjects"


class Uses(Protocol):
    """What calls noted, as far as their audit rows are on disk."""

    def noted(self, tenant_id: str, name: str, since: Instant, among: Collection[str]) -> Collection[str]:
        """Those of some entries that calls of a tenant noted under a name, from an instant on: what was noted is kept as hashes."""
        ...


class NoUses:
    """``Uses`` where calls leave no rows."""

    def noted(self, *_: object) -> Collection[str]:
        """Mirrors ``Uses.noted``."""
        return ()


def note_use(call: Call, subject: Subject) -> None:
    """The call gave out the subject's capsule."""
    call.noted.setdefault(_NOTED, []).append(_label(subject))


def recently_used(uses: Uses, call: Call, paths: Iterable[str]) -> frozenset[str]:
    """Those of the paths of capsules that were given out in the last seven days."""
    since = call.now - _RECENT_US
    labels = {_label_of(path): path for path in paths}
    noted = uses.noted(call.principal.tenant_id, _NOTED, since, labels.keys())
    return frozenset(labels[label] for label in noted)


def _label(subject: Subject) -> str:
    return f"{subject.kind}:{subject.slug}"


def _label_of(active_path: str) -> str:
    return active_path.rpartition("/")[2].removesuffix(".json").replace("-", ":", 1)
