"""States that exclude each other: what is public is not private."""

from __future__ import annotations

# Each word with its pair and its side of it.
OPPOSITES: dict[str, tuple[str, bool]] = {
    "on": ("on", True), "off": ("on", False), "an": ("on", True), "aus": ("on", False),
    "enabled": ("enabled", True), "disabled": ("enabled", False), "aktiviert": ("enabled", True),
    "deaktiviert": ("enabled", False), "active": ("enabled", True), "inactive": ("enabled", False),
    "public": ("public", True), "private": ("public", False), "öffentlich": ("public", True),
    "privat": ("public", False), "internal": ("public", False),
    "mandatory": ("needed", True), "required": ("needed", True), "optional": ("needed", False),
    "pflicht": ("needed", True), "freiwillig": ("needed", False), "compulsory": ("needed", True),
    "allowed": ("allowed", True), "permitted": ("allowed", True), "forbidden": ("allowed", False),
    "banned": ("allowed", False), "prohibited": ("allowed", False), "erlaubt": ("allowed", True),
    "verboten": ("allowed", False), "accepted": ("allowed", True), "rejected": ("allowed", False),
    "supported": ("supported", True), "unsupported": ("supported", False),
    "encrypted": ("encrypted", True), "plaintext": ("encrypted", False), "unencrypted": ("encrypted", False),
    "manual": ("automatic", False), "manually": ("automatic", False), "hand": ("automatic", False),
    "automatic": ("automatic", True), "automatically": ("automatic", True), "automated": ("automatic", True),
    "parallel": ("parallel", True), "sequential": ("parallel", False), "serial": ("parallel", False),
    "lazy": ("lazy", True), "eager": ("lazy", False), "lazily": ("lazy", True), "eagerly": ("lazy", False),
    "mutable": ("mutable", True), "immutable": ("mutable", False),
    "first": ("first", True), "last": ("first", False),
    "local": ("local", True), "remote": ("local", False), "cloud": ("local", False),
    "locally": ("local", True),
    "shared": ("shared", True), "separate": ("shared", False), "dedicated": ("shared", False),
    "signed": ("signed", True), "unsigned": ("signed", False),
    "sorted": ("sorted", True), "unsorted": ("sorted", False),
    "small": ("big", False), "big": ("big", True), "large": ("big", True),
    "open": ("open", True), "closed": ("open", False), "frozen": ("open", False),
    "online": ("online", True), "offline": ("online", False),
    "up": ("up", True), "down": ("up", False), "top": ("up", True), "bottom": ("up", False),
    "visible": ("visible", True), "hidden": ("visible", False), "shown": ("visible", True),
    "strict": ("strict", True), "loose": ("strict", False),
    "permanent": ("permanent", True), "temporary": ("permanent", False),
    "all": ("all", True), "none": ("all", False),
}  # fmt: skip
