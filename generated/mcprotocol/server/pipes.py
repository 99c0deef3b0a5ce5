"""Pipes: the descriptors of stdio, taken over; read in a thread, written at once or in a thread.

Threads, because a blocking read or write works on every platform for pipes, sockets, files, terminals and the
null device alike; one hand-over takes as many messages as there are.
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue

CHUNK = 1 << 16
"""Bytes of one read: what a pipe holds on Linux."""

CREDIT = 4
"""Chunks that may be read before the first of them is dealt with."""

PIECE: int = getattr(select, "PIPE_BUF", 512)
"""Bytes of a small write, which a pipe that is ready takes without waiting (POSIX: 512 or more)."""

PIECES = 16
"""How many small writes may be made at once, on the event loop."""


def take_over() -> tuple[int, int]:
    """The descriptors of the protocol, out of reach of all else that uses stdin and stdout.

    From here on descriptor 1 leads to stderr and descriptor 0 to the null device, for `print`, for libraries
    and for child processes (basic/transports/stdio: nothing but messages on stdout).
    """
    for descriptor in (0, 1, 2):
        _be_open(descriptor)
    incoming, outgoing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace", line_buffering=True)
    if sys.platform == "win32":
        import msvcrt  # There alone.

        for descriptor in (incoming, outgoing):
            msvcrt.setmode(descriptor, os.O_BINARY)
    return incoming, outgoing


class Reader:
    """Reads a descriptor to its end; the event loop takes the chunks."""

    def __init__(self, descriptor: int, take: Callable[[bytes], None], at_end: Callable[[], None]) -> None:
        """Start: `take` gets each chunk on the loop, the last one empty; `at_end` runs in the thread."""
        self._descriptor = descriptor
        self._take = take
        self._at_end = at_end
        self._loop = asyncio.get_running_loop()
        self._credit = threading.Semaphore(CREDIT)
        threading.Thread(target=self._read, name="reader", daemon=True).start()

    def more(self) -> None:
        """Allow one more chunk, in return for one that was taken."""
        self._credit.release()

    def _read(self) -> None:
        chunk = b" "
        while chunk:
            self._credit.acquire()
            try:
                chunk = os.read(self._descriptor, CHUNK)
            except OSError:
                chunk = b""  # A terminal that is gone reads as an error; nothing will come any more.
            try:
                self._loop.call_soon_threadsafe(self._take, chunk)
            except RuntimeError:
                return  # The loop has ended before the input.
        self._at_end()


class Writer:
    """Writes lines to a descriptor, whole and in order."""

    def __init__(self, descriptor: int, broken: Callable[[], None]) -> None:
        """Write from the running loop; when nobody reads any more `broken` is called and all is dropped."""
        self._descriptor = descriptor
        self._broken = broken
        self._loop = asyncio.get_running_loop()
        self._lines: list[bytes] = []
        self._handed = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._jobs: SimpleQueue[bytes | memoryview] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._ready = _readiness(descriptor)
        self.backlog = 0
        """Bytes that are not written yet."""
        self.broken = False

    def put(self, line: bytes) -> None:
        """Write one line soon; lines of the same turn of the loop share a write."""
        if self.broken:
            return
        self._lines.append(line)
        self.backlog += len(line) + 1
        if len(self._lines) == 1:
            self._loop.call_soon(self._flush)

    async def until(self, backlog: int) -> None:
        """Wait until no more than so many bytes are unwritten, or nobody reads any more."""
        while self.backlog > backlog and not self.broken:
            waiter = self._loop.create_future()
            self._waiting.append(waiter)
            await waiter

    def _flush(self) -> None:
        rest: bytes | memoryview = b"\n".join([*self._lines, b""])
        self._lines.clear()
        try:
            if not self._handed:
                rest = self._write_now(rest)
        except OSError:
            self._break()
        if rest and not self.broken:
            self._hand_over(rest)

    def _write_now(self, data: bytes | memoryview) -> memoryview:
        """Write what can be written without waiting; returns the rest."""
        rest = memoryview(data)
        for _ in range(PIECES):
            if not rest or not self._ready():
                break
            rest = rest[os.write(self._descriptor, rest[:PIECE]) :]
        self._wrote(len(data) - len(rest))
        return rest

    def _hand_over(self, data: bytes | memoryview) -> None:
        self._handed += len(data)
        self._jobs.put(data)
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, name="writer", daemon=True)
            self._thread.start()

    def _write(self) -> None:
        while True:
            data = memoryview(self._jobs.get())
            outcome = partial(self._wrote_handed, len(data))
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError:
                outcome = partial(self._break)
            try:
                self._loop.call_soon_threadsafe(outcome)
            except RuntimeError:
                return  # The loop has ended.

    def _wrote_handed(self, size: int) -> None:
        self._handed -= size
        self._wrote(size)

    def _wrote(self, size: int) -> None:
        self.backlog -= size
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    def _break(self) -> None:
        self.broken = True
        self._lines.clear()
        self._wrote(self.backlog)
        self._broken()


def _readiness(descriptor: int) -> Callable[[], bool]:
    """Whether a small write would return at once, which POSIX promises when poll says so."""
    if sys.platform == "win32":
        return lambda: False
    poller = select.poll()
    poller.register(descriptor, select.POLLOUT)
    return lambda: any(event & select.POLLOUT for _, event in poller.poll(0))


def _be_open(descriptor: int) -> None:
    """A descriptor that was closed when the process began must not become one of ours."""
    try:
        os.fstat(descriptor)
    except OSError:
        # The lowest free number is given out, so this is it: those below are open.
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
