"""A text made of parts of what was said, which knows for every character where it was said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

__all__ = ["Edit", "Part", "WrittenText"]

Edit = tuple[int, int, str]
"""From where to where, and what stands there instead."""
Part = tuple[int, int]
"""From where to where of the text before."""


@dataclass(frozen=True, slots=True)
class WrittenText:
    """``origins`` holds the place of each character in what was said; None where nothing was changed."""

    text: str
    origins: Sequence[int] | None = None

    def span(self, start: int, end: int) -> Part:
        """The span of what was said that ``start`` to ``end`` of the text was made from."""
        if self.origins is None:
            return start, end
        taken = self.origins[start : max(end, start + 1)] or self.origins[-1:] or [0]
        return min(taken), max(taken) + (start < end)

    def in_letters(self, text: str) -> WrittenText:
        """The same with other letters, character by character."""
        assert len(text) == len(self.text), "each character keeps its place"
        return self if text == self.text else WrittenText(text, self.origins or range(len(text)))

    def edited(self, edits: Iterable[Edit]) -> WrittenText:
        """With the edits, which come in order; what overlaps an earlier one is left out. What stands in the place of something was said there,
        and what is put in counts to what stands before it."""
        texts: list[str] = []
        origins: list[Iterable[int]] = []
        done = 0
        for start, end, text in edits:
            if start < done:
                continue
            texts += [self.text[done:start], text]
            origins += [self._origins(done, start), self._origins_of_edit(start, end, len(text))]
            done = end
        if not texts:
            return self
        texts.append(self.text[done:])
        origins.append(self._origins(done, len(self.text)))
        return WrittenText("".join(texts), list(chain.from_iterable(origins)))

    def replaced(self, pattern: re.Pattern[str], to: Callable[[re.Match[str]], str]) -> WrittenText:
        """With what stands in the place of each match."""
        return self.edited((found.start(), found.end(), to(found)) for found in pattern.finditer(self.text))

    def _origins(self, start: int, end: int) -> Iterable[int]:
        return range(start, end) if self.origins is None else self.origins[start:end]

    def _origins_of_edit(self, start: int, end: int, length: int) -> list[int]:
        """From the first character that was replaced to the last."""
        if end == start:
            return [self._origin(start - 1)] * length
        steps = max(1, length - 1)
        return [self._origin(start + at * (end - 1 - start) // steps) for at in range(length)]

    def _origin(self, at: int) -> int:
        at = max(0, at)
        return at if self.origins is None or at >= len(self.origins) else self.origins[at]
