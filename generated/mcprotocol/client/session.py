"""The session: what both faces of a client stand on. It joins a transport, the calls on it, and what was kept."""

from __future__ import annotations

from typing import Final, TypedDict

from ..jsonrpc import Notification
from ..latest import REVISION, methods, types
from .answers import Answers, Form, Roots, Sample, Url
from .cache import Cache
from .calls import Calls
from .driver import Driver
from .era import Era, Eras
from .hearing import Hearing
from .listen import Listening
from .pages import Cursors
from .tools import Exact, Tools
from .transport import Transport

INFO: Final = types.Implementation(name="mcp-client", version=REVISION)
"""What a client says it is unless told otherwise."""


class Options(TypedDict, total=False):
    """What a client may be told, whatever its transport: the arguments of its class."""

    info: types.Implementation
    timeout: float | None
    cache: Cache | bool
    elicit: Form | None
    elicit_url: Url | None
    sample: Sample | None
    sample_tools: bool
    roots: Roots | None
    era: Era | None


class Session:
    """One client of one server, as its faces use it."""

    def __init__(
        self,
        transport: Transport,
        answers: Answers,
        info: types.Implementation,
        timeout: float | None,
        cache: Cache | bool,
        era: Era | None,
    ) -> None:
        """Nothing is open yet. A cache of its own is made where `cache` is True, none where it is False."""
        self.cache = (Cache() if cache else None) if isinstance(cache, bool) else cache
        self._transport = transport
        # Its own: how it is written is worked out once.
        self.info = info.model_copy(deep=True)
        self.eras = Eras(transport, answers, self.info, era)
        self._calls = Calls(self.eras, timeout, self._heard)
        self.driver = Driver(self._calls, self.info, answers, self.cache)
        self.eras.join(self._calls, self.driver.meta)
        self.tools = Tools(self.eras)
        self.exact = Exact(self._calls, self.tools)
        self._timeout = timeout
        self._in_use = False

    def __repr__(self) -> str:
        """Whose client it is, and the version that is spoken with that, where it is known."""
        version = self.eras.version
        spoken = "connected" if version is None else f"speaks {version}"
        return f"of {self._transport!r}, {spoken if self._in_use else 'not connected'}"

    async def open(self) -> None:
        """Connect; raises Disconnected when that fails, RuntimeError when it has been done and not been ended."""
        if self._in_use:
            raise RuntimeError("the client is in use already")
        self._in_use = True
        try:
            await self.eras.open(self._calls.receive, self._calls.lose)
        except BaseException:
            self._in_use = False
            raise
        self._calls.begin()

    async def close(self) -> None:
        """End all calls, then the connection, if there is one."""
        if not self._in_use:
            return
        try:
            await self._calls.end()
        finally:
            await self.eras.close()
            self._in_use = False

    def listening(self, asked: types.SubscriptionFilter, timeout: float | None) -> Listening:
        """A subscription to changes, not yet open; `timeout` is for its acknowledgement."""

        async def stream(hearing: Hearing) -> types.SubscriptionsListenResult:
            return await self.driver.call(
                methods.SUBSCRIPTIONS_LISTEN,
                lambda meta: types.SubscriptionsListenRequestParams(meta=meta, notifications=asked),
                hearing,
            )

        return Listening(stream, self._missed, self._timeout if timeout is None else timeout)

    async def relist(self, tool: str) -> None:
        """Ask for the tools anew, up to the page that has the one of this name."""
        cursors = Cursors(methods.LIST_TOOLS.name)
        while cursors.more:
            page = await self._tools_at(cursors.next)
            cursors.follow(page.next_cursor)
            if any(one.name == tool for one in page.tools):
                return

    async def _tools_at(self, cursor: str | None) -> types.ListToolsResult:
        return self.tools.learn(
            await self.driver.kept(
                methods.LIST_TOOLS,
                lambda meta: types.PaginatedRequestParams(meta=meta, cursor=cursor),
                fresh=True,
            )
        )

    def _heard(self, notification: Notification) -> None:
        if self.cache is not None:
            self.cache.heard(notification)

    def _missed(self) -> None:
        if self.cache is not None:
            self.cache.clear()
