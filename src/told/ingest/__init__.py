"""Brings new conversation data in: drives the readers, keeps offsets, resumes."""
