"""The generated types beside the official ones and beside the bare type engine: ratios, in one run.

    python tests/benchmarks/types_speed.py [ROUNDS]

The bare engine is datamodel-code-generator with its defaults, on the same facts. Each row runs its subjects in
turn, round after round (large values a few times in a row, so that a subject is not charged for the memory that
the one before it gave back), and prints the median of each and the ratios of the peers to ours. Times are process
CPU time with the garbage collector off; imports are whole processes. Needs the extra `bench` (mcp-types, the
official types). It measures and does not judge.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types
from mcpcodegen import pipeline
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

STOCK = "bare_engine_types"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

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


def bare_response(engine: Any, result: Any) -> bytes:
    """The bare engine's way out: the envelope around the result, dumped at once."""
    envelope = engine.JSONRPCResultResponse.model_construct(jsonrpc="2.0", id=7, result=result)
    return bytes(envelope.model_dump_json(by_alias=True, exclude_none=True, serialize_as_any=True), "utf-8")


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


def imports(statements: list[str], rounds: int, *folders: str) -> list[float]:
    """The median CPU microseconds of a fresh process for each import, interleaved; peers may lie in `folders`."""
    times: list[list[float]] = [[] for _ in statements]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*folders, *sys.path[1:]])}
    for number in range(rounds + 1):
        for index, statement in enumerate(statements):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            if number:  # The first round compiles.
                times[index].append(used * 1e6)
    return [statistics.median(found) for found in times]


def stock(folder: Path) -> Any:
    """What the bare engine makes of the facts of the revision, as a module."""
    source, module = folder / "facts.json", folder / f"{STOCK}.py"
    definitions = dict(pipeline.load_pinned(VERSION).definitions)
    source.write_text(json.dumps({"$schema": DIALECT, "$defs": definitions}))
    command = [
        sys.executable,
        "-m",
        "datamodel_code_generator",
        "--input",
        str(source),
        "--output",
        str(module),
    ]
    engine = ["--input-file-type", "jsonschema", "--output-model-type", "pydantic_v2.BaseModel"]
    subprocess.run([*command, *engine], check=True)
    sys.path.insert(1, str(folder))
    return importlib.import_module(STOCK)


def published(engine: Any) -> list[tuple[type[Any], type[Any], type[Any], bytes]]:
    """The published examples that all three families have a class for and accept."""
    folder = Path(os.environ.get("MCP_SPEC_DIR", "")) / VERSION / "examples"
    found: list[tuple[type[Any], type[Any], type[Any], bytes]] = []
    for file in sorted(folder.glob("*/*.json")):
        name, data = file.parent.name, file.read_bytes()
        ours, theirs, bare = (getattr(family, name, None) for family in (types, mcp_types, engine))
        if isinstance(ours, type) and isinstance(theirs, type) and isinstance(bare, type):
            if _accepts(theirs, data) and _accepts(bare, data):
                found.append((ours, theirs, bare, data))
    return found


def _accepts(model: Any, data: bytes) -> bool:
    try:
        model.model_validate_json(data)
    except ValueError:
        return False
    return True


def table(engine: Any) -> list[tuple[str, int, list[Run]]]:
    """What is measured: a title, how often a round repeats it, and the subjects: ours, official, bare engine."""
    families = (types, mcp_types, engine)
    ours_small, theirs_small, bare_small = (one.CallToolResult.model_validate(SMALL) for one in families)
    blocks, tools = compact(BLOCKS), compact(TOOLS)
    tools_reply = b'{"jsonrpc":"2.0","id":7,"result":' + tools + b"}"
    ours_tools, theirs_tools, bare_tools = (
        one.ListToolsResult.model_validate_json(tools) for one in families
    )
    examples = published(engine)
    rows: list[tuple[str, int, list[Run]]] = [
        ("tools/call, bytes to typed request", 2000,
         [lambda: messages.parse_request(CALL),
          lambda: official_request(CALL),
          lambda: engine.ClientRequest.model_validate_json(CALL)]),
        ("small tool result to response bytes", 2000,
         [lambda: jsonrpc.write_success(7, ours_small.wire_bytes()),
          lambda: official_response(theirs_small, "tools/call"),
          lambda: bare_response(engine, bare_small)]),
        ("10,000 text blocks, read", 3,
         [lambda: types.CallToolResult.model_validate_json(blocks),
          lambda: mcp_types.CallToolResult.model_validate_json(blocks),
          lambda: engine.CallToolResult.model_validate_json(blocks)]),
        ("1000 tools, response bytes to typed result", 3,
         [lambda: our_result(tools_reply, methods.LIST_TOOLS),
          lambda: official_result(tools_reply, "tools/list"),
          lambda: engine.ListToolsResultResponse.model_validate_json(tools_reply)]),
        ("1000 tools, the bare result read", 3,
         [lambda: types.ListToolsResult.model_validate_json(tools),
          lambda: mcp_types.ListToolsResult.model_validate_json(tools),
          lambda: engine.ListToolsResult.model_validate_json(tools)]),
        ("1000 tools, result to response bytes", 3,
         [lambda: jsonrpc.write_success(7, ours_tools.wire_bytes()),
          lambda: official_response(theirs_tools, "tools/list"),
          lambda: bare_response(engine, bare_tools)]),
        ("1000 tools, the bare result written", 3,
         [lambda: ours_tools.wire_bytes(),
          lambda: theirs_tools.model_dump_json(by_alias=True, exclude_none=True),
          lambda: bare_tools.model_dump_json(by_alias=True, exclude_none=True)]),
    ]  # fmt: skip
    if examples:
        rows.append(
            (f"{len(examples)} published examples, read", 20,
             [lambda: [ours.model_validate_json(data) for ours, _, _, data in examples],
              lambda: [theirs.model_validate_json(data) for _, theirs, _, data in examples],
              lambda: [bare.model_validate_json(data) for _, _, bare, data in examples]])
        )  # fmt: skip
    return rows


def show(title: str, times: list[float]) -> None:
    ours, *peers = times
    ratios = " ".join(f"{peer / ours:9.2f}x" for peer in peers)
    print(f"{title:44}" + "".join(f"{time:12.1f}" for time in times) + f"  {ratios}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rounds", nargs="?", type=int, default=15, help="how often each subject runs")
    rounds: int = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        engine = stock(Path(folder))
        print(
            f"{'CPU microseconds; peer / ours':44}{'ours':>12}{'official':>12}{'bare engine':>12}{'official':>12}{'bare':>11}"
        )
        statements = ["import mcprotocol.v2026_07_28.types", "import mcp_types", f"import {STOCK}"]
        show("import of all types, fresh process", imports(statements, rounds, folder))
        gc.disable()
        for title, repeat, subjects in table(engine):
            for run in subjects:
                run()
            show(title, medians(subjects, rounds, repeat))
            gc.collect()


if __name__ == "__main__":
    main()
