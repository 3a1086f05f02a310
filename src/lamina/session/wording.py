"""Letting a language model word a summary behind the rules: turn after turn, as the turns left their window.

Rules have folded each of these turns by then, so that the summary tells of it whatever becomes of the model. What the model makes of
a turn takes the place of the rules' words, and the turns that still wait for it are put after that by rules. It is recorded by what the
model was given, so that nobody asks for it twice, and a replay tells the same (``retelling``).
"""

from __future__ import annotations

from dataclasses import dataclass

from lamina import limits
from lamina.kernel.events import Event
from lamina.kernel.time import Clock
from lamina.session.folders import TurnFolder
from lamina.session.folding import bridge_text, fold_turn, fold_turns, said_of
from lamina.session.retelling import hash_of_fold
from lamina.session.spending import day_of
from lamina.store.ports.model_outputs import ModelOutput, Spending
from lamina.store.ports.sessions import Reworded, Sitting, Wording
from lamina.store.ports.store import Store
from lamina.store.ports.writes import FOLD, Inquiry

__all__ = ["Rewording"]

_LANDINGS_TRIED = 5


@dataclass(frozen=True, slots=True)
class Rewording:
    """Words the turns of a store with a folder."""

    store: Store
    folder: TurnFolder
    clock: Clock

    def settle(self, inquiry: Inquiry, *, by_rules: bool = False) -> bool:
        """Word the turn of an inquiry, and end it; by rules where the folder is not to be asked. Whether it was asked. Raises what
        it raises."""
        wording = self._wording(inquiry)
        turn = self.store.log.get(inquiry.tenant_id, [inquiry.event_id]).get(inquiry.event_id)
        if wording is None:
            self.store.inquiries.drop(inquiry)
            return False
        base = wording.sitting.worded or ""
        text, asks = base, False
        if turn is not None and not turn.excluded:
            said = said_of(turn)
            asks = not by_rules and bool(said.text)
            known = self.store.model_outputs.find(turn.tenant_id, hash_of_fold(wording.sitting, base, said))
            asks = asks and known is None
            text = fold_turn(base, said) if known is None else known.text
            if asks:
                text = self._asked(inquiry, wording.sitting, base, turn)
        for _ in range(_LANDINGS_TRIED):
            if wording.sitting.worded != base or self._land(inquiry, wording, text):
                return asks
            wording = self._wording(inquiry)
            if wording is None:
                return asks
        self.store.inquiries.release([inquiry])
        return asks

    def _asked(self, inquiry: Inquiry, sitting: Sitting, base: str, turn: Event) -> str:
        """What the folder makes of a turn, recorded unless it is what rules make of it."""
        said, now = said_of(turn), self.clock.now()
        folded = self.folder.fold(base, said)
        name, outputs = self.folder.name, self.store.model_outputs
        tokens = (folded.tokens_in, folded.tokens_out)
        outputs.spend(Spending(turn.tenant_id, day_of(now), FOLD, name, 1, *tokens))
        if folded.text == fold_turn(base, said):
            return folded.text
        output = ModelOutput(
            tenant_id=turn.tenant_id, input_hash=hash_of_fold(sitting, base, said), task=FOLD, model=name,
            text=folded.text, tokens_in=tokens[0], tokens_out=tokens[1], recorded_at=now,
        )  # fmt: skip
        return outputs.record(output, [turn.id], inquiry, [turn.id]).text

    def _wording(self, inquiry: Inquiry) -> Wording | None:
        """The sitting of an inquiry whose turn is the next to be worded; None where nobody needs that any more."""
        wording = self.store.sessions.wording(inquiry.tenant_id, inquiry.event_id)
        return wording if wording is not None and wording.waiting[:1] == (inquiry.event_id,) else None

    def _land(self, inquiry: Inquiry, wording: Wording, text: str) -> bool:
        sitting, rest = wording.sitting, wording.waiting[1:]
        summary: str | None = None
        if len(rest) < limits.SESSION_WORDING_READ_MAX:
            summary = fold_turns(text, map(said_of, self._events(inquiry.tenant_id, rest)))
        bridge = bridge_text(summary, ()) if sitting.bridge is not None and summary is not None else None
        worded = text if rest else None
        return self.store.sessions.reword(
            Reworded(sitting=sitting, inquiry=inquiry, worded=worded, summary=summary, bridge=bridge)
        )

    def _events(self, tenant_id: str, event_ids: tuple[str, ...]) -> list[Event]:
        events = self.store.log.get(tenant_id, event_ids)
        return [events[key] for key in event_ids if key in events and not events[key].excluded]
