import subprocess
import sys

import numpy as np
import pytest

from lamina.models.minilm import MiniLmEmbedder, ModelFileError, _verified

TEXTS = ["The cat sat on the mat.", "I bought a red car last week and drove it to the sea. " * 8, "", "猫"]


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


def test_importing_loads_no_runtime() -> None:
    code = "import sys, lamina.models.minilm; sys.exit('onnxruntime' in sys.modules or 'tokenizers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": "src"}).returncode == 0


def test_another_file_is_refused() -> None:
    with pytest.raises(ModelFileError, match="sha256"):
        _verified(b"other", "0" * 64, "model.onnx")


@pytest.mark.model
def test_encoding_has_the_promised_shapes(embedder: MiniLmEmbedder) -> None:
    encoded = embedder.encode(TEXTS)
    assert encoded.pooled.shape == (4, embedder.dim_pooled)
    assert encoded.pooled.dtype == np.float32
    assert np.linalg.norm(encoded.pooled, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert [len(one.rows) for one in encoded.tokens] == [7, 112, 0, 1]
    assert all(one.rows.shape[1] == embedder.dim_tokens for one in encoded.tokens)


@pytest.mark.model
def test_vectors_do_not_depend_on_the_batch(embedder: MiniLmEmbedder) -> None:
    together = embedder.encode(TEXTS)
    for at, text in enumerate(TEXTS):
        alone = embedder.encode([text])
        assert float(alone.pooled[0] @ together.pooled[at]) > 0.999
        assert np.abs(alone.tokens[0].rows.astype(int) - together.tokens[at].rows).max(initial=0) <= 1


@pytest.mark.model
def test_like_texts_are_near_and_long_texts_are_cut(embedder: MiniLmEmbedder) -> None:
    encoded = embedder.encode(["a small kitten", "a young cat", "quarterly tax report", "word " * 1000])
    assert encoded.pooled[0] @ encoded.pooled[1] > encoded.pooled[0] @ encoded.pooled[2]
    assert len(encoded.tokens[3].rows) == 254


@pytest.mark.model
def test_no_text_gives_nothing(embedder: MiniLmEmbedder) -> None:
    encoded = embedder.encode([])
    assert encoded.pooled.shape == (0, 384)
    assert encoded.tokens == []
