"""Counting tokens with a real tokenizer: the WordPiece vocabulary of BERT, which the embedder reads too.

It splits English a little finer than the tokenizers of today's large models, so a block that fits here fits there.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.resources import files
from typing import Protocol

from tokenizers import Tokenizer

__all__ = ["TokenCounter", "WordPieceCounter"]


class TokenCounter(Protocol):
    """Says how many tokens a text has."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text."""
        ...


class WordPieceCounter:
    """``TokenCounter`` over the tokenizer file that the package ships; loaded at first use."""

    def __init__(self) -> None:
        self._tokenizer: Tokenizer | None = None
        self._lock = threading.Lock()

    def count(self, texts: Sequence[str]) -> list[int]:
        """Mirrors ``TokenCounter.count``; special tokens are not counted."""
        with self._lock:
            if self._tokenizer is None:
                payload = files("lamina.models").joinpath("data/minilm-tokenizer.json").read_text("utf-8")
                self._tokenizer = Tokenizer.from_str(payload)
                self._tokenizer.no_truncation()
                self._tokenizer.no_padding()
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]
