"""Generates clusters: nodes in zones, and pods of a named shape; with `gpus`, also the devices of a made-up driver.

The same `GenerateSpec` always gives the same objects. A shape is a function from a pod's number to its spec; see `generated_shapes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from schedviz.ingest.errors import IngestError
from schedviz.ingest.generated_shapes import SHAPES, Cluster, Shape
from schedviz.kube import codec
from schedviz.kube.core import Node
from schedviz.kube.defaults import default_object
from schedviz.kube.example_driver import MAX_GPUS, MODELS, Model, NodeGpus, can_be_partitioned, device_classes, slices_of
from schedviz.kube.meta import KubeObject
from schedviz.kube.validation_errors import explain_validation_error

MAX_NODES = 15_000
MAX_PODS = 200_000
MAX_ZONES = 100


class GenerateRefused(IngestError):
    """Invalid parameters."""


class GenerateSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The parameters. The shape supplies the default of a number that is left out."""

    shape: str = "mixed"
    nodes: Annotated[int, Meta(ge=1, le=MAX_NODES)] | None = None
    pods: Annotated[int, Meta(ge=0, le=MAX_PODS)] | None = None
    zones: Annotated[int, Meta(ge=1, le=MAX_ZONES)] | None = None
    seed: Annotated[int, Meta(ge=0, le=(1 << 53) - 1)] = 1
    #: The GPUs of each node, as devices (ResourceSlices).
    gpus: Annotated[int, Meta(ge=0, le=MAX_GPUS)] | None = None
    gpu_model: Model = "a100"
    #: The GPUs can also be allocated in partitions.
    partitions: bool = False


def parse_generate_spec(parameters: object) -> GenerateSpec:
    """The spec from decoded JSON, as in REST's `{"generate": {…}}`. Raises `GenerateRefused`."""
    try:
        spec = msgspec.convert(parameters, GenerateSpec)
    except msgspec.ValidationError as error:
        raise GenerateRefused(_in_words(error, parameters)) from None
    shape_of(spec)
    if spec.partitions and not can_be_partitioned(spec.gpu_model):
        possible = ", ".join(model for model in MODELS if can_be_partitioned(model))
        raise GenerateRefused(f"generate.partitions: GPUs of the model {spec.gpu_model} have no partitions; those of {possible} have")
    return spec


def shape_of(spec: GenerateSpec) -> Shape:
    """The shape that a spec names. Raises `GenerateRefused`."""
    shape = SHAPES.get(spec.shape)
    if shape is None:
        raise GenerateRefused(f"generate.shape: unknown shape {spec.shape!r}; expected one of {', '.join(SHAPES)}")
    return shape


def generate(spec: GenerateSpec) -> list[KubeObject]:
    """The objects of the cluster, in the order in which to load them. Raises `GenerateRefused`."""
    shape = shape_of(spec)
    cluster = Cluster(
        nodes=spec.nodes if spec.nodes is not None else shape.nodes,
        pods=spec.pods if spec.pods is not None else shape.pods,
        zones=spec.zones if spec.zones is not None else shape.zones,
        seed=spec.seed,
        partitions=spec.partitions,
    )
    hardware = NodeGpus(shape.gpus if spec.gpus is None else spec.gpus, spec.gpu_model, spec.partitions)
    return list(_with_devices((default_object(codec.from_dict(obj, strict=True)) for obj in shape.make(cluster)), hardware))


def _with_devices(objects: Iterable[KubeObject], hardware: NodeGpus) -> Iterator[KubeObject]:
    """Each node's slices follow the node."""
    if hardware.gpus:
        yield from device_classes()
    for obj in objects:
        yield obj
        if isinstance(obj, Node):
            yield from slices_of(obj, hardware)


def _in_words(error: msgspec.ValidationError, parameters: object) -> str:
    fault = explain_validation_error(error, parameters)
    if fault.message == "unknown field":
        fields: dict[str, Any] = {field.encode_name: field for field in msgspec.structs.fields(GenerateSpec)}
        return f"generate.{fault.path}: unknown parameter; expected one of {', '.join(fields)}"
    return str(fault.inside("generate"))
