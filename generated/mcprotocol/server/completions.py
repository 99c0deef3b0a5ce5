"""Completions: suggestions for an argument of a prompt or a variable of a resource template.

A client gets at most a hundred, and is told how many there are (server/utilities/completion).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, cast

from ..errors import InvalidParams
from ..latest import types
from .context import Context
from .prompts import Prompts
from .registry import Call, Function
from .resources import Resources

MOST = 100
"""How many values one result may hold."""

Key: TypeAlias = tuple[str, str, str]
"""What a completion is for: the type of reference, the prompt's name or the template, the argument."""


class Completions:
    """The completions of a server."""

    def __init__(self, prompts: Prompts, resources: Resources) -> None:
        """Beside the completions themselves, what there is to complete decides what is answered."""
        self._prompts = prompts
        self._resources = resources
        self._completions: dict[Key, Function] = {}

    def __bool__(self) -> bool:
        return bool(self._completions)

    def add(
        self, call: Call, *, argument: str, prompt: str | None = None, resource: str | None = None
    ) -> None:
        """Register a function of the text so far and, if it takes a second, the arguments already chosen.

        Raises ValueError when it is for both or neither or has one already, TypeError for another signature.
        """
        if (prompt is None) == (resource is None):
            raise ValueError("a completion is for a prompt or for a resource template")
        function = Function(call)
        if not 1 <= len(function.parameters) <= 2:
            raise TypeError(f"{function.name} must take the value, and may take the arguments already chosen")
        key = (
            ("ref/prompt", prompt, argument)
            if prompt is not None
            else ("ref/resource", resource or "", argument)
        )
        if key in self._completions:
            raise ValueError(f"a completion of {argument!r} of {key[1]!r} is registered already")
        self._completions[key] = function

    async def complete(self, params: types.CompleteRequestParams, context: Context) -> types.CompleteResult:
        """Suggest values; raises InvalidParams when there is no such prompt, template or argument."""
        ref = params.ref
        owner = ref.name if isinstance(ref, types.PromptReference) else ref.uri
        function = self._completions.get((ref.type, owner, params.argument.name))
        if function is None:
            self._check(params)
            return _result([])
        chosen = params.context.arguments if params.context else None
        given = zip(function.parameters, (params.argument.value, chosen or {}), strict=False)
        value = await function(dict(given), context)
        if isinstance(value, types.CompleteResult):
            return value
        # A text is one suggestion, not one for each of its letters.
        return _result([value] if isinstance(value, str) else [*cast(Iterable[str], value)])

    def _check(self, params: types.CompleteRequestParams) -> None:
        """Tell what exists and has no suggestions from what does not exist."""
        if isinstance(params.ref, types.PromptReference):
            kind, owner, names = "prompt", params.ref.name, self._prompts.arguments(params.ref.name)
        else:
            kind, owner, names = (
                "resource template",
                params.ref.uri,
                self._resources.variables(params.ref.uri),
            )
        if names is None:
            raise InvalidParams(f"Unknown {kind}: {owner}")
        if params.argument.name not in names:
            raise InvalidParams(f"Unknown argument of {kind} {owner}: {params.argument.name}")


def _result(values: list[str]) -> types.CompleteResult:
    completion = types.CompleteResultCompletion(
        values=values[:MOST], total=len(values), has_more=len(values) > MOST
    )
    return types.CompleteResult(completion=completion, result_type="complete")
