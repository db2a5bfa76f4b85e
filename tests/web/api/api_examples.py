"""The examples of the OpenAPI document: requests in an order that satisfies their dependencies, and the recorded form of their responses.

`SCHEDVIZ_RECORD_EXAMPLES=1 pytest tests/web/api/test_examples.py` writes the responses to schedviz/web/api/examples.json again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

NODE = {"cpu": "4", "memory": "8Gi", "pods": "110"}


def _node(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"capacity": NODE, "allocatable": NODE}}


def pod(name: str, cpu: str) -> dict[str, Any]:
    """A pod with these requests."""
    container = {"name": "app", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [container]}}


CLUSTER = [_node("node-1"), _node("node-2"), pod("web-1", "1"), pod("web-2", "1"), pod("giant", "16")]
TRACE = {"format": "schedviz-trace/1", "name": "two nodes", "steps": []}
MESSAGE = (
    "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."
)


class Example(NamedTuple):
    """A request of an operation ("": it only prepares others). `{s}` in path, query and body is the session, `{e}` an empty one
    that follows a cluster, `{f}` the fork, `{n}` a lesson's, `{l}` a link, `{i}` an invite, `{r}` a room, `{code}` its code, `{p}` the
    participant, `{t}` what they forked, `{x}` an experiment.
    """

    operation: str
    method: str
    path: str
    status: int = 200
    body: Any = None
    query: Mapping[str, Any] = MappingProxyType({})
    headers: Mapping[str, str] = MappingProxyType({})
    #: Store the id in the response under this letter.
    keep: str = ""
    who: Literal["owner", "staff", "guest"] = "owner"


_WAIT = {"Prefer": "wait=20"}
S = "sessions/{s}/"
R = "rooms/{r}/"
X = "experiments/{x}/"
#: There is no worker of experiments: the experiment stays as it was created.
PLAN = (
    "experiment: 1\nname: sampling\nbase: {generate: {shape: basic}}\nvariants: [{name: all}, {name: half, percentageOfNodesToScore: 50}]\n"
)
EXAMPLES = [
    Example("createSession", "post", "sessions/", 201, {"name": "two nodes", "trace": TRACE}, headers=_WAIT, keep="s"),
    Example("createBreakpoint", "post", f"{S}breakpoints/", 201, {"when": "popped default/web-7"}),
    Example("listBreakpoints", "get", f"{S}breakpoints/"),
    Example("getBreakpoint", "get", f"{S}breakpoints/1/"),
    Example("changeBreakpoint", "patch", f"{S}breakpoints/1/", body={"enabled": False}),
    Example("deleteBreakpoint", "delete", f"{S}breakpoints/1/", 204),
    Example("", "post", f"{S}commands/together/", body={"commands": [{"op": "create", "object": each} for each in CLUSTER]}, headers=_WAIT),
    Example("sendCommand", "post", f"{S}commands/", body={"op": "step", "unit": "cycle", "key": "step-1"}, headers=_WAIT),
    Example(
        "sendCommands",
        "post",
        f"{S}commands/together/",
        body={"commands": [{"op": "create", "object": pod("web-3", "1"), "key": "web-3"}, {"op": "run", "max": 10, "key": "run-1"}]},
        headers=_WAIT,
    ),
    Example("listCommands", "get", f"{S}commands/", query={"tail": 2}),
    Example("getCommand", "get", f"{S}commands/6/"),
    Example("getSession", "get", S),
    Example("listSessions", "get", "sessions/", query={"limit": 1, "q": "two nodes"}),
    Example("changeSession", "patch", S, body={"name": "web on two nodes"}),
    Example("cancel", "post", f"{S}cancel/", 409),
    Example("getState", "get", f"{S}state/"),
    Example("getView", "get", f"{S}view/", query={"at": 2}),
    Example("getTimeline", "get", f"{S}timeline/", query={"buckets": 2}),
    Example("listCycles", "get", f"{S}cycles/", query={"limit": 2}),
    Example("getCycle", "get", f"{S}cycles/1/", query={"plugins": "NodeResourcesFit"}),
    Example("listEvents", "get", f"{S}events/", query={"after": 2, "limit": 2}),
    Example("getPodStory", "get", f"{S}stories/pods/default/web-1/", query={"limit": 2}),
    Example("getNodeStory", "get", f"{S}stories/nodes/node-1/", query={"limit": 2}),
    Example("explainPending", "get", f"{S}explain/"),
    Example("pendingOverview", "get", f"{S}overview/"),
    Example("explainPod", "get", f"{S}explain/default/giant/"),
    Example("smallestChange", "get", f"{S}explain/default/giant/change/"),
    Example("explainMessage", "post", f"{S}explain/message/", body={"text": MESSAGE, "pod": "default/giant"}),
    Example("whatIf", "post", f"{S}what-if/", body={"pod": pod("copy", "1"), "copies": 20}),
    Example("describeNode", "get", f"{S}describe/nodes/node-1/"),
    Example("devices", "get", f"{S}devices/"),
    Example("describePod", "get", f"{S}describe/pods/default/web-1/"),
    Example("getObject", "get", f"{S}objects/", query={"kind": "Pod", "namespace": "default", "name": "web-1"}),
    Example("selectObjects", "get", f"{S}objects/selected/", query={"kind": "Node", "selector": "!spot"}),
    Example("dumpScheduler", "get", f"{S}dump/"),
    Example("exportSession", "get", f"{S}export/", query={"format": "trace"}),
    Example("createBranch", "post", f"{S}branches/", 201, {"at": 2, "name": "another way", "key": "fork-1"}, headers=_WAIT, keep="f"),
    Example("listBranches", "get", f"{S}branches/"),
    Example("compare", "get", "compare/", query={"a": "{s}", "b": "{f}"}),
    Example("compareReport", "get", "compare/report/", query={"a": "{s}", "b": "{f}"}),
    Example("createExperiment", "post", "experiments/", 201, {"plan": PLAN}, keep="x"),
    Example("listExperiments", "get", "experiments/"),
    Example("getExperiment", "get", X),
    Example("getExperimentResults", "get", f"{X}results/", query={"times": 0}),
    Example(
        "addVariants", "post", f"{X}variants/", 409, {"plan": PLAN.replace("50}]", "50}, {name: third, percentageOfNodesToScore: 30}]")}
    ),
    Example("pauseExperiment", "post", f"{X}pause/", 409),
    Example("resumeExperiment", "post", f"{X}resume/", 409),
    Example("openTrial", "post", f"{X}trials/0/session/", 404),
    Example("cancelExperiment", "post", f"{X}cancel/"),
    Example("deleteExperiment", "delete", X, 204),
    Example("createLink", "post", f"{S}links/", 201, {"role": "viewer"}, keep="l"),
    Example("listLinks", "get", f"{S}links/"),
    Example("revokeLink", "delete", f"{S}links/{{l}}/", 204),
    Example(
        "pushObservations",
        "post",
        "sessions/{e}/observations/",
        201,
        {"source": "kind", "n": 1, "events": [{"type": "ADDED", "object": _node("node-1"), "version": "1"}]},
    ),
    Example("getObserver", "get", "sessions/{e}/observations/"),
    Example("getAgreement", "get", "sessions/{e}/agreement/"),
    Example("addMember", "post", f"{S}members/", 201, {"user": "viewer", "role": "editor"}),
    Example("listMembers", "get", f"{S}members/"),
    Example("changeMember", "patch", f"{S}members/viewer/", body={"role": "viewer"}),
    Example("removeMember", "delete", f"{S}members/viewer/", 204),
    Example("createInvite", "post", f"{S}invites/", 201, {"role": "viewer", "uses": 30, "note": "the class of Monday"}, keep="i"),
    Example("listInvites", "get", f"{S}invites/"),
    Example("revokeInvite", "delete", f"{S}invites/{{i}}/", 204),
    Example("createAccountInvite", "post", "invites/", 201, {"days": 2, "note": "for Ada"}, keep="i", who="staff"),
    Example("listAccountInvites", "get", "invites/", who="staff"),
    Example("revokeAccountInvite", "delete", "invites/{i}/", 204, who="staff"),
    Example("listAudit", "get", "audit/", query={"action": "member_added"}, who="staff"),
    Example("listLessons", "get", "lessons/"),
    Example("getLessonVersion", "get", "lessons/the-list/"),
    Example("setLessonProgress", "put", "lessons/the-list/progress/", body={"stop": "first-snapshot", "answers": {"first-snapshot": 3}}),
    Example("", "post", "sessions/", 201, {"lesson": "the-list"}, headers=_WAIT, keep="n"),
    Example("getLesson", "get", "sessions/{n}/lesson/"),
    Example("getLessonHints", "get", "sessions/{n}/lesson/hints/", query={"stop": "first-snapshot"}),
    Example("draftLesson", "get", f"{S}lesson/draft/", query={"name": "my-lesson"}),
    Example("openRoom", "post", "rooms/", 201, {"session": "{n}", "title": "Monday"}, keep="r"),
    Example("joinRoom", "post", "rooms/join/", 201, {"code": "{code}", "nickname": "Ada"}, who="guest"),
    Example("listRooms", "get", "rooms/"),
    Example("changeRoom", "patch", R, body={"locked": True}),
    Example("getRoomQr", "get", f"{R}qr/"),
    Example("askInRoom", "post", f"{R}questions/", 201, {"stop": "first-snapshot"}),
    Example("answerInRoom", "post", f"{R}answers/", body={"question": 1, "value": "4"}, who="guest"),
    Example("changeRoomQuestion", "patch", f"{R}questions/1/", body={"right": "4", "revealed": True}),
    Example("getRoom", "get", R, who="guest"),
    Example("raiseHand", "post", f"{R}hand/", body={"raised": True}, who="guest"),
    Example("changeParticipant", "patch", f"{R}participants/{{p}}/", body={"hand": False}),
    Example("forkInRoom", "post", f"{R}forks/", 201, {"key": "try-1"}, keep="t", who="guest"),
    Example("showInRoom", "post", f"{R}show/", body={"session": "{t}"}),
    Example("", "post", f"{R}show/", body={"session": None}),
    Example("deleteRoomFork", "delete", f"{R}forks/{{t}}/", 204, who="guest"),
    Example("getRoomRecord", "get", f"{R}record/"),
    Example("leaveRoom", "post", f"{R}leave/", 204, who="guest"),
    Example("", "patch", R, body={"locked": False}),
    Example("renewRoomCode", "post", f"{R}code/"),
    Example("", "post", "rooms/join/", 201, {"code": "{code}", "nickname": "Eve"}, who="guest"),
    Example("removeParticipant", "delete", f"{R}participants/{{p}}/", 204),
    Example("endRoom", "post", f"{R}end/", body={"keep": False}),
    Example("deleteRoom", "delete", R, 204),
    Example(
        "explainText",
        "post",
        "explain/message/",
        body={
            "text": f"$ kubectl describe pod giant\nName: giant\nNamespace: default\n  Warning  FailedScheduling  2m  default-scheduler  {MESSAGE}\n"
        },
    ),
    Example("listCases", "get", "cases/"),
    Example("listSamples", "get", "samples/"),
    Example("getSample", "get", "samples/nominated-for-ever/"),
    Example("listProblems", "get", "problems/"),
    Example("getQuotas", "get", "quotas/"),
    Example("deleteSession", "delete", "sessions/{f}/", 204),
]

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MAX_LIST_LENGTH, _MAX_TEXT_LENGTH = 2, 300
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]+(?:Z|\+00:00)")
_THEN = "2026-01-31T12:00:00Z"


def filled(value: Any, ids: Mapping[str, str]) -> Any:
    """A body with the ids in it."""
    if isinstance(value, dict):
        return {name: filled(each, ids) for name, each in value.items()}
    return value.format(**ids) if isinstance(value, str) and value.startswith("{") else value


class Writing:
    """The recorded form of a response: values that differ between runs are replaced, and long ones are cut."""

    def __init__(self, netloc: str) -> None:
        self._netloc = netloc
        self._ids: dict[str, str] = {}

    def written(self, value: Any, name: str = "") -> Any:
        """The response as the example shows it."""
        if name == "pluginNanos":
            return {point: dict.fromkeys(sorted(plugins), 1000) for point, plugins in value.items()}
        if isinstance(value, dict):
            return {key: self.written(each, key) for key, each in value.items()}
        if isinstance(value, list):
            return [self.written(each, name) for each in value[:_MAX_LIST_LENGTH]]
        if isinstance(value, str):
            if name.endswith("At") or (name in ("at", "since") and _TIME.fullmatch(value)):
                return _THEN
            if name == "code" and re.fullmatch("[A-Z0-9]{8}", value):
                return "K7MR2XWD"
            if name == "version" and len(value) > 10:
                return "0123456789abcdef"
            text = _UUID.sub(lambda found: self._id(found[0]), value.replace(f"http://{self._netloc}", "https://schedviz.example"))
            text = re.sub(r"link=[\w-]+", "link=s3cr3t", text)
            text = re.sub(r"/(links|invites|participants)/\d+/", r"/\1/1/", text)
            text = re.sub(r"/invite/[\w-]+", "/invite/s3cr3t", text)
            text = re.sub(r"/r/[A-Z0-9]{8}", "/r/K7MR2XWD", text)
            # In a record: the time, and the duration of a request in seconds.
            if "\r\n" in text:
                text = re.sub(r",\d+\.\d,(\d+)\r", r",3.5,\1\r", _TIME.sub(_THEN, text))
            return text if len(text) <= _MAX_TEXT_LENGTH else f"{text[:_MAX_TEXT_LENGTH]}…"
        # How many slices there were, and whether an import still counts, is a matter of the machine.
        if name in ("seconds", "storedBytes", "chunk", "used") and value is not None:
            return 0
        if name in ("id", "invite") and isinstance(value, int):
            # Others were there before, in other tests.
            return 1
        return value

    def _id(self, found: str) -> str:
        return self._ids.setdefault(found, f"5c4ed000-0000-4000-8000-{len(self._ids) + 1:012}")
