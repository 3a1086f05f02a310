"""The answer operation: what a recall found, or a pack from a moment ago, put into an answer with its sources (seed 002, 8.4)."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lamina.answer.citing import citations_of, text_of_sentences
from lamina.answer.extractive import extracted
from lamina.answer.generated import ANSWERING
from lamina.answer.model import AnswerModel
from lamina.errors import Invalid, LaminaError, Unavailable
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Grant
from lamina.kernel.scopes import Scope
from lamina.kernel.streams import ServerSentEvent
from lamina.language.tokens import analyse, content_terms
from lamina.models.counter import TokenCounter
from lamina.models.support import SupportedSentence
from lamina.recall.grounds import Grounds, kept_grounds
from lamina.recall.kept import Basis, KeptResults, closed_to_concepts, require_readable
from lamina.recall.recalling import Recalling
from lamina.recall.stream import numbered, tokens_of
from lamina.store.ports.packs import PackKind
from lamina.store.ports.store import Store
from lamina.types.answers import EXTRACTIVE, AnswerRequest, AnswerResponse
from lamina.types.recall import Answerable

__all__ = ["ANSWERED_FROM", "NOT_KNOWN", "Answering"]

_LOG = logging.getLogger("lamina.answer")

NOT_KNOWN: Final = "Not known: memory holds nothing that answers this."
ANSWERED_FROM: Final = 0.62
"""Below this strength of its best evidence an answer without a model is "not known": one question in ten that memory answers is below it, by one
half of the questions of ``bench/answer.py``. A recall says that it has no answer later, since who reads the block sees for themselves."""
ANSWERED_EARLY_FROM: Final = 0.4
"""The same while facts and vectors of what was just written are still to come: the figures that hang on them are missing, and who wrote a
turn a moment ago may ask for it. A turn without vectors that holds no word of a question is below it."""
_OF_ANOTHER_FROM: Final = 0.5
"""A question that a pack was not made for is answered from it when a line holds this share of its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """An answer's sentences, who worded them, and what is told of how."""

    sentences: Sequence[SupportedSentence]
    by: str
    abstain: Answerable
    warnings: tuple[str, ...] = ()
    cut: int = 0
    llm_ms: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0


