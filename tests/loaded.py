"""The models, loaded once for each process of the gate: the parser alone takes a second and 150 MB.

The example sentences of a module are parsed in one batch, at a quarter of what they cost one by one, and once. A parse depends on
its sentence alone (``test_products`` holds the products to it), so it is the same either way.
"""

from __future__ import annotations

import functools
import platform
import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lamina.models import minilm
from lamina.pipeline.extract import extractor
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parse, Parser
from lamina.pipeline.extract.values import Utterance

__all__ = ["ReadingAhead", "share", "shared_parser"]


_ANY_TIME = datetime(2024, 5, 7, 12, tzinfo=UTC)


class _Asked(Exception):  # no error: it carries what the extractor asked for
    def __init__(self, sentences: Sequence[str]) -> None:
        self.sentences = sentences


class _Listening:
    """Stands where the parser does, and only hears what it would be asked."""

    def parse(self, texts: Sequence[str]) -> list[Parse]:
        raise _Asked(texts)


class ReadingAhead(Parser):
    """Parses what it was told to expect with the first sentence that is asked of it, and each sentence of a module once. Safe to share
    between threads."""

    def __init__(self) -> None:
        super().__init__()
        self._expected: Iterable[str] = ()
        self._known: dict[str, Parse] = {}
        self._lock = threading.Lock()

    def expect(self, texts: Iterable[str]) -> None:
        """These may be said next; what was expected before is forgotten."""
        self._expected, self._known = texts, {}

    def parse(self, texts: Iterable[str]) -> list[Parse]:
        """Mirrors ``Parser.parse``."""
        with self._lock:
            return self._parsed(list(texts))

    def _parsed(self, wanted: list[str]) -> list[Parse]:
        expected, self._expected = self._expected, ()
        ahead = dict.fromkeys(sentence for text in expected for sentence in _sentences(text))
        self._known.update(zip(ahead, super().parse(ahead), strict=True))
        alone = [text for text in dict.fromkeys(wanted) if text not in self._known]
        self._known.update(zip(alone, super().parse(alone), strict=True))
        return [_copy(self._known[text]) for text in wanted]


@functools.cache
def shared_parser() -> ReadingAhead:
    """The one of this process."""
    return ReadingAhead()


def share() -> None:
    """Let every extractor and embedder of this process use the same models."""
    load = minilm._session

    @functools.cache
    def loaded(threads: int, exact: bool) -> Any:  # Any: ONNX Runtime is untyped
        return load(threads)

    def session(threads: int) -> Any:
        return loaded(threads, minilm._saturates(platform.machine(), Path("/proc/cpuinfo")))

    minilm._session = session
    extractor.Parser = shared_parser


def _sentences(text: str) -> list[str]:
    """What an extractor parses of a turn."""
    said = Utterance(text, "user:alice", _ANY_TIME, speaker_name="Alice", addressee_name="Bob")
    try:
        RulesExtractor(parser=_Listening()).extract([said])
    except _Asked as asked:
        return list(asked.sentences)
    return []


def _copy(parse: Parse) -> Parse:
    tokens = [replace(token, children=list(token.children)) for token in parse.tokens]
    return replace(parse, tokens=tokens, entities=list(parse.entities))
