"""Fixtures: the published schema files, and packages generated for one test."""

from __future__ import annotations

import importlib
import itertools
import os
import sys
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

import judged
import pytest
from emitted import EVERY_SCHEMA, Emitted, schema_text, write

from mcpcodegen import pipeline
from mcpcodegen.hoist import hoist
from mcpcodegen.load import load
from mcprotocol.errors import McpError
from mcprotocol.jsonrpc import Channel, Id, Request, write_error, write_notification
from mcprotocol.server import dispatch

_fresh = itertools.count()


@pytest.fixture(scope="session")
def spec_dir() -> Path:
    """The folder of the published schema files."""
    folder = os.environ.get("MCP_SPEC_DIR", "")
    if not (Path(folder) / EVERY_SCHEMA[0]).is_file():
        pytest.skip(
            "MCP_SPEC_DIR does not name the folder of the published schema files (2026-07-28/schema.json, ...)"
        )
    return Path(folder)


@pytest.fixture(params=EVERY_SCHEMA)
def every_schema(request: pytest.FixtureRequest, spec_dir: Path) -> Path:
    """Each published schema file in turn."""
    return spec_dir / str(request.param)


@pytest.fixture
def generated_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Mapping[str, Any] | bytes], Emitted]:
    """Generate a package from definitions (or the bytes of a document), write it, and import its types."""

    def generate(schema: Mapping[str, Any] | bytes) -> Emitted:
        data = schema if isinstance(schema, bytes) else schema_text(schema)
        document = hoist(load(data, source="schema.json"))
        name = f"fresh_{next(_fresh)}"
        bundle = pipeline.emit([document], name)
        write(bundle, tmp_path)
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        importlib.invalidate_caches()
        return Emitted(name, document, bundle, importlib.import_module(f"{name}.unreleased.types"))

    return generate


@pytest.fixture(autouse=True)
def server_faults(monkeypatch: pytest.MonkeyPatch) -> Generator[list[str], None, None]:
    """Judge each answer, each refusal and each notification of every server in this process; one fault fails the test.

    The list is for tests that make faults on purpose: those take them out.
    """
    found: list[str] = []
    reply = dispatch.Dispatcher.reply

    async def judged_reply(
        self: dispatch.Dispatcher, request: Request, channel: Channel, *more: Any
    ) -> dispatch.Reply:
        answer = await reply(self, request, channel, *more)
        found.extend(judged.faults(request.method, answer.data))
        return answer

    def judged_notification(method: str, params: Any) -> bytes:
        data = write_notification(method, params)
        found.extend(judged.faults(None, data))
        return data

    def judged_error(identity: Id | None, error: McpError) -> bytes:
        data = write_error(identity, error)
        found.extend(judged.faults(None, data))
        return data

    monkeypatch.setattr(dispatch.Dispatcher, "reply", judged_reply)
    for transport in ("dispatch", "http", "responses", "stdio"):
        monkeypatch.setattr(f"mcprotocol.server.{transport}.write_error", judged_error)
    monkeypatch.setattr("mcprotocol.server.dispatch.write_notification", judged_notification)
    yield found
    assert not found, "\n".join(found)
