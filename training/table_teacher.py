"""Run a small BERT encoder with numpy.

Needs numpy and nothing else. One kind of input is enough here: rows of the same length, so there is no mask.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float32]]
Rows = np.ndarray[Any, np.dtype[np.int64]]

_KINDS = {"F32": np.float32, "F16": np.float16}
_BATCH_PIECES = 6144  # rows are run together up to so many pieces: what fits into the caches


class Teacher:
    """An encoder that returns a vector for every word piece."""

    def __init__(self, folder: str) -> None:
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        with open(os.path.join(folder, "vocab.txt"), encoding="utf-8") as file:
            self.pieces = file.read().split("\n")[: config["vocab_size"]]
        self.number = {piece: number for number, piece in enumerate(self.pieces)}
        self._weights = read_safetensors(os.path.join(folder, "model.safetensors"))
        self._layers: int = config["num_hidden_layers"]
        self._heads: int = config["num_attention_heads"]
        self._epsilon: float = config["layer_norm_eps"]

    def means(self, rows: Sequence[Sequence[int]]) -> Floats:
        """Return the mean vector of each row, with `[CLS]` and `[SEP]`."""
        first, last = self.number["[CLS]"], self.number["[SEP]"]
        by_length: dict[int, list[int]] = {}
        for at, row in enumerate(rows):
            by_length.setdefault(len(row), []).append(at)
        found: Floats = np.zeros(
            (len(rows), self._weights["embeddings.word_embeddings.weight"].shape[1]), "f4"
        )
        for length in sorted(by_length):
            places = by_length[length]
            step = max(1, _BATCH_PIECES // (length + 2))
            for start in range(0, len(places), step):
                part = places[start : start + step]
                found[part] = self.states(np.array([[first, *rows[at], last] for at in part])).mean(axis=1)
        return found

    def states(self, rows: Rows) -> Floats:
        """Return the last layer for rows of one length."""
        weight = self._weights
        state = weight["embeddings.word_embeddings.weight"][rows]
        state = state + weight["embeddings.position_embeddings.weight"][: rows.shape[1]]
        state = state + weight["embeddings.token_type_embeddings.weight"][0]
        state = self._normed(state, "embeddings.LayerNorm")
        for layer in range(self._layers):
            name = f"encoder.layer.{layer}"
            state = self._normed(state + self._attended(state, name), f"{name}.attention.output.LayerNorm")
            inner = _gelu(self._dense(state, f"{name}.intermediate.dense"))
            state = self._normed(
                state + self._dense(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm"
            )
        return state

    def _attended(self, state: Floats, name: str) -> Floats:
        rows, pieces, size = state.shape
        parts = [
            self._dense(state, f"{name}.attention.self.{part}")
            .reshape(rows, pieces, self._heads, size // self._heads)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        ]
        looks = parts[0] @ parts[1].transpose(0, 1, 3, 2) / math.sqrt(size // self._heads)
        looks = np.exp(looks - looks.max(axis=-1, keepdims=True))
        looks /= looks.sum(axis=-1, keepdims=True)
        seen = (looks @ parts[2]).transpose(0, 2, 1, 3).reshape(rows, pieces, size)
        return self._dense(seen, f"{name}.attention.output.dense")

    def _dense(self, state: Floats, name: str) -> Floats:
        flat = state.reshape(-1, state.shape[-1]) @ self._weights[f"{name}.weight"].T
        return (flat + self._weights[f"{name}.bias"]).reshape(*state.shape[:-1], -1)

    def _normed(self, state: Floats, name: str) -> Floats:
        centred = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + self._epsilon)
        return centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def read_safetensors(path: str) -> dict[str, Floats]:
    """Return the float tensors of a safetensors file by name."""
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    found = {}
    for name, about in json.loads(data[8 : 8 + size]).items():
        kind = _KINDS.get(about.get("dtype"))
        if kind is not None:
            start, end = (8 + size + offset for offset in about["data_offsets"])
            values = np.frombuffer(data[start:end], kind).reshape(about["shape"])
            found[name.removeprefix("bert.")] = values.astype(np.float32)
    return found


def _gelu(state: Floats) -> Floats:
    """Return x Φ(x), precise to seven digits (Abramowitz, Stegun 7.1.26)."""
    scaled = np.abs(state) * np.float32(math.sqrt(0.5))
    part = 1 / (1 + np.float32(0.3275911) * scaled)
    series = part * (
        0.254829592
        + part * (-0.284496736 + part * (1.421413741 + part * (-1.453152027 + part * 1.061405429)))
    )
    error = np.sign(state) * (1 - series * np.exp(-scaled * scaled))
    return (0.5 * state * (1 + error)).astype(np.float32)
