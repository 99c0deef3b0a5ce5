"""A scaffolded project in an environment of its own, started as its host configuration says, used by a client we did not write."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.context import ClientRequestContext
from mcp.client.stdio import StdioServerParameters
from mcp_types import (
    ElicitRequestParams,
    ElicitResult,
    PromptReference,
    TextContent,
    TextResourceContents,
)
from scaffolded import scaffold

PATH = "/usr/bin:/bin"
CLEAN = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
"""The environment without what would let a project see the generator's own sources."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in a path with a space, installed into the `.venv` that the scaffold tells its author to make."""
    made = scaffold("my-server", tmp_path_factory.mktemp("a b") / "c d")
    venv.create(made / ".venv", with_pip=True)
    install(made / ".venv/bin/python", made)
    return made


def install(python: Path, project: Path) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ".[dev]"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, env=CLEAN)
    assert done.returncode == 0, done.stderr


def host_configurations(project: Path) -> list[dict[str, object]]:
    common = json.loads((project / "mcp.json").read_text())["mcpServers"]["my-server"]
    code = json.loads((project / ".vscode/mcp.json").read_text())["servers"]["my-server"]
    return [common, {key: value for key, value in code.items() if key != "type"}]


async def north(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    """The answer of a user in Oslo."""
    return ElicitResult(action="accept", content={"latitude": 59.9})


async def use(configuration: dict[str, object], directory: Path) -> None:
    """Discover, list, call, answer, read, get and complete, as the official client does it."""
    parameters = StdioServerParameters.model_validate({**configuration, "cwd": directory})
    parameters.env = {**(parameters.env or {}), "PATH": PATH}
    async with Client(parameters, elicitation_callback=north) as client:
        assert client.protocol_version == "2026-07-28"
        assert client.server_info is not None and client.server_info.name == "my-server"
        assert [tool.name for tool in (await client.list_tools()).tools] == ["daylight", "light_enough"]
        called = await client.call_tool("daylight", {"latitude": 59.9, "first": "2026-06-21"})
        assert called.structured_content == [{"day": "2026-06-21", "hours": 18.5}]
        asked = await client.call_tool("light_enough", {"hours": 12, "day": "2026-06-21"})
        assert asked.content == [TextContent(text="Yes: there are 18.5 hours of daylight")]
        suggested = await client.complete(PromptReference(name="plan_walk"), {"name": "place", "value": "be"})
        assert suggested.completion.values == ["Bergen"]
        (resource,) = (await client.list_resources()).resources
        (contents,) = (await client.read_resource(resource.uri)).contents
        assert isinstance(contents, TextResourceContents) and "sunrise equation" in contents.text
        (prompt,) = (await client.list_prompts()).prompts
        (message,) = (await client.get_prompt(prompt.name, {"place": "Bergen"})).messages
        assert isinstance(message.content, TextContent) and "Bergen" in message.content.text


def test_the_official_client_uses_it_as_configured_from_another_directory(
    project: Path, tmp_path: Path
) -> None:
    for configuration in host_configurations(project):
        asyncio.run(use(configuration, tmp_path))


def test_its_own_tests_pass_where_no_generator_is_installed(project: Path) -> None:
    python = str(project / ".venv/bin/python")
    absent = subprocess.run([python, "-c", "import mcpcodegen"], capture_output=True, text=True, env=CLEAN)
    assert "No module named 'mcpcodegen'" in absent.stderr
    done = subprocess.run(
        [python, "-m", "pytest", "-q"], cwd=project, capture_output=True, text=True, env=CLEAN
    )
    assert done.returncode == 0, done.stdout
    assert "18 passed" in done.stdout


def test_the_console_script_is_the_server(project: Path, tmp_path: Path) -> None:
    asyncio.run(use({"command": str(project / ".venv/bin/my-server")}, tmp_path))


def test_an_environment_elsewhere_is_named_in_the_configuration(tmp_path: Path) -> None:
    made = scaffold("my-server", tmp_path / "no environment here")
    configuration = host_configurations(made)[0]
    assert configuration["env"] == {"MCP_SERVER_PYTHON": sys.executable}
    asyncio.run(use(configuration, tmp_path))
