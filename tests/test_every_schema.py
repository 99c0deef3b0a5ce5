"""Each published schema file, whole: it generates, imports, keeps its names, and satisfies two type checkers."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from emitted import EVERY_SCHEMA, environment, package_name, published, top_level_names, write

from mcpcodegen.naming import EMITTED

RENAMED = {"Annotated": "Annotated_"}
"""The one published definition (until 2025-03-26) whose name the emitted module needs for itself."""

LOADED = """
import importlib, sys
from pydantic import TypeAdapter
for name in sys.argv[1:]:
    types = importlib.import_module(name)
    for found in list(vars(types).values()):
        if getattr(found, "__module__", "") == name or type(found).__name__ == "TypeAliasType":
            TypeAdapter(found).validator  # building is deferred: ask for it
    for module in ("methods", "server", "client"):
        importlib.import_module(name.replace("types", module))
"""

SILENCING = re.compile(r"# *(?:type: ?ignore|pyright:|mypy:|noqa)")
SCOPED = re.compile(r"# (?:type: ignore\[[\w-]+\]|pyright: ignore\[\w+\]|pyright: report\w+=false$)")
DEPRECATED = "# pyright: reportDeprecated=false"
"""What is deprecated is still part of a revision; the modules that refer to it say so, and silence that one rule."""


def types_of(path: Path) -> str:
    bundle = published(path)[1]
    return next(text for name, text in bundle.items() if name.endswith("/types.py"))


@pytest.fixture(scope="module")
def packages(spec_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages of all published files side by side."""
    folder = tmp_path_factory.mktemp("packages")
    for path in EVERY_SCHEMA:
        write(published(spec_dir / path)[1], folder)
    return folder


def test_the_names_are_those_of_the_definitions(every_schema: Path) -> None:
    document, _ = published(every_schema)
    assert top_level_names(types_of(every_schema)) == set(document.definitions)


def test_no_definition_of_the_file_is_lost(every_schema: Path) -> None:
    document, _ = published(every_schema)
    given = set(json.loads(every_schema.read_bytes())[document.container])
    assert {RENAMED.get(name, name) for name in given} <= set(document.definitions)


def test_no_name_ends_in_a_digit_of_its_own(every_schema: Path) -> None:
    raw = json.loads(every_schema.read_bytes())
    given = set(raw.get("$defs") or raw["definitions"])
    assert {name for name in top_level_names(types_of(every_schema)) - given if name[-1].isdigit()} == set()


def test_the_modules_import_and_build_with_warnings_as_errors(packages: Path) -> None:
    names = [path.relative_to(packages).as_posix() for path in packages.glob("*/*/types.py")]
    assert len(names) == len(EVERY_SCHEMA)
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-c",
            LOADED,
            *(name.removesuffix(".py").replace("/", ".") for name in names),
        ],
        capture_output=True,
        text=True,
        cwd=packages,
        env=environment(),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_mypy_strict_is_clean_over_all_of_them(packages: Path) -> None:
    names = [package_name(Path(path)) for path in EVERY_SCHEMA]
    config = packages / "mypy.ini"
    config.write_text("[mypy]\nstrict = true\nwarn_unused_configs = false\n")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--config-file",
            str(config),
            *(arg for name in names for arg in ("-p", name)),
        ],
        capture_output=True,
        text=True,
        cwd=packages,
        check=False,
    )
    assert done.stdout.startswith("Success"), done.stdout[-3000:] + done.stderr


def test_pyright_strict_is_clean_over_all_of_them(packages: Path) -> None:
    (packages / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "pythonVersion": "3.11"}')
    done = subprocess.run(
        [sys.executable, "-m", "basedpyright", "-p", ".", "--pythonpath", sys.executable, "--outputjson"],
        capture_output=True,
        text=True,
        cwd=packages,
        check=False,
    )
    report = json.loads(done.stdout)
    found = [
        f"{Path(one['file']).relative_to(packages.resolve())}:{one['range']['start']['line'] + 1}: {one['message']}"
        for one in report["generalDiagnostics"]
    ]
    assert report["summary"]["filesAnalyzed"] > 5 * len(EVERY_SCHEMA)
    assert found == []


def unreasoned(text: str) -> list[str]:
    """The lines that silence a type checker without naming one rule each and giving a reason, there or just above."""
    lines = ["", *text.splitlines()]
    return [
        line.strip()
        for above, line in zip(lines, lines[1:], strict=False)
        if SILENCING.search(SCOPED.sub("", line))
        or (SCOPED.search(line) and "#" not in SCOPED.sub("", line) + above)
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("y = 2  # type: ignore", 1),
        ("y = 2  # type: ignore[misc]", 1),
        ("y = 2  # pyright: ignore[reportX, reportY]  # many at once", 1),
        ("# pyright: basic", 1),
        ("# the stub is wrong\ny = 2  # type: ignore[misc]", 0),
        ("y = 2  # pyright: ignore[reportX]  # the stub leaves it open", 0),
    ],
)
def test_a_bare_suppression_would_be_found(text: str, found: int) -> None:
    assert len(unreasoned(text)) == found


def test_no_definition_can_take_the_place_of_what_the_types_import(every_schema: Path) -> None:
    imports = [
        node
        for node in ast.walk(ast.parse(types_of(every_schema)))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = {alias.asname or alias.name for node in imports for alias in node.names}
    assert "WireModel" in names
    assert names - EMITTED == set()


def test_what_silences_a_checker_is_scoped_and_says_why(spec_dir: Path) -> None:
    _, bundle = published(spec_dir / "2026-07-28/schema.json")
    assert {path: lines for path, text in bundle.items() if (lines := unreasoned(text))} == {}


def test_generated_modules_silence_nothing(every_schema: Path) -> None:
    _, bundle = published(every_schema)
    rendered = {
        path: text for path, text in bundle.items() if path.split("/")[1].startswith(("v2", "unreleased"))
    }
    assert len(rendered) == 6
    assert [path for path, text in rendered.items() if SILENCING.search(text.replace(DEPRECATED, ""))] == []


def test_every_module_states_where_it_came_from(spec_dir: Path) -> None:
    document, bundle = published(spec_dir / "2026-07-28/schema.json")
    rendered = {path: text for path, text in bundle.items() if "/v2026_07_28/" in path}
    assert len(rendered) == 6
    for path, text in rendered.items():
        assert document.digest[:16] in text.splitlines()[0], path
        assert ast.get_docstring(ast.parse(text)), path
