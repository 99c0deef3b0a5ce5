"""What a server may ask before it completes a call, and who answers: the user, a model, the list of roots.

A client declares what it has handlers for and nothing else, so that it is asked for nothing else
(client/elicitation, client/sampling, client/roots).
"""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ..latest import types
from .forms import filled

Form: TypeAlias = Callable[
    [types.ElicitRequestFormParams], Awaitable[types.ElicitResult] | types.ElicitResult
]
"""Puts a form to the user and gives back what was entered, or that it was declined or cancelled.

What was left out has the default of the form; what does not fit the form is not sent, and the call raises ValueError.
"""

Url: TypeAlias = Callable[[types.ElicitRequestURLParams], Awaitable[types.ElicitResult] | types.ElicitResult]
"""Shows the user a URL and gives back whether it may be opened."""

Sample: TypeAlias = Callable[
    [types.CreateMessageRequestParams], Awaitable[types.CreateMessageResult] | types.CreateMessageResult
]
"""Has a model say what comes next."""

Roots: TypeAlias = Callable[[], Awaitable[Sequence[types.Root]] | Sequence[types.Root]]
"""Gives the roots of the moment, each a `file://` URI."""


ACTIONS: Final = ("accept", "decline", "cancel")
"""What a user can do with a question."""

Answer: TypeAlias = Callable[[], Awaitable[types.InputResponse] | types.InputResponse]


class InputRequired(Exception):
    """A server asks for input that this client cannot give; `result` says for which."""

    def __init__(self, result: types.InputRequiredResult, reason: str) -> None:
        super().__init__(reason)
        self.result = result


@dataclass(frozen=True)
class Answers:
    """The handlers of one client; without one, what it is for is neither declared nor answered.

    `tools` says that the model of `sample` can be given tools.
    """

    form: Form | None = None
    url: Url | None = None
    sample: Sample | None = None
    tools: bool = False
    roots: Roots | None = None

    def capabilities(self) -> types.ClientCapabilities:
        """What the client declares in each request."""
        declared = types.ClientCapabilities()
        if self.form or self.url:
            modes = types.ClientCapabilitiesElicitation()
            if self.form:
                modes.form = {}
            if self.url:
                modes.url = {}
            declared.elicitation = modes
        if self.sample:
            declared.sampling = types.ClientCapabilitiesSampling()
            if self.tools:
                declared.sampling.tools = {}
        if self.roots:
            declared.roots = {}
        return declared

    async def all(self, result: types.InputRequiredResult) -> dict[str, types.InputResponse]:
        """The answers to all that a result asks for, by key; raises InputRequired when one cannot be given."""
        asked: Mapping[str, types.InputRequest] = result.input_requests or {}
        work = {key: self._work(request, result) for key, request in asked.items()}
        tasks = {key: asyncio.ensure_future(_given(answer)) for key, answer in work.items()}
        try:
            await asyncio.gather(*tasks.values())
        finally:
            # Where one fails, nobody waits for the others.
            for task in tasks.values():
                task.cancel()
        return {key: task.result() for key, task in tasks.items()}

    def _work(self, request: types.InputRequest, result: types.InputRequiredResult) -> Answer:
        """What answers one request."""
        if isinstance(request, types.CreateMessageRequest):
            sample, params = self.sample, request.params
            wants_tools = params.tools is not None or params.tool_choice is not None
            if sample is not None and (self.tools or not wants_tools):
                return lambda: sample(params)
        elif isinstance(request, types.ListRootsRequest):
            roots = self.roots
            if roots is not None:
                return lambda: _listed(roots)
        elif isinstance(request.params, types.ElicitRequestURLParams):
            url, at = self.url, request.params
            if url is not None:
                return lambda: _visited(url, at)
        else:
            form, asked = self.form, request.params
            if form is not None:
                return lambda: _entered(form, asked)
        raise InputRequired(
            result, f"The server asks for {request.method}, which this client did not declare"
        )


async def _given(answer: Callable[[], Any]) -> Any:
    """What a plain or an async handler gives."""
    outcome = answer()
    return await outcome if inspect.isawaitable(outcome) else outcome


async def _entered(form: Form, asked: types.ElicitRequestFormParams) -> types.ElicitResult:
    """The answer to a form: the whole content where it was accepted, and else none."""
    answer: types.ElicitResult = await _given(lambda: form(asked))
    if _decided(answer) != "accept":
        return types.ElicitResult(action=answer.action)
    try:
        return types.ElicitResult(
            action="accept", content=filled(asked.requested_schema, answer.content or {})
        )
    except ValueError as error:
        raise ValueError(f"the answer to {asked.message!r} does not fit its form: {error}") from None


async def _visited(url: Url, asked: types.ElicitRequestURLParams) -> types.ElicitResult:
    """The answer to a URL, which has no content: what is entered there is nothing to the client."""
    answer: types.ElicitResult = await _given(lambda: url(asked))
    return types.ElicitResult(action=_decided(answer))


def _decided(answer: types.ElicitResult) -> str:
    if answer.action not in ACTIONS:
        raise ValueError(f"a user can {', '.join(ACTIONS)}, not {answer.action!r}")
    return answer.action


async def _listed(roots: Roots) -> types.ListRootsResult:
    given = list(await _given(roots))
    for root in given:
        if not root.uri.startswith("file://"):
            raise ValueError(f"a root must be a file:// URI, and {root.uri!r} is none")
    return types.ListRootsResult(roots=given)
