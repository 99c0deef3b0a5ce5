"""process: one server as a child process, and all that differs between systems in how one is started and ended.

On POSIX the server leads a group, so that what it has started ends with it, and an interrupt typed at a terminal
ends us and not the server, which is ended in good order. On Windows it is ended with the tree below it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from ..lines import Line, Lines, TooLong
from .transport import Disconnected

log = logging.getLogger(__name__)

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""The longest line that is taken from a server; a longer one is reported, and fails its call."""

EXIT_SECONDS: Final = 5.0
"""How long a server may take to end after its input has, before it is terminated."""

FORCE_SECONDS: Final = 2.0
"""How long it may take after that, before it is killed."""

DRAIN_SECONDS: Final = 0.5
"""How long its output is still read after its end, for a child of it may hold that open, and the other way round."""

CHUNK_BYTES: Final = 64 * 1024
"""How much of its output is read at once: what a pipe holds."""

BATCH: Final = 16
"""How many messages of the same moment are written at once: the process begins with them while others are made."""

WINDOWS: Final = sys.platform == "win32"


class Child(asyncio.SubprocessProtocol):
    """A server process: its lines of output, its input, and its end."""

    def __init__(self, take: Callable[[Line], None], gone: Callable[[Disconnected], None]) -> None:
        """Give each line to `take`; tell `gone` once, when no more can come."""
        loop = asyncio.get_running_loop()
        self._take = take
        self._gone = gone
        self._lines = Lines(MAX_ANSWER_BYTES)
        self._exited: asyncio.Future[None] = loop.create_future()
        self._silent: asyncio.Future[None] = loop.create_future()
        self._closed: asyncio.Future[None] = loop.create_future()
        self._writable = asyncio.Event()
        self._writable.set()
        self._over = False
        self._unwritten: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self._stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        self._listen()
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        for line in self._lines.feed(cast(bytes, data)):
            self._take(line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 0:
            self._writable.set()
        elif not self._silent.done():
            self._silent.set_result(None)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def process_exited(self) -> None:
        self._over = True
        if not self._exited.done():
            self._exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._closed.done():
            self._closed.set_result(None)

    @property
    def usable(self) -> bool:
        """Whether it may still answer what it is asked now."""
        return not (self._over or self._stdin.is_closing())

    async def write(self, message: bytes) -> None:
        """Write one whole line; raises Disconnected when the process reads no more."""
        if not self.usable:
            raise self._deaf()
        if not self._unwritten:
            # What is said at the same moment goes out at once: a write for each takes longer than its message.
            asyncio.get_running_loop().call_soon(self._flush)
        self._unwritten += (message, b"\n")
        if len(self._unwritten) >= 2 * BATCH:
            self._flush()
        if not self._writable.is_set():
            await self._writable.wait()
            if not self.usable:
                raise self._deaf()

    def _deaf(self) -> Disconnected:
        return Disconnected("the server takes no more messages")

    def _flush(self) -> None:
        lines, self._unwritten = self._unwritten, []
        if lines and not self._stdin.is_closing():
            self._stdin.writelines(lines)

    async def end(self) -> None:
        """Close its input and wait, then terminate it, then kill it, with all that it has started."""
        try:
            self._flush()
            self._stdin.close()
            await _within(self._exited, EXIT_SECONDS)
            if not self._exited.done():
                await _stop(self._transport.get_pid())
                await _within(self._exited, FORCE_SECONDS)
        finally:
            if not self._exited.done():
                _kill(self._transport)
            await self._watching
            await self._closed

    def _listen(self) -> None:
        """Read the output ourselves: from its transport each chunk comes by one more turn of the loop, in fresh memory."""
        output = cast(asyncio.ReadTransport, self._transport.get_pipe_transport(1))
        pipe = output.get_extra_info("pipe")
        if not (WINDOWS or pipe is None or output.is_closing()):
            # What it has read by now is on its way, and comes first.
            output.pause_reading()
            asyncio.get_running_loop().add_reader(pipe, self._read, pipe.fileno(), output)

    def _read(self, descriptor: int, output: asyncio.ReadTransport) -> None:
        try:
            data = os.read(descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.pipe_data_received(1, data)
        else:
            # Its transport finds the same, and knows what to do at the end.
            asyncio.get_running_loop().remove_reader(descriptor)
            output.resume_reading()

    async def _watch(self) -> None:
        await asyncio.wait({self._exited, self._silent}, return_when=asyncio.FIRST_COMPLETED)
        if self._exited.done():
            await _within(self._silent, DRAIN_SECONDS)
        else:
            await _within(self._exited, DRAIN_SECONDS)
        for line in self._lines.close():
            self._take_last(line)
        self._over = True
        code = self._transport.get_returncode()
        reason = "has closed its output" if code is None else f"has ended with exit code {code}"
        self._gone(Disconnected(f"the server {reason}"))
        await self._exited
        # At once: later its number may be that of a stranger.
        await _emptied(self._transport.get_pid(), FORCE_SECONDS)
        if self._stdin.get_write_buffer_size():
            # To close it would be to wait until that is read.
            self._stdin.abort()
        self._transport.close()

    def _take_last(self, line: Line) -> None:
        """Take a line that the end has ended, unless that has cut it off: then its call is lost, as all others are."""
        if isinstance(line, TooLong) or line.rstrip().endswith(b"}"):
            self._take(line)
        else:
            log.warning("skipped a line that was cut off: %.200r", line[:200])


async def start(
    command: Sequence[str],
    env: Mapping[str, str] | None,
    cwd: str | os.PathLike[str] | None,
    take: Callable[[Line], None],
    gone: Callable[[Disconnected], None],
) -> Child:
    """Start a process; raises Disconnected, which says why, when it cannot be started."""
    try:
        _, child = await asyncio.get_running_loop().subprocess_exec(
            lambda: Child(take, gone), *_found(command), env=env, cwd=cwd, stderr=None, **_apart()
        )
    except OSError as error:
        raise Disconnected(_explained(command[0], cwd, error), final=True) from error
    return child


def _explained(program: str, cwd: str | os.PathLike[str] | None, error: OSError) -> str:
    if cwd is not None and not os.path.isdir(cwd):
        return f"the server cannot be started in {os.fspath(cwd)!r}: there is no such folder"
    advice = ": is it installed, and on the PATH?" if isinstance(error, FileNotFoundError) else ""
    advice = ": may it be executed?" if isinstance(error, PermissionError) else advice
    return f"the server {program!r} cannot be started ({error.strerror or error}){advice}"


async def _within(end: asyncio.Future[None], seconds: float) -> None:
    await asyncio.wait({end}, timeout=seconds)


# What differs between systems is below, and nowhere else.


def _found(command: Sequence[str]) -> list[str]:
    """The command with the program where it is: Windows starts `npx.cmd` by no other name."""
    program = shutil.which(command[0]) if WINDOWS else None
    return [program or command[0], *command[1:]]


def _apart() -> dict[str, Any]:
    """The options that start a process apart from ours."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


async def _stop(pid: int) -> None:
    """Ask a process that runs, and all that it has started, to end."""
    if sys.platform == "win32":
        ending = await asyncio.create_subprocess_exec(
            "taskkill", "/T", "/F", "/PID", str(pid), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        await ending.wait()
    else:
        _signal(pid, signal.SIGTERM)


def _kill(transport: asyncio.SubprocessTransport) -> None:
    """End a process that runs, and on POSIX all that it has started, at once."""
    if sys.platform != "win32":
        _signal(transport.get_pid(), signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        transport.kill()


async def _emptied(pid: int, seconds: float) -> None:
    """End what a process that has ended left behind: terminate it and wait, then kill it."""
    if sys.platform != "win32" and _signal(pid, signal.SIGTERM):
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while _signal(pid, 0):
                    await asyncio.sleep(0.02)
                return
        _signal(pid, signal.SIGKILL)


def _signal(pid: int, number: int) -> bool:
    """Signal the group that a process leads; whether there is one."""
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, number)
            return True
    return False
