"""Brings new conversation data in: drives the readers, keeps offsets, resumes."""

from __future__ import annotations
