"""Schema text is untrusted input to a program that writes programs: it comes out as text, or as one error."""

from __future__ import annotations

import builtins
import importlib
import json
import keyword
import typing
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from emitted import Emitted, class_docs, read, top_level_names, words
from hostile import TEXTS, skeleton, undeclared
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, TypeAdapter, ValidationError
from schemas import definitions, messages, refer

from mcpcodegen.errors import SchemaError
from mcpcodegen.facts import canonical
from mcpcodegen.ir import is_array, is_object
from mcpcodegen.naming import class_name, member_name
from mcpcodegen.policy import DICTIONARIES

Generate = Callable[[Mapping[str, Any] | bytes], Emitted]

MODULES = ("types", "methods", "server", "client", "__init__")
BENIGN = {name: f"plain words {index}" for index, name in enumerate(TEXTS)}


def record(properties: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(properties), **more}


def text_type(value: str) -> dict[str, str]:
    return {"type": "string", "const": value}


def described(texts: Mapping[str, str]) -> dict[str, Any]:
    """A definition, a member, an alias and a request for each text, described by it."""
    made: dict[str, Any] = {}
    for index, text in enumerate(texts.values()):
        prose = {"description": text, "title": text, "$comment": text}
        name = f"N{chr(65 + index // 26)}{chr(97 + index % 26)}"
        made[name] = record({"one": {"type": "string", **prose}, "items": {"type": "integer"}}, **prose)
        made[f"{name}Alias"] = {"type": "string", **prose}
        made[f"{name}Result"] = record({"ok": {"type": "boolean"}}, **prose)
        made[f"{name}Request"] = record({"method": text_type(name)}, **prose)
    return made | {"ClientRequest": {"anyOf": [refer(name) for name in made if name.endswith("Request")]}}


def valued(texts: Mapping[str, str]) -> dict[str, Any]:
    """A tagged union with one arm a text, whose tag is the text; enums of all of them; and methods named so."""
    names = [f"V{chr(65 + index // 26)}{chr(97 + index % 26)}" for index in range(len(texts))]
    pairs = dict(zip(names, texts.values(), strict=True))
    arms = {name: record({"tag": text_type(text)}) for name, text in pairs.items()}
    requests = {f"{name}Request": record({"method": text_type(text)}) for name, text in pairs.items()}
    results = {f"{name}Result": record({"ok": {"type": "boolean"}}) for name in names}
    every = {"type": "string", "enum": [*texts.values()], "default": next(iter(texts.values()))}
    return {
        **arms,
        **requests,
        **results,
        "Tagged": {"anyOf": [refer(name) for name in arms]},
        "Every": every,
        "Holder": {"type": "object", "properties": {"one": every, "many": {"type": "array", "items": every}}},
        "ClientRequest": {"anyOf": [refer(name) for name in requests]},
    }


def test_descriptions_become_docstrings_and_nothing_else(generated_from: Generate) -> None:
    hostile, benign = generated_from(described(TEXTS)), generated_from(described(BENIGN))
    docs = class_docs(hostile.source())
    for name, definition in hostile.document.definitions.items():
        if definition.get("type") == "object":
            assert words(docs[name][""]) == words(definition["description"]), name
    described_members = [name for name in docs if "one" in docs[name]]
    assert len(described_members) == len(TEXTS)
    for name in described_members:
        assert words(docs[name]["one"]) == words(hostile.document.definitions[name]["description"])
    for module in MODULES:
        assert skeleton(hostile.source(module)) == skeleton(benign.source(module)), module


def test_values_become_literals_and_nothing_else(generated_from: Generate) -> None:
    hostile, benign = generated_from(valued(TEXTS)), generated_from(valued(BENIGN))
    listed, other = typing.get_args(typing.get_args(hostile.types.Every.__value__)[0])
    assert set(typing.get_args(listed)) == set(TEXTS.values()) and other is str
    for module in MODULES:
        assert skeleton(hostile.source(module)) == skeleton(benign.source(module)), module


