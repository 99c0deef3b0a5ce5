"""Files in and out of a folder, all of them or none, even where the process is killed between two.

What is new waits in a folder of its own, beside the one it is for, with a second name for all that was there before;
then each file takes its place in one move. A journal says what is moved: while it exists nothing has happened that
cannot be undone, and who comes next undoes it. It is held by a lock, so that two that write at once do not undo each
other.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from .errors import OutputError
from .stage import JOURNAL, held, new_stage, stage_for, stages


@dataclass(frozen=True)
class _Journal:
    """The digest that each file will have (None: it goes), the folders that are made for them, and the digests that were."""

    files: Mapping[str, str | None]
    folders: Sequence[str]
    was: Mapping[str, str]


def digest(data: bytes) -> str:
    """The SHA-256 of the bytes of a file."""
    return hashlib.sha256(data).hexdigest()


def replace(folder: Path, files: Mapping[str, bytes], removed: Sequence[str]) -> None:
    """Write files below a folder and remove others; paths are relative to it.

    Raises OSError, with the folder as it was, when something cannot be written.
    """
    folder = folder.resolve()
    made = _make_folder(folder)
    try:
        _replace(folder, files, removed, stage_for(folder), made)
    except OSError as error:
        if error.errno != errno.EXDEV or made:
            raise
        _replace(folder, files, removed, new_stage(folder, folder), made)  # it is mounted from the same disk


def _replace(
    folder: Path, files: Mapping[str, bytes], removed: Sequence[str], stage: Path, made: list[Path]
) -> None:
    try:
        with _heeding(), held(stage):
            _check_alone(folder, stage)
            _lay_out(files, stage / "new", folder)
            swap(files, removed, stage, folder)
    except BaseException:
        if not (stage / JOURNAL).exists():  # else what was there is still in the stage, for who comes next
            shutil.rmtree(stage, ignore_errors=True)
            _forget(made)
        raise
    shutil.rmtree(stage, ignore_errors=True)


def recover(folder: Path) -> bool:
    """Undo what was begun in a folder and never finished; say whether there was anything.

    Raises OutputError when it is under way, when a file was edited since, or when it cannot be undone.
    """
    folder = folder.resolve()
    left = stages(folder)
    for stage in left:
        try:
            _recover(stage, folder)
        except OSError as error:
            if stage.exists():  # else who wrote here has ended meanwhile
                raise OutputError(
                    f"a run that was interrupted cannot be undone ({error.strerror or error})",
                    remedy="make room, or give the right to write there",
                    source=str(stage),
                ) from None
    return bool(left)


def _recover(stage: Path, folder: Path) -> None:
    with held(stage):
        if (stage / JOURNAL).is_file():
            _undo(_begun(stage, folder), stage, folder)
    shutil.rmtree(stage, ignore_errors=True)


def _begun(stage: Path, folder: Path) -> _Journal:
    """The journal of a stage; raises OutputError when it is none, or leads out of the folder."""
    try:
        row = json.loads((stage / JOURNAL).read_text(encoding="utf-8"))
        journal = _Journal(dict(row["files"]), list(row["folders"]), dict(row.get("was", {})))
        if all(_is_inside(path, stage, folder) for path in (*journal.files, *journal.folders)):
            return journal
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    raise OutputError(
        "not a journal of a run that was interrupted",
        remedy=f"move {stage} away",
        source=str(stage / JOURNAL),
    )


def _is_inside(path: str, stage: Path, folder: Path) -> bool:
    """Whether a path that a journal names leads to no other place, by itself or by a link: it may be somebody's trap."""
    if Path(path).is_absolute() or ".." in Path(path).parts:
        return False
    return all((root / path).parent.resolve().is_relative_to(root) for root in (folder, stage / "old"))


def swap(files: Mapping[str, bytes], removed: Sequence[str], stage: Path, folder: Path) -> None:
    """Move in the files that wait under `new`, and take away those that go; on any failure undo it."""
    journal = _journal(files, removed, folder)
    try:
        for path in journal.files:
            _name_twice(folder / path, stage / "old" / path)
        _write_at_once(stage / JOURNAL, json.dumps(asdict(journal)))
        for path in _whole(files, journal):
            os.replace(stage / "new" / path, folder / path)
        for path in removed:
            os.unlink(folder / path)
        (stage / JOURNAL).unlink()
    except BaseException:
        _undo(journal, stage, folder)
        raise
    for path in removed:
        _prune((folder / path).parent, folder)


def _journal(files: Mapping[str, bytes], removed: Sequence[str], folder: Path) -> _Journal:
    new = {path: digest(data) for path, data in files.items()} | dict.fromkeys(removed)
    parents = {parent for path in files for parent in (folder / path).relative_to(folder).parents}
    blocked = [
        folder / parent
        for parent in parents
        if os.path.lexists(folder / parent) and not (folder / parent).is_dir()
    ]
    if blocked:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(min(blocked)))
    was = {path: digest(_data(folder / path)) for path in new if _is_file(folder / path)}
    return _Journal(new, [str(parent) for parent in parents if not (folder / parent).exists()], was)


def _whole(files: Iterable[str], journal: _Journal) -> list[str]:
    """What to move in: a folder that is not there yet as a whole, each other file by itself."""
    tops = [name for name in journal.folders if str(Path(name).parent) not in journal.folders]
    within = {path for path in files if any(Path(path).is_relative_to(top) for top in tops)}
    return [*tops, *(path for path in files if path not in within)]


def _undo(journal: _Journal, stage: Path, folder: Path) -> None:
    """Put back what was there before, and take away what was not."""
    for path, new in journal.files.items():
        target, old = folder / path, stage / "old" / path
        placed = new is not None and not (stage / "new" / path).exists()
        stands = os.path.lexists(target)
        if stands and (not placed or _is_back(path, target, journal, old)):
            continue  # nothing was put here, or what was here is back already
        if stands:
            _check_untouched(target, new, old)
        if os.path.lexists(old):
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(old, target)
        elif placed and path not in journal.was:
            target.unlink(missing_ok=True)
    _remove_empty(folder / name for name in journal.folders)
    (stage / JOURNAL).unlink(missing_ok=True)


def _is_back(path: str, target: Path, journal: _Journal, old: Path) -> bool:
    if not _is_file(target):
        return False
    was = journal.was.get(path) or (digest(_data(old)) if os.path.lexists(old) else None)
    return digest(_data(target)) == was


def _is_file(path: Path) -> bool:
    return path.is_symlink() or path.is_file()


def _data(path: Path) -> bytes:
    """What a file holds, or where a link leads to."""
    return b"link " + os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()


def _name_twice(target: Path, old: Path) -> None:
    """Give what is there a second name, or where names cannot be given a copy."""
    if not os.path.lexists(target):
        return
    old.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(target, old, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copy2(target, old, follow_symlinks=False)


def _check_untouched(target: Path, new: str | None, old: Path) -> None:
    if not target.is_file() or digest(_data(target)) != new:
        raise OutputError(
            "edited after a run that was interrupted before it ended",
            remedy=f"move it away, and run again: what it was before is in {old}",
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
    for other in stages(folder):
        if other != stage:
            with suppress(FileNotFoundError), held(other):  # it may end at this moment
                pass


def _lay_out(files: Mapping[str, bytes], stage: Path, folder: Path) -> None:
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
