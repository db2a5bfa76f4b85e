# ruff: noqa: INP001
"""Compares the messages of a real cluster's scheduler with the computed ones, and runs `doctor` on it. It only reads.

    .venv/bin/python tools/live_messages.py --kubeconfig FILE
    .venv/bin/python tools/live_messages.py -f objects.json [-f scheduler.log]

Each pending pod counts: the message in its PodScheduled condition against the one that `schedviz explain` computes, literally. A pod whose
last attempt is older than a change of the cluster has an older message: wait six minutes after the last change, because a scheduler tries
every pod again after five. Exits with 1 if a message differs, a refused pod is said to fit, or `doctor` finds a difference.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from schedviz.cli.loading import examined, loaded, simulated
from schedviz.explain.why import why_pending
from schedviz.kube.core import Pod
from schedviz.terminal import say

#: What v1.36 reads, apart from PodGroups, which most API servers do not have.
READ = (
    "nodes,pods,persistentvolumes,persistentvolumeclaims,storageclasses,csinodes,csidrivers,csistoragecapacities,volumeattachments,"
    "services,replicationcontrollers,replicasets,statefulsets,poddisruptionbudgets,priorityclasses,namespaces,resourceclaims,"
    "resourceslices,deviceclasses"
)
#: Pods that wait without a refusal: nodes that fit them are no contradiction.
WITHOUT_REFUSAL = frozenset({"gated", "nominated", "ignored"})


def dumped(kubectl: str, kubeconfig: str, target: Path) -> Path:
    """The file with everything that the scheduler reads. Raises CalledProcessError."""
    command = [kubectl, *(["--kubeconfig", kubeconfig] if kubeconfig else []), "get", READ, "-A", "-o", "json"]
    target.write_bytes(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)  # noqa: S603 - the caller's kubectl
    return target


def compare(paths: list[Path]) -> bool:
    """Print what differs, and the totals; returns whether nothing does."""
    found = loaded(paths)
    simulation = simulated(found)
    pending = [obj for obj in found.objects if isinstance(obj, Pod) and not obj.spec.node_name]
    same = false_fits = 0
    for pod in pending:
        explanation = why_pending(simulation, pod.key)
        same += explanation.message == explanation.said
        if explanation.message != explanation.said:
            say(f"{pod.key} ({explanation.standing})")
            say(f"  its scheduler: {explanation.said}")
            say(f"  schedviz:      {explanation.message}")
        if explanation.fits and explanation.said and explanation.standing not in WITHOUT_REFUSAL:
            false_fits += 1
            say(f"{pod.key}: refused, and said to fit: {explanation.sentence}")
    differences = [finding for examination in examined(found) for finding in examination.differences]
    for finding in differences:
        say(f"doctor: {finding.sentence} (likely: {finding.cause})")
    say(
        f"kube-scheduler {simulation.settings.release}: {same} of {len(pending)} messages literally equal, "
        f"{false_fits} refused pods said to fit, {len(differences)} differences of doctor"
    )
    return same == len(pending) and not false_fits and not differences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", default="", help="the cluster; default: kubectl's own")
    parser.add_argument("--kubectl", default="kubectl", help="the program")
    parser.add_argument("-f", "--file", dest="files", action="append", type=Path, default=[], help="dumps and logs instead of a cluster")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = options.files or [dumped(options.kubectl, options.kubeconfig, Path(folder) / "objects.json")]
        sys.exit(0 if compare(paths) else 1)


if __name__ == "__main__":
    main()
