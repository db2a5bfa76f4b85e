"""Reasons that concern devices and their claims (dynamic resource allocation)."""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.plugins import names
from schedviz.explain.meaning import Meaning, Row

_LOOK: Final = "compare the claims with the devices: `kubectl get resourceclaims -A` and `kubectl get resourceslices`"

DEVICES: Final[tuple[Row, ...]] = (
    (
        (
            r'(?:running "DynamicResources" filter plugin(?: for pod "[^"]*")?: )?'
            r"(?P<where>(?:claim|class) \S+: selector #\d+): CEL (?:runtime|compile) error: (?P<why>.*)"
        ),
        Meaning(
            names.DYNAMIC_RESOURCES,
            "the expression of {where} fails on a device: {why}",
            ("the expression reads an attribute that some device of the driver lacks",),
            'test for the attribute first, as in `has(device.attributes["DRIVER"].NAME) && …`; until then, no node is tried',
        ),
    ),
    (
        "cannot allocate all claims",
        Meaning(
            names.DYNAMIC_RESOURCES,
            "not all devices that the pod's claims request are available on the node",
            (),
            _LOOK,
            of_nodes=("{nodes} lacks free devices for the pod's claims", "{nodes} lack free devices for the pod's claims"),
        ),
    ),
    (
        r"resourceclaim not available on the node",
        Meaning(
            names.DYNAMIC_RESOURCES,
            "a claim of the pod is allocated to a device that this node cannot reach",
            (),
            _LOOK,
            of_nodes=("{nodes} cannot reach the device of the pod's claim", "{nodes} cannot reach the device of the pod's claim"),
        ),
    ),
    (
        r"resourceclaim in use",
        Meaning(
            names.DYNAMIC_RESOURCES,
            "a claim of the pod is reserved for as many other pods as may share it",
            (),
            "wait for the other pods, or give the pod a claim of its own",
        ),
    ),
    (
        r"resource ?claim (?P<claim>\S+) is in the process of being allocated",
        Meaning(names.DYNAMIC_RESOURCES, "another pod's cycle is allocating the claim {claim}", (), "wait: the pod is tried again"),
    ),
    (
        r"(?:request (?P<request>.+): )?(?:device|resource) class (?P<class>\S+) does not exist",
        Meaning(names.DYNAMIC_RESOURCES, "a claim requests the device class {class}, which does not exist", (), "install its driver"),
    ),
    (
        (
            r"(?:could not find|waiting for dynamic resource controller to create) (?:the )?ResourceClaim(?: \"?(?P<claim>[^\"]*)\"?)?|"
            r"pod \"[^\"]*\": ResourceClaim not created yet|"
            r"ResourceClaim (?P<own>\S+) was not created for Pod .*|resourceclaim(?:\.resource\.k8s\.io)? \"(?P<name>.*)\" not found"
        ),
        Meaning(
            names.DYNAMIC_RESOURCES,
            "a claim of the pod does not exist yet",
            (),
            "check the pod's resourceClaims and the ResourceClaimTemplate; kube-controller-manager creates claims from it",
        ),
    ),
    (
        r"(?:cannot schedule extended resource claim|cannot fit resource)",
        Meaning(
            names.DYNAMIC_RESOURCES,
            "the node has no free device for an extended resource of the pod",
            (),
            _LOOK,
            of_nodes=("{nodes} has no free device for the pod", "{nodes} have no free device for the pod"),
        ),
    ),
    (
        r"waiting for resource driver to (?:allocate resource|provide information)",
        Meaning(
            names.DYNAMIC_RESOURCES,
            "the driver of a claim has not answered (dynamic resource allocation before Kubernetes 1.31)",
            (),
            "look at the log of the driver's controller",
        ),
    ),
    (
        r"(?:node allocatable resource claim .*|claim .*: node-allocatable resource claim .*|pod level request for .* is insufficient .*)",
        Meaning(names.DYNAMIC_RESOURCES, "a claim for resources of the node itself does not match the pod", (), _LOOK),
    ),
    (
        r"resource ?claim .*(?:feature is disabled|unknown request type|has no .*)",
        Meaning(names.DYNAMIC_RESOURCES, "a claim of the pod uses a feature that this scheduler does not have", (), _LOOK),
    ),
    (
        (
            r"(?:no new claims to deallocate|still not schedulable|plugin disabled|(?:deallocation|deletion) of ResourceClaim completed|"
            r"ResourceClaim unreserved for PodGroup)"
        ),
        Meaning(
            names.DYNAMIC_RESOURCES,
            "whether releasing a claim of the pod would help: a note of the plugin, not a reason",
            (),
            "nothing: the other reasons matter",
            is_note=True,
        ),
    ),
)
