"""A page as a tree of elements, read strictly: every tag that is opened is closed, in its order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TypeAlias

VOID = frozenset({"br", "input", "link", "meta", "wbr"})


@dataclass
class Element:
    """An element with its attributes and what stands in it."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list["Element | str"])

    @property
    def text(self) -> str:
        """All the text in it, white space as a browser shows it."""
        return " ".join(self._text().split())

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def all(self, tag: str = "", *classes: str) -> list[Element]:
        """The elements in it with a tag and classes, in the order of the page."""
        return [
            one for one in self.walk() if (not tag or one.tag == tag) and set(classes) <= set(one.classes)
        ]

    def walk(self) -> Iterator[Element]:
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child.walk()

    def _text(self) -> str:
        return "".join(child if isinstance(child, str) else child._text() for child in self.children)


Attributes: TypeAlias = list[tuple[str, str | None]]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute twice in <{tag}>: {names}"
        found = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(found)
        if tag not in VOID:
            self.open.append(found)

    def handle_endtag(self, tag: str) -> None:
        found = self.open.pop()
        assert found.tag == tag, f"</{tag}> where <{found.tag}> is open"

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def tree(text: str) -> Element:
    """The page as one element without a tag."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert len(reader.open) == 1, f"not closed: {[one.tag for one in reader.open[1:]]}"
    return reader.open[0]
