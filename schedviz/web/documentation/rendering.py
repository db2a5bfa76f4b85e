"""Renders a Markdown file of the documentation as HTML: raw HTML is text, headings have ids, links lead to other pages here."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Sequence
from typing import Final

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

#: The address below which the pages are.
ROOT: Final = "/docs/"
#: `<a id="…"></a>`, the only HTML in the files: an id that links from elsewhere use.
_ANCHOR: Final = re.compile("&lt;a id=&quot;([a-z0-9-]+)&quot;&gt;&lt;/a&gt;")


class Rendered(msgspec.Struct, frozen=True):
    """A page."""

    title: str
    #: HTML without the heading of the page.
    body: str
    #: Its headings of the second level: id and text.
    headings: tuple[tuple[str, str], ...] = ()


def render(text: str, name: str) -> Rendered:
    """The page `name` (`explain`, `decisions/0007-…`)."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    title = ""
    headings: list[tuple[str, str]] = []
    used: set[str] = set()
    for opening, inline in itertools.pairwise(tokens):
        if opening.type != "heading_open":
            continue
        heading = _plain(inline)
        if opening.tag == "h1" and not title:
            title = heading
        anchor = _unique(slug(heading), used)
        opening.attrSet("id", anchor)
        if opening.tag == "h2":
            headings.append((anchor, heading))
    for token in tokens:
        for child in token.children or ():
            _readdress(child, name)
    return Rendered(title or name, _html(markdown, tokens), tuple(headings))


def slug(heading: str) -> str:
    """The id of a heading, as the documentation site and GitHub make it."""
    text = re.sub(r"[^\w\s-]", "", heading.lower()).strip()
    return re.sub(r"[\s-]+", "-", text)


def _unique(anchor: str, used: set[str]) -> str:
    number, candidate = 0, anchor
    while candidate in used:
        number += 1
        candidate = f"{anchor}_{number}"
    used.add(candidate)
    return candidate


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline"))


def _readdress(token: Token, name: str) -> None:
    attribute = {"link_open": "href", "image": "src"}.get(token.type)
    if attribute is None:
        return
    address = str(token.attrGet(attribute) or "")
    if "://" in address or address.startswith(("#", "/", "mailto:")):
        return
    path, _, fragment = address.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
    if target.endswith(".md"):
        target = target.removesuffix(".md") + "/"
        target = "" if target == "index/" else target
    token.attrSet(attribute, f"{ROOT}{target}" + (f"#{fragment}" if fragment else ""))


def _html(markdown: MarkdownIt, tokens: Sequence[Token]) -> str:
    """The HTML of all tokens but the page's own heading. Tables can be scrolled."""
    tokens_ = list(tokens)
    if tokens_ and tokens_[0].type == "heading_open" and tokens_[0].tag == "h1":
        tokens_ = tokens_[3:]
    html: str = markdown.renderer.render(tokens_, markdown.options, {})
    html = _ANCHOR.sub(r'<a id="\1"></a>', html)
    return html.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
