"""Lists in pages, and how long what a server says stays fresh; in memory and over a real pipe."""

from __future__ import annotations

import base64
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from mcprotocol.server import Cache, Server
from mcprotocol.server.listing import Listing, Shelf
from asking import made
from test_dispatch import ask, request
from test_subscriptions import Connect, connect, run
from wires import Wire, pipe

__all__ = ["connect"]

LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


def read(id: str) -> str:
    return id


def full(**options: Any) -> Server:
    """A server with seven of everything."""
    server = Server("full", version="1", **options)
    for index in range(7):
        server.add_tool(lambda: "x", name=f"t{index}")
        server.add_prompt(lambda: "x", name=f"t{index}")
        server.add_resource(lambda: "x", f"x:{index}", name=f"t{index}")
        server.add_resource(read, f"x{index}:{{id}}", name=f"t{index}")
    return server


def page(server: Server, method: str, cursor: str | None = None) -> Any:
    return ask(server, request(method, **({} if cursor is None else {"cursor": cursor})))["result"]


def pages(server: Server, method: str) -> list[list[str]]:
    """The names on each page, by the cursors alone."""
    found, cursor = list[list[str]](), None
    while True:
        result = page(server, method, cursor)
        found.append([entry["name"] for entry in result[LISTS[method]]])
        if "nextCursor" not in result:
            return found
        cursor = result["nextCursor"]


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize(
    ("size", "lengths"), [(None, [7]), (1, [1] * 7), (3, [3, 3, 1]), (7, [7]), (100, [7])]
)
def test_every_list_comes_in_pages_whole_and_in_order(
    method: str, size: int | None, lengths: list[int]
) -> None:
    found = pages(full(page_size=size), method)
    assert list(map(len, found)) == lengths
    assert [name for names in found for name in names] == [f"t{index}" for index in range(7)]


def test_pages_travel_over_each_wire(connect: Connect) -> None:
    async def scenario(wire: Wire) -> None:
        seen, cursor = list[str](), dict[str, str]()
        while True:
            await wire.send(request("tools/list", **cursor))
            result = (await wire.receive())["result"]
            assert len(result["tools"]) <= 4
            seen += [tool["name"] for tool in result["tools"]]
            if "nextCursor" not in result:
                break
            cursor = {"cursor": result["nextCursor"]}
        assert seen == [*dict.fromkeys(seen)] and seen[0] == "greet" and seen[-1] == "update"
        await wire.send(request("tools/list", cursor="x"))
        assert (await wire.receive())["error"]["code"] == -32602

    run(connect, scenario)


@pytest.mark.parametrize("method", LISTS)
def test_a_cursor_that_was_never_given_out_is_refused(method: str) -> None:
    server = full(page_size=3)
    good = page(server, method)["nextCursor"]
    other = page(server, next(name for name in LISTS if name != method))["nextCursor"]
    made_up = [
        base64.urlsafe_b64encode(f"{method}#{number}".encode()).decode() for number in (0, -1, 8, "03")
    ]
    for cursor in ["", "x", "é", "!!!!", good + "=", good + "A", " " + good, good[:-4], other, *made_up]:
        assert ask(server, request(method, cursor=cursor))["error"]["code"] == -32602, cursor


def test_a_cursor_stays_good_when_entries_come_and_go_and_in_another_process() -> None:
    server, replica = full(page_size=3), full(page_size=3)
    cursor = page(server, "tools/list")["nextCursor"]
    for name in ("t2", "t0", "t3"):
        server.remove_tool(name)
    server.add_tool(lambda: "x", name="late")
    rest = page(server, "tools/list", cursor)
    assert [tool["name"] for tool in rest["tools"]] == ["t4", "t5", "t6"]
    last = page(server, "tools/list", rest["nextCursor"])
    assert [tool["name"] for tool in last["tools"]] == ["late"] and "nextCursor" not in last
    assert [tool["name"] for tool in page(replica, "tools/list", cursor)["tools"]] == ["t3", "t4", "t5"]


def test_a_name_that_comes_back_stands_at_the_end() -> None:
    listing: Listing[int] = Listing("thing", "things/list", Shelf(None, {}))
    for name in ("a", "b"):
        listing.add(name, ord(name))
    listing.remove("a")
    listing.add("a", 1)
    assert list(listing) == [98, 1] and listing.get("a") == 1 and listing.get("c") is None
    with pytest.raises(ValueError, match="registered already"):
        listing.add("a", 2)


