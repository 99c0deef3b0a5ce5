"""`mcp-codegen update` where a project holds what no scaffold writes: links, folders, broken files, other modes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from projects import edit, files, git, made, update

from mcpcodegen import commands
from mcpcodegen.errors import ProjectError
from mcpcodegen.update import place, write
from mcpcodegen.update import update as bring

LATEST = "2026-07-28"
BEFORE = "2025-11-25"


@pytest.fixture(scope="session")
def stubs_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project on the stubs of the revision before, as it was made."""
    return made("salutes", tmp_path_factory.mktemp("before"), "--transport", "none", "--revision", BEFORE)


@pytest.fixture
def project(stubs_before: Path, tmp_path: Path) -> Path:
    """The same, to be changed, at a place whose name has spaces and other letters."""
    return Path(shutil.copytree(stubs_before, tmp_path / "mein schönes projekt"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server for the latest revision alone, as it was made."""
    return made("sunny", tmp_path_factory.mktemp("server"), "--transport", "stdio", "--revision", LATEST)


@pytest.mark.parametrize("kind", ["bytes", "folder", "large"])
def test_what_is_no_text_is_left_alone_and_not_taken_for_deleted(kind: str, project: Path) -> None:
    readme = project / "README.md"
    readme.unlink()
    if kind == "folder":
        readme.mkdir()
        (readme / "mine").write_text("mine")
    else:
        readme.write_bytes(b"\xff\xfe\0mine" if kind == "bytes" else b"mine\n" * 300_000)
    before = {path: data for path, data in files(project).items() if path.startswith("README.md")}
    done = update(project, "--revision", LATEST)
    assert done.returncode == 1
    assert "README.md: no text file of at most 1 MB; it stays as it is" in done.stderr
    assert {path: data for path, data in files(project).items() if path.startswith("README.md")} == before
    assert update(project).stderr == f"{project}: is up to date\n"


@pytest.mark.parametrize("kind", ["bytes", "folder", "link"])
def test_what_stands_where_a_new_file_would_be_written_stays(kind: str, server: Path, tmp_path: Path) -> None:
    project = Path(shutil.copytree(server, tmp_path / "sunny"))
    place = project / "tests/test_handshake.py"
    if kind == "folder":
        place.mkdir()
        (place / "mine").write_text("mine")
    elif kind == "link":
        place.symlink_to("nowhere.py")
    else:
        place.write_bytes(b"\xff\0mine")
    done = update(project, "--revision", LATEST, "--revision", BEFORE)
    assert done.returncode == 1
    assert "tests/test_handshake.py: no text file of at most 1 MB" in done.stderr
    kept = {"bytes": place.is_file, "folder": (place / "mine").is_file, "link": place.is_symlink}
    assert kept[kind]()


def test_a_file_keeps_its_mode(project: Path) -> None:
    modes = {"src/salutes/handlers.py": 0o444, "tests/test_handlers.py": 0o755}
    for path, mode in modes.items():
        (project / path).chmod(mode)
    assert update(project, "--revision", LATEST).returncode == 0
    assert {path: (project / path).stat().st_mode & 0o777 for path in modes} == modes
    assert "v2026_07_28" in (project / "src/salutes/handlers.py").read_text()


def test_a_link_stays_a_link_and_what_it_leads_to_is_brought_along(project: Path) -> None:
    (project / "docs").mkdir()
    (project / "README.md").rename(project / "docs/README.md")
    (project / "README.md").symlink_to("docs/README.md")
    assert update(project, "--revision", LATEST).returncode == 0
    assert (project / "README.md").is_symlink()
    assert LATEST in (project / "docs/README.md").read_text()


def test_a_link_that_leads_out_of_the_project_is_not_written_through(project: Path, tmp_path: Path) -> None:
    (project / "README.md").rename(tmp_path / "shared.md")
    (project / "README.md").symlink_to(tmp_path / "shared.md")
    before = (tmp_path / "shared.md").read_text()
    assert update(project, "--revision", LATEST, "--dry-run").returncode == 2
    done = update(project, "--revision", LATEST)
    assert done.returncode == 2
    assert f"leads out of the project, to {tmp_path / 'shared.md'}" in done.stderr
    assert (tmp_path / "shared.md").read_text() == before


def test_a_file_of_the_authors_in_the_emitted_package_may_hold_anything(project: Path) -> None:
    package = project / "src/salutes/_mcp"
    mine = {"broken.py": b"def (", "latin.py": b"x = '\xe9'", "mine.py": b"ONE = 1\n"}
    for name, data in mine.items():
        (package / name).write_bytes(data)
    edit(project / "src/salutes/handlers.py", lambda text: text + "\nfrom ._mcp.mine import ONE as ONE\n")
    done = update(project, "--revision", LATEST)
    assert done.returncode == 0, done.stderr
    assert "_mcp/broken.py: not generated, left as it is" in done.stderr
    assert "_mcp/broken.py: is not Python as it stands" in done.stderr
    assert "which is gone" not in done.stderr
    assert {name: (package / name).read_bytes() for name in mine} == mine


def test_what_a_file_of_the_authors_in_the_emitted_package_uses_is_named_when_it_goes(project: Path) -> None:
    (project / "src/salutes/_mcp/mine.py").write_text("from .v2025_11_25.types import Task as Task\n")
    done = update(project, "--revision", LATEST)
    assert done.returncode == 1
    assert "src/salutes/_mcp/mine.py:1: uses v2025_11_25.types.Task, which is gone" in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a system with pipes that have names")
def test_a_pipe_in_the_project_is_not_waited_for(project: Path) -> None:
    os.mkfifo(project / "src/salutes/pipe")
    assert update(project, "--revision", LATEST).returncode == 0


def test_an_emitted_file_that_was_broken_by_hand_can_be_overwritten(project: Path) -> None:
    edit(project / "src/salutes/_mcp/errors.py", lambda text: text + "<<<<<<< HEAD\n")
    assert "edited since it was generated" in update(project, "--revision", LATEST).stderr
    done = update(project, "--revision", LATEST, "--force")
    assert done.returncode == 0, done.stderr
    assert "errors.py: was edited by hand; the edit is gone" in done.stderr


@pytest.mark.parametrize("count", [3, 12])
def test_every_emitted_file_that_was_edited_is_named_until_there_are_too_many(
    count: int, project: Path
) -> None:
    package = project / "src/salutes/_mcp"
    edited = sorted(path for path in package.rglob("*.py"))[:count]
    for path in edited:
        edit(path, lambda text: text + "# by hand\n")
    done = update(project, "--revision", LATEST)
    names = [f"_mcp/{path.relative_to(package).as_posix()}" for path in edited[1:10]]
    rest = ", 2 more" if count == 12 else ""
    assert f"{edited[0]}: edited since it was generated (and {', '.join(names)}{rest});" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_emitted_package_that_was_deleted_comes_back(project: Path) -> None:
    shutil.rmtree(project / "src/salutes/_mcp")
    assert update(project, "--revision", LATEST).returncode == 0
    assert (project / "src/salutes/_mcp/v2026_07_28/types.py").is_file()


def test_a_package_whose_place_is_no_longer_known_is_not_emitted_elsewhere(project: Path) -> None:
    (project / "src/salutes").rename(project / "src/hails")
    before = files(project)
    done = update(project, "--revision", LATEST)
    assert done.returncode == 2
    assert "src/salutes is not there" in done.stderr
    assert files(project) == before
    edit(project / "pyproject.toml", lambda text: text.replace("src/salutes", "src/hails"))
    assert update(project, "--revision", LATEST).returncode == 0
    assert (project / "src/hails/_mcp/v2026_07_28/types.py").is_file()


def test_without_its_settings_a_project_is_not_updated(project: Path) -> None:
    edit(project / "pyproject.toml", lambda text: text[: text.index("# What `mcp-codegen")])
    before = files(project)
    done = update(project, "--revision", LATEST)
    assert done.returncode == 2
    assert "[tool.mcp-codegen] has no output" in done.stderr
    assert 'it was made in "src/salutes", as "_mcp"' in done.stderr
    assert files(project) == before


def test_line_ends_that_a_version_control_wrote_are_no_edit(project: Path) -> None:
    for path, data in files(project).items():
        (project / path).write_bytes(data.replace(b"\n", b"\r\n"))
    before = files(project)
    assert update(project).stderr == f"{project}: is up to date\n"
    assert files(project) == before
    assert update(project, "--revision", LATEST).returncode == 0
    assert b"\r\n" in (project / "src/salutes/handlers.py").read_bytes()
    assert update(project).stderr == f"{project}: is up to date\n"


def test_a_file_whose_lines_end_in_both_ways_keeps_each_as_it_is(project: Path) -> None:
    handlers = project / "src/salutes/handlers.py"
    handlers.write_bytes(handlers.read_bytes().replace(b'name="greet",\n', b'name="greet",\r\n'))
    assert update(project, "--revision", LATEST).returncode == 0
    lines = handlers.read_bytes().split(b"\n")
    assert [line for line in lines if line.endswith(b"\r")] == [b'    name="greet",\r']
    assert b"from ._mcp.v2026_07_28 import types" in lines


def test_a_file_that_changes_while_it_is_brought_along_is_not_written_over(project: Path) -> None:
    found = place(project)
    done = bring(found, commands.for_update(found, [LATEST], None))
    edit(project / "README.md", lambda text: text + "saved a moment ago\n")
    before = files(project)
    with pytest.raises(ProjectError) as caught:
        write(done)
    assert (caught.value.problem, caught.value.source) == (
        "was changed in the meantime",
        str(project / "README.md"),
    )
    assert files(project) == before


def test_of_two_updates_at_once_the_later_one_does_not_write_what_it_made_of_the_old_tree(
    project: Path,
) -> None:
    found = place(project)
    first, second = (bring(found, commands.for_update(found, [LATEST], None)) for _ in range(2))
    write(first)
    before = files(project)
    with pytest.raises(ProjectError, match="was changed in the meantime"):
        write(second)
    assert files(project) == before


def test_an_update_does_not_go_on_from_where_another_has_brought_the_project_since(project: Path) -> None:
    found = place(project)
    assert update(project, "--revision", "2025-06-18").returncode == 0
    before = files(project)
    with pytest.raises(ProjectError, match="was changed in the meantime"):
        bring(found, commands.for_update(found, [LATEST], None))
    assert files(project) == before


def test_a_repository_that_git_cannot_read_is_not_taken_for_a_clean_one(project: Path) -> None:
    git(project, "init", "--quiet")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "--message", "Made.")
    (project / ".git/HEAD").write_text("nonsense\n")
    before = files(project)
    done = update(project, "--revision", LATEST)
    assert done.returncode == 2
    assert "git cannot say what is committed (fatal: " in done.stderr
    assert "--allow-dirty" in done.stderr
    assert files(project) == before


def test_an_interrupted_run_that_is_undone_is_told(project: Path) -> None:
    stage = project.parent / f".mcp-codegen-{project.name}-left"
    (stage / "old").mkdir(parents=True)
    (project / "README.md").rename(stage / "old/README.md")
    (stage / "journal.json").write_text('{"files": {"README.md": null}, "folders": []}')
    done = update(project)
    assert done.stderr == (
        f"mcp-codegen: {project}: undid a run that was interrupted\n{project}: is up to date\n"
    )
    assert (project / "README.md").is_file()


def test_a_renamed_file_is_known_by_what_it_keeps_however_much_it_has_grown(project: Path) -> None:
    old, new = project / "src/salutes/handlers.py", project / "src/salutes/answers.py"
    old.rename(new)
    edit(
        new,
        lambda text: text
        + "".join(f"\n\ndef tool_{number}() -> int:\n    return {number}\n" for number in range(200)),
    )
    (project / "src/salutes/other.py").write_text("from __future__ import annotations\n\nONE = 1\n")
    done = update(project, "--revision", LATEST)
    assert done.returncode == 0, done.stderr
    assert "src/salutes/answers.py (was src/salutes/handlers.py): merged" in done.stderr
    assert "from ._mcp.v2026_07_28 import types\n" in new.read_text()
    assert "def tool_199()" in new.read_text()


def test_what_shares_a_few_lines_with_a_deleted_file_is_not_it(project: Path) -> None:
    (project / "src/salutes/handlers.py").unlink()
    (project / "src/salutes/mine.py").write_text(
        "from __future__ import annotations\n\nfrom ._mcp.errors import InvalidParams as InvalidParams\n"
        + "\n".join(f"N{number} = {number}" for number in range(40))
    )
    done = update(project, "--revision", LATEST)
    assert "handlers.py: deleted by you" in done.stderr
    assert "mine.py" not in done.stderr


def test_a_form_feed_ends_no_line(project: Path) -> None:
    edit(
        project / "src/salutes/handlers.py",
        lambda text: text.replace("import types\n", "import types\f\n", 1),
    )
    assert update(project, "--revision", LATEST).returncode == 1
    lines = (project / "src/salutes/handlers.py").read_text().split("\n")
    assert "<<<<<<< yours" in lines
    assert "from ._mcp.v2025_11_25 import types\f" in lines


def test_what_is_asked_for_in_two_forms_is_refused(project: Path) -> None:
    done = update(project, "--revision", LATEST, "--diff", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--json and --diff each ask for another form" in done.stderr


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="needs a shell that can bound the size of files")
def test_where_there_is_no_room_the_old_project_stands_and_the_error_says_what_helps(project: Path) -> None:
    before = files(project)
    bounded = f'ulimit -f 60; exec "{sys.executable}" -m mcpcodegen update --revision {LATEST}'
    done = subprocess.run(["/bin/sh", "-c", bounded], cwd=project, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        f"mcp-codegen: {project}: cannot write (File too large); make room, or give the right to write there\n"
    )
    assert files(project) == before
