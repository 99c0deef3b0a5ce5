"""Questions: what a server of the handshake era asks by a request of its own, and the answer or error it gets.

They are answered by the handlers that answer input-required results (2025-11-25, client/*).
"""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError

from ..errors import InvalidParams, McpError, MethodNotFound
from ..jsonrpc import Request, explain
from ..latest import types
from .answers import Answers, InputRequired

PING: Final = "ping"

ASKED: Final = ("elicitation/create", "sampling/createMessage", "roots/list")
"""What a server may ask, where the client has declared it."""

KEY: Final = "asked"


async def replied(answers: Answers, request: Request) -> bytes:
    """The result of a request of the server; raises McpError where it has none, and what a handler raises."""
    if request.method == PING:
        return b"{}"
    if request.method not in ASKED:
        raise MethodNotFound(request.method)
    asked = {"method": request.method, "params": request.params or {}}
    try:
        question = types.InputRequiredResult.model_validate(
            {"resultType": "input_required", "inputRequests": {KEY: asked}}
        )
    except ValidationError as error:
        raise InvalidParams(f"Invalid params: {explain(error)}") from None
    try:
        given = await answers.all(question)
    except InputRequired as error:
        raise _undeclared(answers, request) from error
    return given[KEY].wire_bytes()


def _undeclared(answers: Answers, request: Request) -> McpError:
    """The error for what the client has not declared: the method altogether, or what it is asked for by it."""
    declared = answers.capabilities()
    partly = {ASKED[0]: declared.elicitation, ASKED[1]: declared.sampling}.get(request.method)
    if partly is None:
        return MethodNotFound(request.method)
    return InvalidParams(f"This client has not declared that it can do {request.method} in this way")
