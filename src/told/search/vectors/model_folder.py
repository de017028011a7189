"""Run models from a folder with model.onnx, tokenizer.json and told.json.

told downloads no model; users put one there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from told.errors import MissingError
from told.hashing import blake2b
from told.search.rank import RankedTurn, stretch_scores
from told.search.vectors.arithmetic import quantize
from told.settings.endpoints import FLOOR

_REQUIRED_FILES = ("model.onnx", "tokenizer.json", "told.json")
_WEIGHT_FILES = ("model.onnx_data", "model.onnx.data")  # of large models
_LIBRARIES = ("onnxruntime", "tokenizers", "numpy")
_MAX_INFO = 100_000  # bytes
_MAX_NAME = 60
_BLOCK = 1 << 20  # bytes
_MAX_TOKEN = 20  # characters
_EXPECTED = "A model's folder has model.onnx, tokenizer.json and told.json; docs/models.md says more."
_POOLED = "sentence_embedding"
Stamp = tuple[tuple[str, int, int], ...]
RERANKED = 20  # results: about half a second
RERANK_SHARE = 0.5  # of the score
_MAX_QUESTION = 500
_STEP = 1e-9  # keeps the order of the others without adding to their sessions
MEAN, CLS = "mean", "cls"
DEFAULTS: dict[str, Any] = {
    "name": "", "pool": MEAN, "query_prefix": "", "text_prefix": "", "max_len": 256, "floor": FLOOR,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The settings in told.json."""

    path: str
    name: str
    pool: str  # `mean` of the token vectors, or the first (`cls`)
    query_prefix: str
    text_prefix: str
    max_len: int  # tokens
    floor: float


def read_model_info(path: str) -> ModelInfo:
    """Read a model folder without loading the model."""
    if not os.path.isdir(path):
        raise MissingError(f"There is no folder {path}. {_EXPECTED}")
    for name in _REQUIRED_FILES:
        if not os.path.isfile(os.path.join(path, name)):
            raise MissingError(f"{path} has no {name}. {_EXPECTED}")

    if not all(map(find_spec, _LIBRARIES)):
        raise _explain_missing_extra(path)
    given = {**DEFAULTS, **_read_settings(os.path.join(path, "told.json"))}
    name = given.pop("name") or os.path.basename(os.path.abspath(path))
    return ModelInfo(
        path, "".join(c if c.isalnum() or c in "-_./" else "-" for c in name)[:_MAX_NAME], **given
    )


def stat_model_files(path: str) -> Stamp:
    """Return name, time and size of a folder's files, to detect changes."""
    found = []
    for name in (*_REQUIRED_FILES, *_WEIGHT_FILES):
        try:
            state = os.stat(os.path.join(path, name))
        except OSError:
            continue
        found.append((name, state.st_mtime_ns, state.st_size))
    return tuple(found)


def make_model_id(folder: ModelInfo) -> str:
    """Return the model's name and a short hash of its files and settings."""
    digest = blake2b(f"{folder.pool} {folder.max_len} {folder.text_prefix}\n".encode(), digest_size=16)
    for name in ("model.onnx", "tokenizer.json", *_WEIGHT_FILES):
        path = os.path.join(folder.path, name)
        if name in _REQUIRED_FILES or os.path.isfile(path):
            try:
                with open(path, "rb") as file:
                    digest.update(f"{name} {os.fstat(file.fileno()).st_size}\n".encode())
                    while part := file.read(_BLOCK):
                        digest.update(part)
            except OSError as error:
                raise _explain_unreadable(path, error) from None
    return f"{folder.name}:{digest.hexdigest()[:12]}"


