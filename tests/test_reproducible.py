"""The same input gives the same bytes, on any machine, in any place, at any date."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def command(
    *arguments: str | Path, directory: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mcpcodegen", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=directory,
        env={**os.environ, **environment},
    )


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_seed_zone_locale_and_place_do_not_matter(tmp_path: Path) -> None:
    places = [
        {"PYTHONHASHSEED": "1", "TZ": "Pacific/Auckland", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "4242", "TZ": "America/Lima", "LC_ALL": "C.UTF-8", "LANG": "tr_TR.UTF-8"},
    ]
    for number, environment in enumerate(places):
        place = tmp_path / f"place {number}"
        place.mkdir()
        done = command("generate", "-o", "out", "--revision", "2026-07-28", directory=place, **environment)
        assert done.returncode == 0, done.stderr
    first, second = (tree(tmp_path / f"place {number}") for number in range(2))
    assert first == second and len(first) > 20


def test_the_committed_package_is_current() -> None:
    done = command("check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_deleted_package_comes_back_byte_for_byte(tmp_path: Path) -> None:
    arguments = ("-o", tmp_path, "--distribution", "--revision", "2025-11-25", "--revision", "2026-07-28")
    assert command("generate", *arguments).returncode == 0
    assert tree(tmp_path) == {
        path: data for path, data in tree(ROOT / "generated").items() if ".egg-info" not in path
    }


@pytest.mark.parametrize(
    "path", ["mcprotocol/unreleased/types.py", "mcprotocol/wire.py", "mcprotocol/emitted.json"]
)
def test_one_changed_byte_is_shown_as_a_unified_diff(path: str, tmp_path: Path) -> None:
    schema = tmp_path / "small.json"
    schema.write_text('{"$defs": {"A": {"type": "object", "properties": {"a": {"type": "string"}}}}}')
    arguments = ("--schema", schema, "-o", tmp_path / "out")
    assert command("generate", *arguments).returncode == 0
    assert command("check", *arguments).returncode == 0
    file = tmp_path / "out" / path
    data = file.read_bytes()
    file.write_bytes(data.replace(b"e", b"E", 1))
    done = command("check", *arguments)
    assert done.returncode == 1
    assert f"--- a/{path}\n+++ b/{path}\n@@ " in done.stdout
    file.write_bytes(data)
    assert command("check", *arguments).returncode == 0


def test_a_missing_and_a_stale_file_are_shown(tmp_path: Path) -> None:
    schema = tmp_path / "small.json"
    schema.write_text('{"$defs": {"A": {"type": "object", "properties": {"a": {"type": "string"}}}}}')
    arguments = ("--schema", schema, "-o", tmp_path / "out")
    command("generate", *arguments)
    (tmp_path / "out/mcprotocol/wire.py").unlink()
    done = command("check", *arguments)
    assert done.returncode == 1 and "+++ b/mcprotocol/wire.py" in done.stdout
