"""Which of two states of a document stays, as a function of values.

Each server counts the versions of a document on its own. Their clock is shared: what was agreed on when it was last taken
over or handed out, and one more for each write since. Two servers that decide about the same two states keep the same one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from lamina.coordination.replication.requests import ConflictPolicy

__all__ = ["Arrival", "Fate", "FileDecision", "Here", "decided"]


class Fate(StrEnum):
    """What becomes of a file that arrives."""

    SAME = "same"
    LAND = "land"
    KEEP = "keep"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file as it arrives: no content where it was taken away, no version where the source counts none."""

    version: int | None
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Here:
    """The document as it stands: its clock, and the clock that was last agreed on, 0 for none."""

    clock: int
    agreed: int
    content: bytes | None

    @property
    def untouched(self) -> bool:
        """Whether nobody wrote here since."""
        return self.clock == self.agreed


@dataclass(frozen=True, slots=True)
class FileDecision:
    """What becomes of the file, whether both sides had written it, and the clock that counts from now on."""

    fate: Fate
    clock: int
    conflict: bool = False


def decided(
    arrival: Arrival, here: Here, policy: ConflictPolicy, mode: Literal["upsert", "overwrite"]
) -> FileDecision:
    """The state that stays. A file without a version never takes the place of what was written here, unless the policy says so."""
    version = arrival.version
    if arrival.content == here.content:
        # The source agrees at its own count, also where more was written here on the way to the same: a higher one would
        # make its next write look older than what was agreed on. What is older than that tells of no new agreement.
        return FileDecision(Fate.SAME, here.clock if version is None or version < here.agreed else version)
    land = version if version is not None and version >= here.clock else here.clock + 1
    if mode == "overwrite":
        return FileDecision(Fate.LAND, land, conflict=not here.untouched)
    if here.untouched and (version is None or version > here.clock):
        return FileDecision(Fate.LAND, land)
    if version is not None and (version < here.agreed or (version == here.agreed and not here.untouched)):
        return FileDecision(Fate.KEEP, here.clock)  # what the other side had before
    fate = _OF_POLICY.get(policy) or (Fate.LAND if _later(arrival, here) else Fate.KEEP)
    return FileDecision(fate, land if fate is Fate.LAND else here.clock, conflict=True)


_OF_POLICY: Final[dict[ConflictPolicy, Fate]] = {
    "source_wins": Fate.LAND,
    "target_wins": Fate.KEEP,
    "error": Fate.REFUSE,
}


def _later(arrival: Arrival, here: Here) -> bool:
    """Whether what arrives is the later write. Of two that are as late, the content alone decides, alike on both sides."""
    if arrival.version is None or arrival.version < here.clock:
        return False
    return arrival.version > here.clock or _rank(arrival.content) > _rank(here.content)


def _rank(content: bytes | None) -> bytes:
    return b"" if content is None else hashlib.sha256(content).digest()
