"""Reads the objects of kubectl's current cluster with the user's own kubectl. It only reads."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

from schedviz.client.errors import SchedvizError

#: The resources that the scheduler reads. Those that a cluster does not have, or the user may not read, are left out.
KINDS = (
    "nodes",
    "pods",
    "namespaces",
    "priorityclasses",
    "persistentvolumes",
    "persistentvolumeclaims",
    "storageclasses",
    "csinodes",
    "services",
    "replicasets",
    "statefulsets",
    "replicationcontrollers",
    "poddisruptionbudgets",
    "csidrivers",
    "csistoragecapacities",
    "volumeattachments",
    "deviceclasses",
    "devicetaintrules",
    "resourceslices",
    "resourceclaims",
    "podgroups",
)
#: The required resources.
_REQUIRED = ("nodes", "pods")
_TIMEOUT_SECONDS = 120


class KubectlError(SchedvizError):
    """kubectl is not installed or could not read a required resource."""


def read_cluster(*, context: str | None = None, kubeconfig: str | None = None, kinds: Sequence[str] = KINDS) -> list[tuple[str, bytes]]:
    """One JSON file for each resource that can be read. Raises `KubectlError`."""
    program = shutil.which("kubectl")
    if program is None:
        raise KubectlError("kubectl is not on the PATH; install it, or write a dump elsewhere and use Session.from_files.")
    options = [*(["--context", context] if context else []), *(["--kubeconfig", kubeconfig] if kubeconfig else [])]
    files: list[tuple[str, bytes]] = []
    for kind in kinds:
        command = [program, *options, "get", kind, "--all-namespaces", "--output", "json"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_SECONDS, check=False)  # noqa: S603 -- the user's kubectl.
        except subprocess.TimeoutExpired as error:
            raise KubectlError(f"kubectl get {kind} takes longer than {_TIMEOUT_SECONDS} s.") from error
        if done.returncode == 0:
            files.append((f"{kind}.json", done.stdout))
        elif kind in _REQUIRED:
            raise KubectlError(f"kubectl get {kind}: {done.stderr.decode(errors='replace').strip()}")
    return files
