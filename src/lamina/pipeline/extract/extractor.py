"""Extraction without a language model: gate, parse in batches, read triples, or plain rules where no parse helps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from lamina.language.english import is_english
from lamina.language.own_words import blanked, own_words
from lamina.language.running_speech import stands_apart, within
from lamina.language.sentences import Sentence, first_sentences, split_sentences
from lamina.language.spoken import WrittenText, as_written, in_plain_text
from lamina.language.tables import table
from lamina.pipeline.extract.ellipsis import following as topic_after
from lamina.pipeline.extract.ellipsis import parsed_topic, plain_topic, topic_before
from lamina.pipeline.extract.gate import worth_parsing
from lamina.pipeline.extract.limits import (
    PARSED_LENGTH_MAX,
    PARSED_SENTENCE_MIN,
    SENTENCE_LENGTH_MAX,
    SENTENCES_MAX,
    TEXT_LENGTH_MAX,
)
from lamina.pipeline.extract.mentions import (
    distinct,
    note_kin,
    note_unnamed_kin,
    parsed_mentions,
    plain_mentions,
)
from lamina.pipeline.extract.noun_phrases import noun_phrases
from lamina.pipeline.extract.parsed import Reader
from lamina.pipeline.extract.plain import plain_triples
from lamina.pipeline.extract.references import References
from lamina.pipeline.extract.statements import told_apart
from lamina.pipeline.extract.syntax import Parse, Parser
from lamina.pipeline.extract.telling import told_by
from lamina.pipeline.extract.times import Times
from lamina.pipeline.extract.unreal import may_suppose, unreal_verbs
from lamina.pipeline.extract.values import (
    Extraction,
    FindTimes,
    Span,
    TextMention,
    Triple,
    Utterance,
    no_times,
)

_TABLE = table(__name__)
NAME = "lamina-rules/14"
"""Part of the ids of facts, and shown with them. A change to what the rules or the vocabulary make of a text takes the
next number:
a replay then tells the new facts from those that the old rules made."""
# Valid in a Python string, but not in UTF-8, which spaCy speaks. Same length, so spans stay true.
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_PICTURES = re.compile("(?:[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff][\ufe0f\u200d\u20e3]*)+")
_ADDRESSED = re.compile(r"^[ \t]*(?:@[\w.-]{1,40},?[ \t]+)+", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_ASSISTANT_FACTOR = 0.7
_ANNOTATION = _TABLE.pattern("annotation", re.MULTILINE)


class ParsesSentences(Protocol):
    """What the extractor needs of a parser; `syntax.Parser` is the one there is."""

    def parse(self, texts: Sequence[str]) -> list[Parse]: ...


@dataclass(slots=True)
class _Work:
    """An utterance between the gate and the reading; `parses` holds one entry for each sentence, None when not parsed.

    The text of `utterance` is what is read; `written` leads from its places to those of what was said.
    """

    utterance: Utterance
    written: WrittenText
    sentences: list[Sentence]
    worth: list[bool]
    parses: list[Parse | None] = field(default_factory=list)
    said: str = ""
    """The text as it was said: the places of `apart` are in it."""
    apart: tuple[tuple[int, int], ...] | None = None

    def is_apart(self, start: int, end: int) -> bool:
        """Whether a part of the text that is read may be somebody else's words."""
        if self.utterance.role == "assistant" or not self.utterance.has_first_person:
            return False
        if self.apart is None:
            self.apart = stands_apart(self.said, self.utterance.speaker_name or "")
        return bool(self.apart) and within(self.apart, *self.written.span(start, end))


