"""Bytes to Document: both dialects become one, and what is no schema is named with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from emitted import DIALECT

from mcpcodegen.errors import SchemaError
from mcpcodegen.load import DRAFT_07, load

TEXT = {"type": "string"}


def document(**root: Any) -> bytes:
    return json.dumps({"$schema": DIALECT, **root}).encode()


def refusal(data: bytes) -> SchemaError:
    with pytest.raises(SchemaError) as caught:
        load(data, source="schema.json")
    return caught.value


@pytest.mark.parametrize(
    ("root", "container"),
    [
        ({"$schema": DIALECT, "$defs": {"A": TEXT, "B": {"$ref": "#/$defs/A"}}}, "$defs"),
        ({"$schema": f"{DRAFT_07}#", "definitions": {"A": TEXT, "B": {"$ref": "#/definitions/A"}}}, "definitions"),
        ({"$schema": DRAFT_07, "definitions": {"A": TEXT, "B": {"$ref": "#/definitions/A"}}}, "definitions"),
        ({"$defs": {"A": TEXT, "B": {"$ref": "#/$defs/A"}}}, "$defs"),
        ({"definitions": {"A": TEXT, "B": {"$ref": "#/definitions/A"}}}, "definitions"),
    ],
    ids=["2020-12", "draft-07", "draft-07 without #", "no dialect, $defs", "no dialect, definitions"],
)  # fmt: skip
def test_both_dialects_become_one(root: dict[str, Any], container: str) -> None:
    read = load(json.dumps(root).encode(), source="schema.json")
    assert read.container == container
    assert read.definitions == {"A": TEXT, "B": {"$ref": "#/$defs/A"}}


def test_a_byte_order_mark_is_no_part_of_the_document() -> None:
    assert load(b"\xef\xbb\xbf" + document(**{"$defs": {"A": TEXT}}), source="s").definitions == {"A": TEXT}


@pytest.mark.parametrize(
    ("name", "reference"),
    [("a/b", "#/$defs/a~1b"), ("a~b", "#/$defs/a~0b"), ("a b", "#/$defs/a%20b"), ("ü", "#/$defs/%C3%BC")],
)
def test_a_reference_is_followed_however_it_is_escaped(name: str, reference: str) -> None:
    read = load(document(**{"$defs": {name: TEXT, "B": {"$ref": reference}}}), source="s")
    assert read.definitions["B"] == {"$ref": "#/$defs/" + name.replace("~", "~0").replace("/", "~1")}


def test_a_member_called_ref_is_no_reference() -> None:
    given = {"type": "object", "properties": {"$ref": TEXT}, "const": {"$ref": "nowhere"}}
    assert load(document(**{"$defs": {"A": given}}), source="s").definitions["A"] == given


def test_boolean_schemas_are_spelled_out() -> None:
    given = {
        "type": "object",
        "properties": {"x": True, "y": {"anyOf": [False]}},
        "additionalProperties": False,
    }
    read = load(document(**{"$defs": {"A": given, "B": {"type": "array", "items": True}}}), source="s")
    assert read.definitions["A"]["properties"] == {"x": {}, "y": {"anyOf": [{"not": {}}]}}
    assert read.definitions["A"]["additionalProperties"] is False
    assert read.definitions["B"]["items"] == {}


def test_the_digest_is_that_of_the_facts() -> None:
    plain = {"A": {"type": "object", "properties": {"description": TEXT}}}
    told = {
        "A": {
            "properties": {"description": {**TEXT, "description": "Words."}},
            "type": "object",
            "$comment": "x",
        }
    }
    other = {"A": {"type": "object", "properties": {"description": {"type": "number"}}}}
    bare: dict[str, Any] = {"A": {"type": "object", "properties": {}}}
    digests = [load(document(**{"$defs": one}), source="s").digest for one in (plain, told, other, bare)]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


def test_every_published_file_is_read_whole(every_schema: Path) -> None:
    data = every_schema.read_bytes()
    raw = json.loads(data)
    read = load(data, source=str(every_schema))
    assert list(read.definitions) == list(raw.get("$defs") or raw["definitions"])


@pytest.mark.parametrize(
    ("data", "pointer", "problem"),
    [
        (b"\xff{}", "", "not UTF-8 at byte 0"),
        (b"{", "", "not JSON"),
        (b"", "", "not JSON"),
        (b'{"a": NaN}', "", "NaN is no JSON number"),
        (b"[]", "", "found a JSON array"),
        (b'"text"', "", "found a JSON string"),
        (b"null", "", "found a JSON null"),
        (b'{"$defs": {"A": {}, "A": {}}}', "", "the member 'A' stands twice"),
        (b"[" * 100_000, "", "nested too deeply"),
        (b'{"$defs": {"A": {"const": "\\ud800"}}}', "/$defs/A/const", "half of a surrogate pair"),
        (b"{}", "", "no definitions"),
        (document(**{"$defs": {}}), "", "no definitions under '$defs'"),
        (document(definitions={"A": TEXT}), "", "no definitions under '$defs'"),
        (b'{"$schema": "http://json-schema.org/draft-04/schema#", "definitions": {"A": {}}}', "/$schema", "unknown dialect"),
        (b'{"$schema": 7, "$defs": {"A": {}}}', "/$schema", "unknown dialect 7"),
        (document(**{"$defs": {"A": {"type": "text"}}}), "/$defs/A/type", "not a valid schema"),
        (document(**{"$defs": {"A": {"properties": {"a/b": {"minLength": -1}}}}}), "/$defs/A/properties/a~1b/minLength", "not a valid"),
        (document(**{"$defs": {"A": True}}), "/$defs/A", "found true, not a schema object"),
        (document(**{"$defs": {"A": {"$ref": "#/$defs/B"}}}), "/$defs/A/$ref", "unresolvable reference '#/$defs/B'"),
        (document(**{"$defs": {"A": {"items": {"$ref": "https://x.test/y"}}}}), "/$defs/A/items/$ref", "unresolvable"),
        (document(**{"$defs": {"A": {"$ref": "#/$defs/A/properties/x"}}}), "/$defs/A/$ref", "unresolvable"),
        (document(**{"$defs": {"A": {"$ref": "#/definitions/A"}}}), "/$defs/A/$ref", "unresolvable"),
    ],
)  # fmt: skip
def test_what_is_no_schema_is_refused_with_its_place(data: bytes, pointer: str, problem: str) -> None:
    error = refusal(data)
    assert problem in error.problem
    assert (error.source, error.pointer) == ("schema.json", pointer)
    assert error.remedy
    assert "\n" not in str(error)
