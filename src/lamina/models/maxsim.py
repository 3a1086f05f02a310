"""Late interaction: score a text by how well its tokens answer each token of the question.

Khattab and Zaharia, "ColBERT", SIGIR 2020, section 3.3 (MaxSim). We differ in taking the mean over the
question's tokens, not the sum, so that scores of long and short questions share the range [-1, 1].
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lamina.models.ports import Float32Array, TokenMatrix, TokenRows

NO_TOKENS = -1.0
"""Score of a text, or for a question, without tokens: below every real one."""

_BLOCK_ROWS = 1024
"""Rows that are turned into float32 at a time: they stay in the processor's cache, and no large matrix is made."""


class Interaction:
    """A question and n documents, whose tokens are compared once, when somebody asks for it."""

    def __init__(self, query: TokenMatrix, documents: TokenRows) -> None:
        self.query = query
        self.documents = documents

    @cached_property
    def cosines(self) -> Float32Array:
        """(rows, t) float32: every row of the documents with each of the question's t tokens."""
        return _token_cosines(self.query, self.documents)

    @property
    def best(self) -> Float32Array:
        """(n, t) float32: the best cosine of each of the question's t tokens in each document. The mean of a row is the document's
        MaxSim.

        The element-wise maximum of several rows is the row of those documents read as one. A question without
        tokens has one column, of ``NO_TOKENS``.
        """
        counts, query = self.documents.counts, self.query
        best = np.full((len(counts), max(len(query.rows), 1)), NO_TOKENS, np.float32)
        filled = np.flatnonzero(counts)
        if not len(filled) or not len(query.rows):
            return best
        ends = np.cumsum(counts[filled])
        starts = np.concatenate(([0], ends[:-1]))
        best[filled] = np.maximum.reduceat(self.cosines, starts, axis=0)
        return best


def _token_cosines(query: TokenMatrix, documents: TokenRows) -> Float32Array:
    question = (query.rows.astype(np.float32) * query.scales[:, None]).T
    rows = documents.rows
    cosines = np.empty((len(rows), question.shape[1]), np.float32)
    block = np.empty((_BLOCK_ROWS, rows.shape[1]), np.float32)
    for start in range(0, len(rows), _BLOCK_ROWS):
        part = rows[start : start + _BLOCK_ROWS]
        np.copyto(block[: len(part)], part)
        np.matmul(block[: len(part)], question, out=cosines[start : start + len(part)])
    # Scaling the small product instead of the tall matrix saves a pass over all rows.
    cosines *= documents.scales[:, None]
    return cosines
