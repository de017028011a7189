"""Fixtures shared with the ingest tests."""

from __future__ import annotations

from tests.ingest.conftest import box, make_box, use_box

__all__ = ["box", "make_box", "use_box"]
