"""Pairs of revisions, and one change of a pair made alone: what a grade is tried on.

Nothing here asks the generator what a change does. A change is applied to the old definitions by its pointer and
its kind, and the schemas before and after are for an oracle.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from mcpcodegen import pipeline
from mcpcodegen.diff import Change, diff, schemas
from mcpcodegen.facts import unescape
from mcpcodegen.ir import ABSENT, Spec
from mcpcodegen.lower import lower
from mcpcodegen.revisions import pins, words

Schema: TypeAlias = dict[str, Any]
Definitions: TypeAlias = Mapping[str, Schema]

HISTORY = (
    "history/2025-11-25-as-released-40f50ed5.json",
    "history/draft-2025-11-25-14043ad9.json",
    "history/draft-2026-03-25-05111eb2.json",
    "history/draft-2026-05-11-8e192a22.json",
    "history/draft-2026-06-23-2ffc3fa2.json",
    "2026-07-28/schema.json",
)
"""How 2025-11-25 became 2026-07-28, in the order of time."""

EVERYTHING: Schema = {}
NOTHING: Schema = {"not": {}}
WITHOUT_SCHEMA = ("definition-removed", "definition-renamed", "deprecated", "undeprecated")
ARMS = ("alternative-added", "alternative-removed", "alternative-listed", "alternative-unlisted")

RELEASED = [pin.revision for pin in pins()]
STEPS = [
    *zip(RELEASED, RELEASED[1:], strict=False),
    *zip(HISTORY, HISTORY[1:], strict=False),
    (HISTORY[0], HISTORY[-1]),
]
"""Every real pair: each release with the next, each state of the draft with the next, and the ends of that history."""


@cache
def revision(name: str, folder: Path) -> Spec:
    """A released revision, or a file in the folder of published files."""
    document = pipeline.read(schema=str(folder / name)) if "/" in name else pipeline.read(revision=name)
    return lower(document, words(document.revision))


@dataclass(frozen=True)
class Pair:
    """Two revisions with their changes and their definitions, the old ones under their new names."""

    specs: tuple[Spec, Spec]
    changes: tuple[Change, ...]
    old: Definitions
    new: Definitions
    names: Mapping[str, str]


def pair(old: Spec, new: Spec) -> Pair:
    """Two revisions, compared."""
    changes = diff(old, new)
    names = {change.old: change.new for change in changes if change.kind == "definition-renamed"}
    return Pair((old, new), tuple(changes), _definitions(old, names), _definitions(new, {}), names)


def _definitions(spec: Spec, names: Mapping[str, str]) -> Definitions:
    known = {names.get(name, name): schema for name, schema in schemas(spec).items()}
    text = json.dumps(known)
    for old, new in names.items():
        text = text.replace(f'"#/$defs/{old}"', f'"#/$defs/{new}"')
    found: Definitions = json.loads(text)
    return found


def alone(change: Change, before: Definitions) -> Definitions:
    """The definitions `before`, with one change made and nothing else."""
    tokens = [unescape(token) for token in change.pointer.split("/")[1:]]
    return {**before, change.definition: _changed(before[change.definition], tokens, change, before)}


def applied(changes: Iterable[Change], before: Definitions) -> Definitions:
    """The definitions `before`, under their new names, with every change made that is no method's."""
    after = dict(before)
    for change in changes:
        if change.kind == "definition-added":
            after[change.definition] = change.new
        elif change.kind not in WITHOUT_SCHEMA and not change.method:
            after |= alone(change, {**after, **_gone(changes)})
    gone = _gone(changes)
    return {name: schema for name, schema in after.items() if name not in gone}


def _gone(changes: Iterable[Change]) -> Definitions:
    return {change.definition: change.old for change in changes if change.kind == "definition-removed"}


def at(definition: str, pointer: str, definitions: Definitions) -> Schema:
    """The schema at a place, through references."""
    schema = definitions[definition]
    tokens = [unescape(token) for token in pointer.split("/")[1:]]
    while tokens:
        token = tokens.pop(0)
        schema = resolved(schema, definitions)
        schema = schema["properties"][tokens.pop(0)] if token == "properties" else _inside(schema, token)
    return schema


def resolved(schema: Schema, definitions: Definitions) -> Schema:
    """A schema, or what it refers to."""
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    return schema


def _inside(schema: Schema, keyword: str) -> Schema:
    found: Schema | bool = schema.get(keyword, True)
    return NOTHING if found is False else EVERYTHING if found is True else found


def _changed(schema: Schema, tokens: list[str], change: Change, before: Definitions) -> Schema:
    """A schema with the change made at the place that `tokens` lead to; references on the way are copied in."""
    if not tokens:
        if change.kind.startswith("value"):
            return _valued(resolved(schema, before), change)
        return _united(schema, change, before) if change.kind in ARMS else change.new
    schema, (token, *rest) = resolved(schema, before), tokens
    if token == "properties":
        members = schema.get("properties", {})
        if len(rest) == 1 and "member" in change.kind:
            return _with_member(schema, rest[0], change)
        return {
            **schema,
            "properties": {**members, rest[0]: _changed(members[rest[0]], rest[1:], change, before)},
        }
    if token in ("items", "additionalProperties"):
        return {**schema, token: _changed(_inside(schema, token), rest, change, before)}
    others = {word: value for word, value in schema.items() if word != token}
    return others if change.new is ABSENT else {**others, token: change.new}


def _united(schema: Schema, change: Change, before: Definitions) -> Schema:
    """A union with one alternative more, or one less; what is no union is its own one alternative."""
    arms = next((schema[word] for word in ("anyOf", "oneOf") if word in schema), [schema])
    if change.old is not ABSENT and change.old not in arms:
        return _united(resolved(schema, before), change, before)
    left = [arm for arm in arms if arm != change.old]
    return {"anyOf": left if change.new is ABSENT else [*left, change.new]}


def _valued(schema: Schema, change: Change) -> Schema:
    """A schema that lists one value more, or one less."""
    listed = [schema["const"]] if "const" in schema else schema["enum"]
    values = [value for value in listed if value != change.old]
    others = {word: value for word, value in schema.items() if word not in ("const", "enum")}
    return {**others, "enum": values if change.new is ABSENT else [*values, change.new]}


def _with_member(schema: Schema, wire: str, change: Change) -> Schema:
    """An object whose member came, went, was renamed, or is demanded otherwise."""
    members, demanded = dict(schema.get("properties", {})), {*schema.get("required", ())}
    if change.kind.endswith("renamed"):
        members[wire] = members.pop(change.old)
        demanded = {wire if name == change.old else name for name in demanded}
    elif change.kind.endswith("removed"):
        del members[wire]
        demanded.discard(wire)
    else:
        members = {**members, wire: change.new} if change.kind.endswith("added") else members
        required = "required" in change.kind
        demanded = {*demanded, wire} if required else demanded - {wire}
    return {**schema, "properties": members, "required": sorted(demanded)}
