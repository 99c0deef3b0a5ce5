"""Bad input through the real command: one line that names place, finding and remedy, exit code 2, nothing written."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DRAFT = "https://json-schema.org/draft/2020-12/schema"
PINNED = Path(__file__).parents[1] / "schema/2026-07-28.json"


def command(
    *arguments: str | Path, directory: Path, setup: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mcpcodegen", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=directory,
        preexec_fn=setup,
    )


def refused(done: subprocess.CompletedProcess[str], *said: str) -> None:
    """The command ended with one line of complaint, and with nothing on standard output."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "Traceback" not in done.stderr
    for text in said:
        assert text in done.stderr


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def schema(**definitions: Any) -> bytes:
    return json.dumps({"$schema": DRAFT, "$defs": definitions}).encode()


OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}

FILES: list[tuple[str, bytes, list[str]]] = [
    ("not UTF-8", b'{"$defs": "\xff"}', ["not UTF-8 at byte 11"]),
    ("not JSON", b"{oops", ["#:", "not JSON", "line 1"]),
    ("nothing at all", b"", ["not JSON"]),
    ("an array", b"[]", ["found a JSON array", "schema.json"]),
    ("a text", b'"x"', ["found a JSON string"]),
    ("no definitions", b'{"type": "object"}', ["no definitions under '$defs'"]),
    ("empty definitions", schema(), ["no definitions"]),
    ("a member twice", b'{"$defs": {"A": {"type": "object", "type": "string"}}}', ["'type' stands twice"]),
    ("not a valid schema", schema(A={"type": "objekt"}), ["#/$defs/A/type", "not a valid schema", "objekt"]),
    ("a name that is not there", schema(A={"$ref": "#/$defs/B"}), ["#/$defs/A/$ref", "unresolvable", "#/$defs/B"]),
    ("a reference to the network", schema(A={"$ref": "https://x.example/y"}), ["#/$defs/A/$ref", "https://x.example/y"]),
    ("a reference into a definition", schema(A=OBJECT, B={"$ref": "#/$defs/A/properties/a"}), ["#/$defs/B/$ref"]),
    ("an unknown dialect", b'{"$schema": "http://json-schema.org/draft-04/schema#"}', ["#/$schema", "draft-04"]),
    ("two members of one name", schema(A={"type": "object", "properties": {"a-b": {}, "a_b": {}}}),
     ["#/$defs/A/properties/a_b", "'a-b'", "'a_b'"]),
    ("a member without a name", schema(A={"type": "object", "properties": {"!": {}}}), ["#/$defs/A/properties/!", "'!'"]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "said"), [row[1:] for row in FILES], ids=[row[0] for row in FILES])
def test_a_file_that_is_no_schema_is_refused(data: bytes, said: list[str], tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(data)
    before = tree(tmp_path)
    refused(command("generate", "--schema", "bad.json", "-o", "out", directory=tmp_path), "bad.json", *said)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", ["no-such-file.json", ".", "no/such/folder.json"])
def test_a_file_that_cannot_be_read_is_refused(name: str, tmp_path: Path) -> None:
    refused(command("generate", "--schema", name, "-o", "out", directory=tmp_path), f"{name}: ")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_revision_is_answered_with_the_nearest(tmp_path: Path) -> None:
    done = command("generate", "--revision", "2026-07-29", "-o", "out", directory=tmp_path)
    refused(done, "2026-07-29", "did you mean 2026-07-28?")
    assert list(tmp_path.iterdir()) == []


def test_a_correction_that_matches_nothing_names_file_and_pointer(tmp_path: Path) -> None:
    facts = json.loads(PINNED.read_text())
    facts["$defs"]["JSONValue"]["anyOf"][2]["type"] = ["string"]
    (tmp_path / "altered.json").write_text(json.dumps(facts))
    arguments = ("generate", "--schema", "altered.json", "--revision", "2026-07-28", "-o", "out")
    done = command(*arguments, directory=tmp_path)
    refused(done, "altered.json#/$defs/JSONValue/anyOf/2/type", "matches nothing", '[ "string" ]')
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('outptu = "x"', "outptu"),
        ("output = 5", "output = 5"),
        ("revisions = [", "cannot be read"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(table: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.mcp-codegen]\n{table}\n")
    refused(command("generate", directory=tmp_path), "pyproject.toml", said)


def test_without_a_place_to_write_the_option_is_named(tmp_path: Path) -> None:
    refused(command("generate", directory=tmp_path), "-o DIR")


@pytest.mark.parametrize("name", ["a-b", "class", "a.b", "", "../x"])
def test_a_package_that_cannot_be_imported_is_refused(name: str, tmp_path: Path) -> None:
    refused(command("generate", "--package", name, "-o", "out", directory=tmp_path), "--package", repr(name))
    assert list(tmp_path.iterdir()) == []


def test_a_target_that_is_a_file_or_below_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "small.json").write_bytes(schema(A=OBJECT))
    before = tree(tmp_path)
    for target in ("file", "file/below"):
        refused(command("generate", "--schema", "small.json", "-o", target, directory=tmp_path), "file")
    assert tree(tmp_path) == before


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc, a folder in which nobody can write")
def test_a_target_in_which_nobody_can_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "small.json").write_bytes(schema(A=OBJECT))
    done = command("generate", "--schema", "small.json", "-o", "/proc/self/fd/new", directory=tmp_path)
    refused(done, "cannot write", "-o")


