# ruff: noqa: INP001 (mkdocs loads it by its path)
"""A hook of mkdocs: serves the script that the theme loads from a CDN, for search in local files, from docs/assets."""

from __future__ import annotations

from typing import Any

_ELSEWHERE = "https://unpkg.com/iframe-worker/shim"
_HERE = "assets/iframe-worker-shim.js"


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Replace the URL in a page."""
    depth = page.file.dest_uri.count("/")
    return output.replace(_ELSEWHERE, "../" * depth + _HERE)


def on_post_template(output_content: str, **_: Any) -> str:
    """Replace the URL in a template at the top level, such as 404.html."""
    return output_content.replace(_ELSEWHERE, _HERE)
