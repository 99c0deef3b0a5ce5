"""The official TypeScript client, unmodified, plays each verb over HTTP against the everything server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from suite import installed, verbs

pytestmark = pytest.mark.conformance

OUTCOMES: dict[str, Any] = {
    "discover": {
        "version": "2026-07-28",
        "server": "everything",
        "capabilities": {
            "completions": {},
            "logging": {},
            "prompts": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
            "tools": {"listChanged": True},
        },
    },
    "list": {
        "tools": 31,
        "first": {
            "name": "test_simple_text",
            "title": "Simple text",
            "description": "Give a text.",
            "inputSchema": {"type": "object", "additionalProperties": False},
            "annotations": {"readOnlyHint": True},
        },
        "resources": ["test://static-text", "test://static-binary", "test://watched-resource"],
        "templates": ["test://template/{id}/data"],
        "prompts": [
            "test_simple_prompt",
            "test_prompt_with_arguments",
            "test_prompt_with_embedded_resource",
            "test_prompt_with_image",
            "test_input_required_result_prompt",
        ],
    },
    "call": {
        "text": "This is a simple text response for testing.",
        "mixed": ["text", "image", "resource"],
        "header": "In 東京",
        "structured": [],
        "failed": True,
        "unknown": -32602,
    },
    "progress": [0, 50, 100],
    "log": ["Logging tool called"],
    "read": {
        "text": "This is the content of the static text resource.",
        "binary": "image/png",
        "template": "7",
        "unknown": -32602,
    },
    "get": "Prompt with arguments: arg1='one', arg2='two'",
    "complete": {"values": ["test", "testing", "tested"], "total": 3, "hasMore": False},
    "elicit": {
        "one": "Hello, Ann!",
        "several": "Hello, Ann! Good day 1",
        "rounds": "Hello, Ann! You like red.",
    },
    "listen": {"honoured": {"toolsListChanged": True, "promptsListChanged": True}, "closed": "local"},
    "cancel": {"ended": "cancelled", "seen": ["one"]},
}


@pytest.fixture(scope="session")
def played(pytestconfig: pytest.Config) -> dict[str, Any]:
    """What became of each verb."""
    return asyncio.run(verbs(installed(pytestconfig)))


@pytest.mark.parametrize("verb", OUTCOMES)
def test_each_verb_has_its_outcome(played: dict[str, Any], verb: str) -> None:
    assert played[verb] == OUTCOMES[verb]


def test_every_verb_is_judged(played: dict[str, Any]) -> None:
    assert played.keys() == OUTCOMES.keys()
