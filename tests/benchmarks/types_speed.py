"""The generated types beside the official ones and beside the bare type engine: ratios, in one run.

    python tests/benchmarks/types_speed.py [ROUNDS]

Each row runs its subjects in turn, round after round (large values a few times in a row, so that a subject is not
charged for the memory that the one before it gave back), and prints the median of each and the ratio of the first
peer to ours. Times are process CPU time with the garbage collector off; imports are whole processes. Needs the
extra `bench` (mcp-types, the official types). It measures and does not judge.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types
from mcp_types import methods as official
from mcp_types.jsonrpc import JSONRPCResponse, jsonrpc_message_adapter

from mcprotocol import jsonrpc, outcomes
from mcprotocol.v2026_07_28 import messages, methods, types

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
HINTS = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

Run = Callable[[], object]


def compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


CALL = compact(
    {"jsonrpc": "2.0", "id": 7, "method": "tools/call",
     "params": {"_meta": META, "name": "forecast", "arguments": {"city": "Oslo", "days": 3}}}
)  # fmt: skip
SMALL = {
    "resultType": "complete",
    "content": [{"type": "text", "text": "12 degrees and rain"}],
    "isError": False,
}
BLOCKS = {"resultType": "complete", "content": [{"type": "text", "text": "some words of a text"}] * 10_000}
SCHEMA = {
    "type": "object",
    "properties": {
        f"field{i}": {"type": "string", "description": "what the field is for"} for i in range(16)
    },
    "required": ["field0"],
}
TOOLS = {
    **HINTS,
    "tools": [
        {"name": f"tool{i}", "title": "A tool", "description": "Does a thing.", "inputSchema": SCHEMA}
        for i in range(1000)
    ],
}


def official_request(data: bytes) -> object:
    """The official way in: the envelope, then the method's params."""
    message: Any = jsonrpc_message_adapter.validate_json(data)
    return official.parse_client_request(message.method, VERSION, message.params)


def official_response(result: Any, method: str) -> bytes:
    """The official way out: dump, check and dump again by version, the envelope, JSON."""
    dumped = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    surface = official.serialize_server_result(method, VERSION, dumped)
    envelope = JSONRPCResponse(jsonrpc="2.0", id=7, result=surface)
    return json.dumps(envelope.model_dump(by_alias=True, mode="json", exclude_none=True)).encode()


def official_result(data: bytes, method: str) -> object:
    """The official way in for a result: the envelope, then the result by version."""
    message: Any = jsonrpc_message_adapter.validate_json(data)
    return official.parse_server_result(method, VERSION, message.result)


def our_result(data: bytes, method: jsonrpc.RequestMethod[Any, Any]) -> object:
    """Our client's way in: the envelope, then the result by its row."""
    reply = jsonrpc.read_reply(data)
    assert isinstance(reply, jsonrpc.Success)
    return outcomes.read_result(method, reply.result)


def medians(subjects: list[Run], rounds: int, repeat: int) -> list[float]:
    """The median CPU microseconds of each subject, interleaved."""
    times: list[list[float]] = [[] for _ in subjects]
    for _ in range(rounds):
        for index, run in enumerate(subjects):
            begun = time.process_time()
            for _ in range(repeat):
                run()
            times[index].append((time.process_time() - begun) / repeat * 1e6)
    return [statistics.median(found) for found in times]


def imports(statements: list[str], rounds: int) -> list[float]:
    """The median CPU microseconds of a fresh process for each import, interleaved."""
    times: list[list[float]] = [[] for _ in statements]
    for _ in range(rounds):
        for index, statement in enumerate(statements):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", statement], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            times[index].append(used * 1e6)
    return [statistics.median(found) for found in times]


def published() -> list[tuple[type[Any], type[Any], bytes]]:
    """The published examples that both families have a class for and accept."""
    folder = Path(os.environ.get("MCP_SPEC_DIR", "")) / VERSION / "examples"
    found: list[tuple[type[Any], type[Any], bytes]] = []
    for file in sorted(folder.glob("*/*.json")):
        name, data = file.parent.name, file.read_bytes()
        ours, theirs = getattr(types, name, None), getattr(mcp_types, name, None)
        if isinstance(ours, type) and isinstance(theirs, type) and _accepts(theirs, data):
            found.append((ours, theirs, data))
    return found


def _accepts(model: Any, data: bytes) -> bool:
    try:
        model.model_validate_json(data)
    except ValueError:
        return False
    return True


def table() -> list[tuple[str, int, list[Run]]]:
    """What is measured: a title, how often a round repeats it, ours first."""
    ours_small = types.CallToolResult.model_validate(SMALL)
    theirs_small = mcp_types.CallToolResult.model_validate(SMALL)
    blocks, tools = compact(BLOCKS), compact(TOOLS)
    tools_reply = b'{"jsonrpc":"2.0","id":7,"result":' + tools + b"}"
    ours_tools = types.ListToolsResult.model_validate_json(tools)
    theirs_tools = mcp_types.ListToolsResult.model_validate_json(tools)
    rows: list[tuple[str, int, list[Run]]] = [
        ("tools/call, bytes to typed request", 2000,
         [lambda: messages.parse_request(CALL), lambda: official_request(CALL)]),
        ("small tool result to response bytes", 2000,
         [lambda: jsonrpc.write_result(7, ours_small), lambda: official_response(theirs_small, "tools/call")]),
        ("10,000 text blocks, read", 3,
         [lambda: types.CallToolResult.model_validate_json(blocks),
          lambda: mcp_types.CallToolResult.model_validate_json(blocks)]),
        ("1000 tools, response bytes to typed result", 3,
         [lambda: our_result(tools_reply, methods.LIST_TOOLS), lambda: official_result(tools_reply, "tools/list")]),
        ("1000 tools, the bare result read", 3,
         [lambda: types.ListToolsResult.model_validate_json(tools),
          lambda: mcp_types.ListToolsResult.model_validate_json(tools)]),
        ("1000 tools, result to response bytes", 3,
         [lambda: jsonrpc.write_result(7, ours_tools), lambda: official_response(theirs_tools, "tools/list")]),
        ("1000 tools, the bare result written", 3,
         [lambda: ours_tools.wire_bytes(),
          lambda: theirs_tools.model_dump_json(by_alias=True, exclude_none=True)]),
    ]  # fmt: skip
    examples = published()
    if examples:
        rows.append(
            (f"{len(examples)} published examples, read", 3,
             [lambda: [ours.model_validate_json(data) for ours, _, data in examples],
              lambda: [theirs.model_validate_json(data) for _, theirs, data in examples]])
        )  # fmt: skip
    return rows


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    print(f"{'':46} {'ours, us':>12} {'official, us':>13} {'ratio':>7}")
    ours, theirs = imports(["import mcprotocol.v2026_07_28.types", "import mcp_types"], rounds)
    print(
        f"{'import of all types, fresh process':46} {ours:12.0f} {theirs:13.0f} {ours / theirs:6.2f}x of theirs"
    )
    gc.disable()
    for title, repeat, subjects in table():
        for run in subjects:
            run()
        ours, theirs = medians(subjects, rounds, repeat)
        print(f"{title:46} {ours:12.1f} {theirs:13.1f} {theirs / ours:6.2f}x faster")
        gc.collect()


if __name__ == "__main__":
    main()
