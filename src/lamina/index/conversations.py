"""Who speaks in the rows of a scope, and which turn of a session stands before and behind each."""

from __future__ import annotations

from array import array
from collections.abc import Collection

from lamina.index.columns import NONE, Numbers
from lamina.kernel.records import Layer
from lamina.kernel.time import Instant
from lamina.store.ports.index import TextRow

__all__ = ["Conversations"]


class Conversations:
    """Columns of numbers of sessions and speakers, and of the places of neighbours; one entry a row, ``NONE`` without.

    The turns of a session stand in the order in which they were recorded, whenever each came to be indexed.
    """

    def __init__(self, recorded_at: array[int]) -> None:
        self._recorded_at = recorded_at
        self._session_numbers = Numbers()
        self._speaker_numbers = Numbers()
        self._last_in_session: dict[int, int] = {}
        self.sessions = array("i")
        self.speakers = array("i")
        self.previous = array("i")
        self.following = array("i")

    @property
    def names(self) -> Collection[str]:
        """The names of those who speak, in the order of their numbers."""
        return self._speaker_numbers.keys()

    def add(self, text: TextRow, older: int | None) -> None:
        """Take in the next row; where it replaces the one at ``older``, it takes that one's place in the session."""
        place = len(self.sessions)
        session = speaker = before = after = NONE
        if text.layer is Layer.EVENTS:
            speaker = self._speaker_numbers[text.speaker] if text.speaker else NONE
            if older is not None:
                self._leave(older)
            if text.session is not None:
                session = self._session_numbers[text.session]
                before, after = self._between(session, text.recorded_at)
        self.sessions.append(session)
        self.speakers.append(speaker)
        self.previous.append(before)
        self.following.append(after)
        self._join(before, place)
        self._join(place, after)
        if session != NONE and after == NONE:
            self._last_in_session[session] = place

    def _between(self, session: int, recorded_at: Instant) -> tuple[int, int]:
        before, after = self._last_in_session.get(session, NONE), NONE
        while before != NONE and self._recorded_at[before] > recorded_at:
            before, after = self.previous[before], before
        return before, after

    def _leave(self, place: int) -> None:
        session, before, after = self.sessions[place], self.previous[place], self.following[place]
        self.previous[place] = self.following[place] = NONE
        if before != NONE:
            self.following[before] = after
        if after != NONE:
            self.previous[after] = before
        elif before != NONE:
            self._last_in_session[session] = before
        else:
            self._last_in_session.pop(session, None)

    def _join(self, before: int, after: int) -> None:
        if before != NONE:
            self.following[before] = after
        if after != NONE:
            self.previous[after] = before
