"""`mcp-codegen schema`: revisions are pinned by what they say, and a file is proved to be one or shown to differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from emitted import DIALECT, ROOT, tree

from mcpcodegen.cli import main
from mcpcodegen.facts import canonical, facts
from mcpcodegen.pinning import differences
from mcpcodegen.revisions import pins

Schema = Callable[..., Result]

ALTERED = "history/2025-11-25-as-released-40f50ed5.json"
"""A released revision that was edited in place afterwards."""


@pytest.fixture
def schema() -> Schema:
    """`mcp-codegen schema ...`, run to its end."""

    def run(*arguments: str | Path) -> Result:
        return CliRunner().invoke(main, ["schema", *map(str, arguments)])

    return run


def file(folder: Path, definitions: Mapping[str, Any], name: str = "schema.json") -> Path:
    path = folder / name
    path.write_text(json.dumps({"$schema": DIALECT, "$defs": definitions}))
    return path


ONE = {"A": {"type": "object", "description": "Prose.", "properties": {"description": {"type": "string"}}}}


def test_list_names_every_revision_the_oldest_first(schema: Schema) -> None:
    done = schema("list")
    assert [line.split()[0] for line in done.stdout.splitlines()] == [pin.revision for pin in pins()]
    assert [row["revision"] for row in json.loads(schema("list", "--json").stdout)] == [
        pin.revision for pin in pins()
    ]
    assert {"2025-11-25", "2026-07-28"} <= {pin.revision for pin in pins()}


def test_show_prints_the_facts(schema: Schema) -> None:
    whole = json.loads(schema("show", "2026-07-28").stdout)
    assert len(whole["$defs"]) == 155
    assert json.loads(schema("show", "2026-07-28", "Role").stdout) == whole["$defs"]["Role"]
    assert json.loads(schema("show", "latest", "Role").stdout) == whole["$defs"]["Role"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("show", "2026-07-27"), "did you mean 2026-07-28?"),
        (("show", "2026-07-28", "Tol"), "did you mean Tool?"),
        (("verify", "2026-07-28", "nowhere.json"), "no such file"),
        (("verify", "1999-01-01", "nowhere.json"), "unknown revision"),
    ],
)
def test_what_is_not_known_is_named_in_one_line(
    arguments: tuple[str, ...], words: str, schema: Schema
) -> None:
    done = schema(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_facts_are_committed_in_their_one_text_and_without_prose() -> None:
    for pin in pins():
        text = (ROOT / "schema" / f"{pin.revision}.json").read_text(encoding="utf-8")
        assert text == canonical(facts(json.loads(text))), pin.revision


def test_add_records_facts_and_a_pin(schema: Schema, tmp_path: Path) -> None:
    out = tmp_path / "schema"
    done = schema(
        "add",
        "2030-01-01",
        file(tmp_path, ONE),
        "-o",
        out,
        "--commit",
        "c0ffee",
        "--path",
        "some/schema.json",
    )
    assert done.exit_code == 0
    assert json.loads((out / "2030-01-01.json").read_text())["$defs"] == {
        "A": {"type": "object", "properties": {"description": {"type": "string"}}}
    }
    (pin,) = pins(out)
    assert (pin.revision, pin.commit, pin.path, pin.definitions) == (
        "2030-01-01",
        "c0ffee",
        "some/schema.json",
        1,
    )


def test_add_keeps_the_other_pins_and_their_order(schema: Schema, tmp_path: Path) -> None:
    out = tmp_path / "schema"
    for revision in ("2030-01-01", "2029-01-01", "2031-01-01"):
        schema("add", revision, file(tmp_path, ONE), "-o", out)
    assert [pin.revision for pin in pins(out)] == ["2029-01-01", "2030-01-01", "2031-01-01"]


def test_add_twice_changes_nothing(schema: Schema, tmp_path: Path) -> None:
    out = tmp_path / "schema"
    schema("add", "2030-01-01", file(tmp_path, ONE), "-o", out)
    before = tree(out)
    assert schema("add", "2030-01-01", file(tmp_path, ONE), "-o", out).exit_code == 0
    assert tree(out) == before


def test_add_takes_new_prose_but_not_new_facts_without_force(schema: Schema, tmp_path: Path) -> None:
    out = tmp_path / "schema"
    schema("add", "2030-01-01", file(tmp_path, ONE), "-o", out)
    told = file(tmp_path, {"A": {**ONE["A"], "description": "Other prose."}}, "told.json")
    other = file(tmp_path, {"A": {"type": "string"}}, "other.json")
    assert schema("add", "2030-01-01", told, "-o", out).exit_code == 0
    before = tree(out)
    refused = schema("add", "2030-01-01", other, "-o", out)
    assert refused.exit_code == 2
    assert "2030-01-01 is pinned to other facts" in refused.stderr
    assert tree(out) == before
    assert schema("add", "2030-01-01", other, "-o", out, "--force").exit_code == 0
    assert tree(out) != before


@pytest.mark.parametrize("data", [b"{", b"{}", b'{"$defs": {"A": {"$ref": "#/$defs/B"}}}'])
def test_add_refuses_what_is_no_schema_and_writes_nothing(
    data: bytes, schema: Schema, tmp_path: Path
) -> None:
    (tmp_path / "bad.json").write_bytes(data)
    done = schema("add", "2030-01-01", tmp_path / "bad.json", "-o", tmp_path / "schema")
    assert done.exit_code == 2
    assert not (tmp_path / "schema").exists()


@pytest.mark.parametrize("revision", [pin.revision for pin in pins()])
def test_a_published_file_is_proved_to_be_the_pinned_one(
    revision: str, schema: Schema, spec_dir: Path
) -> None:
    done = schema("verify", revision, spec_dir / revision / "schema.json")
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"is the pinned {revision}, byte for byte" in done.stdout


def test_a_file_with_other_bytes_and_the_same_facts_is_told_so(schema: Schema, tmp_path: Path) -> None:
    done = schema("verify", "2026-07-28", ROOT / "schema/2026-07-28.json")
    assert done.exit_code == 1
    assert "no definition differs" in done.stdout


def test_a_revision_that_was_edited_in_place_is_refuted_with_the_definitions_that_differ(
    schema: Schema, spec_dir: Path
) -> None:
    done = schema("verify", "2025-11-25", spec_dir / ALTERED)
    assert done.exit_code == 1
    head, *lines = done.stdout.splitlines()
    assert head.endswith("is not the pinned 2025-11-25; 2 definitions differ")
    assert [line.split(":")[0].strip() for line in lines] == ["NumberSchema", "Task"]
    as_json = json.loads(schema("verify", "2025-11-25", spec_dir / ALTERED, "--json").stdout)
    assert (as_json["same_bytes"], as_json["same_facts"]) == (False, False)
    assert set(as_json["differences"]) == {"NumberSchema", "Task"}


def test_one_altered_definition_is_named_with_its_place(schema: Schema, tmp_path: Path) -> None:
    root = json.loads((ROOT / "schema/2026-07-28.json").read_text())
    root["$defs"]["Tool"]["properties"]["name"]["type"] = "integer"
    (tmp_path / "altered.json").write_text(json.dumps(root))
    done = schema("verify", "2026-07-28", tmp_path / "altered.json")
    assert done.stdout.splitlines()[1:] == ["  Tool: /properties/name/type"]


@pytest.mark.parametrize(
    ("ours", "theirs", "found"),
    [
        ({"A": {"type": "string"}}, {"A": {"type": "string"}}, {}),
        ({"A": {}}, {}, {"A": ("",)}),
        ({}, {"A": {}}, {"A": ("",)}),
        ({"A": {"x": {"y/z": 1}}}, {"A": {"x": {"y/z": 2}}}, {"A": ("/x/y~1z",)}),
        ({"A": {"x": 1}}, {"A": {"y": 1}}, {"A": ("/x", "/y")}),
        ({"A": {"enum": [1, 2]}}, {"A": {"enum": [2, 1]}}, {"A": ("/enum",)}),
        ({"A": {"x": 1}}, {"A": {"x": 1.0}}, {"A": ("/x",)}),
        ({"A": {"x": 1}}, {"A": {"x": True}}, {"A": ("/x",)}),
        ({"A": {"default": None}}, {"A": {}}, {"A": ("/default",)}),
    ],
)  # fmt: skip
def test_differences_are_found_where_they_are(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], found: Mapping[str, tuple[str, ...]]
) -> None:
    assert differences(ours, theirs) == found


@pytest.mark.parametrize("damage", [None, b"", b"{oops", b"{}"])
def test_a_file_is_not_measured_against_damaged_facts(
    damage: bytes | None, schema: Schema, tmp_path: Path
) -> None:
    out, given = tmp_path / "schema", file(tmp_path, ONE)
    schema("add", "2030-01-01", given, "-o", out)
    (out / "2030-01-01.json").unlink()
    if damage is not None:
        (out / "2030-01-01.json").write_bytes(damage)
    done = schema("verify", "2030-01-01", given, "--pins", out)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "2030-01-01.json: the facts are not the pinned ones" in done.stderr
    assert schema("add", "2030-01-01", given, "-o", out).exit_code == 0
    assert schema("verify", "2030-01-01", given, "--pins", out).exit_code == 0


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("revisions.toml", '[[revision]]\nrevision = "2030-01-01"\n'),
        ("revisions.toml", "revision = [1]\n"),
        ("revisions.toml", "revision = ["),
        ("corrections.toml", '[[correction]]\nrevisions = ["2030-01-01"]\n'),
        ("corrections.toml", "correction = [1]\n"),
        ("words.toml", "definitions = 1\n"),
        ("words.toml", "[deprecated]\nA = {}\n"),
        ("words.toml", "revision = 1\n"),
        (
            "corrections.toml",
            '[[correction]]\nrevisions = []\npointer = ""\nnow = "{"\nreason = ""\nevidence = ""\n',
        ),
    ],
)
def test_a_table_that_is_damaged_is_one_error_that_names_it(
    table: str, text: str, schema: Schema, tmp_path: Path
) -> None:
    out, given = tmp_path / "schema", file(tmp_path, ONE)
    out.mkdir()
    (out / table).write_text(text)
    done = schema("add", "2030-01-01", given, "-o", out)
    assert (done.exit_code, done.stdout) == (2, "")
    assert table in done.stderr
    assert done.stderr.count("\n") == 1


def test_verify_reports_a_correction_that_the_file_has_adopted(schema: Schema, tmp_path: Path) -> None:
    adopted = json.loads((ROOT / "schema/2026-07-28.json").read_text())
    assert "expired" not in schema("verify", "2026-07-28", ROOT / "schema/2026-07-28.json").stderr
    adopted["$defs"]["JSONValue"]["anyOf"][2]["type"] = ["string", "number", "boolean", "null"]
    done = schema("verify", "2026-07-28", file(tmp_path, adopted["$defs"]))
    assert "the correction at /$defs/JSONValue/anyOf/2/type has expired" in done.stderr
