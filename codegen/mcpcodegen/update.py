"""A project brought along: the emitted package made anew, the author's files merged, and all of it written at once.

Nothing of the author's is lost: what both sides changed stands between markers, what is no longer written stays,
what was deleted stays deleted. What the author's code uses and the new package no longer has is found from syntax
trees.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import author, gone, sync, worktree
from .author import Brought, Written
from .errors import ProjectError
from .ir import Bundle, Document
from .pipeline import emit
from .pipeline import record as record_of
from .project import recipe
from .recipe import GENERATOR, NONE, PRIVATE, RECIPE, Recipe, Recorded, authored, recorded, recorded_text
from .settings import Settings, settings, with_revisions
from .swap import recover
from .uses import Use, is_python, offered


@dataclass(frozen=True)
class Place:
    """A project: its folder, its settings, and how it was made where that is known."""

    root: Path
    settings: Settings
    recorded: Recorded | None
    undone: bool = False
    """Whether a run that never came to its end was undone here."""

    @property
    def output(self) -> Path:
        """The folder that the package is emitted into."""
        return self.settings.output or self.root

    @property
    def package(self) -> str:
        """Where the emitted package lies, as a path in the project."""
        return self.inside(self.settings.package)

    def inside(self, path: str) -> str:
        """A path in the folder that is emitted into, as one in the project."""
        return (self.output / path).relative_to(self.root).as_posix()

    @property
    def kind(self) -> str:
        """The transport of the project."""
        return self.recorded.recipe.transport if self.recorded else NONE


@dataclass(frozen=True)
class Update:
    """What an update does: files by what becomes of them, and what the protocol has more and less for this project.

    `new` and `gone` are stubs, `dangling` the places in the author's code that use what is gone; `texts` are what
    the author's files hold from now on, and `read` what all of them held.
    """

    place: Place
    plan: sync.Plan
    brought: tuple[Brought, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    dangling: tuple[Use, ...]
    unread: tuple[str, ...]
    package: Bundle
    texts: Mapping[str, str]
    read: Mapping[str, str]

    @property
    def conflicts(self) -> tuple[Brought, ...]:
        """The files that a person has to finish."""
        return tuple(one for one in self.brought if one.fate == "conflict")

    @property
    def opaque(self) -> tuple[Brought, ...]:
        """What stands where something new could not be written."""
        return tuple(one for one in self.brought if one.fate == "opaque")

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to do."""
        return self.plan.quiet and not self.texts


def place(start: Path) -> Place:
    """The project that a folder is in; raises ProjectError where there is none."""
    for root in (start, *start.parents):
        undone = recover(root)
        wanted = settings(root)
        if (root / RECIPE).is_file() or (wanted.output and (root / "pyproject.toml").is_file()):
            file = root / RECIPE
            known = recorded(_read(file), str(file)) if file.is_file() else None
            return _checked(Place(root, wanted, known, undone))
    raise ProjectError(
        "no project that can be updated",
        remedy="run it where mcp-codegen scaffold made one, or set [tool.mcp-codegen] output in pyproject.toml",
        source=str(start),
    )


def update(project: Place, documents: Sequence[Document], *, force: bool = False) -> Update:
    """What bringing a project to the revisions of `documents` does; nothing is written yet.

    Raises OutputError for emitted files that were edited by hand, unless `force` says that the edits may go, and
    ProjectError for what could not be written.
    """
    name = project.settings.package
    package = emit(documents, name, distribution=project.settings.distribution)
    plan = sync.foresee(package, project.output, record_of(name), force=force)
    yours = worktree.texts(project.root, project.output / name)
    _check_current(project, yours)
    brought, kept = _brought(project, documents, yours)
    texts = author.changed(brought) | {path: text for path, text in kept.items() if yours.get(path) != text}
    for path in texts:
        _led(project, path)
    old, new = offered(_lying(project)), offered(_inside(package, name))
    beside = worktree.read(project.root, map(project.inside, plan.strangers))
    dangling, unread = gone.dangling(project.package, {**yours, **beside, **texts}, old, new)
    return Update(
        place=project,
        plan=plan,
        brought=tuple(brought),
        new=tuple(sorted(gone.stubs(new) - gone.stubs(old))),
        gone=tuple(sorted(gone.stubs(old) - gone.stubs(new))),
        dangling=tuple(dangling),
        unread=tuple(unread),
        package=package,
        texts=texts,
        read=yours,
    )


