"""The mark "may have changed": a later turn spoke of a fact's matter with a sign of change, and nobody read there that the fact ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from lamina.kernel.heads import RecordHead
from lamina.kernel.local import day_text
from lamina.kernel.records import Fact, Support
from lamina.kernel.ties import SAYS_AGAIN, Tie
from lamina.kernel.time import Instant

__all__ = ["MayHaveChanged", "change_mark", "deciding", "is_after", "may_have_changed"]

_SAYS: Final = frozenset({Tie.EXTRACTED_FROM, Tie.AFFIRMED_BY, *SAYS_AGAIN})
"""What says a fact, or an open loop, again."""


@dataclass(frozen=True, slots=True)
class MayHaveChanged:
    """The turn by which a fact may have changed, and when it was said."""

    event_id: str
    observed_at: Instant


class Deciding(NamedTuple):
    """The newest mark of a fact, and what said the fact after that was heard of, the newest first."""

    mark: Support
    said: Sequence[Support]


def change_mark(changed: MayHaveChanged | None, marker: str | None = None) -> str:
    """What stands behind a line that may have changed: the marker of the turn by which, or its day."""
    if changed is None:
        return ""
    return f" (may have changed{f': {marker}' if marker else f' {day_text(changed.observed_at, None)}'})"


def may_have_changed(
    fact: Fact | RecordHead, supports: Sequence[Support], said_at: Mapping[str, Instant]
) -> MayHaveChanged | None:
    """The newest mark of a fact, as its supports stand; None once it was said again after that, or ended by then. ``said_at`` is when each turn was
    said: an older word that is heard of later clears nothing. Of a turn that it does not have counts when that was heard of."""
    both = deciding(supports)
    if both is None:
        return None
    mark = both.mark
    ended = fact.valid_to is not None and fact.valid_to <= mark.since
    if ended or fact.superseded_by is not None or any(is_after(mark, each, said_at) for each in both.said):
        return None
    return MayHaveChanged(mark.source_id, mark.since)


def is_after(mark: Support, said: Support, said_at: Mapping[str, Instant]) -> bool:
    """Whether what was heard of after a mark was said after its turn, too."""
    return said_at.get(said.source_id, mark.since) >= mark.since


def deciding(supports: Sequence[Support]) -> Deciding | None:
    """Which of a fact's supports say whether it may have changed; None where nothing says that it may."""
    marks = [each for each in supports if each.relation == Tie.MAY_CHANGE]
    mark = max(marks, key=lambda each: (each.since, each.recorded_at, each.source_id), default=None)
    if mark is None:
        return None
    said = [each for each in supports if each.relation in _SAYS and each.recorded_at > mark.recorded_at]
    return Deciding(mark, sorted(said, key=lambda each: each.recorded_at, reverse=True))
