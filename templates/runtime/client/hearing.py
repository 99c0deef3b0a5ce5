"""Hearing: who hears what comes before the result of a call, and the call itself while it is under way."""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Self, TypeAlias, cast

from ..jsonrpc import Notification, Params
from ..latest import types
from .transport import Disconnected

Progress: TypeAlias = Callable[[types.ProgressNotificationParams], Awaitable[None] | None]
"""What is told of the progress of a call: a plain or an async function."""

Messages: TypeAlias = Callable[[types.LoggingMessageNotificationParams], Awaitable[None] | None]
"""What is told the log messages of a call: a plain or an async function."""

LEVELS: Final[Sequence[str]] = (
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"
)  # fmt: skip
"""How grave a log message can be, the least grave first."""

LONGEST: Final = 10
"""How many times its timeout a call may take that goes on telling of progress."""


class Hearing(NamedTuple):
    """Who hears what comes before the result of a call, and how long it may take.

    `progress` and `messages` are told of progress and log messages, of these only what is as grave as `level`.
    `changes` gets each notification of a subscription, in order. The call may take `timeout` seconds (None: what
    the client allows all of them).
    """

    progress: Progress | None = None
    messages: Messages | None = None
    level: types.LoggingLevel = "info"
    changes: Callable[[Notification], None] | None = None
    timeout: float | None = None

    def wants(self, level: str) -> bool:
        """Whether a log message is grave enough; before 2026-07-28 a level is not that of one call."""
        return level not in LEVELS or LEVELS.index(level) >= LEVELS.index(self.level)


NOBODY: Final = Hearing()


@dataclass(slots=True)
class Call:
    """A call under way: its answer to be, and how long that may take; a `lasting` one takes as long as it likes.

    One that is `carried` has left, and only its answer is still to come.
    """

    waiter: asyncio.Future[Params]
    hearing: Hearing
    lasting: bool
    seconds: float | None
    limit: asyncio.Timeout | None
    task: asyncio.Task[Any]
    carried: bool = False
    interrupted: bool = False
    last: float | None = None
    context: Context = field(default_factory=copy_context)

    @classmethod
    def begun(cls, hearing: Hearing, lasting: bool, timeout: float | None) -> Self:
        """A call of the task that runs; it may take `timeout` seconds where it does not say otherwise itself."""
        loop = asyncio.get_running_loop()
        seconds = timeout if hearing.timeout is None else hearing.timeout
        seconds = None if lasting else seconds
        # Without a limit there is none to be made: it takes as long as the rest of this.
        limit = None if seconds is None else asyncio.timeout(seconds)
        task = cast(asyncio.Task[Any], asyncio.current_task(loop))
        return cls(loop.create_future(), hearing, lasting, seconds, limit, task)

    def lose(self, reason: Disconnected, interrupt: bool) -> None:
        """End it without an answer, and `interrupt` the transport that is still at it."""
        if not self.waiter.done():
            self.waiter.set_exception(Disconnected(str(reason), final=reason.final))
            self.interrupted = interrupt
            if interrupt:
                self.task.cancel()

    def has_outcome(self, error: BaseException) -> bool:
        """Whether it has one though its task was cut short: it was lost, or its answer came in time."""
        if isinstance(error, TimeoutError) and self.waiter.done() and not self.waiter.cancelled():
            return True  # Only what may come beside the answer was waited for.
        return self.interrupted and not self.task.uncancel()  # Else somebody has cancelled it.

    def goes_on(self) -> None:
        """Give a call that tells of progress its time again, but not for ever."""
        if self.seconds is None or self.limit is None or self.limit.expired():
            return
        if self.last is None:
            self.last = (self.limit.when() or 0) + (LONGEST - 1) * self.seconds
        self.limit.reschedule(min(asyncio.get_running_loop().time() + self.seconds, self.last))

    @property
    def is_late(self) -> bool:
        """Whether it has taken too long."""
        return self.limit is not None and self.limit.expired()
