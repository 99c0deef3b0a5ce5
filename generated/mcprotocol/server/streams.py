"""Streams: changes on their way from whoever makes them to whoever listens, in any thread.

A listener that is slow misses no change and costs no memory: a change that is still waiting for it is not put
there twice, so that what waits is never more than what it listens for. It is woken once for all of it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

Kind: TypeAlias = Literal["tools", "prompts", "resources"]
"""What there is a list of."""


@dataclass(frozen=True, slots=True)
class Change:
    """A list has changed, or with `uri` the one resource there."""

    kind: Kind
    uri: str | None = None


Take: TypeAlias = Callable[[Change], None]


class Bus(Protocol):
    """What carries changes between the parts of a server, and the replicas of one where it reaches that far."""

    def publish(self, change: Change) -> None:
        """Tell all listeners; called in any thread, must not wait."""
        ...

    def subscribe(self, take: Take) -> Callable[[], None]:
        """Have `take` called for each change, in any thread, until the returned function is called."""
        ...


class LocalBus:
    """The bus of one process."""

    def __init__(self) -> None:
        self._takers: dict[object, Take] = {}

    def publish(self, change: Change) -> None:
        """Tell those who listen in this process."""
        for take in [*self._takers.values()]:
            take(change)

    def subscribe(self, take: Take) -> Callable[[], None]:
        """Listen until the returned function is called."""
        token = object()
        self._takers[token] = take
        return lambda: self._takers.pop(token, None) and None


class Stream:
    """The changes that wait for one listener."""

    def __init__(self, wanted: Callable[[Change], bool]) -> None:
        """Take what is wanted; made on the event loop that the listener runs on."""
        self._wanted = wanted
        self._waiting: dict[Change, None] = {}
        self._lock = threading.Lock()
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._ended = False

    def put(self, change: Change) -> None:
        """Take one change, in any thread."""
        if not self._wanted(change):
            return
        with self._lock:
            woken = bool(self._waiting)
            self._waiting.setdefault(change)
        try:
            if not woken:
                self._loop.call_soon_threadsafe(self._news.set)
        except RuntimeError:
            pass  # The loop has ended, and its listener with it.

    def end(self) -> None:
        """Give what is waiting, and nothing after that."""
        self._ended = True
        self._news.set()

    async def changes(self) -> AsyncGenerator[Change, None]:
        """Each change as it comes, oldest first, until the end."""
        while True:
            for change in self._taken():
                yield change
            if self._ended and not self._waiting:
                return
            await self._news.wait()
            if not self._ended:
                self._news.clear()

    def _taken(self) -> list[Change]:
        with self._lock:
            taken, self._waiting = [*self._waiting], {}
        return taken


class Streams:
    """The open streams of one connection, which end in good order when it does."""

    def __init__(self) -> None:
        self._open: set[Stream] = set()
        self._closed = False

    def add(self, stream: Stream) -> None:
        """Keep a stream until it is discarded; after `close` it ends at once."""
        self._open.add(stream)
        if self._closed:
            stream.end()

    def discard(self, stream: Stream) -> None:
        """Forget a stream that has ended."""
        self._open.discard(stream)

    def close(self) -> None:
        """End all streams, and those to come."""
        self._closed = True
        for stream in self._open:
            stream.end()
