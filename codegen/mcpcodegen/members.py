"""Schema against schema: each difference in what two schemas admit, at its place, as one change of a known kind.

The schemas stand for the same thing in two revisions. References to different definitions are looked through, so
that an object that was given a name, or another one, is compared member by member all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from .admits import BOUNDS, NOTES, NOTHING, Admission, arms_of, inside, kinds_of, looser, values_of
from .facts import escape, key, same
from .ir import ABSENT, Json, Schema
from .renames import renamed_members
from .shapes import resolve


@dataclass(frozen=True)
class Difference:
    """One difference: a JSON pointer into the definition, its kind, and what stands there on either side."""

    pointer: str
    kind: str
    old: Json
    new: Json


class Comparison:
    """Compares the schemas of two sets of definitions."""

    def __init__(self, old: Mapping[str, Schema], new: Mapping[str, Schema]) -> None:
        """`old` goes by the new names of what was renamed, and neither has prose."""
        self._old = old
        self._new = new
        self._by_old = Admission(old, new)
        self._by_new = Admission(new, old)

    def differences(
        self, old: Schema, new: Schema, pointer: str = "", seen: frozenset[str] = frozenset()
    ) -> Iterator[Difference]:
        """What differs at and below a place; `seen` are the comparisons that this one is part of."""
        if same(old, new):
            return
        pair = key([old, new])
        if pair in seen:
            return
        seen |= {pair}
        ours, theirs = resolve(old, self._old), resolve(new, self._new)
        union = next((both for both in product((old, ours), (new, theirs)) if _are_unions(*both)), None)
        if union is not None:
            yield from self.alternatives(_arms(union[0]), _arms(union[1]), pointer, "alternative")
        elif values_of(ours) is not None and values_of(theirs) is not None:
            yield from _values(values_of(ours) or [], values_of(theirs) or [], pointer)
        elif _of_one_type(ours, theirs):
            yield from self._keywords(ours, theirs, pointer, seen)
        else:
            yield Difference(pointer, self._type(ours, theirs), old, new)

    def alternatives(
        self, old: list[Schema], new: list[Schema], pointer: str, word: str
    ) -> Iterator[Difference]:
        """The alternatives that come and go, under the kinds that begin with `word`."""
        ours, theirs = {key(arm): arm for arm in old}, {key(arm): arm for arm in new}
        for arm in [arm for text, arm in ours.items() if text not in theirs]:
            kind = "unlisted" if self._by_new.admits({"anyOf": new}, arm) else "removed"
            yield Difference(pointer, _null_kind(arm, word, kind), arm, ABSENT)
        for arm in [arm for text, arm in theirs.items() if text not in ours]:
            kind = "listed" if self._by_old.admits({"anyOf": old}, arm) else "added"
            yield Difference(pointer, _null_kind(arm, word, kind), ABSENT, arm)

    def _type(self, old: Schema, new: Schema) -> str:
        wider, narrower = self._by_new.admits(new, old), self._by_old.admits(old, new)
        return {
            (True, True): "type-respelled",
            (True, False): "type-widened",
            (False, True): "type-narrowed",
            (False, False): "type-changed",
        }[wider, narrower]

    def _keywords(self, old: Schema, new: Schema, pointer: str, seen: frozenset[str]) -> Iterator[Difference]:
        if kinds_of(old) != kinds_of(new):
            kind = "null-admitted" if "null" in kinds_of(new) else "null-refused"
            yield Difference(f"{pointer}/type", kind, old["type"], new["type"])
        yield from self._members(old, new, pointer, seen)
        for keyword in ("items", "additionalProperties"):
            ours, theirs = inside(old, keyword), inside(new, keyword)
            yield from self.differences(ours, theirs, f"{pointer}/{keyword}", seen)
        known = {"type", "properties", "required", "items", "additionalProperties"}
        for keyword in sorted({*old, *new} - known):
            ours, theirs = old.get(keyword, ABSENT), new.get(keyword, ABSENT)
            if ours is ABSENT or theirs is ABSENT or not same(ours, theirs):
                yield Difference(
                    f"{pointer}/{escape(keyword)}", _constraint(keyword, ours, theirs), ours, theirs
                )

    def _members(self, old: Schema, new: Schema, pointer: str, seen: frozenset[str]) -> Iterator[Difference]:
        ours: Mapping[str, Schema] = old.get("properties", {})
        theirs: Mapping[str, Schema] = new.get("properties", {})
        names = renamed_members(old, new)
        for wire, schema in ours.items():
            place = f"{pointer}/properties/{escape(wire)}"
            if wire in names:
                word = "required-member-renamed" if _demands(old, wire) else "member-renamed"
                yield Difference(f"{pointer}/properties/{escape(names[wire])}", word, wire, names[wire])
            elif wire not in theirs:
                closed = not self._by_new.admits(inside(new, "additionalProperties"), schema)
                yield Difference(place, _member(closed, _demands(old, wire), "removed"), schema, ABSENT)
            else:
                if _demands(old, wire) != _demands(new, wire):
                    kind = "member-required" if _demands(new, wire) else "member-optional"
                    yield Difference(place, kind, _demands(old, wire), _demands(new, wire))
                yield from self.differences(schema, theirs[wire], place, seen)
        for wire in theirs:
            if wire not in ours and wire not in names.values():
                closed = not self._by_old.admits(inside(old, "additionalProperties"), theirs[wire])
                place = f"{pointer}/properties/{escape(wire)}"
                yield Difference(place, _member(closed, _demands(new, wire), "added"), ABSENT, theirs[wire])


def _arms(schema: Schema) -> list[Schema]:
    """The alternatives of a schema: those of a union, or itself."""
    arms = arms_of(schema)
    return [schema] if arms is None else arms


def _are_unions(old: Schema, new: Schema) -> bool:
    """Whether both are unions, or one is and the other is one of its alternatives."""
    ours, theirs = set(map(key, _arms(old))), set(map(key, _arms(new)))
    both = arms_of(old) is not None and arms_of(new) is not None
    return both or (arms_of(old) is not arms_of(new) and bool(ours & theirs))


def _of_one_type(old: Schema, new: Schema) -> bool:
    """Whether both are of the same types, null aside, so that what is said of them can be compared word by word."""
    if NOTHING in (old, new):
        return False
    if any(values_of(schema) is not None or arms_of(schema) is not None for schema in (old, new)):
        return False
    ours, theirs = set(kinds_of(old)), set(kinds_of(new))
    return ours == theirs or (
        bool(ours & theirs) and ours ^ theirs == {"null"} and "type" in old and "type" in new
    )


def _values(old: list[Json], new: list[Json], pointer: str) -> Iterator[Difference]:
    ours, theirs = {key(value): value for value in old}, {key(value): value for value in new}
    for text in [text for text in ours if text not in theirs]:
        yield Difference(pointer, "value-removed", ours[text], ABSENT)
    for text in [text for text in theirs if text not in ours]:
        yield Difference(pointer, "value-added", ABSENT, theirs[text])


def _null_kind(arm: Schema, word: str, kind: str) -> str:
    nulls = kinds_of(arm) == ("null",) and word == "alternative"
    return (
        {"added": "null-admitted", "removed": "null-refused"}.get(kind, f"{word}-{kind}")
        if nulls
        else f"{word}-{kind}"
    )


def _demands(schema: Schema, wire: str) -> bool:
    return wire in schema.get("required", ())


def _member(closed: bool, required: bool, verb: str) -> str:
    return f"{'closed-' * closed}{'required-' * required}member-{verb}"


def _constraint(keyword: str, old: Json, new: Json) -> str:
    if keyword in NOTES:
        return "note-changed"
    if keyword in BOUNDS:
        ours, theirs = (None if value is ABSENT else value for value in (old, new))
        return "bound-loosened" if looser(keyword, theirs, ours) else "bound-tightened"
    if old is ABSENT:
        return "constraint-added"
    return "constraint-removed" if new is ABSENT else "constraint-changed"
