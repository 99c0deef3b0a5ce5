"""The client as a caller holds it: one server, typed calls, and the metadata that every request must carry.

The conveniences take what a person would write and give complete results; `calls` has the same methods with
the protocol's own params and results, for which `meta()` makes the metadata.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from ..jsonrpc import Id
from ..latest import REVISION, types
from ..latest import client as stubs
from .calls import Calls, Progress, Transport
from .memory import Connects, Memory

C = TypeVar("C")

INFO = types.Implementation(name="mcp-client", version=REVISION)
"""What a client says it is unless told otherwise."""


class InputRequired(Exception):
    """A server asks for input before it completes a call; `result` says for which."""

    def __init__(self, result: types.InputRequiredResult) -> None:
        super().__init__("The server asks for input, and this client declared none that it can give")
        self.result = result


class Client:
    """A client of one server: an async context manager, connected inside its block."""

    def __init__(
        self, transport: Transport, *, info: types.Implementation = INFO, timeout: float | None = None
    ) -> None:
        """A client over `transport`, which says it is `info`; a call may take `timeout` seconds."""
        self._transport = transport
        self._channel = Calls(transport.send, timeout)
        self.info = info
        self.calls = stubs.ClientCalls(self._channel)

    @classmethod
    def memory(
        cls, server: Connects, *, info: types.Implementation = INFO, timeout: float | None = None
    ) -> Self:
        """A client of a server in this process."""
        return cls(Memory(server), info=info, timeout=timeout)

    @classmethod
    def stdio(
        cls,
        command: Sequence[str | os.PathLike[str]],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        info: types.Implementation = INFO,
        timeout: float | None = None,
    ) -> Self:
        """A client of a server that is started as a child process, with `env` added to our environment."""
        # Tests in memory start no process.
        from .stdio import Stdio

        return cls(Stdio(command, env, cwd), info=info, timeout=timeout)

    async def __aenter__(self) -> Self:
        await self._transport.open(self._channel.receive, self._channel.lose)
        self._channel.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._channel.lose(ConnectionError("the client is closed"))
        await self._transport.close()

    def meta(self, progress_token: Id | None = None) -> types.RequestMetaObject:
        """The metadata of one request: the revision, what this client is, and that it can give no input."""
        return types.RequestMetaObject(
            protocol_version=REVISION,
            client_capabilities=types.ClientCapabilities(),
            client_info=self.info,
            progress_token=progress_token,
        )

    async def discover(self) -> types.DiscoverResult:
        """What the server is, speaks and offers."""
        return await self.calls.discover(types.RequestParams(meta=self.meta()))

    async def list_tools(self, cursor: str | None = None) -> types.ListToolsResult:
        """One page of the tools: the first, or the one that `next_cursor` of another leads to."""
        return await self.calls.list_tools(self._page(cursor))

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, *, progress: Progress | None = None
    ) -> types.CallToolResult:
        """Call a tool: one that fails gives a result with `is_error`, one that is not there raises."""
        with self._channel.progress(progress) as token:
            params = types.CallToolRequestParams(
                meta=self.meta(token), name=name, arguments=_given(arguments)
            )
            return _complete(await self.calls.call_tool(params))

    async def list_resources(self, cursor: str | None = None) -> types.ListResourcesResult:
        """One page of the resources."""
        return await self.calls.list_resources(self._page(cursor))

    async def list_resource_templates(self, cursor: str | None = None) -> types.ListResourceTemplatesResult:
        """One page of the resource templates."""
        return await self.calls.list_resource_templates(self._page(cursor))

    async def read_resource(self, uri: str, *, progress: Progress | None = None) -> types.ReadResourceResult:
        """Read a resource; raises InvalidParams when there is none."""
        with self._channel.progress(progress) as token:
            params = types.ReadResourceRequestParams(meta=self.meta(token), uri=uri)
            return _complete(await self.calls.read_resource(params))

    async def list_prompts(self, cursor: str | None = None) -> types.ListPromptsResult:
        """One page of the prompts."""
        return await self.calls.list_prompts(self._page(cursor))

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, progress: Progress | None = None
    ) -> types.GetPromptResult:
        """The messages of a prompt; raises InvalidParams when there is none or its arguments do not fit."""
        with self._channel.progress(progress) as token:
            params = types.GetPromptRequestParams(
                meta=self.meta(token), name=name, arguments=_given(arguments)
            )
            return _complete(await self.calls.get_prompt(params))

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
        params = types.CompleteRequestParams(
            meta=self.meta(),
            ref=(
                types.PromptReference(name=prompt)
                if prompt is not None
                else types.ResourceTemplateReference(uri=resource or "")
            ),
            argument=types.CompleteRequestParamsArgument(name=argument, value=value),
            context=context,
        )
        return await self.calls.complete(params)

    def _page(self, cursor: str | None) -> types.PaginatedRequestParams:
        return types.PaginatedRequestParams(meta=self.meta(), cursor=cursor)


def _given(arguments: Mapping[str, C] | None) -> dict[str, C] | None:
    return None if arguments is None else dict(arguments)


def _complete(result: C | types.InputRequiredResult) -> C:
    if isinstance(result, types.InputRequiredResult):
        raise InputRequired(result)
    return result