class Answering:
    """Handler of answers."""

    def __init__(
        self, store: Store, recalling: Recalling, counter: TokenCounter, model: AnswerModel | None
    ) -> None:
        self._store = store
        self._recalling = recalling
        self._counter = counter
        self._model = model
        self._kept = KeptResults(store, PackKind.ANSWER, AnswerResponse)

    def grants(self, request: AnswerRequest) -> list[Grant]:
        """What an answer takes: what its recall does, and to ask a language model, whether there is one or not."""
        if request.use_pack_id is not None:  # the pack's own scope and view are asked for when it is known
            grants = [Grant(Capability.SCOPE_READ_LOCAL, Scope(request.scope))]
            if request.diagnostics != "none":
                grants.append(Grant(Capability.DIAGNOSTICS_READ, Scope(request.scope)))
        else:
            grants = self._recalling.grants(request.as_recall())
        invoke = Grant(Capability.LLM_INVOKE, Scope(request.scope))
        return grants if invoke in grants else [*grants, invoke]

    def answer(self, request: AnswerRequest, call: Call) -> Answer:
        """The answer to a question, or its stream."""
        model = self._asked_model(request)
        key = request.idempotency_key
        if key is not None and (known := self._kept.find(key, call)) is not None:
            return self._sent(request, known, replayed=True, after=request.last_event_id)
        began = time.perf_counter()
        grounds, warnings = self._grounds(request, call)
        recall_ms = _since_ms(began)
        made = self._made(request, grounds, model, call)
        response = self._response(request, grounds, made, recall_ms, _since_ms(began))
        if key is not None:
            closed = closed_to_concepts(grounds.scopes, call)
            basis = Basis([str(scope) for scope in grounds.scopes], grounds.removals, closed)
            kept = self._kept.keep(key, response, basis, call)
            if kept is not response:
                return self._sent(request, kept, replayed=True, after=request.last_event_id)
        return self._sent(request, response, warnings=(*warnings, *made.warnings))

    def _sent(
        self,
        request: AnswerRequest,
        response: AnswerResponse,
        *,
        warnings: tuple[str, ...] = (),
        replayed: bool = False,
        after: str | None = None,
    ) -> Answer:
        result = numbered(response.pack_id, _events(response), after) if request.stream else response
        return Answer(result, replayed=replayed, warnings=warnings)

    def _asked_model(self, request: AnswerRequest) -> AnswerModel | None:
        """The model that a request wants; None for the answer without one. Raises ``Invalid`` (ANSWER_MODEL_NOT_OFFERED)."""
        offered = [EXTRACTIVE, *([self._model.name] if self._model else [])]
        if request.answer_model is None:
            return self._model
        if request.answer_model not in offered:
            raise Invalid(
                "ANSWER_MODEL_NOT_OFFERED",
                "this server has no such answer_model",
                hint=f"offered here: {', '.join(offered)}",
                details={"field": "answer_model", "offered": offered},
            )
        return None if request.answer_model == EXTRACTIVE else self._model

    def _grounds(self, request: AnswerRequest, call: Call) -> tuple[Grounds, tuple[str, ...]]:
        if request.use_pack_id is None:
            return self._recalling.grounds(request.as_recall(), call)
        grounds = kept_grounds(self._store, call, request.use_pack_id)
        scope = Scope(grounds.pack.scope)
        asked = request.model_copy(update={"scope": scope, "view": grounds.pack.view, "use_pack_id": None})
        for grant in self.grants(asked):
            call.permits.require(grant)
        require_readable(grounds.scopes, call)
        return grounds.standing(self._store, call), ()

    def _made(self, request: AnswerRequest, grounds: Grounds, model: AnswerModel | None, call: Call) -> _Made:
        abstain = _abstain(request.question, grounds)
        if not grounds.lines:
            return _Made(sentences=(), by=EXTRACTIVE, abstain=abstain)
        told: dict[str, Any] = {}
        if model is not None:
            began = time.perf_counter()
            try:
                made = model.worded(
                    ANSWERING, request.question, grounds.lines, call, tokens_max=request.answer_max_tokens
                )
            except LaminaError as error:
                if request.answer_model is not None:
                    raise _no_answer_by(request.answer_model) from error
                _LOG.warning("an answer is given without the language model: %s", error.code)
                told = {"warnings": ("model_unavailable",)}
            else:
                told = {"tokens_in": made.tokens_in, "tokens_out": made.tokens_out, "cut": made.cut}
                told["llm_ms"] = _since_ms(began)
                if made.sentences:
                    kept = self._fitting(made.sentences, request.answer_max_tokens)
                    return _Made(sentences=kept, by=model.name, abstain=abstain, **told)
                if not made.cut:  # the model says that the lines do not hold it
                    return _Made(sentences=(), by=model.name, abstain=abstain, **told)
                told["warnings"] = ("unsupported_sentences_cut",)
            told["llm_ms"] = _since_ms(began)
        if not abstain.is_near:
            return _Made(sentences=(), by=EXTRACTIVE, abstain=abstain, **told)
        sentences = extracted(request.question, grounds, request.answer_max_tokens, self._counter)
        return _Made(sentences=sentences, by=EXTRACTIVE, abstain=abstain, **told)

    def _fitting(self, sentences: Sequence[SupportedSentence], tokens_max: int) -> list[SupportedSentence]:
        """The first sentences that fit, one at least: a model may not keep to what it was told."""
        counts = self._counter.count([each.worded for each in sentences])
        kept, left = [sentences[0]], tokens_max - counts[0]
        for sentence, count in zip(sentences[1:], counts[1:], strict=True):
            if count > left:
                break
            kept.append(sentence)
            left -= count
        return kept

    def _response(
        self, request: AnswerRequest, grounds: Grounds, made: _Made, recall_ms: float, total_ms: float
    ) -> AnswerResponse:
        mode = request.citation_mode
        pack, citations = grounds.pack, citations_of(made.sentences, grounds)
        between = "\n" if made.by == EXTRACTIVE else " "
        text = text_of_sentences(made.sentences, grounds, mode, between) or NOT_KNOWN
        phase = {
            "phase": "answer",
            "model": made.by,
            "sentences": len(made.sentences),
            "sentences_cut": made.cut,
            "elapsed_ms": round(total_ms - recall_ms, 2),
        }
        markers = {line.marker: line.id for line in grounds.lines}
        provenance = pack.provenance.model_copy(
            update={"trail": [*pack.provenance.trail, phase], "markers": {} if mode == "none" else markers}
        )
        return AnswerResponse(
            pack_id=pack.pack_id,
            answer=text,
            answered=bool(made.sentences),
            answer_model=made.by,
            citations=[] if mode == "none" else citations,
            abstain=made.abstain,
            provenance=provenance,
            diagnostics=_diagnostics(request, grounds, made, recall_ms, total_ms),
            as_of=pack.as_of,
        )


