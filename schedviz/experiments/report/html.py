"""Builds the HTML file. It works without scripts; report.js adds sorting, another baseline and the scatter plot."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib import resources

import msgspec

from schedviz.experiments.results import Results, TrialRow
from schedviz.experiments.summary import summary
from schedviz.experiments.table import table
from schedviz.explain.card.theme import THEMES, ThemeName


def html_report(results: Results) -> str:
    """The HTML file. Names are untrusted: all text is escaped, the embedded JSON has no `<`, and only our own script may run."""
    script, style = _resource("report.js"), _variables() + _resource("report.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    data = msgspec.json.encode(results).decode().replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    footer = (
        f"Made by schedviz {escape(results.schedviz)}. The same plan and version give the same numbers, except for times of the engine. "
        "All results are in this file, as JSON."
    )
    parts = [
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        f"<title>{escape(results.name)} · schedviz experiment</title><style>{style}</style></head><body>",
        _header(results),
        _summary(results),
        "<section id='explore'>",
        "<div id='controls'></div>",
        f"<div id='table'>{_static_table(results)}</div>",
        "<div id='plot'></div>",
        "</section>",
        _failures(results.trials),
        _plan(results),
        f"<footer>{footer}</footer>",
        f"<script type='application/json' id='results'>{data}</script><script>{script}</script></body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _header(results: Results) -> str:
    seeds = {row.seed for row in results.trials}
    facts = [
        f"{results.nodes:,} nodes",
        f"{results.pods:,} pods to schedule",
        f"{len(results.variants):,} variants",
        f"{len(results.trials):,} trials" + (f", {len(seeds):,} seeds each" if len(seeds) > 1 else ""),
        f"baseline: {results.baseline}",
    ]
    question = f"<p class='question'>{escape(results.question)}</p>" if results.question else ""
    items = "".join(f"<li>{escape(fact)}</li>" for fact in facts)
    return (
        f"<header><p class='kind'>schedviz experiment</p><h1>{escape(results.name)}</h1>{question}<ul class='facts'>{items}</ul></header>"
    )


def _summary(results: Results) -> str:
    sentences = summary(results)
    if not sentences:
        return ""
    has_seeds = any(row.seed is not None for row in results.trials)
    note = (
        "Differences are means over the same seeds, with 95 % intervals (paired, Student's t). They describe chance among equal nodes or "
        "in the order of arrival, not other workloads."
        if has_seeds
        else "Each variant ran once. The run is deterministic, so that every difference is real for this workload and none is an estimate."
    )
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<section><h2>Result</h2><ul class='summary'>{items}</ul><p class='quiet'>{note}</p></section>"


def _static_table(results: Results) -> str:
    head, *rows = table(results)
    return _table(head, rows)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = "".join(f"<th scope='col'>{escape(cell)}</th>" for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{_lines(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _lines(cell: str) -> str:
    return escape(cell).replace("\n", "<br>")


def _failures(rows: Iterable[TrialRow]) -> str:
    failed = [row for row in rows if row.error]
    if not failed:
        return ""
    items = "".join(
        f"<details><summary>{escape(row.variant)}{'' if row.seed is None else f', seed {row.seed}'}: {escape(row.error)}</summary>"
        f"<pre>{escape(row.traceback or row.error)}</pre></details>"
        for row in failed
    )
    return f"<section><h2>Failed trials ({len(failed)})</h2>{items}</section>"


def _plan(results: Results) -> str:
    return (
        "<section><h2>Plan</h2><details open><summary>Save it as plan.yaml, and run <code>schedviz experiment run plan.yaml</code>"
        f" with schedviz {escape(results.schedviz)}</summary><pre id='plan'>{escape(results.plan)}</pre></details></section>"
    )


@cache
def _resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _variables() -> str:
    """The colours of the page as CSS variables, for both themes."""
    return f":root{{{_colours('light')}}}@media(prefers-color-scheme:dark){{:root{{{_colours('dark')}}}}}\n"


def _colours(name: ThemeName) -> str:
    theme = THEMES[name]
    named = {
        "paper": theme.paper,
        "sunk": theme.sunk,
        "ink": theme.ink,
        "ink-2": theme.ink_2,
        "ink-3": theme.ink_3,
        "line": theme.line,
        "line-strong": theme.line_strong,
        "good": theme.success,
        "bad": theme.reasons[0],
        "accent": theme.accent,
        "used": theme.used,
        **{f"series-{index}": colour for index, colour in enumerate(theme.reasons)},
    }
    return "".join(f"--{key}:{value};" for key, value in named.items()) + f"color-scheme:{name};"
