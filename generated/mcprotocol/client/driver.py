"""One call as the requests that it takes: another version, another listing of the tools, answers to questions.

Each of them is a request of its own under an id of its own (basic/patterns/mrtr, basic/index, Protocol Version).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from ..errors import HeaderMismatch, InvalidParams, UnsupportedProtocolVersion
from ..headers import NONE, Parameters
from ..jsonrpc import Id, RequestMethod
from ..latest import REVISION, types
from ..wire import WireModel
from .answers import Answers, InputRequired
from .cache import Cache
from .calls import Calls
from .hearing import NOBODY, Hearing

T = TypeVar("T", bound=WireModel)
Q = TypeVar("Q", bound=WireModel)

SPOKEN: Final = (REVISION,)
"""The versions that this client speaks, the best first."""

ROUNDS: Final = 10
"""How many times one call may be answered with questions."""

PAUSE_SECONDS: Final = 0.25
"""How long a client waits before it repeats a request that asked for nothing but to be repeated."""


class Mirrored(Protocol):
    """The arguments of one call that are repeated in headers, as far as the client knows."""

    def parameters(self) -> Parameters:
        """Which they are; raises ValueError when one cannot be repeated."""
        ...

    async def renew(self) -> bool:
        """Ask the server again which they are, and say whether that is something else than before."""
        ...


class Metadata(NamedTuple):
    """The metadata of a request, and how it is written where that was worked out already."""

    value: types.RequestMetaObject
    written: bytes | None


class Driver:
    """Makes calls for a client that says it is `info` and has these `answers`; keeps results in `cache`."""

    def __init__(
        self, calls: Calls, info: types.Implementation, answers: Answers, cache: Cache | None = None
    ) -> None:
        self._calls = calls
        self._cache = cache
        self._who = object()
        self._answers = answers
        self._declared = answers.capabilities()
        self.info = info
        self.version = SPOKEN[0]
        self._plain: Metadata | None = None

    def meta(
        self, token: Id | None = None, level: types.LoggingLevel | None = None
    ) -> types.RequestMetaObject:
        """The metadata of one request: the version, and what this client is and can do."""
        return types.RequestMetaObject(
            protocol_version=self.version,
            client_capabilities=self._declared,
            client_info=self.info,
            progress_token=token,
            log_level=level,
        )

    def _meta(self, identity: Id, hearing: Hearing) -> Metadata:
        """The same for a request of the driver's own; most have the same, which is made once for each version."""
        if hearing.progress is not None or hearing.messages is not None:
            token = None if hearing.progress is None else identity
            level = None if hearing.messages is None else hearing.level
            return Metadata(self.meta(token, level), None)
        if self._plain is None or self._plain.value.protocol_version != self.version:
            value = self.meta()
            self._plain = Metadata(value, value.wire_bytes())
        return self._plain

    async def call(
        self,
        method: RequestMethod[Q, T],
        make: Callable[[types.RequestMetaObject], Q],
        hearing: Hearing = NOBODY,
        answers: Mapping[str, Any] | None = None,
        mirrored: Mirrored | None = None,
    ) -> T:
        """The result of one request, whose params are made for its metadata.

        A version is chosen again once, and what goes into headers is asked again once.
        """
        chosen = renewed = False
        while True:
            identity = self._calls.fresh()
            meta = self._meta(identity, hearing)
            params = make(meta.value)
            if answers:
                params = params.model_copy(update=dict(answers))
            try:
                return await self._calls.ask(
                    method,
                    params,
                    identity,
                    hearing,
                    version=self.version,
                    parameters=NONE if mirrored is None else mirrored.parameters(),
                    meta=meta.written,
                )
            except UnsupportedProtocolVersion as error:
                if chosen:
                    raise
                self.version, chosen = _mutual(error), True
            except HeaderMismatch:
                if renewed or mirrored is None or not await mirrored.renew():
                    raise
                renewed = True

    def kept(
        self,
        method: RequestMethod[Q, T],
        make: Callable[[types.RequestMetaObject], Q],
        hearing: Hearing = NOBODY,
        mirrored: Mirrored | None = None,
        *,
        fresh: bool = False,
    ) -> Coroutine[Any, Any, T]:
        """The result of one request, as it was kept or, where `fresh` says so, from the server."""
        if self._cache is None or not method.cacheable:
            return self.call(method, make, hearing, None, mirrored)
        return self._kept(self._cache, method, make, hearing, fresh)

    async def _kept(
        self,
        cache: Cache,
        method: RequestMethod[Q, T],
        make: Callable[[types.RequestMetaObject], Q],
        hearing: Hearing,
        fresh: bool,
    ) -> T:
        params = make(self.meta())
        found = None if fresh else cache.get(method, params, self._who)
        if found is not None:
            return found
        mark = cache.mark()
        try:
            result = await self.call(method, make, hearing)
        except InvalidParams:
            if method.paginated:
                # A page that leads to one that is not there is stale (server/utilities/caching, Pagination).
                cache.forget(method.name)
            raise
        cache.put(method, params, self._who, result, mark)
        return result

    async def complete(
        self,
        method: RequestMethod[Q, T | types.InputRequiredResult],
        make: Callable[[types.RequestMetaObject], Q],
        hearing: Hearing = NOBODY,
        mirrored: Mirrored | None = None,
        *,
        fresh: bool = False,
    ) -> T:
        """The complete result of a call, however often the server asks; raises InputRequired where that fails."""
        result = await self.kept(method, make, hearing, mirrored, fresh=fresh)
        for _ in range(ROUNDS):
            if not isinstance(result, types.InputRequiredResult):
                return result
            result = await self.call(method, make, hearing, await self._answered(result), mirrored)
        if isinstance(result, types.InputRequiredResult):
            raise InputRequired(result, f"The server still asks for input after {ROUNDS} rounds")
        return result

    async def _answered(self, result: types.InputRequiredResult) -> dict[str, Any]:
        """The members that a repeated request has more than the first: the answers, and the state as it came."""
        added: dict[str, Any] = {}
        if result.input_requests:
            added["input_responses"] = await self._answers.all(result)
        else:
            await asyncio.sleep(PAUSE_SECONDS)
        if result.request_state is not None:
            added["request_state"] = result.request_state
        return added


def _mutual(error: UnsupportedProtocolVersion) -> str:
    """A version that both sides speak; raises the error when there is none."""
    for version in SPOKEN:
        if version in error.supported:
            return version
    raise error
