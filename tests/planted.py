"""Schema files whose every name and value tries to be more than text on a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from emitted import DIALECT

HOSTILE = (
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    "<img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "<!-- --><svg/onload=alert(1)>",
    "&lt;b&gt; &amp;#60; &#x3c;b>",
    "{{ 7 * 7 }}{% raw %}",
    "]]> \u202e\u2028\x00",
    "x" * 300,
)
"""Names and values that would be more than text if a page let them."""


def hostile(folder: Path) -> tuple[Path, Path]:
    """Two schema files with hostile names for everything that has one, and their own names hostile too."""
    names = (folder / '<img src=x onerror=alert(1)>".json', folder / "javascript:alert(1)&lt;.json")
    for path, kind in zip(names, ("string", "number"), strict=True):
        members = {f"m{at} {name}": {"type": kind} for at, name in enumerate(HOSTILE)}
        values = {"enum": [kind, *(f"{kind} {name}" for name in HOSTILE)]}
        advice = {"deprecated": True, "description": f"@deprecated {HOSTILE[0]}"} if kind == "number" else {}
        message = {
            "type": "object",
            "properties": {"method": {"type": "string", "const": f"{kind}{HOSTILE[0]}"}},
            "required": ["method"],
        }
        definitions: dict[str, Any] = {
            "Members": {"type": "object", "properties": members, **advice},
            "Values": values,
            "AskRequest": message,
            "ClientRequest": {"anyOf": [{"$ref": "#/$defs/AskRequest"}]},
            "AskResult": {"type": "object", "properties": {}},
            **{
                f"D{at}{kind}{name}": {"type": "object", "properties": members}
                for at, name in enumerate(HOSTILE)
            },
        }
        path.write_text(json.dumps({"$schema": DIALECT, "$defs": definitions}), encoding="utf-8")
    return names
