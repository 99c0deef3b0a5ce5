"""Files in and out of a folder, all of them or none, even where the process is killed between two.

What is new waits in a folder of its own inside, what was there goes beside it, and a journal says what was there
before. While the journal exists nothing has happened that cannot be undone; who comes next undoes it. It is held
by a lock, so that two that write at once do not undo each other.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from .errors import OutputError

PREFIX = ".mcp-codegen-"
"""What the name of the folder begins with that the files wait in."""

JOURNAL = "journal.json"

CONTENT = frozenset({JOURNAL, "journal.part", "lock", "new", "old"})
"""What such a folder may hold."""


@dataclass(frozen=True)
class _Journal:
    """The digest that each file will have (None: it goes), and the folders that are made for them."""

    files: Mapping[str, str | None]
    folders: Sequence[str]


def digest(data: bytes) -> str:
    """The SHA-256 of the bytes of a file."""
    return hashlib.sha256(data).hexdigest()


def replace(folder: Path, files: Mapping[str, bytes], removed: Sequence[str]) -> None:
    """Write files below a folder and remove others; paths are relative to it.

    Raises OSError, with the folder as it was, when something cannot be written.
    """
    made = _make_folder(folder)
    stage = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
    try:
        with _heeding(), _held(stage):
            _check_alone(folder, stage)
            _stage(files, stage / "new", folder)
            swap(files, removed, stage, folder)
    except BaseException:
        if not (stage / JOURNAL).exists():  # else what was there is still in the stage, for who comes next
            shutil.rmtree(stage, ignore_errors=True)
            _forget(made)
        raise
    shutil.rmtree(stage, ignore_errors=True)


def recover(folder: Path) -> bool:
    """Undo what was begun in a folder and never finished; say whether there was anything.

    Raises OutputError when it is under way, or when a file was edited since.
    """
    stages = _stages(folder) if folder.is_dir() else []
    for stage in stages:
        with _held(stage):
            if (stage / JOURNAL).is_file():
                _undo(_Journal(**json.loads((stage / JOURNAL).read_text(encoding="utf-8"))), stage, folder)
        shutil.rmtree(stage, ignore_errors=True)
    return bool(stages)


def swap(files: Mapping[str, bytes], removed: Sequence[str], stage: Path, folder: Path) -> None:
    """Move in the files that wait under `new`, and out those that go; on any failure undo it."""
    journal = _journal(files, removed, folder)
    _write_at_once(stage / JOURNAL, json.dumps(asdict(journal)))
    try:
        for path in journal.files:
            target, old = folder / path, stage / "old" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            old.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                os.replace(target, old)
            if path in files:
                os.replace(stage / "new" / path, target)
    except BaseException:
        _undo(journal, stage, folder)
        raise
    (stage / JOURNAL).unlink()
    for path in removed:
        _prune((folder / path).parent, folder)


def _journal(files: Mapping[str, bytes], removed: Sequence[str], folder: Path) -> _Journal:
    new = {path: digest(data) for path, data in files.items()} | dict.fromkeys(removed)
    parents = {parent for path in files for parent in (folder / path).relative_to(folder).parents}
    missing = [str(parent) for parent in parents if not (folder / parent).exists()]
    return _Journal(new, missing)


def _undo(journal: _Journal, stage: Path, folder: Path) -> None:
    """Put back what was moved; the new goes first, so that the old comes back to an empty place."""
    for path, new in journal.files.items():
        if new is not None and not (stage / "new" / path).exists() and (folder / path).exists():
            _check_untouched(folder / path, new, stage)
            (folder / path).unlink()
    for path in journal.files:
        old = stage / "old" / path
        if old.exists():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            os.replace(old, folder / path)
    _remove_empty(folder / name for name in journal.folders)
    (stage / JOURNAL).unlink()


def _check_untouched(target: Path, new: str, stage: Path) -> None:
    if digest(target.read_bytes()) != new:
        raise OutputError(
            "edited after a run that was interrupted before it ended",
            remedy=f"move it away, and run again: what it was before is in {stage / 'old'}",
            source=str(target),
        )


@contextmanager
def _heeding() -> Generator[None, None, None]:
    """Make of an order to end an exception, so that what was begun is undone at once; one that is ignored stays so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    known = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    orders = [order for order in known if signal.getsignal(order) is signal.SIG_DFL]
    for order in orders:
        signal.signal(order, _end)
    try:
        yield
    finally:
        for order in orders:
            signal.signal(order, signal.SIG_DFL)


def _end(order: int, _: object) -> None:
    raise SystemExit(128 + order)


def _check_alone(folder: Path, stage: Path) -> None:
    """Raise OutputError when another process is about to write here too."""
    for other in _stages(folder):
        if other != stage:
            with _held(other):
                pass


def _stages(folder: Path) -> list[Path]:
    """The folders inside that files wait in; one of somebody's that only has such a name is none."""
    return [path for path in sorted(folder.glob(f"{PREFIX}*")) if _is_stage(path)]


def _is_stage(path: Path) -> bool:
    try:
        return {one.name for one in path.iterdir()} <= CONTENT
    except OSError:  # no folder, or one that is not ours to look into
        return False


@contextmanager
def _held(stage: Path) -> Generator[None, None, None]:
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


def _stage(files: Mapping[str, bytes], stage: Path, folder: Path) -> None:
    """Lay out what is new, with the mode of what it stands in for: a script stays one that can be run."""
    for path, data in files.items():
        target = stage / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        with suppress(FileNotFoundError, NotADirectoryError):
            shutil.copymode(folder / path, target)


def _write_at_once(path: Path, text: str) -> None:
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def _prune(directory: Path, root: Path) -> None:
    """Remove a folder that became empty, and those above it, up to `root`."""
    shutil.rmtree(directory / "__pycache__", ignore_errors=True)
    while directory != root and directory.is_dir() and not any(directory.iterdir()):
        directory.rmdir()
        directory = directory.parent


def _make_folder(folder: Path) -> list[Path]:
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _forget(created: list[Path]) -> None:
    if created:
        shutil.rmtree(created[0], ignore_errors=True)
    _remove_empty(created[1:])


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders that we made, the innermost first, unless something stands in them."""
    for path in sorted(folders, key=lambda path: -len(path.parts)):
        with suppress(OSError):
            path.rmdir()
