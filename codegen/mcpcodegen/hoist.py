"""Document to Document: every nested object named, unions tagged, Python names decided.

After this stage nothing downstream invents a name. A nested object is called parent + property
(`Tool.inputSchema` is `ToolInputSchema`); equal shapes under the same property name are one definition; no
name ever takes a number. What cannot be named without guessing is an error that names the members.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from os.path import commonprefix

from .errors import SchemaError
from .facts import canonical, escape, facts, schemas_in
from .ir import Document, Json, Schema, is_object
from .naming import class_name, member_name, pascal
from .shapes import (
    REF,
    UNIONS,
    has_members,
    is_choice,
    is_circular,
    is_enumeration,
    is_tagged,
    merge,
    nodes,
    open_up,
    split,
    tag,
    tags,
    target,
    use_union,
)


def hoist(document: Document) -> Document:
    """Decide every name of a document; raises SchemaError for what cannot be named without guessing."""
    try:
        return _hoist(document)
    except RecursionError:
        raise SchemaError(
            "definitions that refer to each other through too many others",
            remedy="flatten the schema",
            source=document.source,
            pointer=f"/{document.container}",
        ) from None


def _hoist(document: Document) -> Document:
    work = _Names(document, copy.deepcopy(dict(document.definitions)))
    work.classes()
    for schema in work.definitions.values():
        open_up(schema)
    for schema in work.definitions.values():
        merge(schema, work.definitions)
    for schema in work.definitions.values():
        split(schema)
    work.check()
    work.nested(has_members)
    for schema in work.definitions.values():
        tag(schema, work.definitions)
    work.nested(is_tagged)
    for schema in work.definitions.values():
        use_union(schema, work.definitions)
    work.nested(is_choice)
    work.nested(is_enumeration)
    work.recursive()
    return replace(document, definitions=work.definitions, python=work.members())


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
        for schema in nodes(list(self.definitions.values())):
            if "$ref" in schema:
                schema["$ref"] = REF + renamed[target(schema["$ref"])]

    def check(self) -> None:
        """Refuse what no type can be made of."""
        for name, definition in self.definitions.items():
            for pointer, schema in schemas_in(definition, self.origin[name]):
                if "allOf" in schema:
                    self._fail(
                        "the parts of allOf cannot be joined to one schema", "write that schema", pointer
                    )
                for wire in schema.get("properties", ()):
                    if not member_name(wire):
                        place = f"{pointer}/properties/{escape(wire)}"
                        self._fail(f"the member {wire!r} cannot be spelled in Python", "rename it", place)
            if is_circular(name, self.definitions):
                self._fail(f"the definition {name!r} consists of itself", "say what it is", self.origin[name])

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
            if has_members(schema)
        }

    def _members_of(self, owner: str, properties: Schema) -> dict[str, str]:
        names: dict[str, str] = {}
        for wire in properties:
            pointer = f"{self.origin[owner]}/properties/{escape(wire)}"
            python = member_name(wire)
            if python in self.definitions:
                python += "_"
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
        """Make one definition of equal nested schemas; a base class (no tag of its own) names it before others.

        A set of values that several objects share belongs to none of them and goes by the property alone.
        """
        best = min(members, key=lambda found: (not found.abstract, len(found.name), found.name))
        alone = class_name(pascal(best.last))
        if len(members) > 1 and is_enumeration(best.holder[best.key]) and alone not in self.definitions:
            best = replace(best, name=alone)
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
        abstract = not tags(schema)

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
                    word = (
                        _choice_word(node[keyword]) if word == "Item" and is_choice(node[keyword]) else word
                    )
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
    if not has_members(arm):
        return ""
    values = [pascal(str(value)) for value in tags(arm).values()]
    return "".join(values or [pascal(name) for name in arm.get("required") or arm["properties"]])


def _choice_word(choice: Schema) -> str:
    """The definitions that a choice is between, without what their names begin with alike."""
    names = [target(arm["$ref"]) for keyword in UNIONS for arm in choice.get(keyword, []) if "$ref" in arm]
    alike = len(commonprefix(names))
    return "".join(pascal(name[alike:]) for name in names)
