"""A card as a PNG image, drawn with Pillow: no browser is needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from importlib import resources
from io import BytesIO
from typing import Final, Literal

from PIL import Image, ImageDraw, ImageFont, features

from schedviz.explain.advice_label import ARROW, NEXT_STEP
from schedviz.explain.card.html import count_of, heading_of, quote_of
from schedviz.explain.card.model import CODE, Bar, Card, Chart, Fix, Line, Reason
from schedviz.explain.card.theme import THEMES, Theme, ThemeName

#: Device pixels per unit of length.
_SCALE: Final = 2
_WIDTH: Final = 760
_PADDING: Final = 32
_INNER: Final = _WIDTH - 2 * _PADDING
#: An image is read at a glance. Reasons that are drawn with details; more have one line each.
_MAX_DETAILED_REASONS: Final = 4
#: Reasons that are drawn at all; more are counted.
_MAX_REASONS: Final = 16
#: Changes that are drawn; more are counted.
_MAX_FIXES: Final = 3
_MAX_NAMES: Final = 5
#: Characters of a text, and lines of a paragraph, that are drawn: of the scheduler's message fewer than of an answer.
_MAX_TEXT_LENGTH: Final = 1_200
_MAX_ANSWER_LINES: Final = 14
_MAX_LINES: Final = 6
#: Names are drawn as they are written: the fonts' alternates, which only the Raqm layout applies, turn `2x9` into a multiplication.
_FEATURES: Final = ["-calt", "-liga"] if features.check("raqm") else None
#: Characters that the fonts lack, and what stands for them.
_REPLACED: Final = str.maketrans({"≈": "~", "≥": ">=", "≤": "<=", "→": "->", "\t": " ", "\n": " ", "\r": " "})
_SPACES: Final = re.compile(r"(\s+)")
#: Where a name or a command may be broken.
_BREAKS: Final = re.compile(r"[^-/.\s]*+[-/.\s]|[^-/.\s]++")

Weight = Literal["regular", "medium", "bold", "code"]
_WEIGHTS: Final[dict[Weight, int]] = {"regular": 400, "medium": 540, "bold": 650, "code": 400}
Colour = str


def png_of(card: Card, theme: ThemeName = "light") -> bytes:
    """The image, 1,520 pixels wide."""
    colours = THEMES[theme]
    height = _Canvas(None, colours).draw(card)
    image = Image.new("RGB", (_WIDTH * _SCALE, height * _SCALE), colours.paper)
    _Canvas(ImageDraw.Draw(image), colours).draw(card)
    out = BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


class _Canvas:
    """Draws from top to bottom. Without `drawing`, it only measures."""

    def __init__(self, drawing: ImageDraw.ImageDraw | None, theme: Theme) -> None:
        self._drawing = drawing
        self._theme = theme
        #: Where the next part begins.
        self._y = 0

    def draw(self, card: Card) -> int:
        """Draw the card. Returns its height."""
        self._y = 28
        self._head(card)
        self._fixes(card.fixes)
        self._strip(card)
        for number, reason in enumerate(card.reasons[:_MAX_DETAILED_REASONS]):
            self._reason(reason, card.unit, self._colour(number), card.label_of(reason))
        if card.others:
            self._y += 12
            self._box(_PADDING, self._y + 6, 10, 10, fill=self._theme.line_strong, radius=2)
            self._paragraph(f"Also: {card.others}.", self._theme.ink_2, leading=21, left=_PADDING + 18)
        self._in_one_line(card)
        self._foot(card)
        return self._y

    # Parts.

    def _head(self, card: Card) -> None:
        if not card.subject:
            self._paragraph(card.sentence, self._theme.ink, size=24, weight="bold", leading=32)
        else:
            self._subject(card)
        if card.todo:
            self._y += 10
            self._paragraph(NEXT_STEP, self._theme.ink, size=15, weight="bold", leading=23)
            self._paragraph(card.todo, self._theme.ink, size=15, leading=23, lines=_MAX_ANSWER_LINES)
        if card.note:
            self._y += 6
            self._paragraph(card.note, self._theme.ink_2, leading=21)

    def _subject(self, card: Card) -> None:
        end = _length(card.subject, 24, "bold") + 14
        pill = _length(card.standing, 13, "medium") + 20
        self._paragraph(card.subject, self._theme.ink, size=24, weight="bold", leading=32, break_anywhere=True)
        if end + pill <= _INNER:
            self._pill(card.standing, _PADDING + end, self._y - 27, pill)
        else:
            self._pill(card.standing, _PADDING, self._y + 4, pill)
            self._y += 26
        self._y += 8
        if card.pods:
            self._paragraph(_named(card.pods), self._theme.ink_2, leading=21)
        if card.sentence:
            self._paragraph(card.sentence, self._theme.ink, size=15, leading=23, lines=_MAX_ANSWER_LINES)

    def _pill(self, words: str, x: float, y: float, width: float) -> None:
        colour = self._colour(0)
        self._box(x, y, width, 22, outline=colour, radius=11)
        self._text(x + 10, y + 3, words, colour, size=13, weight="medium")

    def _strip(self, card: Card) -> None:
        whole = sum(reason.count for reason in card.reasons) + card.other_nodes
        if not whole:
            return
        self._y += 20
        x = float(_PADDING)
        for number, reason in enumerate(card.reasons):
            width = _INNER * reason.count / whole
            self._box(x, self._y, max(1.0, width - 2), 10, fill=self._colour(number))
            x += width
        if card.other_nodes:
            self._box(x, self._y, _INNER * card.other_nodes / whole, 10, fill=self._theme.line_strong)
        self._y += 10

    def _reason(self, reason: Reason, unit: str, colour: Colour, label: str) -> None:
        self._y += 18
        plugin = _cut(reason.plugin, 220, 12)
        room = _INNER - (_length(plugin, 12) + 16 if plugin else 0)
        if plugin:
            self._text(_PADDING + _INNER - _length(plugin, 12), self._y + 3, plugin, self._theme.ink_3, size=12)
        self._box(_PADDING, self._y + 6, 10, 10, fill=colour, radius=2)
        heading = heading_of(reason, unit)
        self._paragraph(heading, self._theme.ink, size=15, weight="bold", leading=22, left=_PADDING + 18, width=room - 18)
        if quote := quote_of(reason, unit):
            self._paragraph(f"{reason.writer}: {quote}", self._theme.ink_3, size=12, leading=18)
        for line in reason.lines:
            self._paragraph(_words(line), self._theme.ink, leading=21)
        for chart in reason.charts:
            self._chart(chart)
        if reason.nodes and not reason.charts:
            self._paragraph(f"on {_named(reason.nodes)}", self._theme.ink_2, leading=21)
        if reason.todo:
            if label == ARROW:
                self._draw_arrow(_PADDING + 2, self._y + 10)
                self._paragraph(reason.todo, self._theme.ink, leading=21, left=_PADDING + 22)
            else:
                self._paragraph(f"{label} {reason.todo}", self._theme.ink, leading=21)
        for command in reason.commands:
            self._command(command)
        if reason.caution:
            self._paragraph(f"Note: {reason.caution}", self._theme.ink_2, leading=21)

    def _in_one_line(self, card: Card) -> None:
        """The reasons that have no room for more than their names."""
        self._y += 12 if len(card.reasons) > _MAX_DETAILED_REASONS else 0
        shown = card.reasons[_MAX_DETAILED_REASONS:_MAX_REASONS]
        for number, reason in enumerate(shown, _MAX_DETAILED_REASONS):
            self._box(_PADDING, self._y + 5, 10, 10, fill=self._colour(number), radius=2)
            names = _named([name for line in reason.lines for name in line.names])
            words = f"{heading_of(reason, card.unit)}{f': {names}' if names else ''}"
            self._text(_PADDING + 18, self._y + 1, _cut(words.replace("`", ""), _INNER - 18, 14), self._theme.ink, size=14)
            self._y += 24
        if (left := len(card.reasons) - _MAX_REASONS) > 0:
            self._paragraph(f"and {count_of(left, 'more reasons')}", self._theme.ink_2)

    def _chart(self, chart: Chart) -> None:
        self._y += 6
        labels = [_cut(bar.label, 220, 12, "code") for bar in chart.bars]
        left = _PADDING + max(_length(label, 12, "code") for label in labels) + 12
        right = max(_length(bar.text, 13) for bar in chart.bars) + 12
        width = _PADDING + _INNER - right - left
        for bar, label in zip(chart.bars, labels, strict=True):
            self._text(_PADDING, self._y + 1, label, self._theme.ink_2, size=12, weight="code")
            self._text(_PADDING + _INNER - right + 12, self._y + 1, bar.text, self._theme.ink_2, size=13)
            self._bar(bar, chart, left, width / chart.longest)
            self._y += 20
        key = "filled: used · hatched: what this pod requests · line: allocatable"
        if chart.kind == "spread":
            key = "matching pods of each domain · line: the most that a domain may have now"
        self._y += 2
        self._paragraph(key, self._theme.ink_3, size=12, leading=18)

    def _bar(self, bar: Bar, chart: Chart, left: float, unit: float) -> None:
        top = self._y + 4
        used, limit = left + unit * max(0, bar.used), left + unit * max(0, bar.limit)
        if bar.limit:
            self._box(left, top, limit - left, 10, fill=self._theme.sunk, outline=self._theme.line_strong)
        if chart.kind == "resource":
            self._box(left, top, used - left, 10, fill=self._theme.used)
            self._hatched(used, top, unit * chart.requested, 10, self._colour(0))
        else:
            self._box(left, top, used - left, 10, fill=self._colour(0) if bar.used >= bar.limit else self._theme.success)
        self._box(limit - 1, top - 2, 2, 14, fill=self._theme.ink)

    def _fixes(self, fixes: Sequence[Fix]) -> None:
        if not fixes:
            return
        self._y += 22
        self._paragraph("Changes that make the pod schedulable", self._theme.ink, size=15, weight="bold", leading=22)
        for fix in fixes[:_MAX_FIXES]:
            self._y += 4
            self._draw_tick(_PADDING + 3, self._y + 5)
            words = f"{fix.what} {fix.effect}" if fix.effect else fix.what
            self._paragraph(words, self._theme.ink, leading=21, left=_PADDING + 22)
            for command in fix.commands:
                self._command(command)
        if (left := len(fixes) - _MAX_FIXES) > 0:
            self._paragraph(f"and {count_of(left, 'other changes')}", self._theme.ink_2, leading=21, left=_PADDING + 22)

    def _command(self, command: str) -> None:
        self._y += 2
        left, width = _PADDING + 22, _INNER - 22
        lines = [part for line in command.splitlines() for part in _wrapped(line, width - 24, 12, "code", break_anywhere=True)]
        self._box(left, self._y, width, 18 * len(lines) + 12, fill=self._theme.sunk, radius=4)
        for number, line in enumerate(lines):
            self._text(left + 12, self._y + 7 + 18 * number, line, self._theme.ink, size=12, weight="code")
        self._y += 18 * len(lines) + 16

    def _foot(self, card: Card) -> None:
        self._y += 20
        self._box(_PADDING, self._y, _INNER, 1, fill=self._theme.line)
        self._y += 10
        if card.shown_message:
            simulated = "In the simulation: " if card.is_only_simulated else ""
            self._paragraph(f"{simulated}{card.shown_message}", self._theme.ink_2, size=12, weight="code", leading=18)
            self._y += 4
        for finding in card.findings:
            self._paragraph(f"Finding: {finding}", self._theme.ink_2, size=12, leading=18)
            self._y += 4
        if card.said:
            said = "The cluster's scheduler reported the same message." if card.matches_cluster_message else f"In your cluster: {card.said}"
            self._paragraph(said, self._theme.ink_2, size=12, leading=18)
        if card.disagreement:
            self._paragraph(f"The simulation differs: {card.disagreement}.", self._theme.ink_2, size=12, leading=18)
        computed = f"computed by a simulation of {card.scheduler}" if card.simulated else ""
        verified = "each change verified by a dry run" if card.fixes else ""
        self._paragraph(" · ".join(filter(None, (card.origin, "schedviz", computed, verified))), self._theme.ink_3, size=12, leading=16)
        self._y += 20

    # Primitives. Lengths are in units; `_SCALE` pixels each.

    def _colour(self, number: int) -> Colour:
        return self._theme.reasons[min(number, len(self._theme.reasons) - 1)]

    def _paragraph(
        self,
        words: str,
        colour: Colour,
        *,
        size: int = 14,
        weight: Weight = "regular",
        leading: int = 20,
        left: int = _PADDING,
        width: float = 0,
        break_anywhere: bool = False,
        lines: int = _MAX_LINES,
    ) -> None:
        """A text of several lines. Its code is drawn in the font of code, unless all of it is."""
        width = width or _PADDING + _INNER - left
        if weight != "code" and CODE.search(words):
            parts = _with_code(words, width, size, weight)[:lines]
        else:
            parts = [[(line, weight)] for line in _wrapped(words, width, size, weight, break_anywhere=break_anywhere, most=lines)]
        for line in parts:
            x = float(left)
            for part, its_weight in line:
                smaller = _size_of(its_weight, size, weight)
                self._text(x, self._y + (leading - size) / 2 - 1, part, colour, size=smaller, weight=its_weight)
                x += _length(part, smaller, its_weight)
            self._y += leading

    def _text(self, x: float, y: float, words: str, colour: Colour, *, size: int, weight: Weight = "regular") -> None:
        if self._drawing is not None:
            self._drawing.text((x * _SCALE, y * _SCALE), _plain(words), fill=colour, font=_font(size, weight), features=_FEATURES)

    def _box(
        self, x: float, y: float, width: float, height: float, *, fill: Colour | None = None, outline: Colour | None = None, radius: int = 0
    ) -> None:
        if self._drawing is None or width <= 0:
            return
        corners = (x * _SCALE, y * _SCALE, (x + width) * _SCALE - 1, (y + height) * _SCALE - 1)
        if corners[2] < corners[0]:
            return
        self._drawing.rounded_rectangle(corners, radius * _SCALE, fill=fill, outline=outline, width=_SCALE if outline else 0)

    def _hatched(self, x: float, y: float, width: float, height: float, colour: Colour) -> None:
        """Diagonal lines in a frame."""
        if self._drawing is None or width <= 0:
            return
        left, top = round(x * _SCALE), round(y * _SCALE)
        right, bottom = max(left + 1, round((x + width) * _SCALE) - 1), round((y + height) * _SCALE) - 1
        tall = bottom - top
        for start in range(left - tall, right, 6 * _SCALE):
            # From the bottom left to the top right, cut at the frame.
            begin, end = max(start, left), min(start + tall, right)
            if begin < end:
                self._drawing.line((begin, bottom - (begin - start), end, bottom - (end - start)), fill=colour, width=_SCALE)
        self._drawing.rectangle((left, top, right, bottom), outline=colour, width=_SCALE)

    def _draw_arrow(self, x: float, y: float) -> None:
        if self._drawing is not None:
            for points in ([(x, y), (x + 11, y)], [(x + 7, y - 4), (x + 11, y), (x + 7, y + 4)]):
                scaled = [(across * _SCALE, down * _SCALE) for across, down in points]
                self._drawing.line(scaled, fill=self._theme.ink, width=_SCALE, joint="curve")

    def _draw_tick(self, x: float, y: float) -> None:
        if self._drawing is not None:
            points = [(x * _SCALE, (y + 5) * _SCALE), ((x + 4) * _SCALE, (y + 9) * _SCALE), ((x + 11) * _SCALE, y * _SCALE)]
            self._drawing.line(points, fill=self._theme.success, width=2 * _SCALE, joint="curve")


def _words(line: Line) -> str:
    if not line.names:
        return line.text
    return _named(line.names) + (f": {line.text}" if line.text else "")


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def _plain(words: str) -> str:
    """What can be drawn: one line, without control characters."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in words[:_MAX_TEXT_LENGTH].translate(_REPLACED))


