"""Makes folders with tiny models, so that no test needs the weights of a real one.

Words of a topic have rows near each other; a text's vector is told by the rows of its words. The tokenizer's
file asks for padding, as some that are handed around do.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

TOPICS = ("commit revert undo git", "button blue colour logo", "disk full space quota")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "find:", "keep:")
PART = 16
WIDTH = 5 * PART  # three topics, words on their own, and special tokens

np: Any = import_module("numpy")
onnx: Any = import_module("onnx")
helper: Any = import_module("onnx.helper")


def words() -> list[str]:
    return [*SPECIAL, *" ".join(TOPICS).split()]


def rows() -> Any:
    """Return a row for each word: what it shares with its topic, and a little of its own."""
    made = np.zeros((len(words()), WIDTH), np.float32)
    for at in range(len(words())):
        made[at, 3 * PART + at % PART] = 0.5
        made[at, 4 * PART :] = 0.1 if at < len(SPECIAL) else 0.0
    for topic, line in enumerate(TOPICS):
        for word in line.split():
            made[words().index(word), topic * PART : (topic + 1) * PART] = 1.0
    return made


def write_tokenizer(folder: Path) -> None:
    tokenizers: Any = import_module("tokenizers")
    vocabulary = {word: at for at, word in enumerate(words())}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    made.enable_padding(length=128)
    made.save(str(folder / "tokenizer.json"))


def write_embedder(
    folder: Path, about: dict[str, Any] | None = None, *, pooled: str = "", types: bool = True,
    kind: str = "INT64", width: int | None = None, more: str = "",
) -> str:  # fmt: skip
    """Make a folder with a model that looks words up.

    Args:
        folder: Where; it is made.
        about: What told.json says.
        pooled: The name of an output that has one vector a text; without, there is one for each token.
        types: Whether the model wants `token_type_ids`.
        kind: The type of its inputs.
        width: How many tokens it takes; as many as there are, if None.
        more: The name of one more input.
    """
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if types else []), *([more] if more else [])]
    integer = getattr(onnx.TensorProto, kind)
    nodes = [helper.make_node("Gather", ["rows", "input_ids"], ["each"], axis=0)]
    output, shape = "each", ["batch", "tokens", WIDTH]
    if pooled:
        nodes.append(helper.make_node("ReduceMax", ["each", "axis"], [pooled], keepdims=0))
        output, shape = pooled, ["batch", WIDTH]
    outputs = [helper.make_tensor_value_info(output, onnx.TensorProto.FLOAT, shape)]
    if pooled == "sentence_embedding":  # the other one stands first, as it does in real ones
        outputs.insert(0, helper.make_tensor_value_info("each", onnx.TensorProto.FLOAT, ["b", "t", WIDTH]))
    inputs = [helper.make_tensor_value_info(name, integer, ["batch", width or "tokens"]) for name in names]
    constants = {"rows": rows(), "axis": np.array([1])} if pooled else {"rows": rows()}
    return _write(folder, about, helper.make_graph(nodes, "toy", inputs, outputs, _tensors(constants)))


def write_reranker(folder: Path, about: dict[str, Any] | None = None, *, classes: int = 1) -> str:
    """Make a folder with a model that tells how relevant two texts are: how much of git they have."""
    weights = np.zeros((WIDTH, classes), np.float32)
    weights[:PART, -1] = 1.0
    nodes = [
        helper.make_node("Gather", ["rows", "input_ids"], ["each"], axis=0),
        helper.make_node("ReduceSum", ["each", "axis"], ["sum"], keepdims=0),
        helper.make_node("MatMul", ["sum", "weights"], ["logits"]),
    ]
    outputs = [helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["batch", classes])]
    inputs = [
        helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    constants = {"rows": rows(), "axis": np.array([1]), "weights": weights}
    return _write(folder, about, helper.make_graph(nodes, "toy", inputs, outputs, _tensors(constants)))


def _tensors(constants: dict[str, Any]) -> list[Any]:
    return [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()]


def _write(folder: Path, about: dict[str, Any] | None, graph: Any) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    write_tokenizer(folder)
    (folder / "told.json").write_text(json.dumps(about if about is not None else {}))
    return str(folder)