def write(done: Update, *, force: bool = False) -> None:
    """Write what an update does, all or nothing; raises ProjectError when a file is no longer what it was made from."""
    project = done.place
    now = worktree.texts(project.root, project.output / project.settings.package)
    for path in sorted({*done.texts, RECIPE}):
        if now.get(path) != done.read.get(path):
            raise _changed(project.root / path)
    files = {_led(project, path): _as_it_ends(text, project.root / path) for path, text in done.texts.items()}
    record = record_of(project.settings.package)
    sync.write_with(done.package, project.output, record, project.root, files, force=force)


def difference(done: Update) -> str:
    """The unified diff of what an update does."""
    project = done.place
    emitted = sync.diff(done.package, project.output, record_of(project.settings.package), project.root)
    return sync.diff(done.texts, project.root, "") + emitted


def _checked(project: Place) -> Place:
    if project.recorded and (project.settings.output is None or not project.output.is_dir()):
        raise _homeless(project, project.recorded.recipe)
    if not project.output.is_relative_to(project.root):
        raise ProjectError(
            f"the package is emitted outside of the project ({project.output})",
            remedy="regenerate it with mcp-codegen generate",
            source=str(project.root / "pyproject.toml"),
        )
    recover(project.output)
    if project.recorded and _version(project.recorded.generator) > _version(GENERATOR):
        raise ProjectError(
            f"made by {project.recorded.generator}, which is newer than this {GENERATOR}",
            remedy="bring mcp-codegen up to date first",
            source=str(project.root / RECIPE),
        )
    return project


def _check_current(project: Place, yours: Bundle) -> None:
    """Raise ProjectError when another run has brought a project elsewhere since it was found."""
    file = project.root / RECIPE
    known = recorded(yours.get(RECIPE, ""), str(file)) if project.recorded else None
    if known != project.recorded:
        raise _changed(file)
    if settings(project.root) != project.settings:
        raise _changed(project.root / "pyproject.toml")


def _changed(file: Path) -> ProjectError:
    return ProjectError("was changed in the meantime", remedy="run it again", source=str(file))


def _homeless(project: Place, made: Recipe) -> ProjectError:
    where = (
        f"{project.output} is not there" if project.settings.output else "[tool.mcp-codegen] has no output"
    )
    return ProjectError(
        f"{where}, so that nobody knows where the emitted package is to be",
        remedy=f'set output to the folder that it lies in (it was made in "src/{made.package}", as "{PRIVATE}")',
        source=str(project.root / "pyproject.toml"),
    )


def _version(generator: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", generator))


def _brought(
    project: Place, documents: Sequence[Document], yours: Bundle
) -> tuple[list[Brought], dict[str, str]]:
    """What becomes of the author's files, and the texts that keep how the project is made."""
    if project.recorded is None:
        revisions = [document.revision for document in documents if document.revision]
        text = with_revisions(yours["pyproject.toml"], revisions)
        return [], {"pyproject.toml": text}
    known = project.recorded
    made = recipe(known.recipe.name, documents, known.recipe.transport)
    theirs = authored(made)
    written = Written(known.files, authored(known.recipe), known.texts, known.moved)
    label = f"{GENERATOR}, {made.newest or 'unreleased'}"
    texts = {path: text for path, text in yours.items() if path != RECIPE}
    opaque = worktree.opaque(project.root, {*known.files, *theirs}, texts)
    brought = author.bring(written, texts, theirs, label, opaque)
    moved = {one.was: one.path for one in brought if one.was}
    return brought, {RECIPE: recorded_text(made, theirs, moved)}


def _lying(project: Place) -> Bundle:
    """The emitted package as it lies in the project, without what the author put beside it, or broke."""
    name = project.settings.package
    paths = [path for path in sync.lying(project.output, record_of(name)) if path.endswith(".py")]
    found = {path: (project.output / path).read_text("utf-8", "replace") for path in paths}
    return _inside({path: text for path, text in found.items() if is_python(text)}, name)


def _inside(package: Bundle, name: str) -> Bundle:
    return {
        path.removeprefix(f"{name}/"): text for path, text in package.items() if path.startswith(f"{name}/")
    }


def _led(project: Place, path: str) -> str:
    """The path that a file is written at: where a link leads to, so that it stays a link."""
    target = (project.root / path).resolve()
    if not target.is_relative_to(project.root):
        raise ProjectError(
            f"leads out of the project, to {target}",
            remedy="put the file itself there",
            source=str(project.root / path),
        )
    return target.relative_to(project.root).as_posix()


def _as_it_ends(text: str, path: Path) -> str:
    return text.replace("\n", "\r\n") if worktree.crlf(path) else text


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProjectError(f"cannot be read ({error})", remedy="restore it", source=str(path)) from None