class Slow(dict[str, tuple[int, int]]):
    """Entries that another thread changes in the midst of whatever looks at them."""

    def __init__(self, meddle: Callable[[], None]) -> None:
        super().__init__()
        self._meddle = meddle

    def values(self) -> Any:
        return self._one_by_one(super().values())

    def _one_by_one(self, values: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        thread = threading.Thread(target=self._meddle)
        for value in values:
            if thread.ident is None:
                thread.start()
                thread.join(0.05)  # Long enough to meddle, unless it is kept out until all is read.
            yield value


def first_page(listing: Listing[int]) -> list[int]:
    return listing.page(None)[0]


@pytest.mark.parametrize("read", [first_page, list[int]])
def test_a_list_is_read_while_another_thread_changes_it(read: Callable[[Listing[int]], list[int]]) -> None:
    listing: Listing[int] = Listing("thing", "things/list", Shelf(None, {}))
    vars(listing)["_entries"] = Slow(lambda: listing.add("late", 3))
    listing.add("a", 1)
    listing.add("b", 2)
    assert read(listing) == [1, 2]


def test_entries_that_threads_add_at_once_have_numbers_of_their_own() -> None:
    listing: Listing[int] = Listing("thing", "things/list", Shelf(1, {}))

    def add(thread: int) -> None:
        for index in range(200):
            listing.add(f"{thread}:{index}", index)
            listing.page(None)

    threads = [threading.Thread(target=add, args=[number]) for number in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    seen, cursor = 0, None
    while True:
        shown, members = listing.page(cursor)
        seen += len(shown)
        cursor = members.get("next_cursor")
        if cursor is None:
            break
    assert seen == 800


@pytest.mark.parametrize("size", [0, -1])
def test_a_page_holds_something(size: int) -> None:
    with pytest.raises(ValueError, match="page_size"):
        Server("x", version="1", page_size=size)


# How long a result stays fresh.


def hints(server: Server, method: str, **params: Any) -> tuple[int, str]:
    result = ask(server, request(method, **params))["result"]
    return result["ttlMs"], result["cacheScope"]


def test_without_hints_everything_is_stale_at_once_and_private() -> None:
    for method in (*LISTS, "server/discover"):
        assert hints(full(), method) == (0, "private")
    assert hints(full(), "resources/read", uri="x:1") == (0, "private")


def test_one_hint_is_for_all_lists_and_no_resource() -> None:
    server = full(cache=Cache(5000, "public"))
    for method in (*LISTS, "server/discover"):
        assert hints(server, method) == (5000, "public")
    assert hints(server, "resources/read", uri="x:1") == (0, "private")


def test_hints_are_given_by_list_and_hold_on_every_page() -> None:
    server = full(page_size=3, cache={"tools/list": Cache(10, "public"), "server/discover": Cache(20)})
    cursor = page(server, "tools/list")["nextCursor"]
    assert hints(server, "tools/list") == hints(server, "tools/list", cursor=cursor) == (10, "public")
    assert hints(server, "server/discover") == (20, "private")
    assert hints(server, "prompts/list") == (0, "private")


def test_a_resource_has_hints_of_its_own() -> None:
    server = Server("r", version="1")
    server.resource("x:y", ttl_ms=7, cache_scope="public")(lambda: "x")
    server.add_resource(read, "z:{id}", ttl_ms=8)
    assert hints(server, "resources/read", uri="x:y") == (7, "public")
    assert hints(server, "resources/read", uri="z:1") == (8, "private")


def test_hints_travel_over_a_pipe() -> None:
    async def scenario(wire: Wire) -> None:
        await wire.send(request("tools/list"))
        result = (await wire.receive())["result"]
        assert (result["ttlMs"], result["cacheScope"]) == (1000, "private")

    run(pipe, scenario)


def test_hints_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        Cache(-1)
    for wrong in (1.5, True, "1", None):
        with pytest.raises(TypeError, match="whole number"):
            Cache(wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    for wrong in ("zz", "Public", "", None):
        with pytest.raises(ValueError, match="public"):
            Cache(1, wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="tools/call"):
        Server("x", version="1", cache={"tools/call": Cache(1)})
    with pytest.raises(ValueError, match="negative"):
        made().add_resource(lambda: "x", "x:y", ttl_ms=-1)
