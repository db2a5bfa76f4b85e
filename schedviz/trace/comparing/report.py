"""A comparison as one HTML file: no scripts, no network, a dark theme, and the whole comparison as embedded JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any, Final

import msgspec

from schedviz import __version__
from schedviz.trace.comparing.result import Amount, Comparison, Difference, NodeUse, Place, Reason, SideShown, Use
from schedviz.trace.visible_text import visible_text

#: The maximum number of rows shown in a table; the JSON in the file has all listed rows.
MAX_ROWS: Final = 500

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --a: #0969da; --b: #bc4c00; --soft: #8881; }
@media (prefers-color-scheme: dark) { :root { --a: #58a6ff; --b: #f0883e; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 600; } td.n, th.n { text-align: right; white-space: nowrap; }
.a { color: var(--a); } .b { color: var(--b); } .quiet { opacity: .7; }
.verdict { padding: .6rem 1rem; background: var(--soft); border-left: 4px solid var(--line); }
.bar { display: block; height: .4rem; background: var(--soft); border-radius: .2rem; overflow: hidden; min-width: 6rem; }
.bar > i { display: block; height: 100%; background: currentColor; }
details > summary { cursor: pointer; } details > summary, td > .quiet { overflow-wrap: normal; white-space: nowrap; }
code { font-size: .92em; }
@media print { details > * { display: block; } body { margin: 0; max-width: none; } }
"""


