"""Server-sent events: what a stream says does not depend on how its bytes arrive, nor on its line ends."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest
from mcprotocol.client.events import Events, TooLong

STREAM = (
    b"\xef\xbb\xbfdata: {1}\n\n"
    b": a comment\n\n"
    b"event: ping\ndata: not a message\n\n"
    b"data:\n\n"
    b"data:{2,\ndata: 2}\nid: 5\nretry: 10\nunknown: x\nnameless\n\n"
    b"event: message\ndata:  {3}\n\n"
    b"\n\n"
    b"data\ndata: \xc3\xa4\xe2\x80\xa8:\n\n"
    b"data: cut"
)
EVENTS = [b"{1}", b"", b"{2,\n2}", b" {3}", "\nä\u2028:".encode()]


def read(chunks: Iterable[bytes], limit: int = 1000) -> list[bytes]:
    events = Events(limit)
    return [event for chunk in chunks for event in events.feed(chunk)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_stream_is_the_same_however_it_is_split(end: bytes) -> None:
    stream = STREAM.replace(b"\n", end)
    assert read([stream]) == EVENTS
    assert read(stream[place : place + 1] for place in range(len(stream))) == EVENTS
    for place in range(len(stream)):
        assert read([stream[:place], b"", stream[place:]]) == EVENTS, place


def test_line_ends_may_be_mixed() -> None:
    for ends in itertools.product([b"\n", b"\r\n", b"\r"], repeat=4):
        stream = b"data: a%bdata: b%b%bdata: c%b" % ends
        # A carriage return and then a line feed is one end, wherever they come from.
        if ends[1] != b"\r" or ends[2] != b"\n":
            assert read([stream, b"\n\n"])[0] == b"a\nb", ends
            assert read([stream[:-1], stream[-1:], b"\n", b"\n"])[0] == b"a\nb", ends


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_an_event_is_given_as_soon_as_it_is_whole(end: bytes) -> None:
    assert read([b"data: a" + end + end]) == [b"a"]


def test_a_mark_of_byte_order_is_one_only_at_the_beginning() -> None:
    mark = b"\xef\xbb\xbf"
    assert read([b"data: a\n\n" + mark + b"data: b\n\n"]) == [b"a"]
    assert read([mark + mark + b"data: a\n\n"]) == []


@pytest.mark.parametrize("size", [1, 10_000])
def test_an_event_is_as_long_as_allowed_and_no_longer(size: int) -> None:
    def pieces(data: bytes) -> list[bytes]:
        stream = b"data: %b\n\n" % data
        return [stream[place : place + size] for place in range(0, len(stream), size)]

    assert read(pieces(b"x" * 100), 100) == [b"x" * 100]
    assert read(pieces(b"x\ndata: " * 49 + b"xx"), 100) == [b"x\n" * 49 + b"xx"]
    for long in (
        b"x" * 101,
        b"x\ndata: " * 50 + b"xx",
        b"\nid: " + b"x" * 200,
        b"x" * 90 + b"\n:" + b"y" * 20,
    ):
        with pytest.raises(TooLong, match="100 bytes"):
            read(pieces(long), 100)


def test_many_short_events_are_not_one_long_one() -> None:
    assert read([b"data: 12345678\n\n: comment\n\n" * 1000], 10) == [b"12345678"] * 1000
