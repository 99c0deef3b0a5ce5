"""`mcp-codegen update`: the package is made anew, the author's files come along, and no line of theirs is lost."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from projects import command, edit, files, git, made, own_tests, update

from mcpcodegen.recipe import GENERATOR
from mcpcodegen.swap import recover

LATEST = "2026-07-28"
BEFORE = "2025-11-25"
DRAFT = "history/draft-2026-05-11-8e192a22.json"

MOMENTS = 50
"""How many times the writing is killed, and how many times the command as a whole."""

MOMENTS_OF_A_COMMAND = 8


@pytest.fixture(scope="session")
def stubs_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project on the stubs of the revision before, as it was made."""
    return made("salutes", tmp_path_factory.mktemp("before"), "--transport", "none", "--revision", BEFORE)


@pytest.fixture
def project(stubs_before: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return Path(shutil.copytree(stubs_before, tmp_path / "a project"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server for the latest revision alone, as it was made."""
    return made("sunny", tmp_path_factory.mktemp("server"), "--revision", LATEST)


def author_changes(project: Path) -> None:
    """An edited tool, a file under another name, a dependency more."""
    handlers = project / f"src/{project_name(project)}/handlers.py"
    edit(handlers, lambda text: text.replace('name="greet"', 'name="salute"').replace("Hello {", "Salute {"))
    (project / "tests/test_handlers.py").rename(project / "tests/test_salutes.py")
    edit(
        project / "tests/test_salutes.py",
        lambda text: text.replace('"greet"', '"salute"').replace("Hello", "Salute"),
    )
    edit(
        project / "pyproject.toml",
        lambda text: text.replace('"pydantic>=2.14,<3",', '"pydantic>=2.14,<3",\n    "rich>=13",'),
    )


def project_name(project: Path) -> str:
    return str(json.loads((project / ".mcp-codegen.json").read_text())["recipe"]["name"])


def test_a_project_that_is_current_is_left_alone(project: Path) -> None:
    before = files(project)
    done = update(project)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"{project}: is up to date\n")
    assert files(project) == before


def test_an_untouched_project_becomes_the_one_that_is_made_today(project: Path, tmp_path: Path) -> None:
    assert update(project, "--revision", LATEST).returncode == 0
    (tmp_path / "fresh").mkdir()
    fresh = made("salutes", tmp_path / "fresh", "--transport", "none", "--revision", LATEST)
    assert files(project) == files(fresh)


def test_what_the_author_changed_comes_along(project: Path) -> None:
    author_changes(project)
    done = update(project, "--revision", LATEST)
    assert (done.returncode, done.stdout) == (0, "")
    handlers = (project / "src/salutes/handlers.py").read_text()
    assert 'name="salute"' in handlers
    assert "Salute {name}" in handlers
    assert "from ._mcp.v2026_07_28 import types" in handlers
    assert "tests/test_salutes.py (was tests/test_handlers.py)" in done.stderr
    assert not (project / "tests/test_handlers.py").exists()
    assert '"rich>=13"' in (project / "pyproject.toml").read_text()
    assert f'revisions = ["{LATEST}"]' in (project / "pyproject.toml").read_text()
    assert not (project / "src/salutes/_mcp/v2025_11_25").exists()
    ran = own_tests(project)
    assert ran.returncode == 0, ran.stdout
    before = files(project)
    again = update(project)
    assert (again.returncode, again.stderr) == (0, f"{project}: is up to date\n")
    assert files(project) == before


def test_a_project_for_a_draft_is_brought_to_the_release(spec_dir: Path, tmp_path: Path) -> None:
    project = made("drafted", tmp_path, "--transport", "none", "--schema", str(spec_dir / DRAFT))
    author_changes(project)
    assert own_tests(project).returncode == 0
    unsaid = update(project)
    assert unsaid.returncode == 2
    assert "--revision DATE" in unsaid.stderr
    done = update(project, "--revision", LATEST)
    assert done.returncode == 0, done.stderr
    ran = own_tests(project)
    assert ran.returncode == 0, ran.stdout
    assert update(project).stderr == f"{project}: is up to date\n"


def test_what_both_changed_stands_between_markers_and_is_named(project: Path) -> None:
    author_changes(project)
    handlers = project / "src/salutes/handlers.py"
    edit(handlers, lambda text: text.replace("import types\n", "import methods, types\n", 1))
    done = update(project, "--revision", LATEST)
    assert done.returncode == 1
    assert "src/salutes/handlers.py: 1 conflict to solve" in done.stderr
    text = handlers.read_text()
    first, last = text.index("<<<<<<< yours\n"), text.index(">>>>>>> mcpcodegen 0.1.0, 2026-07-28\n")
    yours, theirs = text[first:last].split("=======\n")
    assert yours.splitlines()[1:] == [
        "from ._mcp.v2025_11_25 import methods, types",
        "from ._mcp.v2025_11_25.server import ServerHandlers",
    ]
    assert theirs.splitlines() == [
        "from ._mcp.v2026_07_28 import types",
        "from ._mcp.v2026_07_28.server import ServerHandlers",
    ]
    solved = theirs.replace("import types", "import methods, types")
    handlers.write_text(text[:first] + solved + text[text.index("\n", last) + 1 :])
    ran = own_tests(project)
    assert ran.returncode == 0, ran.stdout
    assert update(project).stderr == f"{project}: is up to date\n"


def test_what_went_away_is_named_with_the_places_that_use_it(project: Path) -> None:
    more = (
        "\n    async def list_tasks(self, params: types.PaginatedRequestParams | None, ctx: object)"
        " -> types.ListTasksResult:\n        return types.ListTasksResult(tasks=[])\n"
    )
    edit(project / "src/salutes/handlers.py", lambda text: text + more)
    (project / "src/salutes/extra.py").write_text(
        "from ._mcp.v2025_11_25 import types\n\nHINT = types.ToolExecution  # types.ListTasksResult\n"
    )
    done = update(project, "--revision", LATEST)
    assert done.returncode == 1
    told = [line.strip() for line in done.stderr.splitlines() if "which is gone" in line]
    last = (project / "src/salutes/handlers.py").read_text().count("\n")
    assert told == [
        "src/salutes/extra.py:1: uses v2025_11_25.types, which is gone",
        "src/salutes/extra.py:3: uses v2025_11_25.types.ToolExecution, which is gone",
        f"src/salutes/handlers.py:{last - 1}: uses v2026_07_28.server.ServerHandlers.list_tasks, which is gone",
        f"src/salutes/handlers.py:{last - 1}: uses v2026_07_28.types.ListTasksResult, which is gone",
        f"src/salutes/handlers.py:{last}: uses v2026_07_28.types.ListTasksResult, which is gone",
    ]
    assert "new stubs in ServerHandlers: discover, subscriptions_listen" in done.stderr
    assert "gone from ServerHandlers: cancel_task, get_task" in done.stderr


def test_new_methods_appear_as_stubs(project: Path) -> None:
    update(project, "--revision", LATEST)
    stubs = (project / "src/salutes/_mcp/v2026_07_28/server.py").read_text()
    assert "async def discover(" in stubs


def test_a_file_that_the_author_removed_stays_away(project: Path) -> None:
    (project / "README.md").unlink()
    (project / "src/salutes/__init__.py").unlink()
    done = update(project, "--revision", LATEST)
    assert done.returncode == 0
    assert "README.md: deleted by you" in done.stderr
    assert "__init__.py" not in done.stderr
    assert not (project / "README.md").exists()


def test_a_server_takes_on_the_era_before(server: Path, tmp_path: Path) -> None:
    project = Path(shutil.copytree(server, tmp_path / "sunny"))
    edit(project / "src/sunny/server.py", lambda text: text.replace("Nairobi", "Nairobi (Kenya)"))
    done = update(project, "--revision", LATEST, "--revision", BEFORE)
    assert done.returncode == 0, done.stderr
    assert "tests/test_handshake.py: new" in done.stderr
    assert "server.py" not in done.stderr
    assert (project / "src/sunny/_mcp/server/legacy").is_dir()
    assert update(project).stderr == f"{project}: is up to date\n"
    ran = own_tests(project)
    assert ran.returncode == 0, ran.stdout
    back = update(project, "--revision", LATEST)
    assert "tests/test_handshake.py: no longer written; it stays" in back.stderr
    assert (project / "tests/test_handshake.py").is_file()
    assert not (project / "src/sunny/_mcp/server/legacy").exists()


def test_emitted_files_that_were_edited_by_hand_are_named_and_kept(project: Path) -> None:
    emitted = project / "src/salutes/_mcp/v2025_11_25/types.py"
    edit(emitted, lambda text: text + "# by hand\n")
    before = files(project)
    done = update(project, "--revision", LATEST)
    assert done.returncode == 2
    assert f"{emitted}: edited since it was generated" in done.stderr
    assert files(project) == before
    forced = update(project, "--revision", LATEST, "--force")
    assert forced.returncode == 0
    assert "_mcp/v2025_11_25/types.py: was edited by hand; the edit is gone" in forced.stderr


@pytest.mark.parametrize("option", ["--dry-run", "--diff"])
def test_looking_first_writes_nothing(option: str, project: Path) -> None:
    author_changes(project)
    before = files(project)
    done = update(project, "--revision", LATEST, option)
    assert done.returncode == 0
    assert files(project) == before
    assert "would update" in done.stderr
    if option == "--diff":
        assert "+from ._mcp.v2026_07_28 import types\n" in done.stdout
        assert "--- a/tests/test_salutes.py\n" in done.stdout
        assert "--- a/src/salutes/_mcp/v2025_11_25/types.py\n+++ /dev/null\n" in done.stdout
    else:
        assert done.stdout == ""


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_tree_with_uncommitted_changes_is_refused_unless_told(project: Path) -> None:
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "made")
    edit(project / "README.md", lambda text: text + "\nMine.\n")
    before = files(project)
    refused = update(project, "--revision", LATEST)
    assert refused.returncode == 2
    assert (
        "README.md has changes that are not committed; commit them, or pass --allow-dirty" in refused.stderr
    )
    assert files(project) == before
    assert update(project, "--revision", LATEST, "--dry-run").returncode == 0
    assert update(project, "--revision", LATEST, "--allow-dirty").returncode == 0
    assert (project / "README.md").read_text().endswith("\nMine.\n")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "updated")
    assert update(project).returncode == 0


def test_lines_that_end_as_on_windows_go_on_to_do_so(project: Path) -> None:
    handlers = project / "src/salutes/handlers.py"
    handlers.write_bytes(handlers.read_bytes().replace(b"Hello {", b"Salute {").replace(b"\n", b"\r\n"))
    assert update(project, "--revision", LATEST).returncode == 0
    text = handlers.read_bytes()
    assert text.count(b"\n") == text.count(b"\r\n")
    assert b"Salute {" in text
    assert b"v2026_07_28" in text


def test_what_an_older_generator_wrote_is_merged_by_what_the_project_has_kept(project: Path) -> None:
    handlers = project / "src/salutes/handlers.py"
    older = (
        handlers.read_text()
        .replace("What is answered. This", "The requests. This")
        .replace("What the tool says.", "Its words.")
    )
    recipe = project / ".mcp-codegen.json"
    row = json.loads(recipe.read_text())
    row["generator"] = "mcpcodegen 0.0.9"
    row["files"]["src/salutes/handlers.py"] = hashlib.sha256(older.encode()).hexdigest()
    row["texts"]["src/salutes/handlers.py"] = older.splitlines(keepends=True)
    recipe.write_text(json.dumps(row))
    handlers.write_text(older.replace('name="greet"', 'name="salute"'))
    done = update(project)
    assert done.returncode == 0, done.stderr
    assert "src/salutes/handlers.py: merged with what you changed" in done.stderr
    text = handlers.read_text()
    assert text.startswith('"""What is answered. This file is yours."""\n')
    assert 'name="salute"' in text
    assert "What the tool says." in text
    assert json.loads(recipe.read_text())["generator"] == GENERATOR
    assert update(project).stderr == f"{project}: is up to date\n"


def test_what_another_generator_wrote_is_merged_without_its_base(project: Path) -> None:
    recipe = project / ".mcp-codegen.json"
    row = json.loads(recipe.read_text())
    for path in ("README.md", "src/salutes/handlers.py"):
        row["files"][path] = "0" * 64
        del row["texts"][path]
    recipe.write_text(json.dumps(row))
    edit(project / "src/salutes/handlers.py", lambda text: text.replace('name="greet"', 'name="salute"'))
    done = update(project, "--revision", LATEST)
    assert done.returncode == 1
    text = (project / "src/salutes/handlers.py").read_text()
    assert '    name="salute",\n' in text
    assert '    name="greet",\n' in text


def test_a_newer_generator_is_not_brought_back(project: Path) -> None:
    recipe = project / ".mcp-codegen.json"
    edit(recipe, lambda text: text.replace('"mcpcodegen 0.', '"mcpcodegen 7.'))
    done = update(project)
    assert done.returncode == 2
    assert "bring mcp-codegen up to date first" in done.stderr


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"generator": 1, "recipe": {"name": "../x"}}', "\u00ff", "[" * 200_000]
)
def test_a_recipe_that_is_none_stops_the_run(text: str, project: Path) -> None:
    (project / ".mcp-codegen.json").write_text(text)
    done = update(project)
    assert done.returncode == 2
    assert done.stderr.startswith(f"mcp-codegen: {project / '.mcp-codegen.json'}: not a recipe of a project")


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("generator", "mcpcodegen " + "9" * 5000),
        ("files", []),
        ("files", [[1, "x"]]),
        ("files/README.md", 5),
        ("moved/README.md", ["docs"]),
        ("texts", []),
        ("texts/README.md", [1]),
        ("texts/README.md", ["\ud800"]),
        ("recipe/newest", 5),
        ("recipe/handshake", "yes"),
        ("recipe/revisions", [5]),
    ],
)
def test_a_recipe_that_was_tampered_with_stops_the_run(pointer: str, value: object, project: Path) -> None:
    row = json.loads((project / ".mcp-codegen.json").read_text())
    *above, last = pointer.split("/")
    place = row
    for name in above:
        place = place[name]
    place[last] = value
    (project / ".mcp-codegen.json").write_text(json.dumps(row))
    done = update(project, "--dry-run")
    assert done.returncode == 2
    assert done.stderr.startswith(f"mcp-codegen: {project / '.mcp-codegen.json'}: not a recipe of a project")
    assert done.stderr.count("\n") == 1


def test_a_folder_without_a_project_is_refused(tmp_path: Path) -> None:
    done = update(tmp_path)
    assert done.returncode == 2
    assert "no project that can be updated" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_project_of_ones_own_is_brought_along_by_its_settings(tmp_path: Path) -> None:
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text(
        '# mine\n[tool.mcp-codegen]\noutput = \'lib\'  # here\npackage = "protocol"\nrevisions = ["2025-06-18"] # old\n'
    )
    assert command("generate", directory=tmp_path).returncode == 0
    (tmp_path / "use.py").write_text("from lib.protocol.v2025_06_18 import types\n")
    done = update(tmp_path, "--revision", BEFORE)
    assert done.returncode == 1
    assert "use.py:1: uses v2025_06_18.types, which is gone" in done.stderr
    assert pyproject.read_text() == (
        '# mine\n[tool.mcp-codegen]\noutput = \'lib\'  # here\npackage = "protocol"\nrevisions = ["2025-11-25"] # old\n'
    )
    assert sorted(path.name for path in (tmp_path / "lib/protocol").glob("v*")) == ["v2025_11_25"]
    assert command("check", directory=tmp_path).returncode == 0


def test_it_works_from_a_folder_inside_and_by_name(project: Path, tmp_path: Path) -> None:
    inside = command("update", "--dry-run", directory=project / "src/salutes")
    named = command("update", str(project), directory=tmp_path)
    assert inside.stderr == named.stderr == f"{project}: is up to date\n"


def test_its_outcome_can_be_had_as_json(project: Path) -> None:
    author_changes(project)
    done = update(project, "--revision", LATEST, "--json")
    told = json.loads(done.stdout)
    assert told["package"] == "src/salutes/_mcp"
    assert {
        "path": "tests/test_salutes.py",
        "was": "tests/test_handlers.py",
        "fate": "merged",
    }.items() <= next(row for row in told["yours"] if row["was"]).items()
    assert "ServerHandlers.discover" in told["stubs"]["new"]
    assert "_mcp/v2025_11_25/types.py" in told["removed"]


def test_a_run_that_is_killed_at_any_moment_leaves_the_old_tree_or_the_new_one(project: Path) -> None:
    author_changes(project)
    old = files(project)
    begun = time.monotonic()
    assert update(project, "--revision", LATEST).returncode == 0
    whole = time.monotonic() - begun
    new = files(project)
    chance = random.Random(20260728)
    for _ in range(MOMENTS_OF_A_COMMAND):
        shutil.rmtree(project)
        write(project, old)
        with subprocess.Popen(
            [sys.executable, "-m", "mcpcodegen", "update", "--revision", LATEST, "-q"], cwd=project
        ) as process:
            time.sleep(chance.uniform(0.5, 1.05) * whole)
            process.kill()
        recover(project)
        assert files(project) in (old, new)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork, to kill only the writing")
def test_writing_that_is_killed_at_any_moment_leaves_the_old_tree_or_the_new_one(project: Path) -> None:
    author_changes(project)
    script = Path(__file__).parent / "killing.py"
    done = subprocess.run(
        [sys.executable, str(script), str(project), LATEST, str(MOMENTS)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["other"] == []
    assert told["old"] + told["new"] == MOMENTS
    # Both ends of the writing were among the moments, and so what is between; test_swap stops at each move.
    assert min(told["old"], told["new"]) > 0


def write(folder: Path, content: dict[str, bytes]) -> None:
    for path, data in content.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
