"""Brief results: one text and nothing else, written without the writer of the types.

It is what most tools return, and writing takes a quarter of the time so.
"""

from __future__ import annotations

from typing import Final

from pydantic_core import to_json

from ..latest import types
from ..wire import WireModel

OF_RESULT: Final = {"content", "result_type"}
OF_BLOCK: Final = {"text", "type"}
"""The members that are set where a result is brief, and no others."""


def written(result: WireModel) -> bytes | None:
    """A brief result, as the writer of the types has it; None for any other."""
    if type(result) is not types.CallToolResult or len(result.content) != 1:
        return None
    block = result.content[0]
    if type(block) is not types.TextContent or result.__pydantic_extra__ or block.__pydantic_extra__:
        return None
    if result.__pydantic_fields_set__ != OF_RESULT or block.__pydantic_fields_set__ != OF_BLOCK:
        return None
    return b'{"content":[{"text":%b,"type":"text"}],"resultType":"complete"}' % to_json(block.text)
