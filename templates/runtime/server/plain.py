"""Plain schemas: annotations as JSON Schema, with the words of their authors and no keyword that it does not have.

What Pydantic adds of itself goes: titles made from names, and keywords of other languages of description.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema
from typing_extensions import NotRequired, ReadOnly, Required

from ..headers import DATA, NAMES

C = TypeVar("C", core_schema.ModelSchema, core_schema.DataclassSchema, core_schema.TypedDictSchema)

Schema: TypeAlias = dict[str, Any]

KEYWORDS: Final[Mapping[str, str]] = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
"""What Pydantic calls the limits of a union, and what JSON Schema calls them."""

REFERENCE: Final = "#/$defs/"
"""How a reference to a definition begins."""

QUALIFIERS: Final = (Required, NotRequired, ReadOnly)
"""What may stand around the type of a member of a TypedDict."""


class Plain(GenerateJsonSchema):
    """JSON Schema without the titles that Pydantic makes from names, and with what annotations say in words."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}

    def field_title_should_be_set(self, schema: Any) -> bool:
        """No member gets a title that nobody gave it."""
        return False

    def generate(self, schema: CoreSchema, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        """The schema; a definition's title goes when it only repeats the name."""
        made = super().generate(schema, mode)
        for name, definition in made.get("$defs", {}).items():
            if definition.get("title") == name:
                del definition["title"]
        return cast(JsonSchemaValue, _standard(made))

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        """One of the members, which say themselves by what they are told apart."""
        made = super().tagged_union_schema(schema)
        return {key: value for key, value in made.items() if key != "discriminator"}

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """The model, its members in the words of the author."""
        return self._worded(schema, super().model_schema)

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """The dataclass, its members in the words of the author."""
        return self._worded(schema, super().dataclass_schema)

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        """The dictionary, its members in the words of the author."""
        return self._worded(schema, super().typed_dict_schema)

    def _worded(self, schema: C, build: Callable[[C], JsonSchemaValue]) -> JsonSchemaValue:
        made = build(schema)
        said = _said(schema.get("cls"))
        aliased = "serialization_alias" if self.mode == "serialization" else "validation_alias"
        for name, field in _fields(schema):
            alias = field.get(aliased)
            member = made.get("properties", {}).get(alias if isinstance(alias, str) else name)
            if name in said and member is not None:
                member["description"] = said[name]
        return made


def words_of(metadata: Iterable[object]) -> str | None:
    """What an annotation says in words: `Annotated[str, "the city"]`, or with `Doc` of PEP 727; the last word counts."""
    said = [item if isinstance(item, str) else getattr(item, "documentation", None) for item in metadata]
    return next((words for words in reversed(said) if isinstance(words, str)), None)


def opened(schema: Schema, keyword: str) -> Schema:
    """The schema with those definitions in place that bear a keyword, as far as `properties` alone lead to them."""
    definitions: dict[str, Schema] = schema.get("$defs", {})
    names = {name for name, definition in definitions.items() if f'"{keyword}"' in json.dumps(definition)}
    if not names:
        return schema
    while more := {name for name in definitions if _referred(definitions[name]) & names} - names:
        names |= more
    made = _reached(
        {key: value for key, value in schema.items() if key != "$defs"}, {n: definitions[n] for n in names}
    )
    kept = _referred(made)
    while more := {name for inner in kept for name in _referred(definitions.get(inner))} - kept:
        kept |= more
    left = {name: definition for name, definition in definitions.items() if name in kept}
    return {**made, "$defs": left} if left else made


def _reached(schema: Schema, bearing: Mapping[str, Schema]) -> Schema:
    """A schema with definitions in place; one that holds itself has no end, and keeps its reference."""
    name = str(schema.get("$ref", "")).removeprefix(REFERENCE)
    if name in bearing:
        schema = {**bearing[name], **{key: value for key, value in schema.items() if key != "$ref"}}
        bearing = {other: definition for other, definition in bearing.items() if other != name}
    members: dict[str, Schema] = schema.get("properties", {})
    opened_ = {key: _reached(member, bearing) for key, member in members.items()}
    return {**schema, "properties": opened_} if members else schema


def _referred(schema: object) -> set[str]:
    """The definitions that a schema refers to."""
    if isinstance(schema, list):
        return {name for item in cast(list[object], schema) for name in _referred(item)}
    if not isinstance(schema, dict):
        return set()
    found = {name for value in cast(dict[str, object], schema).values() for name in _referred(value)}
    reference = cast(dict[str, object], schema).get("$ref")
    return found | {reference.removeprefix(REFERENCE)} if isinstance(reference, str) else found


def _said(owner: Any) -> dict[str, str]:
    """The words of each member of a class that has some, and no other description."""
    if isinstance(owner, type) and issubclass(owner, BaseModel):
        metadata: dict[str, Iterable[object]] = {
            name: [field, *field.metadata] for name, field in owner.model_fields.items()
        }
    else:
        metadata = {name: _metadata(hint) for name, hint in _hints(owner).items()}
    return {
        name: words
        for name, found in metadata.items()
        if (words := words_of(found)) is not None and not any(map(_described, found))
    }


def _described(item: object) -> bool:
    return isinstance(item, FieldInfo) and item.description is not None


def _hints(owner: Any) -> dict[str, Any]:
    try:
        return get_type_hints(owner, include_extras=True)
    except (NameError, TypeError):
        return {}  # Names that Pydantic could resolve, and Python cannot: the words in them are lost.


def _metadata(hint: Any) -> tuple[object, ...]:
    while get_origin(hint) in QUALIFIERS:
        (hint,) = get_args(hint)
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _fields(schema: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """The members of a class by their names, wherever validators have put them."""
    inner: Mapping[str, Any] = schema
    while inner.get("type") in ("model", "dataclass") or "fields" not in inner:
        if "schema" not in inner:
            return ()
        inner = inner["schema"]
    fields: dict[str, Any] | list[dict[str, Any]] = inner["fields"]
    return [(field["name"], field) for field in fields] if isinstance(fields, list) else fields.items()


def _standard(schema: object, *, names: bool = False) -> object:
    """A schema in the keywords of JSON Schema; with `names` the members are called as an author likes."""
    if isinstance(schema, list):
        return [_standard(item) for item in cast(list[object], schema)]
    if not isinstance(schema, dict):
        return schema
    return {
        (key if names else KEYWORDS.get(key, key)): (
            inner if not names and key in DATA else _standard(inner, names=not names and key in NAMES)
        )
        for key, inner in cast(dict[str, object], schema).items()
    }
