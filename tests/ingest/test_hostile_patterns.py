"""Texts that make regular expressions backtrack: reading them takes time in proportion to their length."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT

#: As much as one line of an upload may well have; quadratic patterns take minutes for it, exponential ones for ever.
LENGTH = 500_000
KUBECTL = "from schedviz.ingest.kubectl.tables_and_descriptions import KubectlTextReader as Reader; text = {text}; list(Reader().read('f', text, None)) if Reader().recognises(text) else None"
KLOG = "from schedviz.ingest.logs.klog import records; from schedviz.ingest.logs.log_lines import LogLine; list(records([LogLine({text}, None)]))"
HEAD = "I0101 00:00:00.003000       1 a.go:65] "

TABLES = {
    "columns": "b'NAME' + b'  A' * ({n} // 3) + b'!'",
    "spaces": "b'NAME  A\\n' + b' ' * {n}",
    "reasons": "b'NAME  MESSAGE\\n' + b'FailedScheduling x ' * ({n} // 19)",
    "digits": "b'NAME  MESSAGE\\nFailedScheduling x ' + b'1' * {n}",
    "blank lines of a description": "b'Name:  x\\nNamespace:  y\\n' + b'\\n' * {n}",
}
STORAGE = "from schedviz.ingest.kubectl.described_storage import storage_in; storage_in({text})"
VOLUMES = {
    "headers of tables": "'NAME   CAPACITY   RECLAIM POLICY   CLAIM\\n' * ({n} // 40)",
    "columns": "'NAME  ' + 'A  ' * ({n} // 3)",
    "terms": "'Name: a\\nAccess Modes:\\nCapacity: 1\\nReclaim Policy: r\\nNode Affinity:\\n' + '    Term 0: a in [b\\n' * ({n} // 20)",
    "descriptions": "'Name: a\\nAccess Modes:\\nCapacity: x\\nReclaim Policy: r\\n' * ({n} // 52)",
}
RECORDS = {
    "a long word": "'\"m\" ' + 'a' * {n}",
    "quotes": "'\"m\" ' + 'a=\"' * ({n} // 3)",
    "backslashes": "'\"' + chr(92) * {n}",
    "empty values": "'\"m\" ' + ' '.join('k%d=' % k for k in range({n} // 8))",
    "brackets": "'\"m\" ' + 'a=[' * ({n} // 3)",
}


def expect_end(program: str) -> None:
    """The program ends within a hundred times its usual duration."""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0 or "UnreadableFile" in done.stderr, done.stderr


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_output_of_kubectl_is_read_in_linear_time(text: str) -> None:
    expect_end(KUBECTL.format(text=text.format(n=LENGTH)))


@pytest.mark.parametrize("text", VOLUMES.values(), ids=VOLUMES)
def test_volumes_in_a_text_are_read_in_linear_time(text: str) -> None:
    expect_end(STORAGE.format(text=text.format(n=LENGTH)))


@pytest.mark.parametrize("text", RECORDS.values(), ids=RECORDS)
def test_a_record_of_a_log_is_read_in_linear_time(text: str) -> None:
    expect_end(KLOG.format(text=f"{HEAD!r} + {text.format(n=LENGTH)}"))


MESSAGES = {
    "digits": "'0' * {n}",
    "digits after a slash": "'1/' + '9' * {n} + ' nodes are available: 1 x'",
    "counts": "'0/5 nodes are available: ' + '1' * {n} + ' x'",
    "clauses": "'0/5 nodes are available: ' + '1 x, ' * ({n} // 5)",
}
MESSAGE = """
from schedviz.explain.messages.message import parse_message
from schedviz.explain.messages.parsed_message import NotAMessageError
try:
    parse_message({text})
except NotAMessageError:
    pass
"""


@pytest.mark.parametrize("text", MESSAGES.values(), ids=MESSAGES)
def test_a_scheduler_message_is_read_in_linear_time(text: str) -> None:
    expect_end(MESSAGE.format(text=text.format(n=LENGTH)))


CONFIGURATIONS = {
    "a member given twice": "'{{' + ','.join('\"k%d\": 1' % (k // 2) for k in range({n} // 12)) + '}}'",
    "comments that do not end": "'{{' + '/* ' * ({n} // 3)",
    "strings that do not end": "'{{' + chr(34) + (chr(92) + chr(34)) * ({n} // 2)",
    "commas": "'{{' + ', ' * ({n} // 2)",
}
PARSE = """
from schedviz.ingest.configuration.config_text import parse_config
try:
    parse_config({text})
except ValueError as error:
    print(str(error)[:200])
"""


@pytest.mark.parametrize("text", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_a_configuration_is_read_in_linear_time(text: str) -> None:
    expect_end(PARSE.format(text=text.format(n=LENGTH)))


GZIP = """
import gzip
from schedviz.ingest.files.unpack import EMPTY_STREAMS, unpacked
from schedviz.ingest.errors import UnreadableFile
small = gzip.compress(b'{}\\n')
assert sum(map(len, unpacked('f', [small * 100_000]))) == 300_000
assert b''.join(unpacked('f', [(gzip.compress(b'') + small) * EMPTY_STREAMS])) == b'{}\\n' * EMPTY_STREAMS
try:
    list(unpacked('f', [gzip.compress(b'') * 1_000_000]))
except UnreadableFile as error:
    assert 'more than 1,000 empty streams' in str(error)
else:
    raise AssertionError('was read')
"""


def test_small_and_empty_gzip_streams_take_linear_time_and_are_limited() -> None:
    expect_end(GZIP)
