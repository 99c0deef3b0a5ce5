"""Bundle x folder: what writing a bundle would do to what is there, and the doing, all or nothing.

What was emitted before is known from a manifest with a hash per file, so that three kinds of file are told
apart: emitted and untouched (may be replaced or removed), emitted and edited since, and somebody else's. The
last two are never changed unless `force` says so.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from . import swap
from .errors import OutputError
from .ir import Bundle
from .stage import PREFIX

NAMED = 10
"""How many files that stand in the way are named."""


@dataclass(frozen=True)
class Plan:
    """What writing a bundle would do to a folder; paths are relative and sorted.

    `edited` and `foreign` stand in the way of what is written; `strangers` stand beside it, and stay.
    """

    created: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    edited: tuple[str, ...]
    foreign: tuple[str, ...]
    strangers: tuple[str, ...]

    @property
    def quiet(self) -> bool:
        """Whether the folder already holds the bundle."""
        return not (self.created or self.changed or self.removed)


def manifest(bundle: Bundle, recipe: Mapping[str, object]) -> str:
    """The text of the manifest: how a bundle was made, and the SHA-256 of each of its files."""
    return json.dumps({**recipe, "files": hashes(bundle)}, indent=2) + "\n"


def hashes(bundle: Bundle) -> dict[str, str]:
    """The SHA-256 of each file of a bundle, by path."""
    return {path: swap.digest(text.encode()) for path, text in sorted(bundle.items())}


def plan(bundle: Bundle, folder: Path, record: str) -> Plan:
    """Compare a bundle with a folder; `record` is the path of the manifest inside it."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(
            "there is a file in the way", remedy="choose another place with -o", source=str(folder)
        )
    known = _recorded(folder, record)
    found = {path: _read(folder / path) for path in {*bundle, *known}}
    same = {path for path, text in bundle.items() if _unix(found[path]) == text.encode()}
    differs = [path for path in bundle if found[path] is not None and path not in same]
    stale = [path for path in known if path not in bundle and found[path] is not None]
    ours = {
        path
        for path, data in found.items()
        if data is not None and known.get(path) in (swap.digest(data), swap.digest(_unix(data) or b""))
    } | {record}
    return Plan(
        created=_sorted(path for path in bundle if found[path] is None),
        changed=_sorted(differs),
        removed=_sorted(path for path in stale if path in ours),
        kept=_sorted(same),
        edited=_sorted(path for path in (*differs, *stale) if path in known and path not in ours),
        foreign=_sorted(path for path in differs if path not in known and path not in ours),
        strangers=_sorted(
            path for path in _beside(folder, record) if path not in known and path not in bundle
        ),
    )


def _unix(data: bytes | None) -> bytes | None:
    """The bytes of a file with the line ends that are emitted: a version control may have written others."""
    return None if data is None else data.replace(b"\r\n", b"\n")


def _beside(folder: Path, record: str) -> Iterable[str]:
    """The files of the folder that the manifest lies in; without one nobody can say what is strange."""
    files = (folder / record).parent.rglob("*") if record else ()
    return [
        path.relative_to(folder).as_posix()
        for path in files
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    ]


def lying(folder: Path, record: str) -> list[str]:
    """The paths of the files that were emitted into a folder and still are there."""
    return sorted(path for path in _recorded(folder, record) if (folder / path).is_file())


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
    with _guarded(folder, "choose a folder that can be written with -o"):
        files = {path: bundle[path].encode() for path in (*todo.created, *todo.changed)}
        swap.replace(folder, files, todo.removed)
    return todo


def write_with(
    bundle: Bundle, folder: Path, record: str, root: Path, files: Bundle, *, force: bool = False
) -> None:
    """Make the folder hold the bundle, as `write` does, and in the same move write files below `root`, which it is in."""
    todo = foresee(bundle, folder, record, force=force)
    inner = folder.relative_to(root)
    emitted = {(inner / path).as_posix(): bundle[path] for path in (*todo.created, *todo.changed)}
    with _guarded(root, "make room, or give the right to write there"):
        every = {path: text.encode() for path, text in {**emitted, **files}.items()}
        swap.replace(root, every, [(inner / path).as_posix() for path in todo.removed])


def diff(bundle: Bundle, folder: Path, record: str, root: Path | None = None) -> str:
    """The unified diff that turns what the folder holds into the bundle; empty only when it holds it.

    Its paths begin in `root`, a folder that the folder is in, or in the folder itself.
    """
    todo = plan(bundle, folder, record)
    paths = sorted({*todo.created, *todo.changed, *todo.removed})
    inner = folder.relative_to(root or folder)
    return "".join(
        _file_diff((inner / path).as_posix(), _text(folder / path), bundle.get(path)) for path in paths
    )


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
    others = [*paths[1:NAMED], *([f"{len(paths) - NAMED} more"] if len(paths) > NAMED else [])]
    more = f" (and {', '.join(others)})" if others else ""
    return OutputError(
        f"{what}{more}", remedy="move it away, or pass --force to overwrite it", source=str(folder / paths[0])
    )


class _guarded:
    """Turns the operating system's refusals into one error that names the place."""

    def __init__(self, folder: Path, remedy: str) -> None:
        self.folder = folder
        self.remedy = remedy

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            place = str(error.filename or self.folder)
            raise OutputError(
                f"cannot write ({error.strerror or error})",
                remedy=self.remedy,
                source=str(self.folder) if PREFIX in place else place,
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
            record: swap.digest(data)
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
            f"cannot read ({error.strerror})",
            remedy="move it away, or give the right to read it",
            source=str(path),
        ) from None


def _text(path: Path) -> str | None:
    data = _read(path)
    return None if data is None else data.decode("utf-8", errors="backslashreplace")


def _sorted(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(paths))
