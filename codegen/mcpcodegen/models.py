"""Document to the source of `types.py`: the one call into datamodel-code-generator.

The engine decides how a schema becomes a class body; names, documentation and what a number is were decided
before. It is never given prose: docstrings reach the template as finished text.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from datamodel_code_generator import InputFileType, generate
from datamodel_code_generator.enums import DataModelType
from datamodel_code_generator.format import PythonVersion
from datamodel_code_generator.parser import LiteralType

from .errors import EmitError, SchemaError
from .ir import Document, Schema, is_object
from .resources import folder
from .policy import filled, holds_documents, is_dictionary, is_open_enumeration, is_open_union
from .shapes import REF, is_basic, is_object_choice, is_untyped, nodes, nullable_members, target
from .simplify import keys, simplify

MENTIONED = {
    "choice": ("typing", "unions.Choice"),
    "dictionary": ("typing", "unions.Keys"),
    "open_enumeration": ("typing", "unions.OpenEnumeration"),
    "open_union": ("typing", "unions.OpenUnion", "unions.Unknown"),
    "uncoerced": ("typing", "unions.Uncoerced"),
    "any_nullable": ("typing", "wire.Nullable"),
}
"""What the templates mention that the engine may not, by the boolean that lets them."""

UNIONS_ROOM = ("Choice", "Keys", "OpenEnumeration", "OpenUnion", "Uncoerced", "Unknown")

DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True)
class Told:
    """What the classes say beside the schema, as finished literals.

    `docs` holds, by definition, docstrings: of the class under the empty name, of its members under their Python
    names; `retired` has the sentence that deprecates a definition; `moved` has, by definition and Python name of a
    member, the name that it had before and the sentence that says so. `leads` says that definitions have moved too,
    which is told below the classes.
    """

    docs: Mapping[str, Mapping[str, str]]
    retired: Mapping[str, str]
    moved: Mapping[str, Mapping[str, tuple[str, str]]]
    leads: bool


def models(document: Document, told: Told, *, header: str) -> str:
    """The classes and aliases of a hoisted document, as unformatted source text.

    `header` is the comment that the module opens with. Raises SchemaError when the engine cannot express the schema.
    """
    try:
        text = _generate(document, told, header)
    except Exception as error:
        raise SchemaError(
            f"the type engine cannot express this schema ({error})",
            remedy="simplify the definition it names",
            source=document.source,
            pointer=f"/{document.container}",
        ) from error
    if not isinstance(text, str):
        raise EmitError(
            "the type engine wrote more than one module", remedy="report this", source=document.source
        )
    return text


def _generate(document: Document, told: Told, header: str) -> object:
    # Type checkers follow a recursive alias, whichever module asks first, only when the union is a TypeAliasType,
    # stands first, and what it holds itself through is a plain alias.
    recursive = _recursion(document.definitions)
    plain = {name for through in recursive.values() for name in through}
    order = _order(document.definitions, recursive)
    schemas = {name: _engine_schema(name, document.definitions[name]) for name in order}
    return generate(
        json.dumps({"$schema": DIALECT, "$defs": schemas}),
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        base_class="wire.WireModel",
        additional_imports=_mentioned(document, told),
        import_overrides={
            **dict.fromkeys(("Nullable", "WireModel"), "..wire"),
            **dict.fromkeys(UNIONS_ROOM, "..unions"),
            "moved": "..moved",
        },
        custom_file_header=header,
        custom_template_dir=folder("templates") / "types",
        extra_template_data=_told(document, told, plain),
        custom_class_name_generator=_same,
        aliases=_aliases(document),
        enum_field_as_literal=LiteralType.All,
        use_annotated=True,
        use_union_operator=True,
        use_standard_collections=True,
        use_type_alias=True,
        skip_root_model=True,
        use_one_literal_as_default=True,
        disable_timestamp=True,
        disable_future_imports=False,
        formatters=[],
    )


def _told(document: Document, told: Told, plain: set[str]) -> defaultdict[str, dict[str, Any]]:
    """What the templates are told of each definition; where nothing is told, there is a default."""
    rows: defaultdict[str, dict[str, Any]] = defaultdict(dict[str, Any])
    for name in document.definitions:
        moved = told.moved.get(name, {})
        # With a default too: asked for the prose of a member `items`, Jinja would find the method of a dict.
        prose = {
            "docs": defaultdict(str, told.docs.get(name, {})),
            "retired": told.retired.get(name, ""),
            "before": defaultdict(str, {new: old for new, (old, _) in moved.items()}),
            "notice": defaultdict(str, {new: notice for new, (_, notice) in moved.items()}),
        }
        rows[name] = {**prose, "plain": name in plain, **_policy(name, document)}
    return rows


def _aliases(document: Document) -> dict[str, str]:
    return {
        f"{owner}.{wire_name}": python
        for owner, names in document.python.items()
        for wire_name, python in names.items()
        if wire_name != python
    }


def _policy(name: str, document: Document) -> dict[str, Any]:
    """What the templates must know beyond the schema: finished text and booleans."""
    schema = document.definitions[name]
    if is_dictionary(name, schema):
        return {
            "keys": keys(schema),
            "required_keys": repr(tuple(schema.get("required", ()))),
            **dict.fromkeys(MENTIONED, False),
            "dictionary": True,
        }
    fills = {document.python[name][wire]: repr(value) for wire, value in filled(schema).items()}
    nullable = {document.python[name][wire]: True for wire in nullable_members(schema, document.definitions)}
    return {
        "fills": defaultdict(str, fills),
        "nullable": defaultdict(bool, nullable),
        "any_nullable": bool(nullable),
        "uncoerced": is_basic(schema) or is_untyped(schema),
        "open_union": is_open_union(name, schema),
        "open_enumeration": is_open_enumeration(name, schema),
        "choice": is_object_choice(schema, document.definitions),
        "dictionary": False,
        "documents": holds_documents(schema, document.definitions),
    }


def _engine_schema(name: str, schema: Schema) -> Schema:
    # An object without members is a dictionary; spelled with a list the engine makes it one, and no empty class.
    bare = not {"properties", "additionalProperties"} & set(schema) and schema.get("type") == "object"
    return {"type": ["object"]} if bare or is_dictionary(name, schema) else simplify(schema)


def _mentioned(document: Document, told: Told) -> list[str]:
    policies = [_policy(name, document) for name in document.definitions]
    names = [name for flag, names in MENTIONED.items() if any(p[flag] for p in policies) for name in names]
    names += ["typing_extensions.deprecated"] if told.retired or told.moved else []
    return list(dict.fromkeys(names + (["typing.TYPE_CHECKING", "moved.moved"] if told.leads else [])))


def _recursion(definitions: Mapping[str, Schema]) -> dict[str, set[str]]:
    """The unions that hold themselves, each with the arrays and dictionaries through which they do."""
    found = {name: _through(name, definitions) for name in definitions}
    return {name: through for name, through in found.items() if through}


def _through(union: str, definitions: Mapping[str, Schema]) -> set[str]:
    arms = [target(arm["$ref"]) for arm in definitions[union].get("anyOf", []) if "$ref" in arm]
    inner = {arm: definitions[arm].get("items", definitions[arm].get("additionalProperties")) for arm in arms}
    return {
        arm for arm, schema in inner.items() if is_object(schema) and schema.get("$ref") == f"{REF}{union}"
    }


def _order(definitions: Mapping[str, Schema], first: Iterable[str]) -> list[str]:
    """`first`, then each definition behind what it refers to, as far as they do not refer to each other.

    The engine keeps the order it is given where it cannot sort, and for what then stands before its parts it
    writes `model_rebuild()`, which builds at import what shall be built at first use.
    """
    ordered: dict[str, None] = dict.fromkeys(first)
    for name in definitions:
        _place(name, definitions, ordered, frozenset())
    return list(ordered)


def _place(
    name: str, definitions: Mapping[str, Schema], ordered: dict[str, None], above: frozenset[str]
) -> None:
    if name in ordered or name in above:
        return
    for schema in nodes(definitions[name]):
        if "$ref" in schema:
            _place(target(schema["$ref"]), definitions, ordered, above | {name})
    ordered[name] = None


def _same(name: str) -> str:
    return name
