"""Rounds: a handler that asks ends there, and runs again from its beginning when the answers have come.

Nothing is kept between the rounds but what the client brings back: the answers of this round, and the sealed
state with those of the rounds before it (basic/patterns/mrtr). A question finds its answer by its key, as long
as it still asks what was asked under that key: one that has changed is another question, and gets another key.
"""

# Sampling and roots are deprecated, and specified.
# pyright: reportDeprecated=false

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar, cast, final

from pydantic_core import to_jsonable_python

from ..errors import InternalError, InvalidParams, McpError, MissingRequiredClientCapability
from ..jsonrpc import Params, RequestMethod
from ..latest import types
from .failures import first
from .inputs import Ask, digest, missing, needed
from .state import Seal, binding

T = TypeVar("T")

MOST_ROUNDS: Final = 10
"""How often one request may ask: clients stop somewhere as well."""


@final
class InputNeeded(BaseException):
    """Ends a handler that cannot go on without an answer; no `Exception`, so that no handler takes it for a fault."""


class Pending(Generic[T]):
    """What was asked: a coroutine awaits it, a plain function calls `result()`; either may end the round."""

    def __init__(self, get: Callable[[], T]) -> None:
        """Get the answer by `get`, when it is wanted."""
        self.result = get

    def __await__(self) -> Generator[None, None, T]:
        yield from ()
        return self.result()


class Question(Pending[T]):
    """One request for input, under the key that its answer will have."""

    def __init__(self, rounds: Rounds, key: str, request: Ask, read: Callable[[Any], T]) -> None:
        """Ask in these rounds; `read` makes the result of an answer, or raises InvalidParams."""
        super().__init__(lambda: cast(T, rounds.results([self])[0]))
        self._rounds = rounds
        self.key = key
        self.request = request
        self.read = read
        self.spared = False
        self.digest = digest(key, request)

    def optional(self) -> Question[T | None]:
        """The same question, but None is its result where the client cannot be asked it."""
        same: Question[T | None] = Question(self._rounds, self.key, self.request, self.read)
        same.spared = True
        return same


