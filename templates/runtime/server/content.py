"""Content from what an author holds: bytes and text, of which the wire has its own forms."""

from __future__ import annotations

import base64
from typing import TypeAlias

from pydantic_core import to_json

from ..latest import types

Contents: TypeAlias = types.TextResourceContents | types.BlobResourceContents
"""What is at a URI."""


def image(data: bytes, mime_type: str) -> types.ImageContent:
    """A picture as content of a tool or a prompt; `mime_type` is its format, such as `image/png`."""
    return types.ImageContent(data=_base64(data), mime_type=mime_type)


def audio(data: bytes, mime_type: str) -> types.AudioContent:
    """A sound as content of a tool or a prompt; `mime_type` is its format, such as `audio/wav`."""
    return types.AudioContent(data=_base64(data), mime_type=mime_type)


def embedded(uri: str, value: object, mime_type: str | None = None) -> types.EmbeddedResource:
    """A resource as content of a tool or a prompt, together with what is at its URI; see `contents`."""
    return types.EmbeddedResource(resource=contents(uri, value, mime_type))


def contents(uri: str, value: object, mime_type: str | None = None) -> Contents:
    """What is at a URI: text as it is, bytes as a blob, and any other value as its JSON.

    Unless said, text is `text/plain`, bytes are `application/octet-stream`, JSON is `application/json`.
    """
    if isinstance(value, bytes):
        mime_type = mime_type or "application/octet-stream"
        return types.BlobResourceContents(uri=uri, mime_type=mime_type, blob=_base64(value))
    if isinstance(value, str):
        return types.TextResourceContents(uri=uri, mime_type=mime_type or "text/plain", text=value)
    text = to_json(value, inf_nan_mode="null").decode()
    return types.TextResourceContents(uri=uri, mime_type=mime_type or "application/json", text=text)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
