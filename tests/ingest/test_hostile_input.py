"""Hostile files end in an error, quickly and within bounded memory."""

import gzip
import json
import lzma
import time

import pytest

from schedviz.ingest.errors import BadObjects, IngestError, LimitExceeded
from schedviz.ingest.limits import Limits
from tests.ingest.sources import imported

SECONDS = 5.0


def alias_bomb(first="[x,x,x,x,x,x,x,x,x]"):
    levels = zip("abcdefgh", "bcdefghi", strict=True)
    return f"a: &a {first}\n" + "".join(f"{after}: &{after} [{','.join([f'*{before}'] * 9)}]\n" for before, after in levels)


@pytest.fixture(autouse=True)
def _soon():
    began = time.process_time()
    yield
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        "a: " + "[" * 100_000,
        "a: " + "{a: " * 50_000,
        "".join(f"{' ' * depth}a:\n" for depth in range(1500)),
        "- " * 100_000,
    ],
    ids=["json arrays", "json objects", "yaml flow lists", "yaml flow maps", "yaml indentation", "yaml dashes"],
)
def test_deep_nesting_stops_at_the_limit(text):
    with pytest.raises(LimitExceeded) as caught:
        imported(text)
    assert caught.value.setting == "nesting_depth"


def test_deep_nesting_below_the_parsers_own_bound_stops_at_the_limit_too():
    deep = "[" * 120 + "]" * 120
    for text in (f'{{"kind":"Node","x":{deep}}}', f"kind: Node\nx: {deep}\n"):
        with pytest.raises(LimitExceeded) as caught:
            imported(text)
        assert caught.value.setting == "nesting_depth"


@pytest.mark.parametrize(
    "text",
    [
        alias_bomb(),
        f"kind: Pod\nmetadata: {{name: a}}\n{alias_bomb()}",
        "a: &a [" + "x," * 500_000 + "]\nb: [" + "*a," * 20 + "]\n",
    ],
)
def test_alias_bombs_are_refused(text):
    with pytest.raises(IngestError, match="aliases"):
        imported(text)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_decompression_bombs_stop_at_the_limit(pack):
    bomb = pack(b" " * 60_000_000)
    with pytest.raises(LimitExceeded) as caught:
        imported(bomb, limits=Limits(unpacked_bytes=1_000_000))
    assert caught.value.setting == "unpacked_bytes"


@pytest.mark.parametrize(
    "data",
    [
        b"{} " + b'\\"' * 1_000_000,
        b'{"a":"' + b"\\" * 1_000_000,
        b'"' * 1_000_001,
        b"{" + b'"kind":"Pod",' * 200_000 + b"}",
        b"&a " * 200_000,
        b"kind: Pod\n" * 200_000,
        b"? " * 200_000,
        b"%A\n" * 200_000,
        b"---\n" * 500_000,
        b"a: |\n" + b" x\n" * 500_000,
        b"items:\n" + b"- \n" * 200_000 + b"kind: List\n",
        bytes(range(32, 127)) * 10_000,
    ],
)
def test_arbitrary_bytes_end_in_an_error(data):
    with pytest.raises(IngestError):
        imported(data)


def test_out_of_range_numbers_are_refused_with_a_sentence():
    with pytest.raises(IngestError, match="is not a quantity"):
        imported('{"kind":"Node","metadata":{"name":"a"},"status":{"capacity":{"cpu":"1e999999999"}}}')
    with pytest.raises(IngestError):
        imported('{"kind":"Node","metadata":{"name":"a"},"status":{"capacity":{"cpu":' + "9" * 100_000 + "}}}")
    with pytest.raises(IngestError, match="expected a whole number of at most"):
        imported('{"kind":"Pod","metadata":{"name":"a"},"spec":{"priority":99999999999999}}')


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ({"name": "a\r\nSet-Cookie: b"}, "metadata.name"),
        ({"name": "a" * 254}, "metadata.name"),
        ({"name": "a", "namespace": "n" * 64}, "metadata.namespace"),
        ({"name": "a", "uid": "u" * 10_000_000}, "metadata.uid"),
        ({"name": "a", "labels": {"k" * 318: "v"}}, "metadata.labels"),
        ({"name": "a", "labels": {"k": "v\x1b[31m"}}, "metadata.labels"),
    ],
    ids=["line end", "long name", "long namespace", "long uid", "long key", "escape"],
)
def test_names_that_an_api_server_would_reject_are_refused(name, path):
    with pytest.raises(BadObjects) as refused:
        imported(json.dumps({"kind": "Pod", "metadata": name}))
    (problem,) = refused.value.problems
    assert problem.path == path
    assert "as an API server takes them" in problem.message
    assert len(problem.message) < 400
    assert problem.message.isprintable()


def test_unusual_names_are_accepted():
    odd = {"name": "Ünüsual_Näme", "namespace": "Some NS", "labels": {"a b": "c/d"}}
    assert [obj.name for obj in imported(json.dumps({"kind": "Pod", "metadata": odd})).objects] == [odd["name"]]
