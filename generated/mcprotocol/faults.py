"""What a failed reading says: each fault once, at its place in the value that was read.

Pydantic reports every arm of a union that was tried, and puts the arms' names into the place. What remains here
is the arm that the value chose, and a path that leads through the value itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, from_json

UNKNOWN = "?unknown"
"""The label of the arm that keeps what no other arm knows; its complaint is never the reason."""

Place = tuple[int | str, ...]


def clean(error: ValidationError, value: Any) -> ValidationError:
    """The same failure, told once; `value` is what was read, as JSON text or as the value itself."""
    root = _parsed(value)
    faults = error.errors(include_url=False)
    reasons = [fault for fault in faults if UNKNOWN not in fault["loc"]] or faults
    details = [
        InitErrorDetails(
            type=PydanticCustomError(
                _literal(fault["type"]), _literal(fault["msg"].replace("{", "{{").replace("}", "}}"))
            ),
            loc=_path(fault["loc"], root),
            input=fault["input"],
        )
        for fault in reasons
    ]
    return ValidationError.from_exception_data(error.title, details)


def _parsed(value: Any) -> Any:
    if not isinstance(value, (str, bytes, bytearray)):
        return value
    try:
        return from_json(value)
    except ValueError:
        return None


def _literal(text: Any) -> LiteralString:
    """Text of Pydantic's own, which asks to be given literals only."""
    literal: LiteralString = text
    return literal


def _path(location: Sequence[int | str], root: Any) -> Place:
    """The part of a location that leads through the value; labels of arms are not part of it."""
    path: list[int | str] = []
    here: Any = root
    for index, step in enumerate(location):
        last = index == len(location) - 1
        if _holds(here, step):
            here = _inside(here, step)
        elif not (last and isinstance(here, dict)):
            continue
        path.append(step)
    return tuple(path)


def _holds(value: Any, step: int | str) -> bool:
    if isinstance(value, dict):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and step < _length(value)


def _inside(value: Any, step: int | str) -> Any:
    return value[step]


def _length(value: Any) -> int:
    return len(value)
