"""Bundle x folder: the only room that touches an output folder, and it is all or nothing.

What was emitted before is known from a manifest with a hash per file, so that three kinds of file are told
apart: emitted and untouched (may be replaced or removed), emitted and edited since, and somebody else's. The
last two are never changed unless `force` says so.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from .errors import OutputError
from .ir import Bundle


@dataclass(frozen=True)
class Plan:
    """What writing a bundle would do to a folder; paths are relative and sorted."""

    created: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    edited: tuple[str, ...]
    foreign: tuple[str, ...]

    @property
    def quiet(self) -> bool:
        """Whether the folder already holds the bundle."""
        return not (self.created or self.changed or self.removed)


def manifest(bundle: Bundle, recipe: Mapping[str, object]) -> str:
    """The text of the manifest: how a bundle was made, and the SHA-256 of each of its files."""
    files = {path: _digest(text.encode()) for path, text in sorted(bundle.items())}
    return json.dumps({**recipe, "files": files}, indent=2) + "\n"


def plan(bundle: Bundle, folder: Path, record: str) -> Plan:
    """Compare a bundle with a folder; `record` is the path of the manifest inside it."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(
            "there is a file in the way", remedy="choose another place with -o", source=str(folder)
        )
    known = _recorded(folder, record)
    found = {path: _read(folder / path) for path in {*bundle, *known}}
    differs = [
        path for path, text in bundle.items() if found[path] is not None and found[path] != text.encode()
    ]
    stale = [path for path in known if path not in bundle and found[path] is not None]
    ours = {path for path, data in found.items() if data is not None and known.get(path) == _digest(data)} | {
        record
    }
    return Plan(
        created=_sorted(path for path in bundle if found[path] is None),
        changed=_sorted(differs),
        removed=_sorted(path for path in stale if path in ours),
        kept=_sorted(path for path, text in bundle.items() if found[path] == text.encode()),
        edited=_sorted(path for path in (*differs, *stale) if path in known and path not in ours),
        foreign=_sorted(path for path in differs if path not in known and path not in ours),
    )


def foresee(bundle: Bundle, folder: Path, record: str, *, force: bool = False) -> Plan:
    """What `write` would do; raises OutputError where it would refuse."""
    todo = plan(bundle, folder, record)
    if (todo.edited or todo.foreign) and not force:
        raise _refusal(todo, folder)
    return todo


def write(bundle: Bundle, folder: Path, record: str, *, force: bool = False) -> Plan:
    """Make the folder hold the bundle, and remove what was emitted before and is no longer.

    Raises OutputError, with the folder as it was, when a file was edited or is somebody else's (unless `force`)
    or when something cannot be written.
    """
    todo = foresee(bundle, folder, record, force=force)
    if todo.quiet:
        return todo
    with _guarded(folder):
        created = _make_folder(folder)
        stage = Path(tempfile.mkdtemp(prefix=".mcp-codegen-", dir=folder))
        try:
            _stage(bundle, todo, stage / "new")
            swap(todo, stage, folder)
        except BaseException:
            _forget(created)
            raise
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    return todo


def diff(bundle: Bundle, folder: Path, record: str) -> str:
    """The unified diff that turns what the folder holds into the bundle; empty only when it holds it."""
    todo = plan(bundle, folder, record)
    paths = sorted({*todo.created, *todo.changed, *todo.removed})
    return "".join(_file_diff(path, _text(folder / path), bundle.get(path)) for path in paths)


def _file_diff(path: str, old: str | None, new: str | None) -> str:
    names = "/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}"
    lines = list(difflib.unified_diff(_lines(old), _lines(new), *names))
    # An empty file that comes or goes has no line to show: its two names alone say it.
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in lines or [f"--- {names[0]}\n", f"+++ {names[1]}\n"]
    )


def _lines(text: str | None) -> list[str]:
    return list(StringIO(text or "", newline="\n"))


def _refusal(todo: Plan, folder: Path) -> OutputError:
    paths = [*todo.edited, *todo.foreign]
    what = "edited since it was generated" if todo.edited else "not a generated file"
    more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
    return OutputError(
        f"{what}{more}", remedy="move it away, or pass --force to overwrite it", source=str(folder / paths[0])
    )


def _stage(bundle: Bundle, todo: Plan, stage: Path) -> None:
    for path in (*todo.created, *todo.changed):
        target = stage / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(bundle[path].encode())


def swap(todo: Plan, stage: Path, folder: Path) -> None:
    """Move the staged files in; on any failure put back what was moved."""
    taken: list[tuple[Path, Path]] = []
    placed: list[Path] = []
    made: list[Path] = []
    try:
        for path in (*todo.created, *todo.changed, *todo.removed):
            target, old = folder / path, stage / "old" / path
            made += _make_folder(target.parent)
            old.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                os.replace(target, old)
                taken.append((target, old))
            if path not in todo.removed:
                os.replace(stage / "new" / path, target)
                placed.append(target)
    except BaseException:
        # Out with the new first: what was there before then comes back to an empty place.
        for target in placed:
            target.unlink(missing_ok=True)
        for target, old in taken:
            os.replace(old, target)
        _remove_empty(made)
        raise
    for path in todo.removed:
        _prune((folder / path).parent, folder)


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


class _guarded:
    """Turns the operating system's refusals into one error that names the place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            place = str(error.filename or self.folder)
            raise OutputError(
                f"cannot write ({error.strerror or error})",
                remedy="choose a folder that can be written with -o",
                source=str(self.folder) if ".mcp-codegen-" in place else place,
            ) from None


def _recorded(folder: Path, record: str) -> dict[str, str]:
    """The hashes of what was emitted before; without a manifest (`record` is empty) nothing was."""
    if not record:
        return {}
    data = _read(folder / record)
    if data is None:
        return {}
    try:
        files = json.loads(data)["files"]
        return {str(path): str(digest) for path, digest in files.items() if not _escapes(path)} | {
            record: _digest(data)
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        raise OutputError(
            "not a manifest of generated files",
            remedy="restore it, or move the folder away",
            source=str(folder / record),
        ) from None


def _escapes(path: str) -> bool:
    """Whether a recorded path leads out of the folder: such a row is not ours and never acted on."""
    return Path(path).is_absolute() or ".." in Path(path).parts


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise OutputError(
            f"cannot read ({error.strerror})", remedy="choose another folder with -o", source=str(path)
        ) from None


def _text(path: Path) -> str | None:
    data = _read(path)
    return None if data is None else data.decode("utf-8", errors="backslashreplace")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _sorted(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(paths))