def test_a_hostile_tag_chooses_its_arm_and_is_filled_in(generated_from: Generate) -> None:
    hostile = generated_from(valued(TEXTS))
    union: TypeAdapter[Any] = TypeAdapter(hostile.types.Tagged)
    for name, schema in hostile.document.definitions.items():
        tag = schema.get("properties", {}).get("tag", {}).get("const")
        if tag is not None:
            read_back = union.validate_python({"tag": tag})
            assert (type(read_back).__name__, read_back.tag) == (name, tag)
            assert getattr(hostile.types, name)().tag == tag


def test_hostile_method_names_stand_in_the_tables_as_they_are(generated_from: Generate) -> None:
    hostile = generated_from(valued(TEXTS))
    methods = importlib.import_module(f"{hostile.name}.unreleased.methods")
    assert list(methods.CLIENT_REQUESTS) == list(TEXTS.values())
    assert [row.name for row in methods.CLIENT_REQUESTS.values()] == list(TEXTS.values())


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_hostile_member_name_is_spelled_or_refused(text: str) -> None:
    definitions = {"Tool": record({text: record({"x": {}})})}
    if member_name(text):
        document = read(definitions)
        assert document.python["Tool"][text] == member_name(text)
        assert member_name(text).isidentifier()
    else:
        with pytest.raises(SchemaError, match="cannot be spelled in Python") as error:
            read(definitions)
        assert (error.value.pointer or "").startswith("/$defs/Tool/properties/")


def test_hostile_member_names_are_aliases_and_nothing_else(generated_from: Generate) -> None:
    named = {f"M{index}x": text for index, text in enumerate(filter(member_name, TEXTS.values()))}
    hostile = generated_from({name: record({text: {"type": "string"}}) for name, text in named.items()})
    assert undeclared(hostile.source()) == []
    for name, text in named.items():
        model = getattr(hostile.types, name)
        assert [field.alias or key for key, field in model.model_fields.items()] == [text]
        assert model.model_validate({text: "v"}).model_dump() == {text: "v"}
        assert model(**{member_name(text): "v"}).model_dump() == {text: "v"}


MEMBERS = sorted({
    *keyword.kwlist,
    *keyword.softkwlist,
    *dir(builtins),
    *dir(BaseModel),
    *("wire_tags", "wire_optional", "wire_bytes", "self", "cls", "data", "Any", "Field", "Literal", "Annotated"),
    *("TypeAliasType", "WireModel", "annotations", "date", "datetime", "_meta", "__proto__", "constructor", "$ref"),
    *("fields[mesh]", "cik-A", "Notion-Version", "io.example/name", "9lives", "übung", "名前", "ﬁ", "A", "URL", "x.y.z"),
})  # fmt: skip


def test_members_may_be_called_what_python_and_the_models_use(generated_from: Generate) -> None:
    owners = {f"O{index}x": name for index, name in enumerate(filter(member_name, MEMBERS))}
    kinds: list[Any] = [
        {"type": "array", "items": {"type": "string"}},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "string"},
        {"type": "number"},
        refer("Leaf"),
    ]
    values: list[Any] = [["v"], {"k": "v"}, "v", 1.5, {"x": 1}]
    made: dict[str, Any] = {"Leaf": record({"x": {"type": "integer"}})}
    for index, (owner, name) in enumerate(owners.items()):
        others = {f"other_{n}": kind for n, kind in enumerate(kinds)}
        made[owner] = record({name: kinds[index % len(kinds)], **others})
    package = generated_from(made)
    assert undeclared(package.source()) == []
    for index, (owner, name) in enumerate(owners.items()):
        message = {
            name: values[index % len(kinds)],
            **{f"other_{n}": value for n, value in enumerate(values)},
        }
        assert getattr(package.types, owner).model_validate(message).model_dump() == message, name


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a-b", "a_b"),
        ("a.b", "a-b"),
        ("a_b", "aB"),
        ("aB", "a.b"),
        ("class", "class_"),
        ("ﬁ", "fi"),
        ("x", "{{ x }}"),
    ],
)
def test_two_members_that_fold_to_one_name_are_an_error_that_names_both(first: str, second: str) -> None:
    with pytest.raises(SchemaError) as error:
        read({"Tool": record({"fine": {}, first: {}, second: {}})})
    assert repr(first) in error.value.problem
    assert repr(second) in error.value.problem
    assert error.value.pointer == f"/$defs/Tool/properties/{second}"


