"""Instances in which the members of several arms of a union meet, so that one of the arms has to be chosen.

Whole, with a member missing and with a member spoiled: only then does it show in the verdict which arm was chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, TypeAlias

Members: TypeAlias = Mapping[str, Any]
Named: TypeAlias = tuple[str, Members]


@dataclass(frozen=True)
class Arm:
    """An arm of a union: the smallest object that it takes, and one with every member."""

    least: Members
    most: Members


def meetings(arms: Sequence[Arm]) -> Iterator[Named]:
    """Each arm with every member, every pair of arms in both orders, then all arms at once."""
    for arm in arms:
        yield from _changed("one arm", arm.most)
    for one, other in permutations(arms, 2):
        yield from _pair(one, other)
    together = {name: value for arm in arms for name, value in arm.least.items()}
    yield from _changed("all arms", together)
    yield from _changed("all arms, reversed", dict(reversed(together.items())))


def _pair(one: Arm, other: Arm) -> Iterator[Named]:
    both = {**one.least, **other.least}
    yield from _changed("two arms", both, one.least)
    yield "two arms, both full", {**one.most, **other.most}
    yield from _spoiled("two arms, the other full", {**one.least, **other.most}, one.least)
    yield from _spoiled("two arms, one full", {**other.least, **one.most}, one.most)
    shared = {name: both[name] for name in one.least if name in other.least}
    for name in (name for name in one.least if name not in shared):
        for its in (its for its in other.least if its not in shared):
            yield from _spoiled("a member of each", {**shared, name: both[name], its: both[its]}, (name,))
    for name in shared:
        inner = one.least[name], other.least[name]
        if all(value and isinstance(value, dict) for value in inner):
            nested = _pair(*(Arm(value, value) for value in inner))
            yield from ((f"{why}, in {name}", {**both, name: value}) for why, value in nested)


def _changed(why: str, value: Members, names: Iterable[str] = ()) -> Iterator[Named]:
    """A value, and the same with each of some members, else of all, missing and spoiled."""
    yield why, value
    for name in names or value:
        yield f"{why}, {name} missing", {key: value[key] for key in value if key != name}
    yield from _spoiled(why, value, names or value)


def _spoiled(why: str, value: Members, names: Iterable[str]) -> Iterator[Named]:
    """A value with what most likely does not fit in the place of each of some members."""
    for name in names:
        yield f"{why}, {name} spoiled", {**value, name: "no number" if _is_number(value[name]) else 5}
        if value[name] and isinstance(value[name], dict):
            yield f"{why}, {name} empty", {**value, name: {}}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
