"""Writes to a cluster with the credentials of a kubeconfig: what the scenarios need, which `schedviz follow` must never do."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx

from schedviz.cli.follow import kubeconfig
from schedviz.cli.follow.credentials import Credentials

_PATIENCE_SECONDS = 60.0


class Cluster:
    """One cluster."""

    def __init__(self, config: Path | None, context: str | None) -> None:
        access = kubeconfig.access(kubeconfig.paths(config), context)
        credentials = Credentials(access)
        self._http = httpx.Client(base_url=access.server, verify=credentials.tls(), headers=credentials.headers(), timeout=60)

    def create(self, path: str, obj: dict[str, Any]) -> dict[str, Any]:
        """Create an object in a collection such as `api/v1/namespaces`. Retries while a controller has not made what it needs."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            response = self._http.post(path, json=obj)
            if response.status_code == httpx.codes.CREATED:
                return dict(response.json())
            # The default ServiceAccount of a new namespace is created a moment later.
            if response.status_code != httpx.codes.FORBIDDEN or time.monotonic() > deadline:
                raise SystemExit(f"{path}: {response.status_code} {response.text[:300]}")
            time.sleep(0.2)

    def delete(self, path: str) -> None:
        """Delete an object."""
        self._http.delete(path)

    def bound(self, namespace: str) -> int:
        """How many pods of a namespace are bound."""
        return sum(bool(pod["spec"].get("nodeName")) for pod in self._pods(namespace))

    def settled(self, namespace: str, count: int) -> bool:
        """Whether there are so many pods in a namespace, and the scheduler has decided on each."""
        pods = self._pods(namespace)
        return len(pods) >= count and all(pod["status"].get("conditions") for pod in pods)

    def _pods(self, namespace: str) -> list[dict[str, Any]]:
        return list(self._http.get(f"api/v1/namespaces/{namespace}/pods").raise_for_status().json()["items"])
