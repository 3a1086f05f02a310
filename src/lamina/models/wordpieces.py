"""The tokenizer that the embedder and the counter share: six megabytes that a process needs once."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from lamina.models.files import verify

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["TOKENIZER_SHA256", "word_pieces"]

TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


@cache
def word_pieces() -> Tokenizer:
    """The WordPiece tokenizer of ``data/``, which neither pads nor cuts; safe for any thread. Raises ``Fault`` as ``verify`` does."""
    from tokenizers import Tokenizer

    with resources.as_file(resources.files("lamina.models") / "data" / "minilm-tokenizer.json") as path:
        verify(path, TOKENIZER_SHA256, "lamina")
        tokenizer = Tokenizer.from_file(str(path))
    # The file asks for padding to 128, and for texts cut there.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
