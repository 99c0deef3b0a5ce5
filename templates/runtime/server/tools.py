"""Tools: what is listed, how arguments are judged, and what becomes of a failure.

A fault of the call (arguments that do not fit, an error in the tool) is a result that a model can read and
mend; a JSON-RPC error is for a tool that does not exist (server/tools, Error Handling).
"""

from __future__ import annotations

import copy
import logging
import re
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import GetJsonSchemaHandler, ValidationError
from pydantic_core import CoreSchema

from ..errors import InvalidParams, McpError
from ..headers import ANNOTATION, Parameters, parameters_of
from ..jsonrpc import explain
from ..latest import types
from .context import Context
from .failures import first, is_end, singly
from .listing import Listing, Shelf
from .plain import opened
from .registry import Arguments, Call, Function, Schema
from .results import Outcome, Output, failed, finished
from .rounds import InputNeeded

log = logging.getLogger(__name__)

NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
"""Names that every host takes (server/tools, Tool Names)."""


class Header:
    """Marks an argument that HTTP requests repeat in a header: `region: Annotated[str, Header("Region")]`.

    Proxies can then route by it, without reading the body. It comes as `Mcp-Param-Region`, and only with the
    value of the body; the argument is a string, an integer, a boolean or a choice of those, and may be a member
    of an argument that is a model.
    """

    def __init__(self, name: str) -> None:
        """Repeat it in the header `Mcp-Param-` and this name."""
        self.name = name

    def __get_pydantic_json_schema__(self, core: CoreSchema, build: GetJsonSchemaHandler) -> Schema:
        """The schema of the argument, with the name in it: where no reference leads away from it."""
        made = build(core)
        if build.mode == "serialization":
            return made  # What a tool gives back comes in no header.
        if "$ref" in made:
            # The name of a class is a title of its definition, and none of an argument.
            made = {key: value for key, value in build.resolve_ref_schema(made).items() if key != "title"}
        return {**made, ANNOTATION: self.name}


class ToolError(Exception):
    """Raised in a tool: the call has failed, and the text says to a model why."""


class Tool:
    """One tool: its description for the list, and the way from arguments to a result."""

    listed: types.Tool

    def __init__(self, call: Call, input_schema: Schema | None) -> None:
        """Read the function; raises TypeError or ValueError when its inputs or outputs have no schema."""
        self.function = Function(call)
        if input_schema is None:
            arguments = Arguments(self.function)
            self.input_schema, self._read = opened(arguments.schema, ANNOTATION), _strictly(arguments)
        else:
            self.input_schema = copy.deepcopy(input_schema)
            self._read = _by_schema(self.function, self.input_schema)
        self.headers = parameters_of(self.input_schema)
        """The arguments that come in a header as well, over HTTP."""
        self.output = Output(self.function.name, self.function.returns)

    def call(self, arguments: Mapping[str, Any], context: Context) -> Awaitable[object]:
        """What the function makes of arguments as they came; raises whatever it raises."""
        return self.function(self._read(arguments), context)


class Tools:
    """The tools of a server, in the order in which they were registered."""

    def __init__(self, shelf: Shelf) -> None:
        self._tools: Listing[Tool] = Listing("tool", "tools/list", shelf)

    def __bool__(self) -> bool:
        return bool(self._tools)

    def add(
        self,
        call: Call,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[types.Icon] | None = None,
        meta: types.MetaObject | None = None,
        annotations: types.ToolAnnotations | None = None,
        input_schema: Schema | None = None,
    ) -> None:
        """Register a function; raises ValueError for its name or schema, TypeError for its signature."""
        tool = Tool(call, input_schema)
        name = tool.function.name if name is None else name
        if not NAME.fullmatch(name):
            warnings.warn(
                f"hosts may refuse the tool name {name!r}: use 1 to 128 of A-Z a-z 0-9 _ . -", stacklevel=3
            )
        tool.listed = types.Tool(
            name=name,
            title=title,
            description=tool.function.description if description is None else description,
            icons=icons,
            meta=meta,
            annotations=annotations,
            input_schema=tool.input_schema,
        )
        if tool.output.schema is not None:
            tool.listed.output_schema = tool.output.schema
        self._tools.add(name, tool)

    def remove(self, name: str) -> None:
        """Take a tool out; raises KeyError when there is none. Calls that have begun go on."""
        self._tools.remove(name)

    def page(self, params: types.PaginatedRequestParams) -> types.ListToolsResult:
        """A page of the tools."""
        shown, members = self._tools.page(params.cursor)
        return types.ListToolsResult(tools=[tool.listed for tool in shown], **members)

    def headers(self, name: str) -> Parameters:
        """The arguments of a tool that come in a header as well; of an unknown tool, none."""
        tool = self._tools.get(name)
        return {} if tool is None else tool.headers

    async def call(self, params: types.CallToolRequestParams, context: Context) -> Outcome:
        """Call one tool; raises InvalidParams when there is none, and what McpError the tool raises."""
        return finished(await self.tell(params, context))

    async def tell(self, params: types.CallToolRequestParams, context: Context) -> Outcome | str:
        """The same, but a result that is of one text, and nothing else, comes as that text."""
        tool = self._tools.get(params.name)
        if tool is None:
            raise InvalidParams(f"Unknown tool: {params.name}")
        try:
            return tool.output.result(await tool.call(params.arguments or {}, context))
        except (McpError, InputNeeded):
            raise
        except BaseException as error:
            return _failure(params.name, error)


def _failure(name: str, error: BaseException) -> types.CallToolResult:
    """The result of a call that has failed; raises what is no failure of the tool.

    Of a group, the first ToolError or McpError is what the author says; it ends by a question only when nothing
    else went wrong.
    """
    parts = [part for part in singly(error) if not isinstance(part, InputNeeded)]
    if not parts or any(map(is_end, parts)):
        raise error
    told = first(error, (ToolError, McpError))
    if any(not isinstance(part, (ToolError, McpError)) for part in parts):
        log.error("tool %r failed", name, exc_info=error)
    if isinstance(told, McpError):
        raise told from None
    return failed(f"Tool {name} failed" if told is None else str(told))


def _strictly(arguments: Arguments) -> Callable[[Mapping[str, Any]], Mapping[str, object]]:
    def read(values: Mapping[str, Any]) -> Mapping[str, object]:
        try:
            return arguments.from_json(values)
        except ValidationError as error:
            raise ToolError(f"Invalid arguments: {explain(error)}") from None

    return read


def _by_schema(function: Function, schema: Schema) -> Callable[[Mapping[str, Any]], Mapping[str, object]]:
    """Judge by an explicit schema; the function takes all arguments as one dictionary."""
    # Few authors write schemas of their own, and importing the validator takes its time.
    from ..schemas import judge_arguments

    if len(function.parameters) != 1:
        raise TypeError(f"{function.name} has an input schema, so it must take one dictionary of arguments")
    (parameter,) = function.parameters
    judge = judge_arguments(schema)

    def read(values: Mapping[str, Any]) -> Mapping[str, object]:
        complaint = judge.complaint(values)
        if complaint:
            raise ToolError(f"Invalid arguments: {complaint}")
        return {parameter: values}

    return read