def test_all_four_spellings_together_are_one_error() -> None:
    with pytest.raises(SchemaError, match="'a-b' and 'a.b' are both a_b"):
        read({"Tool": record({"a-b": {}, "a.b": {}, "a_b": {}, "aB": {}})})


DEFINITIONS = (
    *("../x", "a/b", "a~c", "C:\\x", "class", "None", "Any", "Field", "str", "List", "list", "Optional", "Union", "Dict"),
    *("WireModel", "BaseModel", "Choice", "Keys", "OpenUnion", "OpenEnumeration", "Unknown", "deprecated", "unions", "Literal", "Annotated", "TypeAliasType", "ConfigDict", "annotations", "typing", "wire"),
    *("__init__", "_private", "9lives", "Ünïcödé", "名前", "ﬁne", "x y", "a#d", "RootModel", "object", "Exception"),
    *("types", "methods", "Role", "model_config", "wire_tags", "Config", "copy", "{{ evil }}", "{% raw %}R", '"""D', "#{ C", "E\nimport os"),
    *("F\\", "G\u202eH", "I\u2028J", "K\x00L"),
)  # fmt: skip


def test_definitions_may_be_called_what_python_and_the_module_use(generated_from: Generate) -> None:
    made: dict[str, Any] = {name: record({"x": {"type": "string"}}) for name in DEFINITIONS}
    made["Holder"] = record({f"m{index}": refer(name) for index, name in enumerate(DEFINITIONS)})
    made["Recursive"] = {
        "anyOf": [{"type": "array", "items": refer("Recursive")}, {"type": ["string", "null"]}]
    }
    package = generated_from(made)
    assert undeclared(package.source()) == []
    assert {class_name(name) for name in DEFINITIONS} <= set(vars(package.types))
    message = {f"m{index}": {"x": "v"} for index in range(len(DEFINITIONS))}
    assert package.types.Holder.model_validate(message).model_dump() == message


def test_no_definition_name_becomes_a_path(generated_from: Generate) -> None:
    plain, hostile = generated_from({"A": record({})}), generated_from(
        {"../../x": record({}), "/etc/y": record({})}
    )
    assert {path.partition("/")[2] for path in hostile.bundle} == {
        path.partition("/")[2] for path in plain.bundle
    }


@pytest.mark.parametrize(
    ("first", "second"), [("a-b", "a b"), ("class", "class_"), ("Any", "Any_"), ("a/b", "a-b"), ("Fi", "ﬁ")]
)
def test_two_definitions_that_fold_to_one_name_are_an_error_that_names_both(first: str, second: str) -> None:
    with pytest.raises(SchemaError) as error:
        read({first: record({"x": {}}), second: record({"y": {}})})
    assert repr(first) in error.value.problem
    assert repr(second) in error.value.problem


@pytest.mark.parametrize("name", ["", "_", "***", "'''", "\u202e", "\x00"])
def test_a_definition_that_cannot_be_spelled_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(SchemaError, match="cannot be spelled in Python") as error:
        read({name: record({"x": {}})})
    assert repr(name) in error.value.problem


@pytest.mark.parametrize(
    ("definitions", "pointer"),
    [
        ({"A": {"type": "string", "description": "\ud800"}}, "/$defs/A/description"),
        ({"A": {"enum": ["ok", "\udfff x"]}}, "/$defs/A/enum/1"),
        ({"A": record({"\ud800": {}})}, "/$defs/A/properties/\ud800"),
        ({"\ud800": {"type": "string"}}, "/$defs/\ud800"),
    ],
)
def test_half_a_surrogate_pair_is_refused_where_it_stands(
    definitions: Mapping[str, Any], pointer: str
) -> None:
    with pytest.raises(SchemaError, match="surrogate") as error:
        read(definitions)
    assert error.value.pointer == pointer
    assert str(error.value).isascii()


