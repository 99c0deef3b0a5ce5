"""The tables between the eras: what a message of this revision is to a server of the handshake era, and back.

Each row that loses something says what is lost. JSON in, JSON out: the types of each era stay their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from pydantic_core import from_json, to_json

from ..errors import InvalidParams, InvalidRequest, McpError, RemoteError
from ..jsonrpc import Failure, Id, Notification, Params, RequestMethod, Success
from ..latest import methods

HANDSHAKES: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The versions that are agreed upon in a handshake, the best first."""

BATCHES: Final = "2025-03-26"
"""The one version whose messages may come several at once, in an array."""

PREFIX: Final = "io.modelcontextprotocol/"
LEVEL: Final = f"{PREFIX}logLevel"
SUBSCRIPTION: Final = f"{PREFIX}subscriptionId"
SERVER: Final = f"{PREFIX}serverInfo"

ENVELOPE: Final[Mapping[str, str]] = {
    f"{PREFIX}protocolVersion": "agreed upon once, in the handshake",
    f"{PREFIX}clientInfo": "said once, in the handshake",
    f"{PREFIX}clientCapabilities": "said once, in the handshake: they cannot differ from call to call",
    LEVEL: "set by logging/setLevel: calls share the level of the session, which only grows more talkative",
}
"""The metadata that requests do not carry there, and what becomes of it."""

ROUNDS: Final[Mapping[str, str]] = {
    "inputResponses": "a server asks in the midst of a call: only what it refused by URL is called again, without them",
    "requestState": "a server there keeps its state itself",
}
"""The params of a later round, which no request has there."""

IMPLIED: Final[Mapping[str, tuple[Any, str]]] = {
    "resultType": ("complete", "every result is complete there"),
}
"""The members of each result that are implied there, whatever a server puts into members of that name."""

UNKEPT: Final[Mapping[str, tuple[Any, str]]] = {
    "ttlMs": (0, "nothing there says how long a result is good: it is kept for no time"),
    "cacheScope": ("private", "nor for whom"),
}
"""The members of a result that may be kept, likewise."""

LOST_CAPABILITIES: Final[Mapping[str, str]] = {
    "tasks": "the tasks of 2025-11-25 are not those of the extension: none is asked for",
}
"""What a server can do there that has no counterpart here."""

LOST_NOTIFICATIONS: Final[Mapping[str, str]] = {
    "notifications/elicitation/complete": "a call that waits for a URL goes on by itself, or is made again",
    "notifications/tasks/status": "no task was asked for",
}
"""What a server tells there that nobody is waiting for here."""

NOT_FOUND: Final = -32002
"""The code of a resource that is not there, which is an invalid param here."""

URL_REQUIRED: Final = -32042
"""The code of a call that is to be made again once the user has opened some URLs, which is a question here."""

LISTS: Final[Mapping[str, tuple[str, str]]] = {
    "toolsListChanged": ("tools", methods.TOOL_LIST_CHANGED_NOTIFICATION.name),
    "promptsListChanged": ("prompts", methods.PROMPT_LIST_CHANGED_NOTIFICATION.name),
    "resourcesListChanged": ("resources", methods.RESOURCE_LIST_CHANGED_NOTIFICATION.name),
}
"""The lists of a subscription: the capability that announces their changes, and the notification of one."""

URIS: Final = "resourceSubscriptions"
ELICIT: Final = "elicitation/create"


class Unspoken(InvalidRequest):
    """A server takes the handshake, and chooses a version of which this client knows nothing."""


def singly(data: bytes, version: str | None) -> list[bytes]:
    """What has come, as single messages: one, or all in the array that a batch is."""
    if version != BATCHES or data.lstrip()[:1] != b"[":
        return [data]
    try:
        batch: list[Any] = from_json(data, allow_inf_nan=False)
    except ValueError:
        return [data]  # Which says what is wrong with it.
    return [to_json(one) for one in batch]


def request_params(params: Params) -> Params | None:
    """The params of a request as they go there; None where nothing is left."""
    meta = {name: value for name, value in _object(params.get("_meta")).items() if name not in ENVELOPE}
    kept = {name: value for name, value in params.items() if name != "_meta" and name not in ROUNDS}
    return ({**kept, "_meta": meta} if meta else kept) or None


