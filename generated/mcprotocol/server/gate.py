"""The gate: what an HTTP request must be before anybody reads its body. No I/O.

A page in a browser can send requests to a server on the same machine, under a name that it made point there.
So a server answers to names that it knows, and to pages that it knows, and to no others; what is not on a list
is refused, and an empty list refuses all (basic/transports/streamable-http, Security Warning).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from ..errors import InvalidRequest
from ..headers import Headers

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
"""The names of this machine for itself."""

ANY: Final = "*"

HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
ORIGIN = re.compile(rf"https?://{HOST.pattern}")

JSON, STREAM = "application/json", "text/event-stream"

LOOKED_AT: Final = (b"host", b"origin", b"accept", b"content-type")
"""The headers that let a request in or keep it out."""


class Refused(InvalidRequest):
    """The request is no message for this endpoint; `status` and `headers` say so in the words of HTTP."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


class Gate:
    """Lets requests in by their method and headers."""

    def __init__(self, hosts: Sequence[str], origins: Sequence[str]) -> None:
        """Know these names, with any port unless they say one, and these origins, or names of pages.

        Raises TypeError for one text, which is a sequence of its letters.
        """
        for name, allowed in (("hosts", hosts), ("origins", origins)):
            if isinstance(allowed, str):
                raise TypeError(f"{name} must be a list of names, not one text: write [{allowed!r}]")
        self._host = _known(hosts, HOST)
        self._origin = _known(origins, ORIGIN)

    def know(self, headers: Headers) -> None:
        """Raise Refused (403) unless this is from someone who may call."""
        if not self._host(_one(headers, b"host", 403) or b""):
            raise Refused(403, "The server does not answer to this Host")
        origin = _one(headers, b"origin", 403)
        if origin is not None and not self._origin(origin):
            raise Refused(403, "The server does not answer to this Origin")

    def admit(self, method: str, headers: Headers) -> None:
        """Raise Refused (405, 406 or 415) unless this is a POST of JSON."""
        if method != "POST":
            raise Refused(405, "Messages come by POST", {"Allow": "POST"})
        if not takes(headers, JSON, STREAM):
            raise Refused(406, f"Accept must have {JSON} and {STREAM}")
        if not is_json(_one(headers, b"content-type", 415) or b""):
            raise Refused(415, f"Content-Type must be {JSON}")


def reachable_as(address: str) -> tuple[str, ...]:
    """The names by which a server bound to an address may be called, as far as the address tells."""
    name = f"[{address}]" if ":" in address else address
    return LOOPBACK if name in LOOPBACK else (*LOOPBACK, name)


def takes(headers: Headers, *kinds: str) -> bool:
    """Whether the Accept header admits all these forms of an answer; its weights tell only what it excludes."""
    accept = b",".join(headers.all(b"accept") or [b"*/*"])
    ranges = dict(map(_range, accept.decode("latin-1").lower().split(",")))
    return all(
        next((ranges[one] for one in (kind, kind.partition("/")[0] + "/*", "*/*") if one in ranges), False)
        for kind in kinds
    )


def is_json(content_type: bytes) -> bool:
    """Whether a Content-Type is that of JSON, whatever parameters it has."""
    return content_type.decode("latin-1").partition(";")[0].strip().lower() == JSON


def _range(text: str) -> tuple[str, bool]:
    """A media range of an Accept header, and whether it is one that the client takes."""
    kind, *parameters = (part.strip() for part in text.split(";"))
    return kind, not any(re.fullmatch(r"q=0(\.0{0,3})?", parameter) for parameter in parameters)


def _known(allowed: Iterable[str], pattern: re.Pattern[str]) -> Callable[[bytes], bool]:
    known = frozenset(one.lower().rstrip("/") for one in allowed)

    def judge(value: bytes) -> bool:
        text = value.decode("latin-1").strip(" \t").lower()
        match = pattern.fullmatch(text)
        return ANY in known or match is not None and not known.isdisjoint((text, match["name"]))

    return judge


def _one(headers: Headers, name: bytes, status: int) -> bytes | None:
    """The value of a header, or None; two would be read in two ways."""
    values = headers.all(name)
    if len(values) > 1:
        raise Refused(status, f"{name.decode()} must not be repeated")
    return values[0] if values else None
