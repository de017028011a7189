"""Immutable records, without the 20 ms that importing `dataclasses` costs every command."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_):  # noqa: ANN003, ANN201
        """Stand in for `typing.dataclass_transform`, which only type checkers need."""
        return lambda function: function


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Make an annotated class an immutable record with those fields and defaults.

    To a type checker the result is a frozen dataclass; at run time it is a named tuple.
    """
    fields = list(cls.__annotations__)
    body = dict(cls.__dict__)
    defaults = [body.pop(name) for name in fields if name in body]
    for name in ("__dict__", "__weakref__", "__annotations__"):
        body.pop(name, None)
    base = namedtuple(cls.__name__, fields, defaults=defaults)  # type: ignore[misc]  # noqa: PYI024
    body["__slots__"] = ()
    body["__eq__"] = lambda self, other: type(self) is type(other) and tuple.__eq__(self, other)
    body["__ne__"] = lambda self, other: not (self == other)  # noqa: SIM201
    body["__hash__"] = lambda self: hash((cls.__name__, tuple(self)))
    return type(cls.__name__, (base,), body)


def replaced(value: T, **changes: Any) -> T:
    """Return a record with some fields changed."""
    changed: T = value._replace(**changes)  # type: ignore[attr-defined]
    return changed
