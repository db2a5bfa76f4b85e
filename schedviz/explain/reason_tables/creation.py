"""Why the API server refuses to create the pods of a ReplicaSet, a Job or another owner: its `FailedCreate` events."""

from __future__ import annotations

from typing import Final

from schedviz.explain.meaning import Meaning, Row

API_SERVER: Final = "kube-apiserver"

#: With or without the words of the controller before those of the API server.
_CREATING: Final = r"(?:error creating(?: [a-z]+ pod)?: |create pod \S+ in statefulset \S+ failed error: )"
_FORBIDDEN: Final = rf'(?:{_CREATING}(?:pods "[^"]*" is forbidden: )?|pods "[^"]*" is forbidden: )(?:\[)?'

CREATION: Final[tuple[Row, ...]] = (
    (
        _CREATING + r"(?:timeout: request did not complete|the server was unable to return a response in the time|.*context deadline).*",
        Meaning(
            API_SERVER,
            "no pod is created: the API server did not complete the request in time",
            ("an admission webhook does not respond", "the API server or etcd is overloaded"),
            (
                "check the admission webhooks for pods, and whether the pods of their services are running: `kubectl get "
                "validatingwebhookconfigurations,mutatingwebhookconfigurations`. Then check the API server's load and latency"
            ),
        ),
    ),
    (
        r"create pod (?P<pod_name>\S+) in statefulset \S+ failed error: the post operation against pod could not be completed.*",
        Meaning(
            API_SERVER,
            "no pod is created: the API server did not accept `{pod_name}`, usually because a pod of this name still exists",
            ("the old pod is still terminating", "an admission plugin or an initializer does not finish"),
            "look for the old pod with `kubectl get pod {pod_name}{namespace}`; the StatefulSet creates the new one when it is gone",
        ),
    ),
    (
        _FORBIDDEN + r"exceeded quota: (?P<quota>[^,\s]+), requested: (?P<requested>.+?), used: (?P<used>.+?), limited: (?P<limited>.+)",
        Meaning(
            API_SERVER,
            "no pod is created: the quota `{quota}` allows {limited}; {used} is in use, and the pod requests {requested}",
            (),
            "delete what is not needed, or raise the quota: `kubectl describe quota {quota}{namespace}`",
        ),
    ),
    (
        _FORBIDDEN + r"failed quota: (?P<quota>[^:]+): must specify (?P<resources>.+)",
        Meaning(
            API_SERVER,
            "no pod is created: the quota `{quota}` requires each container to specify {resources}",
            (),
            "add these requests and limits to the pod's template, or a LimitRange with defaults to the namespace",
        ),
    ),
    (
        _FORBIDDEN + r"(?P<limit>(?:maximum|minimum) .+? per (?:Pod|Container) is .+?|.*limit to request ratio.*?)\]?",
        Meaning(
            API_SERVER,
            "no pod is created: a LimitRange of the namespace does not allow it ({limit})",
            (),
            "change the requests and limits in the pod's template, or the LimitRange: `kubectl describe limitrange{namespace}`",
        ),
    ),
    (
        _FORBIDDEN + r"violates PodSecurity (?P<policy>\"[^\"]*\"): (?P<why>.+)",
        Meaning(
            API_SERVER,
            "no pod is created: it would violate the Pod Security level {policy} of its namespace ({why})",
            (),
            "change the `securityContext` in the pod's template, or the namespace's label `pod-security.kubernetes.io/enforce`",
        ),
    ),
    (
        _FORBIDDEN + r"unable to validate against any security context constraint: \[?\]?",
        Meaning(
            API_SERVER,
            "no pod is created: the pod's service account may use no SecurityContextConstraints (SCC)",
            (),
            "grant the pod's service account an SCC: `oc adm policy add-scc-to-user SCC -z SERVICE_ACCOUNT{namespace}`",
        ),
    ),
    (
        _FORBIDDEN + r"unable to validate against any security context constraint: .+",
        Meaning(
            API_SERVER,
            (
                "no pod is created: none of the SecurityContextConstraints (SCC) that the pod's service account may use allows the pod's "
                "template"
            ),
            (),
            (
                "remove from the pod's template what the message calls invalid, such as a fixed `runAsUser`, or grant the pod's service "
                "account an SCC that allows it: `oc adm policy add-scc-to-user SCC -z SERVICE_ACCOUNT{namespace}`"
            ),
        ),
    ),
    (
        _FORBIDDEN + r"PodSecurityPolicy: unable to admit pod: (?P<why>.+)",
        Meaning(
            API_SERVER,
            "no pod is created: none of the PodSecurityPolicies that apply to the pod allows its template ({why})",
            (),
            (
                "remove from the pod's template what the message calls invalid, or let the pod's service account use a PodSecurityPolicy "
                "that allows it: `kubectl get podsecuritypolicies`"
            ),
        ),
    ),
    (
        _FORBIDDEN + r"no providers available to validate pod (?:request|against)\b.*",
        Meaning(
            API_SERVER,
            "no pod is created: neither the controller nor the pod's service account may use a PodSecurityPolicy",
            (),
            "bind a role with the verb `use` for a PodSecurityPolicy to the pod's service account; your own permissions do not apply",
        ),
    ),
    (
        _CREATING + r"admission webhook (?P<webhook>\"[^\"]*\") denied the request: (?P<why>.+)",
        Meaning(
            API_SERVER,
            "no pod is created: the admission webhook {webhook} denies the request ({why})",
            (),
            "change the pod's template as the webhook requires, or change the webhook's policy",
        ),
    ),
    (
        (
            _CREATING + r"internal error occurred: failed calling webhook (?P<webhook>\"[^\"]*\"): .*?"
            r"https?://(?P<service>[a-z0-9-]+)\.(?P<home>[a-z0-9-]+)\.svc[^\"]*\": (?P<why>.+)"
        ),
        Meaning(
            API_SERVER,
            "no pod is created: the admission webhook {webhook} does not respond: {why}",
            ("the pods of its service are not running", "a NetworkPolicy blocks the call, or a certificate has expired"),
            "make sure that the pods of its service {service} are running: `kubectl get pods,endpoints -n {home}`",
        ),
    ),
    (
        _CREATING + r"internal error occurred: failed calling webhook (?P<webhook>\"[^\"]*\"): (?P<why>.+)",
        Meaning(
            API_SERVER,
            "no pod is created: the admission webhook {webhook} does not respond ({why})",
            (),
            (
                "check the pods of the webhook's service, and the webhook's configuration: `kubectl get "
                "validatingwebhookconfigurations,mutatingwebhookconfigurations`"
            ),
        ),
    ),
    (
        _FORBIDDEN + r"error looking up service account (?P<account>[^:]+): .+",
        Meaning(
            API_SERVER,
            "no pod is created: the service account `{account}` does not exist",
            (),
            "create the service account, or correct `serviceAccountName` in the pod's template",
        ),
    ),
    (
        _FORBIDDEN + r"no PriorityClass with name (?P<priority>\S+) was found",
        Meaning(
            API_SERVER,
            "no pod is created: the PriorityClass `{priority}` does not exist",
            (),
            "create the PriorityClass, or correct `priorityClassName` in the pod's template",
        ),
    ),
    (
        rf'(?:{_CREATING}(?:pods "[^"]*" is forbidden: )?|pods "[^"]*" is forbidden: )(?P<why>.+)',
        Meaning(
            API_SERVER,
            "no pod is created: {why}",
            (),
            "check the events of the ReplicaSet, Job, or StatefulSet with `kubectl describe`",
        ),
    ),
)
