"""The server as its author holds it: what is registered or overridden is served, and announced.

Two levels, one class. Decorators register functions as tools, resources, prompts and completions; a subclass
that overrides a stub (`call_tool`, `list_tools`, ...) answers that method itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from .. import latest
from ..headers import Parameters
from ..latest import REVISION, methods, types
from .completions import Completions
from .context import Context
from .dispatch import Dispatcher, Method
from .gate import LOOPBACK, reachable_as
from .prompts import Prompted, Prompts
from .registry import Call, Schema
from .resources import Reading, Resources
from .results import Outcome
from .tools import Tools

if TYPE_CHECKING:
    from .http import Application

F = TypeVar("F", bound=Call)


class Server(latest.server.ServerHandlers[Context]):
    """A server: what it is called, and what it offers."""

    def __init__(
        self,
        name: str,
        *,
        version: str,
        title: str | None = None,
        instructions: str | None = None,
        identify: bool = True,
    ) -> None:
        """A server that offers nothing yet.

        `instructions` tell a model how to use the server as a whole; with `identify=False` results do not say
        which server they are from.
        """
        self.info = types.Implementation(name=name, version=version, title=title)
        self.instructions = instructions
        self.identify = identify
        self.tools = Tools()
        self.resources = Resources()
        self.prompts = Prompts()
        self.completions = Completions(self.prompts, self.resources)
        self._registries: Mapping[str, object] = {
            "tools": self.tools,
            "resources": self.resources,
            "prompts": self.prompts,
            "completions": self.completions,
        }

    def tool(
        self,
        name: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
        annotations: types.ToolAnnotations | None = None,
        input_schema: Schema | None = None,
    ) -> Callable[[F], F]:
        """Offer the function below as a tool, under its own name unless another is given.

        Its annotations become the input and output schemas, its docstring the description. With
        `input_schema` it takes all arguments as one dictionary, valid by that schema.
        """

        def register(function: F) -> F:
            self.tools.add(
                function,
                name=name,
                title=title,
                description=description,
                annotations=annotations,
                input_schema=input_schema,
            )
            return function

        return _called(name, register)

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
    ) -> Callable[[F], F]:
        """Offer what the function below returns under a URI, in which `{name}` stands for a parameter."""

        def register(function: F) -> F:
            self.resources.add(
                function, uri, name=name, title=title, description=description, mime_type=mime_type
            )
            return function

        return _called(uri, register)

    def prompt(
        self, name: str | None = None, *, title: str | None = None, description: str | None = None
    ) -> Callable[[F], F]:
        """Offer the function below as a prompt: its parameters are the arguments, its text the message."""

        def register(function: F) -> F:
            self.prompts.add(function, name=name, title=title, description=description)
            return function

        return _called(name, register)

    def completion(
        self, *, argument: str, prompt: str | None = None, resource: str | None = None
    ) -> Callable[[F], F]:
        """Let the function below suggest values for an argument of a prompt or of a resource template.

        It takes the text so far and, if it wants them, the arguments already chosen; it returns the best
        first.
        """

        def register(function: F) -> F:
            self.completions.add(function, argument=argument, prompt=prompt, resource=resource)
            return function

        return register

    def connect(self) -> Dispatcher:
        """A fresh connection: the entry for transports, one for every stream of messages."""
        return Dispatcher(self, self.implements, self.info if self.identify else None)

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
    ) -> Application:
        """An ASGI application that serves at one path, to be run or mounted by any host.

        `hosts` are the names it may be called by, with any port unless they say one; `origins` the pages that
        may call it, `https://app.example` or a name alone; by default those of `hosts`. `"*"` allows all. A
        stream that is silent for `keep_alive_seconds` gets a comment.
        """
        # Starlette is for those who serve HTTP.
        from .http import Application

        return Application(
            self,
            path=path,
            hosts=hosts,
            origins=hosts if origins is None else origins,
            max_body_bytes=max_body_bytes,
            keep_alive_seconds=keep_alive_seconds,
        )

    def serve(
        self, host: str = "127.0.0.1", port: int = 8000, *, application: Application | None = None
    ) -> None:
        """Serve over HTTP until interrupted; raises RuntimeError when uvicorn is not installed.

        Without an `application` it is `http()`, called by loopback names or by the address it is bound to.
        """
        from .http import serve

        serve(application or self.http(hosts=reachable_as(host)), host, port)

    def parameter_headers(self, tool: str) -> Parameters:
        """The arguments of a tool that HTTP requests repeat in a header; a subclass with its own tools says which."""
        return self.tools.headers(tool)

    def implements(self, method: Method) -> bool:
        """Whether a request is answered: its stub is overridden, or something is registered for it."""
        own = getattr(type(self), method.python)
        if own is getattr(latest.server.ServerHandlers, method.python):
            return False
        overridden = own is not getattr(Server, method.python)
        return overridden or method.capability is None or self._offers(method.capability)

    def capabilities(self) -> types.ServerCapabilities:
        """What `server/discover` announces: the capability of every request that is answered."""
        answered = {m.capability for m in methods.CLIENT_REQUESTS.values() if self.implements(m)}
        return types.ServerCapabilities.model_validate({name: {} for name in sorted(filter(None, answered))})

    async def discover(self, params: types.RequestParams, ctx: Context) -> types.DiscoverResult:
        """Say what this server is, speaks and offers."""
        return types.DiscoverResult(
            supported_versions=[REVISION],
            capabilities=self.capabilities(),
            instructions=self.instructions,
            ttl_ms=0,
            cache_scope="private",
            result_type="complete",
        )

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


def _called(name: object, register: Callable[[F], F]) -> Callable[[F], F]:
    """The decorator; without its parentheses it would have got the function as its first argument."""
    if callable(name):
        raise TypeError("write the decorator with parentheses, as in @server.tool()")
    return register
