"""Document to the source of `types.py`: the one call into datamodel-code-generator.

The engine decides how a schema becomes a class body; names, documentation and what a number is were decided
before. It is never given prose: docstrings reach the template as finished text.
"""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from datamodel_code_generator import InputFileType, generate
from datamodel_code_generator.enums import DataModelType
from datamodel_code_generator.format import PythonVersion
from datamodel_code_generator.parser import LiteralType

from .errors import EmitError, SchemaError
from .ir import Document, Json, Schema, is_array, is_object
from .resources import folder

DROPPED = frozenset({"format", "description", "title", "default", "$comment", "examples"})
"""Annotations: they never refuse a value, and prose does not go through the engine."""


def models(document: Document, docs: Mapping[str, Mapping[str, str]], *, header: str) -> str:
    """The classes and aliases of a hoisted document, as unformatted source text.

    `docs` holds, by definition, finished docstring literals: of the class under the empty name, of its members
    under their Python names. `header` is the comment that the module opens with. Raises SchemaError when the engine cannot express the schema.
    """
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {name: _plain(document.definitions[name]) for name in _order(document.definitions)},
    }
    aliases = {
        f"{owner}.{wire_name}": python
        for owner, names in document.python.items()
        for wire_name, python in names.items()
        if wire_name != python
    }
    try:
        text = generate(
            json.dumps(schema),
            input_file_type=InputFileType.JsonSchema,
            output_model_type=DataModelType.PydanticV2BaseModel,
            target_python_version=PythonVersion.PY_311,
            base_class="wire.WireModel",
            import_overrides={"WireModel": "..wire"},
            custom_file_header=header,
            custom_template_dir=folder("templates") / "types",
            extra_template_data=defaultdict(
                dict[str, Any], {name: {"docs": text} for name, text in docs.items()}
            ),
            custom_class_name_generator=_same,
            aliases=aliases,
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
    except Exception as error:
        raise SchemaError(
            f"the type engine cannot express this schema ({error})",
            remedy="simplify the definition it names",
            source=document.source,
        ) from error
    if not isinstance(text, str):
        raise EmitError(
            "the type engine wrote more than one module", remedy="report this", source=document.source
        )
    return text


def _order(definitions: Mapping[str, Schema]) -> list[str]:
    """Recursive unions first, the rest as it is.

    The engine writes definitions in the order they come, as far as they need each other; pyright follows a
    recursive alias only when the union stands before the array or dictionary through which it holds itself.
    """
    return sorted(definitions, key=lambda name: not _is_recursive_union(name, definitions))


def _is_recursive_union(name: str, definitions: Mapping[str, Schema]) -> bool:
    arms = [
        arm["$ref"].removeprefix("#/$defs/") for arm in definitions[name].get("anyOf", []) if "$ref" in arm
    ]
    inner = [definitions[arm].get("items", definitions[arm].get("additionalProperties")) for arm in arms]
    return any(is_object(schema) and schema.get("$ref") == f"#/$defs/{name}" for schema in inner)


def _same(name: str) -> str:
    return name


def _plain(node: Json) -> Json:
    """A schema as the engine shall see it: no annotations, and a number may be written `1` or `1.0`.

    The engine maps `number` to `float`, which would turn a wire `1` into `1.0`; JSON Schema's number is either.
    """
    if is_array(node):
        return [_plain(item) for item in node]
    if not is_object(node):
        return node
    plain = {key: _plain_under(key, value) for key, value in node.items() if key not in DROPPED}
    kinds = plain.get("type")
    if kinds == "number" or (is_array(kinds) and "number" in kinds):
        rest = [kinds] if isinstance(kinds, str) else list(kinds)
        plain["type"] = [*(["integer"] if "integer" not in rest else []), *rest]
    if "anyOf" in plain:
        plain["anyOf"] = _null_apart(plain["anyOf"])
    return plain


def _null_apart(arms: list[Schema]) -> list[Schema]:
    """The same union with null as an arm of its own: the engine imports Optional and then spells it otherwise."""
    nullable = [arm for arm in arms if is_array(arm.get("type")) and "null" in arm["type"]]
    rest = [
        {**arm, "type": [kind for kind in arm["type"] if kind != "null"]} if arm in nullable else arm
        for arm in arms
    ]
    return [*rest, {"type": "null"}] if nullable else arms


def _plain_under(key: str, value: Json) -> Json:
    if key in ("properties", "patternProperties") and is_object(value):
        return {name: _plain(schema) for name, schema in value.items()}
    return copy.deepcopy(value) if key in ("const", "enum", "required", "discriminator") else _plain(value)