def html_report(comparison: Comparison) -> str:
    """The HTML file. Names of objects are untrusted: all text is escaped, and the JSON is ASCII without `<`."""
    data = (
        json.dumps(msgspec.to_builtins(comparison), separators=(",", ":"))
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
    )
    parts = [
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        # The file must not load or run anything, whatever the names of pods.
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{_text(comparison.a.name)} and {_text(comparison.b.name)} · schedviz</title><style>{_STYLE}</style></head><body>",
        "<h1>Two runs of the scheduler</h1>",
        _sides(comparison),
        f"<p class='verdict'>{_text(_verdict(comparison))}</p>",
        _divergence(comparison),
        _settings(comparison.settings),
        _placements(comparison),
        _scores(comparison),
        _utilisation(comparison),
        _pending(comparison.pending),
        f"<p class='quiet'>Made by schedviz {_text(__version__)}. The whole comparison is in this file, as JSON.</p>",
        f"<script type='application/json' id='comparison'>{data}</script></body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _text(text: str) -> str:
    return escape(visible_text(text))


def _verdict(comparison: Comparison) -> str:
    if comparison.same:
        return "They did the same, and every pod is in the same place."
    placements = comparison.placements
    sentences = [
        f"{count:,} {noun}"
        for count, noun in (
            (placements.moved, "on another node"),
            (placements.placed_only_in_a, "placed in A alone"),
            (placements.placed_only_in_b, "placed in B alone"),
            (placements.only_in_a, "known to A alone"),
            (placements.only_in_b, "known to B alone"),
        )
        if count
    ]
    pending = f" ({placements.pending_in_both:,} of them pending)" if placements.pending_in_both else ""
    return f"Pods: {', '.join([*sentences, f'{placements.same:,} in the same place{pending}'])}."


def _sides(comparison: Comparison) -> str:
    def row(name: str, side: SideShown) -> list[str]:
        cells = [f"<b class='{name.lower()}'>{name}</b>", _text(side.name), f"{side.event:,}", f"{side.cycles:,}"]
        return [*cells, f"{side.pods:,}", f"{side.nodes:,}", f"{side.clock_seconds:g} s"]

    table = _table(["", "session", "#event", "#cycles", "#pods", "#nodes", "#clock"], [row("A", comparison.a), row("B", comparison.b)])
    shared = f"<p>They have the same history up to event {comparison.shared_event:,}.</p>" if comparison.shared_event else ""
    if comparison.shared_origin and not comparison.shared_event:
        shared = "<p>Both descend from one session.</p>"
    return table + shared


def _divergence(comparison: Comparison) -> str:
    divergence = comparison.divergence
    if divergence is None:
        return ""
    html = f"<h2>First divergence</h2><p>{_text(divergence.text)}</p>"
    if divergence.cycle is not None and divergence.cycle.what:
        html += _differences(divergence.cycle.what)
    elif divergence.event is not None and divergence.event.what:
        html += _differences(divergence.event.what)
    return html


def _settings(settings: list[Difference]) -> str:
    return f"<h2>Settings</h2>{_differences(settings)}" if settings else ""


def _differences(rows: Iterable[Difference]) -> str:
    return _table(["", "A", "B"], [[f"<code>{_text(row.path)}</code>", _value(row.a), _value(row.b)] for row in rows])


def _value(value: Any) -> str:
    if value is None:
        return "<span class='quiet'>–</span>"
    return _text(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def _placements(comparison: Comparison) -> str:
    pods = comparison.placements.pods
    if not pods:
        return ""
    table = _table(["pod", "A", "B"], [[_text(pod.pod), _place(pod.a), _place(pod.b)] for pod in pods[:MAX_ROWS]])
    return f"<h2>Pods in another place</h2>{table}{_left_out(len(pods[MAX_ROWS:]) + comparison.placements.left_out)}"


def _place(place: Place | None) -> str:
    if place is None:
        return "<span class='quiet'>not there</span>"
    if place.node:
        return _text(place.node) + (" <span class='quiet'>assumed</span>" if place.state == "assumed" else "")
    return f"<span class='quiet'>waits in {_text(place.state)}</span>"


def _scores(comparison: Comparison) -> str:
    scores = comparison.scores
    if scores is None or not (scores.totals or scores.plugins):
        return ""
    rows = [[_text(total.node), "<b>total</b>", _number(total.a), _number(total.b)] for total in scores.totals]
    rows += [[_text(plugin.node), _text(plugin.plugin), _number(plugin.a), _number(plugin.b)] for plugin in scores.plugins]
    note = "" if scores.complete else " Only the scores of each one's two best nodes are known."
    table = _table(["node", "plugin", "#A", "#B"], rows[:MAX_ROWS])
    left_out = _left_out(max(0, len(rows) - MAX_ROWS))
    return f"<h2>Scores in the first cycle that differs</h2><p>Of {_text(scores.pod)}.{note}</p>{table}{left_out}"


def _utilisation(comparison: Comparison) -> str:
    use = comparison.utilisation
    nodes = [node for node in use.nodes if node.a != node.b]
    rows = [_use_row("<b>all nodes</b>", use.a, use.b), *(_use_row(_text(node.node), node.a, node.b) for node in nodes[:MAX_ROWS])]
    empty = f"<p>Nodes without a pod: <span class='a'>{use.empty_a:,}</span> in A, <span class='b'>{use.empty_b:,}</span> in B.</p>"
    table = _table(["node", "cpu", "memory", "pods"], rows)
    return f"<h2>Utilization</h2>{empty}{table}{_left_out(len(nodes[MAX_ROWS:]) + _left(use.left_out, use.nodes))}"


def _left(count: int, nodes: list[NodeUse]) -> int:
    """Nodes are in order of difference, so unlisted nodes differ only if the last listed one does."""
    return count if nodes and nodes[-1].a != nodes[-1].b else 0


def _use_row(name: str, a: Use | None, b: Use | None) -> list[str]:
    def cell(member: str) -> str:
        return "".join(
            f"<span class='{side}'>{_amount(None if use is None else getattr(use, member), member)}</span>"
            for side, use in (("a", a), ("b", b))
        )

    return [name, cell("cpu"), cell("memory"), cell("pods")]


def _amount(amount: Amount | None, member: str) -> str:
    if amount is None:
        return "not there"
    share = min(1.0, amount.requested / amount.allocatable) if amount.allocatable else 0.0
    labels = {
        "cpu": f"{amount.requested / 1000:g} of {amount.allocatable / 1000:g}",
        "memory": f"{amount.requested / (1 << 30):.2f} of {amount.allocatable / (1 << 30):.2f} Gi",
        "pods": f"{amount.requested:,} of {amount.allocatable:,}",
    }[member]
    return f"{labels}<span class='bar'><i style='width:{share:.1%}'></i></span>"


def _pending(reasons: list[Reason]) -> str:
    if not reasons:
        return ""
    rows = [[_text(reason.reason), _pods(reason.count_a, reason.a), _pods(reason.count_b, reason.b)] for reason in reasons[:MAX_ROWS]]
    return f"<h2>Why pods wait</h2>{_table(['reason', 'A', 'B'], rows)}{_left_out(len(reasons[MAX_ROWS:]))}"


def _pods(count: int, pods: list[str]) -> str:
    if not count:
        return "<span class='quiet'>none</span>"
    more = f", and {count - len(pods):,} more" if count > len(pods) else ""
    return f"<details><summary>{count:,}</summary>{_text(', '.join(pods))}{more}</details>"


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _left_out(count: int) -> str:
    return f"<p class='quiet'>{count:,} more are left out here.</p>" if count else ""


def _table(heads: list[str], rows: Iterable[list[str]]) -> str:
    """A table of HTML cells; a column whose header starts with # is numeric."""
    kinds = [" class='n'" if head.startswith("#") else "" for head in heads]
    head = "".join(f"<th{kind}>{_text(text.removeprefix('#'))}</th>" for kind, text in zip(kinds, heads, strict=True))
    body = "".join("<tr>" + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
