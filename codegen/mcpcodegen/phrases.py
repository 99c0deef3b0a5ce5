"""How a change is said: one phrase for each kind, and the shortest true text for a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter

from .admits import arms_of, values_of
from .diff import Change
from .errors import printable
from .facts import unescape
from .ir import ABSENT, Json, Schema, is_array, is_object
from .shapes import nodes, target

PHRASES: Mapping[str, str] = {
    "method-added": "new",
    "method-removed": "gone",
    "method-enclosed": "no method any more, but part of other messages",
    "method-freed": "a method now, where it was part of other messages",
    "method-renamed": "was {old}",
    "result-added": "may be answered with {new}",
    "result-removed": "is no longer answered with {old}",
    "result-listed": "may be answered with {new}, which passed for an answer before",
    "result-unlisted": "is not answered with {old}, which still passes for an answer",
    "gate-changed": "is announced by {new}, not by {old}",
    "definition-added": "new",
    "definition-removed": "gone",
    "definition-renamed": "was {old}",
    "member-added": "new, optional: {new}",
    "member-removed": "gone, was optional: {old}",
    "required-member-added": "new, required: {new}",
    "required-member-removed": "gone, was required: {old}",
    "closed-member-added": "new, optional, where no such member could be: {new}",
    "closed-member-removed": "gone, was optional, and may not be there: {old}",
    "closed-required-member-added": "new, required, where no such member could be: {new}",
    "closed-required-member-removed": "gone, was required, and may not be there: {old}",
    "member-renamed": "optional, was {old}",
    "required-member-renamed": "required, was {old}",
    "member-required": "required now",
    "member-optional": "optional now",
    "type-widened": "admits more: {new}, not just {old}",
    "type-narrowed": "admits less: {new}, not all of {old}",
    "type-changed": "{new} instead of {old}",
    "type-respelled": "{new} instead of {old}, which is the same",
    "null-admitted": "may be null",
    "null-refused": "may not be null any more",
    "value-added": "may be {new}",
    "value-removed": "may not be {old} any more",
    "alternative-added": "may be {new}",
    "alternative-removed": "may not be {old} any more",
    "alternative-listed": "names {new}, which was admitted before",
    "alternative-unlisted": "does not name {old}, which is still admitted",
    "bound-loosened": "{new}, was {old}",
    "bound-tightened": "{new}, was {old}",
    "constraint-removed": "no longer {old}",
    "constraint-added": "has to be {new}",
    "constraint-changed": "{new}, was {old}",
    "note-changed": "{new}, was {old}",
    "deprecated": "{new}",
    "undeprecated": "deprecated no longer",
}
"""What is said of each kind of change; `old` and `new` are what stood and stands there."""

LONGEST = 80
"""Characters of the text for a schema."""


@dataclass(frozen=True)
class Piece:
    """A part of a phrase, and the definition that it names, if it names one."""

    text: str
    definition: str = ""


def phrase(*changes: Change) -> str:
    """What happened, without where; of several changes of one kind at one place, that they happened."""
    return PHRASES[changes[0].kind].format(**_sides(changes))


def pieces(*changes: Change) -> list[Piece]:
    """The phrase in parts, so that a definition is told from a word or a value that looks like its name."""
    sides = _sides(changes)
    named = {name for change in changes for name in _named(change)}
    found: list[Piece] = []
    for said, side, _, _ in Formatter().parse(PHRASES[changes[0].kind]):
        parts = re.split(r"(\w+)", sides[side]) if side else []
        found += [Piece(said), *(Piece(part, part if part in named else "") for part in parts)]
    return [piece for piece in found if piece.text]


def place(change: Change) -> str:
    """Where in its definition a change is, as code would say it: `.a` a member, `[]` items, `{}` any member."""
    tokens = [unescape(token) for token in change.pointer.split("/")[1:]]
    said = ""
    while tokens:
        token = tokens.pop(0)
        if token == "properties" and tokens:
            name = tokens.pop(0)
            said += f".{name}" if name.isidentifier() else f"[{json.dumps(name, ensure_ascii=False)}]"
        else:
            said += {"items": "[]", "additionalProperties": "{}"}.get(token, f" {token}")
    return printable(said.removeprefix("."))


def short(schema: Json) -> str:
    """The shortest text that tells a schema from others like it."""
    said = _short(schema) if is_object(schema) else json.dumps(schema, ensure_ascii=False)
    return printable(said if len(said) <= LONGEST else f"{said[: LONGEST - 4]} ...")


def _sides(changes: Sequence[Change]) -> Mapping[str, str]:
    sides = {
        "old": dict.fromkeys(_side(change, change.old) for change in changes),
        "new": dict.fromkeys(_side(change, change.new) for change in changes),
    }
    return {side: ", ".join(said) for side, said in sides.items()}


def _side(change: Change, value: Json) -> str:
    if value is ABSENT or value is None:
        return "nothing"
    named = isinstance(value, str) and not change.kind.startswith(("value", "note", "constraint"))
    if named:
        return printable(value)
    return printable(json.dumps(value, ensure_ascii=False)) if _holds_data(change) else short(value)


def _named(change: Change) -> Iterator[str]:
    """The definitions that a change names: those that answer a method, or that its schemas refer to."""
    for value in (change.old, change.new):
        if isinstance(value, str) and change.kind.startswith("result"):
            yield value
        elif is_object(value) and not _holds_data(change):
            yield from (target(node["$ref"]) for node in nodes(value) if "$ref" in node)


def _holds_data(change: Change) -> bool:
    """Whether what stands on its sides is no schema, but a value."""
    return change.kind.startswith(("value", "note", "constraint", "bound"))


def _short(schema: Schema) -> str:
    if "$ref" in schema:
        return target(schema["$ref"])
    arms, values = arms_of(schema), values_of(schema)
    if arms is not None:
        return " | ".join(map(_short, arms))
    if values is not None:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
    kinds = schema.get("type", "object" if "properties" in schema else "anything")
    return " | ".join(_of_kind(schema, kind) for kind in (kinds if is_array(kinds) else [kinds]))


def _of_kind(schema: Schema, kind: str) -> str:
    if kind == "array" and schema.get("items"):
        return f"array of {_short(schema['items'])}"
    if kind == "object" and schema.get("properties"):
        return f"object with {', '.join(schema['properties'])}"
    if kind == "object" and is_object(schema.get("additionalProperties")) and schema["additionalProperties"]:
        return f"object of {_short(schema['additionalProperties'])}"
    return kind
