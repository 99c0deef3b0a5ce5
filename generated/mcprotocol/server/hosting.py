"""Hosting: an ASGI application as a process of its own, from its port to its end, by uvicorn."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Generator
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NoReturn

from .asgi import ASGIApp

if TYPE_CHECKING:
    from socket import socket
    from types import FrameType

    import uvicorn

LINGER_SECONDS = 1
"""How long uvicorn may wait for what has come in since the end."""

END_SECONDS = 4.5
"""How long it may take, once told to end, until nothing is in flight any more."""

GRACE_SECONDS = 0.5
"""How long it may take after the lifespan has ended, until the event loop has."""

NOT_STARTED = 3
"""The exit code of a server that could not start, as uvicorn has it."""


def serve(application: ASGIApp, host: str, port: int, at_end: Callable[[], Awaitable[None]]) -> None:
    """Run an application in this process until it is interrupted; raises RuntimeError without uvicorn.

    uvloop and httptools are used where they are installed. Told to end, it takes no more connections and waits
    for `at_end`, which ends what is in flight; a handler that then neither ends nor lets others end is not waited
    for, and ends with the process. The lifespan of the application has all the time that it takes. SIGTERM ends
    the process with exit code 0, unless the program has a handler for it.
    """
    watch = Watch()
    server = _host(application, host, port, at_end, watch)
    with watch, _ending_well():
        server.run()
    if not server.started:
        sys.exit(NOT_STARTED)


def _host(
    application: ASGIApp, host: str, port: int, at_end: Callable[[], Awaitable[None]], watch: Watch
) -> uvicorn.Server:
    """A host that is told by signals to end, and says to the watch how long it may take from there."""
    try:
        import uvicorn
    except ModuleNotFoundError as error:
        raise RuntimeError("serving over HTTP needs uvicorn: pip install uvicorn") from error

    class Host(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if not self.should_exit:
                watch.within(END_SECONDS)
            super().handle_exit(sig, frame)

        async def shutdown(self, sockets: list[socket] | None = None) -> None:
            for listener in self.servers:
                listener.close()
            # Before uvicorn waits for its connections: a subscription never ends by itself.
            await at_end()
            watch.within(None)
            await super().shutdown(sockets)
            watch.within(GRACE_SECONDS)

    config = uvicorn.Config(
        application,
        host=host,
        port=port,
        ws="none",
        access_log=False,
        timeout_graceful_shutdown=LINGER_SECONDS,
    )
    return Host(config)


class Watch:
    """A block that takes no longer than was said last: then the process ends, with exit code 0.

    In a thread, because a handler may block the loop; told by a queue, because signal handlers may put into one
    whatever they have interrupted.
    """

    def __init__(self) -> None:
        """Wait for ever, as long as nothing is said."""
        self._told: SimpleQueue[float | None] = SimpleQueue()
        self._over = False

    def within(self, seconds: float | None) -> None:
        """Allow so many seconds from now on; None: any time."""
        self._told.put(seconds)

    def __enter__(self) -> None:
        threading.Thread(target=self._wait, name="watch", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._told.put(None)

    def _wait(self) -> None:
        seconds = None
        while not self._over:
            try:
                seconds = self._told.get(timeout=seconds)
            except Empty:
                os._exit(0)


@contextlib.contextmanager
def _ending_well() -> Generator[None, None, None]:
    """SIGTERM ends the process in good order; an interrupt ends the block, and no more."""
    own = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if own:
        signal.signal(signal.SIGTERM, _leave)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        if own:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _leave(*_: object) -> NoReturn:
    # uvicorn gives back a signal that has ended it.
    sys.exit(0)
