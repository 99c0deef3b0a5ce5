"""Official clients that know nothing after 2025-11-25, unmodified: each plays the same verbs against the everything server."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import venv
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hosted import hosted
from suite import HANDSHAKE, HERE, SECONDS, environment, installed, node

RELEASE = "mcp==1.30.0"
"""The last official Python package that knows the handshake alone."""

CLEAN = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
"""The environment without what would have that package see others than its own."""

Reached: TypeAlias = Callable[[], AbstractAsyncContextManager[list[str]]]
"""Makes a fresh server; what a client is told to find it by."""


@asynccontextmanager
async def over_stdio() -> AsyncGenerator[list[str]]:
    """The command that the client starts."""
    yield [sys.executable, str(HERE / "everything.py"), "--stdio"]


@asynccontextmanager
async def over_http() -> AsyncGenerator[list[str]]:
    """The address of a server that runs."""
    async with hosted(sys.executable, HERE / "everything.py", cwd=HERE, **environment()) as site:
        yield [f"{site.url}/mcp"]


WAYS: Mapping[str, Reached] = {"stdio": over_stdio, "http": over_http}


def python(config: pytest.Config) -> list[str]:
    """The Python client."""
    return [str(interpreter(config)), str(HERE / "handshaker.py")]


def typescript(config: pytest.Config) -> list[str]:
    """The TypeScript client."""
    return [node(), str(installed(config) / HANDSHAKE)]


def interpreter(config: pytest.Config) -> Path:
    """The interpreter of an environment with the Python package alone, which is kept in pytest's cache."""
    return _python(config.cache.mkdir("handshake"))


CLIENTS: Mapping[str, Callable[[pytest.Config], list[str]]] = {"python": python, "typescript": typescript}


async def outcomes(client: list[str], reached: Reached) -> dict[str, Any]:
    """What becomes of each verb that a client plays against a fresh server."""
    async with reached() as target:
        found: dict[str, Any] = json.loads(await said(*client, *target))
    return found


async def said(*command: str, **more: str) -> str:
    """What a program prints; raises with what it complains of when it fails."""
    variables = {**environment(), **more}
    process = await asyncio.create_subprocess_exec(*command, env=variables, stdout=PIPE, stderr=PIPE)
    try:
        async with asyncio.timeout(SECONDS):
            output, complaint = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
        code = await process.wait()
    if code:
        raise RuntimeError(f"{command[1]} ended with {code}:\n{output.decode()}{complaint.decode()}")
    return output.decode()


@cache
def _python(folder: Path) -> Path:
    """The interpreter of an environment that is made once in a folder; raises with pip's own words."""
    interpreter = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not interpreter.exists():
        venv.create(folder, with_pip=True)
    command = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", RELEASE]
    done = subprocess.run(command, capture_output=True, text=True, env=CLEAN)
    if done.returncode:
        raise RuntimeError(f"pip ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return interpreter
