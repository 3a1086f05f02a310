"""Late interaction: score a text by how well its tokens answer each token of the question.

Khattab and Zaharia, "ColBERT", SIGIR 2020, section 3.3 (MaxSim). We differ in taking the mean over the
question's tokens, not the sum, so that scores of long and short questions share the range [-1, 1].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamina.models.ports import Float32Array, TokenMatrix

NO_TOKENS = -1.0
"""Score of a text, or for a question, without tokens: below every real one."""


def maxsim(query: TokenMatrix, documents: Sequence[TokenMatrix]) -> Float32Array:
    """(n,) float32 in [-1, 1]: for each question token the best cosine in the document, averaged."""
    if not len(query.rows):
        return np.full(len(documents), NO_TOKENS, np.float32)
    scores: Float32Array = best_cosines(query, documents).mean(axis=1)
    return scores


def best_cosines(query: TokenMatrix, documents: Sequence[TokenMatrix]) -> Float32Array:
    """(n, t) float32: the best cosine of each of the question's t tokens in each document.

    The element-wise maximum of several rows is the row of those documents read as one. A question without
    tokens has one column, of ``NO_TOKENS``.
    """
    best = np.full((len(documents), max(len(query.rows), 1)), NO_TOKENS, np.float32)
    filled = [index for index, document in enumerate(documents) if len(document.rows)]
    if not filled or not len(query.rows):
        return best
    counts = np.array([len(documents[index].rows) for index in filled])
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    rows = np.concatenate([documents[index].rows for index in filled]).astype(np.float32)
    scales = np.concatenate([documents[index].scales for index in filled])
    question = query.rows.astype(np.float32) * query.scales[:, None]
    # Scaling the small product instead of the tall matrix saves a pass over all rows.
    cosines = (rows @ question.T) * scales[:, None]
    best[filled] = np.maximum.reduceat(cosines, starts, axis=0)
    return best
