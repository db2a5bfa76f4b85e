"""The permissions of every URL. test_permissions.py compares this table with the URL configuration, and checks it for every kind of client.

A new URL of HTTP or WebSockets needs a new row; the tests fail without one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

#: The permission. For one session: to view, to command, to manage it. Without a session: everybody, clients with an account or a share
#: link, users with an account, those of them who may change something, and staff.
SEE, COMMAND, MANAGE = "see", "command", "manage"
EVERYBODY, GUEST, KNOWN, WRITER, STAFF = "everybody", "guest", "known", "writer", "staff"

SESSION = "api/v1/sessions/<uuid:session_id>/"
ROOM = "api/v1/rooms/<uuid:room_id>/"
EXPERIMENT = "api/v1/experiments/<uuid:experiment_id>/"
ROOM_ROUTES = [
    *(("get", ""), ("patch", ""), ("delete", ""), ("get", "qr/"), ("get", "record/")),
    *(("post", f"{rest}/") for rest in ("code", "show", "end", "questions", "answers", "hand", "leave", "forks")),
    *(("patch", "questions/<int:number>/"), ("delete", "forks/<uuid:session_id>/")),
    *((method, "participants/<int:participant_id>/") for method in ("patch", "delete")),
]


class Row(NamedTuple):
    """A method of a URL, its permission, the request body, and the status of an allowed request.

    Allowed requests can be answered with 409, 400 or 404, too, because there is nothing to cancel, export or find; with 503, because a
    worker would have to answer.
    """

    method: str
    route: str
    need: str
    status: int = 200
    body: Any = None
    query: str = ""


ROWS = [
    Row("get", SESSION, SEE),
    Row("get", f"{SESSION}state/", SEE),
    Row("get", f"{SESSION}view/", SEE),
    Row("get", f"{SESSION}timeline/", SEE),
    Row("get", f"{SESSION}events/", SEE),
    Row("get", f"{SESSION}cycles/", SEE),
    Row("get", f"{SESSION}cycles/<int:cycle>/", SEE, 404),
    Row("get", f"{SESSION}commands/<int:seq>/", SEE, 404),
    Row("get", f"{SESSION}branches/", SEE),
    Row("get", f"{SESSION}objects/", SEE, 400),
    Row("get", f"{SESSION}objects/selected/", SEE, 400),
    Row("get", f"{SESSION}observations/", SEE),
    Row("get", f"{SESSION}export/", SEE, 409),
    Row("get", f"{SESSION}dump/", SEE, 503),
    Row("get", f"{SESSION}describe/nodes/<str:name>/", SEE, 503),
    Row("get", f"{SESSION}devices/", SEE, 503),
    Row("get", f"{SESSION}describe/pods/<str:namespace>/<str:name>/", SEE, 503),
    Row("get", f"{SESSION}explain/", SEE, 503),
    Row("get", f"{SESSION}overview/", SEE, 503),
    Row("get", f"{SESSION}explain/<str:namespace>/<str:name>/", SEE, 503),
    Row("get", f"{SESSION}explain/<str:namespace>/<str:name>/change/", SEE, 503),
    Row("get", f"{SESSION}stories/pods/<str:namespace>/<str:name>/", SEE),
    Row("get", f"{SESSION}stories/nodes/<str:name>/", SEE),
    Row("get", f"{SESSION}breakpoints/", SEE),
    Row("get", f"{SESSION}breakpoints/<int:number>/", SEE, 404),
    Row("get", f"{SESSION}lesson/", SEE, 404),
    Row("get", f"{SESSION}lesson/hints/", SEE, 404),
    Row("get", f"{SESSION}lesson/draft/", SEE, 503),
    Row("get", f"{SESSION}agreement/", SEE),
    Row("get", f"{SESSION}links/", MANAGE),
    # They change nothing.
    Row("post", f"{SESSION}explain/message/", SEE, 503, {"text": "0/5 nodes are available: 5 Insufficient cpu."}),
    Row("post", f"{SESSION}what-if/", SEE, 503, {"pod": {"kind": "Pod", "metadata": {"name": "p"}}, "copies": 1}),
    Row("get", f"{SESSION}commands/", SEE),
    Row("post", f"{SESSION}commands/", COMMAND, 202, {"op": "pause"}),
    Row("post", f"{SESSION}commands/together/", COMMAND, 202, {"commands": [{"op": "pause"}]}),
    Row("post", f"{SESSION}observations/", COMMAND, 201, {"source": "kind", "n": 1, "events": []}),
    Row("post", f"{SESSION}breakpoints/", COMMAND, 201, {"when": "popped default/web-7"}),
    Row("patch", f"{SESSION}breakpoints/<int:number>/", COMMAND, 404, {"enabled": False}),
    Row("delete", f"{SESSION}breakpoints/<int:number>/", COMMAND, 404),
    Row("patch", SESSION, MANAGE, 200, {"name": "another name"}),
    Row("delete", SESSION, MANAGE, 204),
    Row("post", f"{SESSION}cancel/", COMMAND, 409),
    Row("post", f"{SESSION}links/", MANAGE, 201, {"role": "viewer"}),
    Row("delete", f"{SESSION}links/<int:link_id>/", MANAGE, 404),
    Row("get", f"{SESSION}members/", MANAGE),
    Row("post", f"{SESSION}members/", MANAGE, 201, {"user": "stranger"}),
    Row("patch", f"{SESSION}members/<str:user>/", MANAGE, 404, {"role": "editor"}),
    Row("delete", f"{SESSION}members/<str:user>/", MANAGE, 404),
    Row("get", f"{SESSION}invites/", MANAGE),
    Row("post", f"{SESSION}invites/", MANAGE, 201, {"role": "editor"}),
    Row("delete", f"{SESSION}invites/<int:invite_id>/", MANAGE, 404),
    # A fork is a new session: it needs read access, and permission to create sessions.
    Row("post", f"{SESSION}branches/", f"{SEE} and {WRITER}", 201, {}),
    # For two sessions in the query, or for one and one that does not exist.
    Row("get", "api/v1/compare/", SEE, 503, query="a={session}&b={session}"),
    Row("get", "api/v1/compare/report/", SEE, 503, query="a={session}&b={session}"),
    # Of no session.
    Row("get", "api/v1/sessions/", GUEST),
    Row("post", "api/v1/sessions/", WRITER, 201, {"generate": {"nodes": 2}}),
    Row("get", "api/v1/quotas/", KNOWN),
    # Experiments belong to their owner alone: for everybody else they do not exist.
    Row("get", "api/v1/experiments/", KNOWN),
    Row("post", "api/v1/experiments/", WRITER, 201, {"plan": "experiment: 1\nbase: {generate: {nodes: 2}}"}),
    Row("get", EXPERIMENT, KNOWN, 404),
    Row("get", f"{EXPERIMENT}results/", KNOWN, 404),
    Row("post", f"{EXPERIMENT}variants/", WRITER, 404, {"plan": "experiment: 1\nbase: {generate: {nodes: 2}}"}),
    *[Row("post", f"{EXPERIMENT}{rest}/", WRITER, 404) for rest in ("cancel", "pause", "resume", "trials/<int:number>/session")],
    Row("delete", EXPERIMENT, WRITER, 404),
    Row("get", "api/v1/lessons/", KNOWN),
    Row("get", "api/v1/lessons/<str:name>/", KNOWN, 404),
    Row("put", "api/v1/lessons/<str:name>/progress/", WRITER, 404, {"stop": "first"}),
    Row("post", "api/v1/explain/message/", KNOWN, 503, {"text": "0/5 nodes are available: 5 Insufficient cpu."}),
    Row("get", "api/v1/cases/", KNOWN),
    Row("get", "api/v1/samples/", KNOWN),
    Row("get", "api/v1/samples/<str:name>/", KNOWN, 404),
    # Rooms: to non-members, a room looks as if it did not exist. tests/rooms has the permissions of members.
    Row("get", "api/v1/rooms/", KNOWN),
    Row("post", "api/v1/rooms/", WRITER, 404, {"session": "00000000-0000-4000-8000-000000000000"}),
    Row("post", "api/v1/rooms/join/", EVERYBODY, 404, {"code": "WRNGCDE2", "nickname": "Ada"}),
    *[Row(method, f"{ROOM}{rest}", EVERYBODY, 404, {} if method != "get" else None) for method, rest in ROOM_ROUTES],
    Row("get", "api/v1/audit/", STAFF),
    Row("get", "api/v1/invites/", STAFF),
    Row("post", "api/v1/invites/", STAFF, 201, {}),
    Row("delete", "api/v1/invites/<int:invite_id>/", STAFF, 404),
    Row("get", "api/v1/schema/", EVERYBODY),
    Row("get", "api/v1/problems/", EVERYBODY),
    Row("get", "healthz", EVERYBODY, 503),
]

#: Pages and redirects. They are no views of the REST API, so the URL configuration does not list their methods.
PAGES = {
    *("", "sessions/", "sessions/<uuid:session_id>/", "cases/", "lessons/", "compare/", "login/", "logout/"),
    *("experiments/", "experiments/<uuid:experiment_id>/"),
    # Of no session: everybody reads the documentation.
    *("docs/", "docs/<path:name>/", r"^docs/(?P<name>[\w./-]+\.(?:png|svg|json|ipynb))$"),
    *("r/", "r/<str:code>/", "rooms/"),
    *(f"rooms/<uuid:room_id>/{view}" for view in ("", "presenter/", "projector/")),
    *("s/<uuid:session_id>/", "s/<uuid:session_id>/panel/<str:panel>/", "embed/<uuid:session_id>/<str:panel>/"),
    *("api/v1/", "api/v1/^.*$", "api/v1/docs/", "^api(?:/|$)", "^ws(?:/|$)"),
    *("password/", "invite/<str:secret>/", "demo/sandbox/", "oidc/login/", "oidc/callback/"),
    # For staff, a separate token and networks: see tests/web/metrics.
    "metrics",
}

#: The permission of WebSocket messages, by type.
SOCKET_VERBS = {"command": COMMAND, "resume": SEE, "ping": SEE}
SOCKETS = {"ws/v1/sessions/<uuid:session_id>/", "ws/v1/rooms/<uuid:room_id>/"}

#: Values of URL parameters other than the session.
STAND_INS = {
    "user": "nobody",
    "invite_id": 999,
    "participant_id": 1,
    "experiment_id": "00000000-0000-4000-8000-000000000000",
    "seq": 1,
    "cycle": 1,
    "number": 1,
    "link_id": 999,
    "namespace": "default",
    "name": "nothing",
}
