"""What a hook does at each event. At a start the model is given the capsule's page, at a prompt what memory holds on it; at a stop the turn is
sent to the server.

A turn is kept in the notes until a server has it, so that neither a crash of the host nor a server that is away loses it: the next
start of anybody in the same folder sends what was left over.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final

from lamina.hooks.checkout import checkout_of
from lamina.hooks.choices import Choices
from lamina.hooks.hosts import HookEvent, HookOutput
from lamina.hooks.memory import LineMemory
from lamina.hooks.notes import LineNotes, Notes, SessionNotes, Turn
from lamina.hooks.page import (
    PAGE_TOKENS_MIN,
    TOKENS_MAX,
    Start,
    mark_of,
    recall_block,
    start_block,
    tokens,
    wish,
)
from lamina.hooks.transcripts import arrived, last_reply
from lamina.hooks.wire import Refused
from lamina.language.secret_formats import masked

__all__ = ["OFF_RECORD", "Handling"]

OFF_RECORD: Final = "#off-record"
"""In a prompt: this turn is not remembered, and memory is not asked about it."""
_WISH_BEGINS: Final = "Lamina: bring the capsule"
_COMMAND: Final = re.compile(r"/[A-Za-z][\w:-]*(?:\s|$)")
_PROMPTS_KEPT: Final = 3
_PROMPT_NOTED_MAX: Final = 160
_UNSENT_MAX: Final = 50
_SENT_AT_ONCE_MAX: Final = 20
_WRONG_TURN: Final = frozenset({400, 409, 413, 422})
"""Statuses after which a turn is not sent again, as it never will be taken; whatever else answers, another server on the port too, took nothing."""
_WRONG_CHOICE: Final = frozenset({"INVALID_ACTOR", "INVALID_SCOPE_GRAMMAR"})
"""Codes of what the environment or the folder chose, not of the turn: it waits until that is mended."""
_RECALLED_KEPT: Final = 400
_RECALL_WORDS_MIN: Final = 3


@dataclass
class Handling:
    """The steps of one event. ``now`` has a zone."""

    moment: HookEvent
    choices: Choices
    memory: LineMemory
    notes: Notes
    environment: Mapping[str, str]
    now: datetime

    def answer(self) -> HookOutput:
        """What the host is told; raises ``Away`` and ``Refused`` where nothing else can be done."""
        own = self.notes.session(self.moment.host, self.moment.session)
        own.folder, own.host, own.session = self._folder, self.moment.host, self.moment.session
        try:
            return _STEPS[self.moment.event](self, own)
        finally:
            if self.moment.event == "SessionEnd" and not (own.open or own.unsent):
                self.notes.end_session(self.moment.host, self.moment.session)
            else:
                self._note(own)

    # ---- the events

    def _session_start(self, own: SessionNotes) -> HookOutput:
        compacted = self.moment.source == "compact"
        own.page_arrived = False
        own.compacted = own.compacted or compacted
        if compacted:
            own.recalled = []  # what stood before the model stands there no more
        elif self.moment.source == "clear":
            own.compacted = True
        self._send_left_over()
        return HookOutput(context=self._start(fresh=not compacted))

    def _prompt(self, own: SessionNotes) -> HookOutput:
        prompt = self.moment.prompt
        self._close_turn(own, interrupted=True)
        own.private = OFF_RECORD in prompt
        if self.choices.records and not own.private and _is_said(prompt):
            clean = masked(prompt)
            own.open = asdict(Turn(self._at, clean))
            own.prompts = [*own.prompts, clean[:_PROMPT_NOTED_MAX]][-_PROMPTS_KEPT:]
        self._note(own)
        parts = []
        if not own.page_arrived:
            if not arrived(self.moment.transcript, mark_of(self.moment.session)):
                with contextlib.suppress(
                    Refused
                ):  # the start said so; memory may be open where capsules are not
                    parts.append(self._start(fresh=not own.compacted))
            own.page_arrived = True
        if self.choices.recalls and not own.private and _is_said(prompt):
            parts.append(self._recalled(own))
        return HookOutput(context="\n\n".join(part for part in parts if part))

    def _response(self, own: SessionNotes) -> HookOutput:
        if own.open is not None and self.moment.reply:
            own.open["reply"] = masked(self.moment.reply)
        return HookOutput()

    def _stop(self, own: SessionNotes) -> HookOutput:
        took_place = own.open is not None
        self._close_turn(own)
        self._was_here()
        self._send(own)
        if self.moment.continues:  # what was asked for is done: the count begins behind it
            self._count_from_now()
        if self.moment.continues or own.private or not took_place:
            return HookOutput()
        return HookOutput(wish=wish(self.choices.line)) if self._is_time_to_ask() else HookOutput()

    def _pre_compact(self, own: SessionNotes) -> HookOutput:
        self._send(own)
        if (
            own.open is not None
        ):  # goes on behind the compaction; what is sent again with its answer is stored once
            self._keep_turn(own, own.open)
        self._keep_checkpoint(own, "before a compaction")
        return HookOutput()

    def _session_end(self, own: SessionNotes) -> HookOutput:
        self._close_turn(own)
        self._was_here()
        self._send(own)
        self._keep_checkpoint(own, "at the end of a session")
        return HookOutput()

    # ---- in

    def _start(self, *, fresh: bool) -> str:
        """The block of a start; ``fresh`` where the session was not here a moment ago."""
        written_at = self.memory.written_at()
        start = Start(self.choices.line, bool(written_at), self.memory.said_since(written_at))
        if not written_at:
            return start_block(start, "", self.moment.session)
        left = TOKENS_MAX - tokens(start_block(start, "", self.moment.session)) - 1
        here_at = self._line.here_at.get(self.moment.host, "") if fresh else ""
        page = self.memory.page(max(PAGE_TOKENS_MIN, left), _changed_after(written_at, here_at))
        return start_block(start, page, self.moment.session)

    def _recalled(self, own: SessionNotes) -> str:
        if len(self.moment.prompt.split()) < _RECALL_WORDS_MIN:
            return ""
        found = self.memory.recalled(self.moment.prompt, with_own=own.compacted)
        if found is None or set(found.ids) <= set(own.recalled):
            return ""
        own.recalled = [*own.recalled, *found.ids][-_RECALLED_KEPT:]
        return recall_block(found)

    # ---- out

    def _note(self, own: SessionNotes) -> None:
        """Keep what is noted so far, before a server is asked: one that takes too long has this process ended where it stands."""
        self.notes.keep_session(self.moment.host, self.moment.session, own)

    def _close_turn(self, own: SessionNotes, *, interrupted: bool = False) -> None:
        """The open turn waits to be sent. Of an ``interrupted`` one the last answer in the transcript may be another turn's."""
        if own.open is None:
            return
        reply = self.moment.reply or own.open.get("reply")
        if not reply and not interrupted:
            reply = last_reply(self.moment.transcript)
        turn = {**own.open, "reply": masked(reply) if reply else None}
        own.open = None
        if self.choices.records:
            own.unsent = [*own.unsent, turn][-_UNSENT_MAX:]
            self._note(own)
            kept = self._line
            kept.turns += 1
            kept.since = kept.since or self._at
            self.notes.keep_line(self._folder, self.choices.line.label, kept)

    def _was_here(self) -> None:
        kept = self._line
        kept.here_at[self.moment.host] = self._at
        self.notes.keep_line(self._folder, self.choices.line.label, kept)

    def _keep_turn(self, notes: SessionNotes, given: Mapping[str, Any]) -> None:
        agent = self.choices.agent or f"agent:{notes.host}"
        try:
            self.memory.keep(_turn(given), notes.session, agent)
        except Refused as refused:
            if refused.status not in _WRONG_TURN or refused.code in _WRONG_CHOICE:
                raise  # not the turn is wrong, but who calls or who answers

    def _send(self, notes: SessionNotes) -> None:
        """Send what no server took yet, oldest first; raises ``Away``, and keeps the rest."""
        for given in list(islice(notes.unsent, _SENT_AT_ONCE_MAX)):
            self._keep_turn(notes, given)
            notes.unsent.remove(given)

    def _send_left_over(self) -> None:
        if not self.choices.records:
            return
        here = self.notes.left_over(self.moment.host, self.moment.session, self._folder)
        for path, notes in here:
            waiting, sent_open = list(notes.unsent), None
            try:
                self._send(notes)
                if notes.open is not None:
                    # Its session may go on beside this one: the turn stays open there, and with its answer is sent again.
                    self._keep_turn(notes, notes.open)
                    sent_open = notes.open
            finally:
                sent = [turn for turn in waiting if turn not in notes.unsent]
                self.notes.take_away(path, sent, sent_open)

    def _keep_checkpoint(self, own: SessionNotes, when: str) -> None:
        if not self.choices.records or not own.prompts:
            return
        facts = checkout_of(self.choices.folder, self.environment).words
        asked = " | ".join(own.prompts)
        self.memory.keep_checkpoint(self._at, f"{when}: {facts or 'no repository'}\nasked last: {asked}")

    def _is_time_to_ask(self) -> bool:
        """Whether so many turns are over since the capsule was asked for, and nobody wrote it meanwhile."""
        kept, every = self._line, self.choices.ask_every
        if not every or kept.turns < every:
            return False
        written_at = self.memory.written_at()
        self._count_from_now()
        return not (written_at and _later(written_at, kept.since))

    def _count_from_now(self) -> None:
        kept = self._line
        kept.turns, kept.since = 0, self._at
        self.notes.keep_line(self._folder, self.choices.line.label, kept)

    @property
    def _folder(self) -> str:
        return str(self.choices.folder)

    @property
    def _line(self) -> LineNotes:
        return self.notes.line(self._folder, self.choices.line.label)

    @property
    def _at(self) -> str:
        return self.now.isoformat(timespec="milliseconds")


_STEPS: Final[Mapping[str, Callable[[Handling, SessionNotes], HookOutput]]] = {
    "SessionStart": Handling._session_start,
    "UserPromptSubmit": Handling._prompt,
    "AgentResponse": Handling._response,
    "Stop": Handling._stop,
    "PreCompact": Handling._pre_compact,
    "SessionEnd": Handling._session_end,
}


def _is_said(prompt: str) -> bool:
    """Whether a prompt is something that a person says: not a command of the host's, nor our own wish as Cursor repeats it."""
    told = prompt.strip()
    return bool(told) and not told.startswith(_WISH_BEGINS) and _COMMAND.match(told) is None


def _changed_after(written_at: str, here_at: str) -> str:
    """When somebody was here last, where the capsule was written after that; else nothing is to be told."""
    return here_at if here_at and _later(written_at, here_at) else ""


def _turn(given: Mapping[str, Any]) -> Turn:
    reply = given.get("reply")
    return Turn(str(given["at"]), str(given["prompt"]), None if reply is None else str(reply))


def _later(one: str, other: str) -> bool:
    try:
        return datetime.fromisoformat(one) > datetime.fromisoformat(other)
    except (ValueError, TypeError):
        return False
