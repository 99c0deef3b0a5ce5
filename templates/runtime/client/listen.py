"""Listening: one subscription, from its acknowledgement to its end, over as many streams as it takes.

A stream that breaks is opened again after a pause, and then the listener is told that it may have missed
something: nothing is replayed (basic/patterns/subscriptions). No I/O.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeAlias

from pydantic import ValidationError

from ..jsonrpc import Notification
from ..latest import methods, types
from .hearing import Hearing
from .transport import Disconnected

log = logging.getLogger(__name__)

ATTEMPTS: Final = 8
"""How many times in a row a stream may break, or not open, before the listener is told."""

FIRST_SECONDS: Final = 0.1
"""The pause before a stream is opened again; each one after it is twice as long."""

LONGEST_SECONDS: Final = 30.0
"""The longest such pause; a stream that lives longer than it has not failed in a row."""

MAX_WAITING: Final = 1000
"""How many different changes may wait for a listener; then it is told that it missed some."""


@dataclass(frozen=True, slots=True)
class Missed:
    """Something may have changed unheard: ask again for what you depend on."""

    reason: str


Told: TypeAlias = (
    types.ToolListChangedNotification
    | types.PromptListChangedNotification
    | types.ResourceListChangedNotification
    | types.ResourceUpdatedNotification
)
"""A change as the server tells it."""

Change: TypeAlias = Told | Missed
"""What a listener hears."""

KINDS: Final[Mapping[str, type[Told]]] = {
    methods.TOOL_LIST_CHANGED_NOTIFICATION.name: types.ToolListChangedNotification,
    methods.PROMPT_LIST_CHANGED_NOTIFICATION.name: types.PromptListChangedNotification,
    methods.RESOURCE_LIST_CHANGED_NOTIFICATION.name: types.ResourceListChangedNotification,
    methods.RESOURCE_UPDATED_NOTIFICATION.name: types.ResourceUpdatedNotification,
}
"""The notifications that tell of changes, by method."""

Open: TypeAlias = Callable[[Hearing], Awaitable[types.SubscriptionsListenResult]]
"""Sends the request for a stream; its result is the end of the stream."""


class Listening:
    """A subscription: an async context manager, open inside its block, and the changes one by one.

    `granted` is what the server has acknowledged, which may be less than what was asked for. The iteration ends
    when the server ends the subscription, and raises Disconnected when it is lost for good. A change that still
    waits to be heard is not told twice.
    """

    def __init__(self, open: Open, missed: Callable[[], None], seconds: float | None) -> None:
        """Nothing yet. `missed` is called when changes may go unheard; it may take `seconds` to open."""
        self.granted = types.SubscriptionFilter()
        self._open = open
        self._missed = missed
        self._seconds = seconds
        self._waiting: dict[object, Change] = {}
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._ended = False
        self._error: Exception | None = None
        self._streams = 0
        self._acknowledged = False
        self._failures = 0

    async def __aenter__(self) -> Self:
        """Open the subscription; raises McpError when the server refuses it, TimeoutError without an answer."""
        if self._task is not None:
            raise RuntimeError("a subscription is opened once: call `listen` for another")
        self._task = asyncio.create_task(self._run())
        try:
            async with asyncio.timeout(self._seconds):
                while not (self._streams or self._ended):
                    await self._hear()
            if self._error is not None:
                raise self._error
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        change = await self.next()
        if change is None:
            raise StopAsyncIteration
        return change

    async def next(self) -> Change | None:
        """The next change, however long it takes; None when the subscription has ended in good order."""
        if self._task is None:
            raise RuntimeError("a subscription is open inside its block: use it as `async with`")
        while not self._waiting and not self._ended:
            await self._hear()
        if self._waiting:
            return self._waiting.pop(next(iter(self._waiting)))
        if self._error is not None:
            raise self._error
        return None

    async def _hear(self) -> None:
        self._news.clear()
        await self._news.wait()

    async def _close(self) -> None:
        """Cancel the request, which ends the subscription at the server."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._ended = True
        self._news.set()

    async def _run(self) -> None:
        try:
            while await self._stream():
                pause = min(FIRST_SECONDS * 2**self._failures, LONGEST_SECONDS)
                await asyncio.sleep(pause * random.uniform(0.5, 1))
        except Exception as error:
            self._error = error
            self._missed()
        finally:
            self._ended = True
            self._news.set()

    async def _stream(self) -> bool:
        """Listen until a stream ends, and say whether to open another; raises what ends the subscription."""
        loop = asyncio.get_running_loop()
        began, self._acknowledged = loop.time(), False
        try:
            await self._open(Hearing(changes=self._take))
            return False
        except Disconnected as error:
            lived = self._acknowledged and loop.time() - began > LONGEST_SECONDS
            self._failures = 1 if lived else self._failures + 1
            if error.final or not self._streams or self._failures > ATTEMPTS:
                raise
            log.warning("a subscription is opened again: %s", error)
            self._missed()
            return True

    def _take(self, message: Notification) -> None:
        if message.method == methods.SUBSCRIPTIONS_ACKNOWLEDGED_NOTIFICATION.name:
            self._grant(message)
        elif not self._acknowledged:
            log.debug("dropped a change before the acknowledgement: %.200r", message.method)
        elif message.method in KINDS:
            self._failures = 0
            self._put(message)
        self._news.set()

    def _grant(self, message: Notification) -> None:
        try:
            told = types.SubscriptionsAcknowledgedNotificationParams.model_validate(message.params or {})
        except ValidationError as error:
            log.warning("skipped an acknowledgement that cannot be read: %s", error)
            return
        self.granted, self._acknowledged = told.notifications, True
        self._streams += 1
        if self._streams > 1:
            self._missed()
            self._waiting[Missed] = Missed("the stream broke, and was opened again")

    def _put(self, message: Notification) -> None:
        params = message.params or {}
        key = (message.method, str(params.get("uri")))
        if key in self._waiting:
            return
        if len(self._waiting) >= MAX_WAITING:
            self._waiting[Missed] = Missed(f"{MAX_WAITING} changes were waiting to be heard")
            return
        try:
            said = {"jsonrpc": "2.0", "method": message.method, "params": params}
            self._waiting[key] = KINDS[message.method].model_validate(said)
        except ValidationError as error:
            log.warning("skipped a change that cannot be read: %s", error)


def wanted(
    tools: bool, prompts: bool, resource_list: bool, resources: Sequence[str]
) -> types.SubscriptionFilter:
    """The filter for some kinds of changes; raises ValueError when there is none, or `resources` is no list."""
    if isinstance(resources, str):
        raise ValueError("resources is a list of URIs")
    if not (tools or prompts or resource_list or resources):
        raise ValueError("say what to listen for: tools, prompts, resource_list, or resources by URI")
    return types.SubscriptionFilter(
        tools_list_changed=tools or None,
        prompts_list_changed=prompts or None,
        resources_list_changed=resource_list or None,
        resource_subscriptions=[*resources] or None,
    )
