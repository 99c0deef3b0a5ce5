"""Everything that can go wrong, as one tree of exceptions whose text is one line a person can act on.

A message names the place (file and JSON pointer), what was found there and what to do about it. Only `cli`
catches `CodegenError`; every other room raises.
"""

from __future__ import annotations


class CodegenError(Exception):
    """A problem that the user can mend; shown as one line, exit code 2."""

    def __init__(self, problem: str, *, remedy: str, source: str = "", pointer: str | None = None) -> None:
        """Keep the four parts apart so that tools can read them.

        `problem` says what was found, `remedy` what to do, `source` names the file and `pointer` is a JSON
        pointer into it (the empty string is the whole document, None is no place in a document).
        """
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy
        self.source = source
        self.pointer = pointer

    def __str__(self) -> str:
        place = self.source + ("" if self.pointer is None else f"#{self.pointer}")
        text = f"{place}: {self.problem}; {self.remedy}" if place else f"{self.problem}; {self.remedy}"
        return printable(text)


class SchemaError(CodegenError):
    """The schema document cannot be used as it stands."""


class RevisionError(CodegenError):
    """A protocol revision is unknown, or its pinned data does not hold."""


class CorrectionError(CodegenError):
    """A row of the corrections table no longer describes the document."""


class ProjectError(CodegenError):
    """A project cannot be written as asked (its name, its place)."""


class OutputError(CodegenError):
    """The output folder cannot be read or written."""


class EmitError(CodegenError):
    """What was generated is not valid Python: a fault of the generator, shown with the offending line."""


def printable(text: str) -> str:
    """`text` on one line, control and bidirectional characters shown as escapes, at most 600 characters."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return shown if len(shown) <= 600 else f"{shown[:400]} [...] {shown[-190:]}"
