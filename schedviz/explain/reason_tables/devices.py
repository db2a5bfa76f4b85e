"""Reasons that concern devices and their claims (dynamic resource allocation)."""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.plugins import names
from schedviz.explain.meaning import Meaning, Row

_LOOK: Final = "compare the claims with the available devices: `kubectl get resourceclaims -A` and `kubectl get resourceslices`"

DEVICES: Final[tuple[Row, ...]] = (
    (
        (
            r'(?:running "DynamicResources" filter plugin(?: for pod "[^"]*")?: )?'
            r"(?P<where>(?:claim|class) \S+: selector #\d+): CEL runtime error: "
            r"(?:no such overload|internal error: runtime error: hash of unhashable type)(?:\W.*)?"
        ),
        Meaning(
            names.DYNAMIC_RESOURCES,
            "the expression of {where} compares or combines values of different types on a device",
            ("the expression compares a version or a quantity with text",),
            'convert the text first, as in `… == semver("1.2.3")` or `… == quantity("10Gi")`; until then, no node is tried',
        ),
    ),
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
            "the node does not have all the devices that the pod's claims request",
            (),
            _LOOK,
            of_nodes=(
                "{nodes} does not have enough free devices for the pod's claims",
                "{nodes} do not have enough free devices for the pod's claims",
            ),
            of_none="{nodes} has enough free devices for the pod's claims",
        ),
    ),
    (
        r"resourceclaim not available on the node",
        Meaning(
            names.DYNAMIC_RESOURCES,
            "a claim of the pod is allocated to a device that the node cannot access",
            (),
            _LOOK,
            of_nodes=("{nodes} cannot access the device of the pod's claim", "{nodes} cannot access the device of the pod's claim"),
            of_none="{nodes} can access the device of the pod's claim",
        ),
    ),
    (
        r"resourceclaim in use",
        Meaning(
            names.DYNAMIC_RESOURCES,
            "a claim of the pod is already reserved for the maximum number of pods",
            (),
            "wait until another pod releases the claim, or give the pod its own claim",
        ),
    ),
    (
        r"resource ?claim (?P<claim>\S+) is in the process of being allocated",
        Meaning(
            names.DYNAMIC_RESOURCES,
            "the claim `{claim}` is being allocated for another pod",
            (),
            "no action is needed: the scheduler retries the pod",
        ),
    ),
    (
        r"(?:request (?P<request>.+): )?(?:device|resource) class (?P<class>\S+) does not exist",
        Meaning(
            names.DYNAMIC_RESOURCES,
            "a claim requests the device class {class}, which does not exist",
            (),
            "install the driver that provides this class",
        ),
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
            ("check the pod's `resourceClaims` and the ResourceClaimTemplate, from which kube-controller-manager creates the claim"),
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
            of_none="{nodes} has a free device for the pod",
        ),
    ),
    (
        r"waiting for resource driver to (?:allocate resource|provide information)",
        Meaning(
            names.DYNAMIC_RESOURCES,
            "the DRA driver has not allocated the pod's ResourceClaim",
            (),
            "check the log of the driver's controller",
        ),
    ),
    (
        r"(?:node allocatable resource claim .*|claim .*: node-allocatable resource claim .*|pod level request for .* is insufficient .*)",
        Meaning(names.DYNAMIC_RESOURCES, "a claim for node-allocatable resources does not match the pod", (), _LOOK),
    ),
    (
        r"resource ?claim .*(?:feature is disabled|unknown request type|has no .*)",
        Meaning(names.DYNAMIC_RESOURCES, "a claim of the pod uses a feature that this scheduler does not support", (), _LOOK),
    ),
    (
        (
            r"(?:no new claims to deallocate|still not schedulable|plugin disabled|(?:deallocation|deletion) of ResourceClaim completed|"
            r"ResourceClaim unreserved for PodGroup)"
        ),
        Meaning(
            names.DYNAMIC_RESOURCES,
            "a note by the plugin on whether releasing a claim would help; not a reason",
            (),
            "resolve the other reasons",
            is_note=True,
        ),
    ),
)
