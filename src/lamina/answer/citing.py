"""The citations of an answer: what its markers stand for, and how far each bears out what is said with it."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.models.support import SupportedSentence
from lamina.recall.grounds import Grounds
from lamina.types.recall import AnswerCitation, CitationMode

__all__ = ["citations_of", "text_of_sentences"]


def citations_of(sentences: Sequence[SupportedSentence], grounds: Grounds) -> list[AnswerCitation]:
    """A citation for each marker, in the order of the sentences; of several sentences the weakest support counts."""
    lines = {line.marker: line for line in grounds.lines}
    strength: dict[str, float] = {}
    for sentence in sentences:
        for marker in sentence.markers:
            strength[marker] = min(sentence.support, strength.get(marker, 1.0))
    return [
        AnswerCitation(
            marker=marker, layer=lines[marker].layer, id=lines[marker].id, support_strength=strength[marker]
        )
        for marker in strength
    ]


def text_of_sentences(
    sentences: Sequence[SupportedSentence], grounds: Grounds, mode: CitationMode, between: str
) -> str:
    """The answer as text, with its markers where the mode wants them."""
    inline = mode == "inline_with_markers"
    text = between.join(each.worded if inline else each.text for each in sentences)
    if mode != "block_at_end" or not sentences:
        return text
    sources = [f"{each.marker} {each.id}" for each in citations_of(sentences, grounds)]
    return "\n".join([text, "", "Sources:", *sources])
