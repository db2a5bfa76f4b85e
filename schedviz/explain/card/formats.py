"""The formats of a card. Importing this loads no engine and no Pillow, so that a web server knows the formats."""

from __future__ import annotations

from typing import Final, Literal, get_args

from schedviz.explain.card.html import POLICY, html_of
from schedviz.explain.card.markdown import markdown_of
from schedviz.explain.card.model import Card
from schedviz.explain.card.theme import ThemeName

CardFormat = Literal["markdown", "html", "png"]
CARD_FORMATS: Final[tuple[CardFormat, ...]] = get_args(CardFormat)
MEDIA_TYPES: Final[dict[CardFormat, str]] = {
    "markdown": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "png": "image/png",
}
#: The content security policy of a card that a server returns as a page.
HTML_POLICY: Final = POLICY


def rendered(card: Card, form: CardFormat, theme: ThemeName = "light") -> bytes:
    """The card in a format. `theme` is that of the image; a page follows its reader's system."""
    match form:
        case "markdown":
            return markdown_of(card).encode()
        case "html":
            return html_of(card).encode()
        case "png":
            from schedviz.explain.card.png import png_of

            return png_of(card, theme)
