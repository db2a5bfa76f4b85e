"""A fake Kubernetes API server that implements list and watch over HTTP.

Lists have a resourceVersion and are paginated. A watch starts from a version, sends one JSON line per event, and ends with a bookmark when
its timeout is over. If its version was compacted, it gets 410, either as the status of the response or as an ERROR line. The server can be
stopped and restarted at the same address: connections break, versions continue, and watches from before the restart expire, because the
watch cache begins anew. A watch of unfinished pods reports a pod that finishes as deleted.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
import time
from bisect import bisect_right
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

KINDS = {
    "events": "Event",
    "namespaces": "Namespace",
    "nodes": "Node",
    "pods": "Pod",
    "persistentvolumes": "PersistentVolume",
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "services": "Service",
    "replicationcontrollers": "ReplicationController",
    "priorityclasses": "PriorityClass",
    "csinodes": "CSINode",
    "csidrivers": "CSIDriver",
    "storageclasses": "StorageClass",
    "csistoragecapacities": "CSIStorageCapacity",
    "replicasets": "ReplicaSet",
    "statefulsets": "StatefulSet",
    "poddisruptionbudgets": "PodDisruptionBudget",
    "volumeattachments": "VolumeAttachment",
    "deviceclasses": "DeviceClass",
    "devicetaintrules": "DeviceTaintRule",
    "resourceslices": "ResourceSlice",
    "resourceclaims": "ResourceClaim",
    "podgroups": "PodGroup",
}


class KubernetesApi:
    """The objects, their history, and the watches. `requests` has the method, path and query of every request."""

    def __init__(self, *, token: str = "secret-token", tls: ssl.SSLContext | None = None) -> None:
        #: Bearer token; "": TLS client certificates authenticate.
        self.token = token
        self._tls = tls
        self.forbidden: set[tuple[str, str]] = set()
        self.missing: set[str] = set()
        #: The status of every response while it is set, such as 500.
        self.failure: int | None = None
        #: The version that `/version` tells.
        self.version = "v1.36.0"
        #: Whether the server supports access reviews, and the number of received ones.
        self.reviews = True
        self.reviewed = 0
        self.requests: list[tuple[str, str]] = []
        #: Headers of the last request.
        self.headers: Message = Message()
        #: Watches end with a bookmark after this time.
        self.watch_seconds = 60.0
        self.expires_as_error_line = True
        #: How many requests after a restart get 403, before the roles are read.
        self.unready_requests = 0
        self._unready = 0
        self._started = False
        self._changed = threading.Condition()
        self._version = 10
        self._oldest = 0
        self._objects: dict[tuple[str, str], dict[str, Any]] = {}
        self._log: list[tuple[int, str, str, dict[str, Any]]] = []
        self._server: ThreadingHTTPServer | None = None
        self._sockets: set[socket.socket] = set()
        self._port = 0
        self._generation = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self.stop()

    @property
    def address(self) -> str:
        return f"{'http' if self._tls is None else 'https'}://127.0.0.1:{self._port}"

    def start(self) -> None:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                api._sockets.add(self.connection)

            def do_GET(self) -> None:
                api._answer(self)

            def do_POST(self) -> None:
                if self.path.endswith("/selfsubjectaccessreviews"):
                    api._review(self)
                    return
                api.requests.append((self.command, self.path))
                api._status(self, 405, "only reading was expected")

            do_PUT = do_PATCH = do_DELETE = do_POST  # noqa: N815 -- the names that http.server calls.

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, *_: object) -> None:
                """Ignore broken connections, which the tests cause."""

        if self._started:
            # The watch cache of a new process has no history. Its requests are rejected until it has read the roles.
            self._oldest = self._version
            self._unready = self.unready_requests
        self._started = True
        self._server = Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_address[1]
        if self._tls is not None:
            self._server.socket = self._tls.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        """Stop abruptly: watches break in the middle of a response."""
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()
        self._server = None
        with self._changed:
            self._generation += 1
            self._changed.notify_all()
        for one in list(self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    # Changes of the cluster.

    def put(self, resource: str, name: str, *, namespace: str = "", **members: Any) -> dict[str, Any]:
        """Create or replace an object."""
        with self._changed:
            before = self._objects.get((resource, f"{namespace}/{name}"))
            self._version += 1
            metadata = {"name": name, "uid": before["metadata"]["uid"] if before else f"uid-{self._version}"}
            if namespace:
                metadata["namespace"] = namespace
            metadata.update(members.pop("metadata", {}))
            metadata["resourceVersion"] = str(self._version)
            obj = {"metadata": metadata, **members}
            self._objects[resource, f"{namespace}/{name}"] = obj
            self._log.append((self._version, resource, "MODIFIED" if before else "ADDED", obj))
            self._changed.notify_all()
            return obj

    def delete(self, resource: str, name: str, *, namespace: str = "") -> None:
        with self._changed:
            self._version += 1
            obj = self._objects.pop((resource, f"{namespace}/{name}"))
            obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._version)}}
            self._log.append((self._version, resource, "DELETED", obj))
            self._changed.notify_all()

    def compact(self) -> None:
        """Drop the history: a watch from an earlier version gets 410."""
        with self._changed:
            self._version += 1
            self._oldest = self._version
            self._log.clear()
            self._generation += 1
            self._changed.notify_all()

    def keys(self, resource: str) -> set[str]:
        return {key.lstrip("/") for found, key in self._objects if found == resource}

    def watching(self, resource: str) -> int:
        """The number of watches of a resource that were started."""
        return sum(f"/{resource}?" in path and "watch=1" in path for _, path in self.requests)

    # HTTP.

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.requests.append((handler.command, handler.path))
        self.headers = handler.headers
        parts = urlsplit(handler.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        resource = parts.path.rpartition("/")[2]
        verb = "watch" if "watch" in query else "list"
        if self.failure is not None:
            self._status(handler, self.failure, "failure")
        elif parts.path == "/version":
            self._json(handler, 200, {"major": "1", "minor": self.version.split(".")[1], "gitVersion": self.version})
        elif self._unready > 0:
            self._unready -= 1
            self._status(
                handler,
                403,
                f'{resource} is forbidden: User "dev" cannot {verb} resource "{resource}" at the cluster scope: RBAC: not ready',
            )
        elif self.token and handler.headers.get("Authorization") != f"Bearer {self.token}":
            self._status(handler, 401, "Unauthorized")
        elif resource not in KINDS or resource in self.missing:
            self._status(handler, 404, "the server could not find the requested resource")
        elif (verb, resource) in self.forbidden:
            self._status(handler, 403, f'{resource} is forbidden: User "dev" cannot {verb} resource "{resource}" at the cluster scope')
        elif verb == "watch":
            self._watch(handler, resource, query)
        else:
            self._list(handler, resource, query)

    def _review(self, handler: BaseHTTPRequestHandler) -> None:
        """A SelfSubjectAccessReview."""
        self.reviewed += 1
        review = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        attributes = review["spec"]["resourceAttributes"]
        if self.failure is not None:
            self._status(handler, self.failure, "failure")
        elif not self.reviews:
            self._status(handler, 403, "selfsubjectaccessreviews is forbidden")
        else:
            allowed = (attributes["verb"], attributes["resource"]) not in self.forbidden
            self._json(handler, 201, {**review, "status": {"allowed": allowed}})

    def _list(self, handler: BaseHTTPRequestHandler, resource: str, query: dict[str, str]) -> None:
        with self._changed:
            items = [obj for (found, _), obj in sorted(self._objects.items(), key=lambda one: one[0]) if found == resource]
            if "status.phase" in query.get("fieldSelector", ""):
                items = [obj for obj in items if not _is_finished(obj)]
            version = str(self._version)
        start = int(query.get("continue", 0))
        limit = int(query.get("limit", 0)) or len(items) or 1
        metadata = {"resourceVersion": version, **({"continue": str(start + limit)} if start + limit < len(items) else {})}
        self._json(
            handler,
            200,
            {"kind": f"{KINDS[resource]}List", "apiVersion": "v1", "metadata": metadata, "items": items[start : start + limit]},
        )

    def _watch(self, handler: BaseHTTPRequestHandler, resource: str, query: dict[str, str]) -> None:
        version = int(query["resourceVersion"])
        unfinished_only = "status.phase" in query.get("fieldSelector", "")
        reason = _selected_reason(query)
        with self._changed:
            if version < self._oldest and not self.expires_as_error_line:
                self._status(handler, 410, "too old resource version")
                return
            generation = self._generation
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        api_version = urlsplit(handler.path).path.partition("/api")[2].rpartition("/")[0].lstrip("s").lstrip("/")
        looked = version
        until = time.monotonic() + min(self.watch_seconds, float(query.get("timeoutSeconds", 60)))
        while True:
            with self._changed:
                if version < self._oldest:
                    self._line(handler, "ERROR", {"kind": "Status", "code": 410, "message": "too old resource version"})
                    break
                # The log is searched, not read: every watch wakes up for every change.
                later = bisect_right(self._log, looked, key=lambda entry: entry[0])
                news = [
                    (at, type_, obj)
                    for at, found, type_, obj in self._log[later:]
                    if found == resource and reason in ("", obj.get("reason"))
                ]
                looked = self._version
                if not news:
                    if self._server is None:
                        return
                    if generation != self._generation:
                        generation = self._generation
                        continue
                    if time.monotonic() > until:
                        bookmark = {"metadata": {"resourceVersion": str(self._version)}}
                        self._line(handler, "BOOKMARK", {"kind": KINDS[resource], "apiVersion": api_version, **bookmark})
                        break
                    self._changed.wait(max(0.0, until - time.monotonic()) + 0.01)
            for at, type_, obj in news:
                seen = _as_selected(type_, obj) if unfinished_only else type_
                self._line(handler, seen, {"kind": KINDS[resource], "apiVersion": api_version, **obj})
                version = at
        handler.wfile.write(b"0\r\n\r\n")

    def _line(self, handler: BaseHTTPRequestHandler, type_: str, obj: dict[str, Any]) -> None:
        data = json.dumps({"type": type_, "object": obj}).encode() + b"\n"
        handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        handler.wfile.flush()

    def _status(self, handler: BaseHTTPRequestHandler, code: int, message: str) -> None:
        self._json(handler, code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code})

    def _json(self, handler: BaseHTTPRequestHandler, code: int, body: object) -> None:
        data = json.dumps(body).encode()
        handler.send_response(code)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)


def _selected_reason(query: dict[str, str]) -> str:
    """The reason of events that a field selector wants; "": any."""
    return next((one.partition("=")[2] for one in query.get("fieldSelector", "").split(",") if one.startswith("reason=")), "")


def _is_finished(pod: dict[str, Any]) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _as_selected(type_: str, pod: dict[str, Any]) -> str:
    """The type of an event for a watch that selects unfinished pods: to such a watch, a pod that finishes is deleted."""
    return "DELETED" if _is_finished(pod) else type_
