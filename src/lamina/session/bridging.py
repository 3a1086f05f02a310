"""The bridge of a sitting that is over, in a language model's words: what to know of it when its user is back.

Rules write a bridge when the last turn is folded. The model is asked once behind that, when its words for the turns have landed too. What
it says is recorded by the lines that it was shown, so that a replay tells the same. Where too little of it is borne out, rules' words stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lamina.kernel.events import Event
from lamina.models import wording_bounds
from lamina.models.cited_text import CitedQuestion, NumberedLine, cited_sentences, showable
from lamina.session.accepting import keeps
from lamina.session.cited_asking import CitedAsker
from lamina.session.folding import SUMMARY_CHARS_MAX, bridge_text, said_of, told_lines
from lamina.store.ports.sessions import Reworded, Sitting
from lamina.store.ports.store import Store
from lamina.store.ports.writes import BRIDGE, Inquiry

__all__ = ["TURNS_SHOWN", "Bridging", "bridge_by_answer", "bridge_question"]

TURNS_SHOWN: Final = 8
"""The last turns of a sitting, which are shown beside its summary."""
_LINES_FROM: Final = 2
_WANTED: Final = (
    "You write what an assistant should know of the last conversation with a person when that person comes back, as 2 to 5 short sentences: "
    "what it was about, what was decided, and what was left open. You write it from numbered lines: a summary of the conversation, and its last turns."
)


def bridge_question(sitting: Sitting, summary: str, turns: Sequence[Event]) -> CitedQuestion | None:
    """What to ask about a sitting with a summary, whose last turns these are; None where there is too little to tell."""
    place = sitting.place
    told = [NumberedLine(f"summary {number}", line) for number, line in enumerate(told_lines(summary), 1)]
    for turn in turns[-TURNS_SHOWN:]:
        said = said_of(turn)
        if said.text and not turn.excluded:
            told.append(NumberedLine(turn.id, f"{said.role.capitalize()}: {said.text}"))
    lines = showable(told, most=wording_bounds.CITED_LINES_MAX)
    if len(lines) < _LINES_FROM:
        return None
    key = f"{place.session} {sitting.number}"
    return CitedQuestion(task=BRIDGE, scope=place.scope, wanted=_WANTED, about="", lines=lines, key=key)


def bridge_by_answer(answer: str, question: CitedQuestion, summary: str) -> str | None:
    """The bridge in the sentences of an answer that stand; None where they tell too little of what the summary does."""
    sentences = cited_sentences(answer, question.lines) or ()
    text = " ".join(each.text for each in sentences)
    if not text or len(text) > SUMMARY_CHARS_MAX or not keeps(text, summary):
        return None
    return bridge_text(text, ())


@dataclass(frozen=True, slots=True)
class Bridging:
    """Words the bridges of a store by a model."""

    store: Store
    asker: CitedAsker

    def settle(self, inquiry: Inquiry) -> bool:
        """Word the bridge of the sitting that an inquiry's turn was the last of, and end the inquiry. Whether the model was asked.
        Raises what it raises."""
        sitting = self.store.sessions.left(inquiry.tenant_id, inquiry.event_id)
        if sitting is None or sitting.bridge is None or sitting.worded is not None:
            self.store.inquiries.drop(inquiry)
            return False
        folded = self.store.sessions.folded(sitting.place, sitting.number)
        last = folded[-TURNS_SHOWN:]
        found = self.store.log.get(inquiry.tenant_id, last)
        question = bridge_question(sitting, sitting.summary, [found[each] for each in last if each in found])
        bridge, known = None, True
        if question is not None:
            known = self.store.model_outputs.find(inquiry.tenant_id, question.input_hash) is not None
            # The summary may tell of any turn of the sitting.
            output = self.asker.recorded(inquiry, question, folded)
            bridge = bridge_by_answer(output.text, question, sitting.summary)
        landed = self.store.sessions.reword(
            Reworded(sitting=sitting, inquiry=inquiry, worded=None, summary=None, bridge=bridge)
        )
        if not landed:
            self.store.inquiries.release([inquiry])
        return not known