@lru_cache(maxsize=32)
def _font(size: int, weight: Weight) -> ImageFont.FreeTypeFont:
    name = "jetbrains-mono.woff2" if weight == "code" else "inter.woff2"
    font = ImageFont.truetype(BytesIO(resources.files(__package__).joinpath("fonts", name).read_bytes()), size * _SCALE)
    font.set_variation_by_axes([_WEIGHTS[weight]])
    return font


def _length(words: str, size: int, weight: Weight = "regular") -> float:
    return _font(size, weight).getlength(_plain(words), features=_FEATURES) / _SCALE


def _cut(words: str, width: float, size: int, weight: Weight = "regular") -> str:
    """The words, shortened to a width."""
    return _fitting(_plain(words), lambda part: _length(part, size, weight) <= width)


def _fitting(words: str, fits: Callable[[str], bool]) -> str:
    if fits(words):
        return words
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(words[:middle] + "…") else (low, middle - 1)
    return words[:low] + "…"


def _with_code(words: str, width: float, size: int, weight: Weight) -> list[list[tuple[str, Weight]]]:
    """Lines of at most this width, each in parts of one weight, which follow each other without a gap."""
    lines: list[list[tuple[str, Weight]]] = [[]]
    used = 0.0
    for word, is_spaced in _words_with_code(words, width, size, weight):
        room = sum(_length(part, _size_of(its_weight, size, weight), its_weight) for part, its_weight in word)
        line = lines[-1]
        # A space is as wide as in the font of the words around it.
        of_space = word[0][1] if line and line[-1][1] == word[0][1] else weight
        gap = _length(" ", _size_of(of_space, size, weight), of_space) if used and is_spaced else 0.0
        if used and used + gap + room > width:
            lines.append([*word])
            used = room
            continue
        line += [(" ", of_space), *word] if gap else word
        used += gap + room
    return lines


