"""`mcp-codegen schema add`: on the day a revision comes, what is known of the others and still holds comes along."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from addresses import served
from click.testing import CliRunner, Result
from emitted import DIALECT, ROOT, tree

from mcpcodegen import cli_schema, pipeline
from mcpcodegen.adding import nearest
from mcpcodegen.cli import main
from mcpcodegen.correct import correct, expired
from mcpcodegen.load import load
from mcpcodegen.revisions import corrections, pins, words

NEXT = "2027-01-01"
JSON_VALUE = "/$defs/JSONValue/anyOf/2/type"
ELICITED = "/$defs/ElicitResult/properties/content/additionalProperties/anyOf/1/type"
INPUT_REQUIRED = "/$defs/InputRequiredResult/properties/resultType"

Add = Callable[..., Result]
Edit = Callable[[dict[str, Any]], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the schema folder."""
    return Path(shutil.copytree(ROOT / "schema", tmp_path / "schema"))


@pytest.fixture
def add(folder: Path) -> Add:
    """`mcp-codegen schema add` into that copy, run to its end."""

    def run(*arguments: str | Path) -> Result:
        return CliRunner().invoke(main, ["schema", "add", *map(str, arguments), "-o", str(folder)])

    return run


def facts(revision: str = "2026-07-28") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "schema" / f"{revision}.json").read_text())
    return found


def written(folder: Path, root: Mapping[str, Any]) -> Path:
    path = folder.parent / "published.json"
    path.write_text(json.dumps(root))
    return path


def changed(folder: Path, *edits: Edit) -> Path:
    """The newest revision with something changed, as a published file."""
    root = facts()
    for edit in edits:
        edit(root["$defs"])
    return written(folder, root)


def adopts(definitions: dict[str, Any]) -> None:
    definitions["JSONValue"]["anyOf"][2]["type"] = ["string", "number", "boolean", "null"]


def moves(definitions: dict[str, Any]) -> None:
    definitions["InputRequiredResult"]["properties"]["resultType"] = {"type": "string", "minLength": 1}


def renames(definitions: dict[str, Any]) -> None:
    text = json.dumps(definitions).replace('"#/$defs/Annotations"', '"#/$defs/Hints"')
    definitions.clear()
    definitions.update(json.loads(text))
    definitions["Hints"] = definitions.pop("Annotations")


def grows(definitions: dict[str, Any]) -> None:
    definitions["Novelty"] = {"type": "object", "properties": {"fresh": {"type": "string"}, "_meta": {}}}
    definitions["Tool"]["properties"]["novelty"] = {"$ref": "#/$defs/Novelty"}


def rows(folder: Path) -> list[tuple[str, list[str]]]:
    table = tomllib.loads((folder / "corrections.toml").read_text())["correction"]
    return [(row["pointer"], row["revisions"]) for row in table]


def test_corrections_whose_defect_is_still_there_come_along(add: Add, folder: Path) -> None:
    before = (folder / "corrections.toml").read_text()
    done = add(NEXT, changed(folder))
    assert done.exit_code == 0, done.stderr
    expected = before.replace('"2026-07-28"]', f'"2026-07-28", "{NEXT}"]')
    assert (folder / "corrections.toml").read_text() == expected
    assert expected.count(NEXT) == 3
    for pointer in (JSON_VALUE, ELICITED, INPUT_REQUIRED):
        assert f"the correction at {pointer} was found to hold for {NEXT}\n" in done.stderr


def test_what_upstream_has_adopted_is_told_and_what_fits_neither_needs_a_look(add: Add, folder: Path) -> None:
    done = add(NEXT, changed(folder, adopts, moves))
    assert done.exit_code == 0, done.stderr
    assert [found for found in rows(folder) if NEXT in found[1]] == [
        (ELICITED, ["2025-11-25", "2026-07-28", NEXT])
    ]
    assert f"the correction at {JSON_VALUE} is dropped for {NEXT}: the file says so itself\n" in done.stderr
    assert f"the correction at {INPUT_REQUIRED} fits {NEXT} neither as `was` nor as `now`" in done.stderr
    assert "2025-06-18" not in done.stderr, "the rows of revisions long past are nobody's concern"


def test_a_revision_that_is_pinned_anew_loses_the_rows_that_it_has_adopted(add: Add, folder: Path) -> None:
    def adopts_both(definitions: dict[str, Any]) -> None:
        adopts(definitions)
        answers = definitions["ElicitResult"]["properties"]["content"]["additionalProperties"]["anyOf"]
        answers[1]["type"] = ["string", "number", "boolean"]
        grows(definitions)

    file = changed(folder, adopts_both)
    assert add("2026-07-28", file).exit_code == 2
    done = add("2026-07-28", file, "--force")
    assert done.exit_code == 0, done.stderr
    assert (JSON_VALUE, ["2026-07-28"]) not in rows(folder)
    assert (ELICITED, ["2025-11-25"]) in rows(folder)
    assert (INPUT_REQUIRED, ["2026-07-28"]) in rows(folder)
    assert len(rows(folder)) == 3
    assert "2026-07-28 as it was pinned -> 2026-07-28\n" in done.stderr


