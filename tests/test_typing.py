"""What type checkers conclude about the public surface is what is promised; and they catch what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = sorted((Path(__file__).parent / "typed").glob("*.py"))

WRONG = """
from mcprotocol.v2026_07_28 import messages, types

types.TextContent()
types.TextContent(text=5)
types.TextContent(text="x", annotation=None)
messages.parse_result("tools/cal", b"")
types.CallToolResult(content="x")
"""
"""Five faults, one a line."""


def mypy(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(file)]
    return subprocess.run(command, capture_output=True, text=True)


def pyright(file: Path, project: Path) -> subprocess.CompletedProcess[str]:
    (project / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "pythonVersion": "3.11"}')
    copy = project / "sample.py"
    copy.write_text(file.read_text())
    command = [sys.executable, "-m", "basedpyright", "-p", str(project), "--pythonpath", sys.executable]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_mypy_concludes_what_a_sample_asserts(sample: Path) -> None:
    done = mypy(sample)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_pyright_concludes_what_a_sample_asserts(sample: Path, tmp_path: Path) -> None:
    done = pyright(sample, tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_each_misuse_is_found(checker: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(WRONG)
    done = mypy(file) if checker == "mypy" else pyright(file, tmp_path)
    for line in (4, 5, 6, 7, 8):
        assert f".py:{line}:" in done.stdout, done.stdout


CALLS = """
from mcprotocol.client import Client, ClientSync

async def wrong(client: Client, twin: ClientSync) -> None:
    await client.call_tool("a", [1])
    await client.call_tool("a", timeout="5")
    client.listen(tools="yes")
    for tool in client.tools(): ...
    await twin.discover()
    Client.stdio(["server"], cashe=False)
"""
"""Six faults, one a line."""


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_each_misuse_of_a_client_is_found(checker: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(CALLS)
    done = mypy(file) if checker == "mypy" else pyright(file, tmp_path)
    for line in (5, 6, 7, 8, 9, 10):
        assert f".py:{line}:" in done.stdout, done.stdout


def test_deprecated_types_are_struck_through(tmp_path: Path) -> None:
    file = tmp_path / "old.py"
    file.write_text("from mcprotocol.v2026_07_28 import types\n\ntypes.Root(uri='file:///x')\n")
    done = pyright(file, tmp_path)
    assert "deprecated" in done.stdout and "2026-07-28" in done.stdout
