"""The same input gives the same bytes, on any machine, in any place, at any date."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("--distribution", "--revision", "2025-11-25", "--revision", "2026-07-28")
"""What [tool.mcp-codegen] of this project says, as options."""


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


def test_seed_zone_locale_and_place_do_not_matter_and_a_deleted_package_comes_back(tmp_path: Path) -> None:
    machines = [
        {
            "PYTHONHASHSEED": "1",
            "TZ": "Pacific/Auckland",
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
        },
        {"PYTHONHASHSEED": "4242", "TZ": "America/Lima", "LC_ALL": "C.UTF-8", "LANG": "tr_TR.UTF-8"},
    ]
    for number, machine in enumerate(machines):
        place = tmp_path / f"place {number}"
        place.mkdir()
        done = command("generate", "-o", "out", *OURS, directory=place, **machine)
        assert done.returncode == 0, done.stderr
    committed = {path: data for path, data in tree(ROOT / "generated").items() if ".egg-info" not in path}
    first, second = (tree(tmp_path / f"place {number}/out") for number in range(len(machines)))
    assert len(first) > 20
    assert first == second
    assert first == committed


def test_the_committed_package_is_current() -> None:
    done = command("check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[str | Path, ...]:
    """The arguments that generate, or check, a small package which has been generated."""
    folder = tmp_path_factory.mktemp("small")
    schema = folder / "small.json"
    schema.write_text('{"$defs": {"A": {"type": "object", "properties": {"a": {"type": "string"}}}}}')
    arguments = ("--schema", schema, "-o", folder / "out")
    assert command("generate", *arguments).returncode == 0
    assert command("check", *arguments).returncode == 0
    return arguments


@pytest.mark.parametrize(
    "path", ["mcprotocol/unreleased/types.py", "mcprotocol/wire.py", "mcprotocol/emitted.json"]
)
def test_one_changed_byte_is_shown_as_a_unified_diff(path: str, small: tuple[str | Path, ...]) -> None:
    file = Path(small[-1]) / path
    data = file.read_bytes()
    file.write_bytes(data.replace(b"e", b"E", 1))
    done = command("check", *small)
    file.write_bytes(data)
    assert done.returncode == 1
    assert f"--- a/{path}\n+++ b/{path}\n@@ " in done.stdout
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("path", ["mcprotocol/wire.py", "mcprotocol/py.typed"])
def test_a_missing_file_is_shown_and_comes_back(path: str, small: tuple[str | Path, ...]) -> None:
    before = tree(Path(small[-1]))
    (Path(small[-1]) / path).unlink()
    done = command("check", *small)
    assert done.returncode == 1
    assert f"--- /dev/null\n+++ b/{path}\n" in done.stdout
    assert command("generate", *small).returncode == 0
    assert tree(Path(small[-1])) == before


def test_one_revision_takes_the_place_of_another(tmp_path: Path) -> None:
    for revision in ("2024-11-05", "2025-03-26"):
        done = command("generate", "--revision", revision, "-o", tmp_path)
        assert done.returncode == 0, done.stderr
    assert not (tmp_path / "mcprotocol/v2024_11_05").exists()
    assert command("check", "--revision", "2025-03-26", "-o", tmp_path).returncode == 0
