"""Subscriptions: `subscriptions/listen`, from the acknowledgement to the closing result.

Every message bears the id of the listen request, and nothing goes before the acknowledgement
(basic/patterns/subscriptions, Message Ordering). What changes while a listener reads slowly is told once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..latest import server as stubs
from ..latest import types
from .context import Context
from .streams import Bus, Change, Kind, Stream

KINDS: Final[tuple[Kind, ...]] = ("tools", "prompts", "resources")
"""The lists that can be listened to, which are also the capabilities that announce it."""


class Subscriptions:
    """Who listens to the changes of one server."""

    def __init__(self, bus: Bus, offers: Callable[[str], bool]) -> None:
        """Listen on `bus`; a list that the server does not offer cannot be listened to."""
        self._bus = bus
        self._offers = offers

    def announced(self, capability: str) -> dict[str, Any]:
        """What a capability says about changes."""
        if capability not in KINDS:
            return {}
        return {"listChanged": True, **({"subscribe": True} if capability == "resources" else {})}

    async def listen(
        self, params: types.SubscriptionsListenRequestParams, context: Context
    ) -> types.SubscriptionsListenResult:
        """Acknowledge, then tell each change that is wanted, until the connection ends or the request is cancelled."""
        honoured = self._honoured(params.notifications)
        stream = Stream(wanted(honoured))
        tag = types.NotificationMetaObject(subscription_id=context.request_id)
        unsubscribe = self._bus.subscribe(stream.put)
        context.streams.add(stream)
        try:
            await context.calls.notify_subscriptions_acknowledged(
                types.SubscriptionsAcknowledgedNotificationParams(meta=tag, notifications=honoured)
            )
            async for change in stream.changes():
                await _tell(context.calls, change, tag)
        finally:
            unsubscribe()
            context.streams.discard(stream)
        return types.SubscriptionsListenResult(
            meta=types.SubscriptionsListenResultMetaObject(subscription_id=context.request_id),
            result_type="complete",
        )

    def _honoured(self, asked: types.SubscriptionFilter) -> types.SubscriptionFilter:
        """What is asked for and there to be had; the rest is left out."""
        honoured = types.SubscriptionFilter()
        if asked.tools_list_changed and self._offers("tools"):
            honoured.tools_list_changed = True
        if asked.prompts_list_changed and self._offers("prompts"):
            honoured.prompts_list_changed = True
        if asked.resources_list_changed and self._offers("resources"):
            honoured.resources_list_changed = True
        if asked.resource_subscriptions and self._offers("resources"):
            honoured.resource_subscriptions = asked.resource_subscriptions
        return honoured


def wanted(honoured: types.SubscriptionFilter) -> Callable[[Change], bool]:
    """Whether a change is one that a filter asks for; a resource is named by its exact URI."""
    kinds = {
        "tools": honoured.tools_list_changed,
        "prompts": honoured.prompts_list_changed,
        "resources": honoured.resources_list_changed,
    }
    uris = frozenset(honoured.resource_subscriptions or ())
    return lambda change: bool(kinds[change.kind]) if change.uri is None else change.uri in uris


async def _tell(calls: stubs.ServerCalls, change: Change, tag: types.NotificationMetaObject) -> None:
    if change.uri is not None:
        params = types.ResourceUpdatedNotificationParams(meta=tag, uri=change.uri)
        await calls.notify_resource_updated(params)
    elif change.kind == "tools":
        await calls.notify_tool_list_changed(types.NotificationParams(meta=tag))
    elif change.kind == "prompts":
        await calls.notify_prompt_list_changed(types.NotificationParams(meta=tag))
    else:
        await calls.notify_resource_list_changed(types.NotificationParams(meta=tag))
