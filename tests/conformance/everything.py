"""The server that the official conformance suite calls for: each offer has the name and the answer that it expects.

It is written as any author would write one, so that whatever the suite can ask for can be said in this way.
"""

# Sampling and roots are deprecated, and specified.
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import base64
import json
import sys
from typing import Annotated, Any, Literal

from mcprotocol.latest import types
from mcprotocol.server import Accepted, Context, Header, Refused, Server, ToolError, audio, embedded, image
from pydantic import BaseModel, Field

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
"""A PNG of one pixel."""

SOUND = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
"""A WAV of one sample."""

CONTACT: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""A schema that no Python annotation makes."""


class Name(BaseModel):
    name: str


class Colour(BaseModel):
    color: str


class Consent(BaseModel):
    confirmed: bool = False


class Contact(BaseModel):
    username: str
    email: str


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


VALUES = ["value1", "value2", "value3"]
TITLED = [{"const": value, "title": f"The title of {value}"} for value in VALUES]
CHOICES: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}
"""A form with every kind of choice."""


class About(BaseModel):
    context: str


server = Server("everything", version="1", title="Everything that the suite asks for", logging=True)


# Content of every kind. The suite calls the tool that is listed first without arguments.


@server.tool(title="Simple text", annotations=types.ToolAnnotations(read_only_hint=True))
def test_simple_text() -> str:
    """Give a text."""
    return "This is a simple text response for testing."


@server.tool()
def test_image_content() -> types.ImageContent:
    """Give a picture."""
    return image(PICTURE, "image/png")


@server.tool()
def test_audio_content() -> types.AudioContent:
    """Give a sound."""
    return audio(SOUND, "audio/wav")


@server.tool()
def test_embedded_resource() -> types.EmbeddedResource:
    """Give a resource together with what it holds."""
    return embedded("test://embedded-resource", "This is an embedded resource content.")


@server.tool()
def test_multiple_content_types() -> list[str | types.ImageContent | types.EmbeddedResource]:
    """Give a text, a picture and a resource."""
    mixed = {"test": "data", "value": 123}
    return [
        "Multiple content types test:",
        image(PICTURE, "image/png"),
        embedded("test://mixed-content-resource", mixed),
    ]


@server.tool()
def test_error_handling() -> str:
    """Fail in a way that a model can read."""
    raise ToolError("This tool intentionally returns an error for testing")


# Reports on the way.


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    """Report three times how far it has come."""
    for done in (0, 50, 100):
        await ctx.progress(done, total=100, message=f"Completed {done} of 100")
        await asyncio.sleep(0.05)
    return "All of 100"


@server.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    """Log three times."""
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.log("info", text)
        await asyncio.sleep(0.05)
    return "Logged three times"


@server.tool()
async def test_reconnection(ctx: Context) -> str:
    """Have the client come back for the answer, where it can."""
    ctx.hang_up()
    await asyncio.sleep(0.1)
    return "Reconnected"


@server.tool()
async def test_logging_tool(ctx: Context) -> str:
    """Log, where the client has asked for it."""
    await ctx.log("info", "Logging tool called")
    return "Logged"


# Calls that are cancelled.

gone: list[str] = []


@server.tool()
async def test_tool_without_end(name: str, ctx: Context) -> str:
    """Wait until nobody wants the answer any more."""
    await ctx.progress(1, message="waiting")
    try:
        await asyncio.Event().wait()
    finally:
        gone.append(name)
    return "never"


@server.tool()
def test_cancelled_calls() -> list[str]:
    """Name the calls that were cancelled."""
    return gone


# Arguments.


@server.tool(input_schema=CONTACT)
def json_schema_2020_12_tool(arguments: dict[str, Any]) -> str:
    """Take arguments by a schema with every keyword that readers are tempted to drop."""
    return f"Reached {arguments['name']}" if "name" in arguments else "Reached nobody in particular"


@server.tool()
def test_x_mcp_header(
    region: Annotated[str, Header("Region")] = "nowhere",
) -> str:
    """Take an argument that HTTP requests repeat in a header."""
    return f"In {region}"


# Lists that change: what comes goes again, and both are told.


@server.tool()
def test_trigger_tool_change() -> str:
    """Change the list of tools, and change it back."""
    server.add_tool(test_simple_text, name="test_passing_tool")
    server.remove_tool("test_passing_tool")
    return "Tools have changed"


@server.tool()
def test_trigger_prompt_change() -> str:
    """Change the list of prompts, and change it back."""
    server.add_prompt(test_simple_prompt, name="test_passing_prompt")
    server.remove_prompt("test_passing_prompt")
    return "Prompts have changed"


@server.tool()
async def test_trigger_resource_change() -> str:
    """Say that a resource has changed."""
    await server.notify_resource_updated("test://static-text")
    return "The static text has changed"


# Input from the client.


@server.tool()
async def test_missing_capability(ctx: Context) -> str:
    """Need a capability that the client may lack."""
    return _said(await ctx.sample("Say anything", max_tokens=10))


@server.tool()
async def test_streaming_elicitation(ctx: Context) -> str:
    """Ask the user."""
    return (await ctx.elicit("Go on?", Consent)).action


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Ask the model of the client what one likes."""
    return f"LLM response: {_said(await ctx.sample(prompt, max_tokens=100))}"


@server.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    """Ask the user what one likes."""
    return _told(await ctx.elicit(message, Contact))


