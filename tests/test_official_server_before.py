"""The official Python server of both eras in its legacy mode: it is that of whoever begins with `initialize`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from hosted import hosted
from mcprotocol.client import Client
from plays import PLAYS, SECONDS, WAYS, Play, fill, play, told

SERVER = Path(__file__).parent / "servers" / "official.py"

COMMAND = [sys.executable, str(SERVER)]


@pytest.mark.parametrize("work", PLAYS, ids=lambda work: work.__name__)
@pytest.mark.parametrize("way", WAYS)
def test_each_verb_is_played_after_a_handshake(way: str, work: Play) -> None:
    play(WAYS[way](COMMAND, os.environ, era="handshake"), work)


@pytest.mark.parametrize("way", WAYS)
def test_a_client_that_is_told_nothing_finds_that_it_needs_no_handshake(way: str) -> None:
    async def ask(client: Client) -> None:
        assert (await client.call_tool("add", {"a": 1, "b": 2})).is_error is not True
        assert (client.era, client.protocol_version) == ("modern", "2026-07-28")

    play(WAYS[way](COMMAND, os.environ), ask)


def test_clients_of_both_eras_use_one_server_at_once() -> None:
    async def scenario() -> None:
        async with (
            asyncio.timeout(SECONDS),
            hosted(*COMMAND, "streamable-http", cwd=None, **os.environ) as site,
            Client.http(f"{site.url}/mcp") as modern,
            Client.http(f"{site.url}/mcp", era="handshake", elicit=fill) as older,
        ):
            asked = [
                made
                for _ in range(3)
                for made in (told(older, "ask", message="Who is Ann"), told(modern, "add", a=1, b=2))
            ]
            assert await asyncio.gather(*asked) == ["AnnAnn", "3"] * 3
            assert (modern.era, older.era) == ("modern", "handshake")

    asyncio.run(scenario())
