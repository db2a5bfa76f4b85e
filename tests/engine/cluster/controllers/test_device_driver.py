"""The driver of made-up GPUs publishes the devices of nodes."""

from __future__ import annotations

from typing import Any


def slices(do: Any) -> dict[str, tuple[int, int]]:
    """Name -> generation and number of devices."""
    result = do.simulation.cluster.store.of_kind("ResourceSlice").values()
    return {each.name: (each.spec.pool.generation, len(each.spec.devices)) for each in result}


def labelled(node: Any, name: str, **labels: str) -> dict[str, Any]:
    made: dict[str, Any] = node(name)
    made["metadata"]["labels"] = {f"gpu.example.com/{key}": value for key, value in labels.items()}
    return made


def test_the_device_driver_is_off_by_default(session: Any) -> None:
    assert slices(session()) == {}


def test_every_node_gets_slices_and_the_classes_exist(session: Any, node: Any) -> None:
    do = session()
    do("helper", name="deviceDriver")
    assert slices(do) == {f"node{number}-gpu.example.com-0": (1, 4) for number in range(1, 5)}
    assert do.names("DeviceClass") == ["gpu.example.com", "partition.gpu.example.com"]

    do("create", object=node("node9"))
    assert slices(do)["node9-gpu.example.com-0"] == (1, 4)


def test_the_labels_of_a_node_describe_its_devices(session: Any, node: Any) -> None:
    do = session()
    do("helper", name="deviceDriver")
    do("create", object=labelled(node, "big", count="8", model="h100", partitions="true"))
    do("create", object=labelled(node, "none", count="0"))
    result = slices(do)
    assert [result[f"big-gpu.example.com-{place}"][1] for place in range(3)] == [0, 64, 40]
    assert not any(name.startswith("none-") for name in result)


def test_a_changed_node_and_a_changed_slice_get_a_new_generation(session: Any, node: Any) -> None:
    do = session()
    do("helper", name="deviceDriver")
    do("update", object=labelled(node, "node1", count="2"))
    assert slices(do)["node1-gpu.example.com-0"] == (2, 2)

    do("delete", kind="ResourceSlice", name="node1-gpu.example.com-0", namespace="")
    assert slices(do)["node1-gpu.example.com-0"] == (1, 2)


def test_the_slices_of_a_deleted_node_go_and_a_deleted_class_stays_away(session: Any) -> None:
    do = session()
    do("helper", name="deviceDriver")
    do("delete", kind="DeviceClass", name="gpu.example.com", namespace="")
    do("delete", kind="Node", name="node1", namespace="")
    assert "node1-gpu.example.com-0" not in slices(do)
    assert do.names("DeviceClass") == ["partition.gpu.example.com"]
