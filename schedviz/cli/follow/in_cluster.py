"""The credentials of the pod in which `schedviz follow` runs: its service account. The kubelet renews the token in its file.

Upstream: client-go rest/config.go InClusterConfig
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from schedviz.cli.follow.errors import FollowError
from schedviz.cli.follow.kubeconfig import Access

#: Where the kubelet mounts token and certificate authority of the service account.
FOLDER: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
CONTEXT: Final = "in-cluster"


def is_in_cluster(folder: Path = FOLDER) -> bool:
    """Whether this process runs in a pod with the token of a service account."""
    return bool(os.environ.get("KUBERNETES_SERVICE_HOST") and os.environ.get("KUBERNETES_SERVICE_PORT")) and (folder / "token").exists()


def access(folder: Path = FOLDER) -> Access:
    """The access to the API server of this cluster; the token file is read again for each request. Raises `FollowError`."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    try:
        authority = (folder / "ca.crt").read_bytes()
    except OSError as error:
        raise FollowError(f"{folder / 'ca.crt'}: {error.strerror}. Mount it beside the service account's token.") from None
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    return Access(context=CONTEXT, server=server, authority=authority, token_file=str(folder / "token"))
