"""The grades of `diff` against jsonschema: for each change of each real pair an instance shows the break, or none does.

A change inside a schema is made alone, and the instances of its definition are judged before and after it: those
that a writer makes who knows the one side, by the other. What comes to a union, or goes, is judged by the whole
union of either revision. The rest changes no schema: made alone, it changes the verdict on no instance of what it
touches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from corpus import Json, instances
from jsonschema import Draft202012Validator
from revised import STEPS, Definitions, Pair, Schema, alone, at, pair, resolved, revision

from mcpcodegen.diff import Change
from mcpcodegen.facts import unescape
from mcpcodegen.grades import KINDS
from mcpcodegen.ir import ABSENT

SILENT = {
    "definition-added": "a definition alone is in no message; what refers to it is a change of its own",
    "definition-removed": "a definition alone is in no message; what referred to it is a change of its own",
    "definition-renamed": "names of definitions are in no message",
    "gate-changed": "the capability that announces a method is in no message of that method",
    "deprecated": "what is deprecated stays in the schema as it is",
    "undeprecated": "what was deprecated is in the schema as it was",
    "method-renamed": "the constant `method` of the message is a change of its own",
}
"""The kinds that change no schema by themselves, with the reason."""

REF = "#/$defs/"
Judge: TypeAlias = Callable[[Json], bool]
"""Says whether a value is valid by one schema."""


@pytest.mark.parametrize(("old", "new"), STEPS, ids=[f"{old}-{new}" for old, new in STEPS])
def test_instances_show_each_break_and_no_other(old: str, new: str, spec_dir: Path) -> None:
    both = pair(revision(old, spec_dir), revision(new, spec_dir))
    judged = [change for change in both.changes if change.kind not in SILENT]
    shown = {_title(change): _shown(change, both) for change in judged}
    graded = {_title(change): _graded(change) for change in judged}
    assert {title: breaks for title, breaks in shown.items() if breaks != graded[title]} == {}


@pytest.mark.parametrize("kind", [kind for kind in SILENT if kind != "method-renamed"])
def test_what_changes_no_schema_breaks_nobody(kind: str) -> None:
    assert "breaking" not in (KINDS[kind].readers, KINDS[kind].writers)


@pytest.mark.parametrize(("old", "new"), STEPS, ids=[f"{old}-{new}" for old, new in STEPS])
def test_no_instance_tells_of_what_changes_no_schema(old: str, new: str, spec_dir: Path) -> None:
    both = pair(revision(old, spec_dir), revision(new, spec_dir))
    silent = [change for change in both.changes if change.kind in SILENT and change.kind != "method-renamed"]
    told = {_title(change): found for change in silent if (found := list(_told(change, both)))}
    assert told == {}


def test_an_instance_would_tell_if_the_verdict_changed(spec_dir: Path) -> None:
    both = pair(revision("2025-11-25", spec_dir), revision("2026-07-28", spec_dir))
    values = _values({"$ref": f"{REF}Tool"}, both.old)
    other = {**both.old, "Tool": {**both.old["Tool"], "maxProperties": 1}}
    assert list(_changed_verdicts("Tool", values, both.old, other))


def _told(change: Change, both: Pair) -> Iterator[Json]:
    """The instances of what a change touches that are judged otherwise after the change alone."""
    before, after = _silently(change, both)
    names = {change.definition} & {*before} & {*after}
    for name in sorted(names | _referring(change.definition, both)):
        values = _values({"$ref": REF + name}, before)
        if before[name] != after[name]:
            values += _values({"$ref": REF + name}, after)
        yield from _changed_verdicts(name, values, before, after)


def _changed_verdicts(
    name: str, values: list[Json], before: Definitions, after: Definitions
) -> Iterator[Json]:
    olds, news = _judge({"$ref": REF + name}, before), _judge({"$ref": REF + name}, after)
    yield from (value for value in values if olds(value) != news(value))


def _referring(name: str, both: Pair) -> set[str]:
    """The definitions of both revisions that refer to one in either."""
    word = f'"{REF}{name}"'
    found = [{one for one in side if word in json.dumps(side[one])} for side in (both.old, both.new)]
    return (found[0] | found[1]) & {*both.old} & {*both.new} - {name}


def _silently(change: Change, both: Pair) -> tuple[Definitions, Definitions]:
    """The definitions without a change that is none of a schema, and with it alone."""
    if change.kind == "definition-added":
        return both.old, {**both.old, change.definition: change.new}
    if change.kind == "definition-removed":
        return {**both.new, change.definition: change.old}, both.new
    if change.kind == "definition-renamed":
        return _under_the_old_name(change, both.old), both.old
    if change.kind == "gate-changed":
        gates = {name: schema for name, schema in both.new.items() if name.endswith("Capabilities")}
        return both.old, {**both.new, **both.old, **gates}
    definition: Schema = json.loads(json.dumps(both.old[change.definition]))
    place = definition
    for token in change.pointer.split("/")[1:]:
        place = place[unescape(token)]
    place["deprecated"] = change.kind == "deprecated"
    return both.old, {**both.old, change.definition: definition}


def _under_the_old_name(change: Change, known: Definitions) -> Definitions:
    """The definitions before one of them was renamed; by the new name it can still be asked for."""
    text = json.dumps(known).replace(f'"{REF}{change.new}"', f'"{REF}{change.old}"')
    found: Definitions = json.loads(text)
    return {**found, change.old: found[change.new]}


def _title(change: Change) -> str:
    return f"{change.kind} {change.method} {change.definition}{change.pointer} {change.old} {change.new} {change.written_by}"


def _graded(change: Change) -> tuple[bool, bool]:
    return change.readers == "breaking", change.writers == "breaking"


def _shown(change: Change, both: Pair) -> tuple[bool, bool]:
    """Whether an instance shows that a change breaks readers, and whether one shows that it breaks writers."""
    if change.method or change.kind.startswith("alternative"):
        arm, old, new = _unions(change, both)
        olds, news = _judge(old, both.old), _judge(new, both.new)
        if change.new is ABSENT:
            return False, _refused(_values(arm, both.old), olds, news)
        return _refused(_values(arm, both.new), news, olds), False
    before = {**both.new, **both.old}
    after = alone(change, before)
    name = {"$ref": REF + change.definition}
    theirs, ours = _values(name, after), _values(name, before)
    if change.kind.startswith("bound"):
        # Either side names the same members, and only the one with the bound makes a value that crosses it.
        theirs = ours = [*theirs, *ours]
    olds, news = _judge(name, before), _judge(name, after)
    return _refused(theirs, news, olds), _refused(ours, olds, news)


def _unions(change: Change, both: Pair) -> tuple[Schema, Schema, Schema]:
    """What came or went, and the unions before and after."""
    if not change.method:
        arm: Schema = change.new if change.old is ABSENT else change.old
        old, new = (at(change.definition, change.pointer, side) for side in (both.old, both.new))
        return arm, old, new
    if change.kind.startswith("result"):
        name = change.new if change.old is ABSENT else change.old
        sides = (_results(change, both, 0), _results(change, both, 1))
    else:
        name = change.definition
        sides = (_sent(change, both, 0), _sent(change, both, 1))
    return {"$ref": REF + name}, *sides


def _results(change: Change, both: Pair, side: int) -> Schema:
    """The union of what may answer a method."""
    methods = [method for method in both.specs[side].methods if method.wire == change.method]
    return _union([name for method in methods for name in _named(method.results, both, side)])


def _sent(change: Change, both: Pair, side: int) -> Schema:
    """The union of what a role may send."""
    (role,) = change.written_by
    messages = [method.message for method in both.specs[side].methods if role in method.senders]
    return _union(_named(messages, both, side))


def _named(names: Sequence[str], both: Pair, side: int) -> list[str]:
    return [both.names.get(name, name) for name in names] if side == 0 else list(names)


def _union(names: list[str]) -> Schema:
    return {"anyOf": [{"$ref": REF + name} for name in names]}


def _values(made: Schema, definitions: Definitions) -> list[Json]:
    return [json.loads(one.text) for one in instances("Made", {**definitions, "Made": made})]


def _refused(values: list[Json], accepts: Judge, refuses: Judge) -> bool:
    """Whether one of the values is valid by the first judge and not by the second."""
    return any(accepts(value) and not refuses(value) for value in values)


def _judge(schema: Schema, definitions: Definitions) -> Judge:
    validator: Any = Draft202012Validator({"$defs": dict(definitions), **resolved(schema, definitions)})
    return lambda value: bool(validator.is_valid(value))
