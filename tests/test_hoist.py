"""Document to Document: every nested object gets its name from where it stands, and nothing is guessed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest
from emitted import read, schema_text

from mcpcodegen.errors import SchemaError
from mcpcodegen.hoist import hoist
from mcpcodegen.load import load
from mcpcodegen.shapes import nodes

TEXT = {"type": "string"}
NUMBER = {"type": "number"}


def record(required: str = "", /, **members: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object", "properties": members}
    return made | ({"required": required.split()} if required else {})


def constant(value: str) -> dict[str, str]:
    return {"type": "string", "const": value}


def refer(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def refusal(definitions: Mapping[str, Any]) -> SchemaError:
    with pytest.raises(SchemaError) as caught:
        read(definitions)
    return caught.value


INNER = record(x=TEXT)


@pytest.mark.parametrize(
    ("definition", "named"),
    [
        (record(inputSchema=INNER), "ToolInputSchema"),
        (record(_meta=INNER), "ToolMeta"),
        (record(parts={"type": "array", "items": INNER}), "ToolParts"),
        (record(named={"type": "object", "additionalProperties": INNER}), "ToolNamedValue"),
        (record(either={"anyOf": [INNER, TEXT]}), "ToolEitherX"),
        (record(either={"anyOf": [record("kind", kind=constant("big_one"), x=TEXT), TEXT]}), "ToolEitherBigOne"),
        ({"type": "array", "items": INNER}, "ToolItem"),
        ({"type": "object", "additionalProperties": INNER}, "ToolValue"),
        ({"anyOf": [record("x", x=TEXT, y=TEXT), TEXT]}, "ToolX"),
    ],
)  # fmt: skip
def test_a_nested_object_is_named_after_its_place(definition: dict[str, Any], named: str) -> None:
    document = read({"Tool": definition})
    assert document.definitions[named]["properties"]["x"] == TEXT
    assert refer(named) in list(nodes(list(document.definitions.values())))


def test_what_is_nested_twice_is_named_step_by_step() -> None:
    document = read({"A": record(b=record(c=record(d=TEXT)))})
    assert list(document.definitions) == ["A", "AB", "ABC"]


def test_an_object_without_members_keeps_its_place() -> None:
    document = read({"A": record(b={"type": "object"}, c={"type": "object", "additionalProperties": NUMBER})})
    assert list(document.definitions) == ["A"]


def test_equal_objects_under_one_property_are_one_definition_with_the_shortest_name() -> None:
    document = read({"Longer": record(meta=INNER), "Tiny": record(meta={**INNER, "description": "Words."})})
    assert list(document.definitions) == ["Longer", "Tiny", "TinyMeta"]
    assert document.definitions["Longer"]["properties"]["meta"] == refer("TinyMeta")


def test_a_base_without_a_tag_names_what_it_shares_with_others() -> None:
    document = read({
        "CallRequest": record("method", method=constant("call"), params=INNER),
        "AbstractRequest": record("method", method=TEXT, params=INNER),
    })  # fmt: skip
    assert "AbstractRequestParams" in document.definitions
    assert "CallRequestParams" not in document.definitions


def test_equal_objects_under_other_properties_are_apart() -> None:
    assert list(read({"A": record(b=INNER, c=INNER)}).definitions) == ["A", "AB", "AC"]


def test_a_document_is_left_as_it_was() -> None:
    loaded = load(schema_text({"A": record(b=INNER)}), source="s")
    before = copy.deepcopy(loaded)
    hoist(loaded)
    assert loaded == before


def test_naming_twice_changes_nothing() -> None:
    once = read({"A": record(b=INNER, c={"type": "array", "items": record(d=TEXT)})})
    assert hoist(once) == once


@pytest.mark.parametrize(
    ("arms", "tagged"),
    [
        ([record("type", type=constant("a")), record("type", type=constant("b"))], "type"),
        ([record("method kind", method=TEXT, kind=constant("a")), record("method kind", method=TEXT, kind=constant("b"))], "kind"),
        # Not every arm demands it, two have the same value, or there is nothing to tell apart.
        ([record("type", type=constant("a")), record(type=constant("b"))], None),
        ([record("type", type=constant("a"), x=TEXT), record("type", type=constant("a"))], None),
        ([record("type", type=constant("a"))], None),
        ([record("type", type=constant("a")), TEXT], None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_a_union_names_the_member_that_tells_its_arms_apart(
    keyword: str, arms: list[Any], tagged: str | None
) -> None:
    names = [f"Arm{'ABC'[index]}" for index in range(len(arms))]
    union = {keyword: [refer(name) for name in names]}
    document = read({**dict(zip(names, arms, strict=True)), "Either": union})
    assert document.definitions["Either"].get("discriminator", {}).get("propertyName") == tagged


@pytest.mark.parametrize(
    ("schema", "joined"),
    [
        ({"allOf": [record("a", a=TEXT), record("b", b=NUMBER)]}, record("a b", a=TEXT, b=NUMBER)),
        ({"allOf": [refer("Base"), record("b", b=NUMBER)]}, record("b base", base=TEXT, b=NUMBER)),
        ({"allOf": [refer("Base")], **record("b", b=NUMBER)}, record("b base", base=TEXT, b=NUMBER)),
        (
            {"allOf": [{"allOf": [refer("Base"), record(d=TEXT)]}, record(c=TEXT)]},
            record("base", base=TEXT, c=TEXT, d=TEXT),
        ),
        ({"allOf": [refer("Base")], "description": "Words."}, {**refer("Base"), "description": "Words."}),
    ],
)
def test_all_of_is_joined_to_the_schema_it_means(schema: dict[str, Any], joined: dict[str, Any]) -> None:
    found = read({"Base": record("base", base=TEXT), "A": schema}).definitions["A"]
    assert found == joined


@pytest.mark.parametrize(
    "parts",
    [
        [record(a=TEXT), record(a=NUMBER)],
        [record(a=TEXT), TEXT],
        [record(a=TEXT), {**record(b=TEXT), "additionalProperties": False}],
        [refer("A"), record(b=TEXT)],
    ],
    ids=["a member says two things", "two types", "closed to the other part", "of itself"],
)
def test_all_of_that_cannot_be_joined_is_refused(parts: list[Any]) -> None:
    error = refusal({"A": {"allOf": parts}})
    assert "allOf" in error.problem
    assert error.pointer == "/$defs/A"


def test_an_object_that_may_be_null_becomes_a_union_with_a_name() -> None:
    document = read({"A": record(b={**record("x", x=TEXT), "type": ["object", "null"]})})
    unions = [schema["anyOf"] for schema in nodes(list(document.definitions.values())) if "anyOf" in schema]
    assert unions == [[refer("ABX"), {"type": ["null"]}]]
    assert document.definitions["ABX"]["properties"] == {"x": TEXT}


def test_a_member_that_is_demanded_but_not_described_may_be_anything() -> None:
    assert read({"A": {"type": "object", "required": ["x"]}}).definitions["A"]["properties"] == {"x": {}}


@pytest.mark.parametrize("said", [{}, True])
def test_an_object_that_says_that_it_is_open_is_like_one_that_does_not(said: Any) -> None:
    assert read({"A": {**record(x=TEXT), "additionalProperties": said}}).definitions["A"] == record(x=TEXT)


def test_a_union_that_holds_itself_does_so_by_name() -> None:
    value = {
        "anyOf": [
            TEXT,
            {"type": "array", "items": refer("Value")},
            {"type": "object", "additionalProperties": refer("Value")},
        ]
    }
    known = {"Listed": {"type": "array", "items": refer("Value")}, "Value": value}
    document = read(known)
    assert document.definitions["Value"]["anyOf"] == [TEXT, refer("Listed"), refer("ValueObject")]
    assert document.definitions["ValueObject"] == value["anyOf"][2]


def test_members_have_names_by_definition() -> None:
    document = read(
        {"Tool": record(inputSchema=record(**{"io.example/aB": TEXT}), _meta=TEXT, **{"class": TEXT})}
    )
    assert document.python == {
        "Tool": {"inputSchema": "input_schema", "_meta": "meta", "class": "class_"},
        "ToolInputSchema": {"io.example/aB": "a_b"},
    }


def test_a_member_does_not_hide_a_definition() -> None:
    document = read({"role": TEXT, "A": record(role=refer("role"))})
    assert document.python["A"] == {"role": "role_"}


def test_a_definition_whose_name_python_refuses_is_followed_in_every_reference() -> None:
    document = read({"a/b": INNER, "class": TEXT, "B": record(x={"$ref": "#/$defs/a~1b"}, y=refer("class"))})
    assert list(document.definitions) == ["AB", "class_", "B"]
    assert document.definitions["B"]["properties"] == {"x": refer("AB"), "y": refer("class_")}


@pytest.mark.parametrize(
    ("definitions", "names", "pointer"),
    [
        ({"A": record(**{"a-b": TEXT, "a_b": TEXT})}, ("'a-b'", "'a_b'", "a_b"), "/$defs/A/properties/a_b"),
        ({"A": record(aB=TEXT, **{"a.b": TEXT})}, ("'aB'", "'a.b'", "a_b"), "/$defs/A/properties/a.b"),
        ({"A": record(**{"a/b": TEXT, "a~b": TEXT})}, ("'a/b'", "'a~b'"), "/$defs/A/properties/a~0b"),
        ({"A": record(**{"--": TEXT})}, ("'--'",), "/$defs/A/properties/--"),
        ({"a b": TEXT, "AB": TEXT}, ("'a b'", "'AB'", "AB"), "/$defs/AB"),
        ({"//": TEXT}, ("'//'",), "/$defs/~1~1"),
        ({"A": record(b=INNER), "AB": TEXT}, ("AB", "/$defs/AB"), "/$defs/A/properties/b"),
        ({"A": record(b=INNER, B=record(y=TEXT))}, ("AB",), "/$defs/A/properties/B"),
        ({"A": record(b={"anyOf": [record(x=TEXT), record(x=NUMBER)]})}, ("ABX",), "/$defs/A/properties/b/anyOf/1"),
        ({"A": refer("A")}, ("'A'",), "/$defs/A"),
        ({"A": {"anyOf": [refer("B"), TEXT]}, "B": refer("A")}, ("'A'",), "/$defs/A"),
    ],
)  # fmt: skip
def test_what_cannot_be_named_without_guessing_is_an_error_that_names_it(
    definitions: dict[str, Any], names: tuple[str, ...], pointer: str
) -> None:
    error = refusal(definitions)
    assert [name for name in names if name not in error.problem] == []
    assert (error.source, error.pointer) == ("schema.json", pointer)
    assert error.remedy
