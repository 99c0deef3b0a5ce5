"""Bundle x folder: what is ours may be replaced, what is not is left alone, and a write happens whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import pytest
from emitted import tree

from mcpcodegen import sync
from mcpcodegen.errors import OutputError
from mcpcodegen.ir import Bundle
from mcpcodegen.swap import swap
from mcpcodegen.sync import Plan

RECORD = "pkg/emitted.json"

FILES = {"pkg/a.py": "a = 1\n", "pkg/deep/b.py": "b = 1\n"}


def bundle(files: Mapping[str, str] = FILES) -> Bundle:
    """Files with their manifest."""
    return {**files, RECORD: sync.manifest(dict(files), {"generator": "test"})}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder into which FILES were emitted."""
    sync.write(bundle(), tmp_path / "out", RECORD)
    return tmp_path / "out"


def kinds(plan: Plan) -> dict[str, tuple[str, ...]]:
    """What a plan says, without what it does not say, and without the manifest."""
    named = {kind: tuple(path for path in paths if path != RECORD) for kind, paths in asdict(plan).items()}
    return {kind: paths for kind, paths in named.items() if paths}


def refusal(files: Mapping[str, str], folder: Path) -> OutputError:
    before = tree(folder)
    with pytest.raises(OutputError) as caught:
        sync.write(bundle(files), folder, RECORD)
    assert tree(folder) == before
    return caught.value


def leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob(".mcp-codegen-*"))


def test_a_bundle_is_written_whole(folder: Path) -> None:
    assert tree(folder) == {path: text.encode() for path, text in bundle().items()}
    assert leftovers(folder) == []


def test_writing_again_does_nothing(folder: Path) -> None:
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    done = sync.write(bundle(), folder, RECORD)
    assert done.quiet
    assert kinds(done) == {"kept": ("pkg/a.py", "pkg/deep/b.py")}
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == times


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({**FILES, "pkg/c.py": ""}, {"created": ("pkg/c.py",), "kept": ("pkg/a.py", "pkg/deep/b.py")}),
        ({**FILES, "pkg/a.py": "a = 2\n"}, {"changed": ("pkg/a.py",), "kept": ("pkg/deep/b.py",)}),
        ({"pkg/a.py": "a = 1\n"}, {"removed": ("pkg/deep/b.py",), "kept": ("pkg/a.py",)}),
        (
            {"pkg/deep/b.py": "b = 2\n", "pkg/deep/c.py": ""},
            {"created": ("pkg/deep/c.py",), "changed": ("pkg/deep/b.py",), "removed": ("pkg/a.py",)},
        ),
    ],
    ids=["created", "changed", "removed", "all three"],
)  # fmt: skip
def test_a_plan_tells_what_writing_does(
    files: dict[str, str], said: dict[str, tuple[str, ...]], folder: Path
) -> None:
    before = tree(folder)
    planned = sync.plan(bundle(files), folder, RECORD)
    assert tree(folder) == before
    assert kinds(planned) == said
    assert sync.write(bundle(files), folder, RECORD) == planned
    assert tree(folder) == {path: text.encode() for path, text in bundle(files).items()}


def test_a_folder_that_became_empty_is_removed_with_its_bytecode(folder: Path) -> None:
    (folder / "pkg/deep/__pycache__").mkdir()
    (folder / "pkg/deep/__pycache__/b.pyc").write_bytes(b"")
    sync.write(bundle({"pkg/a.py": "a = 1\n"}), folder, RECORD)
    assert not (folder / "pkg/deep").exists()


def test_a_file_of_the_user_survives(folder: Path) -> None:
    (folder / "pkg/deep/mine.py").write_text("mine = 1\n")
    (folder / "notes.txt").write_text("notes")
    done = sync.write(bundle({"pkg/a.py": "a = 2\n"}), folder, RECORD)
    assert done.strangers == ("pkg/deep/mine.py",)
    assert (folder / "pkg/deep/mine.py").read_text() == "mine = 1\n"
    assert (folder / "notes.txt").read_text() == "notes"
    assert not (folder / "pkg/deep/b.py").exists()


def test_a_file_edited_since_is_not_replaced(folder: Path) -> None:
    (folder / "pkg/a.py").write_text("a = 3  # by hand\n")
    error = refusal({**FILES, "pkg/a.py": "a = 2\n"}, folder)
    assert "edited since it was generated" in error.problem
    assert error.source == str(folder / "pkg/a.py")
    assert "--force" in error.remedy


def test_a_file_edited_since_is_not_removed(folder: Path) -> None:
    (folder / "pkg/deep/b.py").write_text("b = 3  # by hand\n")
    error = refusal({"pkg/a.py": "a = 1\n"}, folder)
    assert error.source == str(folder / "pkg/deep/b.py")


def test_a_foreign_file_is_not_replaced(folder: Path) -> None:
    (folder / "pkg/c.py").write_text("c = 'mine'\n")
    error = refusal({**FILES, "pkg/c.py": ""}, folder)
    assert "not a generated file" in error.problem
    assert error.source == str(folder / "pkg/c.py")


def test_a_refusal_names_what_else_stands_in_the_way(folder: Path) -> None:
    (folder / "pkg/a.py").write_text("x")
    (folder / "pkg/deep/b.py").write_text("x")
    assert "(and pkg/deep/b.py)" in refusal(FILES, folder).problem


def test_force_replaces_what_was_edited_and_what_is_foreign(folder: Path) -> None:
    (folder / "pkg/a.py").write_text("x")
    (folder / "pkg/c.py").write_text("x")
    done = sync.write(bundle({**FILES, "pkg/c.py": ""}), folder, RECORD, force=True)
    assert (done.edited, done.foreign) == (("pkg/a.py",), ("pkg/c.py",))
    assert tree(folder) == {path: text.encode() for path, text in bundle({**FILES, "pkg/c.py": ""}).items()}


