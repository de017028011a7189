"""The scratch machine of the ingest tests, for what needs a whole told."""

from __future__ import annotations

from tests.ingest.conftest import box, make_box, use_box

__all__ = ["box", "make_box", "use_box"]