@pytest.fixture
def generated(tmp_path: Path) -> Path:
    """A folder with a generated package in it."""
    source = tmp_path / "small.json"
    source.write_bytes(schema(A=OBJECT))
    done = command("generate", "--schema", source, "-o", tmp_path / "out", directory=tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path / "out"


def test_an_edited_file_is_not_overwritten_unless_asked(generated: Path, tmp_path: Path) -> None:
    file = generated / "mcprotocol/unreleased/types.py"
    file.write_text(file.read_text() + "# mine\n")
    (tmp_path / "small.json").write_bytes(schema(A=OBJECT, B=OBJECT))
    arguments = ("generate", "--schema", "small.json", "-o", "out")
    before = tree(generated)
    refused(command(*arguments, directory=tmp_path), "types.py", "edited", "--force")
    assert tree(generated) == before
    assert command(*arguments, "--force", directory=tmp_path).returncode == 0
    assert "# mine" not in file.read_text()


def test_a_file_that_is_not_generated_is_not_overwritten_unless_asked(
    generated: Path, tmp_path: Path
) -> None:
    shutil.rmtree(generated)
    (generated / "mcprotocol").mkdir(parents=True)
    (generated / "mcprotocol/wire.py").write_text("mine")
    arguments = ("generate", "--schema", "small.json", "-o", "out")
    refused(command(*arguments, directory=tmp_path), "wire.py", "not a generated file", "--force")
    assert tree(generated) == {"mcprotocol/wire.py": b"mine"}


def test_a_disk_that_fills_up_half_way_leaves_the_old_tree_whole(generated: Path, tmp_path: Path) -> None:
    before = tree(generated)

    def full() -> None:
        # A write past this size fails as it does on a full disk; the types of a whole revision are larger.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = command("generate", "--revision", "2026-07-28", "-o", "out", directory=tmp_path, setup=full)
    refused(done, "cannot write", "-o")
    assert tree(generated) == before
    assert sorted(os.listdir(generated)) == ["mcprotocol"]


def test_a_broken_manifest_is_named(generated: Path, tmp_path: Path) -> None:
    (generated / "mcprotocol/emitted.json").write_text("{}")
    refused(command("generate", "--schema", "small.json", "-o", "out", directory=tmp_path), "emitted.json")


def test_a_dry_run_refuses_what_writing_would_refuse(generated: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    arguments = ("generate", "--schema", "small.json", "--dry-run")
    refused(command(*arguments, "-o", "file", directory=tmp_path), "a file in the way")
    (generated / "mcprotocol/wire.py").write_text("edited")
    refused(command(*arguments, "-o", "out", directory=tmp_path), "wire.py", "edited")


@pytest.mark.parametrize("revision", ["../../x", "2026-07-28/x", "latest", ""])
def test_a_revision_is_pinned_under_a_date_and_nothing_else(revision: str, tmp_path: Path) -> None:
    done = command("schema", "add", revision, PINNED, "-o", tmp_path / "schema", directory=tmp_path)
    refused(done, "names no revision")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../escaped", "class", "a-b"])
def test_a_setting_cannot_name_a_package_that_a_flag_could_not(name: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[tool.mcp-codegen]\noutput = "out"\npackage = "{name}"\n')
    refused(command("generate", directory=tmp_path), "pyproject.toml", "cannot be imported")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("arguments", [("-o", ""), ("-o", "out", "--revision", "")])
def test_an_empty_value_is_no_value(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert command("generate", *arguments, directory=tmp_path).returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_an_endless_file_is_not_read_for_ever(tmp_path: Path) -> None:
    refused(
        command("generate", "--schema", "/dev/zero", "-o", "out", directory=tmp_path), "/dev/zero", "bytes"
    )


def test_a_pattern_that_is_no_regular_expression_is_refused(tmp_path: Path) -> None:
    member = {"type": "string", "pattern": "("}
    (tmp_path / "bad.json").write_bytes(schema(A={"type": "object", "properties": {"p": member}}))
    done = command("generate", "--schema", "bad.json", "-o", "out", directory=tmp_path)
    refused(done, "#/$defs/A/properties/p/pattern", "not a regular expression")