def _size_of(its_weight: Weight, size: int, weight: Weight) -> int:
    """Code among words is smaller."""
    return size - 1 if its_weight == "code" != weight else size


def _words_with_code(words: str, width: float, size: int, weight: Weight) -> Iterator[tuple[list[tuple[str, Weight]], bool]]:
    """What stays in one line, in parts of one weight, such as a bracket and the code after it; and whether a space precedes it.

    What is longer than a line is divided.
    """
    glued: list[list[tuple[str, Weight]]] = []
    ends_with_space = True
    for number, part in enumerate(CODE.split(words)):
        its_weight: Weight = "code" if number % 2 else weight
        for token in _SPACES.split(_plain(part)):
            if token.isspace():
                ends_with_space = True
            elif token:
                if ends_with_space:
                    glued.append([])
                glued[-1].append((token, its_weight))
                ends_with_space = False
    for word in glued:
        if sum(_length(part, _size_of(its_weight, size, weight), its_weight) for part, its_weight in word) <= width:
            yield word, True
            continue
        is_first = True
        for part, its_weight in word:
            fits = partial(_fits, width=width, size=_size_of(its_weight, size, weight), weight=its_weight)
            for piece in _pieces([part], fits):
                yield [(piece, its_weight)], is_first
                is_first = False


