"""What a failed reading says: each fault once, at its place in the value that was read.

Pydantic reports every arm of a union that was tried, and puts the arms' names into the place. What remains here
is the arm that the value chose, and a path that leads through the value itself.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, LiteralString, TypeAlias

from pydantic import ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError, from_json

LABEL = "?"
"""What the label of an arm begins with, and no member's name that anybody uses."""

UNKNOWN = "?unknown"
"""The label of the arm that keeps what no other arm knows; its complaint is never the reason."""

Place: TypeAlias = tuple[int | str, ...]

Fault: TypeAlias = tuple[Place, ErrorDetails]


def clean(error: ValidationError, value: Any) -> ValidationError:
    """The same failure, told once; `value` is what was read, as JSON text or as the value itself."""
    root = _parsed(value)
    faults = [(_path(fault, root), fault) for fault in error.errors(include_url=False)]
    details = [
        InitErrorDetails(
            type=PydanticCustomError(
                _literal(fault["type"]), _literal(fault["msg"].replace("{", "{{").replace("}", "}}"))
            ),
            loc=path,
            input=fault["input"],
        )
        for path, fault in _reasons(faults)
    ]
    return ValidationError.from_exception_data(error.title, details)


def _reasons(faults: list[Fault]) -> list[Fault]:
    """The faults of the arms that were meant: not of the arm for the unknown, nor of one for another JSON type."""
    known = [(path, fault) for path, fault in faults if UNKNOWN not in fault["loc"]] or faults
    paths = {path for path, _ in known}
    return [(path, fault) for path, fault in known if not (_in_arm(fault) and _leads_on(path, paths))]


def _in_arm(fault: ErrorDetails) -> bool:
    return any(isinstance(step, str) and step.startswith(LABEL) for step in fault["loc"])


def _leads_on(path: Place, paths: Set[Place]) -> bool:
    """Whether another fault stands deeper inside: then the value at `path` was of the right type for some arm."""
    return any(len(other) > len(path) and other[: len(path)] == path for other in paths)


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


def _path(fault: ErrorDetails, root: Any) -> Place:
    """The part of a location that leads through the value; labels of arms are not part of it."""
    path: list[int | str] = []
    here: Any = root
    last = len(fault["loc"]) - 1
    for index, step in enumerate(fault["loc"]):
        if _holds(here, step):
            here = _inside(here, step)
        elif not (index == last and fault["type"] == "missing"):
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
