"""A schema by its address: over https, or http from this machine, and within bounds of size and time."""

from __future__ import annotations

import re
import time
from http.client import HTTPException, HTTPMessage, HTTPResponse
from ipaddress import ip_address
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from .errors import SchemaError

PATIENCE = 30.0
"""Seconds that one step may take: to connect, or for the next bytes to come."""

LONGEST = 120.0
"""Seconds that the whole may take, however steadily its bytes drip."""

NOT_THERE = (404, 410)
CHUNK = 64 * 1024


def fetch(url: str, largest: int) -> bytes | None:
    """The bytes at an address, or None when nothing is there.

    Raises SchemaError for an address that is not fetched, for any other answer than the whole of a body of at
    most `largest` bytes, and when it takes too long.
    """
    fault = _unsafe(url)
    if fault:
        raise _refusal(fault, url, "pass an https address, or a path")
    try:
        with _opener(url).open(
            Request(url, headers={"Accept": "application/json"}), timeout=PATIENCE
        ) as answer:
            return _body(answer, url, largest)
    except HTTPError as error:
        error.close()
        if error.code in NOT_THERE:
            return None
        raise _refusal(f"answered {error.code} {error.reason}", url) from None
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        words = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        raise _refusal(f"cannot be fetched ({words})", url) from None


class Redirects(HTTPRedirectHandler):
    """Follows an address to another that would have been fetched itself, and never from https back to http."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        downgraded = req.type == "https" and urlsplit(newurl).scheme != "https"
        if downgraded or _unsafe(newurl):
            fp.close()
            raise _refusal(f"redirects to {newurl}, which is not fetched", req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(url: str) -> OpenerDirector:
    """What opens an address; what this machine serves itself is asked for without a proxy."""
    return build_opener(Redirects, *([ProxyHandler({})] if _is_loopback(urlsplit(url).hostname) else []))


def _body(answer: HTTPResponse, url: str, largest: int) -> bytes:
    if answer.status != 200:
        raise _refusal(f"answered {answer.status} {answer.reason}", url)
    if answer.headers.get_content_type() == "text/html":
        raise _refusal("is a page of HTML", url, "pass the address of the raw schema.json")
    if (answer.length or 0) > largest:
        raise _refusal(f"over {largest} bytes", url)
    data, until = bytearray(), time.monotonic() + LONGEST
    while chunk := answer.read1(CHUNK):
        data += chunk
        if len(data) > largest:
            raise _refusal(f"over {largest} bytes", url)
        if time.monotonic() > until:
            raise _refusal(f"not whole after {LONGEST:.0f} seconds", url)
    if answer.length:
        raise _refusal(f"ended {answer.length} bytes early", url)
    return bytes(data)


def _unsafe(url: str) -> str:
    """Why an address is not fetched; empty when it is."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return f"no address ({error})"
    if not host:
        return "an address without a host"
    if parts.username is not None:
        return "an address with a user or a password in it"
    if parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host)):
        return ""
    return f"{parts.scheme} is not fetched: https is, and http from this machine itself"


def _is_loopback(host: str | None) -> bool:
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False


def _refusal(problem: str, url: str, remedy: str = "check the address, or pass a path") -> SchemaError:
    return SchemaError(problem, remedy=remedy, source=re.sub("//[^/]*@", "//", url))
