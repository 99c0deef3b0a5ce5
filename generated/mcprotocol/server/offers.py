"""Offers: what a server offers, registered by decorators or at any later time, and the news that it has changed.

A list that changes is announced to those who listen (basic/patterns/subscriptions); before the server runs
there is nobody to hear it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

from ..latest import types
from .completions import Completions
from .listing import Cache, Shelf
from .prompts import Prompts
from .registry import Call, Schema
from .resources import Resources
from .streams import Bus, Change, Kind
from .tools import Tools

F = TypeVar("F", bound=Call)


class Offers:
    """The tools, resources, prompts and completions of a server."""

    def __init__(self, shelf: Shelf, bus: Bus) -> None:
        """Nothing yet; lists are shown as `shelf` says, and changes are told on `bus`."""
        self.tools = Tools(shelf)
        self.resources = Resources(shelf)
        self.prompts = Prompts(shelf)
        self.completions = Completions(self.prompts, self.resources)
        self._bus = bus
        self._registries: Mapping[str, object] = {
            "tools": self.tools,
            "resources": self.resources,
            "prompts": self.prompts,
            "completions": self.completions,
        }

    def tool(
        self,
        name: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
        icons: list[types.Icon] | None = None,
        meta: types.MetaObject | None = None,
        annotations: types.ToolAnnotations | None = None,
        input_schema: Schema | None = None,
    ) -> Callable[[F], F]:
        """Offer the function below as a tool, under its own name unless another is given.

        Its annotations become the input and output schemas, its docstring the description. With
        `input_schema` it takes all arguments as one dictionary, valid by that schema. `meta` is for what
        hosts and extensions agree on.
        """

        def register(function: F) -> F:
            # Not by `add_tool`, so that a warning about the name points to the author's line.
            self.tools.add(
                function,
                name=name,
                title=title,
                description=description,
                icons=icons,
                meta=meta,
                annotations=annotations,
                input_schema=input_schema,
            )
            self._changed("tools")
            return function

        return _called(name, register)

    def add_tool(
        self,
        function: Call,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[types.Icon] | None = None,
        meta: types.MetaObject | None = None,
        annotations: types.ToolAnnotations | None = None,
        input_schema: Schema | None = None,
    ) -> None:
        """Offer a function as a tool, as `tool` does, and tell the clients that listen; in any thread."""
        self.tools.add(
            function,
            name=name,
            title=title,
            description=description,
            icons=icons,
            meta=meta,
            annotations=annotations,
            input_schema=input_schema,
        )
        self._changed("tools")

    def remove_tool(self, name: str) -> None:
        """Offer a tool no longer, and tell; raises KeyError when there is none. Calls that have begun go on."""
        self.tools.remove(name)
        self._changed("tools")

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        annotations: types.Annotations | None = None,
        icons: list[types.Icon] | None = None,
        meta: types.MetaObject | None = None,
        ttl_ms: int = 0,
        cache_scope: Literal["public", "private"] = "private",
    ) -> Callable[[F], F]:
        """Offer what the function below returns under a URI, in which `{name}` stands for a parameter.

        A client may keep what it has read for `ttl_ms` milliseconds, and give it to other users if
        `cache_scope` is public.
        """

        def register(function: F) -> F:
            self.add_resource(
                function,
                uri,
                name=name,
                title=title,
                description=description,
                mime_type=mime_type,
                annotations=annotations,
                icons=icons,
                meta=meta,
                ttl_ms=ttl_ms,
                cache_scope=cache_scope,
            )
            return function

        return _called(uri, register)

    def add_resource(
        self,
        function: Call,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        annotations: types.Annotations | None = None,
        icons: list[types.Icon] | None = None,
        meta: types.MetaObject | None = None,
        ttl_ms: int = 0,
        cache_scope: Literal["public", "private"] = "private",
    ) -> None:
        """Offer what a function returns under a URI, as `resource` does, and tell; in any thread."""
        self.resources.add(
            function,
            uri,
            name=name,
            title=title,
            description=description,
            mime_type=mime_type,
            annotations=annotations,
            icons=icons,
            meta=meta,
            cache=Cache(ttl_ms, cache_scope),
        )
        self._changed("resources")

    def remove_resource(self, uri: str) -> None:
        """Offer the resource or template of this URI no longer, and tell; raises KeyError when there is none."""
        self.resources.remove(uri)
        self._changed("resources")

    def prompt(
        self,
        name: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
        icons: list[types.Icon] | None = None,
        meta: types.MetaObject | None = None,
    ) -> Callable[[F], F]:
        """Offer the function below as a prompt: its parameters are the arguments, its text the message."""

        def register(function: F) -> F:
            self.add_prompt(function, name=name, title=title, description=description, icons=icons, meta=meta)
            return function

        return _called(name, register)

    def add_prompt(
        self,
        function: Call,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[types.Icon] | None = None,
        meta: types.MetaObject | None = None,
    ) -> None:
        """Offer a function as a prompt, as `prompt` does, and tell; in any thread."""
        self.prompts.add(function, name=name, title=title, description=description, icons=icons, meta=meta)
        self._changed("prompts")

    def remove_prompt(self, name: str) -> None:
        """Offer a prompt no longer, and tell; raises KeyError when there is none."""
        self.prompts.remove(name)
        self._changed("prompts")

    def completion(
        self, *, argument: str, prompt: str | None = None, resource: str | None = None
    ) -> Callable[[F], F]:
        """Let the function below suggest values for an argument of a prompt or of a resource template.

        It takes the text so far and, if it wants them, the arguments already chosen; it returns the best
        first.
        """

        def register(function: F) -> F:
            self.completions.add(function, argument=argument, prompt=prompt, resource=resource)
            return function

        return register

    async def notify_resource_updated(self, uri: str) -> None:
        """Tell the clients that watch exactly this URI that what is there has changed."""
        self._bus.publish(Change("resources", uri))

    async def notify_list_changed(self, kind: Kind) -> None:
        """Tell the clients that listen that a list has changed; for lists that a subclass answers itself."""
        self._changed(kind)

    def _changed(self, kind: Kind) -> None:
        self._bus.publish(Change(kind))


def _called(name: object, register: Callable[[F], F]) -> Callable[[F], F]:
    """The decorator; without its parentheses it would have got the function as its first argument."""
    if callable(name):
        raise TypeError("write the decorator with parentheses, as in @server.tool()")
    return register
