"""Prompts: arguments are text, and what a function returns becomes messages.

A name that is unknown, an argument that is missing and one that is unknown are errors of the request
(server/prompts, Error Handling).
"""

from __future__ import annotations

from typing import TypeAlias

from pydantic import ValidationError

from ..errors import InvalidParams
from ..jsonrpc import explain
from ..latest import types
from .context import Context
from .listing import Listing, Shelf
from .registry import Arguments, Call, Function, parts_of
from .results import BLOCKS

Prompted: TypeAlias = types.GetPromptResult | types.InputRequiredResult
"""How the writing of a prompt may end."""


class Prompt:
    """One prompt: its arguments, and the function that writes it."""

    def __init__(
        self,
        call: Call,
        name: str | None,
        title: str | None,
        description: str | None,
        icons: list[types.Icon] | None,
        meta: types.MetaObject | None,
    ) -> None:
        """Read the function; raises TypeError when its parameters cannot be described."""
        self.function = Function(call)
        self.arguments = Arguments(self.function)
        self.listed = types.Prompt(
            name=self.function.name if name is None else name,
            title=title,
            description=self.function.description if description is None else description,
            icons=icons,
            meta=meta,
            arguments=self._listed_arguments() or None,
        )

    def _listed_arguments(self) -> list[types.PromptArgument]:
        """The arguments as clients see them."""
        return [
            types.PromptArgument(
                name=name, title=field.title, description=field.description, required=field.is_required()
            )
            for name, field in self.arguments.fields.items()
        ]


class Prompts:
    """The prompts of a server, in the order in which they were registered."""

    def __init__(self, shelf: Shelf) -> None:
        self._prompts: Listing[Prompt] = Listing("prompt", "prompts/list", shelf)

    def __bool__(self) -> bool:
        return bool(self._prompts)

    def add(
        self,
        call: Call,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[types.Icon] | None = None,
        meta: types.MetaObject | None = None,
    ) -> None:
        """Register a function; raises ValueError when the name is taken, TypeError for its signature."""
        prompt = Prompt(call, name, title, description, icons, meta)
        self._prompts.add(prompt.listed.name, prompt)

    def remove(self, name: str) -> None:
        """Take a prompt out; raises KeyError when there is none."""
        self._prompts.remove(name)

    def page(self, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        """A page of the prompts."""
        shown, members = self._prompts.page(params.cursor)
        return types.ListPromptsResult(prompts=[prompt.listed for prompt in shown], **members)

    def arguments(self, name: str) -> list[str] | None:
        """The arguments of a registered prompt, or None when it is not registered."""
        prompt = self._prompts.get(name)
        return None if prompt is None else list(prompt.arguments.fields)

    async def get(self, params: types.GetPromptRequestParams, context: Context) -> Prompted:
        """Write one prompt; raises InvalidParams when there is none or its arguments do not fit."""
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise InvalidParams(f"Unknown prompt: {params.name}")
        try:
            arguments = prompt.arguments.from_text(params.arguments or {})
        except ValidationError as error:
            raise InvalidParams(f"Invalid arguments of prompt {params.name}: {explain(error)}") from None
        value = await prompt.function(arguments, context)
        if isinstance(value, Prompted):
            return value
        return types.GetPromptResult(
            description=prompt.listed.description,
            messages=[_message(part) for part in parts_of(value)],
            result_type="complete",
        )


def _message(part: object) -> types.PromptMessage:
    """A message as it is, and text or a content block as said by the user."""
    if isinstance(part, types.PromptMessage):
        return part
    if isinstance(part, BLOCKS):
        return types.PromptMessage(role="user", content=part)
    if isinstance(part, str):
        return types.PromptMessage(role="user", content=types.TextContent(text=part))
    raise TypeError(f"a prompt gives text, content blocks or messages, not {type(part).__name__}")
