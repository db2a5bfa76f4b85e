import pytest

from schedviz.engine.framework.cycle_state import CycleState

NAME = "VolumeZone"
ELSEWHERE = (NAME, "UnschedulableAndUnresolvable", ("node(s) had no available volume zone",))
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"


def _answer(world, pod):
    world.update()
    config = {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "VolumeBinding"}, {"name": "VolumeRestrictions"}]}}}]}
    outcome = world.framework(config).run_pre_filter_plugins(CycleState(), pod)
    return next(answer.status for answer in outcome.plugin_results if answer.plugin == NAME)


def test_a_node_must_be_in_zone_and_region_of_every_volume(world, storage):
    world.node("right", labels={ZONE: "z1", REGION: "r1"})
    world.node("wrong zone", labels={ZONE: "z3", REGION: "r1"})
    world.node("no region", labels={ZONE: "z2"})
    world.node("unlabelled")
    storage.volume("v", labels={ZONE: "z1__ z2", REGION: "r1"})
    storage.claim("c", volume="v")

    assert world.rejections(world.framework(), storage.pod("p", "c")) == {"wrong zone": ELSEWHERE, "no region": ELSEWHERE}


def test_pods_whose_volumes_are_in_no_zone_are_skipped(world, storage):
    storage.volume("v", labels={ZONE: "z1____z2"})  # not a list of zones: upstream ignores it
    storage.claim("c", volume="v")
    storage.storage_class("wait")
    storage.claim("later", storage_class="wait")

    assert _answer(world, world.pod("p")).is_skip
    assert _answer(world, storage.pod("q", "c", "later")).is_skip


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({}, "PersistentVolumeClaim had no pv name and storageClass name"),
        ({"storage_class": "gone"}, 'storageclass.storage.k8s.io "gone" not found'),
        ({"storage_class": "imm"}, "PersistentVolume had no name"),
        ({"volume": "gone"}, 'persistentvolume "gone" not found'),
    ],
)
def test_claims_that_no_node_can_serve_are_named(world, storage, claim, message):
    storage.storage_class("imm", waits=False)
    storage.claim("c", **claim)

    status = _answer(world, storage.pod("p", "c"))

    assert (status.code.value, status.reasons) == ("UnschedulableAndUnresolvable", (message,))


def test_without_prefilter_the_volumes_are_looked_up_at_filter(world, storage):
    world.node("a", labels={ZONE: "z1"})
    storage.volume("v", labels={ZONE: "z2"})
    storage.claim("c", volume="v")
    framework, pod = world.framework(), storage.pod("p", "c")
    world.update()
    state = CycleState()
    framework.run_pre_filter_plugins(state, pod)
    state = CycleState()
    only_zone = world.framework(
        {
            "profiles": [
                {
                    "plugins": {
                        "preFilter": {"disabled": [{"name": "*"}]},
                        "filter": {"enabled": [{"name": NAME}], "disabled": [{"name": "*"}]},
                        "multiPoint": {"disabled": [{"name": "*"}], "enabled": [{"name": "PrioritySort"}, {"name": "DefaultBinder"}]},
                    }
                }
            ]
        }
    )

    outcome = only_zone.filter_rows(state, pod, world.snapshot.rows(), 10)

    assert outcome.node_to_status()["a"].reasons == ELSEWHERE[2]
