"""all-MiniLM-L6-v2 on the CPU: one forward pass gives the pooled vector and the token vectors.

Weights (``scripts/export_minilm.py`` made them), tokenizer and projection lie in ``data/``. Nothing is loaded at
import and nothing is ever fetched.

One text travels alone: activations are quantised by the range found in one pass, so texts that shared a pass would
move each other's vectors. Alone, the vectors of a text are a function of that text, bit for bit on one machine and
version of ONNX Runtime, whatever was asked before or beside it and however many threads work on it.

Across processors the integer arithmetic agrees too. Sums of uint8 and int8 products can saturate in 16 bits on x86
without VNNI; there the session takes ONNX Runtime's exact kernels, at 0.6 of the speed. Weights of seven bits would
be fast and safe everywhere, at a cost in precision everywhere. What remains is the last bit of the float steps
between, which may move a rounding.
"""

from __future__ import annotations

import mmap
import os
import platform
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lamina.models.files import verify
from lamina.models.ports import Encoded, Float32Array, TokenMatrix, quantise
from lamina.models.wordpieces import word_pieces
from lamina.observe.traces import Value, span

NAME = "minilm-l6-v2-int8-dynamic/p2"
MODEL_SHA256 = "3c6fdb70f449820c0b6ae8857f31bcda6ed554239e4ab846c7f7800c8d7b8af3"
_WORDS: Final = 30_522, 384
_WORDS_AT: Final = 32_077
"""How many rows of how many int8 the table of word vectors has, and the byte of that file where it begins: the export prints it."""
TOKENS_MAX = 256
DIM_MODEL = 384
_DATA = resources.files("lamina.models") / "data"
_LOADING: Final = threading.Lock()
_EMBEDS: Final[dict[str, Value]] = {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": NAME}


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Principal axes of token vectors: ``mean`` is (384,), ``axes`` is (384, d), both float32."""

    mean: Float32Array
    axes: Float32Array

    @classmethod
    def load(cls) -> Projection:
        """The projection that ``NAME`` stands for, fitted by ``scripts/fit_projection.py``."""
        with resources.as_file(_DATA / "minilm-projection-2.npz") as path, np.load(path) as stored:
            return cls(stored["token_mean"], stored["token_axes"])

    def apply(self, hidden: Float32Array) -> TokenMatrix:
        """Hidden states (t, 384) as int8 rows of the shorter space."""
        centred = unit_rows(hidden) - self.mean
        return quantise(unit_rows((centred @ self.axes).astype(np.float32, copy=False)))


@cache
def telling_pieces() -> NDArray[np.bool_]:
    """(v,) by the number of a word piece: false of punctuation, whose part in the words around it these have taken in. Khattab and Zaharia,
    "ColBERT", section 3.2, leave it out of documents too, and symbols such as $ with it, which tell something."""
    pieces = word_pieces().get_vocab()
    telling = np.zeros(max(pieces.values()) + 1, np.bool_)
    telling[[number for piece, number in pieces.items() if _tells(piece)]] = True
    return telling


def _tells(piece: str) -> bool:
    return any(unicodedata.category(sign)[0] != "P" for sign in piece.removeprefix("##"))


def model_path_exists() -> bool:
    """Whether the weights are installed, without loading or checking them."""
    return (_DATA / "minilm-l6-v2-int8.onnx").is_file()


class MiniLmEmbedder:
    """The default embedder. Safe to share between threads; the model loads on the first ``encode``.

    ``threads`` is the number of cores one call may use.
    """

    name = NAME
    dim_pooled = DIM_MODEL

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._projection: Projection | None = None

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Vectors of ``texts`` in the same order, each read up to 256 tokens, [CLS] and [SEP] included."""
        if self._projection is None:
            self._projection = Projection.load()
        pooled = np.zeros((len(texts), DIM_MODEL), np.float32)
        tokens: list[TokenMatrix] = []
        with span(f"embeddings {NAME}", attributes=_EMBEDS):
            for at, (read, states) in enumerate(self._states(texts)):
                pooled[at] = states.mean(axis=0)
                rows = self._projection.apply(states[1:-1])
                tokens.append(replace(rows, telling=telling_pieces()[read[1:-1]]))
        return Encoded(unit_rows(pooled), tokens)

    def pooled(self, texts: Sequence[str]) -> Float32Array:
        """(n, 384) unit rows, as ``encode`` pools them, without the tokens' vectors."""
        rows = [states.mean(axis=0) for _, states in self._states(texts)]
        return unit_rows(np.array(rows, np.float32).reshape(len(texts), DIM_MODEL))

    def token_vectors(self, texts: Sequence[str]) -> Float32Array:
        """(t, 384): the unprojected vectors of all tokens of all texts; for fitting a projection."""
        return np.concatenate(
            [np.zeros((0, DIM_MODEL), np.float32), *(s[1:-1] for _, s in self._states(texts))]
        )

    def _states(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Float32Array]]:
        """The word pieces of each text and the hidden states of these."""
        with _LOADING:
            session, tokenizer = _session(self._threads), word_pieces()
        for text in texts:
            read = tokenizer.encode(text).ids
            if len(read) > TOKENS_MAX:
                read[TOKENS_MAX - 1 :] = read[-1:]  # which ends every text
            yield read, session.run(None, {"input_ids": np.array(read, np.int64)})[0]


def unit_rows(vectors: Float32Array) -> Float32Array:
    """Rows of (n, d) scaled to length one; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Float32Array = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
    return scaled


@cache
def _session(threads: int) -> Any:
    """Made once for all embedders of the process, and of those that are forked from it."""
    # Before it is loaded: from 1.29 on the official builds for Linux report each session to their makers otherwise.
    os.putenv("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # where somebody else loaded it before
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Every text has its own length: an arena and planned memory would only keep the largest one's needs.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    # Spinning threads would burn the cores that the server's other work needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if _saturates(platform.machine(), Path("/proc/cpuinfo")):
        options.add_session_config_entry("session.x64quantprecision", "1")
    # By path, so that the bytes are not held a second time beside the session's own.
    with resources.as_file(_DATA / "minilm-l6-v2-int8.onnx") as path:
        verify(path, MODEL_SHA256, "lamina")
        options.add_initializer("words", _words(path))
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


@cache
def _words(path: Path) -> Any:
    """The table of word vectors where it lies in the file, for as long as the process lives.

    It is half of the weights, and a text reads one row a token: so much of it is in memory as was read, once for all
    processes. Read with the file it would lie whole in each.
    """
    import onnxruntime

    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    rows, width = _WORDS
    table = np.frombuffer(mapped, np.int8, rows * width, _WORDS_AT).reshape(rows, width)
    return onnxruntime.OrtValue.ortvalue_from_numpy(table)


def _saturates(machine: str, cpuinfo: Path) -> bool:
    if machine.lower() not in ("x86_64", "amd64", "x86", "i386", "i686"):
        return False
    try:
        flags = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True  # Slow and right, when nothing tells.
    return "avx512_vnni" not in flags and "avx_vnni" not in flags
