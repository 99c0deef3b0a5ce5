"""The official clients of the handshake era play each verb against the everything server, and all have the same outcome."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from older import CLIENTS, WAYS, outcomes

pytestmark = pytest.mark.conformance

OUTCOMES: dict[str, Any] = {
    "initialize": {
        "version": "2025-11-25",
        "server": "everything",
        "capabilities": {
            "completions": {},
            "logging": {},
            "prompts": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
            "tools": {"listChanged": True},
        },
    },
    "ping": {},
    "list": {
        "first": {
            "name": "test_simple_text",
            "title": "Simple text",
            "description": "Give a text.",
            "inputSchema": {"type": "object", "additionalProperties": False},
            "annotations": {"readOnlyHint": True},
        },
        "typed": [],
        "resources": ["test://static-text", "test://static-binary", "test://watched-resource"],
        "templates": ["test://template/{id}/data"],
        "prompts": 5,
    },
    "call": {
        "text": "This is a simple text response for testing.",
        "mixed": ["text", "image", "resource"],
        "header": "In 東京",
        "list": "[]",
        "failed": True,
        "unknown": -32602,
    },
    "progress": [0, 50, 100],
    "log": ["Logging tool called"],
    "read": {
        "text": "This is the content of the static text resource.",
        "binary": "image/png",
        "template": "7",
        "unknown": -32002,
    },
    "get": "Prompt with arguments: arg1='one', arg2='two'",
    "complete": ["test", "testing", "tested"],
    "ask": {
        "one": "Hello, Ann!",
        "several": "Hello, Ann! Good day 1",
        "rounds": "Hello, Ann! You like red.",
        "asked": 4,
    },
    "changes": ["prompts", "tools"],
    "subscribe": ["test://static-text"],
    "cancel": {"ended": "cancelled", "seen": ["one"]},
}


@pytest.fixture(scope="module", params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """How the server is reached."""
    return str(request.param)


@pytest.fixture(scope="module", params=CLIENTS)
def played(request: pytest.FixtureRequest, way: str) -> dict[str, Any]:
    """What became of each verb that one client has played."""
    return asyncio.run(outcomes(CLIENTS[request.param](request.config), WAYS[way]))


@pytest.mark.parametrize("verb", OUTCOMES)
def test_each_verb_has_its_outcome(played: dict[str, Any], verb: str) -> None:
    assert played[verb] == OUTCOMES[verb]


def test_every_verb_is_judged(played: dict[str, Any]) -> None:
    assert played.keys() == OUTCOMES.keys()
