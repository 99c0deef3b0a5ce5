"""The five commands that README gives for the day a revision comes, run as they stand there."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from emitted import ROOT, environment
from projects import command, edit, files, made, own_tests

from mcpcodegen.errors import printable

NEXT = "2027-01-15"


def commands() -> list[list[str]]:
    """What README says to type, line by line."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"<!-- when a new revision comes -->\n```sh\n(.*?)```", readme, re.DOTALL)
    assert block is not None
    return [shlex.split(line) for line in block[1].splitlines()]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of this checkout, beside a checkout of the specification that is one revision ahead."""
    copy = tmp_path / "mcp-codegen"
    for name in ("codegen", "templates", "schema", "generated"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    document = json.loads((ROOT / "schema/2026-07-28.json").read_text(encoding="utf-8"))
    for revision in (
        path.stem for path in (ROOT / "schema").glob("20*-*-*.json") if path.stem.count(".") == 0
    ):
        publish(
            tmp_path, revision, json.loads((ROOT / f"schema/{revision}.json").read_text(encoding="utf-8"))
        )
    document["$defs"]["Tool"]["properties"]["shelf"] = {"type": "string"}
    document["$defs"]["ToolNotice"] = document["$defs"].pop("ToolAnnotations")
    text = json.dumps(document).replace("#/$defs/ToolAnnotations", "#/$defs/ToolNotice")
    publish(tmp_path, NEXT, json.loads(text))
    return copy


def publish(folder: Path, revision: str, document: object) -> None:
    file = folder / "specification/schema" / revision / "schema.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(document))


def run(checkout: Path, line: list[str]) -> subprocess.CompletedProcess[str]:
    """Run one line by the generator of a checkout."""
    assert line[0] == "mcp-codegen"
    roots = f"{checkout / 'codegen'}:{checkout / 'generated'}"
    return subprocess.run(
        [sys.executable, "-P", "-m", "mcpcodegen", *line[1:]],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
        env=environment(PYTHONPATH=roots),
    )


def test_the_five_commands_do_what_readme_says(checkout: Path) -> None:
    project = made("myproject", checkout.parent, "--transport", "none", "--revision", "2026-07-28")
    edit(project / "src/myproject/handlers.py", lambda text: text.replace("Hello {", "Salute {"))
    edit(project / "tests/test_handlers.py", lambda text: text.replace("Hello", "Salute"))
    outdated, add, diff, generate, update = commands()

    found = run(checkout, outdated)
    assert found.returncode == 1, found.stderr
    assert NEXT in found.stdout

    added = run(checkout, add)
    assert added.returncode == 0, added.stderr
    assert f'revision = "{NEXT}"' in (checkout / "schema/revisions.toml").read_text()
    assert 'ToolNotice = "' in (checkout / "schema/words.toml").read_text()

    told = run(checkout, diff)
    assert told.returncode == 0, told.stderr
    assert "ToolNotice: was ToolAnnotations" in told.stdout
    assert "Tool.shelf: new, optional: string" in told.stdout

    generated = run(checkout, generate)
    assert generated.returncode == 0, generated.stderr
    types = (checkout / "generated/mcprotocol/v2027_01_15/types.py").read_text()
    assert "    ToolAnnotations = ToolNotice\n" in types
    assert f'LATEST = "{NEXT}"' in (checkout / "generated/mcprotocol/__init__.py").read_text()

    brought = run(checkout, update)
    assert brought.returncode == 0, brought.stderr
    handlers = (project / "src/myproject/handlers.py").read_text()
    assert "from ._mcp.v2027_01_15 import types" in handlers
    assert "Salute {name}" in handlers
    ran = own_tests(project)
    assert ran.returncode == 0, ran.stdout
    before = files(project)
    again = run(checkout, [*update[:3]])
    assert printable(again.stderr.strip()).endswith("is up to date")
    assert files(project) == before


def test_a_server_is_not_made_for_a_revision_that_it_does_not_speak(tmp_path: Path) -> None:
    project = made("sunny", tmp_path, "--revision", "2026-07-28")
    done = command("update", "--revision", "2025-06-18", directory=project)
    assert done.returncode == 2
    assert "a server cannot be made for 2025-06-18" in done.stderr
    assert "--transport none" in done.stderr
