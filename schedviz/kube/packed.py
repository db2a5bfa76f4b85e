"""Packs a session's initial objects compactly, because every checkpoint contains them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

import msgspec

from schedviz.kube.codec import dec_hook, enc_hook
from schedviz.kube.core import Node, Pod
from schedviz.kube.kinds import AnyObject, any_object
from schedviz.kube.meta import KubeObject
from schedviz.kube.packed_nodes import PackedNodes
from schedviz.kube.packed_pods import PackedPods


class _Packed(msgspec.Struct, frozen=True):
    pods: PackedPods
    nodes: PackedNodes
    others: list[AnyObject]
    #: The order of the objects: runs of a kind with their lengths, "" for the others.
    runs: list[tuple[str, int]]


_encoder: Final = msgspec.msgpack.Encoder(enc_hook=enc_hook)
_decoder: Final = msgspec.msgpack.Decoder(_Packed, dec_hook=dec_hook)
#: The older form: one object after another.
_list_decoder: Final = msgspec.msgpack.Decoder(list[AnyObject], dec_hook=dec_hook)


def pack(objects: Sequence[KubeObject]) -> bytes:
    """Pack objects, keeping their order."""
    packed = _Packed(
        pods=PackedPods.of([obj for obj in objects if isinstance(obj, Pod)]),
        nodes=PackedNodes.of([obj for obj in objects if isinstance(obj, Node)]),
        others=[any_object(obj) for obj in objects if not isinstance(obj, Pod | Node)],
        runs=[(kind, len(list(run))) for kind, run in groupby(objects, _column)],
    )
    return zlib.compress(_encoder.encode(packed), 1)


def unpack(data: bytes) -> list[KubeObject]:
    """Unpack objects, including those packed by older versions. Raises `msgspec.DecodeError`, `msgspec.ValidationError`, `zlib.error`."""
    text = zlib.decompress(data)
    try:
        packed = _decoder.decode(text)
    except msgspec.ValidationError:
        return list(_list_decoder.decode(text))
    columns: dict[str, Iterator[KubeObject]] = {
        "Pod": packed.pods.unpack(),
        "Node": packed.nodes.unpack(),
        "": iter(packed.others),
    }
    return [next(columns[kind]) for kind, count in packed.runs for _ in range(count)]


def _column(obj: KubeObject) -> str:
    return "Pod" if isinstance(obj, Pod) else "Node" if isinstance(obj, Node) else ""
