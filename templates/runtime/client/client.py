"""The client as a caller holds it: one server, typed calls, and the metadata that every request must carry.

The conveniences take what a person would write and give complete results; `calls` has the same methods with
the protocol's own params and results, for which `meta()` makes the metadata.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from ..jsonrpc import Id
from ..latest import REVISION, methods, types
from ..latest import client as stubs
from .answers import Answers, Form, Roots, Sample, Url
from .calls import Calls, Hearing, Messages, Progress
from .driver import Driver
from .memory import Connects, Memory
from .tools import Exact, Returns, ToolHeaders, Tools, returned
from .transport import Transport

if TYPE_CHECKING:
    from .http import AsyncClient, Auth

C = TypeVar("C")
V = TypeVar("V")

INFO = types.Implementation(name="mcp-client", version=REVISION)
"""What a client says it is unless told otherwise."""


class Client:
    """A client of one server: an async context manager, connected inside its block."""

    def __init__(
        self,
        transport: Transport,
        *,
        info: types.Implementation = INFO,
        timeout: float | None = None,
        elicit: Form | None = None,
        elicit_url: Url | None = None,
        sample: Sample | None = None,
        sample_tools: bool = False,
        roots: Roots | None = None,
    ) -> None:
        """A client over `transport`, which says it is `info`; a call may take `timeout` seconds.

        The other arguments answer what a server asks before it completes a call: `elicit` puts a form to the
        user, `elicit_url` shows a URL, `sample` has a model speak (`sample_tools`: with tools), `roots` lists
        the roots. Each is a plain or an async function; what has none is not declared.
        """
        self._transport = transport
        self._channel = Calls(transport, timeout)
        answers = Answers(elicit, elicit_url, sample, sample_tools, roots)
        self._driver = Driver(self._channel, info, answers)
        self.info = info
        self._tools = Tools(transport.mirrors)
        self.calls = stubs.ClientCalls(Exact(self._channel, self._tools))

    @classmethod
    def memory(cls, server: Connects, **options: Any) -> Self:
        """A client of a server in this process."""
        return cls(Memory(server), **options)

    @classmethod
    def stdio(
        cls,
        command: Sequence[str | os.PathLike[str]],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> Self:
        """A client of a server that is started as a child process, with `env` added to our environment."""
        # Tests in memory start no process.
        from .stdio import Stdio

        return cls(Stdio(command, env, cwd), **options)

    @classmethod
    def http(
        cls,
        url: str,
        *,
        auth: Auth | None = None,
        headers: Mapping[str, str] | None = None,
        client: AsyncClient | None = None,
        **options: Any,
    ) -> Self:
        """A client of a server at a URL; `headers` are added to each request, which `auth` authorizes.

        A `client` of one's own makes the requests where it is given, and is left open.
        """
        # Only HTTP needs httpx2.
        from .http import Http

        return cls(Http(url, auth, headers, client), **options)

    async def __aenter__(self) -> Self:
        await self._transport.open(self._channel.receive, self._channel.lose)
        self._channel.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._channel.end()
        await self._transport.close()

    def meta(self, progress_token: Id | None = None) -> types.RequestMetaObject:
        """The metadata of one request: the revision, and what this client is and can do."""
        return self._driver.meta(progress_token)

    async def discover(self) -> types.DiscoverResult:
        """What the server is, speaks and offers."""
        return await self._driver.call(methods.DISCOVER, lambda meta: types.RequestParams(meta=meta))

    async def list_tools(self, cursor: str | None = None) -> types.ListToolsResult:
        """One page of the tools: the first, or the one that `next_cursor` of another leads to."""
        return self._tools.learn(await self._driver.call(methods.LIST_TOOLS, _page(cursor)))

    @overload
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        progress: Progress | None = None,
        messages: Messages | None = None,
        level: types.LoggingLevel = "info",
    ) -> types.CallToolResult: ...

    @overload
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: Returns[V],
        progress: Progress | None = None,
        messages: Messages | None = None,
        level: types.LoggingLevel = "info",
    ) -> V: ...

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: Returns[V] | None = None,
        progress: Progress | None = None,
        messages: Messages | None = None,
        level: types.LoggingLevel = "info",
    ) -> types.CallToolResult | V:
        """Call a tool: one that fails gives a result with `is_error`, one that is not there raises.

        With `returns` (a model, a dataclass, `list[int]`, ...) the structured content is given as that, and a
        tool that fails raises ToolFailed. What a listed tool returns must fit its output schema: InvalidOutput
        is raised for what does not, BrokenSchema where the schema itself is at fault.
        """
        self._tools.prepare(name)
        result = await self._driver.complete(
            methods.CALL_TOOL,
            lambda meta: types.CallToolRequestParams(meta=meta, name=name, arguments=_given(arguments)),
            Hearing(progress, messages, level),
            ToolHeaders(self._tools, name, arguments, self._relist),
        )
        self._tools.check(name, result)
        return result if returns is None else returned(returns, name, result)

    async def _relist(self, name: str) -> None:
        """Ask for the tools anew, up to the page that has the one of this name."""
        cursor = None
        while True:
            page = await self._driver.call(methods.LIST_TOOLS, _page(cursor))
            self._tools.learn(page)
            cursor = page.next_cursor
            if cursor is None or any(tool.name == name for tool in page.tools):
                return

    async def list_resources(self, cursor: str | None = None) -> types.ListResourcesResult:
        """One page of the resources."""
        return await self._driver.call(methods.LIST_RESOURCES, _page(cursor))

    async def list_resource_templates(self, cursor: str | None = None) -> types.ListResourceTemplatesResult:
        """One page of the resource templates."""
        return await self._driver.call(methods.LIST_RESOURCE_TEMPLATES, _page(cursor))

    async def read_resource(self, uri: str, *, progress: Progress | None = None) -> types.ReadResourceResult:
        """Read a resource; raises InvalidParams when there is none."""
        return await self._driver.complete(
            methods.READ_RESOURCE,
            lambda meta: types.ReadResourceRequestParams(meta=meta, uri=uri),
            Hearing(progress),
        )

    async def list_prompts(self, cursor: str | None = None) -> types.ListPromptsResult:
        """One page of the prompts."""
        return await self._driver.call(methods.LIST_PROMPTS, _page(cursor))

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, progress: Progress | None = None
    ) -> types.GetPromptResult:
        """The messages of a prompt; raises InvalidParams when there is none or its arguments do not fit."""
        return await self._driver.complete(
            methods.GET_PROMPT,
            lambda meta: types.GetPromptRequestParams(meta=meta, name=name, arguments=_given(arguments)),
            Hearing(progress),
        )

    async def complete(
        self,
        argument: str,
        value: str,
        *,
        prompt: str | None = None,
        resource: str | None = None,
        chosen: Mapping[str, str] | None = None,
    ) -> types.CompleteResult:
        """Suggestions for an argument of a prompt or a resource template; `chosen` are the others."""
        if (prompt is None) == (resource is None):
            raise ValueError("a completion is for a prompt or for a resource template")
        context = None if chosen is None else types.CompleteRequestParamsContext(arguments=dict(chosen))
        reference = (
            types.PromptReference(name=prompt)
            if prompt is not None
            else types.ResourceTemplateReference(uri=resource or "")
        )
        typed = types.CompleteRequestParamsArgument(name=argument, value=value)
        return await self._driver.call(
            methods.COMPLETE,
            lambda meta: types.CompleteRequestParams(
                meta=meta, ref=reference, argument=typed, context=context
            ),
        )


def _given(arguments: Mapping[str, C] | None) -> dict[str, C] | None:
    return None if arguments is None else dict(arguments)


def _page(cursor: str | None) -> Callable[[types.RequestMetaObject], types.PaginatedRequestParams]:
    return lambda meta: types.PaginatedRequestParams(meta=meta, cursor=cursor)