@server.tool()
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Ask the user, with something to go by for each answer."""
    return _told(await ctx.elicit("Is this right?", Defaults))


@server.tool()
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Have the user choose, in each way that there is."""
    return _told(await ctx.elicit("Choose", CHOICES))


@server.tool()
async def test_input_required_result_elicitation(ctx: Context) -> str:
    """Ask the user for a name."""
    return _hello(await ctx.elicit("What is your name?", Name, key="user_name"))


@server.tool()
async def test_input_required_result_sampling(ctx: Context) -> str:
    """Ask the model of the client."""
    question = ctx.sample("What is the capital of France?", max_tokens=100, key="capital_question")
    return _said(await question)


@server.tool()
async def test_input_required_result_list_roots(ctx: Context) -> str:
    """Ask for the roots."""
    return ", ".join(root.uri for root in await ctx.roots(key="client_roots"))


@server.tool()
async def test_input_required_result_request_state(ctx: Context) -> str:
    """Keep a value from one round to the next."""
    ctx.remember("mark", ctx.recall("mark", "state-ok"))
    await ctx.elicit("Go on?", Consent, key="confirm")
    return str(ctx.recall("mark"))


@server.tool()
async def test_input_required_result_multiple_inputs(ctx: Context) -> str:
    """Ask for three things at once."""
    name, greeting, roots = await ctx.ask(
        ctx.elicit("What is your name?", Name, key="user_name"),
        ctx.sample("Write a greeting", max_tokens=50, key="greeting"),
        ctx.roots(key="client_roots"),
    )
    return f"{_hello(name)} {_said(greeting)} {len(roots)}"


@server.tool()
async def test_input_required_result_multi_round(ctx: Context) -> str:
    """Ask, and then ask again."""
    name = await ctx.elicit("Step 1: what is your name?", Name, key="step1")
    colour = await ctx.elicit("Step 2: what is your favorite color?", Colour, key="step2")
    liked = colour.content.color if isinstance(colour, Accepted) else "no color"
    return f"{_hello(name)} You like {liked}."


@server.tool()
async def test_input_required_result_tampered_state(ctx: Context) -> str:
    """Ask with a state that must come back as it was."""
    return (await ctx.elicit("Go on?", Consent, key="confirm")).action


@server.tool()
async def test_input_required_result_capabilities(ctx: Context) -> str:
    """Ask for whatever the client can give."""
    name, greeting = await ctx.ask(
        ctx.elicit("What is your name?", Name, key="user_name").optional(),
        ctx.sample("Write a greeting", max_tokens=50, key="greeting").optional(),
    )
    return " ".join([_hello(name) if name else "Hello!", _said(greeting) if greeting else ""])


# Resources.


@server.resource("test://static-text", mime_type="text/plain", title="Static text")
def static_text() -> str:
    """A text that never changes."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png", ttl_ms=60_000, cache_scope="public")
def static_binary() -> bytes:
    """A picture that never changes."""
    return PICTURE


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    """A text that one may want to hear of."""
    return "This resource can be watched."


@server.resource("test://template/{id}/data", mime_type="application/json")
def template_data(id: str) -> dict[str, Any]:
    """What belongs to an id."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


# Prompts.


@server.prompt(title="Simple prompt")
def test_simple_prompt() -> str:
    """Say one thing."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(
    arg1: Annotated[str, Field(description="The first")],
    arg2: Annotated[str, Field(description="The second")],
) -> str:
    """Repeat the arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.completion(prompt="test_prompt_with_arguments", argument="arg1")
def first_arguments(value: str) -> list[str]:
    """Suggest what begins like the value."""
    return [word for word in ("test", "testing", "tested", "other") if word.startswith(value)]


@server.prompt()
def test_prompt_with_embedded_resource(
    resource: Annotated[str, Field(alias="resourceUri", description="Where the resource is")],
) -> list[types.EmbeddedResource | str]:
    """Show a resource and ask for something to be done with it."""
    return [
        embedded(resource, "Embedded resource content for testing."),
        "Please process the embedded resource above.",
    ]


@server.prompt()
def test_prompt_with_image() -> list[types.ImageContent | str]:
    """Show a picture and ask for something to be done with it."""
    return [image(PICTURE, "image/png"), "Please analyze the image above."]


@server.prompt()
async def test_input_required_result_prompt(ctx: Context) -> str:
    """Ask what it is to be about."""
    about = await ctx.elicit("What context should the prompt use?", About, key="user_context")
    return f"Write about {about.content.context if isinstance(about, Accepted) else 'anything'}"


def _hello(name: Accepted[Name] | Refused) -> str:
    return f"Hello, {name.content.name}!" if isinstance(name, Accepted) else "Hello!"


def _told(answer: Accepted[Any] | Refused) -> str:
    content: Any = answer.content if isinstance(answer, Accepted) else None
    told = content.model_dump_json() if isinstance(content, BaseModel) else json.dumps(content)
    return f"User response: action={answer.action}, content={told}"


def _said(result: types.CreateMessageResult) -> str:
    parts = result.content if isinstance(result.content, list) else [result.content]
    return "".join(part.text for part in parts if isinstance(part, types.TextContent))


if __name__ == "__main__":
    if sys.argv[1:] == ["--stdio"]:
        server.run()
    else:
        server.serve(port=0)