def test_an_error_is_one_visible_line_whatever_it_quotes() -> None:
    for text in TEXTS.values():
        shown = str(SchemaError(f"found {text}", remedy="mend it", source="schema.json", pointer=f"/{text}"))
        assert shown.isprintable()
        assert len(shown) <= 600


def test_code_that_slipped_in_would_be_found() -> None:
    assert undeclared('from typing import Any\n\n\nclass A(WireModel):\n    x: Any\n    """doc"""\n') == []
    assert undeclared("import os\n") == ["line 1: has Import"]
    assert undeclared("from os import abort\n") == ["line 1: imports from os"]
    assert undeclared("x = abort()\n") == ["line 1: calls abort"]
    assert undeclared("raise SystemExit\n") == ["line 1: has Raise"]
    assert skeleton("x = 'a'") == skeleton("x = 'b'") != skeleton("x = b'b'")


def test_a_member_may_be_called_like_the_type_it_uses(generated_from: Generate) -> None:
    types = generated_from({
        "Role": {"type": "string", "enum": ["user"]},
        "Tool": record({
            "date": {"type": "string", "format": "date"},
            "Role": refer("Role"),
            "list": {"type": "array", "items": refer("Tool")},
        }),
    }).types  # fmt: skip
    good: dict[str, Any] = {"date": "not-a-date", "Role": "user", "list": []}
    assert types.Tool.model_validate(good).model_dump() == good
    for name, bad in (("date", 1), ("Role", "other"), ("list", "none")):
        with pytest.raises(ValidationError) as error:
            types.Tool.model_validate(good | {name: bad})
        assert error.value.errors()[0]["loc"][0] == name


# One example takes up to half a second (the type engine), so there are few of them, the same ones each time.
@settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)
@given(data=st.data(), made=definitions())
def test_any_schema_comes_out_as_python_that_reads_what_it_admits_or_as_one_error(
    generated_from: Generate, data: st.DataObject, made: dict[str, Any]
) -> None:
    try:
        package = generated_from(made)
    except SchemaError as error:
        refused = error
    else:
        check(package, data)
        return
    assert (refused.pointer or "").startswith("/$defs/")
    assert "engine" not in refused.problem


def check(package: Emitted, data: st.DataObject) -> None:
    document = package.document
    assert undeclared(package.source()) == []
    assert top_level_names(package.source()) == set(document.definitions)
    for name, members in document.python.items():
        if name in DICTIONARIES:
            continue
        fields = getattr(package.types, name).model_fields
        assert {python: field.alias or python for python, field in fields.items()} == {
            python: wire for wire, python in members.items()
        }
    for name, schema in document.definitions.items():
        message = data.draw(messages(schema, document.definitions))
        validator: Any = Draft202012Validator({"$defs": document.definitions, **refer(name)})
        if validator.is_valid(message):
            reader: TypeAdapter[Any] = TypeAdapter(getattr(package.types, name))
            written = reader.dump_json(
                reader.validate_json(json.dumps(message)), by_alias=True, exclude_unset=True
            )
            assert canonical(without_nulls(json.loads(written))) == canonical(without_nulls(message))


def without_nulls(value: Any) -> Any:
    """`value` without members that are null: an optional member that may be null is read as absent."""
    if is_array(value):
        return [without_nulls(item) for item in value]
    if is_object(value):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return value


def test_a_definition_may_be_called_as_the_engine_calls_its_own(generated_from: Generate) -> None:
    inside = {"type": "array", "items": refer("Model")}
    types = generated_from({"Model": record({"v": {"type": "integer"}, "inside": inside})}).types
    made = types.Model_(v=1, inside=[types.Model_(v=2, inside=[])])
    assert made.model_dump() == {"v": 1, "inside": [{"v": 2, "inside": []}]}


def test_a_pattern_that_pydantic_cannot_hold_makes_the_type_wider(generated_from: Generate) -> None:
    looking = {"type": "string", "pattern": "^(?!no).*$"}
    types = generated_from({"A": record({"p": looking, "q": {"type": "string", "pattern": "^a"}})}).types
    assert types.A(p="no", q="ab").p == "no"
    with pytest.raises(ValidationError):
        types.A(p="no", q="b")
