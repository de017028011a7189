"""Fine-tune a small encoder that judges pairs: `python -m training.conflict_encoder --base DIR --out DIR`.

The base is a folder with a BERT-like model and its tokenizer, such as all-MiniLM-L6-v2. The result is a
folder for the setting `conflict_model`: model.onnx (int8), tokenizer.json and told.json. It needs torch,
transformers, onnx and onnxruntime, which told itself does not.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from onnxruntime.quantization import quantize_dynamic
from tokenizers import Tokenizer
from torch.nn.functional import log_softmax
from transformers import BertForSequenceClassification

from training.supersede_data import LABELS, NOT_REPLACED, Pair, read_pairs, read_rows

_MAX_TOKENS = 96
_BATCH, _RATE, _HEAD_FACTOR, _WARM_UP, _SMOOTHING = 16, 1e-4, 8, 0.1, 0.05


def main(words: Sequence[str]) -> int:
    """Train, write the folder, and print the figures of the rows left out."""
    parser = argparse.ArgumentParser(prog="training.conflict_encoder", description=__doc__)
    parser.add_argument("--base", required=True, help="folder of the model to start from")
    parser.add_argument("--out", required=True, help="folder to write")
    parser.add_argument("--data", default="", help="further labelled pairs, one JSON object a line")
    parser.add_argument("--test", default="", help="labelled pairs that are only judged")
    parser.add_argument("--epochs", type=int, default=4)
    given = parser.parse_args(words)
    torch.manual_seed(1)
    rows = read_pairs() + (read_rows(given.data) if given.data else [])
    tokenizer = Tokenizer.from_file(f"{given.base}/tokenizer.json")
    tokenizer.enable_truncation(_MAX_TOKENS)
    tokenizer.enable_padding()
    model = BertForSequenceClassification.from_pretrained(given.base, num_labels=len(LABELS))
    train(model, tokenizer, rows, given.epochs)
    out = Path(given.out)
    out.mkdir(parents=True, exist_ok=True)
    write_folder(model, tokenizer, Path(given.base), out)
    if given.test:
        tested = read_rows(given.test)
        chances = judge(model, tokenizer, tested)
        lines = [json.dumps([round(float(one), 4) for one in row]) for row in chances]
        (out / "chances.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        right = sum(LABELS[int(row.argmax())] == one.label for row, one in zip(chances, tested, strict=True))
        print(f"{right} of {len(tested)} right")
    return 0


def train(model: Any, tokenizer: Any, rows: Sequence[Pair], epochs: int) -> None:
    """Fine-tune on pairs; a pair with an open label only says that nothing is replaced."""
    head = [one for name, one in model.named_parameters() if name.startswith("classifier")]
    model.bert.embeddings.requires_grad_(requires_grad=False)  # half of the weights, and few rows
    body = [one for one in model.bert.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(
        [{"params": body, "lr": _RATE}, {"params": head, "lr": _RATE * _HEAD_FACTOR}], weight_decay=0.01
    )
    steps = epochs * ((len(rows) + _BATCH - 1) // _BATCH)
    warm = max(1, int(_WARM_UP * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))
    )
    choose = random.Random(1)  # noqa: S311 - the same order each time
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for batch in _shuffled_batches(rows, choose):
            loss = _loss(model(**_encode(tokenizer, batch)).logits, batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += float(loss.detach()) * len(batch)
        print(f"epoch {epoch + 1}: loss {total / len(rows):.3f}", flush=True)


def _shuffled_batches(rows: Sequence[Pair], choose: random.Random) -> list[list[Pair]]:
    """Return batches of pairs of about the same length, in random order."""
    order = list(rows)
    choose.shuffle(order)
    near = 8 * _BATCH
    chunks = [sorted(order[at : at + near], key=_length) for at in range(0, len(order), near)]
    batches = [chunk[at : at + _BATCH] for chunk in chunks for at in range(0, len(chunk), _BATCH)]
    choose.shuffle(batches)
    return batches


def _length(pair: Pair) -> int:
    return len(pair.old) + len(pair.new)


def judge(model: Any, tokenizer: Any, rows: Sequence[Pair]) -> Any:
    """Return the probabilities of each label for each pair."""
    model.eval()
    with torch.no_grad():
        parts = [
            model(**_encode(tokenizer, rows[start : start + _BATCH])).logits.softmax(-1)
            for start in range(0, len(rows), _BATCH)
        ]
    return torch.cat(parts)


def write_folder(model: Any, tokenizer: Any, base: Path, out: Path) -> None:
    """Write the model as int8 ONNX with its tokenizer."""
    model.eval()
    tokens = _encode(tokenizer, [Pair("", "", "We use npm.", "pnpm now", "")])
    whole = out / "whole.onnx"
    names = ("input_ids", "attention_mask", "token_type_ids")
    torch.onnx.export(
        model, (tokens,), str(whole), input_names=list(names), output_names=["logits"],
        dynamic_axes={name: {0: "batch", 1: "tokens"} for name in names}, opset_version=17, dynamo=False,
    )  # fmt: skip
    quantize_dynamic(str(whole), str(out / "model.onnx"))
    whole.unlink()
    shutil.copy(base / "tokenizer.json", out / "tokenizer.json")
    info = {"name": "told-conflict", "max_len": _MAX_TOKENS}
    (out / "told.json").write_text(json.dumps(info) + "\n", encoding="utf-8")


def _encode(tokenizer: Any, batch: Sequence[Pair]) -> dict[str, Any]:
    found = tokenizer.encode_batch([(one.old, one.new) for one in batch])
    return {
        "input_ids": torch.tensor([one.ids for one in found]),
        "attention_mask": torch.tensor([one.attention_mask for one in found]),
        "token_type_ids": torch.tensor([one.type_ids for one in found]),
    }


def _loss(logits: Any, batch: Sequence[Pair]) -> Any:
    """Return the smoothed cross entropy; an open label spreads over all but `replaces`."""
    wanted = torch.full_like(logits, _SMOOTHING / len(LABELS))
    losses = log_softmax(logits, -1)
    for at, one in enumerate(batch):
        if one.label == NOT_REPLACED:
            others = losses[at].detach().exp()
            others[0] = 0.0
            wanted[at] += (1 - _SMOOTHING) * others / others.sum()
        else:
            wanted[at, LABELS.index(one.label)] += 1 - _SMOOTHING
    return -(wanted * losses).sum(-1).mean()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
