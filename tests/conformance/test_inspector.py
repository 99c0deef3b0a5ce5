"""The command-line mode of the official Inspector uses a scaffolded server by its host configuration, in either era."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from older import said
from scaffolded import scaffold
from suite import installed, node

pytestmark = pytest.mark.conformance

INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
LIGHT = [{"day": "2026-06-21", "hours": 18.5}]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scaffold("my-server", tmp_path_factory.mktemp("inspected"))


@pytest.mark.parametrize("era", ["legacy", "modern", "auto"])
def test_it_lists_and_calls(project: Path, era: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    inspector = [node(), str(installed(pytestconfig) / INSPECTOR), "--cli", "--protocol-era", era]
    configured = ["--config", str(project / "mcp.json"), "--server", "my-server"]

    def asked(*options: str) -> Any:
        # What it keeps of its own has its place there.
        return json.loads(asyncio.run(said(*inspector, *configured, *options, HOME=str(tmp_path))))

    tools = asked("--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == ["daylight", "light_enough"]
    assert ["outputSchema" in tool for tool in tools] == [era != "legacy", False]
    arguments = ["latitude=59.9", "first=2026-06-21"]
    called = asked("--method", "tools/call", "--tool-name", "daylight", "--tool-arg", *arguments)
    assert json.loads(called["content"][0]["text"]) == LIGHT
    assert called.get("structuredContent") == (None if era == "legacy" else LIGHT)
