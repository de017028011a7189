"""What speaks for it that a newer memory took the place of an older one.

Written by `python -m training.outgrown`; do not edit.
"""

from __future__ import annotations

WEIGHTS = {
    "": 1.43,
    "near": 3.74,
    "shared": -2.34,
    "same kind": 1.13,
    "stated": -0.01,
    "words": -6.35,
    "newer words": 2.09,
    "named": -0.57,
    "let go": 2.6,
    "same subject": 1.54,
    "change": -0.43,
    "ending": 0.3,
    "replaces": 0.72,
    "repeats": 0.14,
    "refines": 0.16,
    "contradicts_scope": 0.13,
    "independent": 0.16,
}
