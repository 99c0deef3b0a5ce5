"""What changed between two revisions: definitions, members, methods, deprecations, each a change with its grades.

What is compared is the meaning: both documents have been through the same door, so that dialect, layout, prose
and the order of names play no part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from .facts import facts
from .grades import KINDS, Grade
from .ir import ABSENT, Definition, Json, Kind, Member, Method, Role, Schema, Spec, is_array
from .lower import PEER, ROLE_UNIONS
from .members import Comparison, Difference
from .renames import renamed, with_names
from .shapes import REF, nodes, target

Key: TypeAlias = tuple[Role, Kind, str]
"""A method by who sends it, what it is, and its wire name."""

ROLE_UNION_NAMES = frozenset(name for name, _, _ in ROLE_UNIONS)
"""The unions that say who sends what; what changes in them is told as methods that come and go."""


@dataclass(frozen=True)
class Change:
    """One change of one thing.

    `definition` goes by its new name where it has one, `pointer` is a JSON pointer into it (through references
    to what only one revision names), and `kind` is a row of `grades.KINDS`. `old` and `new` are what stands there,
    ABSENT where nothing does. `method` is the wire name of the method that comes, goes or differs, or empty.
    `written_by` are the roles that write what has changed, as far as methods say.
    """

    definition: str
    pointer: str
    kind: str
    old: Json
    new: Json
    method: str
    written_by: tuple[Role, ...]

    @property
    def readers(self) -> Grade:
        """What it does to those who read such messages as the old revision has them."""
        return KINDS[self.kind].readers

    @property
    def writers(self) -> Grade:
        """What it does to those who write such messages as the old revision has them."""
        return KINDS[self.kind].writers

    @property
    def breaking(self) -> bool:
        """Whether it breaks either."""
        return "breaking" in (self.readers, self.writers)


def diff(old: Spec, new: Spec) -> list[Change]:
    """Every change from one revision to another: methods first, then definitions in the order of their names."""
    ours, theirs = schemas(old), schemas(new)
    names = renamed(ours, theirs)
    ours = with_names(ours, names)
    comparison = Comparison(ours, theirs)
    written = _written(old, ours, names), _written(new, theirs, {})
    found = [
        *_methods(old, new, names, comparison),
        *_definitions(ours, theirs, names, comparison),
        *_deprecations(old, new, names),
    ]
    return [change if change.method else _with_writers(change, written) for change in found]


def schemas(spec: Spec) -> dict[str, Schema]:
    """The definitions that are compared: no prose, no tags that `hoist` wrote, no order that says nothing, no role unions."""
    known = {one.name: facts(one.schema) for one in spec.definitions if one.name not in ROLE_UNION_NAMES}
    for node in nodes(list(known.values())):
        node.pop("discriminator", None)
        for keyword in ("required", "type"):
            if is_array(node.get(keyword)):
                node[keyword] = sorted(node[keyword])
    return known


def _definitions(
    old: Mapping[str, Schema], new: Mapping[str, Schema], names: Mapping[str, str], comparison: Comparison
) -> Iterator[Change]:
    before = {after: name for name, after in names.items()}
    for name in sorted({*old, *new}):
        if name not in new:
            yield _change(name, Difference("", "definition-removed", old[name], ABSENT))
        elif name not in old:
            yield _change(name, Difference("", "definition-added", ABSENT, new[name]))
        else:
            if name in before:
                yield _change(name, Difference("", "definition-renamed", before[name], name))
            yield from (_change(name, found) for found in comparison.differences(old[name], new[name]))


def _methods(old: Spec, new: Spec, names: Mapping[str, str], comparison: Comparison) -> Iterator[Change]:
    ours, theirs = _sendings(old), _sendings(new)
    moved = _moved(ours, theirs, names)
    for key, method in ours.items():
        if key in moved:
            yield _method_change(moved[key], "method-renamed", method.wire, moved[key].wire, key[0])
        elif key not in theirs:
            yield _method_change(method, "method-removed", method.wire, ABSENT, key[0])
    for key, method in theirs.items():
        if key not in ours and method not in moved.values():
            yield _method_change(method, "method-added", ABSENT, method.wire, key[0])
    pairs = {**{key: theirs[key] for key in ours if key in theirs}, **moved}
    for key, method in pairs.items():
        yield from _facets(ours[key], method, key[0], names, comparison)


def _sendings(spec: Spec) -> dict[Key, Method]:
    """Each method under each role that may send it."""
    found: dict[Key, Method] = {}
    for method in spec.methods:
        found |= {(role, method.kind, method.wire): method for role in method.senders}
    return found


def _moved(
    old: Mapping[Key, Method], new: Mapping[Key, Method], names: Mapping[str, str]
) -> dict[Key, Method]:
    """The methods whose message has another wire name now, by their old key."""
    return {
        key: method
        for key, was in old.items()
        for other, method in new.items()
        if key not in new and other not in old and key[:2] == other[:2]
        if method.message == names.get(was.message, was.message)
    }


def _facets(
    old: Method, new: Method, sender: Role, names: Mapping[str, str], comparison: Comparison
) -> Iterator[Change]:
    """What changed about a method that is in both: its results, and the capability that announces it."""
    ours = [{"$ref": REF + names.get(name, name)} for name in old.results]
    theirs = [{"$ref": REF + name} for name in new.results]
    for found in comparison.alternatives(ours, theirs, "", "result"):
        before, after = (one if one is ABSENT else target(one["$ref"]) for one in (found.old, found.new))
        yield _method_change(new, found.kind, before, after, PEER[sender])
    if old.capability != new.capability:
        yield _method_change(new, "gate-changed", old.capability, new.capability, sender)


def _method_change(method: Method, kind: str, old: Json, new: Json, writer: Role) -> Change:
    return Change(method.message, "", kind, old, new, method.wire, (writer,))


def _deprecations(old: Spec, new: Spec, names: Mapping[str, str]) -> Iterator[Change]:
    """What is deprecated, or is so no longer, among what both revisions have."""
    ours = {names.get(one.name, one.name): one for one in old.definitions}
    for theirs in sorted(new.definitions, key=lambda one: one.name):
        if theirs.name in ours:
            for pointer, before, after in _advice(ours[theirs.name], theirs):
                if bool(before) != bool(after):
                    kind = "deprecated" if after else "undeprecated"
                    yield _change(theirs.name, Difference(pointer, kind, before or ABSENT, after or ABSENT))


def _advice(old: Definition, new: Definition) -> Iterator[tuple[str, str, str]]:
    """The advice on a definition and on each member that both revisions have, with the place."""
    yield "", old.deprecated, new.deprecated
    members: Mapping[str, Member] = {one.wire: one for one in old.members}
    for member in new.members:
        if member.wire in members:
            yield f"/properties/{member.wire}", members[member.wire].deprecated, member.deprecated


def _change(name: str, found: Difference) -> Change:
    return Change(name, found.pointer, found.kind, found.old, found.new, "", ())


def _with_writers(change: Change, written: tuple[Mapping[str, set[Role]], ...]) -> Change:
    roles = {role for side in written for role in side.get(change.definition, ())}
    ordered = tuple(role for role in PEER if role in roles)
    return replace(change, written_by=ordered)


def _written(spec: Spec, schemas: Mapping[str, Schema], names: Mapping[str, str]) -> dict[str, set[Role]]:
    """The roles that write each definition: a message its senders, a result who receives the request."""
    found: dict[str, set[Role]] = {}
    for method in spec.methods:
        for role in method.senders:
            _reach(names.get(method.message, method.message), role, schemas, found)
            for result in method.results:
                _reach(names.get(result, result), PEER[role], schemas, found)
    return found


def _reach(name: str, role: Role, schemas: Mapping[str, Schema], found: dict[str, set[Role]]) -> None:
    ahead = [name]
    while ahead:
        one = ahead.pop()
        if one in schemas and role not in found.setdefault(one, set()):
            found[one].add(role)
            ahead += [target(node["$ref"]) for node in nodes(schemas[one]) if "$ref" in node]
