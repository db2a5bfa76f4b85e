"""Texts that make regular expressions backtrack: reading them takes time in proportion to their length."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT

#: As much as one line of an upload may well have; quadratic patterns take minutes for it, exponential ones for ever.
LENGTH = 500_000
KUBECTL = "from schedviz.ingest.kubectl_text import KubectlTextReader as Reader; text = {text}; list(Reader().read('f', text, None)) if Reader().recognises(text) else None"
KLOG = "from schedviz.ingest.klog import records; from schedviz.ingest.log_lines import LogLine; list(records([LogLine({text}, None)]))"
HEAD = "I0101 00:00:00.003000       1 a.go:65] "

TABLES = {
    "columns": "b'NAME' + b'  A' * ({n} // 3) + b'!'",
    "spaces": "b'NAME  A\\n' + b' ' * {n}",
    "reasons": "b'NAME  MESSAGE\\n' + b'FailedScheduling x ' * ({n} // 19)",
    "digits": "b'NAME  MESSAGE\\nFailedScheduling x ' + b'1' * {n}",
    "blank lines of a description": "b'Name:  x\\nNamespace:  y\\n' + b'\\n' * {n}",
}
RECORDS = {
    "a long word": "'\"m\" ' + 'a' * {n}",
    "quotes": "'\"m\" ' + 'a=\"' * ({n} // 3)",
    "backslashes": "'\"' + chr(92) * {n}",
    "empty values": "'\"m\" ' + ' '.join('k%d=' % k for k in range({n} // 8))",
    "brackets": "'\"m\" ' + 'a=[' * ({n} // 3)",
}


def expect_end(program: str) -> None:
    """The program ends: it is given a hundred times what it takes."""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0 or "UnreadableFile" in done.stderr, done.stderr


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_what_kubectl_prints_is_read_in_linear_time(text: str) -> None:
    expect_end(KUBECTL.format(text=text.format(n=LENGTH)))


@pytest.mark.parametrize("text", RECORDS.values(), ids=RECORDS)
def test_a_record_of_a_log_is_read_in_linear_time(text: str) -> None:
    expect_end(KLOG.format(text=f"{HEAD!r} + {text.format(n=LENGTH)}"))
