"""What only one told does at a time, held by a lock on a file that ends with the process."""

from __future__ import annotations

import os

SWEEP, LEARN, UNDERSTAND = "sweep", "learn", "understand"


def hold_lock(home: str, what: str = SWEEP) -> int | None:
    """Take a lock until the process ends or the descriptor is closed; None when another told has it."""
    try:
        import fcntl
    except ImportError:  # Windows: two sweeps do no harm, each checks the cursor it began from
        return 0
    try:
        descriptor = os.open(os.path.join(home, f"{what}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
