"""Blocking: an event loop in a thread of its own, on which the calls of any thread run while that thread waits.

What a call tells and asks meanwhile (progress, log messages, forms) is done in the thread that waits for it, so
that a handler may take its time, read the keyboard, or make calls itself, and an interrupt reaches it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import inspect
import logging
import queue
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from functools import partial
from types import TracebackType
from typing import Any, Final, ParamSpec, Self, TypeVar, cast

from ..jsonrpc import RequestMethod
from ..latest import types
from ..wire import WireModel
from .answers import Answers
from .driver import Driver, Mirrored
from .hearing import NOBODY, Hearing
from .listen import Change, Listening
from .transport import Disconnected

log = logging.getLogger(__name__)

A = ParamSpec("A")
R = TypeVar("R")
T = TypeVar("T", bound=WireModel)
Q = TypeVar("Q", bound=WireModel)

TICK_SECONDS: Final = 1.0
"""How often a thread that waits looks for an interrupt, where none wakes it (Windows)."""


class Desk:
    """A thread that waits for a call, and what it is to do meanwhile."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._task: asyncio.Task[Any] | None = None
        self._left = False

    def begin(self) -> None:
        """Say, on the loop, which task is waited for: the one that runs."""
        self._task = asyncio.current_task()
        if self._left:
            raise asyncio.CancelledError

    def leave(self) -> None:
        """Say, on the loop, that nobody waits any more."""
        self._left = True
        if self._task is not None:
            self._task.cancel()

    def put(self, work: Callable[[], object] | None) -> None:
        """Have the thread do something; None ends its wait."""
        self._work.put(work)

    def serve(self) -> None:
        """Wait, and do what is put here."""
        while True:
            try:
                work = self._work.get(timeout=TICK_SECONDS)
            except queue.Empty:
                continue
            if work is None:
                return
            work()

    async def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function gives that is called in the thread."""
        answer: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self.put(partial(_settle, answer, function, arguments))
        outcome = await asyncio.wrap_future(answer)
        return await outcome if inspect.isawaitable(outcome) else outcome

    def hearing(self, hearing: Hearing) -> Hearing:
        """The listeners of a call, told in the thread."""
        return hearing._replace(progress=self._told(hearing.progress), messages=self._told(hearing.messages))

    def _told(
        self, function: Callable[[R], Awaitable[None] | None] | None
    ) -> Callable[[R], Awaitable[None] | None] | None:
        if function is None or inspect.iscoroutinefunction(function):
            return function
        return lambda params: self.put(partial(_tell, function, params))


_waiting: ContextVar[Desk] = ContextVar("waiting")


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def running(self) -> bool:
        """Whether it has begun, and not ended."""
        return self._loop is not None

    def start(self) -> None:
        """Begin; raises RuntimeError when it has begun."""
        if self._loop is not None:
            raise RuntimeError("the client is in use already")
        started: concurrent.futures.Future[asyncio.AbstractEventLoop] = concurrent.futures.Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._live(started)), name="mcp-client", daemon=True
        )
        self._thread.start()
        self._loop = started.result()

    def stop(self) -> None:
        """End, and with it all that still runs."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()
            self._loop = None

    def run(self, work: Coroutine[Any, Any, R], desk: Desk | None = None) -> R:
        """What a coroutine gives; an interrupt of the thread that waits cancels it."""
        if self._loop is None or threading.current_thread() is self._thread:
            work.close()
            if self._loop is None:
                raise Disconnected("the client is not connected: use it as `with`", final=True)
            raise RuntimeError("a coroutine cannot wait for a blocking client")
        desk = desk or Desk()
        try:
            # An interrupt can come at any point of this.
            future = asyncio.run_coroutine_threadsafe(_beside(desk, work), self._loop)
            future.add_done_callback(lambda _: desk.put(None))
            desk.serve()
        except BaseException:
            self._loop.call_soon_threadsafe(desk.leave)
            raise
        return future.result()

    async def _live(self, started: concurrent.futures.Future[asyncio.AbstractEventLoop]) -> None:
        self._end = asyncio.Event()
        started.set_result(asyncio.get_running_loop())
        await self._end.wait()


class Blocked:
    """A driver whose calls are waited for."""

    def __init__(self, driver: Driver, loop: Loop) -> None:
        self._driver = driver
        self._loop = loop
        self.meta = driver.meta

    def call(
        self,
        method: RequestMethod[Q, T],
        make: Callable[[types.RequestMetaObject], Q],
        hearing: Hearing = NOBODY,
    ) -> T:
        """As `Driver.call`."""
        desk = Desk()
        return self._loop.run(self._driver.call(method, make, desk.hearing(hearing)), desk)

    def kept(
        self,
        method: RequestMethod[Q, T],
        make: Callable[[types.RequestMetaObject], Q],
        hearing: Hearing = NOBODY,
        *,
        fresh: bool = False,
    ) -> T:
        """As `Driver.kept`."""
        desk = Desk()
        return self._loop.run(self._driver.kept(method, make, desk.hearing(hearing), fresh=fresh), desk)

    def complete(
        self,
        method: RequestMethod[Q, T | types.InputRequiredResult],
        make: Callable[[types.RequestMetaObject], Q],
        hearing: Hearing = NOBODY,
        mirrored: Mirrored | None = None,
        *,
        fresh: bool = False,
    ) -> T:
        """As `Driver.complete`."""
        desk = Desk()
        work = self._driver.complete(method, make, desk.hearing(hearing), mirrored, fresh=fresh)
        return self._loop.run(work, desk)


class ListeningSync:
    """A subscription: a context manager, open inside its block, and the changes one by one, waited for."""

    def __init__(self, listening: Listening, loop: Loop) -> None:
        self._listening = listening
        self._loop = loop

    @property
    def granted(self) -> types.SubscriptionFilter:
        """What the server has acknowledged, which may be less than what was asked for."""
        return self._listening.granted

    def __enter__(self) -> Self:
        """Open the subscription; raises McpError when the server refuses it, TimeoutError without an answer."""
        self._loop.run(self._listening.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.run(self._listening.__aexit__(kind, error, trace))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Change:
        change = self._loop.run(self._listening.next())
        if change is None:
            raise StopIteration
        return change


def in_waiting_thread(answers: Answers) -> Answers:
    """The handlers of a client, called in the thread that waits for the call that asks."""
    return dataclasses.replace(
        answers,
        form=_asked(answers.form),
        url=_asked(answers.url),
        sample=_asked(answers.sample),
        roots=_asked(answers.roots),
    )


def _asked(function: Callable[A, Awaitable[R] | R] | None) -> Callable[A, Awaitable[R]] | None:
    if function is None:
        return None

    async def asked(*arguments: A.args, **named: A.kwargs) -> R:
        return cast(R, await _waiting.get().ask(partial(function, **named), *arguments))

    return asked


async def _beside(desk: Desk, work: Coroutine[Any, Any, R]) -> R:
    try:
        desk.begin()
    except asyncio.CancelledError:
        work.close()
        raise
    _waiting.set(desk)
    return await work


def _settle(
    answer: concurrent.futures.Future[Any], function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(function(*arguments))
    except Exception as error:
        answer.set_exception(error)


def _tell(function: Callable[[R], object], params: R) -> None:
    try:
        function(params)
    except Exception:
        log.exception("a callback failed")
