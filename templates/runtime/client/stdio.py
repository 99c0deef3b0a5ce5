"""stdio: a server as a child process. Its stdout carries messages, its stderr is left where ours goes.

What is on its stdout and is no message is reported and skipped. The child is ended as the specification asks:
its input is closed first, and force comes last (basic/transports/stdio, Shutdown).
"""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence

from ..errors import InvalidRequest
from ..jsonrpc import meant_for, write_error
from ..lines import Line, TooLong
from .process import MAX_ANSWER_BYTES, Child, start
from .transport import Disconnected, Lost, Outgoing, Receive

log = logging.getLogger(__name__)


class Stdio:
    """The transport to a child process."""

    streams = False
    mirrors = False

    def __init__(
        self,
        command: Sequence[str | os.PathLike[str]],
        env: Mapping[str, str] | None,
        cwd: str | os.PathLike[str] | None,
        restart: bool = False,
    ) -> None:
        """Start nothing yet. `env` is added to the environment of this process.

        With `restart` a server that has ended is started again by the next request; what was under way is lost.
        """
        if isinstance(command, str) or not command:
            raise ValueError("the command of a server is a list: the program, and its arguments")
        self._command = [os.fspath(part) for part in command]
        self._env = None if env is None else {**os.environ, **env}
        self._cwd = cwd
        self._restart = restart
        self._starting: asyncio.Task[None] | None = None
        self._handshakes = False

    def __repr__(self) -> str:
        return f"the command {shlex.join(self._command)!r}"

    async def open(self, receive: Receive, lost: Lost) -> None:
        """Start the child; raises Disconnected when it cannot be started."""
        self._receive = receive
        self._lost = lost
        self._closing = False
        self._child = await self._start()

    def carry(self, request: Outgoing) -> Awaitable[None]:
        """Write the request, one whole line; raises Disconnected when the child reads no more."""
        if self._restart and not self._handshakes and not self._child.usable:
            return self._carried_again(request)
        return self._child.write(request.message)

    async def _carried_again(self, request: Outgoing) -> None:
        child = await self._started_again()
        await child.write(request.message)

    async def notify(self, method: str, message: bytes) -> None:
        """Write the message, one whole line; raises Disconnected when the child reads no more."""
        await self._child.write(message)

    @property
    def hears(self) -> bool:
        return True

    async def begin(self, unheard: Callable[[Disconnected], None]) -> None:
        """Start the child again if it has ended: before a handshake there is nothing to lose."""
        self._handshakes = True
        if not self._child.usable:
            await self._started_again()

    def agreed(self, version: str) -> None:
        """Nothing on a pipe depends on the version."""

    async def hear(self) -> None:
        """A pipe is heard all the time."""

    def abandon(self) -> None:
        """A child that is asked without a handshake may be started by any request."""
        self._handshakes = False

    async def close(self) -> None:
        """End the child: close its input and wait, then terminate it, then kill it."""
        self._closing = True
        if self._starting is not None:
            await asyncio.wait({self._starting})
        await self._child.end()

    async def _started_again(self) -> Child:
        """The child that is started in the place of one that has ended, for all who ask, and whoever gives up."""
        if self._starting is None or self._starting.done():
            self._starting = asyncio.get_running_loop().create_task(self._start_again())
            # Where all who asked have given up, nobody else takes note of how it went.
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._starting)
        return self._child

    async def _start_again(self) -> None:
        await self._child.end()
        if not self._closing:
            log.warning("the server is started again")
            self._child = await self._start()

    async def _start(self) -> Child:
        return await start(self._command, self._env, self._cwd, self._take, self._gone)

    def _take(self, line: Line) -> None:
        if not isinstance(line, TooLong):
            self._receive(line, None)
            return
        log.error("skipped an answer of more than %d bytes", MAX_ANSWER_BYTES)
        refusal = InvalidRequest(f"The peer sent an answer of more than {MAX_ANSWER_BYTES} bytes")
        for identity in meant_for(*line):
            # Said in the place of the server, so that its call ends.
            self._receive(write_error(identity, refusal), None)

    def _gone(self, reason: Disconnected) -> None:
        if not self._closing:
            self._lost(Disconnected(str(reason), final=not self._restart))
