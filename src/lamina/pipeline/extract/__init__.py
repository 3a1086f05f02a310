"""Deterministic extraction: mentions, triples and restatements from what somebody said."""

from lamina.pipeline.extract.extractor import NAME, RulesExtractor
from lamina.pipeline.extract.values import (
    EntityRef,
    Extraction,
    LiteralValue,
    Mention,
    Previous,
    Span,
    Triple,
    Utterance,
)

__all__ = [
    "NAME",
    "EntityRef",
    "Extraction",
    "LiteralValue",
    "Mention",
    "Previous",
    "RulesExtractor",
    "Span",
    "Triple",
    "Utterance",
]
