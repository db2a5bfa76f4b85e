"""Writes `src/i18n/messages/glossary.json`, from which the page explains terms, from docs/glossary.md.

    python -m frontend.scripts.generate_glossary [--check]

A row is a list of names in English, the same in Chinese, and the meaning in both, separated by a middle dot. `assumed pod` is also
found as `assumed`, as labels of the page say it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schedviz.web.documentation.glossary import rows
from schedviz.web.wire_schema import write_or_check

SOURCE = Path(__file__).parents[2] / "docs/glossary.md"
TARGET = Path(__file__).parents[1] / "src/i18n/messages/glossary.json"
#: The sections whose terms are explained in labels only, and other terms that are words of many sentences.
_SECTIONS_OF_LABELS = frozenset({"schedviz"})
_TERMS_OF_LABELS = frozenset({"pod", "node", "scheduler, kube-scheduler", "request", "plugin", "binding", "latency"})
#: What labels leave out.
_NOUN = re.compile(r" (pod|node)$")


def terms(text: str) -> Iterator[dict[str, Any]]:
    """The terms of the page's tables. `inSentences`: explained in sentences, too, not only in labels."""
    for row in rows(text):
        names = row.english.split(", ")
        short = [_NOUN.sub("", name) for name in names if _NOUN.search(name)]
        in_chinese = [part for part in re.split(r"[()（）、]", row.chinese) if part]
        title = {"en": row.english, "zh-CN": row.chinese}
        all_names = list(dict.fromkeys([*names, *short, *in_chinese]))
        meaning = {"en": row.meaning, "zh-CN": row.meaning_in_chinese}
        is_common = row.section in _SECTIONS_OF_LABELS or row.english in _TERMS_OF_LABELS
        yield {"title": title, "names": all_names, "meaning": meaning, "inSentences": not is_common}


def generate() -> str:
    """The file."""
    return json.dumps(list(terms(SOURCE.read_text("utf-8"))), ensure_ascii=False, indent=1) + "\n"


def main() -> int:
    return write_or_check(TARGET, generate(), sys.argv[1:], f"{TARGET.name} is not what docs/glossary.md says: run make gen")


if __name__ == "__main__":
    sys.exit(main())
