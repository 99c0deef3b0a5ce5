"""What changed between two revisions: definitions, members, methods, deprecations, each a change with its grades.

What is compared is the meaning: both documents have been through the same door, so that dialect, layout, prose
and the order of names play no part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from .errors import SchemaError
from .facts import escape, facts
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
    """Every change from one revision to another: methods first, then definitions in the order of their names.

    Raises SchemaError for definitions that refer to each other through too many others to be followed.
    """
    try:
        return _diff(old, new)
    except RecursionError:
        raise SchemaError(
            "definitions that refer to each other through too many others", remedy="flatten the schema"
        ) from None


def _diff(old: Spec, new: Spec) -> list[Change]:
    ours, theirs = schemas(old), schemas(new)
    names = renamed(ours, theirs)
    before, after = _Side(old, with_names(ours, names), names), _Side(new, theirs, {})
    comparison = Comparison(before.schemas, after.schemas)
    written = _written(before), _written(after)
    return [
        *_methods(before, after, comparison, written),
        *(
            replace(change, written_by=_roles(change.definition, written))
            for change in (*_definitions(before, after, comparison), *_deprecations(before, after))
        ),
    ]


def schemas(spec: Spec) -> dict[str, Schema]:
    """The definitions to compare: without prose, the tags of `hoist`, order that says nothing, and role unions."""
    known = {one.name: facts(one.schema) for one in spec.definitions if one.name not in ROLE_UNION_NAMES}
    for node in nodes(list(known.values())):
        node.pop("discriminator", None)
        for keyword in ("required", "type"):
            if is_array(node.get(keyword)):
                node[keyword] = sorted(node[keyword])
    return known


@dataclass(frozen=True)
class _Side:
    """One of the revisions: `names` are the new names of its definitions, and `schemas` goes by them."""

    spec: Spec
    schemas: Mapping[str, Schema]
    names: Mapping[str, str]

    def name(self, definition: str) -> str:
        """The name by which a definition is compared."""
        return self.names.get(definition, definition)

    def messages(self) -> set[str]:
        """The definitions of its methods."""
        return {self.name(method.message) for method in self.spec.methods}

    def sendings(self) -> dict[Key, Method]:
        """Each method under each role that may send it."""
        found: dict[Key, Method] = {}
        for method in self.spec.methods:
            found |= {(role, method.kind, method.wire): method for role in method.senders}
        return found


_Written: TypeAlias = tuple[Mapping[str, set[Role]], Mapping[str, set[Role]]]
"""The roles that write each definition, in the old revision and in the new."""


def _definitions(old: _Side, new: _Side, comparison: Comparison) -> Iterator[Change]:
    before = {after: name for name, after in old.names.items()}
    for name in sorted({*old.schemas, *new.schemas}):
        if name not in new.schemas:
            yield _change(name, Difference("", "definition-removed", old.schemas[name], ABSENT))
        elif name not in old.schemas:
            yield _change(name, Difference("", "definition-added", ABSENT, new.schemas[name]))
        else:
            if name in before:
                yield _change(name, Difference("", "definition-renamed", before[name], name))
            found = comparison.differences(old.schemas[name], new.schemas[name])
            yield from (_change(name, one) for one in found)


def _methods(old: _Side, new: _Side, comparison: Comparison, written: _Written) -> Iterator[Change]:
    ours, theirs = old.sendings(), new.sendings()
    moved = _moved(old, new)
    for key, method in ours.items():
        if key not in theirs and key not in moved:
            message = old.name(method.message)
            kind = _whereabouts(message, new, written[1], "method-enclosed", "method-removed")
            yield Change(message, "", kind, method.wire, ABSENT, method.wire, (key[0],))
    for key, method in theirs.items():
        if key not in ours and method not in moved.values():
            kind = _whereabouts(method.message, old, written[0], "method-freed", "method-added")
            yield Change(method.message, "", kind, ABSENT, method.wire, method.wire, (key[0],))
    for key, was in ours.items():
        now = moved.get(key) or theirs.get(key)
        if now is not None:
            yield from _facets(was, now, key[0], old, comparison)


def _whereabouts(
    message: str, other: _Side, written: Mapping[str, set[Role]], enclosed: str, absent: str
) -> str:
    """The kind for a message that is a method on one side only: `enclosed` if the other has it inside others."""
    return enclosed if message in written and message not in other.messages() else absent


def _moved(old: _Side, new: _Side) -> dict[Key, Method]:
    """The methods whose message has another wire name now, by their old key."""
    ours, theirs = old.sendings(), new.sendings()
    return {
        key: method
        for key, was in ours.items()
        for other, method in theirs.items()
        if key not in theirs and other not in ours and key[:2] == other[:2]
        if method.message == old.name(was.message)
    }


def _facets(was: Method, now: Method, sender: Role, old: _Side, comparison: Comparison) -> Iterator[Change]:
    """What changed about a method that is in both: its name, its results, the capability that announces it."""
    if was.wire != now.wire:
        yield Change(now.message, "", "method-renamed", was.wire, now.wire, now.wire, (sender,))
    ours = [{"$ref": REF + old.name(name)} for name in was.results]
    theirs = [{"$ref": REF + name} for name in now.results]
    for found in comparison.alternatives(ours, theirs, "", "result"):
        before, after = (one if one is ABSENT else target(one["$ref"]) for one in (found.old, found.new))
        yield Change(now.message, "", found.kind, before, after, now.wire, (PEER[sender],))
    if was.capability != now.capability:
        yield Change(now.message, "", "gate-changed", was.capability, now.capability, now.wire, (sender,))


def _deprecations(old: _Side, new: _Side) -> Iterator[Change]:
    """What is deprecated, or is so no longer, among what both revisions have."""
    ours = {old.name(one.name): one for one in old.spec.definitions}
    for theirs in sorted(new.spec.definitions, key=lambda one: one.name):
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
            place = f"/properties/{escape(member.wire)}"
            yield place, members[member.wire].deprecated, member.deprecated


def _change(name: str, found: Difference) -> Change:
    return Change(name, found.pointer, found.kind, found.old, found.new, "", ())


def _roles(definition: str, written: _Written) -> tuple[Role, ...]:
    return tuple(role for role in PEER if any(role in side.get(definition, ()) for side in written))


def _written(side: _Side) -> dict[str, set[Role]]:
    """The roles that write each definition: a message its senders, a result who receives the request."""
    found: dict[str, set[Role]] = {}
    for method in side.spec.methods:
        for role in method.senders:
            _reach(side.name(method.message), role, side.schemas, found)
            for result in method.results:
                _reach(side.name(result), PEER[role], side.schemas, found)
    return found


def _reach(name: str, role: Role, known: Mapping[str, Schema], found: dict[str, set[Role]]) -> None:
    ahead = [name]
    while ahead:
        one = ahead.pop()
        if one in known and role not in found.setdefault(one, set()):
            found[one].add(role)
            ahead += [target(node["$ref"]) for node in nodes(known[one]) if "$ref" in node]
