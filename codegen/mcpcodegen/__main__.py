"""`python -m mcpcodegen` is `mcp-codegen`."""

from .cli import main

main()
