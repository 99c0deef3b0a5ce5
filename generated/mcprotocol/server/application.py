"""The ASGI application around the endpoint: its one path, and its end in good order."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import Route

from .callers import Principal
from .gate import Gate
from .hosting import DRAIN_SECONDS
from .http import Endpoint, Serves


class Application(Starlette):
    """The ASGI application: what `Server.http` returns; other routes and middleware may be added to it."""

    def __init__(
        self,
        server: Serves,
        *,
        path: str,
        hosts: Sequence[str],
        origins: Sequence[str],
        max_body_bytes: int,
        keep_alive_seconds: float,
        principal: Principal,
    ) -> None:
        """Serve at `path`; see `Server.http` for the rest."""
        gate = Gate(hosts, origins)
        self._endpoint = Endpoint(server, gate, max_body_bytes, keep_alive_seconds, principal)
        super().__init__(routes=[Route(path, self._endpoint)], lifespan=self._life)
        # There is exactly one path; a redirect would also repeat a Host that nobody has looked at.
        self.router.redirect_slashes = False

    def close(self) -> None:
        """Say that the end has come: each subscription gets its closing result, calls go on to their ends.

        To be called on the event loop. A host that reaches the lifespan of this application needs it only where
        it waits for open responses before it says there that it ends, as uvicorn does; `Server.serve` calls it.
        """
        self._endpoint.close()

    @asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncGenerator[None, None]:
        self._endpoint.open()
        yield
        self._endpoint.close()
        await self._endpoint.drain(DRAIN_SECONDS)
