"""The mark "may have changed": a later turn spoke of a fact's matter with a sign of change, and nobody read there that the fact ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from lamina.kernel.heads import RecordHead
from lamina.kernel.local import day_text
from lamina.kernel.records import Fact, Support
from lamina.kernel.ties import SAYS_AGAIN, Tie
from lamina.kernel.time import Instant

__all__ = ["MayHaveChanged", "change_mark", "deciding", "may_have_changed"]

_SAYS: Final = frozenset({Tie.EXTRACTED_FROM, Tie.AFFIRMED_BY, *SAYS_AGAIN})
"""What says a fact, or an open loop, again."""


@dataclass(frozen=True, slots=True)
class MayHaveChanged:
    """The turn by which a fact may have changed, and when it was said."""

    event_id: str
    observed_at: Instant


class Deciding(NamedTuple):
    """The newest mark of a fact, and what said the fact last; None where nothing did."""

    mark: Support | None
    said: Support | None


def change_mark(changed: MayHaveChanged | None, marker: str | None = None) -> str:
    """What stands behind a line that may have changed: the marker of the turn by which, or its day."""
    if changed is None:
        return ""
    return f" (may have changed{f': {marker}' if marker else f' {day_text(changed.observed_at, None)}'})"


def may_have_changed(fact: Fact | RecordHead, supports: Sequence[Support]) -> MayHaveChanged | None:
    """The newest mark of a fact, as its supports stand; None once it was said again after that, or ended by then."""
    newest, said = deciding(supports)
    if newest is None:
        return None
    ended = fact.valid_to is not None and fact.valid_to <= newest.since
    is_said_again = said is not None and said.recorded_at > newest.recorded_at
    if ended or fact.superseded_by is not None or is_said_again:
        return None
    return MayHaveChanged(newest.source_id, newest.since)


def deciding(supports: Sequence[Support]) -> Deciding:
    """Which of a fact's supports say whether it may have changed."""
    marks = [each for each in supports if each.relation == Tie.MAY_CHANGE]
    said = [each for each in supports if each.relation in _SAYS]
    return Deciding(
        max(marks, key=lambda each: (each.since, each.recorded_at, each.source_id), default=None),
        max(said, key=lambda each: each.recorded_at, default=None),
    )
