"""The context of one request: what the request itself brought, and nothing that came before it.

The protocol is stateless (basic/index, Statelessness): version, capabilities and identity of the client are
read from the metadata of this request alone.
"""

# Logging, sampling and roots are deprecated, and specified.
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Protocol, TypeVar, overload, runtime_checkable

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from ..jsonrpc import Channel, Id, Request, RequestMethod
from ..latest import server as stubs
from ..latest import types
from .credentials import Credentials
from .inputs import (
    Accepted,
    Ask,
    Form,
    Refused,
    form_request,
    model_form,
    read_form,
    read_roots,
    read_sample,
    read_visit,
)
from .rounds import Pending, Question, Rounds
from .state import Seal
from .streams import Streams

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
M = TypeVar("M", bound=BaseModel)

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""How serious a log message can be, the least first (server/utilities/logging)."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a server lends to each of its requests: its seal, and whether it has announced that it logs."""

    seal: Seal
    logs: bool


class Context:
    """One request, as its handler sees it.

    `request_id` is the id that the answer will carry. `credentials` are what it came with besides.
    """

    def __init__(
        self,
        request: Request,
        method: RequestMethod[Any, Any],
        channel: Channel,
        streams: Streams,
        means: Means,
        credentials: Credentials,
    ) -> None:
        """A context whose reports travel through `channel`; made by the dispatcher, on the event loop."""
        self.request_id: Id = request.id
        self._channel = channel
        self.streams = streams
        self.credentials = credentials
        self.over = False
        """Whether the request is over, cancelled say: a coroutine is ended then, a plain function looks here."""
        self._request = request
        self._method = method
        self._means = means
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._reached = -math.inf

    @cached_property
    def calls(self) -> stubs.ServerCalls:
        """What may be sent before the answer, one coroutine each."""
        return stubs.ServerCalls(self._channel)

    @cached_property
    def meta(self) -> types.RequestMetaObject:
        """The request's own `_meta`, typed, with whatever else the client put there in `meta.model_extra`."""
        # Read when a handler first asks: the params of the request have it as well, and most need no other.
        return types.RequestMetaObject.model_validate((self._request.params or {}).get("_meta"))

    @cached_property
    def principal(self) -> str | None:
        """Who asks, where the application around the server checks it; what is sealed is for them alone.

        A server that knows better sets it, before anything is asked.
        """
        return self.credentials.principal

    @cached_property
    def rounds(self) -> Rounds:
        """The rounds of this request: made when a handler first asks, which few do."""
        params, declared = self._request.params or {}, self.client_capabilities
        return Rounds(self._method, params, declared, lambda: self.principal, self._means.seal)

    @property
    def client_capabilities(self) -> types.ClientCapabilities:
        """What the client can do for this request."""
        return self.meta.client_capabilities

    @property
    def client_info(self) -> types.Implementation | None:
        """What the client says it is: for display and logs, never a reason to behave differently."""
        return self.meta.client_info

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Awaitable[None]:
        """Report how far the request has come, in a unit of your own; `total` is where it will end.

        Nothing is sent when the client did not ask, when `progress` has not increased since the last report,
        or after the answer. A coroutine awaits it; a plain function calls it, and returns once the report is
        on its way.
        """
        if self.meta.progress_token is None:
            return _NOTHING
        return self._sent(self._report(progress, total, message))

    def log(self, level: types.LoggingLevel, data: Any, logger: str | None = None) -> Awaitable[None]:
        """Tell the client's log about this request: `data` is any JSON value, and holds no secret.

        Nothing is sent unless the request asked for this level or a lower one. Await it or call it, as
        `progress`. Raises ValueError for an unknown level, RuntimeError when the server was not built with
        `logging=True` and so has announced no log.
        """
        if level not in LEVELS:
            raise ValueError(f"unknown log level {level!r}: use one of {', '.join(LEVELS)}")
        if not self._means.logs:
            raise RuntimeError("build the server with logging=True, which announces that it logs")
        least = self.meta.log_level
        if least is None or LEVELS.index(level) < LEVELS.index(least):
            return _NOTHING
        return self._sent(
            self.calls.notify_logging_message(
                types.LoggingMessageNotificationParams(
                    level=level, data=to_jsonable_python(data), logger=logger
                )
            )
        )

    def hang_up(self) -> None:
        """End the stream of this request early: the client comes back for the answer and what goes before it.

        For calls that take long, over HTTP, where a proxy ends what is open for long. It means something to clients
        of 2025-11-25 alone; with others, and over stdio, nothing happens.
        """
        if isinstance(self._channel, _HangsUp):
            self._loop.call_soon_threadsafe(self._channel.hang_up)

    @overload
    def elicit(
        self, message: str, form: type[M], *, key: str | None = None
    ) -> Question[Accepted[M] | Refused]: ...
    @overload
    def elicit(
        self, message: str, form: Mapping[str, Any], *, key: str | None = None
    ) -> Question[Accepted[dict[str, Any]] | Refused]: ...
    def elicit(
        self, message: str, form: type[BaseModel] | Mapping[str, Any], *, key: str | None = None
    ) -> Any:
        """Ask the user to fill in a form: a flat Pydantic model, or a schema of the protocol's kind.

        A coroutine awaits it, a plain function takes its `result()`. The first time that ends the handler, which
        runs again from its beginning when the answer has come: ask first, act after. Answers are found by
        `key`, which is the order of asking unless given, and count for the question as it was asked: with another
        message or form it is asked anew, so that what changes with every run must be remembered. Never ask for
        secrets (client/elicitation).
        """
        shape: Form[Any] = model_form(form) if isinstance(form, type) else Form(form)
        return self._question("elicitation", key, form_request(message, shape), read_form(shape))

    def elicit_url(
        self, message: str, url: str, *, key: str | None = None
    ) -> Question[Accepted[None] | Refused]:
        """Ask the user to visit a page; accepted means agreed, and whether anything came of it you must find out.

        Another URL is another question, so `remember` one that is made for this request alone.
        """
        params = types.ElicitRequestURLParams(message=message, url=url)
        return self._question("elicitation", key, types.ElicitRequest(params=params), read_visit)

    def sample(
        self,
        prompt: str | types.CreateMessageRequestParams,
        *,
        max_tokens: int = 1000,
        key: str | None = None,
    ) -> Question[types.CreateMessageResult]:
        """Have the client's model answer a prompt, in `max_tokens`, or what the params describe in full."""
        if isinstance(prompt, str):
            message = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
            prompt = types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
        return self._question("sampling", key, types.CreateMessageRequest(params=prompt), read_sample)

    def roots(self, *, key: str | None = None) -> Question[list[types.Root]]:
        """Ask for the folders and files to work on; they inform, and permit nothing."""
        return self._question("roots", key, types.ListRootsRequest(), read_roots)

    @overload
    def ask(self, first: Question[A], second: Question[B], /) -> Pending[tuple[A, B]]: ...
    @overload
    def ask(
        self, first: Question[A], second: Question[B], third: Question[C], /
    ) -> Pending[tuple[A, B, C]]: ...
    @overload
    def ask(self, *questions: Question[A]) -> Pending[tuple[A, ...]]: ...
    def ask(self, *questions: Question[Any]) -> Pending[Any]:
        """Ask several questions in one round; the results come in their order."""
        return Pending(lambda: tuple(self.rounds.results(questions)))

    @property
    def input_responses(self) -> Mapping[str, Any]:
        """The answers as they came, for a handler that makes its own `InputRequiredResult`."""
        return self.rounds.params.get("inputResponses") or {}

    @property
    def request_state(self) -> str | None:
        """The state as it came, for such a handler: an attacker's, until the handler has judged it."""
        return self.rounds.params.get("requestState")

    def settled(self, result: A) -> A | types.InputRequiredResult:
        """The result of the handler, or what it has asked and went on without."""
        rounds: Rounds | None = vars(self).get("rounds")
        return result if rounds is None else rounds.settled(result)

    def remember(self, name: str, value: Any) -> None:
        """Keep a small JSON value for the rounds after this one; the client can read it, and not change it."""
        self.rounds.remember(name, value)

    def recall(self, name: str, default: Any = None) -> Any:
        """What was remembered under a name, in this round or one before."""
        return self.rounds.recall(name, default)

    def _question(self, kind: str, key: str | None, request: Ask, read: Callable[[Any], A]) -> Question[A]:
        return Question(self.rounds, self.rounds.key(key, kind), request, read)

    async def _report(self, progress: float, total: float | None, message: str | None) -> None:
        # JSON has no infinity, and what is not a number never increases (basic/patterns/progress).
        if not self._reached < progress < math.inf or self.meta.progress_token is None:
            return
        self._reached = progress
        await self.calls.notify_progress(
            types.ProgressNotificationParams(
                progress_token=self.meta.progress_token, progress=progress, total=total, message=message
            )
        )

    def _sent(self, report: Coroutine[Any, Any, None]) -> Awaitable[None]:
        """The report, to be awaited; in a worker it is sent before this returns."""
        if threading.get_ident() == self._thread:
            return report
        try:
            sent = asyncio.run_coroutine_threadsafe(report, self._loop)
        except RuntimeError:
            report.close()  # The loop has ended while the function ran on: nobody is left to hear it.
        else:
            sent.result()
        return _NOTHING


@runtime_checkable
class _HangsUp(Protocol):
    """A channel whose stream may end before its request does."""

    def hang_up(self) -> None: ...


class _Nothing:
    """Awaitable, and done."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


_NOTHING = _Nothing()