def test_the_table_that_is_written_holds_for_the_revision_that_came(add: Add, folder: Path) -> None:
    assert add(NEXT, changed(folder, adopts)).exit_code == 0
    document = pipeline.load_pinned(NEXT, folder)
    own = [row for row in corrections(folder) if NEXT in row.revisions]
    assert expired(document, own) == []
    assert expired(correct(document, own), own) == own


def test_the_difference_to_the_nearest_revision_is_shown(add: Add, folder: Path) -> None:
    file = changed(folder, grows)
    done = add(NEXT, file)
    assert f"\n2026-07-28 -> {NEXT}\n" in done.stderr
    assert "Members                         1              0              0              1" in done.stderr
    assert f"every change: mcp-codegen diff 2026-07-28 {file}\n" in done.stderr
    found = json.loads(add(NEXT, file, "--json", "--dry-run").stdout)
    assert found["difference"]["old"] == NEXT, "what is pinned already is compared with its pin"


@pytest.mark.parametrize("revision", [pin.revision for pin in pins()])
def test_the_nearest_revision_is_the_one_that_differs_in_the_fewest_definitions(
    revision: str, folder: Path
) -> None:
    root = facts(revision)
    root["$defs" if "$defs" in root else "definitions"]["Novelty"] = {"type": "string"}
    document = load(json.dumps(root).encode(), source="new", revision=NEXT)
    assert nearest(document, folder) == revision


def test_words_come_along_and_what_has_none_is_printed_to_be_filled_in(add: Add, folder: Path) -> None:
    before = (folder / "words.toml").read_bytes()
    done = add(NEXT, changed(folder, grows))
    assert (
        done.stdout == '[definitions]\nNovelty = ""\n\n[members]\n"Novelty.fresh" = ""\n"Tool.novelty" = ""\n'
    )
    assert "without words: 1 definition and 2 members" in done.stderr
    assert (folder / "words.toml").read_bytes() == before


def test_nothing_is_printed_once_the_words_are_there(add: Add, folder: Path) -> None:
    file = changed(folder, grows)
    skeleton = tomllib.loads(add(NEXT, file).stdout)
    text = (folder / "words.toml").read_text()
    for table, names in skeleton.items():
        filled = "".join(f'{json.dumps(name)} = "Words."\n' for name in names)
        text = text.replace(f"\n[{table}]\n", f"\n[{table}]\n{filled}", 1)
    (folder / "words.toml").write_text(text)
    done = add(NEXT, file)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "without words" not in done.stderr


def test_a_definition_that_has_only_another_name_takes_its_words_along(add: Add, folder: Path) -> None:
    done = add(NEXT, changed(folder, renames))
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    assert "Annotations is called Hints now; its words were copied: read them again\n" in done.stderr
    old, new = words("2026-07-28", folder), words(NEXT, folder)
    assert new.definition("Hints") == old.definition("Annotations") != ""
    assert new.member("Hints", "priority") == old.member("Annotations", "priority") != ""
    ours, theirs = ((place / "words.toml").read_text().splitlines() for place in (ROOT / "schema", folder))
    assert [line for line in theirs if line not in ours] == [
        line.replace("Annotations", "Hints") for line in ours if line.lstrip('"').startswith("Annotations")
    ]
    assert [line for line in theirs if line in ours] == ours


def test_a_member_that_has_only_another_name_takes_its_words_along(add: Add, folder: Path) -> None:
    def renames_a_member(definitions: dict[str, Any]) -> None:
        members = definitions["Annotations"]["properties"]
        members["lastModifiedAt"] = members.pop("lastModified")

    done = add(NEXT, changed(folder, renames_a_member))
    assert done.stdout == ""
    assert words(NEXT, folder).member("Annotations", "lastModifiedAt") == words("2026-07-28").member(
        "Annotations", "lastModified"
    )


def test_a_dry_run_says_it_all_and_writes_nothing(add: Add, folder: Path) -> None:
    file, before = changed(folder, adopts, renames, grows), tree(folder)
    told = add(NEXT, file, "--dry-run")
    assert told.exit_code == 0
    assert (
        f"would write {NEXT}.json, {NEXT}.sums.json, corrections.toml, revisions.toml, words.toml in"
        in told.stderr
    )
    assert tree(folder) == before
    done = add(NEXT, file)
    assert done.stderr == told.stderr.replace("would write", "wrote")
    assert done.stdout == told.stdout
    assert tree(folder) != before


def test_the_outcome_as_json_is_all_of_it(add: Add, folder: Path) -> None:
    found = json.loads(add(NEXT, changed(folder, adopts, moves, renames, grows), "--json").stdout)
    assert found["revision"] == NEXT
    assert (found["difference"]["old"], found["difference"]["new"]) == ("2026-07-28", NEXT)
    assert {change["kind"] for change in found["difference"]["changes"]} >= {
        "definition-added",
        "definition-renamed",
        "member-added",
    }
    assert found["corrections"] == {
        "carried": [ELICITED],
        "adopted": [JSON_VALUE],
        "unclear": [INPUT_REQUIRED],
    }
    assert found["words"] == {
        "copied": {"Annotations": "Hints"},
        "wanting": {"definitions": ["Novelty"], "members": ["Novelty.fresh", "Tool.novelty"]},
    }
    assert found["files"]["created"] == [f"{NEXT}.json", f"{NEXT}.sums.json"]