def _wrapped(words: str, width: float, size: int, weight: Weight, *, break_anywhere: bool = False, most: int = _MAX_LINES) -> list[str]:
    """Lines of at most this width; the last of the most lines ends in an ellipsis."""
    fits = partial(_fits, width=width, size=size, weight=weight)
    lines: list[str] = []
    line = ""
    for word in _pieces(_BREAKS.findall(_plain(words)), fits) if break_anywhere else _pieces(_plain(words).split(" "), fits):
        joined = f"{line}{'' if break_anywhere else ' '}{word}" if line else word
        if fits(joined):
            line = joined
        else:
            lines.append(line)
            line = word
    lines.append(line)
    if len(lines) > most:
        lines = [*lines[: most - 1], _fitting(f"{lines[most - 1]} …", fits)]
    return lines


def _fits(words: str, *, width: float, size: int, weight: Weight) -> bool:
    return _length(words, size, weight) <= width


def _pieces(words: Sequence[str], fits: Callable[[str], bool]) -> list[str]:
    """The words; one that is longer than a line is divided."""
    found: list[str] = []
    for word in words:
        part = ""
        for sign in word if not fits(word) else ():
            if part and not fits(part + sign):
                found.append(part)
                part = ""
            part += sign
        found.append(part or word)
    return found
