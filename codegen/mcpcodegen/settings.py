"""`[tool.mcp-codegen]` of the nearest `pyproject.toml`: what `generate` and `check` do when no flag says otherwise."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword
from pathlib import Path
from typing import cast

import tomlkit

from .errors import CodegenError
from .ir import Json, is_object

TABLE = "mcp-codegen"


@dataclass(frozen=True)
class Settings:
    """How a package is emitted: `output` is absolute, `revisions` are names as the command line takes them."""

    output: Path | None = None
    package: str = "mcprotocol"
    revisions: tuple[str, ...] = ()
    distribution: bool = False


def is_package(name: str) -> bool:
    """Whether a name can be imported as a package."""
    return name.isidentifier() and not iskeyword(name)


def settings(start: Path) -> Settings:
    """The settings that hold in `start`; defaults when no `pyproject.toml` above it has the table."""
    for directory in (start, *start.parents):
        file = directory / "pyproject.toml"
        table = _table(file) if file.is_file() else None
        if table is not None:
            return _settings(table, file)
    return Settings()


def overridden(
    known: Settings, output: Path | None, package: str | None, revisions: Sequence[str], distribution: bool
) -> Settings:
    """`known` with what flags say in its place; another `output` is another package, of which nothing is known."""
    wanted = known if output is None else Settings(output=output)
    if package is not None and not is_package(package):
        raise CodegenError(
            f"--package {package!r} cannot be imported", remedy="use letters, digits and underscores"
        )
    return replace(
        wanted,
        package=wanted.package if package is None else package,
        revisions=tuple(revisions) or wanted.revisions,
        distribution=distribution or wanted.distribution,
    )


def with_revisions(text: str, revisions: Sequence[str]) -> str:
    """The text of a `pyproject.toml` whose settings name these revisions; all else stays as it is written."""
    document = cast(Json, tomlkit.parse(text))
    table = document.get("tool", {}).get(TABLE)
    if table is None or not revisions or list(table.get("revisions", ())) == list(revisions):
        return text
    table["revisions"] = list(revisions)
    return str(tomlkit.dumps(document))


def _table(file: Path) -> dict[str, Json] | None:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {}).get(TABLE)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CodegenError(f"cannot be read ({error})", remedy="mend the file", source=str(file)) from None
    return table if is_object(table) else None


def _settings(table: dict[str, Json], file: Path) -> Settings:
    shapes = {"output": str, "package": str, "revisions": list, "distribution": bool}
    for key, value in table.items():
        if not isinstance(value, shapes.get(key, type(None))):
            raise CodegenError(
                f"[tool.{TABLE}] has {key} = {value!r}",
                remedy=f"known settings: {', '.join(f'{name} ({kind.__name__})' for name, kind in shapes.items())}",
                source=str(file),
            )
    if not is_package(table.get("package", Settings.package)):
        raise CodegenError(
            f"[tool.{TABLE}] has package = {table['package']!r}, which cannot be imported",
            remedy="use letters, digits and underscores",
            source=str(file),
        )
    output = table.get("output")
    return Settings(
        output=(file.parent / output).resolve() if output else None,
        package=table.get("package", Settings.package),
        revisions=tuple(map(str, table.get("revisions", ()))),
        distribution=table.get("distribution", False),
    )
