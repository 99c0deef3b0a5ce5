"""Hearing: who hears what comes before the result of a call, and the call itself while it is under way."""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextvars import copy_context
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from ..jsonrpc import Notification, Params
from ..latest import types
from .transport import Disconnected

log = logging.getLogger(__name__)

M = TypeVar("M")

Begin: TypeAlias = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
"""Begins something beside the calls, which ends with the client at the latest."""

Progress: TypeAlias = Callable[[types.ProgressNotificationParams], Awaitable[None] | None]
"""What is told of the progress of a call: a plain or an async function."""

Messages: TypeAlias = Callable[[types.LoggingMessageNotificationParams], Awaitable[None] | None]
"""What is told the log messages of a call: a plain or an async function."""

LEVELS: Final[Sequence[str]] = (
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"
)  # fmt: skip
"""How grave a log message can be, the least grave first."""

MAX_WAITING: Final = 1000
"""How many things may wait for an async callback that takes its time."""

LONGEST: Final = 10
"""How many times its timeout a call may take that goes on telling of progress."""


class Hearing(NamedTuple):
    """Who hears what comes before the result of a call, and how long it may take.

    `progress` and `messages` are told of progress and log messages, of these only what is as grave as `level`.
    The call may take `timeout` seconds (None: what the client allows all of them). `changes` gets each notification
    of a subscription, in order.
    """

    progress: Progress | None = None
    messages: Messages | None = None
    level: types.LoggingLevel = "info"
    timeout: float | None = None
    changes: Callable[[Notification], None] | None = None

    def wants(self, level: str) -> bool:
        """Whether a log message is grave enough; before 2026-07-28 a level is not that of one call."""
        return level not in LEVELS or LEVELS.index(level) >= LEVELS.index(self.level)


NOBODY: Final = Hearing()


class Listener(Generic[M]):
    """One that hears what a call tells, in order: an async one is done with each thing before it is told the next.

    One that fails is no fault of the call.
    """

    def __init__(self, function: Callable[[M], Awaitable[None] | None]) -> None:
        self._function = function
        self._waiting: deque[M] = deque(maxlen=MAX_WAITING)
        self._telling: asyncio.Task[None] | None = None
        self._slow = False

    def tell(self, told: M, begin: Begin) -> None:
        """Tell it something, at once or as soon as it is done; where too much waits, the oldest is left out."""
        if self._telling is not None:
            if len(self._waiting) == MAX_WAITING and not self._slow:
                self._slow = True
                log.warning("a callback is too slow: it is not told everything")
            self._waiting.append(told)
            return
        outcome = self._outcome(told)
        if outcome is not None:
            self._telling = begin(self._rest(outcome))
            if inspect.iscoroutine(outcome):
                # A client that is closed at once ends the task before that has looked at it.
                self._telling.add_done_callback(lambda _: outcome.close())

    async def done(self) -> None:
        """Wait until it is done with all that it was told."""
        if self._telling is not None:
            await asyncio.wait({self._telling})

    def _outcome(self, told: M) -> Awaitable[None] | None:
        try:
            outcome = self._function(told)
        except Exception:
            log.exception("a callback failed")
            return None
        return outcome if inspect.isawaitable(outcome) else None

    async def _rest(self, outcome: Awaitable[None] | None) -> None:
        while True:
            try:
                if outcome is not None:
                    await outcome
            except Exception:
                log.exception("a callback failed")
            if not self._waiting:
                self._telling = None
                return
            outcome = self._outcome(self._waiting.popleft())


class Call:
    """A call under way: its answer to be, and how long that may take; a `lasting` one takes as long as it likes.

    One that is `carried` has left, and only its answer is still to come; one that is `over` has that. The transport
    of one that `streams` is at it until then, in the task of the call.
    """

    carried = False
    over = False
    _interrupted = False
    _last: float | None = None

    def __init__(self, hearing: Hearing, lasting: bool, timeout: float | None, streams: bool) -> None:
        """A call of the task that runs; it may take `timeout` seconds where it does not say otherwise itself."""
        loop = asyncio.get_running_loop()
        self.waiter: asyncio.Future[Params] = loop.create_future()
        self.hearing = hearing
        self.progress = None if hearing.progress is None else Listener(hearing.progress)
        self.messages = None if hearing.messages is None else Listener(hearing.messages)
        self.lasting = lasting
        seconds = timeout if hearing.timeout is None else hearing.timeout
        self.seconds = None if lasting else seconds
        # Without a limit there is none to be made: it takes as long as the rest of this.
        self.limit = None if self.seconds is None else asyncio.timeout(self.seconds)
        self.context = copy_context()
        self._task = asyncio.current_task(loop) if streams else None

    async def heard(self) -> None:
        """Wait until all that was told is heard; what is told from now on is for others."""
        self.over = True
        for listener in (self.progress, self.messages):
            if listener is not None:
                await listener.done()

    def fail(self, error: Exception) -> None:
        """End it by an error, which is no matter where the call has ended by another before it looked."""
        self.waiter.set_exception(error)
        self.waiter.exception()

    def lose(self, reason: Disconnected) -> None:
        """End it without an answer, and interrupt the transport that is still at it."""
        if not self.waiter.done():
            self.fail(Disconnected(str(reason), final=reason.final))
            if self._task is not None:
                self._interrupted = True
                self._task.cancel()

    def has_outcome(self, error: BaseException) -> bool:
        """Whether it has one though its task was cut short: it was lost, or its answer came in time."""
        if isinstance(error, TimeoutError) and self.waiter.done() and not self.waiter.cancelled():
            return True  # Only what may come beside the answer was waited for.
        # Else somebody has cancelled it.
        return self._interrupted and self._task is not None and not self._task.uncancel()

    def goes_on(self) -> None:
        """Give a call that tells of progress its time again, but not for ever."""
        if self.seconds is None or self.limit is None or self.limit.expired():
            return
        if self._last is None:
            self._last = (self.limit.when() or 0) + (LONGEST - 1) * self.seconds
        self.limit.reschedule(min(asyncio.get_running_loop().time() + self.seconds, self._last))

    @property
    def is_late(self) -> bool:
        """Whether it has taken too long."""
        return self.limit is not None and self.limit.expired()
