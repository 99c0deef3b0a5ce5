"""`mcp-codegen scaffold`: what is written, and what is refused with nothing written."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from handshakes import initialize
from hosted import body, headers_for, hosted
from judged import responses
from mcprotocol import LATEST
from mcprotocol.server.legacy.conversions import SERVED
from projects import own_tests
from scaffolded import scaffold, start

from mcpcodegen.errors import ProjectError
from mcpcodegen.project import project, served


def command(*arguments: str, directory: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mcpcodegen", *arguments], capture_output=True, text=True, cwd=directory
    )


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("myserver", "myserver"),
        ("my-server", "my_server"),
        ("myserver2", "myserver2"),
        ("My_Server", "my_server"),
    ],
)
def test_a_name_that_works_as_a_project_works(name: str, package: str, tmp_path: Path) -> None:
    assert project(name, tmp_path).package == package


@pytest.mark.parametrize(
    "name",
    [
        *[
            "",
            " ",
            "class",
            "None",
            "Class",
            "a.b",
            "../x",
            "/x",
            "a/b",
            "a b",
            "-a",
            "a-",
            "a--b",
            "1a",
            "_a",
            "a\nb",
        ],
        *[
            "ünser",
            "json",
            "asyncio",
            "pydantic",
            "tests",
            "mcp",
            ".",
            "test",
            "typing_extensions",
            "a" * 101,
        ],
    ],
)
def test_a_name_that_cannot_work_is_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    done = command("scaffold", "--", name, directory=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "cannot be called" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "myserver").mkdir()
    (tmp_path / "myserver/mine").write_text("mine")
    done = command("scaffold", "myserver", "-o", str(tmp_path))
    assert done.returncode == 2
    assert "not empty" in done.stderr
    assert [path.name for path in (tmp_path / "myserver").iterdir()] == ["mine"]


def test_force_writes_beside_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "myserver").mkdir()
    (tmp_path / "myserver/mine").write_text("mine")
    made = scaffold("myserver", tmp_path, "--force")
    assert (made / "mine").read_text() == "mine"
    assert (made / "pyproject.toml").is_file()


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    (tmp_path / "myserver").mkdir()
    assert (scaffold("myserver", tmp_path) / "serve.py").is_file()


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "myserver").write_text("")
    with pytest.raises(ProjectError, match="a file in the way"):
        project("myserver", tmp_path)


def test_a_dry_run_names_every_file_and_writes_none(tmp_path: Path) -> None:
    done = command("scaffold", "myserver", "--dry-run", "--json", "-o", str(tmp_path / "new"))
    assert done.returncode == 0
    assert not (tmp_path / "new").exists()
    made = scaffold("myserver", tmp_path)
    written = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    assert json.loads(done.stdout)["created"] == written


def test_it_ends_by_saying_what_to_type_next(tmp_path: Path) -> None:
    done = command("scaffold", "myserver", "-o", str(tmp_path / "a b"))
    assert done.stdout == ""
    following = done.stderr.splitlines()[done.stderr.splitlines().index("next:") + 1 :]
    assert following[0].strip() == f"cd '{tmp_path / 'a b' / 'myserver'}'"
    assert following[-1].strip() == ".venv/bin/pytest"


def test_what_was_written_is_current_and_regenerating_keeps_the_authors_files(tmp_path: Path) -> None:
    made = scaffold("my-server", tmp_path)
    (made / "src/my_server/server.py").write_text("# mine\n")
    assert command("check", directory=made).returncode == 0
    (made / "src/my_server/_mcp/wire.py").unlink()
    assert command("check", directory=made).returncode == 1
    assert command("generate", directory=made).returncode == 0
    assert command("check", directory=made).returncode == 0
    assert (made / "src/my_server/server.py").read_text() == "# mine\n"


def test_the_emitted_package_imports_nothing_but_itself_by_relative_paths(tmp_path: Path) -> None:
    made = scaffold("myserver", tmp_path)
    sources = [path.read_text() for path in made.rglob("*.py")]
    assert not any("mcprotocol" in source or "mcpcodegen" in source for source in sources)


def test_the_launcher_says_what_to_do_where_there_is_no_environment(tmp_path: Path) -> None:
    made = scaffold("myserver", tmp_path)
    done = subprocess.run(
        [sys.executable, "-I", str(made / "serve.py")], capture_output=True, text=True, env={}
    )
    assert done.returncode == 1
    assert "pip install" in done.stderr
    assert done.stdout == ""


@pytest.fixture(scope="module", params=["stdio", "http", "both"])
def reached(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A transport, and a project that was made for it."""
    transport = str(request.param)
    return transport, scaffold("my-server", tmp_path_factory.mktemp("made"), "--transport", transport)


def test_the_tests_of_a_project_pass_whatever_its_transport(reached: tuple[str, Path]) -> None:
    transport, made = reached
    assert (made / "tests/test_http.py").exists() == (transport != "stdio")
    assert (made / "serve.py").exists() == (transport != "http")
    done = own_tests(made)
    assert done.returncode == 0, done.stdout


def test_the_host_configuration_says_how_to_reach_the_server(reached: tuple[str, Path]) -> None:
    transport, made = reached
    common = json.loads((made / "mcp.json").read_text())["mcpServers"]["my-server"]
    code = json.loads((made / ".vscode/mcp.json").read_text())["servers"]["my-server"]
    address = {"type": "http", "url": "http://127.0.0.1:8000/mcp"}
    assert [common == address, code == address] == [transport == "http"] * 2
    assert ["command" in common, "command" in code] == [transport != "http"] * 2


