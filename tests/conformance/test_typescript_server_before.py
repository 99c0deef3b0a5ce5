"""A server on the official TypeScript package that knows the handshake alone, unmodified: each verb over both transports."""

from __future__ import annotations

import pytest
from plays import PLAYS, WAYS, Play, introduce, play
from suite import HANDSHAKE_SERVER, environment, installed, node

pytestmark = pytest.mark.conformance


@pytest.fixture(scope="module")
def command(pytestconfig: pytest.Config) -> list[str]:
    """The command of the server."""
    return [node(), str(installed(pytestconfig) / HANDSHAKE_SERVER)]


@pytest.mark.parametrize("work", PLAYS, ids=lambda work: work.__name__)
@pytest.mark.parametrize("way", WAYS)
def test_each_verb_is_played_once_it_is_found_that_it_needs_a_handshake(
    command: list[str], way: str, work: Play
) -> None:
    play(WAYS[way](command, environment()), work)


@pytest.mark.parametrize("way", WAYS)
def test_a_client_that_knows_it_beforehand_begins_with_the_handshake(command: list[str], way: str) -> None:
    play(WAYS[way](command, environment(), era="handshake"), introduce)
