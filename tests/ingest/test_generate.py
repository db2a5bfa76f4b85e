"""Generated clusters."""

import pytest

from schedviz.engine import Simulation
from schedviz.ingest.generate import GenerateRefused, GenerateSpec, generate, parse_generate_spec
from schedviz.ingest.generated_shapes import SHAPES
from schedviz.kube.core import Node, Pod
from schedviz.kube.devices import DeviceClass, ResourceClaim, ResourceSlice
from schedviz.trace.commands import Run
from schedviz.trace.simulation_settings import SimulationSettings


def of(type_, objects):
    return [obj for obj in objects if isinstance(obj, type_)]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_spec_gives_the_same_cluster_without_a_name_twice(shape):
    objects = generate(GenerateSpec(shape=shape, seed=7))
    assert objects == generate(GenerateSpec(shape=shape, seed=7))
    assert len({(type(obj), obj.key) for obj in objects}) == len(objects)
    assert len(of(Node, objects)) == SHAPES[shape].nodes
    assert len(of(Pod, objects)) == SHAPES[shape].pods


@pytest.mark.parametrize("shape", SHAPES)
def test_bound_pods_are_on_nodes_that_exist(shape):
    objects = generate(GenerateSpec(shape=shape, nodes=1))
    names = {node.name for node in of(Node, objects)}
    assert {pod.spec.node_name for pod in of(Pod, objects)} <= names | {""}


def test_another_seed_gives_another_cluster():
    assert generate(GenerateSpec(seed=1)) != generate(GenerateSpec(seed=2))


def test_a_cluster_has_the_requested_size():
    objects = generate(GenerateSpec(shape="basic", nodes=30, pods=7, zones=4))
    assert len(of(Pod, objects)) == 7
    assert {node.metadata.labels["topology.kubernetes.io/zone"] for node in of(Node, objects)} == {"zone-a", "zone-b", "zone-c", "zone-d"}


def test_the_demo_shows_every_outcome_of_a_pod():
    pods = of(Pod, generate(GenerateSpec(shape="demo")))
    assert [pod.name for pod in pods][:4] == ["cache-1", "api-1", "web-1", "web-2"]
    assert {pod.spec.priority for pod in pods} == {None, 1000}
    assert sum(bool(pod.spec.scheduling_gates) for pod in pods) == 1
    assert sum(bool(pod.spec.node_name) for pod in pods) == 2


def test_parameters_come_from_json():
    assert parse_generate_spec({"shape": "gpu", "nodes": 3}) == GenerateSpec(shape="gpu", nodes=3)
    assert parse_generate_spec({}) == GenerateSpec()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"nodes": 0}, "generate.nodes: expected a whole number of at least 1, found 0"),
        ({"nodes": 20_000}, "generate.nodes: expected a whole number of at most 15000, found 20000"),
        ({"pods": "many"}, 'generate.pods: expected a whole number, found "many"'),
        ({"nods": 1}, "generate.nods: unknown parameter; expected one of shape, nodes, pods, zones, seed, gpus, gpuModel, partitions"),
        (
            {"shape": "round"},
            "generate.shape: unknown shape 'round'; expected one of demo, basic, mixed, gpu, spread, affinity, preempt, devices",
        ),
        ({"gpus": 33}, "generate.gpus: expected a whole number of at most 32, found 33"),
        ({"gpuModel": "l4", "partitions": True}, "generate.partitions: GPUs of the model l4 have no partitions; those of a100, h100 have"),
        ([], "generate: expected an object, found a list"),
    ],
)
def test_invalid_parameters_are_refused_with_a_sentence(parameters, message):
    with pytest.raises(GenerateRefused) as caught:
        parse_generate_spec(parameters)
    assert str(caught.value) == message


def test_only_the_shape_devices_has_slices_unless_gpus_are_requested():
    assert {shape for shape in SHAPES if of(ResourceSlice, generate(GenerateSpec(shape=shape)))} == {"devices"}
    objects = generate(GenerateSpec(shape="basic", nodes=3, gpus=8))
    assert [each.spec.node_name for each in of(ResourceSlice, objects)] == ["node-1", "node-2", "node-3"]
    assert {each.name for each in of(DeviceClass, objects)} == {"gpu.example.com", "partition.gpu.example.com"}


@pytest.mark.parametrize("partitions", [False, True])
def test_every_claim_of_the_shape_devices_can_be_allocated_while_there_are_devices(partitions):
    simulation = Simulation(SimulationSettings(release="v1.36"))
    simulation.load(generate(GenerateSpec(shape="devices", pods=8, partitions=partitions)))
    simulation.start(Run())
    simulation.work()
    claims = [simulation.cluster.find("ResourceClaim", claim.key) for claim in of(ResourceClaim, simulation.stored_objects())]
    assert claims
    assert all(claim.status.allocation is not None for claim in claims)
