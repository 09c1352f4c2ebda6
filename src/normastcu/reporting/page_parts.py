"""What all pages of the report folder have in common: templates, escaping, hashes of scripts."""

import base64
import hashlib
import re
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

_NO_PART_OF_A_PAGE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

ENVIRONMENT = Environment(
    loader=PackageLoader("normastcu.reporting"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def template_part(name: str) -> str:
    """Return a file of the templates' folder that is no template."""
    assert ENVIRONMENT.loader is not None
    return ENVIRONMENT.loader.get_source(ENVIRONMENT, name)[0]


def content_hash(content: str) -> str:
    """Return the hash of a script or a style as a page's policy states it."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def clean(text: Any) -> str:
    """Return a text as a page can hold it; a missing one is empty."""
    return "" if pd.isna(text) else _NO_PART_OF_A_PAGE.sub("\ufffd", text)
