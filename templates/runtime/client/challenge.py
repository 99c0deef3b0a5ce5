"""What is asked of a client and said to it over HTTP: challenges, safe addresses, and why it was refused."""

from __future__ import annotations

import ipaddress
import json
import re
from typing import Any, Final, cast
from urllib.parse import urlsplit

import httpx2

from .transport import Disconnected

TOKEN: Final = r"[\w!#$%&'*+.^`|~-]+"

PART: Final = re.compile(rf'({TOKEN})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|({TOKEN})', re.ASCII)
"""A parameter, in quotes or not, or the name of a scheme (RFC 9110, 11)."""

LONGEST_WORDS: Final = 300
"""How much of a server's own words an error of ours repeats."""


class Unauthorized(Disconnected):
    """A server does not let this client in, or a login did not come to an end; the words say why and what to do.

    Nothing asks again by itself after one that is `final`.
    """

    def __init__(self, reason: str, *, final: bool = True) -> None:
        super().__init__(reason, final=final)


def bearer(answer: httpx2.Response) -> dict[str, str]:
    """The parameters of the Bearer challenge of an answer; empty where there is none."""
    found: dict[str, str] = {}
    scheme = ""
    for line in answer.headers.get_list("www-authenticate"):
        for part in PART.finditer(line):
            name, quoted, plain, begun = part.groups()
            if begun is not None:
                scheme = begun.lower()
            elif scheme == "bearer":
                value = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
                found.setdefault(name.lower(), value)
    return found


def safe(address: str) -> bool:
    """Whether an address is one that secrets may go to: https, or this machine itself (OAuth 2.1, 1.5)."""
    try:
        urlsplit(address)
        url = httpx2.URL(address)
    except (httpx2.InvalidURL, ValueError):
        return False
    return bool(url.host) and (url.scheme == "https" or url.scheme == "http" and _here(url.host))


def _here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def members(answer: httpx2.Response) -> dict[str, Any]:
    """The members of the JSON object that an answer is; none when it is something else."""
    try:
        body = json.loads(answer.content)
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], body) if isinstance(body, dict) else {}


def refusal(answer: httpx2.Response) -> str:
    """Why a server of OAuth refused: its status, and the two members that are meant to be read."""
    body = members(answer)
    return words(str(answer.status_code), body.get("error"), body.get("error_description"))


def words(*said: object) -> str:
    """What another side has said, made fit to be shown: in one line, and not long."""
    text = ": ".join(one for one in said if isinstance(one, str) and one)
    return "".join(letter if letter.isprintable() else " " for letter in text)[:LONGEST_WORDS]
