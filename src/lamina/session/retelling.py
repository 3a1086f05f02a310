"""Summaries made anew, as a replay makes them: of the turns that they tell of, by what a language model was recorded to say, else by rules.

Nobody is asked. A summary in a model's words of which nothing is recorded, as an older release left it, stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina import limits
from lamina.kernel.canonical import digest
from lamina.kernel.events import Event
from lamina.session.bridging import TURNS_SHOWN, bridge_by_answer, bridge_question
from lamina.session.folding import TurnWords, bridge_text, fold_turn, is_by_rules, said_of
from lamina.store.ports.sessions import Sitting
from lamina.store.ports.store import Store
from lamina.store.ports.writes import FOLD

__all__ = ["hash_of_fold", "retell"]


def hash_of_fold(sitting: Sitting, summary: str, turn: TurnWords) -> str:
    """The hash of what a model is given to put a turn into the summary of a sitting, whichever model it is."""
    place = sitting.place
    return digest(
        {
            "task": FOLD,
            "scope": place.scope,
            "session": place.session,
            "number": sitting.number,
            "summary": summary,
            "role": turn.role,
            "turn": turn.text,
        }
    )


def retell(store: Store) -> int:
    """Make the summary and the bridge of every sitting anew for which no model is being asked; how many."""
    told, after = 0, None
    while sittings := store.sessions.walk(after, limits.SITTINGS_WALKED):
        for sitting in sittings:
            if sitting.folded and sitting.worded is None:
                told += _retold(store, sitting)
        after = sittings[-1]
    return told


def _retold(store: Store, sitting: Sitting) -> bool:
    tenant_id = sitting.place.tenant_id
    ids = store.sessions.folded(sitting.place, sitting.number)
    summary, is_recorded = "", False
    turns: list[Event] = []
    for start in range(0, len(ids), limits.SITTINGS_WALKED):
        chunk = ids[start : start + limits.SITTINGS_WALKED]
        events = store.log.get(tenant_id, chunk)
        turns = [*turns, *(events[key] for key in chunk if key in events)][-TURNS_SHOWN:]
        for event in (events[key] for key in chunk if key in events and not events[key].excluded):
            said = said_of(event)
            known = store.model_outputs.find(tenant_id, hash_of_fold(sitting, summary, said))
            summary = fold_turn(summary, said) if known is None else known.text
            is_recorded = is_recorded or known is not None
    if not (is_recorded or is_by_rules(sitting.summary)):
        return False
    bridge = None if sitting.bridge is None else _bridge(store, sitting, summary, turns)
    return store.sessions.retell(sitting, summary, bridge)


def _bridge(store: Store, sitting: Sitting, summary: str, turns: Sequence[Event]) -> str:
    question = bridge_question(sitting, summary, turns)
    tenant_id = sitting.place.tenant_id
    known = None if question is None else store.model_outputs.find(tenant_id, question.input_hash)
    worded = None if question is None or known is None else bridge_by_answer(known.text, question, summary)
    return worded or bridge_text(summary, ())
