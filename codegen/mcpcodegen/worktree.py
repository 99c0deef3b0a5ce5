"""A project as it lies on the disk: its text files, and whether its version control could bring them back."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from .errors import ProjectError

LARGEST = 1_000_000
"""Bytes of the largest file that counts as a text of the author's."""

SKIPPED = frozenset({"__pycache__", "build", "dist", "node_modules", "site-packages", "venv"})
"""Folders that hold nothing an author wrote, besides those whose names begin with a dot."""


def texts(root: Path, besides: Path) -> dict[str, str]:
    """The text files below a folder, but for those below `besides`, by path; lines end as ours do.

    Where some lines end as on Windows and some do not, they stay as they are: each was written so.
    """
    return read(root, (path.relative_to(root).as_posix() for path in _files(root, besides)))


def read(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Those of the files below a folder that are texts."""
    return {path: text for path in paths if (text := _text(root / path)) is not None}


def opaque(root: Path, paths: Iterable[str], known: Container[str]) -> frozenset[str]:
    """The paths below a folder where something stands that is not among the `known` texts: a folder, say."""
    return frozenset(path for path in paths if path not in known and os.path.lexists(root / path))


def crlf(path: Path) -> bool:
    """Whether the lines of a file end as Windows ends them, all of them."""
    try:
        return _is_crlf(path.read_bytes())
    except OSError:
        return False


def _is_crlf(data: bytes) -> bool:
    return 0 < data.count(b"\r\n") == data.count(b"\n")


def uncommitted(root: Path) -> list[str]:
    """What below a folder differs from the last commit; nothing where there is no repository.

    Raises ProjectError where there is one and git cannot be asked.
    """
    if not any((folder / ".git").exists() for folder in (root, *root.parents)):
        return []
    command = "git -c status.renames=false status --porcelain --untracked-files=normal -z -- .".split()
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    except OSError as error:
        raise _unanswered(root, str(error)) from None
    if done.returncode:
        raise _unanswered(root, done.stderr.decode("utf-8", "replace"))
    return [row[3:] for row in done.stdout.decode("utf-8", "replace").split("\0") if len(row) > 3]


def _unanswered(root: Path, reason: str) -> ProjectError:
    return ProjectError(
        f"git cannot say what is committed ({reason.strip().partition(chr(10))[0]})",
        remedy="make git work here, or pass --allow-dirty",
        source=str(root),
    )


def _files(root: Path, besides: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(root):
        here = Path(folder)
        names[:] = sorted(
            name
            for name in names
            if name not in SKIPPED and not name.startswith(".") and here / name != besides
        )
        yield from (here / name for name in sorted(files))


def _text(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        data = path.read_bytes()
        return (data.replace(b"\r\n", b"\n") if _is_crlf(data) else data).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
