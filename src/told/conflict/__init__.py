"""Decide whether a new statement replaces, repeats or refines an old one."""
