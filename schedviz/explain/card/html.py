"""A card as a static HTML page: complete in one file, without scripts, light or dark as the reader's system is."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from typing import Final

from schedviz.explain.advice_label import NEXT_STEP
from schedviz.explain.card.model import CODE, Bar, Card, Chart, Fix, Line, Reason
from schedviz.explain.card.theme import THEMES, Theme

#: Nodes and pods named per line.
_MAX_NAMES: Final = 5
_LAST: Final = len(THEMES["light"].reasons) - 1


def _colours(theme: Theme) -> str:
    named = {name: getattr(theme, name) for name in theme.__struct_fields__ if name != "reasons"}
    named |= {f"r{number}": colour for number, colour in enumerate(theme.reasons)}
    return "".join(f"--{name.replace('_', '-')}:{colour};" for name, colour in named.items())


_STYLE: Final = "\n".join(
    (
        f":root {{color-scheme: light dark; {_colours(THEMES['light'])}}}",
        f"@media (prefers-color-scheme: dark) {{:root {{{_colours(THEMES['dark'])}}}}}",
        *(f".r{number} {{fill: var(--r{number})}}" for number in range(_LAST + 1)),
        resources.files(__package__).joinpath("card.css").read_text("utf-8"),
    )
)
#: The content security policy of the page: its own style, and nothing else.
POLICY: Final = f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'"
_HATCH: Final = (
    '<svg width="0" height="0" aria-hidden="true"><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><path class="hatch" d="M1 0V6"/></pattern></defs></svg>'
)


def html_of(card: Card) -> str:
    """The page."""
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}"><meta name="generator" content="schedviz">',
        f"<title>{escape(card.title)}</title><style>{_STYLE}</style></head><body>{_HATCH}<main>",
        *_head(card),
        *_fixes(card.fixes),
        *_strip(card),
        *(part for number, reason in enumerate(card.reasons) for part in _reason(number, reason, card.unit, card.label_of(reason))),
        *((f'<p class="quiet">Also: {_with_code(card.others)}.</p>',) if card.others else ()),
        *_messages(card),
        f"<footer>{escape(footer_of(card))}</footer></main></body></html>\n",
    ]
    return "\n".join(parts)


def _head(card: Card) -> Iterable[str]:
    if card.subject:
        yield f'<h1><bdi>{escape(card.subject)}</bdi> <span class="standing">{escape(card.standing)}</span></h1>'
        if card.pods:
            yield f'<p class="quiet">{_named(card.pods)}</p>'
        if card.sentence:
            yield f'<p class="sentence">{_with_code(card.sentence)}</p>'
    else:
        yield f"<h1>{_with_code(card.sentence)}</h1>"
    if card.todo:
        yield f"<p><b>{NEXT_STEP}</b> {_with_code(card.todo)}</p>"
    if card.note:
        yield f'<p class="quiet">{_with_code(card.note)}</p>'
    if card.conclusion:
        yield f"<p>{_with_code(card.conclusion)}</p>"


def _strip(card: Card) -> Iterable[str]:
    """All nodes or pods as one bar, divided by reason."""
    whole = sum(reason.count for reason in card.reasons) + card.other_nodes
    if not whole:
        return
    rects, at = [], 0.0
    for number, reason in enumerate(card.reasons):
        width = 100 * reason.count / whole
        rects.append(f'<rect class="r{min(number, _LAST)}" x="{at:.2f}%" width="{max(0.3, width - 0.3):.2f}%" height="10"/>')
        at += width
    if card.other_nodes:
        rects.append(f'<rect class="others" x="{at:.2f}%" width="{100 * card.other_nodes / whole:.2f}%" height="10"/>')
    yield f'<svg class="strip" aria-hidden="true">{"".join(rects)}</svg>'


def _reason(number: int, reason: Reason, unit: str, label: str) -> Iterable[str]:
    sign = f'<svg aria-hidden="true"><rect class="r{min(number, _LAST)}" width="10" height="10" rx="2"/></svg>'
    plugin = f'<span class="plugin">{escape(reason.plugin)}</span>' if reason.plugin else ""
    yield f"<section><h2>{plugin}{sign}{_with_code(heading_of(reason, unit))}</h2>"
    if quote := quote_of(reason, unit):
        yield f'<p class="key">{escape(reason.writer)}: {escape(quote)}</p>'
    yield '<ul class="lines">'
    yield from (f"<li>{_line(line)}</li>" for line in reason.lines)
    yield "</ul>"
    for chart in reason.charts:
        yield from _chart(chart)
    if reason.nodes and not reason.charts:
        yield f'<p class="quiet">on {_named(reason.nodes)}</p>'
    if reason.todo:
        yield f"<p><b>{label}</b> {_with_code(reason.todo)}</p>"
    yield from (f"<pre>{escape(command)}</pre>" for command in reason.commands)
    if reason.caution:
        yield f'<p class="quiet">Note: {_with_code(reason.caution)}</p>'
    yield "</section>"


def _line(line: Line) -> str:
    if not line.names:
        return _with_code(line.text)
    return _named(line.names) + (f": {_with_code(line.text)}" if line.text else "")


def _chart(chart: Chart) -> Iterable[str]:
    yield '<div class="bars">'
    for bar in chart.bars:
        yield f'<code>{escape(bar.label)}</code>{_bar(bar, chart)}<span class="text">{escape(bar.text)}</span>'
    yield "</div>"
    if chart.kind == "resource":
        yield '<p class="key">filled: used · hatched: what this pod requests · line: allocatable</p>'
    else:
        yield '<p class="key">matching pods of each domain · line: the most that a domain may have now</p>'


def _bar(bar: Bar, chart: Chart) -> str:
    def share(amount: int) -> str:
        return f"{99.6 * max(0, amount) / chart.longest:.2f}%"

    kind = "used" if chart.kind == "resource" else "over" if bar.used >= bar.limit else "fits"
    drawn = f'<rect class="room" y="2" width="{share(bar.limit)}" height="10"/>' if bar.limit else ""
    drawn += f'<rect class="{kind}" y="2" width="{share(bar.used)}" height="10"/>'
    if chart.kind == "resource":
        drawn += f'<rect class="asked" fill="url(#hatch)" x="{share(bar.used)}" y="2" width="{share(chart.requested)}" height="10"/>'
    drawn += f'<rect class="ink" x="{share(bar.limit)}" width="2" height="14"/>'
    return f'<svg role="img" aria-label="{escape(bar.text)}">{drawn}</svg>'


def _fixes(fixes: Sequence[Fix]) -> Iterable[str]:
    if not fixes:
        return
    yield '<h2>Changes that make the pod schedulable</h2><p class="quiet">Each change was verified by a dry run.</p><ul class="fixes">'
    for fix in fixes:
        effect = f' <span class="quiet">{_with_code(fix.effect)}</span>' if fix.effect else ""
        commands = "".join(f"<pre>{escape(command)}</pre>" for command in fix.commands)
        yield f"<li>{_with_code(fix.what)}{effect}{commands}</li>"
    yield "</ul>"


def _messages(card: Card) -> Iterable[str]:
    if card.shown_message:
        title = "Message in the simulation" if card.is_only_simulated else "Message"
        yield f"<h2>{title}</h2><pre>{escape(card.shown_message)}</pre>"
    for finding in card.findings:
        yield f"<h2>Finding</h2><p>{_with_code(finding)}</p>"
    if card.matches_cluster_message:
        yield "<p>The cluster's scheduler reported the same message.</p>"
    elif card.said:
        yield f"<h2>Message in your cluster</h2><pre>{escape(card.said)}</pre>"
    if card.disagreement:
        yield f"<p>The simulation differs: {_with_code(card.disagreement)}.</p>"


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(f"<code>{escape(name)}</code>" for name in names[:_MAX_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def _with_code(words: str) -> str:
    """Words whose parts between single backticks are code."""
    return "".join(f"<code>{escape(part)}</code>" if number % 2 else escape(part) for number, part in enumerate(CODE.split(words)))


def heading_of(reason: Reason, unit: str) -> str:
    """The plain sentence, otherwise the reason: `3 nodes: Insufficient cpu`. A sentence about nodes has their number."""
    heading = reason.headline or reason.reason
    return f"{count_of(reason.count, unit)}: {heading}" if reason.count and (unit != "nodes" or not reason.headline) else heading


def quote_of(reason: Reason, unit: str) -> str:
    """The scheduler's own words below a plain sentence, as in its message: `3 Insufficient cpu`; "" if they are the heading."""
    if not reason.headline:
        return ""
    # The reason of several taints has a number for each of them.
    is_counted = reason.reason[:1].isdigit()
    return f"{reason.count} {reason.reason}" if reason.count and unit == "nodes" and not is_counted else reason.reason


def footer_of(card: Card) -> str:
    """Where the card comes from, and what made it."""
    return " · ".join(
        filter(None, (card.origin, "schedviz", f"an explanation computed by a simulation of {card.scheduler}" if card.simulated else ""))
    )


def count_of(count: int, unit: str) -> str:
    """`1 node`, `3 nodes`."""
    return f"{count:,} {unit if count != 1 else unit.removesuffix('s')}"
