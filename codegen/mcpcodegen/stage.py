"""Where files wait for their place in a folder: in a folder of its own, a stage, which is held by a lock."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from .errors import OutputError

PREFIX = ".mcp-codegen-"
"""What the name of the folder begins with that the files wait in."""

JOURNAL = "journal.json"

LONGEST = 100
"""Bytes of the longest name of a folder that the name of its stage repeats: some file systems end at 143."""

CONTENT = frozenset({JOURNAL, "journal.part", "lock", "new", "old"})
"""What such a folder may hold."""


def stage_for(folder: Path) -> Path:
    """A new folder to wait in: beside the folder, or inside where that is another disk or may not be written."""
    beside = folder.parent
    if beside.stat().st_dev == folder.stat().st_dev and os.access(beside, os.W_OK | os.X_OK):
        with suppress(OSError):
            return new_stage(beside, folder)
    return new_stage(folder, folder)


def new_stage(place: Path, folder: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix=_prefix(folder), dir=place))


def _prefix(folder: Path) -> str:
    """What the name of each stage of a folder begins with: the name of the folder, or a digest of one that is long."""
    name = os.fsencode(folder.name)
    return f"{PREFIX}{folder.name if len(name) <= LONGEST else hashlib.sha256(name).hexdigest()}-"


def stages(folder: Path) -> list[Path]:
    """The folders that an earlier run has left for a folder, in both places."""
    prefix = _prefix(folder)
    found = {stage for place in (folder.parent, folder) for stage in _listed(place)}
    # What follows the name is random, and has no hyphen: another folder may be called the same and more.
    return sorted(
        stage
        for stage in found
        if stage.name.startswith(prefix) and "-" not in stage.name[len(prefix) :] and _is_stage(stage, folder)
    )


def _listed(place: Path) -> list[Path]:
    """What stands in a folder; nothing where there is none, or one that is not ours to look into."""
    try:
        return list(place.iterdir())
    except OSError:
        return []


def _is_stage(path: Path, folder: Path) -> bool:
    """Whether files wait in a folder, put there by us or by the owner of the folder that they wait for.

    One of somebody's that only has such a name is none.
    """
    owners = {folder.stat().st_uid} if folder.exists() else set[int]()
    try:
        ours = path.lstat().st_uid in owners | _us() and not path.is_symlink()
        return ours and {one.name for one in path.iterdir()} <= CONTENT
    except OSError:  # no folder, or one that is not ours to look into
        return False


def _us() -> set[int]:
    return {0} if sys.platform == "win32" else {os.geteuid()}


@contextmanager
def held(stage: Path) -> Generator[None, None, None]:
    """The lock of a stage; raises OutputError when another process has it."""
    with open(stage / "lock", "w", encoding="utf-8") as file:
        if not _locked(file):
            raise OutputError(
                "another run of mcp-codegen writes here",
                remedy="wait until it ends",
                source=str(stage.parent),
            )
        yield


if sys.platform == "win32":
    import msvcrt

    def _locked(file: IO[str]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _locked(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