def test_a_project_depends_on_what_its_transport_needs(reached: tuple[str, Path]) -> None:
    transport, made = reached
    written = (made / "pyproject.toml").read_text()
    assert {name in written for name in ("starlette", "uvicorn", "uvloop")} == {transport != "stdio"}
    main = (made / "src/my_server/__main__.py").read_text()
    assert ("stdio" in main, "serve(" in main) == (transport != "http", transport != "stdio")


def test_both_is_what_one_gets_without_asking(tmp_path: Path) -> None:
    first, second = scaffold("a", tmp_path), scaffold("a", tmp_path / "b", "--transport", "both")
    for path in ("README.md", "pyproject.toml", "src/a/__main__.py", "tests/test_http.py"):
        assert (first / path).read_text() == (second / path).read_text()


HANDSHAKE = json.dumps(initialize(0)).encode() + b"\n"


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that was made for the newest revision alone."""
    return scaffold("my-server", tmp_path_factory.mktemp("alone"), "--revision", "latest")


def test_a_project_of_one_revision_holds_that_one_alone(alone: Path) -> None:
    names = [path.name for path in alone.rglob("*")]
    assert not {"legacy", "v2025_11_25", "test_handshake.py"} & {*names} and "v2026_07_28" in names
    assert 'revisions = ["2026-07-28"]' in (alone / "pyproject.toml").read_text()
    assert not any(version in (alone / "README.md").read_text() for version in SERVED)
    assert command("check", directory=alone).returncode == 0
    done = own_tests(alone)
    assert done.returncode == 0, done.stdout


def test_a_project_of_one_revision_tells_a_handshake_what_is_served(alone: Path, tmp_path: Path) -> None:
    with start(alone, tmp_path) as server:
        error = server.ask(HANDSHAKE)["error"]
        assert error["code"] == -32602 and "2026-07-28" in error["message"]
        assert error["data"]["supported"] == ["2026-07-28"]


def test_a_project_holds_both_revisions_unless_told_otherwise(reached: tuple[str, Path]) -> None:
    transport, made = reached
    assert 'revisions = ["2025-11-25", "2026-07-28"]' in (made / "pyproject.toml").read_text()
    assert (made / "src/my_server/_mcp/v2025_11_25/types.py").is_file()
    assert (made / "src/my_server/_mcp/server/legacy").is_dir()
    assert (made / "tests/test_handshake.py").exists() == (transport != "http")


def test_what_the_readme_says_is_answered_is_answered(reached: tuple[str, Path]) -> None:
    _, made = reached
    dates = {*re.findall(r"\d{4}-\d\d-\d\d", (made / "README.md").read_text())}
    assert dates == {LATEST, *SERVED}


@pytest.mark.parametrize(
    "named", [[], ["latest", "2025-11-25"], ["2026-07-28", "2025-11-25", "2026-07-28"]], ids=" ".join
)
def test_revisions_may_be_named_in_any_order_and_twice(named: list[str]) -> None:
    assert served(named) == ("2025-11-25", "2026-07-28")


@pytest.mark.parametrize(
    ("revisions", "words"),
    [
        (["2025-11-25"], ["2025-11-25 alone", "the words of 2026-07-28", "--revision 2026-07-28"]),
        (["2025-06-18"], ["2025-06-18", "2026-07-28", "2025-11-25"]),
        (["2026-07-28", "2024-11-05"], ["2024-11-05", "2026-07-28"]),
        (["2026-07-82"], ["unknown revision", "2026-07-28"]),
        ([""], ["unknown revision"]),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line_and_nothing_is_written(
    revisions: list[str], words: list[str], tmp_path: Path
) -> None:
    flags = [flag for revision in revisions for flag in ("--revision", revision)]
    done = command("scaffold", "myserver", *flags, directory=tmp_path)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert all(word in done.stderr for word in words)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_transport_is_refused(tmp_path: Path) -> None:
    done = command("scaffold", "myserver", "--transport", "sse", directory=tmp_path)
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_a_fresh_project_that_serves_http_keeps_strangers_out(tmp_path: Path) -> None:
    made = scaffold("my-server", tmp_path)

    async def scenario() -> None:
        command = (sys.executable, "-m", "my_server", "--http", "--port", "0")
        async with hosted(*command, cwd=made / "src") as site:
            assert site.url.startswith("http://127.0.0.1:")
            async with httpx2.AsyncClient(base_url=site.url, trust_env=False) as client:
                listing = body(1, "tools/list")
                for headers, status in STRANGERS:
                    answer = await client.post(
                        "/mcp", content=listing, headers=headers_for(listing) | headers
                    )
                    assert answer.status_code == status, headers
                    responses(listing, answer.headers["content-type"], answer.content)
                for method in ("GET", "DELETE"):
                    # What is of this era comes by POST alone; what is of the one before it, in a session.
                    said = {"MCP-Protocol-Version": LATEST}
                    assert (await client.request(method, "/mcp", headers=said)).status_code == 405
                    assert (await client.request(method, "/mcp")).status_code in (400, 406)

    asyncio.run(scenario())


STRANGERS: list[tuple[dict[str, str], int]] = [
    ({}, 200),
    ({"Origin": "http://localhost:5173"}, 200),
    ({"Origin": "https://evil.example"}, 403),
    ({"Host": "evil.example"}, 403),
]


def test_the_command_explains_itself(tmp_path: Path) -> None:
    made = scaffold("my-server", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "my_server", "--help"], cwd=made / "src", capture_output=True, text=True
    )
    assert done.returncode == 0
    assert all(option in done.stdout for option in ("--http", "--host", "--port"))