_PLURAL: Final = {
    "event": "events",
    "episode": "episodes",
    "fact": "facts",
    "belief": "beliefs",
    "concept": "understanding",
}


def _diagnostics(
    request: AnswerRequest, grounds: Grounds, made: _Made, recall_ms: float, total_ms: float
) -> dict[str, Any] | None:
    if request.diagnostics == "none":
        return None
    told: dict[str, Any] = {
        "recall_ms": round(recall_ms, 2),
        "llm_ms": round(made.llm_ms, 2),
        "total_ms": round(total_ms, 2),
        "pack_used": dict(Counter(_PLURAL[line.layer] for line in grounds.lines)),
        "answer_model": made.by,
        "answer_tokens": {"prompt": made.tokens_in, "completion": made.tokens_out},
        "sentences_cut": made.cut,
    }
    if request.diagnostics == "full":
        told["sentences"] = [
            {"markers": list(each.markers), "support": each.support} for each in made.sentences
        ]
        told["recall"] = grounds.pack.diagnostics
    return told


def _abstain(question: str, grounds: Grounds) -> Answerable:
    """Whether the lines seem to hold an answer: as the recall of this question judged, or by the question's words for another."""
    if question == grounds.pack.query:
        strength = grounds.pack.abstain.best_score
        threshold = ANSWERED_EARLY_FROM if grounds.pack.partial else ANSWERED_FROM
    else:
        wanted = set(content_terms(analyse(question)))
        held = (len(wanted.intersection(analyse(line.text))) for line in grounds.lines)
        strength, threshold = round(max(held, default=0) / max(1, len(wanted)), 4), _OF_ANOTHER_FROM
    return Answerable(answerable=strength >= threshold, best_score=strength, threshold=threshold)


def _events(response: AnswerResponse) -> Iterator[ServerSentEvent]:
    yield from tokens_of(response.answer)
    told = response.model_dump(mode="json")
    yield ServerSentEvent("citations", told["citations"])
    yield ServerSentEvent("provenance", {"pack_id": response.pack_id, **told["provenance"]})
    if response.diagnostics is not None:
        yield ServerSentEvent("diagnostics", response.diagnostics)
    ending = {name: told[name] for name in ("pack_id", "answered", "answer_model", "as_of")}
    elapsed = sum(float(phase["elapsed_ms"]) for phase in response.provenance.trail)
    yield ServerSentEvent("done", ending | {"total_ms": round(elapsed, 2)})


def _no_answer_by(model: str) -> Unavailable:
    return Unavailable(
        "MODEL_UNAVAILABLE",
        f"{model} gave no answer",
        hint="without answer_model the answer is made of sentences of memory as they stand meanwhile",
    )


def _since_ms(began: float) -> float:
    return (time.perf_counter() - began) * 1000
