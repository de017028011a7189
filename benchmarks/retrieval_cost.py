"""What retrieval costs: time of each question, time and size of the index, and the most memory."""

from __future__ import annotations

import ctypes
import gc
import resource
import statistics
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

_MEGABYTE = 1_000_000

COST = (
    "query_ms is the median of one question in this process, index_s and index_MB are sums over all corpora "
    "(texts included; a text that several corpora have gets its vector once), peak_MB is by how much the "
    "process grew at most beside the data it had read."
)


class Cost(NamedTuple):
    """What indexing and asking took."""

    ms: list[float]  # of each question
    index_seconds: float
    index_bytes: int
    peak_mb: float | None

    def figures(self) -> dict[str, Any]:
        """Return the figures of a report."""
        ordered = sorted(self.ms) or [0.0]
        return {
            "queries": len(self.ms),
            "query_ms": round(statistics.median(ordered), 2),
            "p95_ms": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))], 2),
            "index_s": round(self.index_seconds, 2),
            "index_MB": round(self.index_bytes / _MEGABYTE, 1),
            "peak_MB": self.peak_mb,
        }


def _status() -> Iterator[tuple[str, float]]:
    """Yield what Linux says of this process, in MB."""
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name in ("VmRSS", "VmHWM"):
                yield name, int(value.split()[0]) * 1024 / _MEGABYTE


def forget_peak() -> float:
    """Set the peak of this process to what it holds now, which is returned (MB)."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)  # what was freed before would be taken again unseen
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
        return dict(_status())["VmRSS"]
    except (OSError, AttributeError):
        return 0.0


def peak_since(before: float) -> float | None:
    """Return by how many MB this process grew at most; without Linux, its peak since it began."""
    try:
        return round(max(0.0, dict(_status())["VmHWM"] - before), 1)
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / _MEGABYTE, 1)
