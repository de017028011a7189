"""A folder with a model that the user has: model.onnx, tokenizer.json, and told.json with how it is used.

told fetches no model; whoever wants one puts it there. Everything that may be wrong with it is one sentence.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib import import_module

from told.errors import MissingError
from told.record import record
from told.settings.models import FLOOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_NEEDED = ("model.onnx", "tokenizer.json", "told.json")
_WEIGHTS_BESIDE = ("model.onnx_data", "model.onnx.data")  # where a large model keeps them
_LIBRARIES = ("onnxruntime", "tokenizers", "numpy")
_LARGEST_ABOUT = 100_000  # bytes
_LONGEST_NAME = 60
_AT_ONCE = 1 << 20  # bytes
MEAN, CLS = "mean", "cls"
USUAL: dict[str, Any] = {
    "name": "", "pool": MEAN, "query_prefix": "", "text_prefix": "", "max_len": 256, "floor": FLOOR,
}  # fmt: skip


@record
class About:
    """What told.json says."""

    path: str
    name: str
    pool: str  # how a text's vector comes from those of its tokens: their mean, or the first
    query_prefix: str
    text_prefix: str
    max_len: int  # tokens
    floor: float


def about(path: str) -> About:
    """Look at a folder without loading the model in it.

    Raises:
        MissingError: it is not a folder with a model.
    """
    if not os.path.isdir(path):
        raise MissingError(f"There is no folder {path}. {_WANTED}")
    for name in _NEEDED:
        if not os.path.isfile(os.path.join(path, name)):
            raise MissingError(f"{path} has no {name}. {_WANTED}")
    from importlib.util import find_spec

    if not all(map(find_spec, _LIBRARIES)):
        raise _without_extra(path)
    given = {**USUAL, **_read(os.path.join(path, "told.json"))}
    name = given.pop("name") or os.path.basename(os.path.abspath(path))
    return About(
        path, "".join(c if c.isalnum() or c in "-_./" else "-" for c in name)[:_LONGEST_NAME], **given
    )


def stamp_of(path: str) -> tuple[tuple[str, int, int], ...]:
    """Return what tells a folder's files from what they were before."""
    found = []
    for name in (*_NEEDED, *_WEIGHTS_BESIDE):
        try:
            state = os.stat(os.path.join(path, name))
        except OSError:
            continue
        found.append((name, state.st_mtime_ns, state.st_size))
    return tuple(found)


def identity(folder: About) -> str:
    """Return the model's name and the beginning of the hash of all that its vectors depend on."""
    from _blake2 import blake2b

    digest = blake2b(f"{folder.pool} {folder.max_len} {folder.text_prefix}\n".encode(), digest_size=16)
    for name in ("model.onnx", "tokenizer.json", *_WEIGHTS_BESIDE):
        path = os.path.join(folder.path, name)
        if name in _NEEDED or os.path.isfile(path):
            try:
                with open(path, "rb") as file:
                    digest.update(f"{name} {os.fstat(file.fileno()).st_size}\n".encode())
                    while part := file.read(_AT_ONCE):
                        digest.update(part)
            except OSError as error:
                raise _unreadable(path, error) from None
    return f"{folder.name}:{digest.hexdigest()[:12]}"


class Loaded:
    """A model and its tokenizer, on one thread: the same text gives the same numbers.

    Texts go through it one by one. What stands beside a text in a batch changes its numbers where weights are
    quantised, and on a processor a batch is not faster.
    """

    def __init__(self, folder: About) -> None:
        self._path = folder.path
        try:
            runtime, tokenizers, self.numpy = map(import_module, _LIBRARIES)
        except ImportError:
            raise _without_extra(folder.path) from None
        with said_plainly(folder.path):
            runtime.set_default_logger_severity(4)  # it would write to the user's terminal
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
            self._width = self._fixed_width()
            self.tokenizer.no_padding()  # some files ask for it, and then every text costs the most
            self.tokenizer.enable_truncation(min(folder.max_len, self._width or folder.max_len))
        if unknown := set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids"}:
            raise MissingError(
                f"The model in {folder.path} wants {min(unknown)}, which told does not know."
                " Take one that reads text and nothing else."
            )

    def run(self, encoding: Any) -> tuple[Any, Any]:
        """Return what the model says of one text, and which of its places are the text's own."""
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
        with said_plainly(self._path):
            found = self._session.run([self._output], arrays)[0]
        return self.numpy.asarray(found, "float64"), count

    def encode(self, *texts: str) -> Any:
        """Return the tokens of a text, or of two that belong together."""
        with said_plainly(self._path):
            return self.tokenizer.encode(*(text.encode("utf-8", "replace").decode() for text in texts))

    def _fixed_width(self) -> int:
        """Return how many tokens the model takes, no fewer; 0 if it takes as many as there are."""
        shape = self._inputs["input_ids"].shape if "input_ids" in self._inputs else []
        return shape[1] if len(shape) > 1 and isinstance(shape[1], int) else 0


@contextmanager
def said_plainly(path: str) -> Iterator[None]:
    """Say in a sentence what the libraries say in their own ways: their errors have no base of their own."""
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
            raise MissingError(f"The model in {path} cannot be used: {why}. {_WANTED}") from None
        raise


def _read(path: str) -> Mapping[str, Any]:
    import json

    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(_LARGEST_ABOUT))
    except OSError as error:
        raise _unreadable(path, error) from None
    except (ValueError, RecursionError):
        raise MissingError(f"{path} is not valid JSON. Mend it; {{}} is enough for most models.") from None
    if not isinstance(found, dict):
        raise MissingError(f"{path} must be a JSON object. {{}} is enough for most models.")
    for name, value in found.items():
        usual = USUAL.get(name)
        if usual is None:
            raise MissingError(f"{path} has {name!r}, which told does not know: {', '.join(USUAL)}.")
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


def _without_extra(path: str) -> MissingError:
    return MissingError(f"The model in {path} needs more than told itself: pip install 'told[onnx]'.")


def _unreadable(path: str, error: OSError) -> MissingError:
    return MissingError(f"{path} cannot be read ({(error.strerror or 'error').lower()}).")


_WANTED = "A model's folder has model.onnx, tokenizer.json and told.json; docs/models.md says more."
_POOLED = "sentence_embedding"
