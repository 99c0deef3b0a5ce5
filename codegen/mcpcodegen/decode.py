"""JSON as it is meant to be read: what a lenient reader lets pass is read and marked, so that its place can be told.

That is `NaN` and the infinities, a number that no program can hold, and a member that stands twice in one object.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from .facts import escape
from .ir import Json, is_array, is_object


@dataclass(frozen=True)
class Flaw:
    """A part of a value that JSON cannot mean: where (a JSON pointer), what stands there, and what should."""

    pointer: str
    found: str
    expected: str


def flaws(root: Json) -> Iterator[Flaw]:
    """What a value that was read here holds and JSON cannot mean, in the order in which it stands."""
    left: list[tuple[str, Json]] = [("", root)]
    while left:
        pointer, node = left.pop()
        if isinstance(node, _NoNumber):
            yield Flaw(pointer, node.found, node.expected)
        elif isinstance(node, _Doubled):
            for name in node.names:
                yield Flaw(f"{pointer}/{escape(name)}", "a member that stands twice", "each name once")
        inside = node.items() if is_object(node) else enumerate(node) if is_array(node) else ()
        left += reversed([(f"{pointer}/{escape(str(key))}", inner) for key, inner in inside])


class _NoNumber(float):
    """What stands for a number that is none."""

    found: str
    expected: str

    @classmethod
    def of(cls, found: str, expected: str) -> _NoNumber:
        made = cls("nan")
        made.found, made.expected = found, expected
        return made


class _Doubled(dict[str, Json]):
    """An object that has members of one name; the last one counts."""

    names: tuple[str, ...]


def _integer(text: str) -> int | _NoNumber:
    try:
        return int(text)
    except ValueError:
        return _NoNumber.of(
            f"an integer of {len(text.lstrip('-'))} digits", "a number that a program can hold"
        )


def _fraction(text: str) -> float:
    value = float(text)
    if math.isfinite(value):
        return value
    return _NoNumber.of(text if len(text) <= 40 else f"{text[:40]}...", "a number that a program can hold")


def _constant(text: str) -> float:
    return _NoNumber.of(text, "a JSON value; JSON has no such number")


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    doubled = _Doubled(members)
    counts = Counter(name for name, _ in pairs)
    doubled.names = tuple(name for name in members if counts[name] > 1)
    return doubled


DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_fraction, parse_constant=_constant
)
