"""Where the hand-written content lies."""

from pathlib import Path

CONTENT = Path(__file__).resolve().parent / "content"
