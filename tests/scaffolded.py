"""A scaffolded server as a host sees it: a process, raw bytes in, raw bytes out."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judged import Conversation, answers

META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
BARE = {"PATH": "/usr/bin:/bin", "MCP_SERVER_PYTHON": sys.executable}
"""The environment of a host that passes nothing on; the interpreter stands for the project's own environment."""

PATIENCE = 20.0
"""Seconds after which a silent server counts as hung: far above what any answer here takes, for slow machines."""


def scaffold(name: str, parent: Path, *options: str) -> Path:
    """Write a project with the command, and return its folder."""
    command = [sys.executable, "-m", "mcpcodegen", "scaffold", name, "-o", str(parent), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return parent / name


def request(identity: object, method: str, meta: Mapping[str, Any] = META, **params: Any) -> bytes:
    """One line: a request with modern metadata."""
    message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": {"_meta": dict(meta), **params}}
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def call(identity: object, tool: str, **arguments: Any) -> bytes:
    """One line: a call of a tool."""
    return request(identity, "tools/call", name=tool, arguments=arguments)


class Process:
    """A running server; leaving the block closes its input and waits for it."""

    def __init__(self, command: list[str], environment: Mapping[str, str], directory: Path) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=directory,
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._conversation = Conversation()
        self.raw: list[bytes] = []
        self.errors: list[bytes] = []
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._drain)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.close()

    def send(self, data: bytes) -> None:
        """Write raw bytes to the server's standard input."""
        assert self._process.stdin is not None
        self._conversation.sent(data)
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def line(self) -> bytes:
        """The next line of the server's standard output, without its end."""
        return self._lines.get(timeout=PATIENCE)

    def answer(self) -> dict[str, Any]:
        """The next message."""
        line = self.line()
        self._conversation.received(line)
        message: dict[str, Any] = json.loads(line)
        return message

    def ask(self, data: bytes) -> dict[str, Any]:
        """Send one line and return the next message."""
        self.send(data)
        return self.answer()

    def silent(self) -> bool:
        """Whether nothing more was said."""
        return self._lines.empty()

    def close(self) -> int:
        """End the server's input; its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            code = self._process.wait(timeout=PATIENCE)
        finally:
            self._process.kill()
        for thread in self._threads:
            thread.join(timeout=PATIENCE)
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()
        return code

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.raw.append(line)
            self._lines.put(line.rstrip(b"\n"))

    def _drain(self) -> None:
        assert self._process.stderr is not None
        self.errors.extend(self._process.stderr)


def start(project: Path, directory: Path, **environment: str) -> Process:
    """Start a project exactly as its host configuration says, but for the interpreter in `BARE`."""
    stanza = json.loads((project / "mcp.json").read_text())["mcpServers"][project.name]
    return Process([stanza["command"], *stanza["args"]], {**BARE, **environment}, directory)


def run(project: Path, stdin: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a project to its end with a file as its input."""
    with stdin.open("rb") as source:
        command = [sys.executable, "-I", str(project / "serve.py")]
        done = subprocess.run(
            command, stdin=source, capture_output=True, env=BARE, cwd=os.sep, timeout=PATIENCE
        )
    answers(stdin.read_bytes(), done.stdout)
    return done
