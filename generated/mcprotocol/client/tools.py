"""Tools as a client knows them: which arguments go into headers, and what a result has to look like.

A list is not believed blindly. Where arguments are repeated in headers, a tool that asks for impossible ones is
left out of it (basic/transports/streamable-http, Custom Headers); a broken output schema spoils its own tool only,
and nothing that a schema refers to is ever fetched (server/tools, Output Schema).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from ..headers import NONE, SAFE_INTEGER, Parameters, at, parameters_of
from ..jsonrpc import NotificationMethod, P, R, RequestMethod, explain
from ..latest import types
from .calls import Calls
from .transport import Transport

if TYPE_CHECKING:
    from ..schemas import Judge

log = logging.getLogger(__name__)

V = TypeVar("V")
N = TypeVar("N", contravariant=True)

Returns: TypeAlias = type[V] | TypeAdapter[V]
"""What the structured content of a tool is read as: a model, a dataclass, `list[int]`, or an adapter."""


class ToolFailed(Exception):
    """A tool says that it has failed, where its caller wants what it returns; `result` is what it said."""

    def __init__(self, tool: str, result: types.CallToolResult) -> None:
        said = " ".join(block.text for block in result.content if isinstance(block, types.TextContent))
        super().__init__(f"tool {tool!r} failed: {said or 'it does not say why'}")
        self.tool = tool
        self.result = result


class InvalidOutput(Exception):
    """What a tool gave is not what its output schema, or its caller's model, says; `result` is what came."""

    def __init__(self, tool: str, result: types.CallToolResult, reason: str) -> None:
        super().__init__(f"tool {tool!r} gave what it must not: {reason}")
        self.tool = tool
        self.result = result


class BrokenSchema(Exception):
    """The output schema of a tool cannot be kept to, so that the tool was not called.

    `client.calls.call_tool` calls it nevertheless, and checks nothing.
    """

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(
            f"tool {tool!r} has an output schema that cannot be kept to: {reason};"
            " `client.calls.call_tool` calls it and checks nothing"
        )
        self.tool = tool


@dataclass(slots=True)
class Known:
    """What a client remembers of one tool; `judge` is made when it is first needed."""

    parameters: Parameters
    output: dict[str, Any] | None
    judge: Judge | None = field(default=None)


class Tools:
    """The tools of one server, as it has listed them."""

    def __init__(self, transport: Transport) -> None:
        """Know no tool yet; `transport` says whether it repeats arguments in headers."""
        self._transport = transport
        self._known: dict[str, Known] = {}

    def learn(self, listed: types.ListToolsResult) -> types.ListToolsResult:
        """Remember what a page says, and give it without the tools that cannot be called."""
        kept = [tool for tool in listed.tools if self._learned(tool)]
        return listed if len(kept) == len(listed.tools) else listed.model_copy(update={"tools": kept})

    def _learned(self, tool: types.Tool) -> bool:
        self._known.pop(tool.name, None)
        try:
            parameters = parameters_of(tool.input_schema) if self._transport.mirrors else NONE
        except ValueError as error:
            log.warning("left out tool %r: %s", tool.name, error)
            return False
        except RecursionError:
            log.warning("left out tool %r: its input schema is nested too deep", tool.name)
            return False
        self._known[tool.name] = Known(parameters, tool.output_schema)
        return True

    def parameters(self, tool: str, arguments: Mapping[str, Any] | None) -> Parameters:
        """The arguments that have a header; raises ValueError for an integer that a header cannot carry."""
        known = self._known.get(tool)
        if known is None or not known.parameters:
            return NONE
        for path in known.parameters:
            value = at(arguments, path)
            if isinstance(value, int | float) and not abs(value) <= SAFE_INTEGER:
                raise ValueError(
                    f"argument {'.'.join(path)} of tool {tool!r} is {value}: it goes into a header, where an"
                    f" integer may be from {-SAFE_INTEGER} to {SAFE_INTEGER}"
                )
        return known.parameters

    def headers(
        self, tool: str, arguments: Mapping[str, Any] | None, relist: Callable[[str], Awaitable[None]]
    ) -> ToolHeaders | None:
        """Those of one call, where arguments are repeated in any."""
        return ToolHeaders(self, tool, arguments, relist) if self._transport.mirrors else None

    def prepare(self, tool: str) -> None:
        """Make ready to check the results of a tool; raises BrokenSchema."""
        known = self._known.get(tool)
        if known is None or known.output is None or known.judge is not None:
            return
        # Many tools have no output schema, and importing the validator takes its time.
        from ..schemas import Judge

        try:
            known.judge = Judge(known.output)
        except ValueError as error:
            raise BrokenSchema(tool, str(error)) from None
        except RecursionError:
            raise BrokenSchema(tool, "it is nested too deep") from None

    def check(self, tool: str, result: types.CallToolResult) -> None:
        """Raise InvalidOutput unless a result fits the output schema; a failure has no output."""
        known = self._known.get(tool)
        if known is None or known.output is None or result.is_error:
            return
        if not has_output(result):
            raise InvalidOutput(tool, result, "it has an output schema, and its result no structuredContent")
        self.prepare(tool)
        complaint = known.judge.complaint(result.structured_content) if known.judge is not None else ""
        if complaint:
            raise InvalidOutput(tool, result, complaint)


class ToolHeaders(NamedTuple):
    """The arguments of one call that go into headers; `relist` has the tools listed anew."""

    tools: Tools
    tool: str
    arguments: Mapping[str, Any] | None
    relist: Callable[[str], Awaitable[None]]

    def parameters(self) -> Parameters:
        """Which they are, by the newest list; raises ValueError when one cannot be repeated."""
        return self.tools.parameters(self.tool, self.arguments)

    async def renew(self) -> bool:
        """Have the tools listed anew, and say whether other arguments go into headers now."""
        before = self.parameters()
        await self.relist(self.tool)
        return self.parameters() != before


class Exact:
    """The channel of the exact calls: params and results as they are, and what must be known of tools besides."""

    def __init__(self, calls: Calls, tools: Tools) -> None:
        self._calls = calls
        self._tools = tools

    async def request(self, method: RequestMethod[P, R], params: P) -> R:
        """The result of one request; lists of tools are remembered for the headers of calls."""
        parameters = NONE
        if isinstance(params, types.CallToolRequestParams):
            parameters = self._tools.parameters(params.name, params.arguments)
        result = await self._calls.ask(method, params, self._calls.fresh(), parameters=parameters)
        return cast(R, self._tools.learn(result)) if isinstance(result, types.ListToolsResult) else result

    async def notify(self, method: NotificationMethod[N], params: N) -> None:
        """Send one notification."""
        await self._calls.notify(method, params)


def has_output(result: types.CallToolResult) -> bool:
    """Whether there is structured content: null is one, too."""
    return "structured_content" in result.model_fields_set


def returned(returns: Returns[V], tool: str, result: types.CallToolResult) -> V:
    """The structured content as what the caller asked for; raises ToolFailed or InvalidOutput."""
    if result.is_error:
        raise ToolFailed(tool, result)
    if not has_output(result):
        raise InvalidOutput(tool, result, "its result has no structuredContent")
    try:
        # As JSON text, in which a date is a string even for a model that is strict.
        return _adapter(returns).validate_json(to_json(result.structured_content))
    except ValidationError as error:
        raise InvalidOutput(tool, result, explain(error)) from None


def _adapter(returns: Returns[V]) -> TypeAdapter[V]:
    return returns if isinstance(returns, TypeAdapter) else cast(TypeAdapter[V], _made(cast(Any, returns)))


@lru_cache(256)
def _made(returns: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(returns)
