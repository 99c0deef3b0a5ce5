"""Pictures, sounds and resources as content of tools and prompts, and the icons of what is offered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from mcprotocol.client import Client
from mcprotocol.latest import types
from mcprotocol.server import Server, audio, embedded, image

T = TypeVar("T")

ICONS = [types.Icon(src="https://example.com/i.svg", mime_type="image/svg+xml", sizes=["any"])]


@pytest.fixture
def server() -> Server:
    return Server("content", version="1")


def with_client(server: Server, work: Callable[[Client], Awaitable[T]]) -> T:
    async def connected() -> T:
        async with Client.memory(server, timeout=10) as client:
            return await work(client)

    return asyncio.run(connected())


def content(server: Server, name: str) -> list[Any]:
    """The content of the result of a tool, as it came."""
    result = with_client(server, lambda client: client.call_tool(name))
    assert not result.is_error
    return [json.loads(block.model_dump_json()) for block in result.content]


@pytest.mark.parametrize(
    ("data", "text"), [(b"", ""), (b"hi", "aGk="), (b"\xfb\xff\x00", "+/8A"), (bytes(range(200)), None)]
)
def test_bytes_travel_as_standard_base64(data: bytes, text: str | None) -> None:
    picture = image(data, "image/png")
    assert text is None or picture.data == text
    assert "\n" not in picture.data and picture.data == audio(data, "audio/wav").data


def test_a_tool_gives_a_picture_a_sound_and_a_resource(server: Server) -> None:
    @server.tool()
    def picture() -> types.ImageContent:
        return image(b"hi", "image/png")

    @server.tool()
    async def several() -> list[str | types.AudioContent | types.EmbeddedResource]:
        return [
            "text",
            audio(b"hi", "audio/wav"),
            embedded("x:text", "hello"),
            embedded("x:bytes", b"hi"),
            embedded("x:json", {"a": [1]}),
            embedded("x:page", "<p>", "text/html"),
        ]

    assert content(server, "picture") == [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]
    assert content(server, "several") == [
        {"type": "text", "text": "text"},
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "x:text", "mimeType": "text/plain", "text": "hello"}},
        {
            "type": "resource",
            "resource": {"uri": "x:bytes", "mimeType": "application/octet-stream", "blob": "aGk="},
        },
        {
            "type": "resource",
            "resource": {"uri": "x:json", "mimeType": "application/json", "text": '{"a":[1]}'},
        },
        {"type": "resource", "resource": {"uri": "x:page", "mimeType": "text/html", "text": "<p>"}},
    ]


def test_what_gives_a_picture_promises_no_structured_content(server: Server) -> None:
    @server.tool()
    def picture() -> types.ImageContent | None:
        return image(b"hi", "image/png")

    (tool,) = with_client(server, lambda client: client.list_tools()).tools
    assert tool.output_schema is None


def test_a_prompt_shows_a_picture_and_a_resource(server: Server) -> None:
    @server.prompt()
    def look() -> list[types.ImageContent | types.EmbeddedResource | str]:
        return [image(b"hi", "image/png"), embedded("x:text", "hello"), "What is it?"]

    prompt = with_client(server, lambda client: client.get_prompt("look"))
    messages = [json.loads(message.model_dump_json()) for message in prompt.messages]
    assert [(message["role"], message["content"]["type"]) for message in messages] == [
        ("user", "image"),
        ("user", "resource"),
        ("user", "text"),
    ]


def test_everything_listed_can_have_icons_and_has_none_unless_given(server: Server) -> None:
    def plain(id: str = "") -> str:
        return id

    server.tool("decorated", icons=ICONS)(plain)
    server.add_tool(plain, name="added", icons=ICONS)
    server.add_tool(plain)
    server.resource("x:decorated", icons=ICONS)(plain)
    server.add_resource(plain, "x:added/{id}", icons=ICONS)
    server.add_resource(plain, "x:plain")
    server.prompt("decorated", icons=ICONS)(plain)
    server.add_prompt(plain, name="added", icons=ICONS)
    server.add_prompt(plain)

    async def everything(client: Client) -> list[Any]:
        shown = [
            *(await client.list_tools()).tools,
            *(await client.list_resources()).resources,
            *(await client.list_resource_templates()).resource_templates,
            *(await client.list_prompts()).prompts,
        ]
        return [(type(offer).__name__, json.loads(offer.model_dump_json()).get("icons")) for offer in shown]

    icon = [{"src": "https://example.com/i.svg", "mimeType": "image/svg+xml", "sizes": ["any"]}]
    assert with_client(server, everything) == [
        ("Tool", icon),
        ("Tool", icon),
        ("Tool", None),
        ("Resource", icon),
        ("Resource", None),
        ("ResourceTemplate", icon),
        ("Prompt", icon),
        ("Prompt", icon),
        ("Prompt", None),
    ]