class Rounds:
    """The rounds of one request, as the request brings them."""

    def __init__(
        self,
        method: RequestMethod[Any, Any],
        params: Params,
        declared: types.ClientCapabilities,
        principal: Callable[[], str | None],
        seal: Seal,
    ) -> None:
        """Read nothing yet: a handler that never asks has no state to be judged."""
        self._method = method
        self.params = params
        self._declared = declared
        self._principal = principal
        self._seal = seal
        self._state: dict[str, Any] | None = None
        self._pending: dict[str, Ask] = {}
        self._numbers: dict[str, int] = {}
        self._keys: set[str] = set()

    def key(self, given: str | None, kind: str) -> str:
        """The key of a question: the one it was given, else its kind and number in the order of asking; raises ValueError for one of before."""
        if given is None:
            self._numbers[kind] = self._numbers.get(kind, 0) + 1
        key = f"{kind}_{self._numbers[kind]}" if given is None else given
        if key in self._keys:
            raise ValueError(f"the key {key!r} was used before: its answer would be the same")
        self._keys.add(key)
        return key

    def results(self, questions: Sequence[Question[Any]]) -> list[Any]:
        """The result of each question; ends the round when one has no answer yet.

        Raises MissingRequiredClientCapability when the client cannot be asked, InvalidParams for an answer that
        does not fit.
        """
        if not self._method.input_required:
            raise RuntimeError(f"{self._method.name} cannot ask for input")
        answers = {question.key: self._answer(question) for question in questions}
        open_ = [question for question in questions if not answers[question.key]]
        lacking = {question.key: missing(question.request, self._declared) for question in open_}
        required = [lacking[question.key] for question in open_ if not question.spared]
        if any(required):
            raise MissingRequiredClientCapability(_merged(required))
        asked = [question for question in open_ if not lacking[question.key]]
        if asked:
            self._pending |= {self._asked_as(question): question.request for question in asked}
            raise InputNeeded
        found = [answers[question.key] for question in questions]
        return [None if answer is None else answer[0] for answer in found]

    def remember(self, name: str, value: Any) -> None:
        """Keep a JSON value for the rounds to come."""
        self._opened()["kept"][name] = to_jsonable_python(value)

    def recall(self, name: str, default: Any) -> Any:
        """What was kept under a name."""
        return self._opened()["kept"].get(name, default)

    def settled(self, result: T) -> T | types.InputRequiredResult:
        """A result as it is; what was asked, where the handler has come to it past the end of its round.

        `asyncio.gather(..., return_exceptions=True)` goes past it. A failure stays one.
        """
        failed = isinstance(result, types.CallToolResult) and result.is_error
        return self._request() if self._pending and not failed else result

    def ended(self, ending: InputNeeded | BaseExceptionGroup[BaseException]) -> types.InputRequiredResult:
        """What the handler needs before it can go on; raises what else it ended by, an McpError before all."""
        # The tasks of a TaskGroup have asked side by side; whatever else went wrong in them comes first.
        rest = None if isinstance(ending, InputNeeded) else ending.split(InputNeeded)[1]
        if rest is not None:
            raise first(rest, McpError) or rest from None
        return self._request()

    def _request(self) -> types.InputRequiredResult:
        state = self._opened()
        if state["round"] >= MOST_ROUNDS:
            raise InternalError(f"The request has asked for input {MOST_ROUNDS} times and is not complete")
        payload = {**state, "round": state["round"] + 1}
        sealed = self._seal.close(payload, self._binding())
        return types.InputRequiredResult(input_requests=dict(self._pending), request_state=sealed)

    def _answer(self, question: Question[T]) -> tuple[T] | None:
        """The answer in a tuple, or None when there is none yet."""
        state = self._opened()
        key = self._key_of(question)
        # What was answered in an earlier round is settled: the seal vouches for it.
        given = {**_dict(self.params.get("inputResponses")), **state["answers"]}
        if key is None or key not in given:
            return None
        try:
            result = question.read(given[key])
        except InvalidParams as error:
            raise InvalidParams(f"Invalid answer to {key!r}: {error.message}") from None
        state["answers"][key] = given[key]
        state["asked"][key] = question.digest
        return (result,)

    def _key_of(self, question: Question[Any]) -> str | None:
        """The key under which this very question was asked, or None when it never was.

        Without a state nothing was asked, and answers that a client gives of itself stand under the plain key.
        """
        if self.params.get("requestState") is None:
            return question.key
        asked = self._opened()["asked"]
        return next((key for key in _keys(question.key, asked) if asked.get(key) == question.digest), None)

    def _asked_as(self, question: Question[Any]) -> str:
        """The key to ask a question under: its own, or one that follows it where that stood for another question."""
        asked = self._opened()["asked"]
        key = self._key_of(question) or next(key for key in _keys(question.key, asked) if key not in asked)
        asked[key] = question.digest
        return key

    def _opened(self) -> dict[str, Any]:
        if self._state is None:
            sealed = self.params.get("requestState")
            fresh: dict[str, Any] = {"round": 0, "asked": {}, "answers": {}, "kept": {}}
            self._state = fresh if sealed is None else self._seal.open(sealed, self._binding())
        return self._state

    def _binding(self) -> bytes:
        return binding(self._method.name, self.params, self._principal())


def permitted(
    result: types.InputRequiredResult, declared: types.ClientCapabilities
) -> types.InputRequiredResult:
    """What a handler made itself, without what this client cannot be asked.

    Raises MissingRequiredClientCapability when that leaves nothing to ask, TypeError when nothing was asked at all.
    """
    if result.input_requests is None and result.request_state is None:
        raise TypeError("an InputRequiredResult must have input requests or a request state")
    requests = result.input_requests or {}
    asked = {key: request for key, request in requests.items() if not missing(request, declared)}
    if requests and not asked:
        raise MissingRequiredClientCapability(_merged([needed(request) for request in requests.values()]))
    return result if len(asked) == len(requests) else result.model_copy(update={"input_requests": asked})


def _keys(key: str, asked: Mapping[str, object]) -> Iterator[str]:
    """A key and those that follow it, up to one that was never asked: the same in every replica for one state."""
    yield key
    yield from (f"{key}_again_{number}" for number in range(1, len(asked) + 1))


def _merged(capabilities: Sequence[dict[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for name, modes in (item for one in capabilities for item in one.items()):
        merged[name] = {**merged.get(name, {}), **modes}
    return merged


def _dict(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
