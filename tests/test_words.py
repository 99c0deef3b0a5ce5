"""Our own documentation: a sentence for every definition and member, and none for what does not exist."""

from __future__ import annotations

import ast
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mcpcodegen import pipeline
from mcpcodegen.ir import Spec
from mcpcodegen.lower import lower
from mcpcodegen.resources import folder
from mcpcodegen.revisions import words

REVISIONS = ("2025-11-25", "2026-07-28")
RUN = 8
"""Words in a row that ours and the specification's sentences may not share."""


def spec_of(revision: str) -> Spec:
    return lower(pipeline.read(revision=revision), words(revision))


SPECS = {revision: spec_of(revision) for revision in REVISIONS}


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_definition_and_every_member_has_words(revision: str) -> None:
    spec = SPECS[revision]
    bare = [d.name for d in spec.definitions if not d.doc]
    bare += [f"{d.name}.{m.wire}" for d in spec.definitions for m in d.members if not m.doc]
    assert bare == []


def test_no_row_documents_what_does_not_exist() -> None:
    names = {d.name for spec in SPECS.values() for d in spec.definitions}
    members = {f"{d.name}.{m.wire}" for spec in SPECS.values() for d in spec.definitions for m in d.members}
    wires = {m.wire for spec in SPECS.values() for d in spec.definitions for m in d.members}
    for revision in REVISIONS:
        rows = words(revision)
        assert set(rows.definitions) <= names
        assert set(rows.members) <= members
        assert set(rows.anywhere) <= wires
        assert set(rows.deprecated) <= names | members


def strangers(revision: str, rows: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The rows of a revision's own tables for what this very revision has not."""
    definitions = SPECS[revision].definitions
    known = {
        "definitions": {d.name for d in definitions},
        "members": {f"{d.name}.{m.wire}" for d in definitions for m in d.members},
        "anywhere": {m.wire for d in definitions for m in d.members},
    }
    return {row for table, own in rows.items() for row in set(own) - known[table]}


def test_a_row_of_a_revision_documents_what_that_revision_has() -> None:
    own = tomllib.loads((folder("schema") / "words.toml").read_text())["revision"]
    assert set(own) <= set(REVISIONS)
    assert [row for revision, rows in own.items() for row in strangers(revision, rows)] == []


@pytest.mark.parametrize(
    ("revision", "table", "row"),
    [
        ("2025-11-25", "definitions", "DiscoverResult"),
        ("2025-11-25", "members", "DiscoverResult.supportedVersions"),
        ("2025-11-25", "anywhere", "resultType"),
        ("2026-07-28", "definitions", "InitializeResult"),
        ("2026-07-28", "members", "InitializeResult.serverInfo"),
        ("2026-07-28", "anywhere", "taskId"),
    ],
)
def test_a_row_for_what_only_the_other_revision_has_is_a_stranger(
    revision: str, table: str, row: str
) -> None:
    (other,) = set(REVISIONS) - {revision}
    assert strangers(revision, {table: {row: "words"}}) == {row}
    assert strangers(other, {table: {row: "words"}}) == set()


@pytest.mark.parametrize("revision", REVISIONS)
def test_words_are_whole_sentences_of_a_readable_length(revision: str) -> None:
    rows = words(revision)
    for text in (*rows.definitions.values(), *rows.members.values(), *rows.anywhere.values()):
        assert re.fullmatch(r"[A-Z`\"'].*[.)]", text), text
        assert 20 <= len(text) <= 260, text


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_words_stand_in_the_generated_types(revision: str) -> None:
    module = "v" + revision.replace("-", "_")
    source = Path(__file__).parents[1] / "generated/mcprotocol" / module / "types.py"
    classes = {n.name: n for n in ast.parse(source.read_text()).body if isinstance(n, ast.ClassDef)}
    for definition in SPECS[revision].definitions:
        if definition.name in classes:
            docstring = ast.get_docstring(classes[definition.name]) or ""
            assert definition.doc.split()[:6] == docstring.split()[:6]


def test_what_is_deprecated_is_marked_with_its_revision_and_its_successor() -> None:
    modern = {d.name: d.deprecated for d in SPECS["2026-07-28"].definitions}
    assert "2026-07-28" in modern["Root"] and "instead" in modern["Root"]
    assert modern["Tool"] == ""
    legacy = {d.name: d.deprecated for d in SPECS["2025-11-25"].definitions}
    assert legacy["Root"] == "", "what a later revision deprecates is in order in this one"


def test_a_row_of_a_revision_wins_for_members_of_one_name_too() -> None:
    older, newer = (words(revision).member("CallToolRequest", "id") for revision in REVISIONS)
    assert "once in a session" in older
    assert "open requests" in newer
    assert words("2025-11-25").member("ToolUseContent", "id") == words("2026-07-28").member(
        "ToolUseContent", "id"
    )


def published_sentences(spec_dir: Path) -> Iterator[str]:
    def walk(node: Any) -> Iterator[str]:
        inside: list[tuple[object, Any]] = []
        if isinstance(node, dict):
            inside = [*node.items()]
        elif isinstance(node, list):
            items: list[Any] = [*node]
            inside = [*enumerate(items)]
        for key, value in inside:
            if key == "description" and isinstance(value, str):
                yield value
            yield from walk(value)

    for file in sorted(spec_dir.glob("*/schema.json")):
        yield from walk(json.loads(file.read_text()))


def runs(text: str) -> set[tuple[str, ...]]:
    found = re.findall(r"[a-z0-9']+", text.lower())
    return {tuple(found[i : i + RUN]) for i in range(len(found) - RUN + 1)}


@pytest.mark.skipif(
    "MCP_SPEC_DIR" not in os.environ, reason="MCP_SPEC_DIR names no folder of published files"
)
def test_our_words_are_our_own() -> None:
    theirs = {run for text in published_sentences(Path(os.environ["MCP_SPEC_DIR"])) for run in runs(text)}
    for revision in REVISIONS:
        rows = words(revision)
        for text in (*rows.definitions.values(), *rows.members.values(), *rows.anywhere.values()):
            assert not runs(text) & theirs, text
