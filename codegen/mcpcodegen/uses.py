"""What a package offers and where code uses it, by names and imports, read from syntax trees.

A name is dotted from the package on: `v2026_07_28.types.Tool.title`. Only what an import leads to is a use: a word
in a comment, a string, or a name of somebody else's is none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from .ir import Bundle


@dataclass(frozen=True)
class Use:
    """One place in a file where a name of the package is used; `imported` says that it is an import."""

    path: str
    line: int
    name: str
    imported: bool = False


@dataclass(frozen=True)
class Offered:
    """What a package offers: each name where it is made, and where it also stands, by `elsewhere`."""

    names: frozenset[str]
    elsewhere: Mapping[str, str]

    def made(self, name: str) -> str:
        """The name by which something is made, for one by which it is imported."""
        for end in range(name.count(".") + 1, 0, -1):
            head, tail = name.split(".")[:end], name.split(".")[end:]
            origin = self.elsewhere.get(".".join(head))
            if origin is not None and origin != ".".join(head):
                return self.made(".".join([origin, *tail]))
        return name

    def has(self, name: str) -> bool:
        """Whether there is something by a name."""
        return self.made(name) in self.names


def offered(package: Bundle) -> Offered:
    """What a package offers, whose files go by their paths inside it."""
    modules = {_module(path): ast.parse(text) for path, text in package.items() if path.endswith(".py")}
    names = {name for module, tree in modules.items() for name in _names(module, tree)}
    folders = {_module(path) for path in package if path.endswith("__init__.py")}
    elsewhere = {
        _inside(module, alias.asname or alias.name): _inside(origin, alias.name)
        for module, tree in modules.items()
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.level
        for origin in [_origin(module, node, module in folders)]
        for alias in node.names
    }
    return Offered(frozenset(names), elsewhere)


def used(path: str, text: str, package: str) -> list[Use]:
    """Where one file of a project uses the package that lies at `package`; both are paths in the project.

    Raises SyntaxError for what is not Python.
    """
    tree = ast.parse(text)
    reader = _Reader(PurePosixPath(path), PurePosixPath(package), _own(tree))
    reader.visit(tree)
    return [
        Use(path, line, name, (line, name) in reader.imported)
        for line, name in sorted({*reader.found, *reader.imported})
    ]


def _own(tree: ast.Module) -> frozenset[str]:
    """The names that a file gives a meaning to itself, anywhere, so that no star brings them."""
    nodes = list(ast.walk(tree))
    made = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        made
        | {node.name for node in nodes if isinstance(node, kinds)}
        | {node.arg for node in nodes if isinstance(node, ast.arg)}
        | {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}
    )


def is_python(text: str) -> bool:
    """Whether a text can be read as Python."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _module(path: str) -> str:
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _inside(module: str, name: str) -> str:
    return f"{module}.{name}" if module else name


def _origin(module: str, node: ast.ImportFrom, is_folder: bool) -> str:
    """The module that a relative import takes from."""
    home = module.split(".") if module else []
    up = node.level - is_folder
    return ".".join([*home[: len(home) - up], *filter(None, [node.module])])


def _names(module: str, tree: ast.Module) -> Iterator[str]:
    if module:
        yield module
    for node in tree.body:
        yield from (_inside(module, name) for name in _bound(node))
        if isinstance(node, ast.ClassDef):
            yield from (
                f"{_inside(module, node.name)}.{name}" for member in node.body for name in _bound(member)
            )


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement gives a meaning to."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, ast.If):
        yield from (name for one in (*node.body, *node.orelse) for name in _bound(one))


class _Reader(ast.NodeVisitor):
    """Follows the imports of one file; `found` has each use as its line and name, `imported` the imports."""

    def __init__(self, path: PurePosixPath, package: PurePosixPath, own: frozenset[str]) -> None:
        self.home = path.parent
        self.package = package
        self.own = own
        self.star: str | None = None
        self.known: dict[str, str] = {}
        self.found: list[tuple[int, str]] = []
        self.imported: list[tuple[int, str]] = []

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            inner = self._absolute(alias.name)
            if inner is not None and alias.asname:
                self.known[alias.asname] = inner
            if inner:
                self.imported.append((node.lineno, inner))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        inner = self._relative(node) if node.level else self._absolute(node.module or "")
        for alias in node.names if inner is not None else ():
            if alias.name == "*":
                self.star = inner
                self.imported += [(alias.lineno, inner)] if inner else []
                continue
            name = f"{inner}.{alias.name}".lstrip(".")
            self.known[alias.asname or alias.name] = name
            self.imported.append((alias.lineno, name))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A method of a class overrides those of the same name of its bases."""
        bases = [name for base in node.bases if (name := self._name(_unsubscripted(base)))]
        for one in node.body:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                self.found += [(one.lineno, f"{base}.{one.name}") for base in bases]
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """A keyword of a class is a member of it."""
        called = self._name(node.func)
        if called:
            self.found += [(one.value.lineno, f"{called}.{one.arg}") for one in node.keywords if one.arg]
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._name(node)
        if name:
            self.found.append((node.lineno, name))
        else:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """A name by itself: one that was imported, or that a star may have brought."""
        name = self._name(node)
        if name:
            self.found.append((node.lineno, name))

    def _name(self, node: ast.expr) -> str | None:
        """The name that an expression stands for, where it begins with one that was imported."""
        if isinstance(node, ast.Name):
            starred = self.star is not None and node.id not in self.own
            return f"{self.star}.{node.id}".lstrip(".") if starred else self.known.get(node.id)
        if not isinstance(node, ast.Attribute):
            return None
        if _is_dotted(node) and (inner := self._absolute(ast.unparse(node))) is not None:
            return inner
        owner = self._name(node.value)
        return f"{owner}.{node.attr}".lstrip(".") if owner is not None else None

    def _absolute(self, module: str) -> str | None:
        """What of the package a dotted module is; None when it is of another."""
        parts = module.split(".")
        for first in range(len(self.package.parts)):
            place = list(self.package.parts[first:])
            if parts[: len(place)] == place:
                return ".".join(parts[len(place) :])
        return None

    def _relative(self, node: ast.ImportFrom) -> str | None:
        above = [self.home, *self.home.parents][node.level - 1 :]
        place = above[0].joinpath(*(node.module or "").split(".")) if above else PurePosixPath()
        if not place.is_relative_to(self.package):
            return None
        return ".".join(place.relative_to(self.package).parts)


def _is_dotted(node: ast.expr) -> bool:
    """Whether an expression is names and dots alone."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _unsubscripted(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node
