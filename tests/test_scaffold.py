"""`mcp-codegen scaffold`: what is written, and what is refused with nothing written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from scaffolded import scaffold

from mcpcodegen.errors import ProjectError
from mcpcodegen.project import project


def command(*arguments: str, directory: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mcpcodegen", *arguments], capture_output=True, text=True, cwd=directory
    )


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("myserver", "myserver"),
        ("my-server", "my_server"),
        ("myserver2", "myserver2"),
        ("My_Server", "my_server"),
    ],
)
def test_a_name_that_works_as_a_project_works(name: str, package: str, tmp_path: Path) -> None:
    assert project(name, tmp_path).package == package


@pytest.mark.parametrize(
    "name",
    [
        *[
            "",
            " ",
            "class",
            "None",
            "Class",
            "a.b",
            "../x",
            "/x",
            "a/b",
            "a b",
            "-a",
            "a-",
            "a--b",
            "1a",
            "_a",
            "a\nb",
        ],
        *[
            "ünser",
            "json",
            "asyncio",
            "pydantic",
            "tests",
            "mcp",
            ".",
            "test",
            "typing_extensions",
            "a" * 101,
        ],
    ],
)
def test_a_name_that_cannot_work_is_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    done = command("scaffold", "--", name, directory=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "cannot be called" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "myserver").mkdir()
    (tmp_path / "myserver/mine").write_text("mine")
    done = command("scaffold", "myserver", "-o", str(tmp_path))
    assert done.returncode == 2
    assert "not empty" in done.stderr
    assert [path.name for path in (tmp_path / "myserver").iterdir()] == ["mine"]


def test_force_writes_beside_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "myserver").mkdir()
    (tmp_path / "myserver/mine").write_text("mine")
    made = scaffold("myserver", tmp_path, "--force")
    assert (made / "mine").read_text() == "mine"
    assert (made / "pyproject.toml").is_file()


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    (tmp_path / "myserver").mkdir()
    assert (scaffold("myserver", tmp_path) / "serve.py").is_file()


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "myserver").write_text("")
    with pytest.raises(ProjectError, match="a file in the way"):
        project("myserver", tmp_path)


def test_a_dry_run_names_every_file_and_writes_none(tmp_path: Path) -> None:
    done = command("scaffold", "myserver", "--dry-run", "--json", "-o", str(tmp_path / "new"))
    assert done.returncode == 0
    assert not (tmp_path / "new").exists()
    made = scaffold("myserver", tmp_path)
    written = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    assert json.loads(done.stdout)["created"] == written


def test_it_ends_by_saying_what_to_type_next(tmp_path: Path) -> None:
    done = command("scaffold", "myserver", "-o", str(tmp_path / "a b"))
    assert done.stdout == ""
    following = done.stderr.splitlines()[done.stderr.splitlines().index("next:") + 1 :]
    assert following[0].strip() == f"cd '{tmp_path / 'a b' / 'myserver'}'"
    assert following[-1].strip() == ".venv/bin/pytest"


def test_what_was_written_is_current_and_regenerating_keeps_the_authors_files(tmp_path: Path) -> None:
    made = scaffold("my-server", tmp_path)
    (made / "src/my_server/server.py").write_text("# mine\n")
    assert command("check", directory=made).returncode == 0
    (made / "src/my_server/_mcp/wire.py").unlink()
    assert command("check", directory=made).returncode == 1
    assert command("generate", directory=made).returncode == 0
    assert command("check", directory=made).returncode == 0
    assert (made / "src/my_server/server.py").read_text() == "# mine\n"


def test_the_emitted_package_imports_nothing_but_itself_by_relative_paths(tmp_path: Path) -> None:
    made = scaffold("myserver", tmp_path)
    sources = [path.read_text() for path in made.rglob("*.py")]
    assert not any("mcprotocol" in source or "mcpcodegen" in source for source in sources)


def test_the_launcher_says_what_to_do_where_there_is_no_environment(tmp_path: Path) -> None:
    made = scaffold("myserver", tmp_path)
    done = subprocess.run(
        [sys.executable, "-I", str(made / "serve.py")], capture_output=True, text=True, env={}
    )
    assert done.returncode == 1
    assert "pip install" in done.stderr
    assert done.stdout == ""
