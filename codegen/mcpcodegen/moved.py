"""Names of earlier revisions that a revision has under another name: what still means the same stays importable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .facts import key
from .ir import Document, Schema
from .renames import renamed, renamed_members, with_names

DECORATORS = frozenset({"deprecated", "property"})
"""What a member of before is marked with: members of these names would stand in the way."""


@dataclass(frozen=True)
class MovedName:
    """One name of before, what it is called now, and the revision that renamed it."""

    old: str
    new: str
    since: str

    @property
    def notice(self) -> str:
        """What is said to the one who still uses it."""
        return f"{self.old} is called {self.new}" + (f" since {self.since}" if self.since else "")


@dataclass(frozen=True)
class Moved:
    """The definitions that have moved, and by definition and new Python name the members that have."""

    definitions: tuple[MovedName, ...] = ()
    members: Mapping[str, Mapping[str, MovedName]] = field(default_factory=dict[str, dict[str, MovedName]])


def moved(history: Sequence[Document], document: Document) -> Moved:
    """What has moved in a hoisted document since the earlier ones, the oldest first."""
    definitions: dict[str, MovedName] = {}
    members: dict[str, dict[str, MovedName]] = {}
    for old, new in pairwise([*history, document]):
        names = renamed(old.definitions, new.definitions)
        before = with_names(old.definitions, names)
        kept = {a: b for a, b in names.items() if _means_the_same(before[b], new.definitions[b])}
        definitions = _onward(definitions, names) | {
            a: MovedName(a, b, new.revision) for a, b in kept.items()
        }
        members = {names.get(owner, owner): rows for owner, rows in members.items()}
        for owner, row in _members(old, new, names, before):
            members.setdefault(owner, {})[row.new] = row
    standing = {owner: _still(rows, owner, document) for owner, rows in members.items()}
    return Moved(
        tuple(definitions[name] for name in sorted(definitions) if _is_free(definitions[name], document)),
        {owner: rows for owner, rows in standing.items() if rows},
    )


def _onward(known: Mapping[str, MovedName], names: Mapping[str, str]) -> dict[str, MovedName]:
    """What was renamed before, under the names that it has since."""
    return {
        old: MovedName(old, names[row.new], row.since) if row.new in names else row
        for old, row in known.items()
    }


def _is_free(row: MovedName, document: Document) -> bool:
    """Whether a name of before is free, and what it stood for still there."""
    return row.old not in document.definitions and row.new in document.definitions


def _members(
    old: Document, new: Document, names: Mapping[str, str], before: Mapping[str, Schema]
) -> Iterator[tuple[str, MovedName]]:
    """The members that have another name, in Python too, each with its definition."""
    for was, python in old.python.items():
        owner = names.get(was, was)
        if owner in new.definitions:
            for a, b in renamed_members(before[owner], new.definitions[owner]).items():
                if python[a] != new.python[owner][b]:
                    yield owner, MovedName(python[a], new.python[owner][b], new.revision)


def _still(rows: Mapping[str, MovedName], owner: str, document: Document) -> dict[str, MovedName]:
    """The rows whose member is there, and whose old name no member has; none where members hide what it takes."""
    taken = set(document.python.get(owner, {}).values())
    return (
        {}
        if taken & DECORATORS
        else {new: row for new, row in rows.items() if new in taken and row.old not in taken}
    )


def _means_the_same(old: Schema, new: Schema) -> bool:
    """Whether a definition is what it was, or that and more: every member and alternative of before, and nothing more to give."""
    if key(old) == key(new):
        return True
    ours, theirs = old.get("properties", {}), new.get("properties", {})
    arms, others = ([key(arm) for arm in schema.get("anyOf", ())] for schema in (old, new))
    grown = all(name in theirs and key(ours[name]) == key(theirs[name]) for name in ours)
    grown = grown and set(new.get("required", ())) <= set(old.get("required", ()))
    return bool(ours or arms) and grown and set(arms) <= set(others)
