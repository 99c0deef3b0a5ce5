"""What a result is: the complete one, the interim one, or a task; and what is none of them.

Where results carry `resultType` it alone decides (basic/index, ResultType), and an absent one means complete:
older servers do not send it. A request that asked for a task (2025-11-25, Tasks) is answered by the task when
the result says `task` and is not the complete one.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import from_json, to_json

from .errors import InvalidRequest
from .exact import read
from .jsonrpc import Params, RequestMethod, explain
from .wire import WireModel, members

R = TypeVar("R", covariant=True)


def read_result(method: RequestMethod[Any, R], result: Params) -> R:
    """The result as its type; raises McpError when it is none that the method has."""
    chosen: Any = _chosen(method, result)
    try:
        value: R = chosen.model_validate(result)
        return value
    except ValidationError as error:
        raise InvalidRequest(
            f"The peer answered {method.name} with an invalid result: {explain(error)}"
        ) from None


def read_result_json(method: RequestMethod[Any, R], data: str | bytes, *, strict: bool = False) -> R:
    """The result that JSON text holds, in one pass where it is a complete one.

    Raises `pydantic.ValidationError`, or McpError when `resultType` names none that the method has.
    """
    complete = method.results[0]
    try:
        result: Any = read(complete, data, strict=strict)
    except ValidationError:
        other = _other(method, data)
        if other is None:
            raise
        return cast(R, read(other, data, strict=strict))
    if getattr(result, "result_type", "complete") != "complete":
        # The type of a result is open, so that one of any type may have read as this one.
        return cast(R, read(_chosen(method, from_json(data)), data, strict=strict))
    return cast(R, result)


def _other(method: RequestMethod[Any, Any], data: str | bytes) -> type[WireModel] | None:
    """What a text that is no complete result is meant to be; None when it is meant to be complete, or no object."""
    try:
        result: Any = from_json(data)
    except (ValueError, TypeError):  # The last is said of text with half a surrogate pair.
        return None
    chosen = _chosen(method, cast(Params, result)) if isinstance(result, dict) else None
    return None if chosen is method.results[0] else chosen


def _chosen(method: RequestMethod[Any, Any], result: Params) -> type[WireModel]:
    """The type that a result is meant to have; raises InvalidRequest when it says that it is something else."""
    kind = result.get("resultType", "complete")
    complete = method.results[0]
    if kind == "complete" and not method.task_augmented:
        return complete
    if method.task_augmented and "task" in result and not members(complete).required <= result.keys():
        return method.results[-1]
    if kind == "complete" or "resultType" not in members(complete).wires:
        return complete
    if kind != "input_required" or not method.input_required:
        shown = to_json(kind).decode()
        raise InvalidRequest(f"The peer answered {method.name} with an unknown resultType: {shown}")
    if "inputRequests" not in result and "requestState" not in result:
        raise InvalidRequest(
            f"The peer answered {method.name} with input_required but neither inputRequests nor requestState"
        )
    return method.results[1]
