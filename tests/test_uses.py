"""Where code uses a package: by imports and names, and by nothing that only looks like one."""

from __future__ import annotations

import pytest

from mcpcodegen.uses import offered, used

PACKAGE = {
    "__init__.py": "LATEST = '2'\n",
    "latest.py": "from .v2 import types\n",
    "v2/__init__.py": "REVISION = '2'\n",
    "v2/types.py": "class Tool:\n    title: str | None = None\n    def f(self): ...\n\nText = str\n",
    "v2/server.py": "class ServerHandlers:\n    async def list_tools(self, params, ctx): ...\n",
    "server/__init__.py": "from .app import Server\n",
    "server/app.py": "from ..v2 import types\n\nclass Server:\n    def tool(self): ...\n",
    "py.typed": "",
}


def names(text: str, path: str = "src/mine/handlers.py") -> list[str]:
    """The uses in one file, as `line name`."""
    return [f"{use.line} {use.name}" for use in used(path, text, "src/mine/_mcp")]


def test_a_package_offers_its_modules_what_they_hold_and_its_members() -> None:
    offer = offered(PACKAGE)
    assert {
        "LATEST",
        "v2",
        "v2.types",
        "v2.types.Tool",
        "v2.types.Tool.title",
        "v2.types.Tool.f",
        "v2.types.Text",
        "v2.server.ServerHandlers.list_tools",
        "server.app.Server.tool",
    } <= offer.names


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("latest.types.Tool.title", True),
        ("server.Server.tool", True),
        ("server.app.types.Text", True),
        ("latest.types.Gone", False),
        ("v2.types.Tool.gone", False),
        ("v3", False),
    ],
)
def test_a_name_is_found_through_every_module_that_hands_it_on(name: str, there: bool) -> None:
    assert offered(PACKAGE).has(name) is there


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from ._mcp.v2 import types\ntypes.Tool", ["1 v2.types", "2 v2.types.Tool"]),
        (
            "from ._mcp.v2.types import Tool as T\nT(title='x')",
            ["1 v2.types.Tool", "2 v2.types.Tool", "2 v2.types.Tool.title"],
        ),
        ("from mine._mcp.v2 import types as t\nx: t.Text", ["1 v2.types", "2 v2.types.Text"]),
        ("import mine._mcp.v2.types\nmine._mcp.v2.types.Tool", None),
        ("import mine._mcp.v2.types as t\nt.Tool", ["1 v2.types", "2 v2.types.Tool"]),
        (
            "def f():\n    from ._mcp.v2 import types\n    return types.Text",
            ["2 v2.types", "3 v2.types.Text"],
        ),
        (
            "from ._mcp.v2.server import ServerHandlers\n\n\nclass H(ServerHandlers[object]):\n    async def list_tools(self): ...",
            [
                "1 v2.server.ServerHandlers",
                "4 v2.server.ServerHandlers",
                "5 v2.server.ServerHandlers.list_tools",
            ],
        ),
        (
            "from ._mcp.v2.types import Tool\n\ndef f(tool: Tool) -> list[Tool]:\n    return [tool]",
            ["1 v2.types.Tool", "3 v2.types.Tool"],
        ),
        (
            "from ._mcp.v2.types import *\n\nclass Mine: ...\n\nx: Tool = Mine()",
            ["1 v2.types", "5 v2.types.Tool"],
        ),
        ("import mine._mcp.v2.types\nmine._mcp.v2.types.Tool().x", ["1 v2.types", "2 v2.types.Tool"]),
        ("from ._mcp import *\nv2.types.Tool", ["2 v2.types.Tool"]),
        ("from . import _mcp\n_mcp.v2.types.Tool", None),
        ("types = 1\ntypes.Tool\n'_mcp.v2.types.Tool'  # _mcp.v2", []),
        ("from .other import types\ntypes.Tool", []),
        ("from other._mcp.v2 import types\ntypes.Tool", []),
        ("from .... import types", []),
    ],
)
def test_a_use_is_what_an_import_leads_to(text: str, found: list[str] | None) -> None:
    assert names(text) == found if found is not None else "2 v2.types.Tool" in names(text)


def test_a_file_in_another_folder_reaches_the_package_by_its_name() -> None:
    text = "from mine._mcp.v2 import types\nfrom ._mcp import v2"
    assert names(text, "tests/test_mine.py") == ["1 v2.types"]


def test_what_is_not_python_is_refused() -> None:
    with pytest.raises(SyntaxError):
        used("src/mine/x.py", "<<<<<<< yours", "src/mine/_mcp")
