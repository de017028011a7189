"""What speaks for it that a newer memory took the place of an older one.

Written by `python -m training.outgrown`; do not edit.
"""

from __future__ import annotations

WEIGHTS = {
    "": 1.43,
    "near": 3.95,
    "shared": -2.34,
    "same kind": 1.06,
    "stated": -0.05,
    "words": -6.55,
    "newer words": 2.13,
    "named": -0.52,
    "let go": 2.49,
    "same subject": 1.8,
    "change": -0.65,
    "ending": 0.31,
    "replaces": 0.7,
    "repeats": 0.12,
    "refines": 0.15,
    "contradicts_scope": 0.15,
    "independent": 0.16,
}
