"""Mirrored headers: how values are written, read and compared, and which annotations a schema may have."""

from __future__ import annotations

from typing import Any

import pytest
from mcprotocol import headers
from mcprotocol.errors import HeaderMismatch
from mcprotocol.headers import Headers
from mcprotocol.server import Server

VECTORS = [
    ("us-west1", "us-west1"),
    ("us west 1", "us west 1"),
    ("", ""),
    ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
    (" padded ", "=?base64?IHBhZGRlZCA=?="),
    ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
    ("\tindented", "=?base64?CWluZGVudGVk?="),
    ("in\tside", "=?base64?aW4Jc2lkZQ==?="),
    ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ("日本語", "=?base64?5pel5pys6Kqe?="),
    ("=?base64?", "=?base64?"),
    ("\x7f", "=?base64?fw==?="),
]


def fields(**named: str | bytes) -> Headers:
    """Headers by Python names: `mcp_name` is `mcp-name`."""
    return Headers(
        (name.replace("_", "-").encode(), value if isinstance(value, bytes) else value.encode())
        for name, value in named.items()
    )


def refusal(schema: dict[str, Any]) -> str:
    with pytest.raises(ValueError) as caught:
        headers.parameters_of(schema)
    return str(caught.value)


def asking(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


REGION: dict[str, Any] = {"type": "string", "x-mcp-header": "Region"}


@pytest.mark.parametrize(("value", "written"), VECTORS)
def test_a_text_is_written_so_that_every_proxy_passes_it_on_and_is_read_back(
    value: str, written: str
) -> None:
    assert headers.encode(value) == written
    assert headers.decode(written) == value


@pytest.mark.parametrize(
    "literal",
    ["=?BASE64?eA==?=", "=?Base64?eA==?=", "base64?eA==?=", "=?base64?eA==", "eA==?=", "=?base64?=", "=?="],
)
def test_what_lacks_a_marker_or_has_another_case_is_itself(literal: str) -> None:
    assert headers.decode(literal) == literal


@pytest.mark.parametrize(
    ("inner", "fault"),
    [
        ("eA", "no padding"),
        ("eA=", "half a padding"),
        ("eA===", "too much padding"),
        ("eB==", "spare bits that are not zero"),
        ("e A==", "white space"),
        ("eA-_", "the other alphabet"),
        ("e\u00e9", "not ASCII"),
        ("/w==", "not UTF-8"),
    ],
)
def test_base64_that_is_not_in_order_is_refused(inner: str, fault: str) -> None:
    with pytest.raises(HeaderMismatch):
        headers.decode(f"=?base64?{inner}?=")


def test_markers_around_nothing_are_the_empty_text() -> None:
    assert headers.decode("=?base64??=") == ""


@pytest.mark.parametrize(
    ("value", "text"), [("a", "a"), (42, "42"), (-7, "-7"), (True, "true"), (False, "false")]
)
def test_values_become_text(value: str | int, text: str) -> None:
    assert headers.stringify(value) == text


@pytest.mark.parametrize("value", [b"a\x00b", b"a\x7f", b"\xe4", b"a\nb"])
def test_characters_that_no_header_may_have_are_refused(value: bytes) -> None:
    with pytest.raises(HeaderMismatch):
        fields(mcp_name=value).value("Mcp-Name")


def test_white_space_around_a_value_is_not_part_of_it() -> None:
    assert fields(mcp_name="\t foo bar ").value("Mcp-Name") == "foo bar"


def test_a_field_that_came_twice_is_refused() -> None:
    twice = Headers([(b"mcp-method", b"tools/list"), (b"mcp-method", b"tools/list"), (b"other", b"1")])
    with pytest.raises(HeaderMismatch, match="repeated"):
        twice.text("Mcp-Method")
    assert twice.text("Other") == "1"


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("eu", "eu"),
        ("42", 42),
        ("42.0", 42),
        ("-7", -7),
        ("42", 42.0),
        ("0", 0),
        ("-0", 0),
        ("9007199254740991", 2**53 - 1),
        ("true", True),
        ("false", False),
        ("", ""),
        ("=?base64?5pel5pys6Kqe?=", "日本語"),
        ("42", "42"),
    ],
)
def test_a_header_agrees_with_the_argument_that_it_repeats(said: str, value: object) -> None:
    headers.check_parameters(fields(mcp_param_x=said), {("x",): "X"}, {"x": value})


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("EU", "eu"),
        ("42.0", "42"),
        ("43", 42),
        ("0x2a", 42),
        ("4_2", 42),
        ("٤٢", 42),
        ("", 0),
        ("1" * 5000, 1),
        ("9007199254740992", 2**53),
        ("True", True),
        ("1", True),
        ("false", True),
        ("eu", ["eu"]),
        ("eu", None),
        ("=?base64?eA?=", "x"),
    ],
)
def test_a_header_that_disagrees_is_refused(said: str, value: object) -> None:
    with pytest.raises(HeaderMismatch):
        headers.check_parameters(fields(mcp_param_x=said), {("x",): "X"}, {"x": value})