class LoadedModel:
    """A model and its tokenizer, on one thread for reproducible numbers.

    Texts are run one by one: batching changes the numbers of quantised models, and is not faster on a CPU.
    """

    def __init__(self, folder: ModelInfo) -> None:
        self._path = folder.path
        try:
            runtime, tokenizers, self.numpy = map(import_module, _LIBRARIES)
        except ImportError:
            raise _explain_missing_extra(folder.path) from None
        with translate_errors(folder.path):
            runtime.set_default_logger_severity(4)  # silence its log
            runtime.disable_telemetry_events()
            self.tokenizer = tokenizers.Tokenizer.from_file(os.path.join(folder.path, "tokenizer.json"))
            options = runtime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            self._session = runtime.InferenceSession(
                os.path.join(folder.path, "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
            self._inputs = {one.name: one for one in self._session.get_inputs()}
            outputs = [one.name for one in self._session.get_outputs()]
            self._output = _POOLED if _POOLED in outputs else outputs[0]
            shape = self._inputs["input_ids"].shape if "input_ids" in self._inputs else []
            self._width = shape[1] if len(shape) > 1 and isinstance(shape[1], int) else 0
            self.tokenizer.no_padding()  # padding makes every text as slow as the longest
            self.tokenizer.enable_truncation(min(folder.max_len, self._width or folder.max_len))
        if unknown := set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids"}:
            raise MissingError(
                f"The model in {folder.path} wants {min(unknown)}, which told does not know."
                " Take one that reads text and nothing else."
            )

    def run(self, encoding: Any) -> tuple[Any, Any]:
        """Return the model's output for a text, and its number of tokens."""
        count = len(encoding.ids)
        rest = [0] * max(0, self._width - count)
        given = {
            "input_ids": [*encoding.ids, *rest],
            "attention_mask": [*([1] * count), *rest],
            "token_type_ids": [*encoding.type_ids, *rest],
        }
        arrays = {
            name: self.numpy.array([given[name]], "int32" if one.type == "tensor(int32)" else "int64")
            for name, one in self._inputs.items()
        }
        with translate_errors(self._path):
            found = self._session.run([self._output], arrays)[0]
        return self.numpy.asarray(found, "float64"), count

    def encode(self, *texts: str) -> Any:
        """Return the tokens of a text, or of a pair."""
        with translate_errors(self._path):
            return self.tokenizer.encode(*(text.encode("utf-8", "replace").decode() for text in texts))


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Turn the libraries' errors, which share no base, into MissingError."""
    try:
        yield
    except Exception as error:
        kind = type(error)
        if (
            kind is Exception
            or kind.__module__.startswith("onnxruntime")
            or kind in (ValueError, RuntimeError)
        ):
            why = " ".join(str(error).split())[:200]
            raise MissingError(f"The model in {path} cannot be used: {why}. {_EXPECTED}") from None
        raise


def _read_settings(path: str) -> Mapping[str, Any]:
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(_MAX_INFO))
    except OSError as error:
        raise _explain_unreadable(path, error) from None
    except (ValueError, RecursionError):
        raise MissingError(f"{path} is not valid JSON. Fix it; {{}} is enough for most models.") from None
    if not isinstance(found, dict):
        raise MissingError(f"{path} must be a JSON object. {{}} is enough for most models.")
    for name, value in found.items():
        usual = DEFAULTS.get(name)
        if usual is None:
            raise MissingError(f"{path} has {name!r}, which told does not know: {', '.join(DEFAULTS)}.")
        if name == "floor":
            if type(value) not in (int, float) or not 0 <= value <= 1:
                raise MissingError(f"floor in {path} must be a number from 0 to 1.")
            continue
        if type(value) is not type(usual) or (name == "pool" and value not in (MEAN, CLS)):
            must = f'"{MEAN}" or "{CLS}"' if name == "pool" else f"of the kind of {json.dumps(usual)}"
            raise MissingError(f"{name} in {path} must be {must}.")
        if name == "max_len" and not 8 <= value <= 8192:
            raise MissingError(f"max_len in {path} must be a whole number from 8 to 8192.")
    return found


def _explain_missing_extra(path: str) -> MissingError:
    return MissingError(f"The model in {path} needs more than told itself: pip install 'told[onnx]'.")


def _explain_unreadable(path: str, error: OSError) -> MissingError:
    return MissingError(f"{path} cannot be read ({(error.strerror or 'error').lower()}).")


_loaded: dict[str, tuple[Stamp, LocalEmbedder]] = {}


def load_local_embedder(path: str) -> LocalEmbedder:
    """Return the model in a folder, loaded once until its files change."""
    stamp = stat_model_files(path)
    if path not in _loaded or _loaded[path][0] != stamp:
        _loaded.clear()  # there is only room for one large model
        _loaded[path] = stamp, LocalEmbedder(path)
    return _loaded[path][1]


class LocalEmbedder:
    """Embeds with a local model, which is loaded on first use."""

    is_quick = False

    def __init__(self, path: str) -> None:
        """Read the folder."""
        self._info = read_model_info(path)
        self.model = make_model_id(self._info)
        self.floor = float(self._info.floor)
        self._loaded: LoadedModel | None = None

    def vectors(self, texts: Sequence[str], *, asking: bool = False) -> list[bytes | None]:
        """Return the vectors of texts; None for an empty one."""
        prefix = self._info.query_prefix if asking else self._info.text_prefix
        return [self._embed(prefix, text) if text.strip() else None for text in texts]

    def _embed(self, prefix: str, text: str) -> bytes | None:
        model = self._loaded = self._loaded or LoadedModel(self._info)
        found, count = model.run(model.encode(f"{prefix}{text[: self._info.max_len * _MAX_TOKEN]}"))
        if found.ndim == 3:
            found = found[:, 0] if self._info.pool == CLS else found[:, :count].mean(axis=1)
        if found.ndim != 2 or len(found) != 1:
            raise MissingError(
                f"The model in {self._info.path} gives no vector for a text, but {found.ndim} dimensions."
                " Take one that is made for embeddings."
            )
        return quantize(found[0].tolist())


class Reranker:
    """Scores how well texts answer a question; loaded on first use."""

    def __init__(self, path: str) -> None:
        """Read the folder."""
        self._info = read_model_info(path)
        self._loaded: LoadedModel | None = None

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Score how well each text answers a question, on the model's scale."""
        model = self._loaded = self._loaded or LoadedModel(self._info)
        return [self._score(model, question[:_MAX_QUESTION], text) for text in texts]

    def _score(self, model: LoadedModel, question: str, text: str) -> float:
        found = model.run(model.encode(question, text))[0].reshape(-1).tolist()
        if not 1 <= len(found) <= 2:
            raise MissingError(
                f"The model in {self._info.path} gives {len(found)} numbers for a question and a text,"
                " not one. Take one that is made for re-ranking."
            )
        return float(found[-1] - found[0] if len(found) == 2 else found[0])  # yes against no


def rerank(
    turns: Sequence[RankedTurn],
    text_of: Callable[[RankedTurn], str],
    scores: Callable[[list[str]], Sequence[float]],
) -> list[RankedTurn]:
    """Re-rank the first turns by a mix of both scores."""
    first, rest = turns[:RERANKED], turns[RERANKED:]
    if not first:
        return []
    before = stretch_scores({at: turn.score for at, turn in enumerate(first)})
    after = stretch_scores(dict(enumerate(scores([text_of(turn) for turn in first]))))
    mixed = [
        turn._replace(score=(1 - RERANK_SHARE) * before[at] + RERANK_SHARE * after[at])
        for at, turn in enumerate(first)
    ]
    behind = [turn._replace(score=-_STEP * at) for at, turn in enumerate(rest, 1)]
    return [*sorted(mixed, key=lambda turn: -turn.score), *behind]
