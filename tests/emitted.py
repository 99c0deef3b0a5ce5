"""Packages emitted for a test: the pipeline run in memory, the text read as a syntax tree, the command as a process."""

from __future__ import annotations

import ast
import functools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from mcpcodegen import pipeline
from mcpcodegen.hoist import hoist
from mcpcodegen.ir import Bundle, Document
from mcpcodegen.load import load

ROOT = Path(__file__).resolve().parents[1]
DIALECT = "https://json-schema.org/draft/2020-12/schema"

EVERY_SCHEMA = (
    "2024-11-05/schema.json",
    "2025-03-26/schema.json",
    "2025-06-18/schema.json",
    "2025-11-25/schema.json",
    "2026-07-28/schema.json",
    "draft/schema.json",
    "history/2025-11-25-as-released-40f50ed5.json",
    "history/draft-2025-11-25-14043ad9.json",
    "history/draft-2026-03-25-05111eb2.json",
    "history/draft-2026-05-11-8e192a22.json",
    "history/draft-2026-06-23-2ffc3fa2.json",
)
"""The published files below MCP_SPEC_DIR: five revisions, the draft, and earlier states of both."""


@dataclass(frozen=True)
class Emitted:
    """One emitted package: the document it was made of, its files, and its imported types."""

    name: str
    document: Document
    bundle: Bundle
    types: ModuleType

    def source(self, module: str = "types") -> str:
        """The text of one module of the revision."""
        return next(
            text
            for path, text in self.bundle.items()
            if path.endswith(f"/{module}.py") and path.count("/") == 2
        )


def schema_text(definitions: Mapping[str, Any]) -> bytes:
    """A schema document with these definitions."""
    return json.dumps({"$schema": DIALECT, "$defs": definitions}).encode()


def read(definitions: Mapping[str, Any]) -> Document:
    """The named document of these definitions."""
    return hoist(load(schema_text(definitions), source="schema.json"))


@functools.cache
def published(path: Path) -> tuple[Document, Bundle]:
    """What one published file becomes; once a session, because the type engine takes a second a file."""
    document = pipeline.read(schema=str(path))
    return document, pipeline.emit([document], package_name(path))


def package_name(path: Path) -> str:
    """A package name for a published file, another one for each of them."""
    words = (
        (path.stem if path.parent.name == "history" else path.parent.name).replace("-", "_").replace(".", "_")
    )
    return f"emitted_{words}"


def write(bundle: Bundle, folder: Path) -> None:
    """Write the files of a bundle."""
    for path, text in bundle.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by relative path."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def environment(**more: str) -> dict[str, str]:
    """This process's environment, with the source roots of the checkout where a subprocess finds them."""
    roots = os.pathsep.join(str(ROOT / name) for name in ("codegen", "generated"))
    return {**os.environ, "PYTHONPATH": roots, **more}


def command(
    *arguments: str | Path, cwd: Path = ROOT, env: Mapping[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run `mcp-codegen` as a process."""
    return subprocess.run(
        [sys.executable, "-m", "mcpcodegen", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env=env or environment(),
        check=False,
        **options,
    )


def top_level_names(source: str) -> set[str]:
    """The classes and aliases that a module of types defines."""
    body = ast.parse(source).body
    classes = {node.name for node in body if isinstance(node, ast.ClassDef)}
    return classes | {
        target.id
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def class_docs(source: str) -> dict[str, dict[str, str]]:
    """The docstrings of a module of types: by class, its own under the empty name and those of its members."""
    return {
        node.name: dict(_docs(node.body)) for node in ast.parse(source).body if isinstance(node, ast.ClassDef)
    }


def _docs(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    member = ""
    for statement in body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)):
                member = name
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield member, text
            case _:
                continue


def words(text: str) -> str:
    """`text` up to white space, which a docstring may lay out anew."""
    return " ".join(text.split())
