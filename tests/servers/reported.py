"""A server that does what users have reported other servers to do wrong: over stdio, or with `--http` on a free port."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

from mcprotocol.server import Context
from mcprotocol.server.stdio import run

sys.path.insert(0, str(Path(__file__).parents[1]))

from asking import made

TOPIC: dict[str, Any] = {"type": "object", "properties": {"topic": {"type": "string"}}}

server = made(page_size=None)


@server.tool()
def take(text: str = "", number: int = 0, flag: bool = False) -> str:
    """Tell the arguments as they arrive, with their types."""
    return json.dumps([[type(value).__name__, value] for value in (text, number, flag)])


@server.tool(input_schema={**TOPIC, "additionalProperties": False})
def search(arguments: dict[str, Any]) -> str:
    """Take one argument and no other."""
    return json.dumps(arguments)


@server.tool(input_schema=TOPIC)
def search_freely(arguments: dict[str, Any]) -> str:
    """Take one argument and whatever else there is."""
    return json.dumps(arguments)


@server.tool()
async def three(ctx: Context) -> str:
    """Report three steps."""
    for step in (1, 2, 3):
        await ctx.progress(step, total=3, message=f"step {step}")
    return "done"


@server.tool()
async def fail() -> str:
    """Fail."""
    raise RuntimeError("for the log")


@server.prompt()
def plain() -> str:
    """Ask nothing."""
    return "Hello"


@server.resource("note://{name}")
def note(name: str) -> str:
    """A note."""
    return name


@server.completion(prompt="plain", argument="name")
def names(value: str) -> list[str]:
    """Suggest names."""
    return [value + "a"]


with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)
    for odd in ("世界", "=?base64?eA==?="):
        server.add_tool(lambda: "found", name=odd)


if __name__ == "__main__":
    if "--http" in sys.argv:
        server.serve(port=0)
    else:
        run(lambda: server)
