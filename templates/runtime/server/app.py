"""The server as its author holds it: what is registered or overridden is served, and announced.

Two levels, one class. Decorators register functions as tools, resources, prompts and completions; a subclass
that overrides a stub (`call_tool`, `list_tools`, ...) answers that method itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

from .. import latest
from ..headers import Parameters
from ..latest import REVISION, methods, types
from .context import Context, Means
from .dispatch import Dispatcher, Method
from .eras import Conversation, handshakes
from .gate import LOOPBACK, reachable_as
from .listing import Cache, Shelf
from .offers import Offers
from .prompts import Prompted
from .resources import Reading
from .results import Outcome
from .state import LIFETIME, Seal
from .streams import Bus, LocalBus
from .subscriptions import KINDS, Subscriptions

if TYPE_CHECKING:
    from .application import Application
    from .asgi import ASGIApp
    from .callers import Principal

CACHED: Final = frozenset(
    method.name
    for method in methods.CLIENT_REQUESTS.values()
    if method.cacheable and (method.paginated or method is methods.DISCOVER)
)
"""The methods for which `Server(cache=...)` has hints; each resource has its own."""


class Server(Offers, latest.server.ServerHandlers[Context]):
    """A server: what it is called, and what it offers."""

    def __init__(
        self,
        name: str,
        *,
        version: str,
        title: str | None = None,
        description: str | None = None,
        website_url: str | None = None,
        icons: list[types.Icon] | None = None,
        instructions: str | None = None,
        identify: bool = True,
        page_size: int | None = None,
        cache: Cache | Mapping[str, Cache] = Cache(),
        state_key: bytes | str | None = None,
        state_seconds: float = LIFETIME,
        logging: bool = False,
        bus: Bus | None = None,
    ) -> None:
        """A server that offers nothing yet.

        `instructions` tell a model how to use the server as a whole. Each result says by name, version and title
        which server it is from, `server/discover` with the rest of it; with `identify=False` none does. Lists come in pages of `page_size` (None: whole) with the hints of `cache`,
        one for all lists or one by method (`tools/list`). What a request that asks for input needs in its next
        round is sealed with `state_key`, which all replicas must share, and is good for `state_seconds`. With
        `logging` the server announces that handlers may log to the client. `bus` carries changes to those who
        listen, in this process unless another is given.
        """
        self.info = types.Implementation(
            name=name,
            version=version,
            title=title,
            description=description,
            website_url=website_url,
            icons=icons,
        )
        self.instructions = instructions
        self.identify = identify
        shelf = Shelf(page_size, _by_list(cache))
        bus = LocalBus() if bus is None else bus
        super().__init__(shelf, bus)
        self._applications: WeakSet[Application] = WeakSet()
        self._means = Means(Seal(state_key, state_seconds), logging)
        self._subscriptions = Subscriptions(bus, self._offers)
        self._cache = shelf.of(methods.DISCOVER.name)

    def connect(self) -> Dispatcher:
        """A fresh connection: the entry for transports, one for every stream of messages."""
        # Icons can be large, and are looked at once.
        brief = types.Implementation(name=self.info.name, version=self.info.version, title=self.info.title)
        # Whoever overrides the stub sees each result, and makes it.
        tell = self.tools.tell if type(self).call_tool is Server.call_tool else None
        return Dispatcher(self, self.implements, brief if self.identify else None, self._means, tell)

    def converse(self, push: Callable[[bytes], None]) -> Conversation:
        """A fresh connection over a pipe, in each era that is served; `push` sends what nobody has asked for."""
        return Conversation(self.connect(), self.info, self._bus, push)

    def run(self) -> None:
        """Serve over stdin and stdout to the end of the input; `stdio.run` guards the imports too."""
        # A server behind HTTP never needs it.
        from .stdio import run

        run(lambda: self)

    def http(
        self,
        *,
        path: str = "/mcp",
        hosts: Sequence[str] = LOOPBACK,
        origins: Sequence[str] | None = None,
        max_body_bytes: int = 4 * 1024 * 1024,
        keep_alive_seconds: float = 15.0,
        principal: Principal | None = None,
        max_sessions: int = 10_000,
        session_seconds: float = 30 * 60,
        stateless: bool = False,
    ) -> Application:
        """An ASGI application that serves at one path, to be run or mounted by any host.

        `hosts` are the names it may be called by, with any port unless they say one; `origins` the pages that
        may call it, `https://app.example` or a name alone; by default those of `hosts`. `"*"` allows all. After
        each `keep_alive_seconds` of silence an answer that is due becomes a stream, and a stream gets a comment.

        Nobody is authenticated here: put it behind middleware that does. `principal` names who sent a request
        by its ASGI scope, for `ctx.principal`; by default it is the identity of `scope["user"]`.

        Clients of the handshake era have sessions: at most `max_sessions`, where the one that has been idle longest
        gives way to a new one, and each until it was idle for `session_seconds`. With `stateless` they have none:
        any replica answers any message, and nothing can be asked, subscribed to or resumed. Where a package has
        2026-07-28 alone there is neither.
        """
        # Starlette is for those who serve HTTP.
        from .application import Application
        from .callers import authenticated

        named = principal or authenticated
        past = handshakes(
            self.connect,
            self.info,
            self._bus,
            keep_alive=keep_alive_seconds,
            principal=named,
            sessions=max_sessions,
            seconds=session_seconds,
            stateless=stateless,
        )
        application = Application(
            self,
            path=path,
            hosts=hosts,
            origins=hosts if origins is None else origins,
            max_body_bytes=max_body_bytes,
            keep_alive_seconds=keep_alive_seconds,
            principal=named,
            past=past,
        )
        self._applications.add(application)
        return application

    def serve(self, host: str = "127.0.0.1", port: int = 8000, *, application: ASGIApp | None = None) -> None:
        """Serve over HTTP until interrupted; raises RuntimeError when uvicorn is not installed.

        Without an `application` it is `http()`, called by loopback names or by the address it is bound to; one
        that mounts `http()` does as well. At the end subscriptions get their closing results, and calls in
        flight some seconds; what does not end even when it is cancelled ends with the process.
        """
        from .hosting import serve

        serve(application or self.http(hosts=reachable_as(host)), host, port, self._end)

    async def _end(self) -> None:
        await asyncio.gather(*(application.end() for application in self._applications))

    def parameter_headers(self, tool: str) -> Parameters:
        """The arguments of a tool that HTTP requests repeat in a header; a subclass with its own tools says which."""
        return self.tools.headers(tool)

    def implements(self, method: Method) -> bool:
        """Whether a request is answered: its stub is overridden, or something is registered for it."""
        own = getattr(type(self), method.python)
        if own is getattr(latest.server.ServerHandlers, method.python):
            return False
        overridden = own is not getattr(Server, method.python)
        if method is methods.SUBSCRIPTIONS_LISTEN:
            # No capability of its own announces it: there must be a list to listen to.
            return overridden or any(map(self._offers, KINDS))
        return overridden or method.capability is None or self._offers(method.capability)

    def capabilities(self) -> types.ServerCapabilities:
        """What `server/discover` announces: the capability of every request that is answered."""
        answered = {m.capability for m in methods.CLIENT_REQUESTS.values() if self.implements(m)}
        names = sorted(filter(None, {*answered, "logging" if self._means.logs else None}))
        return types.ServerCapabilities.model_validate(
            {name: self._subscriptions.announced(name) for name in names}
        )

    async def discover(self, params: types.RequestParams, ctx: Context) -> types.DiscoverResult:
        """Say what this server is, speaks and offers."""
        return types.DiscoverResult(
            supported_versions=[REVISION],
            capabilities=self.capabilities(),
            instructions=self.instructions,
            meta=types.ResultMetaObject(server_info=self.info) if self.identify else None,
            result_type="complete",
            **self._cache.hints,
        )

    async def subscriptions_listen(
        self, params: types.SubscriptionsListenRequestParams, ctx: Context
    ) -> types.SubscriptionsListenResult:
        """Tell of changes until the connection ends."""
        return await self._subscriptions.listen(params, ctx)

    async def list_tools(self, params: types.PaginatedRequestParams, ctx: Context) -> types.ListToolsResult:
        """The registered tools."""
        return self.tools.page(params)

    async def call_tool(self, params: types.CallToolRequestParams, ctx: Context) -> Outcome:
        """Call a registered tool."""
        return await self.tools.call(params, ctx)

    async def list_resources(
        self, params: types.PaginatedRequestParams, ctx: Context
    ) -> types.ListResourcesResult:
        """The registered resources."""
        return self.resources.page(params)

    async def list_resource_templates(
        self, params: types.PaginatedRequestParams, ctx: Context
    ) -> types.ListResourceTemplatesResult:
        """The registered resource templates."""
        return self.resources.templates_page(params)

    async def read_resource(self, params: types.ReadResourceRequestParams, ctx: Context) -> Reading:
        """Read a registered resource."""
        return await self.resources.read(params, ctx)

    async def list_prompts(
        self, params: types.PaginatedRequestParams, ctx: Context
    ) -> types.ListPromptsResult:
        """The registered prompts."""
        return self.prompts.page(params)

    async def get_prompt(self, params: types.GetPromptRequestParams, ctx: Context) -> Prompted:
        """Write a registered prompt."""
        return await self.prompts.get(params, ctx)

    async def complete(self, params: types.CompleteRequestParams, ctx: Context) -> types.CompleteResult:
        """Suggest values by a registered completion."""
        return await self.completions.complete(params, ctx)

    def _offers(self, capability: str) -> bool:
        """Whether something is registered for a capability, or a subclass answers a part of it."""
        return bool(self._registries.get(capability)) or any(
            getattr(type(self), method.python) is not getattr(Server, method.python)
            for method in methods.CLIENT_REQUESTS.values()
            if method.capability == capability
        )


def _by_list(cache: Cache | Mapping[str, Cache]) -> Mapping[str, Cache]:
    """Hints by the method that they are for; raises ValueError when one cannot have any."""
    if isinstance(cache, Cache):
        return dict.fromkeys(CACHED, cache)
    if strange := cache.keys() - CACHED:
        raise ValueError(f"cache is for {', '.join(sorted(CACHED))}, not for {', '.join(sorted(strange))}")
    return cache
