"""Servers on what nobody here wrote, and a client of ours that is connected to one over HTTP or stdio.

The everything server of the official Python package is in its source distribution, which is known by its hash, and is
run as it lies there; the official TypeScript package brings no server, so `server.mjs` makes some offers with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, TypeAlias, Unpack

import pytest
from hosted import hosted
from mcprotocol.client import Client
from mcprotocol.client.era import Era
from mcprotocol.client.session import Options
from suite import HERE, SERVER, environment, installed, node

VERSION: Final = "2.3.0"

SHA256: Final = "8b147a50441cf059dc88c684e0aeed3687f0aa0f39c6cde7b90330effd2b34d8"
"""The hash of the source distribution of that version."""

EXAMPLES: Final = f"mcp-{VERSION}/examples"
"""Where the servers lie within it."""

Transport: TypeAlias = Literal["http", "stdio"]


@dataclass(frozen=True)
class Server:
    """A server, and how it is started: the command takes a file, and `--stdio` where it is not to serve HTTP."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    lasting: str
    """The tool that lasts longest, to be cancelled."""
    era: Era | None = None
    """How it is to be spoken to, where the client is not to find out."""


def python(config: pytest.Config) -> Server:
    """The everything server of the official Python package."""
    folder = examples(config) / "servers" / "everything-server"
    command = (sys.executable, str(HERE / "onlooker.py"))
    return Server(command, {**os.environ, "PYTHONPATH": str(folder)}, "test_tool_with_progress")


def shaken(config: pytest.Config) -> Server:
    """The same in the mode that it has for clients which begin with a handshake."""
    return replace(python(config), era="handshake")


def typescript(config: pytest.Config) -> Server:
    """A server on the official TypeScript package."""
    program = installed(config) / SERVER
    return Server((node(), str(program)), environment(), "test_tool_without_end")


SERVERS: Final[Mapping[str, Callable[[pytest.Config], Server]]] = {
    "python": python,
    "python after a handshake": shaken,
    "typescript": typescript,
}


def examples(config: pytest.Config) -> Path:
    """The servers that the official Python package publishes; the archive stays in pytest's own cache."""
    return unpacked(config.cache.mkdir("sdist"))


@cache
def unpacked(folder: Path) -> Path:
    """Where the servers are, unpacked afresh from an archive of the right hash, which is fetched once."""
    archive = folder / f"mcp-{VERSION}.tar.gz"
    if not archive.is_file():
        _fetch(folder)
    digest = sha256(archive.read_bytes()).hexdigest()
    if digest != SHA256:
        raise RuntimeError(f"{archive} is not the one that is known here: its hash is {digest}")
    with tarfile.open(archive) as packed:
        members = [one for one in packed.getmembers() if one.name.startswith(f"{EXAMPLES}/")]
        packed.extractall(folder, members, filter="data")
    return folder / EXAMPLES


def _fetch(folder: Path) -> None:
    """Fetch the archive; skips where there is no pip, raises with pip's own words."""
    if find_spec("pip") is None:
        pytest.skip("no pip in this environment to fetch the source distribution of mcp with")
    wanted = folder / "requirements.txt"
    wanted.write_text(f"mcp=={VERSION} --hash=sha256:{SHA256}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", "mcp"]
    done = subprocess.run([*pip, "-r", wanted, "-d", folder], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"pip download ended with {done.returncode}:\n{done.stdout}{done.stderr}")


@asynccontextmanager
async def connected(
    server: Server, transport: Transport, file: Path, **options: Unpack[Options]
) -> AsyncGenerator[Client, None]:
    """A client of a server that is started, and told the file; both end together."""
    command = (*server.command, str(file))
    if transport == "stdio":
        async with Client.stdio([*command, "--stdio"], env=server.environment, **options) as client:
            yield client
        return
    async with (
        hosted(*command, cwd=None, **server.environment) as site,
        Client.http(f"{site.url}/mcp", **options) as client,
    ):
        yield client
