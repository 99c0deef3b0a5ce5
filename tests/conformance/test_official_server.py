"""The official Python server of the handshake era, unmodified, in an environment of its own: each verb over both transports."""

from __future__ import annotations

import pytest
from older import CLEAN, interpreter
from plays import PLAYS, WAYS, Play, play

pytestmark = pytest.mark.conformance

# It is for another environment, in which alone it can be checked or run.
SERVER = '''
import asyncio, sys
from mcp.server.fastmcp import Context, FastMCP
from mcp.types import Completion, SamplingMessage, TextContent
from pydantic import AnyUrl, BaseModel

mcp = FastMCP("official", instructions="ask", host="127.0.0.1", port=0)
cancelled, levels, subscribed = [], [], []

class Name(BaseModel):
    name: str
    times: int = 2

@mcp.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b

@mcp.tool()
async def ask(message: str, ctx: Context) -> str:
    answer = await ctx.elicit(message, Name)
    return answer.data.name * answer.data.times if answer.action == "accept" else answer.action

@mcp.tool()
async def link(url: str, ctx: Context) -> str:
    return (await ctx.elicit_url("Go there", url, elicitation_id="one")).action

@mcp.tool()
async def sample(ctx: Context) -> str:
    said = SamplingMessage(role="user", content=TextContent(type="text", text="hi"))
    return (await ctx.session.create_message([said], max_tokens=5)).content.text

@mcp.tool()
async def roots(ctx: Context) -> list[str]:
    return [str(root.uri) for root in (await ctx.session.list_roots()).roots]

@mcp.tool()
async def ping(ctx: Context) -> str:
    await ctx.session.send_ping()
    return "pong"

@mcp.tool()
async def steps(ctx: Context) -> str:
    for step in (1, 2):
        await ctx.report_progress(step, 2, f"step {step}")
    return "done"

@mcp.tool()
async def speak(ctx: Context) -> str:
    for level in ("debug", "info", "error"):
        await ctx.log(level, level)
    return "said"

@mcp.tool()
async def wait() -> str:
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        cancelled.append("wait")
        raise

@mcp.tool()
async def noted() -> dict[str, list[str]]:
    return {"cancelled": cancelled, "levels": levels, "subscribed": subscribed}

@mcp.tool()
async def change(ctx: Context) -> str:
    mcp.add_tool(lambda: "new", name="extra", description="late")
    await ctx.session.send_tool_list_changed()
    await ctx.session.send_prompt_list_changed()
    await ctx.session.send_resource_list_changed()
    await ctx.session.send_resource_updated(AnyUrl("config://app"))
    return "changed"

@mcp.resource("config://app")
def config() -> str:
    return "on"

@mcp.resource("image://dot", mime_type="image/png")
def dot() -> bytes:
    return b"\\x00\\xffdot"

@mcp.resource("users://{id}")
def user(id: str) -> str:
    return f"user {id}"

@mcp.prompt()
def hello(name: str) -> str:
    return f"hello {name}"

@mcp.completion()
async def complete(ref, argument, context):
    return Completion(values=[argument.value + "nna"])

@mcp._mcp_server.set_logging_level()
async def set_level(level):
    levels.append(level)

@mcp._mcp_server.subscribe_resource()
async def subscribe(uri):
    subscribed.append("+" + str(uri))

@mcp._mcp_server.unsubscribe_resource()
async def unsubscribe(uri):
    subscribed.append("-" + str(uri))

mcp.run(sys.argv[1])
'''


@pytest.fixture(scope="module")
def command(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of the server."""
    script = tmp_path_factory.mktemp("official") / "server.py"
    script.write_text(SERVER)
    return [str(interpreter(pytestconfig)), str(script)]


@pytest.mark.parametrize("work", PLAYS, ids=lambda work: work.__name__)
@pytest.mark.parametrize("way", WAYS)
def test_each_verb_does_what_it_does_with_a_newer_server(command: list[str], way: str, work: Play) -> None:
    play(WAYS[way](command, CLEAN), work)
