"""Where the data of the generator lies: inside the installed package, or beside `codegen/` in a checkout."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .errors import SchemaError

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parents[1]

SPECIFICATION = "https://raw.githubusercontent.com/modelcontextprotocol/modelcontextprotocol/main"
"""Where the specification publishes its files: the schema of a revision is at schema/REVISION/schema.json below it."""

LARGEST = 64 * 1024 * 1024
"""Bytes of the largest file that is read: hundreds of times what any schema takes, and no endless device."""


def folder(name: str) -> Path:
    """The data folder `name` (`templates` or `schema`), wherever this copy of the generator keeps it."""
    packaged = PACKAGE / name
    return packaged if packaged.is_dir() else CHECKOUT / name


def in_checkout() -> bool:
    """Whether this is a working copy of the project, whose own `schema/` and `generated/` may be written."""
    return not (PACKAGE / "schema").is_dir() and (CHECKOUT / "schema").is_dir()


def is_url(source: str) -> bool:
    """Whether a user names an address, not the path of a file."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", source) is not None


def read_schema(source: str) -> bytes:
    """The bytes of a schema that a user names by path or address; raises SchemaError when there are none."""
    data = _fetch(source) if is_url(source) else read_file(source)
    if data is None:
        raise SchemaError("nothing is there", remedy="check the address", source=source)
    return data


def find_schema(source: str) -> bytes | None:
    """The same, or None where there is no such file and nothing at such an address."""
    if is_url(source):
        return _fetch(source)
    return read_file(source) if os.path.isfile(source) else None


def read_file(path: str) -> bytes:
    """The bytes of a file that a user names; raises SchemaError when there is none that can be read."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise _unreadable("no such file", path) from None
    except (OSError, ValueError) as error:
        raise _unreadable(f"cannot read ({getattr(error, 'strerror', None) or error})", path) from None
    if len(data) > LARGEST:
        raise _unreadable(f"over {LARGEST} bytes", path)
    return data


def _fetch(url: str) -> bytes | None:
    # Here: what speaks HTTP takes as long to import as all the rest of the door.
    from .fetch import fetch

    return fetch(url, LARGEST)


def _unreadable(problem: str, path: str) -> SchemaError:
    return SchemaError(problem, remedy="pass the path of a readable file", source=path)
