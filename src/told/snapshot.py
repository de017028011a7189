"""What a hook would otherwise make anew at every prompt: compiled modules, patterns and tables, in one file.

A snapshot is only a cache. `told install` writes it; whatever it lacks, or has of an older source file, is
made as always. It is read only if nobody but the user could have written it. What is needed together lies
together in a pack.
"""

# Without the usual import from __future__: it has a file of its own, which every prompt would wait for.
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable
    from typing import Any, AnyStr, TypeVar

    T = TypeVar("T")

IGNORECASE, MULTILINE, VERBOSE = 2, 8, 64  # as `re` has them, which takes long to load
HEAD = f"told snapshot 2 {sys.version} ".encode()
_DIGEST = _COUNT = 8  # bytes
_OTHERS_MAY_WRITE = 0o022

# What was made because no snapshot had it; the next snapshot is made of these.
made_patterns: "dict[tuple[Any, int], None]" = {}
made_tables: "dict[str, Any]" = {}
# What the packs have that were read so far.
_patterns: "dict[tuple[Any, int], tuple[Any, ...]]" = {}
_tables: "dict[str, Any]" = {}
_used: "list[Snapshot]" = []
# What each step of a prompt needs, then a tool call, the rest, and a checkpoint, in the order of the packs.
LOOK, RECALL, CAPTURE, TEACH, TOOL, REST, HAND = range(7)


def pattern(text: "AnyStr", flags: int = 0) -> "re.Pattern[AnyStr]":
    """Return a compiled regular expression, without compiling it where a snapshot has it."""
    ready = _patterns.get((text, flags))
    if ready is not None:
        from _sre import compile as compiled  # type: ignore[import-not-found]

        return compiled(text, *ready)  # type: ignore[no-any-return]
    import re

    made_patterns[text, flags] = None
    return re.compile(text, flags)


def kept(name: str, make: "Callable[[], T]") -> "T":
    """Return a table of strings and numbers that takes long to make, from the snapshot if that has it.

    Its module must be named first, so that a table is not taken from an older one: "told.guard.text:shown".
    """
    found: T | None = _tables.get(name)
    if found is not None:
        return found
    made = made_tables[name] = make()
    return made


def load_apsw() -> None:
    """Load apsw without the 2 ms that `collections` costs, of which it asks for one part that is there."""
    if "apsw" in sys.modules or "collections" in sys.modules:
        return
    import _collections_abc

    part = type(sys)("collections")
    part.abc = _collections_abc  # type: ignore[attr-defined]
    sys.modules |= {"collections": part, "collections.abc": _collections_abc}
    try:
        import apsw  # noqa: F401 - whoever needs it finds it loaded
    except (ImportError, AttributeError):
        sys.modules.pop("apsw", None)  # it wants more: loaded when it is needed, as always
    finally:
        del sys.modules["collections"], sys.modules["collections.abc"]


def digest_of(data: bytes) -> bytes:
    """Return the check of a part of a snapshot."""
    from _blake2 import blake2b

    return blake2b(data, digest_size=_DIGEST).digest()


def path_in(home: str) -> str:
    """Return where the snapshot for this Python is."""
    return f"{home}/snapshot.{sys.implementation.cache_tag}"


def use(path: str) -> bool:
    """Take modules, patterns and tables from a snapshot from now on; False if there is none of use."""
    snapshot = opened(path)
    if snapshot is None:
        return False
    sys.meta_path.insert(0, snapshot)
    _used[:] = [snapshot]
    return True


def ready(number: int) -> None:
    """Run all modules of a pack at once: Python's own import would take longer to find each of them."""
    for snapshot in _used:
        snapshot.run(number)


