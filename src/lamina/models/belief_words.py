"""Why a belief is held, as a language model words it of its support graph (seed 002, 8.7.6): the facts that the belief counts, and the
statements that these rest on, quoted.

The words are looked up by these lines whenever somebody asks why, so that they never tell of others than this version of the belief rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from lamina.kernel.events import Event, text_of
from lamina.kernel.local import day_text
from lamina.kernel.records import Belief, Fact, Record
from lamina.kernel.time import Instant
from lamina.language.quarantine import quarantine_of, quarantine_of_words
from lamina.models import wording_bounds
from lamina.models.cited_text import CitedQuestion, CitedSentence, NumberedLine, cited_sentences, showable
from lamina.store.ports.store import Store

__all__ = ["TASK", "question_about_belief", "reasons_by"]

TASK: Final = "belief/1"

_STATEMENTS_FROM: Final = 2
"""Of one statement there is no more to tell than that statement, nor of one line."""
_QUOTED_OF_A_FACT: Final = 6
_EXTRACTED_FROM: Final = "extracted_from"
_WANTED: Final = (
    "You tell why a memory believes something, in 2 to 5 short sentences, from numbered lines: what it knows, and who said so when. "
    "What is against it has a mark; tell of that last."
)


def question_about_belief(
    store: Store, belief: Belief, *, seen_at: Instant | None = None
) -> CitedQuestion | None:
    """What to ask about a version of a belief, of the facts that it counts, the strongest first; None where too little is to be told."""
    evidence = sorted(belief.evidence, key=lambda each: (-each.weight, each.source_id))
    ids = [each.source_id for each in evidence]
    facts = store.records.get(belief.tenant_id, ids, seen_at=seen_at)
    stated = _statements(store, belief, ids)
    if sum(map(len, stated.values())) < _STATEMENTS_FROM:
        return None
    told: list[NumberedLine] = []
    for each in evidence:
        mark = "" if each.polarity == "supports" else "(against) "
        told += _lines(facts.get(each.source_id), stated.get(each.source_id, ()), mark)
    lines = showable(told, most=wording_bounds.CITED_LINES_MAX)
    negation = "not " if belief.negated else ""
    about = f"{belief.subject.name} {negation}{belief.predicate.replace('_', ' ')} {belief.object.text}"
    question = CitedQuestion(
        task=TASK, scope=belief.scope, wanted=_WANTED, about=about, lines=lines, key=belief.id
    )
    return question if len(lines) >= _STATEMENTS_FROM else None


def reasons_by(answer: str, question: CitedQuestion) -> tuple[CitedSentence, ...]:
    """What of an answer tells why; nothing where it passes over the strongest fact and all that was said of that."""
    sentences = cited_sentences(answer, question.lines) or ()
    strongest = {line.id for line in question.lines[: 1 + _QUOTED_OF_A_FACT]}
    return sentences if any(strongest & {*each.cites} for each in sentences) else ()


def _statements(store: Store, belief: Belief, fact_ids: Sequence[str]) -> dict[str, list[Event]]:
    """The statements of facts that this version of a belief knew, the first of each."""
    supports = store.records.supports_of(belief.tenant_id, fact_ids)
    ids = {
        key: [
            each.source_id
            for each in sorted(found, key=lambda each: (each.recorded_at, each.source_id))
            if each.relation == _EXTRACTED_FROM and each.recorded_at <= belief.recorded_from
        ]
        for key, found in supports.items()
    }
    events = store.log.get(belief.tenant_id, sorted({each for found in ids.values() for each in found}))
    return {
        key: [events[each] for each in found if each in events and _may_be_quoted(events[each])][
            :_QUOTED_OF_A_FACT
        ]
        for key, found in ids.items()
    }


def _may_be_quoted(event: Event) -> bool:
    return not event.excluded and event.redacted_by is None and not quarantine_of(event)


def _lines(fact: Record | None, statements: Sequence[Event], mark: str) -> Iterator[NumberedLine]:
    if isinstance(fact, Fact) and fact.text and not quarantine_of_words(fact.text):
        yield NumberedLine(fact.id, mark + fact.text)
    for event in statements:
        day, who = day_text(event.context.observed_at, event.offset), event.observed_actor.display_name
        yield NumberedLine(event.id, f'{mark}On {day} {who} said: "{text_of(event.content)}"')