def test_an_argument_without_its_header_is_refused_and_a_missing_one_expects_none() -> None:
    with pytest.raises(HeaderMismatch, match="missing"):
        headers.check_parameters(fields(), {("x",): "X"}, {"x": ""})
    several: tuple[object, ...] = ({}, {"x": None}, None, [])
    for arguments in several:
        headers.check_parameters(fields(), {("x",): "X"}, arguments)


def test_what_is_mirrored_is_accepted() -> None:
    parameters = {("region",): "Region", ("deep", "count"): "Count", ("on",): "On", ("none",): "None"}
    arguments = {"region": "日本", "deep": {"count": 3}, "on": False, "none": None}
    params = {"name": "世界", "arguments": arguments}
    written = headers.mirror("tools/call", params, "2026-07-28", parameters)
    assert written == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "=?base64?5LiW55WM?=",
        "Mcp-Param-Region": "=?base64?5pel5pys?=",
        "Mcp-Param-Count": "3",
        "Mcp-Param-On": "false",
    }
    read = Headers((name.lower().encode(), value.encode()) for name, value in written.items())
    headers.check_version(read, "2026-07-28")
    headers.check_names(read, "tools/call", params)
    headers.check_parameters(read, parameters, arguments)


def test_annotations_are_found_by_the_path_of_their_property() -> None:
    schema = asking(
        region=REGION,
        place=asking(zone={"type": "integer", "x-mcp-header": "Zone"}, name={"type": "string"}),
        on={"type": "boolean", "x-mcp-header": "Method"},
    )
    assert headers.parameters_of(schema) == {
        ("region",): "Region",
        ("place", "zone"): "Zone",
        ("on",): "Method",
    }


@pytest.mark.parametrize(
    "header", ["", " ", "a b", "a:b", "a\n", "a\x00", "größe", "a/b", "(a)", 1, None, ["a"], {"a": "b"}]
)
def test_a_header_must_have_a_name_that_headers_can_have(header: object) -> None:
    assert "no header can be called" in refusal(asking(x={"type": "string", "x-mcp-header": header}))


@pytest.mark.parametrize("kind", ["number", "object", "array", "null", ["string", "null"], None])
def test_a_header_is_for_a_string_an_integer_or_a_boolean(kind: object) -> None:
    assert "its type must be" in refusal(asking(x={"type": kind, "x-mcp-header": "X"}))


def test_a_header_is_for_one_property_whatever_its_letter_case() -> None:
    again = {"type": "string", "x-mcp-header": "REGION"}
    assert "two properties" in refusal(asking(a=REGION, b=asking(c=again)))


@pytest.mark.parametrize(
    "schema",
    [
        {**asking(), "x-mcp-header": "Root"},
        asking(x={"type": "array", "items": REGION}),
        asking(x={"type": "array", "prefixItems": [REGION]}),
        asking(x={"anyOf": [REGION, {"type": "null"}]}),
        {**asking(), "oneOf": [asking(x=REGION)]},
        {**asking(), "allOf": [asking(x=REGION)]},
        {**asking(), "not": asking(x=REGION)},
        {**asking(), "if": asking(x=REGION)},
        {**asking(), "then": asking(x=REGION)},
        {**asking(), "else": asking(x=REGION)},
        {**asking(x={"$ref": "#/$defs/R"}), "$defs": {"R": REGION}},
        {**asking(), "definitions": {"R": REGION}},
        {**asking(), "additionalProperties": REGION},
        {**asking(), "patternProperties": {"^x": REGION}},
        {**asking(), "dependentSchemas": {"x": asking(y=REGION)}},
        asking(x={**REGION, "contentSchema": REGION}),
        asking(properties={"type": "object", "additionalProperties": REGION}),
    ],
)
def test_an_annotation_where_no_value_can_be_found_is_refused(schema: dict[str, Any]) -> None:
    assert "stands where no value can be found" in refusal(schema)


def test_what_only_looks_like_an_annotation_is_none() -> None:
    schema = asking(
        **{"x-mcp-header": {"type": "string"}},
        a={"type": "object", "default": {"x-mcp-header": "A"}, "examples": [{"x-mcp-header": "A"}]},
        b={"const": {"x-mcp-header": "A"}},
        c={"enum": [{"x-mcp-header": "A"}]},
    )
    assert headers.parameters_of({**schema, "$defs": {"x-mcp-header": {"type": "string"}}}) == {}


def test_a_property_may_be_called_like_a_keyword() -> None:
    assert headers.parameters_of(asking(properties=asking(default=REGION))) == {
        ("properties", "default"): "Region"
    }


def test_a_server_does_not_take_a_tool_whose_annotation_is_wrong() -> None:
    server = Server("probe", version="1")
    with pytest.raises(ValueError, match="its type must be"):

        @server.tool(input_schema=asking(x={"type": "number", "x-mcp-header": "X"}))
        def tool(arguments: dict[str, Any]) -> None: ...

    assert not server.tools
