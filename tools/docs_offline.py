# ruff: noqa: INP001 (mkdocs loads it by its path)
"""A hook of mkdocs: what the theme would fetch from elsewhere, for search from files, comes from docs/assets."""

from __future__ import annotations

from typing import Any

_ELSEWHERE = "https://unpkg.com/iframe-worker/shim"
_HERE = "assets/iframe-worker-shim.js"


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """The page as it is written."""
    depth = page.file.dest_uri.count("/")
    return output.replace(_ELSEWHERE, "../" * depth + _HERE)


def on_post_template(output_content: str, **_: Any) -> str:
    """The same for what is no page, such as 404.html, which lies at the top."""
    return output_content.replace(_ELSEWHERE, _HERE)
