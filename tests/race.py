"""Sixteen threads that use one type for the first time at once: run as a process of its own, it ends quietly.

    python tests/race.py NUMBER

Types are built at their first use, so a process can try this once. NUMBER picks the use: each has its turn, and
then one in which every thread begins with another.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from typing import Any

from mcprotocol import exact
from mcprotocol.v2026_07_28 import types
from pydantic import TypeAdapter

THREADS = 16
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"experimental": {"x": {"a": [None, 0.5]}}},
}
BLOCKS = [
    {"type": "text", "text": "a", "annotations": {"audience": ["user"]}},
    {"type": "resource", "resource": {"uri": "u", "text": "t"}},
    {"type": "hologram", "x": 1},
]
RESULT = json.dumps({"resultType": "complete", "content": BLOCKS, "structuredContent": None})
CALL = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": META, "name": "t"}})
TOOLS = json.dumps({
    "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
    "tools": [{"name": "t", "inputSchema": {"type": "object"}, "icons": [{"src": "s", "theme": "dark"}]}],
})  # fmt: skip
JSON = json.dumps({"a": [1, {"b": None}]})

Use = Callable[[], str]


def built() -> str:
    """Building and writing."""
    block = types.TextContent(text="a", annotations=types.Annotations(audience=["user"]))
    return types.CallToolResult(content=[block, types.ImageContent(data="", mime_type="x")]).model_dump_json()


def read() -> str:
    """Reading by the class."""
    return types.CallToolResult.model_validate_json(RESULT).model_dump_json()


def data() -> str:
    """Reading Python data by the class."""
    return types.ListToolsResult.model_validate(json.loads(TOOLS)).wire_bytes().decode()


def alias() -> str:
    """Reading and writing by an alias that holds every request."""
    return exact.write(types.ClientRequest, exact.read(types.ClientRequest, CALL)).decode()


def strict() -> str:
    """Exact reading, by a class and by a choice."""
    text = RESULT.replace("hologram", "text").replace('"x": 1', '"text": "b"')
    chosen: Any = exact.read(types.CallToolResultResponseResult, text, strict=True)
    return (
        str(chosen.model_dump_json()) + exact.read(types.CallToolResult, text, strict=True).model_dump_json()
    )


def recursive() -> str:
    """Reading by an alias that holds itself, and by an enumeration."""
    level = str(exact.read(types.LoggingLevel, '"trace"'))
    return exact.write(types.JSONObject, exact.read(types.JSONObject, JSON)).decode() + level


def plain() -> str:
    """Reading by an adapter that the user made."""
    adapter: TypeAdapter[Any] = TypeAdapter(types.ContentBlock)
    return adapter.dump_json(adapter.validate_python(BLOCKS[0]), exclude_unset=True).decode()


def described() -> str:
    """The JSON schema of a class."""
    return json.dumps(types.ListToolsResult.model_json_schema())


USES: tuple[Use, ...] = (built, read, data, alias, strict, recursive, plain, described)


def race(uses: list[Use]) -> dict[str, set[str]]:
    """What each way gave, when all threads began together; thread n uses the ways in an order of its own."""
    start = threading.Barrier(THREADS)
    found: dict[str, set[str]] = {use.__name__: set() for use in uses}
    failed: list[BaseException] = []

    def run(number: int) -> None:
        start.wait()
        try:
            for use in uses[number % len(uses) :] + uses[: number % len(uses)]:
                found[use.__name__].add(use())
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return found


def main(number: int) -> int:
    """0 when all threads got the same; a failure in a thread ends the process as it would a program."""
    sys.setswitchinterval(1e-5)
    turn = number % (len(USES) + 1)
    found = race(list(USES[turn : turn + 1] or USES))
    apart = [f"{name}: {sorted(results)}" for name, results in found.items() if len(results) != 1]
    print(*apart, sep="\n", end="")
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
