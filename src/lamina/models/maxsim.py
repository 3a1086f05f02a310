"""Late interaction: score a text by how well its tokens answer each token of the question.

Khattab and Zaharia, "ColBERT", SIGIR 2020, section 3.3 (MaxSim). We differ in taking the mean over the
question's tokens, not the sum, so that scores of long and short questions share the range [-1, 1].
"""

from __future__ import annotations

import numpy as np

from lamina.models.ports import Float32Array, TokenMatrix, TokenRows

NO_TOKENS = -1.0
"""Score of a text, or for a question, without tokens: below every real one."""

_BLOCK_ROWS = 1024
"""Rows that are turned into float32 at a time: they stay in the processor's cache, and no large matrix is made."""


def best_cosines(query: TokenMatrix, documents: TokenRows) -> Float32Array:
    """(n, t) float32: the best cosine of each of the question's t tokens in each document. The mean of a row is the document's
    MaxSim.

    The element-wise maximum of several rows is the row of those documents read as one. A question without
    tokens has one column, of ``NO_TOKENS``.
    """
    best = np.full((len(documents.counts), max(len(query.rows), 1)), NO_TOKENS, np.float32)
    filled = np.flatnonzero(documents.counts)
    if not len(filled) or not len(query.rows):
        return best
    ends = np.cumsum(documents.counts[filled])
    starts = np.concatenate(([0], ends[:-1]))
    best[filled] = np.maximum.reduceat(token_cosines(query, documents), starts, axis=0)
    return best


def token_cosines(query: TokenMatrix, documents: TokenRows) -> Float32Array:
    """(rows, t): every row of the documents with every token of the question."""
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
