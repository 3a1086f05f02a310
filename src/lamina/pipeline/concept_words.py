"""Summaries of concepts as a language model words them, of the facts that each was made from (seed 002, 7.5).

Rules put a summary together at once. The model is asked behind that, and its recorded answer takes effect at an entry of the log: there
each concept that still rests on the facts that the model was shown has another version, in those sentences of it that the facts bear
out, each with the ids of the facts that say it. Where too little of an answer is borne out, and where it was forgotten, the rules' words stand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lamina.index.rows import record_row
from lamina.kernel.canonical import digest
from lamina.kernel.events import Event, ReadAnew
from lamina.kernel.records import Concept, Fact, Layer, Record, Stance, layer_of
from lamina.kernel.scopes import Scope
from lamina.language.quarantine import quarantine_of_words
from lamina.models import wording_bounds
from lamina.models.cited_text import CitedQuestion, CitedSentence, NumberedLine, cited_sentences, showable
from lamina.pipeline.versions import next_version
from lamina.pipeline.view import View
from lamina.store.ports.model_outputs import ModelOutputs
from lamina.store.ports.writes import Closing, Writes

__all__ = ["TASK", "ConceptWords", "answers_text", "input_hash_of", "question_about_concept", "question_of"]

TASK: Final = "concept/1"

_LINES_FROM: Final = 2
"""Of one fact there is no more to tell than that fact."""
_TOLD_OF: Final = 6
"""A summary has to tell of half of so many facts, or of half of all where there are fewer: as many as rules tell."""
_WANTED: Final = (
    "You write what a memory knows of somebody or something, or of one side of it, as a summary of 2 to 6 short sentences, from the numbered "
    "lines that it holds. Tell of as many lines as you can, what is said together in one sentence."
)


def _lines_of(facts: Sequence[Fact]) -> tuple[NumberedLine, ...]:
    """What a model is shown of the facts of a concept, in their order."""
    told = [NumberedLine(fact.id, fact.text) for fact in facts if not quarantine_of_words(fact.text)]
    return showable(told, most=wording_bounds.CITED_LINES_MAX)


def question_about_concept(concept: Concept, records: Mapping[str, Record]) -> CitedQuestion | None:
    """What to ask about a concept, of the facts among ``records`` that it was made from; None where too little is to be told, and of one that is
    no more."""
    if (
        concept.canonical_id is not None
        or concept.valid_to is not None
        or concept.stance is Stance.DEPRECATED
    ):
        return None
    facts = [fact for each in concept.inputs if isinstance(fact := records.get(each), Fact)]
    question = question_of(concept.scope, concept.id, concept.name, facts)
    return question if len(question.lines) >= _LINES_FROM else None


def question_of(scope: Scope, concept_id: str, name: str, facts: Sequence[Fact]) -> CitedQuestion:
    """The question about a concept of a name, made from facts."""
    return CitedQuestion(
        task=TASK, scope=scope, wanted=_WANTED, about=name, lines=_lines_of(facts), key=concept_id
    )


def input_hash_of(scope: Scope, questions: Mapping[str, CitedQuestion]) -> str:
    """The hash by which the answers about several concepts are recorded."""
    asked = sorted(each.input_hash for each in questions.values())
    return digest({"task": TASK, "scope": scope, "asked": asked})


def answers_text(questions: Mapping[str, CitedQuestion], answers: Mapping[str, str]) -> str:
    """What is recorded of the answers about several concepts, each by its id."""
    told = {key: {"input": questions[key].input_hash, "text": text} for key, text in sorted(answers.items())}
    return json.dumps(told, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ConceptWords:
    """Derives what the entry of such answers changes."""

    outputs: ModelOutputs

    def concepts(self, view: View, entry: ReadAnew) -> Writes:
        """The next version of each concept that the answers are about, as far as it rests on what the model was shown."""
        writes = Writes()
        output = self.outputs.find(view.event.tenant_id, entry.input_hash)
        told = {} if output is None else json.loads(output.text)
        for concept_id, answer in sorted(told.items()):
            held = view.record(concept_id)
            if not isinstance(held, Concept) or held.recorded_to is not None:
                continue
            facts = {each: found for each in held.inputs if (found := _fact(view, each)) is not None}
            question = question_about_concept(held, facts)
            if (
                question is None
                or answer["input"] != question.input_hash
                or held.worded_from == answer["input"]
            ):
                continue
            sentences = _told_by(answer["text"], question)
            if sentences and output is not None:
                writes.closings.append(Closing.of(held, view.event.recorded_at))
                writes.records.append(_worded(view.event, held, question, sentences, output.model))
        writes.texts += [record_row(record) for record in writes.records]
        return writes


def _fact(view: View, record_id: str) -> Record | None:
    return view.record(record_id) if layer_of(record_id) is Layer.FACTS else None


def _told_by(answer: str, question: CitedQuestion) -> tuple[CitedSentence, ...]:
    """What stands of an answer; nothing where it tells of too few of the facts."""
    sentences = cited_sentences(answer, question.lines) or ()
    told = {each for sentence in sentences for each in sentence.cites}
    return sentences if 2 * len(told) >= min(len(question.lines), _TOLD_OF) else ()


def _worded(
    event: Event, held: Concept, question: CitedQuestion, sentences: Sequence[CitedSentence], model: str
) -> Concept:
    worded = replace(
        held,
        summary=" ".join(each.text for each in sentences),
        sentences=tuple((each.text, each.cites) for each in sentences),
        synthesizer=model,
        worded_from=question.input_hash,
    )
    return next_version(event, held, worded)
