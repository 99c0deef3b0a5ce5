"""Hosting: an ASGI application as a process of its own, from its port to its end, by uvicorn."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, NoReturn

from .asgi import ASGIApp

if TYPE_CHECKING:
    from socket import socket

LINGER_SECONDS = 1
"""How long uvicorn may wait for what has come in since the end."""

NOT_STARTED = 3
"""The exit code of a server that could not start, as uvicorn has it."""


def serve(application: ASGIApp, host: str, port: int, at_end: Callable[[], Awaitable[None]]) -> None:
    """Run an application in this process until it is interrupted; raises RuntimeError without uvicorn.

    uvloop and httptools are used where they are installed. Told to end, it takes no more connections and waits
    for `at_end`, which ends what is in flight. SIGTERM ends the process with exit code 0, unless the program
    has a handler for it.
    """
    try:
        import uvicorn
    except ModuleNotFoundError as error:
        raise RuntimeError("serving over HTTP needs uvicorn: pip install uvicorn") from error

    class Host(uvicorn.Server):
        async def shutdown(self, sockets: list[socket] | None = None) -> None:
            for listener in self.servers:
                listener.close()
            # Before uvicorn waits for its connections: a subscription never ends by itself.
            await at_end()
            await super().shutdown(sockets)

    config = uvicorn.Config(
        application,
        host=host,
        port=port,
        ws="none",
        access_log=False,
        timeout_graceful_shutdown=LINGER_SECONDS,
    )
    server = Host(config)
    with _ending_well():
        server.run()
    if not server.started:
        sys.exit(NOT_STARTED)


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
