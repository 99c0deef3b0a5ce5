"""Resources: found by their exact URI, else by the first template that the URI fits.

A URI is compared as the text it is and never rewritten. In a template `{name}` stands for one segment, which
the function gets percent-decoded: it may then hold `/` or `..`, so a function that opens files has to judge
it (server/resources, Security Considerations).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias
from urllib.parse import unquote

from pydantic import ValidationError

from ..errors import InvalidParams
from ..latest import types
from .content import Contents, contents
from .context import Context
from .listing import Cache, Listing, Shelf
from .registry import Arguments, Call, Function, parts_of

Reading: TypeAlias = types.ReadResourceResult | types.InputRequiredResult
"""How the reading of a resource may end."""


class Template:
    """A URI template of RFC 6570, level 1: literal text and `{name}`."""

    def __init__(self, text: str) -> None:
        """Read the template; raises ValueError when it is of another level, or names a variable twice."""
        parts = re.split(r"\{(\w+)\}", text)
        self.names = parts[1::2]
        self._literals = parts[::2]
        if any(brace in literal for literal in self._literals for brace in "{}"):
            raise ValueError(f"resource {text!r}: only {{name}} is understood in a template")
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"resource {text!r} names a variable twice")

    def match(self, uri: str) -> dict[str, str] | None:
        """The value of each variable, decoded, or None when the URI is not one of these.

        Where a URI can be divided in several ways, an earlier variable gets as much as it can: of `{a}.{b}` and
        `x.y.z`, `a` is `x.y`. The URI is read once, however long it is.
        """
        found = self._divided(uri)
        try:
            texts = None if found is None else [unquote(text, errors="strict") for text in found]
        except UnicodeDecodeError:
            return None
        return None if texts is None else dict(zip(self.names, texts, strict=True))

    def _divided(self, uri: str) -> list[str] | None:
        """The text of each variable: not empty, and within one segment."""
        first, *between = self._literals
        if not between:
            return [] if uri == first else None
        last = between.pop()
        if not uri.startswith(first) or not uri.endswith(last):
            return None
        begin, end = len(first), len(uri) - len(last)
        found: list[str] = []
        # From the right, each literal at its last place. No other place has to be tried: up to an earlier one of
        # them all is text of one segment, or none of them ends a segment.
        for literal in reversed(between):
            place = uri.rfind(literal, begin, end - 1) if begin < end else -1
            if place < 0:
                return None
            found.append(uri[place + len(literal) : end])
            end = place
        found.append(uri[begin:end] if begin < end else "")
        return None if any(_is_no_segment(text) for text in found) else found[::-1]


def _is_no_segment(text: str) -> bool:
    return not text or any(delimiter in text for delimiter in "/?#")


class Source:
    """One resource, or one template of many: where it is, and the function that reads it."""

    def __init__(self, uri: str, call: Call, mime_type: str | None, cache: Cache) -> None:
        """Read the function; raises TypeError unless its parameters are the variables of the template."""
        self.template = Template(uri)
        self.function = Function(call)
        self.mime_type = mime_type
        self._cache = cache
        self._arguments = Arguments(self.function)
        known = self._arguments.fields
        strange = [name for name in self.template.names if name not in known]
        strange += [
            name for name, field in known.items() if field.is_required() and name not in self.template.names
        ]
        if strange:
            raise TypeError(
                f"resource {uri!r} and {self.function.name} do not agree on: {', '.join(strange)}"
            )

    def match(self, uri: str) -> dict[str, object] | None:
        """The arguments with which to read a URI, or None when it is not one of these."""
        texts = self.template.match(uri)
        try:
            return None if texts is None else self._arguments.from_text(texts)
        except ValidationError:
            return None

    def reading(self, uri: str, value: object) -> Reading:
        """The result for what the function returned."""
        if isinstance(value, Reading):
            return value
        parts = parts_of(value)
        found = [part for part in parts if isinstance(part, Contents)]
        if not found or len(found) < len(parts):
            found = [contents(uri, value, self.mime_type)]
        return types.ReadResourceResult(contents=found, result_type="complete", **self._cache.hints)


class Resources:
    """The resources and resource templates of a server, each in the order in which they were registered."""

    def __init__(self, shelf: Shelf) -> None:
        self._fixed: Listing[tuple[Source, types.Resource]] = Listing("resource", "resources/list", shelf)
        self._templates: Listing[tuple[Source, types.ResourceTemplate]] = Listing(
            "resource template", "resources/templates/list", shelf
        )

    def __bool__(self) -> bool:
        return bool(self._fixed or self._templates)

    def add(
        self,
        call: Call,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        annotations: types.Annotations | None = None,
        icons: list[types.Icon] | None = None,
        meta: types.MetaObject | None = None,
        cache: Cache = Cache(),
    ) -> None:
        """Register a function under a URI or a template; raises ValueError or TypeError if it will not do."""
        source = Source(uri, call, mime_type, cache)
        name = source.function.name if name is None else name
        description = source.function.description if description is None else description
        told: dict[str, Any] = {
            "name": name,
            "title": title,
            "description": description,
            "mime_type": mime_type,
            "annotations": annotations,
            "icons": icons,
            "meta": meta,
        }
        if source.template.names:
            self._templates.add(uri, (source, types.ResourceTemplate(uri_template=uri, **told)))
        else:
            self._fixed.add(uri, (source, types.Resource(uri=uri, **told)))

    def remove(self, uri: str) -> None:
        """Take out the resource or template that was registered under a URI; raises KeyError when there is none."""
        (self._templates if Template(uri).names else self._fixed).remove(uri)

    def page(self, params: types.PaginatedRequestParams) -> types.ListResourcesResult:
        """A page of the resources."""
        shown, members = self._fixed.page(params.cursor)
        return types.ListResourcesResult(resources=[listed for _, listed in shown], **members)

    def templates_page(self, params: types.PaginatedRequestParams) -> types.ListResourceTemplatesResult:
        """A page of the resource templates."""
        shown, members = self._templates.page(params.cursor)
        return types.ListResourceTemplatesResult(
            resource_templates=[listed for _, listed in shown], **members
        )

    def variables(self, template: str) -> list[str] | None:
        """The variables of a registered template, or None when it is not registered."""
        entry = self._templates.get(template)
        return None if entry is None else entry[0].template.names

    async def read(self, params: types.ReadResourceRequestParams, context: Context) -> Reading:
        """Read one resource; raises InvalidParams when there is none."""
        for source, arguments in self._found(params.uri):
            return source.reading(params.uri, await source.function(arguments, context))
        raise InvalidParams("Resource not found", {"uri": params.uri})

    def _found(self, uri: str) -> Iterator[tuple[Source, Mapping[str, object]]]:
        fixed = self._fixed.get(uri)
        for source, _ in (*([fixed] if fixed else []), *self._templates):
            arguments = source.match(uri)
            if arguments is not None:
                yield source, arguments