def opened(path: str) -> "Snapshot | None":
    """Open a snapshot; None if there is none of use. It stays open until the process ends."""
    import os

    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return None
    start = len(HEAD) + _COUNT + _DIGEST
    found = os.fstat(descriptor)
    mine = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    head = os.read(descriptor, start) if mine and not found.st_mode & _OTHERS_MAY_WRITE else b""
    if head.startswith(HEAD) and len(head) == start:
        index = os.read(descriptor, int.from_bytes(head[len(HEAD) : -_DIGEST], "big"))
        if digest_of(index) == head[-_DIGEST:]:
            import marshal

            packs, modules = marshal.loads(index)  # noqa: S302 - checked, and nobody else could write it
            return Snapshot(packs, modules, descriptor, start + len(index))
    os.close(descriptor)
    return None


def packed(packs: "list[dict[str, Any]]", modules: "dict[str, tuple[Any, ...]]") -> bytes:
    """Return a snapshot as it is written.

    Args:
        packs: Of each, the code of its modules, its patterns and its tables.
        modules: By name: the number of the pack, the path, the time and the size of the source, and whether
            it is a package.
    """
    import marshal

    parts = [marshal.dumps((one["modules"], one["patterns"], one["tables"])) for one in packs]
    places, at = [], 0
    for part in parts:
        places.append((at, len(part), digest_of(part)))
        at += len(part)
    index = marshal.dumps((places, modules))
    return HEAD + len(index).to_bytes(_COUNT, "big") + digest_of(index) + index + b"".join(parts)


class Snapshot:
    """An open snapshot, as Python imports modules from it."""

    def __init__(self, packs: "list[Any]", modules: "dict[str, Any]", descriptor: int, start: int) -> None:
        self.modules = modules
        self._packs = packs
        self._codes: dict[str, Any] = {}
        self._read: set[int] = set()
        self._descriptor = descriptor
        self._start = start

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":  # noqa: ARG002 - the protocol
        """Say where a module is, for Python's own import."""
        entry = self.modules.get(name)
        if entry is None or not is_same(entry) or not self._has(name, entry[0]):
            return None
        from _frozen_importlib import ModuleSpec

        spec = ModuleSpec(name, self, origin=entry[1], is_package=entry[4])  # type: ignore[arg-type]
        spec.has_location = True
        if entry[4]:
            spec.submodule_search_locations = [entry[1].rpartition("/")[0]]
        return spec

    def create_module(self, spec: "Any") -> None:
        """Leave making the module to Python."""

    def exec_module(self, module: "Any") -> None:
        """Run a module."""
        exec(self._codes.pop(module.__name__), module.__dict__)  # noqa: S102 - it is the module's own code

    def run(self, number: int) -> None:
        """Run the modules of a pack that nobody has loaded yet, those first that others need."""
        self._has("", number)
        for name in [one for one in self._codes if self.modules[one][0] == number]:
            entry = self.modules[name]
            if name in sys.modules or not is_same(entry):
                continue
            module = type(sys)(name)
            module.__file__, module.__loader__ = entry[1], self  # type: ignore[assignment]
            if entry[4]:
                module.__path__ = [entry[1].rpartition("/")[0]]
            sys.modules[name] = module
            exec(self._codes.pop(name), module.__dict__)  # noqa: S102 - it is the module's own code
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], last, module)

    def _has(self, name: str, number: int) -> bool:
        if number not in self._read:
            self._read.add(number)
            self._unpack(*self._packs[number])
        return name in self._codes

    def _unpack(self, at: int, size: int, digest: bytes) -> None:
        import marshal
        import os

        os.lseek(self._descriptor, self._start + at, os.SEEK_SET)
        data = os.read(self._descriptor, size)
        if digest_of(data) == digest:
            codes, patterns, tables = marshal.loads(data)  # noqa: S302 - checked
            self._codes.update(codes)
            _patterns.update(patterns)
            same = [name for name in tables if is_same(self.modules[name.partition(":")[0]])]
            _tables.update({name: tables[name] for name in same})


def is_same(entry: "tuple[Any, ...]") -> bool:
    """Tell whether the source of a module is as it was when the snapshot was made."""
    import os

    try:
        found = os.stat(entry[1])
    except OSError:
        return False
    return bool(found.st_mtime_ns == entry[2] and found.st_size == entry[3])
