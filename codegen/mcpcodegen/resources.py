"""Where the data of the generator lies: inside the installed package, or beside `codegen/` in a checkout."""

from __future__ import annotations

from pathlib import Path

from .errors import SchemaError

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parents[1]


def folder(name: str) -> Path:
    """The data folder `name` (`templates` or `schema`), wherever this copy of the generator keeps it."""
    packaged = PACKAGE / name
    return packaged if packaged.is_dir() else CHECKOUT / name


def in_checkout() -> bool:
    """Whether this is a working copy of the project, whose own `schema/` and `generated/` may be written."""
    return not (PACKAGE / "schema").is_dir() and (CHECKOUT / "schema").is_dir()


def read_file(path: str) -> bytes:
    """The bytes of a schema file; raises SchemaError when there is none that can be read."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise SchemaError(
            "no such file", remedy="pass the path of a schema.json", source=path, pointer=""
        ) from None
    except OSError as error:
        raise SchemaError(
            f"cannot read ({error.strerror})",
            remedy="pass the path of a readable file",
            source=path,
            pointer="",
        ) from None
