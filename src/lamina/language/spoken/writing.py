"""A text made of parts of what was said, which knows for every character where it was said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

    def edited(self, edits: Iterable[Edit]) -> WrittenText:
        """With the edits, which come in order; what overlaps an earlier one is left out."""
        parts: list[Part | str] = []
        done = 0
        for start, end, text in edits:
            if start < done:
                continue
            parts += [(done, start), text]
            done = end
        return self if not parts else self.made_of([*parts, (done, len(self.text))])

    def made_of(self, parts: Sequence[Part | str]) -> WrittenText:
        """Of parts of this text and of words that nobody said, which count to what stands before them."""
        texts: list[str] = []
        origins: list[Iterable[int]] = []
        last = 0
        for part in parts:
            if isinstance(part, str):
                texts.append(part)
                origins.append([self._origin(max(0, last - 1))] * len(part))
                continue
            start, last = part
            texts.append(self.text[start:last])
            origins.append(range(start, last) if self.origins is None else self.origins[start:last])
        return WrittenText("".join(texts), list(chain.from_iterable(origins)))

    def _origin(self, at: int) -> int:
        return at if self.origins is None or at >= len(self.origins) else self.origins[at]
