"""Document to Document: corrections applied, every nested object named, unions tagged, Python names decided.

After this stage nothing downstream invents a name. A nested object is called parent + property
(`Tool.inputSchema` is `ToolInputSchema`); equal shapes under the same property name are one definition; no
name ever takes a number. What cannot be named without guessing is an error that names the members.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from .errors import CorrectionError, SchemaError
from .facts import canonical, escape, facts, unescape
from .ir import Document, Json, Schema, is_array, is_object
from .naming import class_name, member_name, pascal
from .revisions import ABSENT, Correction

UNIONS = ("anyOf", "oneOf")
REF = "#/$defs/"


def hoist(document: Document, corrections: Iterable[Correction] = (), *, strict: bool = True) -> Document:
    """Decide every name of `document`.

    `corrections` are applied first. When `strict`, a row that does not describe the document raises
    CorrectionError; otherwise (a file that is no pinned revision) such a row is passed over.
    """
    definitions = copy.deepcopy(dict(document.definitions))
    for row in corrections:
        _correct(definitions, row, document, strict)
    work = _Names(document, definitions)
    work.classes()
    for schema in work.definitions.values():
        _open(schema)
        _merge(schema, work.definitions)
    work.nested(_has_members)
    for schema in work.definitions.values():
        _tag(schema, work.definitions)
    work.nested(_is_tagged)
    work.recursive()
    return replace(document, definitions=work.definitions, python=work.members())


def expired(document: Document, corrections: Iterable[Correction]) -> list[Correction]:
    """The rows that `document` no longer needs: what they would write already stands there."""
    return [row for row in corrections if _found(document.definitions, row.pointer) == row.now]


def _correct(definitions: dict[str, Schema], row: Correction, document: Document, strict: bool) -> None:
    found = _found(definitions, row.pointer)
    if found == row.was:
        _put(definitions, row.pointer, row.now)
    elif strict and found != row.now:
        shown = "nothing" if found is ABSENT else " ".join(canonical(found).split())
        raise CorrectionError(
            f"a correction matches nothing: found {shown}",
            remedy="compare the file with its pin (schema verify) or mend the row in corrections.toml",
            source=document.source,
            pointer=row.pointer,
        )


def _found(definitions: Mapping[str, Schema], pointer: str) -> Json:
    node: Json = {"$defs": dict(definitions)}
    for token in map(unescape, pointer.split("/")[1:]):
        if is_array(node) and token.isdigit() and int(token) < len(node):
            node = node[int(token)]
        elif is_object(node) and token in node:
            node = node[token]
        else:
            return ABSENT
    return facts(node)


def _put(definitions: dict[str, Schema], pointer: str, value: Json) -> None:
    *path, last = map(unescape, pointer.split("/")[1:])
    node: Json = {"$defs": definitions}
    for token in path:
        node = node[int(token) if is_array(node) else token]
    node[int(last) if is_array(node) else last] = copy.deepcopy(value)


def _open(node: Json) -> None:
    """Drop what says nothing: an empty `properties`, and `additionalProperties: {}` beside members.

    JSON Schema objects are open by default, and the base model keeps what it does not know; said a second
    time, it would only make the type engine write a different class.
    """
    for schema in _nodes(node):
        if not schema.get("properties", True):
            del schema["properties"]
        if schema.get("properties") and schema.get("additionalProperties") in ({}, True):
            del schema["additionalProperties"]


def _merge(node: Schema, definitions: Mapping[str, Schema]) -> None:
    """Turn `allOf` of objects into the one object it means, where the parts can be joined keyword by keyword."""
    for schema in _nodes(node):
        parts = [_resolve(part, definitions) for part in schema.get("allOf", [])]
        joined = _join_objects(parts) if parts and all(map(_has_members, parts)) else None
        if joined is not None:
            del schema["allOf"]
            schema.update(joined)


def _join_objects(parts: list[Schema]) -> Schema | None:
    properties: dict[str, Schema] = {}
    required: set[str] = set()
    for part in parts:
        if set(part) - {"type", "properties", "required", "description"}:
            return None
        required.update(part.get("required", []))
        for name, schema in part["properties"].items():
            joined = _join(properties.get(name, {}), schema)
            if joined is None:
                return None
            properties[name] = joined
    return copy.deepcopy({"type": "object", "properties": properties, "required": sorted(required)})


def _join(left: Schema, right: Schema) -> Schema | None:
    """Both schemas as one, or None where a keyword says two things."""
    shared = (set(left) & set(right)) - {"description"}
    return {**left, **right} if all(left[key] == right[key] for key in shared) else None


def _tag(node: Schema, definitions: Mapping[str, Schema]) -> None:
    """Name the member that tells the arms of a union apart, where every arm requires one of its own value."""
    for schema in _nodes(node):
        for keyword in UNIONS:
            arms = [_resolve(arm, definitions) for arm in schema.get(keyword, [])]
            tag = _shared_tag(arms)
            if tag and all("$ref" in arm for arm in schema[keyword]):
                schema["discriminator"] = {"propertyName": tag}


def _shared_tag(arms: list[Schema]) -> str | None:
    if len(arms) < 2:
        return None
    for name in sorted(_tags(arms[0])):
        values = [canonical(_tags(arm)[name]) for arm in arms if name in _tags(arm)]
        if len(set(values)) == len(arms):
            return name
    return None


def _tags(schema: Schema) -> dict[str, Json]:
    """The members of an object that are required and can have one value only."""
    properties: dict[str, Schema] = schema.get("properties", {})
    return {
        name: properties[name]["const"]
        for name in schema.get("required", [])
        if "const" in properties.get(name, {})
    }


def _resolve(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """`schema`, or the definition that it is a reference to."""
    seen: set[str] = set()
    while "$ref" in schema and schema["$ref"] not in seen:
        seen.add(schema["$ref"])
        schema = definitions[_name(schema["$ref"])]
    return schema


def _name(reference: str) -> str:
    return unescape(reference.removeprefix(REF))


def _has_members(schema: Json) -> bool:
    return is_object(schema) and bool(schema.get("properties"))


def _is_tagged(schema: Json) -> bool:
    return is_object(schema) and "discriminator" in schema


def _nodes(node: Json) -> Iterator[Schema]:
    """Every schema at and below `node`, the outermost first."""
    if is_array(node):
        for item in node:
            yield from _nodes(item)
    elif is_object(node):
        yield node
        for _, child in _children(node):
            yield from _nodes(child)


def _children(schema: Schema) -> Iterator[tuple[str, Json]]:
    """The schemas directly below one schema, each with the words that the way there adds to a name."""
    for name, child in schema.get("properties", {}).items():
        yield name, child
    for keyword, word in (("items", ""), ("additionalProperties", "value")):
        if is_object(schema.get(keyword)):
            yield word, schema[keyword]
    for name, child in schema.get("patternProperties", {}).items():
        yield "value", child
    for keyword in (*UNIONS, "allOf"):
        for arm in schema.get(keyword, []):
            yield "", arm


@dataclass(frozen=True)
class _Found:
    """A nested object: where it stands, what it would be called there, and how to put a reference in its place."""

    holder: Json
    key: str | int
    name: str
    last: str
    pointer: str
    abstract: bool

    @property
    def shape(self) -> str:
        """Equal for schemas that may share a definition: the same facts under the same property name."""
        return f"{self.last} {canonical(facts(self.holder[self.key]))}"


class _Names:
    """The definitions while names are being given; `origin` remembers where each stood, for messages."""

    def __init__(self, document: Document, definitions: dict[str, Schema]) -> None:
        self.source = document.source
        self.definitions = definitions
        self.origin = {name: f"/{document.container}/{escape(name)}" for name in definitions}

    def classes(self) -> None:
        """Give each definition a name that Python accepts, and follow it in every reference."""
        renamed: dict[str, str] = {}
        for wire in self.definitions:
            python = class_name(wire)
            if not python:
                self._fail(
                    f"the definition {wire!r} cannot be spelled in Python", "rename it", self.origin[wire]
                )
            if python in renamed.values():
                other = next(name for name, taken in renamed.items() if taken == python)
                self._fail(
                    f"the definitions {other!r} and {wire!r} are both {python} in Python",
                    "rename one of them",
                    self.origin[wire],
                )
            renamed[wire] = python
        self.origin = {renamed[wire]: pointer for wire, pointer in self.origin.items()}
        self.definitions = {renamed[wire]: schema for wire, schema in self.definitions.items()}
        for schema in _nodes(list(self.definitions.values())):
            if "$ref" in schema:
                schema["$ref"] = REF + renamed[_name(schema["$ref"])]

    def nested(self, wanted: Callable[[Json], bool]) -> None:
        """Move every nested schema that is `wanted` to a definition of its own, one level of nesting at a time."""
        shapes: dict[str, str] = {}
        level = dict(self.definitions)
        while level:
            groups: dict[str, list[_Found]] = {}
            for name, schema in level.items():
                for found in self._inside(name, schema, wanted):
                    groups.setdefault(found.shape, []).append(found)
            level = {}
            for shape, members in groups.items():
                if shape not in shapes:
                    shapes[shape] = self._adopt(members)
                    level[shapes[shape]] = self.definitions[shapes[shape]]
                for found in members:
                    found.holder[found.key] = {"$ref": REF + shapes[shape]}

    def recursive(self) -> None:
        """Name the array or dictionary through which a union holds itself.

        Type checkers follow a recursive alias only by name; `JSONValue` holds itself as an array, which
        2026-07-28 also defines as `JSONArray`, and then that definition is the name.
        """
        for name in [
            name for name, schema in self.definitions.items() if any(key in schema for key in UNIONS)
        ]:
            for keyword in UNIONS:
                arms = self.definitions[name].get(keyword, [])
                for index, arm in enumerate(arms):
                    if self._holds(arm, name):
                        arms[index] = {
                            "$ref": REF + self._container(name, arm, f"{self.origin[name]}/{keyword}/{index}")
                        }

    def _holds(self, arm: Schema, name: str) -> bool:
        inner = arm.get("items", arm.get("additionalProperties"))
        return is_object(inner) and inner.get("$ref") == REF + name

    def _container(self, name: str, arm: Schema, pointer: str) -> str:
        known = next(
            (other for other, schema in self.definitions.items() if facts(schema) == facts(arm)), None
        )
        if known is not None:
            return known
        made = name + ("Array" if "items" in arm else "Object")
        if made in self.definitions:
            self._fail(
                f"the nested schema would be called {made}, which is taken",
                "give it a definition of its own",
                pointer,
            )
        self.definitions[made] = arm
        self.origin[made] = pointer
        return made

    def members(self) -> dict[str, dict[str, str]]:
        """The Python name of each member of each object, by definition."""
        return {
            name: self._members_of(name, schema["properties"])
            for name, schema in self.definitions.items()
            if _has_members(schema)
        }

    def _members_of(self, owner: str, properties: Schema) -> dict[str, str]:
        names: dict[str, str] = {}
        for wire in properties:
            pointer = f"{self.origin[owner]}/properties/{escape(wire)}"
            python = member_name(wire)
            if python in self.definitions:
                python += "_"
            if not python.isidentifier():
                self._fail(f"the member {wire!r} cannot be spelled in Python", "rename it", pointer)
            if python in names.values():
                other = next(name for name, taken in names.items() if taken == python)
                self._fail(
                    f"the members {other!r} and {wire!r} are both {python} in Python",
                    "rename one of them",
                    pointer,
                )
            names[wire] = python
        return names

    def _adopt(self, members: list[_Found]) -> str:
        """Make one definition of equal nested objects; a base class (no tag of its own) names it before others."""
        best = min(members, key=lambda found: (not found.abstract, len(found.name), found.name))
        if best.name in self.definitions:
            self._fail(
                f"the nested schema would be called {best.name}, as the definition at {self.origin[best.name]} is",
                "give it a definition of its own",
                best.pointer,
            )
        self.definitions[best.name] = best.holder[best.key]
        self.origin[best.name] = best.pointer
        return best.name

    def _inside(self, name: str, schema: Schema, wanted: Callable[[Json], bool]) -> Iterator[_Found]:
        """The outermost wanted schemas inside one definition."""
        abstract = not _tags(schema)

        def walk(holder: Json, key: str | int, name: str, last: str, pointer: str) -> Iterator[_Found]:
            node = holder[key]
            if wanted(node):
                class_ = class_name(name)
                if not class_:
                    self._fail("the nested object cannot be named in Python", "give it a definition", pointer)
                yield _Found(holder, key, class_, last, pointer, abstract)
            elif is_object(node):
                yield from below(node, name, last, pointer)

        def below(node: Schema, name: str, last: str, pointer: str) -> Iterator[_Found]:
            for keyword in ("properties", "patternProperties"):
                for wire in node.get(keyword, {}):
                    word = wire if keyword == "properties" else "value"
                    yield from walk(
                        node[keyword], wire, name + pascal(word), word, f"{pointer}/{keyword}/{escape(wire)}"
                    )
            for keyword, word in (("items", "" if last else "Item"), ("additionalProperties", "Value")):
                if is_object(node.get(keyword)):
                    yield from walk(node, keyword, name + word, last or word, f"{pointer}/{keyword}")
            for keyword in (*UNIONS, "allOf"):
                for index, arm in enumerate(node.get(keyword, [])):
                    yield from walk(
                        node[keyword],
                        index,
                        name + _arm_word(arm),
                        last + _arm_word(arm),
                        f"{pointer}/{keyword}/{index}",
                    )

        yield from below(schema, name, "", self.origin[name])

    def _fail(self, problem: str, remedy: str, pointer: str) -> None:
        raise SchemaError(problem, remedy=remedy, source=self.source, pointer=pointer)


def _arm_word(arm: Json) -> str:
    """What tells one unnamed arm of a union from its siblings: its tag, else its required members, else its members."""
    if not _has_members(arm):
        return ""
    tags = [pascal(str(value)) for value in _tags(arm).values()]
    words = tags or [pascal(name) for name in arm.get("required") or arm["properties"]]
    return "".join(words)
