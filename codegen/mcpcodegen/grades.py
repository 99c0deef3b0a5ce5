"""What each kind of change does to programs made for the old revision: a table, with the reason beside each row.

A change *breaks writers* when something they may write is refused by the new revision, and *breaks readers* when
something that the new revision allows is refused by them. What breaks nobody is additive where it offers something
new, and neutral where it does not. Members that a revision does not name are taken as not written: objects are
open, and a name is nobody's until a revision gives it a meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Grade: TypeAlias = Literal["breaking", "additive", "neutral"]

B: Grade = "breaking"
A: Grade = "additive"
N: Grade = "neutral"


@dataclass(frozen=True)
class Row:
    """The grades of one kind of change, the kind that undoes it, and why the grades are what they are."""

    readers: Grade
    writers: Grade
    undone_by: str
    reason: str


KINDS: Mapping[str, Row] = {
    "method-added": Row(B, A, "method-removed", "the receiver meets a method that it does not know"),
    "method-removed": Row(N, B, "method-added", "what the sender sends is a method no longer"),
    "method-renamed": Row(B, B, "method-renamed", "each side knows one name only"),
    "method-enclosed": Row(
        N, B, "method-freed", "what the sender sends is a method no longer; its message travels inside others"
    ),
    "method-freed": Row(
        B, A, "method-enclosed", "the receiver meets a method that it knew only inside others"
    ),
    "result-added": Row(B, A, "result-removed", "who asked may get an answer of a shape it does not know"),
    "result-removed": Row(N, B, "result-added", "an answer of this shape is one no longer"),
    "result-listed": Row(N, N, "result-unlisted", "the answers known before already include it"),
    "result-unlisted": Row(N, N, "result-listed", "the answers that remain still include it"),
    "gate-changed": Row(
        N, N, "gate-changed", "messages stay what they are; only when they may be sent differs"
    ),
    "definition-added": Row(A, A, "definition-removed", "what refers to it is a change of its own"),
    "definition-removed": Row(N, N, "definition-added", "what referred to it is a change of its own"),
    "definition-renamed": Row(N, N, "definition-renamed", "names of definitions do not travel"),
    "member-added": Row(A, A, "member-removed", "objects are open, and it may be left out"),
    "member-removed": Row(N, N, "member-added", "objects are open, and it could be left out"),
    "required-member-added": Row(A, B, "required-member-removed", "what is written without it is refused"),
    "required-member-removed": Row(B, N, "required-member-added", "readers count on it"),
    "closed-member-added": Row(B, A, "closed-member-removed", "the object admitted no such member"),
    "closed-member-removed": Row(N, B, "closed-member-added", "the object admits no such member any more"),
    "closed-required-member-added": Row(
        B,
        B,
        "closed-required-member-removed",
        "what is written with it, or without it, is refused by one side",
    ),
    "closed-required-member-removed": Row(
        B, B, "closed-required-member-added", "what is written with it, or without it, is refused by one side"
    ),
    "member-renamed": Row(N, N, "member-renamed", "objects are open, and either name may be left out"),
    "required-member-renamed": Row(B, B, "required-member-renamed", "each side demands its own name"),
    "member-required": Row(N, B, "member-optional", "what is written without it is refused"),
    "member-optional": Row(B, A, "member-required", "readers count on it"),
    "type-widened": Row(B, A, "type-narrowed", "values come that were refused before"),
    "type-narrowed": Row(N, B, "type-widened", "values are refused that were admitted before"),
    "type-changed": Row(B, B, "type-changed", "each side admits values that the other refuses"),
    "type-respelled": Row(N, N, "type-respelled", "both schemas admit the same values"),
    "null-admitted": Row(B, A, "null-refused", "null comes where it could not"),
    "null-refused": Row(N, B, "null-admitted", "null is refused where it was admitted"),
    "value-added": Row(B, A, "value-removed", "a strict reader refuses a value that it does not know"),
    "value-removed": Row(N, B, "value-added", "the value is refused"),
    "alternative-added": Row(B, A, "alternative-removed", "a strict reader refuses a shape it does not know"),
    "alternative-removed": Row(N, B, "alternative-added", "the shape is refused"),
    "alternative-listed": Row(N, N, "alternative-unlisted", "the union already admitted its values"),
    "alternative-unlisted": Row(N, N, "alternative-listed", "the union still admits its values"),
    "bound-loosened": Row(B, A, "bound-tightened", "values come that were out of bounds"),
    "bound-tightened": Row(N, B, "bound-loosened", "values are out of bounds that were not"),
    "constraint-removed": Row(B, A, "constraint-added", "values come that were refused before"),
    "constraint-added": Row(N, B, "constraint-removed", "values are refused that were admitted before"),
    "constraint-changed": Row(B, B, "constraint-changed", "nothing says which of the two admits more"),
    "note-changed": Row(N, N, "note-changed", "the keyword describes values and refuses none"),
    "deprecated": Row(N, N, "undeprecated", "it works as it did, for now"),
    "undeprecated": Row(N, N, "deprecated", "it works as it did"),
}
"""Every kind of change."""
