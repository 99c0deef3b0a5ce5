"""The client plays each verb against servers on the official Python and TypeScript packages, over HTTP and stdio."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pytest
from foreign import SERVERS, VERSION, Transport
from visitor import VERBS, visit

pytestmark = pytest.mark.conformance

OUTCOMES: Mapping[str, Any] = {
    "discover": {
        "versions": ["2026-07-28"],
        "capabilities": {
            "completions": {},
            "logging": {},
            "prompts": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
            "tools": {"listChanged": True},
        },
    },
    "list": {
        "tools": 13,
        "header": "Region",
        "resources": ["test://static-text", "test://static-binary"],
        "templates": ["test://template/{id}/data"],
        "prompts": {
            "test_simple_prompt": [],
            "test_prompt_with_arguments": ["arg1", "arg2"],
            "test_input_required_result_prompt": [],
        },
    },
    "call": {
        "text": "This is a simple text response for testing.",
        "structured": {"result": "This is a simple text response for testing."},
        "mixed": ["text", "image", "resource"],
        "header": "region=東京",
        "failed": True,
    },
    "call nothing": -32602,
    "read": {
        "text": "This is the content of the static text resource.",
        "binary": "iVBORw0K",
        "template": "test://template/7/data",
        "unknown": -32602,
    },
    "get": {
        "simple": "This is a simple prompt for testing.",
        "arguments": "Prompt with arguments: arg1='one', arg2='two'",
    },
    "complete": {
        "prompt": {"values": ["test", "testing", "tested"], "total": 3, "hasMore": False},
        "template": {"values": ["test", "testing", "tested"], "total": 3, "hasMore": False},
    },
    "elicit": {
        "one": "Hello, Ann!",
        "several": "All inputs received.",
        "rounds": "Ann likes red.",
        "prompt": "Use the following context: the sea",
    },
    "decline": "Hello, ?!",
    "progress": [(done, 100, f"Completed step {done} of 100") for done in (0, 50, 100)],
    "messages": [("info", "test_logging_tool ran")],
    "listen": {
        "granted": {"toolsListChanged": True, "promptsListChanged": True},
        "heard": ["notifications/prompts/list_changed", "notifications/tools/list_changed"],
    },
    "listen to resources": {
        "granted": {"resourceSubscriptions": ["test://static-text"]},
        "heard": ["notifications/resources/updated"],
    },
    # It ends when the server has noticed, and goes on serving.
    "cancel": "This is a simple text response for testing.",
}
"""What becomes of each verb."""

NO_SUGGESTION: Mapping[str, Any] = {"values": [], "total": 0, "hasMore": False}

OTHERWISE: dict[str, Mapping[str, Any]] = {
    "python": {
        "list": {
            "tools": 28,
            "header": "Region",
            "resources": ["test://static-text", "test://static-binary", "test://watched-resource"],
            "templates": ["test://template/{id}/data"],
            "prompts": {
                "test_simple_prompt": [],
                "test_prompt_with_arguments": ["arg1", "arg2"],
                "test_prompt_with_embedded_resource": ["resourceUri"],
                "test_prompt_with_image": [],
                "test_input_required_result_prompt": [],
            },
        },
        # It answers that the tool has failed.
        "call nothing": None,
        # It completes every argument, with nothing.
        "complete": {"prompt": NO_SUGGESTION, "template": NO_SUGGESTION},
    },
    "typescript": {},
}
OTHERWISE["python after a handshake"] = {
    **OTHERWISE["python"],
    "discover": {
        "versions": ["2025-11-25"],
        "capabilities": {
            **OUTCOMES["discover"]["capabilities"],
            # It tells those of the later era alone.
            "prompts": {"listChanged": False},
            "resources": {"listChanged": False, "subscribe": True},
            "tools": {"listChanged": False},
        },
    },
}
"""Where a server differs from the others, by server and verb."""

ROUNDS = "its tools give input-required results, which it does not turn into questions"

LACKING: Mapping[str, Mapping[str, str]] = {
    "python": {"listen to resources": "the everything server has no tool that changes a resource"},
    "python after a handshake": {
        "listen to resources": "the everything server has no tool that changes a resource",
        "listen": "its tools tell those of the later era alone",
        "elicit": ROUNDS,
        "decline": ROUNDS,
    },
    "typescript": {},
}
"""What a server has not got, by server and verb."""

MEETINGS: list[tuple[str, Transport]] = [
    ("python", "http"),
    ("python", "stdio"),
    ("python after a handshake", "http"),
    ("python after a handshake", "stdio"),
    ("typescript", "http"),
    ("typescript", "stdio"),
]


@dataclass(frozen=True)
class Met:
    """A server, and what became of the verbs."""

    server: str
    outcomes: Mapping[str, Any]


@pytest.fixture(scope="module", params=MEETINGS, ids="-".join)
def met(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Met:
    """The one visit to a server over a transport."""
    name, transport = request.param
    verbs = [verb for verb in VERBS if verb not in LACKING[name]]
    folder = tmp_path_factory.mktemp(f"{name}-{transport}".replace(" ", "-"))
    return Met(name, asyncio.run(visit(SERVERS[name](request.config), transport, folder, verbs)))


@pytest.mark.parametrize("verb", OUTCOMES)
def test_each_verb_has_its_outcome(met: Met, verb: str) -> None:
    if verb in LACKING[met.server]:
        pytest.skip(LACKING[met.server][verb])
    assert met.outcomes[verb] == OTHERWISE[met.server].get(verb, OUTCOMES[verb])


def test_every_verb_is_judged() -> None:
    assert OUTCOMES.keys() == VERBS.keys()


def test_every_server_is_met_over_both_transports() -> None:
    assert sorted(MEETINGS) == [(name, transport) for name in SERVERS for transport in ("http", "stdio")]


def test_the_python_server_runs_on_the_package_that_it_came_with() -> None:
    assert version("mcp") == VERSION
