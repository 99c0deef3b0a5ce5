"""The context of one request: what the request itself brought, and nothing that came before it.

The protocol is stateless (basic/index, Statelessness): version, capabilities and identity of the client are
read from the metadata of this request alone.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Awaitable, Generator

from ..jsonrpc import Channel, Id
from ..latest import server as stubs
from ..latest import types


class Context:
    """One request, as its handler sees it.

    `request_id` is the id that the answer will carry, `meta` the request's own `_meta`, typed, with whatever
    else the client put there in `meta.model_extra`.
    """

    def __init__(self, request_id: Id, meta: types.RequestMetaObject, channel: Channel) -> None:
        """A context whose reports travel through `channel`; made by the dispatcher, on the event loop."""
        self.request_id = request_id
        self.meta = meta
        self._calls = stubs.ServerCalls(channel)
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._reached = -math.inf

    @property
    def client_capabilities(self) -> types.ClientCapabilities:
        """What the client can do for this request."""
        return self.meta.client_capabilities

    @property
    def client_info(self) -> types.Implementation | None:
        """What the client says it is: for display and logs, never a reason to behave differently."""
        return self.meta.client_info

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Awaitable[None]:
        """Report how far the request has come, in a unit of your own; `total` is where it will end.

        Nothing is sent when the client did not ask, when `progress` has not increased since the last report,
        or after the answer. A coroutine awaits it; a plain function calls it, and returns once the report is
        on its way.
        """
        if self.meta.progress_token is None:
            return _NOTHING
        report = self._report(progress, total, message)
        if threading.get_ident() == self._thread:
            return report
        try:
            sent = asyncio.run_coroutine_threadsafe(report, self._loop)
        except RuntimeError:
            report.close()  # The loop has ended while the function ran on: nobody is left to hear it.
        else:
            sent.result()
        return _NOTHING

    async def _report(self, progress: float, total: float | None, message: str | None) -> None:
        # JSON has no infinity, and what is not a number never increases (basic/patterns/progress).
        if not self._reached < progress < math.inf or self.meta.progress_token is None:
            return
        self._reached = progress
        await self._calls.notify_progress(
            types.ProgressNotificationParams(
                progress_token=self.meta.progress_token, progress=progress, total=total, message=message
            )
        )


class _Nothing:
    """Awaitable, and done."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


_NOTHING = _Nothing()
