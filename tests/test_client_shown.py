"""What a client looks like at a prompt: whose it is and how that is spoken to, and nothing that is secret."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcprotocol.client import Client, ClientSync
from mcprotocol.client.memory import Memory
from mcprotocol.latest import REVISION
from mcprotocol.server import Server

URLS = {
    "http://localhost:8000/mcp": "http://localhost:8000/mcp",
    "https://ann:s3cret@example.com/mcp": "https://example.com/mcp",
    "https://ann:s3:c@ret@example.com/mcp": "https://example.com/mcp",
    "https://example.com/mcp?key=s3cret#s3cret": "https://example.com/mcp",
    "https://example.com/@ann": "https://example.com/@ann",
    "no url": "no url",
}
"""A URL as it is given, and as it is shown."""


@pytest.mark.parametrize("kind", [Client, ClientSync])
def test_a_client_shows_whose_it_is_and_nothing_secret(kind: type[Any]) -> None:
    name = kind.__name__
    for url, shown in URLS.items():
        client = kind.http(url, headers={"Authorization": "s3cret"})
        assert repr(client) == f"<{name} of {shown}, not connected>"
    command = kind.stdio(["python", "my server.py"], env={"KEY": "s3cret"})
    assert repr(command) == f"<{name} of the command \"python 'my server.py'\", not connected>"


def test_a_client_shows_what_is_spoken_while_it_is_connected() -> None:
    server = Server("shown", version="1")
    twin = ClientSync.memory(server)
    with twin:
        assert repr(twin) == f"<ClientSync of a server in this process, speaks {REVISION}>"
    assert repr(twin) == "<ClientSync of a server in this process, not connected>"

    async def scenario() -> None:
        async with Client(Memory(server)) as client:
            assert repr(client) == "<Client of a server in this process, connected>"
            await client.discover()
            assert repr(client) == f"<Client of a server in this process, speaks {REVISION}>"

    asyncio.run(scenario())
