"""Why the API server refuses to create the pods of a ReplicaSet, a Job or another owner: its `FailedCreate` events."""

from __future__ import annotations

from typing import Final

from schedviz.explain.meaning import Meaning, Row

API_SERVER: Final = "kube-apiserver"

_FORBIDDEN: Final = r'error creating: (?:pods "[^"]*" is forbidden: )?(?:\[)?'

CREATION: Final[tuple[Row, ...]] = (
    (
        _FORBIDDEN + r"exceeded quota: (?P<quota>[^,\s]+), requested: (?P<requested>.+?), used: (?P<used>.+?), limited: (?P<limited>.+)",
        Meaning(
            API_SERVER,
            "the pods are not created, so no scheduler sees them: the quota {quota} allows {limited}, of which {used} is used, and the pod "
            "adds {requested}",
            (),
            "free or raise the quota: `kubectl describe quota` in that namespace shows what is used",
        ),
    ),
    (
        _FORBIDDEN + r"failed quota: (?P<quota>[^:]+): must specify (?P<resources>.+)",
        Meaning(
            API_SERVER,
            "the pods are not created, so no scheduler sees them: the quota {quota} requires each container to state {resources}",
            (),
            "add these requests and limits to the pod's template, or a LimitRange with defaults to the namespace",
        ),
    ),
    (
        _FORBIDDEN + r"(?P<limit>(?:maximum|minimum) .+? per (?:Pod|Container) is .+|.*limit to request ratio.*)",
        Meaning(
            API_SERVER,
            "the pods are not created, so no scheduler sees them: a LimitRange of the namespace forbids it ({limit})",
            (),
            "change the requests and limits in the pod's template, or the LimitRange: `kubectl describe limitrange`",
        ),
    ),
    (
        _FORBIDDEN + r"violates PodSecurity (?P<policy>\"[^\"]*\"): (?P<why>.+)",
        Meaning(
            API_SERVER,
            "the pods are not created, so no scheduler sees them: they violate the Pod Security level {policy} of their namespace ({why})",
            (),
            "change the securityContext in the pod's template, or the namespace's label `pod-security.kubernetes.io/enforce`",
        ),
    ),
    (
        r"error creating: admission webhook (?P<webhook>\"[^\"]*\") denied the request: (?P<why>.+)",
        Meaning(
            API_SERVER,
            "the pods are not created, so no scheduler sees them: the admission webhook {webhook} denies them ({why})",
            (),
            "change the pod's template as the webhook asks, or the webhook's policy",
        ),
    ),
    (
        r"error creating: internal error occurred: failed calling webhook (?P<webhook>\"[^\"]*\"): (?P<why>.+)",
        Meaning(
            API_SERVER,
            "the pods are not created, so no scheduler sees them: the admission webhook {webhook} does not answer ({why})",
            (),
            "look at the pods of the webhook's service, and at `kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations`",
        ),
    ),
    (
        _FORBIDDEN + r"error looking up service account (?P<account>[^:]+): .+",
        Meaning(
            API_SERVER,
            "the pods are not created, so no scheduler sees them: the service account {account} does not exist",
            (),
            "create the service account, or correct serviceAccountName in the pod's template",
        ),
    ),
    (
        _FORBIDDEN + r"no PriorityClass with name (?P<priority>\S+) was found",
        Meaning(
            API_SERVER,
            "the pods are not created, so no scheduler sees them: the PriorityClass {priority} does not exist",
            (),
            "create the PriorityClass, or correct priorityClassName in the pod's template",
        ),
    ),
    (
        r"error creating: (?P<why>.+)",
        Meaning(
            API_SERVER,
            "the pods are not created, so no scheduler sees them: {why}",
            (),
            "look at the events of the ReplicaSet, Job or StatefulSet: `kubectl describe` it",
        ),
    ),
)
