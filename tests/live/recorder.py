"""Records what a real API server sends in lists and watches, so that `tests.bench.follow --recorded` can replay it.

    .venv/bin/python -m tests.live.recorder --kubeconfig FILE --seconds 30 OUT.jsonl.zst

The first lines are the objects of the lists. Then each line is one event of a watch, in the order of the resource versions. Managed fields
are left out. Record only clusters of your own: the objects are recorded with all their other fields.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import zstandard

from schedviz.cli.follow import kubeconfig
from schedviz.cli.follow.cluster_api import ClusterApi
from schedviz.cli.follow.errors import Forbidden, NotServed, Unavailable
from schedviz.cli.follow.following import kinds
from schedviz.kube.kinds import Kind

_LEVEL = 19


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A listed object (`seconds` 0), or an event and the time after the beginning at which it arrived."""

    resource: str
    type: str
    object: dict[str, Any]
    seconds: float = 0.0

    @property
    def version(self) -> int:
        """The resource version."""
        return int(self.object["metadata"]["resourceVersion"])


def record(api: ClusterApi, seconds: float) -> list[Entry]:
    """The lists of all kinds, and the events of their watches in this time."""
    found: list[Entry] = []
    events: list[Entry] = []
    began = time.monotonic()
    for kind in kinds(()):
        try:
            items, version = api.list(kind)
        except (Forbidden, NotServed) as error:
            click.echo(f"{kind.resource}: {error}", err=True)
            continue
        found.extend(Entry(kind.resource, "ADDED", _object(item)) for item in items)
        # The watches end when the process does.
        threading.Thread(target=_watch, args=(api, kind, version, began, events), daemon=True).start()
    time.sleep(seconds)
    return [*found, *sorted(events.copy(), key=lambda one: one.version)]


def _watch(api: ClusterApi, kind: Kind, version: str, began: float, events: list[Entry]) -> None:
    try:
        for event in api.watch(kind, version):
            if event.type != "BOOKMARK":
                seconds = round(time.monotonic() - began, 3)
                events.append(Entry(kind.resource, event.type, _object(event.object), seconds))
    except Unavailable as error:
        click.echo(f"{kind.resource}: {error}", err=True)


def _object(content: bytes) -> dict[str, Any]:
    obj: dict[str, Any] = msgspec.json.decode(content)
    obj["metadata"].pop("managedFields", None)
    return obj


def write(entries: list[Entry], path: Path) -> None:
    """Write entries as compressed JSON lines."""
    text = b"\n".join(msgspec.json.encode(entry) for entry in entries)
    path.write_bytes(zstandard.ZstdCompressor(level=_LEVEL).compress(text))


def read(path: Path) -> Iterator[Entry]:
    """The entries of a file."""
    decoder = msgspec.json.Decoder(Entry)
    for line in zstandard.ZstdDecompressor().decompress(path.read_bytes()).split(b"\n"):
        yield decoder.decode(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--kubeconfig", type=Path)
    parser.add_argument("--context")
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    entries = record(ClusterApi(kubeconfig.access(kubeconfig.paths(options.kubeconfig), options.context)), options.seconds)
    write(entries, options.out)
    click.echo(f"{len(entries):,} objects and events, {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
