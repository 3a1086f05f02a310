import hashlib
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lamina.errors import Fault
from lamina.models.files import verify
from lamina.models.minilm import _DATA, MiniLmEmbedder, _saturates
from lamina.models.wordpieces import word_pieces

TEXTS = ["The cat sat on the mat.", "I bought a red car last week and drove it to the sea. " * 8, "", "猫"]


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


def test_importing_loads_no_runtime() -> None:
    code = "import sys, lamina.models.minilm; sys.exit('onnxruntime' in sys.modules or 'tokenizers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": "src"}).returncode == 0


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="it counts threads in /proc")
def test_the_runtime_reports_to_nobody_and_a_process_that_loaded_it_can_be_forked() -> None:
    """What reports is a thread of the runtime's own: a fork has none, and its end aborts where the runtime waits for it."""
    code = (
        "import os, sys; from lamina.models.minilm import MiniLmEmbedder as M; e = M(); e.encode(['one']);"
        "print(len(os.listdir('/proc/self/task')), flush=True); pid = os.fork(); e.encode(['two']);"
        "pid or sys.exit(7); print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    # Without the name by which the runtime knows machines that test it: there it reports nothing anyway.
    alone = {"PYTHONPATH": "src", "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run([sys.executable, "-c", code], env=alone, capture_output=True, text=True, timeout=60)
    assert (ran.stdout.split(), ran.stderr) == (["1", "7"], "")


def test_word_vectors_are_read_where_they_lie_in_the_file(embedder: MiniLmEmbedder) -> None:
    _, states = next(iter(embedder._states([TEXTS[0]])))
    import onnxruntime  # behind the embedder, which lets it report to nobody

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if _saturates(platform.machine(), Path("/proc/cpuinfo")):
        options.add_session_config_entry("session.x64quantprecision", "1")
    whole = onnxruntime.InferenceSession(str(_DATA / "minilm-l6-v2-int8.onnx"), options)
    read = {"input_ids": np.array(word_pieces().encode(TEXTS[0]).ids, np.int64)}
    assert states.tobytes() == whole.run(None, read)[0].tobytes()


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"other")
    verify(path, hashlib.sha256(b"other").hexdigest(), "lamina")
    with pytest.raises(Fault, match="sha256") as refused:
        verify(path, "0" * 64, "lamina")
    assert refused.value.code == "MODEL_FILE_DAMAGED"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="MODEL_FILE_DAMAGED"):
        verify(tmp_path / "model.onnx", "0" * 64, "lamina")


@pytest.mark.parametrize(
    ("machine", "flags", "saturates"),
    [
        ("x86_64", "flags: avx avx2", True),
        ("x86_64", "flags: avx2 avx512_vnni", False),
        ("AMD64", "flags: avx2 avx_vnni", False),
        ("x86_64", None, True),
        ("aarch64", None, False),
    ],
)
def test_exact_kernels_are_asked_for_where_fast_ones_may_saturate(
    tmp_path: Path, machine: str, flags: str | None, saturates: bool
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    if flags is not None:
        cpuinfo.write_text(flags)
    assert _saturates(machine, cpuinfo) is saturates


@pytest.mark.model
def test_encoding_has_the_promised_shapes(embedder: MiniLmEmbedder) -> None:
    encoded = embedder.encode(TEXTS)
    assert encoded.pooled.shape == (4, embedder.dim_pooled)
    assert encoded.pooled.dtype == np.float32
    assert np.linalg.norm(encoded.pooled, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert [len(one.rows) for one in encoded.tokens] == [7, 112, 0, 1]
    assert all(one.rows.shape[1] == 128 for one in encoded.tokens)


@pytest.mark.model
@pytest.mark.parametrize("threads", [1, 2])
def test_vectors_of_a_text_depend_on_the_text_alone(embedder: MiniLmEmbedder, threads: int) -> None:
    together, other = embedder.encode(TEXTS), MiniLmEmbedder(threads)
    for at, text in enumerate(TEXTS):
        alone = other.encode([text])
        assert alone.pooled[0].tobytes() == together.pooled[at].tobytes()
        assert alone.tokens[0].to_bytes() == together.tokens[at].to_bytes()


@pytest.mark.model
def test_fast_and_exact_kernels_agree_on_this_processor(
    embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lamina.models.minilm._saturates", lambda *_: True)
    exact = MiniLmEmbedder().encode(TEXTS)
    assert exact.pooled.tobytes() == embedder.encode(TEXTS).pooled.tobytes()


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
