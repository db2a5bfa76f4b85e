"""The version of a cluster, and which release of kube-scheduler a new session simulates for it."""

from __future__ import annotations

from schedviz.cli.follow.cluster_api import ClusterApi
from schedviz.cli.follow.errors import Expired, FollowError, Unavailable
from schedviz.cli.release_options import ChosenRelease
from schedviz.ingest.release_evidence import ReleaseEvidence, kubelet_version, newest
from schedviz.kube.kinds import BY_NAME
from schedviz.trace.releases import RELEASES, is_of_release


def version_of(api: ClusterApi) -> str:
    """The version of the API server, or that of the newest kubelet if the server does not report one; "" if no node has one.

    kube-scheduler is never newer than the API server, and at most one minor version older.
    """
    try:
        if version := api.version():
            return version
        items, _ = api.list(BY_NAME["Node"])
    except (FollowError, Expired, Unavailable):
        # Listing has the same error and reports it.
        return ""
    version = ""
    for item in items:
        version = newest(version, kubelet_version(item))
    return version


def with_release(chosen: ChosenRelease, version: str) -> tuple[ChosenRelease, str]:
    """The choice, with the release that the version suggests if none was chosen; and a sentence about it, "" if there is none."""
    if chosen.release is not None:
        if not version or is_of_release(version, chosen.release):
            return chosen, ""
        return chosen, f"the cluster is {version}, and the session simulates {chosen.release}: {_DIFFERENCES}"
    if not version:
        return chosen, ""
    release = ReleaseEvidence(version).suggested
    message = f"the cluster is {version}: the session simulates kube-scheduler {release}."
    if not is_of_release(version, release):
        message = f"{message} schedviz has {' and '.join(RELEASES)}, and none between them; --release selects another. Some {_DIFFERENCES}"
    return chosen._replace(release=release), message


_DIFFERENCES = "decisions can differ for that reason (docs/releases.md)."
