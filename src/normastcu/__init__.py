"""Build an IR test collection and measure whether LLM judges can replace its assessors."""

__version__ = "0.1.0"
