"""Builds the HTML file. It works without scripts, with the sentences, a table and the plan; `frontend/src/report.ts` draws the rest."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib import resources
from typing import Final

import msgspec
from msgspec import UNSET

from schedviz.experiments.results.columnar import SearchReport, columnar
from schedviz.experiments.results.document import Results, TrialRow, Tuning
from schedviz.experiments.results.summary import summary
from schedviz.experiments.results.table import table
from schedviz.experiments.tuning.report import as_yaml, sentences
from schedviz.explain.card.theme import THEMES, ThemeName
from schedviz.trace.visible_text import visible_text, with_visible_text

#: Built by `npm run build`, and part of wheels. A source tree that was not built has reports without figures.
_SCRIPT: Final = "built/report.js"
_STYLE: Final = "built/report.css"


def html_report(results: Results) -> str:
    """The HTML file. Names are untrusted: all text is escaped, the embedded JSON has no `<`, and only our own script may run."""
    script, style = _resource(_SCRIPT), _variables() + _resource("report.css") + _resource(_STYLE)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; font-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    search = _search_of(results)
    drawn = msgspec.to_builtins(msgspec.structs.replace(columnar(results), search=search or UNSET))
    encoded = msgspec.json.encode(with_visible_text(drawn)).decode()
    data = encoded.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    missing = "" if script else "<p class='plain'>This report has no figures: the page of this source tree is not built (make setup).</p>"
    parts = [
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        f"<title>{_text(results.name)} · schedviz experiment</title><style>{style}</style></head><body>",
        "<div id='app'><main class='static'>",
        _header(results),
        _search_section(search),
        _summary(results),
        f"<section>{_static_table(results)}</section>",
        missing,
        _failures(results.trials),
        _plan(results),
        "</main></div>",
        f"<script type='application/json' id='results'>{data}</script><script>{script}</script></body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _text(text: str) -> str:
    return escape(visible_text(text))


def _header(results: Results) -> str:
    facts = (
        f"{results.nodes:,} nodes · {results.pods:,} pods · {len(results.variants):,} configurations · {len(results.trials):,} trials · "
        f"schedviz {results.schedviz}"
    )
    question = f"<p class='question'>{_text(results.question)}</p>" if results.question else ""
    return f"<header><h1>{_text(results.name)}</h1>{question}<p>{_text(facts)}</p></header>"


def _summary(results: Results) -> str:
    found = summary(results)
    if found is None:
        return ""
    sections = "".join(
        f"<h3>{_text(title)}</h3><ul>{''.join(f'<li>{_text(sentence)}</li>' for sentence in sentences)}</ul>"
        for title, sentences in found.sections()
    )
    words = "".join(f"<dt>{_text(word)}</dt><dd>{_text(meaning)}</dd>" for word, meaning in found.words)
    return f"<section><h2>{_text(found.headline)}</h2>{sections}<h3>Words</h3><dl>{words}</dl></section>"


def _search_of(results: Results) -> SearchReport | None:
    if not isinstance(results.tuning, Tuning):
        return None
    best = as_yaml(results.variant(results.tuning.best)) if results.tuning.best else ""
    return SearchReport(sentences(results, results.tuning), best)


def _search_section(search: SearchReport | None) -> str:
    if search is None:
        return ""
    items = "".join(f"<li>{_text(sentence)}</li>" for sentence in search.sentences)
    best = f"<pre>{_text(search.best)}</pre>" if search.best else ""
    return f"<section><h2>Search</h2><ul>{items}</ul>{best}</section>"


def _static_table(results: Results) -> str:
    head, *rows = table(results)
    return _table(head, rows)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = "".join(f"<th scope='col'>{_text(cell)}</th>" for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{_lines(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _lines(cell: str) -> str:
    return _text(cell).replace("\n", "<br>")


def _failures(rows: Iterable[TrialRow]) -> str:
    failed = [row for row in rows if row.error]
    if not failed:
        return ""
    items = "".join(
        f"<details><summary>{_text(row.variant)}{'' if row.seed is None else f', seed {row.seed}'}: {_text(row.error)}</summary>"
        f"<pre>{_text(row.traceback or row.error)}</pre></details>"
        for row in failed
    )
    return f"<section><h2>Failed trials ({len(failed)})</h2>{items}</section>"


def _plan(results: Results) -> str:
    version = _text(results.schedviz)
    return (
        f"<section><h2>Plan</h2><p>Save it as plan.yaml, and run <code>schedviz experiment run plan.yaml</code> with schedviz {version}. "
        f"The same plan and version give the same numbers, except for engine times.</p><pre>{_text(results.plan)}</pre></section>"
    )


@cache
def _resource(name: str) -> str:
    """The text of a file next to this module; "": it is not built."""
    file = resources.files(__package__).joinpath(name)
    return file.read_text(encoding="utf-8") if file.is_file() else ""


@cache
def _variables() -> str:
    """The colours of the page as CSS variables, for both themes."""
    return f":root{{{_colours('light')}}}@media(prefers-color-scheme:dark){{:root{{{_colours('dark')}}}}}\n"


def _colours(name: ThemeName) -> str:
    theme = THEMES[name]
    named = {"paper": theme.paper, "paper-sunk": theme.sunk, "ink": theme.ink, "ink-2": theme.ink_2, "line": theme.line}
    return "".join(f"--{key}:{value};" for key, value in named.items()) + f"color-scheme:{name};"