def test_an_edit_that_says_what_would_be_written_is_no_edit(folder: Path) -> None:
    (folder / "pkg/a.py").write_text("a = 2\n")
    sync.write(bundle({**FILES, "pkg/a.py": "a = 2\n"}), folder, RECORD)
    assert sync.plan(bundle({**FILES, "pkg/a.py": "a = 2\n"}), folder, RECORD).quiet


def test_without_a_manifest_nothing_is_known_to_be_ours(folder: Path) -> None:
    done = sync.plan({"pkg/a.py": "a = 2\n"}, folder, "")
    assert kinds(done) == {"changed": ("pkg/a.py",), "foreign": ("pkg/a.py",)}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": 3}', '{"files": ["pkg/a.py"]}', "\u00ff"])
def test_a_manifest_that_is_none_stops_the_run(text: str, folder: Path) -> None:
    (folder / RECORD).write_bytes(text.encode("latin-1"))
    error = refusal(FILES, folder)
    assert "not a manifest" in error.problem
    assert error.source == str(folder / RECORD)


def test_a_manifest_cannot_have_a_file_outside_removed(folder: Path) -> None:
    outside = folder.parent / "precious.txt"
    outside.write_text("precious")
    known = json.loads((folder / RECORD).read_text())
    digest = json.loads(sync.manifest({"x": "precious"}, {}))["files"]["x"]
    known["files"] |= {"../precious.txt": digest, str(outside): digest}
    (folder / RECORD).write_text(json.dumps(known))
    sync.write(bundle(), folder, RECORD, force=True)
    assert outside.read_text() == "precious"


@pytest.mark.parametrize(
    "blocked", ["pkg/a.py", "pkg/deep"], ids=["a folder for a file", "a file for a folder"]
)
def test_what_stands_in_the_way_leaves_the_tree_as_it_was(blocked: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    if blocked.endswith(".py"):
        (out / blocked).mkdir(parents=True)
        (out / blocked / "inside.txt").write_text("x")
    else:
        (out / "pkg").mkdir(parents=True)
        (out / blocked).write_text("x")
    before = tree(out)
    with pytest.raises(OutputError):
        sync.write(bundle(), out, RECORD)
    assert tree(out) == before
    assert leftovers(out) == []


def test_a_folder_that_cannot_be_made_leaves_none_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError) as caught:
        sync.write(bundle(), tmp_path / "file/new/out", RECORD)
    assert str(tmp_path / "file") in caught.value.source
    assert tree(tmp_path) == {"file": b"x"}


def test_a_failure_while_files_are_moved_in_takes_back_those_that_were(folder: Path) -> None:
    # The last file to be created would lie below a file of the user's.
    (folder / "pkg/z").write_text("mine")
    before, places = tree(folder), sorted(folder.rglob("*"))
    files = {"pkg/a.py": "a = 2\n", "pkg/b.py": "", "pkg/new/c.py": "", "pkg/z/d.py": ""}
    with pytest.raises(OutputError) as caught:
        sync.write(bundle(files), folder, RECORD)
    assert caught.value.source == str(folder / "pkg/z")
    assert tree(folder) == before
    assert sorted(folder.rglob("*")) == places


def test_a_difference_is_a_unified_diff(folder: Path) -> None:
    changed = {"pkg/a.py": "a = 2\n", "pkg/c.py": "c = 1"}
    assert sync.diff(bundle(), folder, RECORD) == ""
    shown = sync.diff(bundle(changed), folder, RECORD)
    assert "--- a/pkg/a.py\n+++ b/pkg/a.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n" in shown
    assert "--- a/pkg/deep/b.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-b = 1\n" in shown
    assert "+c = 1\n\\ No newline at end of file\n" in shown


def test_a_folder_that_is_not_there_differs_by_every_file(tmp_path: Path) -> None:
    shown = sync.diff(FILES, tmp_path / "nowhere", "")
    assert shown.count("--- /dev/null\n+++ b/") == len(FILES)
    assert not (tmp_path / "nowhere").exists()


def test_an_empty_file_that_comes_or_goes_is_a_difference(tmp_path: Path) -> None:
    assert sync.diff({"py.typed": ""}, tmp_path, "") == "--- /dev/null\n+++ b/py.typed\n"
    sync.write(bundle({**FILES, "py.typed": ""}), tmp_path, RECORD)
    assert "--- a/py.typed\n+++ /dev/null\n" in sync.diff(bundle(), tmp_path, RECORD)


def test_a_difference_splits_lines_at_line_ends_alone(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes("x = 1\r\ny = '\u2028\x0c'\n\xff".encode("latin-1", "backslashreplace"))
    shown = sync.diff({"a.py": "x = 1\ny = 2\n"}, tmp_path, "")
    assert [line[0] for line in shown.split("\n")[2:-1]] == ["@", "-", "-", "-", "\\", "+", "+"]
    assert "\\xff" in shown


def test_a_manifest_does_not_depend_on_the_order_of_the_files() -> None:
    assert sync.manifest(FILES, {"x": 1}) == sync.manifest(dict(reversed(FILES.items())), {"x": 1})


def test_a_swap_that_fails_half_way_puts_back_what_it_had_changed(tmp_path: Path) -> None:
    folder, stage = tmp_path / "out", tmp_path / "stage"
    for place, text in ((folder / "a.py", "old"), (folder / "x", "a file"), (stage / "new/a.py", "new")):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    with pytest.raises(OSError):
        swap({"a.py": b"new", "x/y.py": b""}, (), stage, folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"a.py": "old", "x": "a file"}
