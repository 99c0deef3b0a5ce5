"""stdio: a server as a child process. Its stdout carries messages, its stderr is left where ours goes.

What is on its stdout and is no message is reported and skipped. The child is ended as the specification asks:
its input is closed first, and force comes last (basic/transports/stdio, Shutdown).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence

from ..lines import Line, Lines
from .transport import Disconnected, Lost, Outgoing, Receive

log = logging.getLogger(__name__)

CHUNK = 1 << 16
"""Bytes of one read."""

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""The longest line that is taken from a server; a longer one is reported and skipped."""

EXIT_SECONDS = 5.0
"""How long a server may take to end after its input has, before it is terminated."""

FORCE_SECONDS = 2.0
"""How long it may take after that, before it is killed."""


class Stdio:
    """The transport to a child process."""

    streams = False
    mirrors = False

    def __init__(
        self,
        command: Sequence[str | os.PathLike[str]],
        env: Mapping[str, str] | None,
        cwd: str | os.PathLike[str] | None,
    ) -> None:
        """Start nothing yet. `env` is added to the environment of this process."""
        self._command = [os.fspath(part) for part in command]
        self._env = None if env is None else {**os.environ, **env}
        self._cwd = cwd

    async def open(self, receive: Receive, lost: Lost) -> None:
        """Start the child; raises OSError when it cannot be started."""
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, env=self._env, cwd=self._cwd
        )
        self._reading = asyncio.create_task(self._read(receive, lost))

    async def carry(self, request: Outgoing) -> None:
        """Write the request, one whole line; raises Disconnected when the child reads no more."""
        await self.notify(request.method, request.message)

    async def notify(self, method: str, message: bytes) -> None:
        """Write the message, one whole line; raises Disconnected when the child reads no more."""
        stdin = self._stdin()
        try:
            stdin.write(message + b"\n")
            await stdin.drain()
        except (OSError, RuntimeError) as error:
            raise Disconnected("the server takes no more messages") from error

    async def close(self) -> None:
        """End the child: close its input and wait, then terminate it, then kill it."""
        process = self._process
        try:
            self._stdin().close()
            if not await _ends(process, EXIT_SECONDS):
                with contextlib.suppress(ProcessLookupError):
                    process.terminate()
                await _ends(process, FORCE_SECONDS)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    def _stdin(self) -> asyncio.StreamWriter:
        assert self._process.stdin is not None, "the child was started with a pipe"
        return self._process.stdin

    async def _read(self, receive: Receive, lost: Lost) -> None:
        assert self._process.stdout is not None, "the child was started with a pipe"
        lines = Lines(MAX_ANSWER_BYTES)
        while chunk := await self._process.stdout.read(CHUNK):
            _pass(lines.feed(chunk), receive)
        _pass(lines.close(), receive)
        ended = await _ends(self._process, FORCE_SECONDS)
        reason = f"has ended with exit code {self._process.returncode}" if ended else "has closed its output"
        lost(Disconnected(f"the server {reason}"))


async def _ends(process: Process, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        return False
    return True


def _pass(lines: list[Line], receive: Receive) -> None:
    for line in lines:
        if line is None:
            log.error("skipped an answer of more than %d bytes", MAX_ANSWER_BYTES)
        else:
            receive(line, None)