def test_quiet_is_quiet(add: Add, folder: Path) -> None:
    done = add(NEXT, changed(folder, grows), "-q")
    assert (done.exit_code, done.output) == (0, "")


def test_again_there_is_nothing_to_write(add: Add, folder: Path) -> None:
    file = changed(folder, grows, renames)
    assert add(NEXT, file).exit_code == 0
    before = tree(folder)
    done = add(NEXT, file)
    assert "nothing to write" in done.stderr
    assert "->" not in done.stderr
    assert tree(folder) == before


def test_a_table_that_cannot_be_edited_stops_everything(add: Add, folder: Path) -> None:
    table = folder / "corrections.toml"
    table.write_text(table.read_text().replace("revisions =", '"revisions" ='))
    before = tree(folder)
    done = add(NEXT, changed(folder))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "corrections.toml: is laid out in a way that cannot be edited" in done.stderr
    assert tree(folder) == before


def test_a_revision_that_the_generator_cannot_read_is_not_pinned(add: Add, folder: Path) -> None:
    before = tree(folder)
    clash: dict[str, Any] = {"type": "object", "properties": {"a-b": {}, "a_b": {}}}
    done = add(NEXT, written(folder, {"$schema": DIALECT, "$defs": {"A": clash}}))
    assert done.exit_code == 2
    assert "#/$defs/A/properties/a_b" in done.stderr
    assert tree(folder) == before


def test_an_address_is_pinned_with_the_commit_that_it_names(add: Add, folder: Path) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    path = f"/owner/name/{commit}/schema/{NEXT}/schema.json"
    with served({path: changed(folder).read_bytes()}) as base:
        done = add(NEXT, base + path)
    assert done.exit_code == 0, done.stderr
    (made,) = [pin for pin in pins(folder) if pin.revision == NEXT]
    assert (made.commit, made.path) == (commit, f"schema/{NEXT}/schema.json")


def test_without_a_file_the_published_one_is_fetched(
    add: Add, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served({f"/main/schema/{NEXT}/schema.json": changed(folder).read_bytes()}) as base:
        monkeypatch.setattr(cli_schema, "SPECIFICATION", f"{base}/main")
        done = add(NEXT)
        missing = add("2027-01-02")
    assert done.exit_code == 0, done.stderr
    assert NEXT in [pin.revision for pin in pins(folder)]
    assert missing.exit_code == 2
    assert f"{base}/main/schema/2027-01-02/schema.json: nothing is there" in missing.stderr


def test_what_is_known_of_where_a_file_was_published_stays(add: Add, folder: Path, spec_dir: Path) -> None:
    before = tree(folder)
    done = add("2025-11-25", spec_dir / "2025-11-25/schema.json")
    assert done.exit_code == 0
    assert tree(folder) == before


def test_a_revision_that_is_pinned_anew_in_other_words_names_them(
    add: Add, folder: Path, spec_dir: Path
) -> None:
    draft, released = (
        spec_dir / "history" / name
        for name in ("draft-2025-11-25-14043ad9.json", "2025-11-25-as-released-40f50ed5.json")
    )
    ours, theirs = (json.loads(file.read_text())["$defs"] for file in (released, draft))
    assert add("2025-11-25", released, "--force").exit_code == 0
    found = json.loads(add("2025-11-25", draft, "--json", "--dry-run").stdout)
    assert found["prose"] == [name for name in sorted(ours) if ours[name] != theirs[name]]
    assert len(found["prose"]) == 53
    assert found["difference"]["changes"] == []
    assert "in prose alone, other than it was pinned: AudioContent, " in add("2025-11-25", draft).stderr
    assert json.loads(add("2025-11-25", draft, "--json").stdout)["prose"] == []


@pytest.mark.parametrize("damage", [None, b"", b"{oops", b"{}"])
def test_facts_that_were_damaged_are_pinned_anew(
    damage: bytes | None, add: Add, folder: Path, spec_dir: Path
) -> None:
    before = tree(folder)
    for revision in ("2025-11-25", "2026-07-28"):
        (folder / f"{revision}.json").unlink()
        if damage is not None:
            (folder / f"{revision}.json").write_bytes(damage)
    for revision in ("2025-11-25", "2026-07-28"):
        done = add(revision, spec_dir / revision / "schema.json")
        assert done.exit_code == 0, done.stderr
    assert tree(folder) == before


def test_no_date_is_no_revision_and_nothing_is_asked_for(add: Add, folder: Path) -> None:
    done = add("../../elsewhere")
    assert done.exit_code == 2
    assert "names no revision" in done.stderr
