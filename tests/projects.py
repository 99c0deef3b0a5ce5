"""Projects for tests of `update`: made by the command, changed as an author would, brought along by the command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import emitted

IDENTITY = ("-c", "user.email=author@example.com", "-c", "user.name=Author")


def command(*arguments: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run mcp-codegen in a folder."""
    return emitted.command(*arguments, cwd=directory)


def made(name: str, parent: Path, *options: str) -> Path:
    """A new project; its folder."""
    done = command("scaffold", name, "-q", *options, directory=parent)
    assert (done.returncode, done.stderr) == (0, "")
    return parent / name


def update(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Bring a project along."""
    return command("update", *options, directory=project)


def edit(file: Path, change: Callable[[str], str]) -> None:
    """Change a file as an author does."""
    before = file.read_text(encoding="utf-8")
    after = change(before)
    assert after != before, "the edit found nothing to change"
    file.write_text(after, encoding="utf-8")


def own_tests(project: Path) -> subprocess.CompletedProcess[str]:
    """Run the tests of a project."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(project / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
    )


def git(project: Path, *arguments: str) -> None:
    """Run git in a project."""
    subprocess.run(["git", *IDENTITY, *arguments], cwd=project, check=True, capture_output=True)


def files(project: Path) -> dict[str, bytes]:
    """What a project holds, without bytecode and version control."""
    return {
        path: data
        for path, data in emitted.tree(project).items()
        if "__pycache__" not in path and not path.startswith(".git/")
    }