class RulesExtractor:
    """Extracts by rules over a parse (`use_parser=True`) or by plain patterns.

    The result for an utterance depends on that utterance alone, not on the others of the batch. The parser is loaded
    at the first sentence that needs it. Not for use by several threads at once.
    """

    name = NAME

    def __init__(
        self,
        find_times: FindTimes = no_times,
        *,
        use_parser: bool = True,
        parser: ParsesSentences | None = None,
    ) -> None:
        self._find_times = find_times
        self._use_parser = use_parser
        self._parser = parser

    def load(self) -> None:
        """Load the parser now."""
        if self._use_parser and self._parser is None:
            self._parser = Parser()

    def extract(self, utterances: Sequence[Utterance]) -> list[Extraction]:
        """One extraction for each utterance, in order. Never raises for what a text contains."""
        works = [_prepare(utterance) for utterance in utterances]
        self._parse(works)
        return [self._read(work) for work in works]

    def supposed(self, text: str) -> list[tuple[int, int]]:
        """Where verbs of a text stand under a condition or a supposition, from and to; none without a parser."""
        written = as_written(text)
        sentences = [
            each
            for each in split_sentences(written.text, count_max=SENTENCES_MAX)
            if may_suppose(each.text) and is_english(each.text)
        ]
        if not self._use_parser or not sentences:
            return []
        self.load()
        assert self._parser is not None, "nothing is to be parsed without a parser"
        parses = self._parser.parse(
            [_LONE_SURROGATE.sub("\ufffd", each.text.replace("’", "'")) for each in sentences]
        )
        return [
            written.span(
                sentence.start + parse.tokens[i].start,
                sentence.start + parse.tokens[i].start + len(parse.tokens[i].text),
            )
            for sentence, parse in zip(sentences, parses, strict=True)
            for i in sorted(unreal_verbs(parse))
        ]

    def _parse(self, works: list[_Work]) -> None:
        wanted: list[str] = []
        places: list[tuple[_Work, int]] = []
        for work in works:
            work.parses = [None] * len(work.sentences)
            room = PARSED_LENGTH_MAX
            for i, sentence in enumerate(work.sentences):
                if self._use_parser and room > 0 and work.worth[i] and is_english(sentence.text):
                    room -= max(len(sentence.text), PARSED_SENTENCE_MIN)
                    wanted.append(_LONE_SURROGATE.sub("\ufffd", sentence.text.replace("’", "'")))
                    places.append((work, i))
        if not wanted:
            return
        self.load()
        assert self._parser is not None, "nothing is to be parsed without a parser"
        for (work, i), parse in zip(places, self._parser.parse(wanted), strict=True):
            work.parses[i] = parse

    def _read(self, work: _Work) -> Extraction:
        utterance = work.utterance
        refs = _references(utterance)
        mentions: list[TextMention] = []
        triples: list[Triple] = []
        topic, end = topic_before(utterance), 0
        behind = [*(each.text for each in work.sentences[1:]), ""]
        for sentence, worth, parse, following in zip(
            work.sentences, work.worth, work.parses, behind, strict=False
        ):
            if _PARAGRAPH.search(utterance.text, end, sentence.start):
                topic = "unknown"
            end = sentence.end
            if parse is not None:
                reader = Reader(
                    parse, refs, self._times(utterance, sentence), sentence.start, utterance.has_first_person,
                    _factor(utterance), goes_on=topic == "other", following=following,
                )  # fmt: skip
                triples.extend(reader.read())
                mentions.extend(parsed_mentions(parse, refs, sentence.start))
                topic = topic_after(topic, parsed_topic(parse))
                continue
            if worth:
                triples.extend(
                    plain_triples(sentence.text, refs, self._times(utterance, sentence), sentence.start)
                )
            mentions.extend(plain_mentions(sentence.text, refs, sentence.start))
            topic = topic_after(topic, plain_topic(sentence.text))
        distinct_triples = tuple(
            replace(each, handed_over=True)
            if work.is_apart(each.evidence.start, each.evidence.end) else each
            for each in dict.fromkeys(told_by(refs, triples))
        )  # fmt: skip
        if work.written.origins is not None:
            mentions = [replace(each, span=_said_at(work.written, each.span)) for each in mentions]
            distinct_triples = tuple(
                replace(each, evidence=_said_at(work.written, each.evidence)) for each in distinct_triples
            )
        return Extraction(
            distinct(mentions), distinct_triples, gated=not any(work.worth),
            phrases=tuple(each for parse in work.parses if parse is not None for each in noun_phrases(parse)),
        )  # fmt: skip

    def _times(self, utterance: Utterance, sentence: Sentence) -> Times:
        return Times(
            sentence.text, self._find_times(sentence.text, utterance.observed_at), utterance.observed_at
        )


def _prepare(utterance: Utterance) -> _Work:
    # "Moved to Leeds 📦": the tagger takes the box for a noun.
    said = blanked(_PICTURES, first_sentences(utterance.text, TEXT_LENGTH_MAX))
    if utterance.has_first_person:
        said = blanked(_ADDRESSED, said)
        written = as_written(said)
        # A time in brackets says whose a line is.
        written = written.in_letters(without_annotations(own_words(written.text)))
        utterance = _as_written(utterance, written)
    else:
        written = in_plain_text(said)
        written = written.in_letters(without_annotations(written.text))
    sentences = split_sentences(written.text, count_max=SENTENCES_MAX, length_max=SENTENCE_LENGTH_MAX)
    if not utterance.has_first_person or utterance.role == "assistant":
        worth = [worth_parsing(s.text, personal=utterance.has_first_person) for s in sentences]
        return _Work(utterance, written, sentences, worth, said=said)
    parts = list(told_apart(sentences))
    worth = [not part.asked and worth_parsing(part.sentence.text) for part in parts]
    return _Work(utterance, written, [part.sentence for part in parts], worth, said=said)


def _as_written(utterance: Utterance, written: WrittenText) -> Utterance:
    previous = tuple(replace(each, text=as_written(each.text).text) for each in utterance.previous)
    return replace(utterance, text=written.text, previous=previous)


def _said_at(written: WrittenText, span: Span) -> Span:
    return Span(*written.span(span.start, span.end))


def without_annotations(text: str) -> str:
    """`text` with blanks for the parts that stand in square brackets by themselves: notes about what was said or
    sent."""
    return blanked(_ANNOTATION, text)


def _factor(utterance: Utterance) -> float:
    # What an assistant says about the world is its model's knowledge, not the user's memory.
    return _ASSISTANT_FACTOR if utterance.role == "assistant" else 1.0


def _references(utterance: Utterance) -> References:
    refs = References.of(utterance)
    for previous in utterance.previous:
        text = without_annotations(own_words(previous.text[:2_000]))
        note_kin(text, refs)
        for sentence in split_sentences(text, count_max=20):
            plain_mentions(sentence.text, refs, 0)
    own = (
        t for t in reversed(utterance.previous) if t.speaker in (utterance.speaker, utterance.speaker_name)
    )
    if utterance.role != "assistant" and (last := next(own, None)) is not None:
        note_unnamed_kin(own_words(last.text[:2_000]), refs)
    return refs
