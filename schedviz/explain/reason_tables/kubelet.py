"""Why a pod that has a node does not start there: the kubelet's events. Why it rejects or evicts a pod is in `rejections.py`."""

from __future__ import annotations

from typing import Final

from schedviz.explain.meaning import Meaning, Row

KUBELET: Final = "kubelet"

_SANDBOX: Final = r"Failed (?:to )?create pod sandbox: "
_CHECK_IMAGE: Final = (
    "check the name and tag of the image, the registry, and the pod's `imagePullSecrets`; `kubectl describe pod{pod}` shows the "
    "kubelet's events"
)
_OF_VOLUME: Final = "read what the message says after the volume's name, and the log of the storage driver's pod on that node"
_OVER_LIMIT: Final = (
    "cordon the node, and delete the pod{pod}, so that a new one is placed elsewhere. Then lower the limit that the driver reports: "
    "`kubectl get csinodes -o yaml` shows it as `allocatable.count`; other devices, such as network interfaces, may use the same slots"
)
_PULL: Final = r'Failed to pull image "(?P<image>[^"`]+)": '

OF_KUBELET: Final[tuple[Row, ...]] = (
    (
        _SANDBOX + r'.*failed to (?:get sandbox image|pull (?:and unpack )?image) "(?P<image>[^"`]+)".*',
        Meaning(
            KUBELET,
            "the pod has a node, but that node cannot pull the sandbox image `{image}`, which every pod needs",
            ("the node cannot reach the registry",),
            "make the registry reachable from the node, or set another sandbox image in the configuration of its container runtime",
        ),
    ),
    (
        _SANDBOX + r".*failed to assign an IP address to container.*",
        Meaning(
            KUBELET,
            "the pod has a node, but the network plugin of AWS has no IP address for it there",
            ("the subnet of the node has no free addresses", "the network interfaces of the machine have no more addresses"),
            (
                "check how many free addresses the node's subnet has, and the log of the `aws-node` pod on that node: `kubectl get pods -n "
                "kube-system -o wide -l k8s-app=aws-node`. Prefix delegation gives a node more addresses"
            ),
        ),
    ),
    (
        _SANDBOX + r".*\bno IP addresses available in range set: (?P<range>\S+?)(?:[;,\s].*)?",
        Meaning(
            KUBELET,
            (
                "the pod has a node, but the network plugin has no IP address for it there: all addresses of the node's range are in "
                "use ({range})"
            ),
            ("the node runs as many pods as it has addresses", "addresses of deleted pods were not given back"),
            (
                "run fewer pods on that node, or give nodes larger ranges; addresses that no pod uses are files under "
                "`/var/lib/cni/networks` on the node"
            ),
        ),
    ),
    (
        _SANDBOX + r'.*\bplugin type="(?P<plugin>[^"`]+)".*',
        Meaning(
            KUBELET,
            "the pod has a node, but the network plugin `{plugin}` cannot set up its network there",
            ("the pods of the network plugin are not running on that node", "the plugin has no free IP address for the pod"),
            "check the pods of the network plugin on that node, and their logs: `kubectl get pods -A -o wide`",
        ),
    ),
    (
        _SANDBOX + r".*(?:networkPlugin cni failed|set ?up network|pod network sandbox|cni (?:plugin not |config un)initialized).*",
        Meaning(
            KUBELET,
            "the pod has a node, but the network plugin cannot set up its network there",
            ("the pods of the network plugin are not running on that node", "the plugin has no free IP address for the pod"),
            "check the pods of the network plugin on that node, and their logs: `kubectl get pods -A -o wide`",
        ),
    ),
    (
        _SANDBOX + r".+",
        Meaning(
            KUBELET,
            "the pod has a node, but the kubelet cannot create its sandbox there",
            (),
            "correct what the message names, and read the logs on that node: `journalctl -u kubelet -u containerd`",
        ),
    ),
    (
        r'Multi-Attach error for volume "(?P<volume>[^"`]+)" Volume is already used by pod\(s\) (?P<users>[^`]+)',
        Meaning(
            KUBELET,
            "the pod has a node, but its volume `{volume}` is still attached to the node of `{users}`, and only one node can have it",
            (
                "the pod that uses the volume has not ended, or its node is down",
                "a rolling update starts a pod before the old one has ended",
            ),
            (
                "wait until `{users}` has ended, or delete it if it is no longer needed; if a Deployment uses the volume, set `strategy: "
                "Recreate`. To see where volumes are attached, run `kubectl get volumeattachments`"
            ),
        ),
    ),
    (
        r'Multi-Attach error for volume "(?P<volume>[^"`]+)".*',
        Meaning(
            KUBELET,
            "the pod has a node, but its volume `{volume}` is still attached to another node, and only one node can have it",
            (
                "the pod that used the volume has not ended, or its node is down",
                "a rolling update starts a pod before the old one has ended",
            ),
            (
                "make sure that the pod that used the volume has ended; if a Deployment uses the volume, set `strategy: Recreate`. To see "
                "where volumes are attached, run `kubectl get volumeattachments`"
            ),
        ),
    ),
    (
        r'MountVolume\.SetUp failed for volume "[^"]+" ?: (?P<kind>configmap|secret) "(?P<name>[^"`]+)" not found.*',
        Meaning(
            KUBELET,
            "the pod has a node, but cannot start: the {kind} `{name}` does not exist in its namespace",
            (),
            "create it, or correct its name in the pod's template: `kubectl get {kind}s{namespace}`",
        ),
    ),
    (
        r'AttachVolume\.Attach failed for volume "(?P<volume>[^"`]+)".*attach up to (?P<limit>\d+) devices.*',
        Meaning(
            KUBELET,
            "the pod has a node, but its volume `{volume}` cannot be attached there: the machine already has its {limit} devices",
            ("the storage driver reports a higher limit to the scheduler than the machine has",),
            _OVER_LIMIT,
        ),
    ),
    (
        r'AttachVolume\.Attach failed for volume "(?P<volume>[^"`]+)".*(?:LimitExceeded|max(?:imum)? (?:number|count) of|volume limit).*',
        Meaning(
            KUBELET,
            "the pod has a node, but its volume `{volume}` cannot be attached there: the machine has as many volumes as it can attach",
            ("the storage driver reports a higher limit to the scheduler than the machine has",),
            _OVER_LIMIT,
        ),
    ),
    (
        r'AttachVolume\.Attach failed for volume "(?P<volume>[^"`]+)".*',
        Meaning(KUBELET, "the pod has a node, but its volume `{volume}` cannot be attached to it", (), _OF_VOLUME),
    ),
    (
        r'M(?:ount|ap)Volume\.\w+ failed for volume "(?P<volume>[^"`]+)".*',
        Meaning(KUBELET, "the pod has a node, but its volume `{volume}` cannot be mounted there", (), _OF_VOLUME),
    ),
    (
        r"Unable to (?:attach or )?mount volumes.*",
        Meaning(
            KUBELET,
            "the pod has a node, but its volumes were not mounted there in time",
            (),
            "look for an earlier FailedAttachVolume or FailedMount event, which says why: `kubectl describe pod{pod}`",
        ),
    ),
    (
        r"Back-off restarting failed container\b.*",
        Meaning(
            KUBELET,
            "the pod has a node, but one of its containers ends again and again, so the kubelet waits before each restart",
            (),
            (
                "read why the container ended: `kubectl logs{pod} --all-containers --previous`; until the init containers have succeeded, "
                "the others do not start"
            ),
        ),
    ),
    (
        _PULL + r".*(?:not ?found|manifest unknown|does not exist).*",
        Meaning(KUBELET, "the pod has a node, but its image `{image}` was not found", (), _CHECK_IMAGE),
    ),
    (
        _PULL + r".*(?:unauthorized|denied|forbidden|authentication required).*",
        Meaning(KUBELET, "the pod has a node, but the registry refuses access to its image `{image}`", (), _CHECK_IMAGE),
    ),
    (
        _PULL + r".*",
        Meaning(KUBELET, "the pod has a node, but its image `{image}` could not be pulled", (), _CHECK_IMAGE),
    ),
)
