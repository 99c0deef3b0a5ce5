"""What the commands do, apart from how they are typed: files in, plain values out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict

from .errors import CodegenError
from .ir import Json
from .lower import lower
from .pipeline import read
from .resources import read_file
from .revisions import nearest
from .validate import Validator


def validated(file: str, revision: str, name: str | None) -> Iterator[dict[str, Json]]:
    """The findings of one file of messages, each as a row; `-` is standard input."""
    data = sys.stdin.buffer.read() if file == "-" else read_file(file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CodegenError(f"not UTF-8 at byte {error.start}", remedy="pass JSON text", source=file) from None
    document = read(revision=revision)
    validator = Validator(document, lower(document))
    if name is not None and name not in validator.types:
        near = nearest(name, validator.types)
        raise CodegenError(
            f"{document.revision} has no definition and no method {name!r}", remedy=f"did you mean {near}?"
        )
    findings = validator.conversation(text) if name is None else validator.values(text, name)
    return ({"file": file, **asdict(finding)} for finding in findings)
