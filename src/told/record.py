"""Immutable records, without the 20 ms that importing `dataclasses` costs every command.

A named tuple of the standard library is compiled when it is defined, 0.15 ms each; these are not.
"""

from __future__ import annotations

from _collections import _tuplegetter  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_):  # noqa: ANN003, ANN201
        """Stand in for `typing.dataclass_transform`, which only type checkers need."""
        return lambda function: function


class _Record(tuple):  # type: ignore[type-arg]
    """A tuple whose items have names."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()
    _defaults: tuple[Any, ...] = ()

    def __new__(cls, *values: Any, **named: Any) -> _Record:  # noqa: PYI034 - Self would cost an import of typing
        missing = len(cls._fields) - len(values)
        if named or missing:
            values = cls._filled(values, named, missing)
        return tuple.__new__(cls, values)

    @classmethod
    def _filled(cls, values: tuple[Any, ...], named: dict[str, Any], missing: int) -> tuple[Any, ...]:
        if not named and 0 < missing <= len(cls._defaults):
            return values + cls._defaults[-missing:]
        filled = dict(zip(cls._fields[len(cls._fields) - len(cls._defaults) :], cls._defaults, strict=True))
        given = dict(zip(cls._fields, values, strict=False))
        if missing < 0 or given.keys() & named or named.keys() - set(cls._fields):
            raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
        filled.update(given)
        filled.update(named)
        try:
            return tuple(filled[name] for name in cls._fields)
        except KeyError as error:
            raise TypeError(f"{cls.__name__} needs {error.args[0]}") from None

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self).__name__, tuple(self)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({shown})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Make an annotated class an immutable record with those fields and defaults.

    To a type checker the result is a frozen dataclass; at run time it is a tuple with names.
    """
    body = dict(cls.__dict__)
    fields = tuple(body.pop("__annotations__", ()))
    defaults = tuple(body.pop(name) for name in fields if name in body)
    body.pop("__dict__", None)
    body.pop("__weakref__", None)
    body |= {name: _tuplegetter(place, "") for place, name in enumerate(fields)}
    body |= {"__slots__": (), "__match_args__": fields, "_fields": fields, "_defaults": defaults}
    return type(cls.__name__, (_Record,), body)


def replaced(value: T, **changes: Any) -> T:
    """Return a record with some fields changed."""
    fields: tuple[str, ...] = value._fields  # type: ignore[attr-defined]
    return type(value)(**dict(zip(fields, value, strict=True), **changes))  # type: ignore[call-overload]
