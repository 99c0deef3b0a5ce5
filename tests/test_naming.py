"""Names: what Python calls what the wire calls otherwise."""

from __future__ import annotations

import keyword

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpcodegen.naming import class_name, constant_name, member_name, method_name, module_name, pascal


@pytest.mark.parametrize(
    ("wire", "python"),
    [
        # The letters of the definition, where Python allows them.
        ("Tool", "Tool"),
        ("JSONRPCRequest", "JSONRPCRequest"),
        ("URLElicitationRequiredError", "URLElicitationRequiredError"),
        ("a_b", "a_b"),
        ("名前", "名前"),
        # Its words joined, where it does not.
        ("a/b", "AB"),
        ("../x", "X"),
        ("tool.name", "ToolName"),
        ("_Base", "Base"),
        ("9lives", "n9lives"),
        # What Python reads as one name is one name.
        ("ﬁn", "Fin"),
        # Names that are taken.
        ("class", "class_"),
        ("None", "None_"),
        ("str", "str_"),
        ("ValueError", "ValueError_"),
        ("Any", "Any_"),
        ("Field", "Field_"),
        ("WireModel", "WireModel_"),
        ("wire_tags", "wire_tags_"),
        # Names that cannot be spelled.
        ("", ""),
        ("/", ""),
        ("___", ""),
    ],
)  # fmt: skip
def test_a_class_is_called_what_its_definition_is_called(wire: str, python: str) -> None:
    assert class_name(wire) == python


@pytest.mark.parametrize(
    ("wire", "python"),
    [
        ("inputSchema", "input_schema"),
        ("mimeType", "mime_type"),
        ("ttlMs", "ttl_ms"),
        ("URL", "url"),
        ("HTTPServer", "http_server"),
        ("x1", "x1"),
        ("é", "é"),
        # Leading underscores would make it private.
        ("_meta", "meta"),
        ("$ref", "ref"),
        # Anything that no name may hold parts two words.
        ("aB", "a_b"),
        ("a-b", "a_b"),
        ("a.b", "a_b"),
        ("cik-A", "cik_a"),
        ("Notion-Version", "notion_version"),
        ("fields[mesh]", "fields_mesh"),
        ("{{ x }}", "x"),
        ("9", "n9"),
        # The prefix of a vendor is not part of the name.
        ("io.modelcontextprotocol/clientInfo", "client_info"),
        ("com.example/a", "a"),
        ("a/b", "a_b"),
        # Keywords, and what the base class or an annotation needs.
        ("class", "class_"),
        ("from", "from_"),
        ("None", "none"),
        ("list", "list_"),
        ("str", "str_"),
        ("copy", "copy_"),
        ("schema", "schema_"),
        ("$schema", "schema_"),
        ("model_config", "model_config_"),
        ("model_anything", "model_anything_"),
        ("wire_tags", "wire_tags_"),
        # Names that only look taken.
        ("type", "type"),
        ("id", "id"),
        ("match", "match"),
        ("items", "items"),
        ("date", "date"),
        ("self", "self"),
        # Names that cannot be spelled.
        ("", ""),
        ('"""', ""),
        ("--", ""),
    ],
)  # fmt: skip
def test_a_member_is_snake_case_and_hides_nothing(wire: str, python: str) -> None:
    assert member_name(wire) == python


@pytest.mark.parametrize(
    ("message", "suffix", "python"),
    [
        ("CallToolRequest", "Request", "call_tool"),
        ("ListResourceTemplatesRequest", "Request", "list_resource_templates"),
        ("ProgressNotification", "Notification", "progress"),
        ("ClassRequest", "Request", "class_"),
        ("TypesRequest", "Request", "types_"),
        ("MethodsRequest", "Request", "methods_"),
        ("Request", "Request", ""),
    ],
)
def test_a_method_is_called_by_its_message_without_the_suffix(message: str, suffix: str, python: str) -> None:
    assert method_name(message, suffix) == python


@pytest.mark.parametrize(
    ("python", "kind", "constant"),
    [
        ("call_tool", "request", "CALL_TOOL"),
        ("progress", "notification", "PROGRESS_NOTIFICATION"),
        ("client_requests", "request", "CLIENT_REQUESTS_"),
        ("class_", "request", "CLASS_"),
    ],
)
def test_a_constant_leaves_the_tables_their_names(python: str, kind: str, constant: str) -> None:
    assert constant_name(python, kind) == constant


@pytest.mark.parametrize(
    ("wire", "part"), [("inputSchema", "InputSchema"), ("_meta", "Meta"), ("a-b", "AB"), ("$ref", "Ref")]
)
def test_a_nested_class_takes_the_member_for_its_last_name(wire: str, part: str) -> None:
    assert pascal(wire) == part


@pytest.mark.parametrize(
    ("revision", "module"), [("2026-07-28", "v2026_07_28"), ("2025-11-25-rc", "v2025_11_25_rc")]
)
def test_a_revision_has_a_package(revision: str, module: str) -> None:
    assert module_name(revision) == module


@given(st.text(max_size=12))
@settings(
    derandomize=True, max_examples=300, deadline=None
)  # the first call of a run is slow on a busy machine
def test_whatever_the_wire_says_is_a_name_or_nothing(wire: str) -> None:
    for name in (class_name(wire), member_name(wire)):
        assert name == "" or (name.isidentifier() and not keyword.iskeyword(name) and name[0] != "_")