def success(message: Success, method: RequestMethod[Any, Any] | None) -> Success:
    """A result from there, of a request of this method."""
    rows = {**IMPLIED, **UNKEPT} if method is not None and method.cacheable else IMPLIED
    return Success(message.id, {**message.result, **{name: value for name, (value, _) in rows.items()}})


def failure(message: Failure, method: RequestMethod[Any, Any] | None) -> Failure | Success:
    """An error from there: where it asks for URLs to be opened, it is a result that asks for input."""
    error = message.error
    if not isinstance(error, RemoteError):
        return message
    if error.remote_code == NOT_FOUND:
        return Failure(message.id, InvalidParams(error.message, error.data))
    asked = _visits(error) if error.remote_code == URL_REQUIRED else {}
    if not asked or message.id is None or method is None or not method.input_required:
        return message
    return Success(message.id, {"resultType": "input_required", "inputRequests": asked})


def discovered(initialized: Params) -> Params:
    """What `server/discover` would have said, as far as the handshake says it."""
    found: Params = {
        "resultType": "complete",
        "supportedVersions": [initialized.get("protocolVersion")],
        "capabilities": {
            name: value
            for name, value in _object(initialized.get("capabilities")).items()
            if name not in LOST_CAPABILITIES
        },
        **{name: value for name, (value, _) in UNKEPT.items()},
    }
    if "instructions" in initialized:
        found["instructions"] = initialized["instructions"]
    if "serverInfo" in initialized:
        found["_meta"] = {SERVER: initialized["serverInfo"]}
    return found


def granted(asked: Params, capabilities: Params, hears: bool) -> Params:
    """What of a subscription is to be had from a server with these capabilities, where it can tell at all.

    Whether resources can be subscribed to is seen when that is tried: some that can do not say so.
    """
    found: Params = {}
    if not hears:
        return found
    for name, (capability, _) in LISTS.items():
        if asked.get(name) and _object(capabilities.get(capability)).get("listChanged") is True:
            found[name] = True
    if asked.get(URIS) and "resources" in capabilities:
        found[URIS] = asked[URIS]
    return found


def concerns(notification: Notification, wanted: Params) -> bool:
    """Whether a change is one of those that a subscription is for; also of a list whose changes nobody has announced."""
    if notification.method == methods.RESOURCE_UPDATED_NOTIFICATION.name:
        uri = (notification.params or {}).get("uri")
        # What has changed may be a part of what was asked for.
        return isinstance(uri, str) and any(uri.startswith(one) for one in wanted.get(URIS, ()))
    return any(wanted.get(name) and notification.method == method for name, (_, method) in LISTS.items())


def is_change(notification: Notification) -> bool:
    """Whether a notification is told to subscriptions here."""
    return notification.method == methods.RESOURCE_UPDATED_NOTIFICATION.name or any(
        notification.method == method for _, method in LISTS.values()
    )


def tagged(notification: Notification, subscription: Id) -> Notification:
    """A notification as one of a subscription."""
    params = notification.params or {}
    meta = {**_object(params.get("_meta")), SUBSCRIPTION: subscription}
    return Notification(notification.method, {**params, "_meta": meta})


def version_of(initialized: Params) -> str:
    """The version that a server has chosen; raises Unspoken for one that this client does not speak."""
    version = initialized.get("protocolVersion")
    if version in HANDSHAKES:
        return str(version)
    said = "does not say which version it wants to speak"
    if "protocolVersion" in initialized:
        said = f"wants to speak {to_json(version).decode():.100}, of which this client knows nothing"
    raise Unspoken(f"The server {said}: after a handshake this client speaks {', '.join(HANDSHAKES)}")


def supported(error: McpError) -> list[object]:
    """The versions that an error names as those that its server speaks."""
    named = _object(error.data).get("supported")
    return cast(list[object], named) if isinstance(named, list) else []


def best(versions: Sequence[object]) -> str | None:
    """The best of some versions that is agreed upon in a handshake."""
    return next((version for version in HANDSHAKES if version in versions), None)


def _visits(error: McpError) -> Params:
    """The URLs that an error asks the user to open, as requests for input."""
    asked = _object(error.data).get("elicitations")
    listed = cast(list[object], asked) if isinstance(asked, list) else []
    return {
        str(index): {"method": ELICIT, "params": one}
        for index, one in enumerate(map(_object, listed))
        if one.get("mode") == "url"
    }


def _object(value: object) -> Params:
    return cast(Params, value) if isinstance(value, dict) else {}
