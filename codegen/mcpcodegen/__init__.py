"""Generates typed Python for the Model Context Protocol from its published schema."""

__version__ = "0.1.0"
