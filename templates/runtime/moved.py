"""Names of earlier revisions: they lead to what is called otherwise now, and say so."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping


def moved(module: str, names: Mapping[str, tuple[object, str]]) -> Callable[[str], object]:
    """The `__getattr__` of a module that has things under other names than before.

    `names` gives, by the name of before, what it stands for and the words of the DeprecationWarning.
    """

    def find(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        thing, notice = names[name]
        warnings.warn(notice, DeprecationWarning, stacklevel=2)
        return thing

    return find
