"""`ApiDispatcher`: API calls that the scheduler makes asynchronously (gate SchedulerAsyncAPICalls). v1.36.

At most one call is pending for a pod: a new one is merged with it, replaces it, or is dropped. Calls are made one by one, in the order in
which their pods got a pending call.

Upstream: backend/api_dispatcher/api_dispatcher.go, backend/api_dispatcher/call_queue.go, framework/api_calls
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from schedviz.engine.framework.object_table import ObjectTable
from schedviz.engine.framework.status import StatusError
from schedviz.engine.instructions import BindPod, Host, PatchPodStatus
from schedviz.kube.core import Pod, PodCondition, PodStatus
from schedviz.kube.meta import condition_of
from schedviz.trace.events import ApiCallChanged
from schedviz.trace.recorder import Recorder
from schedviz.trace.view import ApiCallView

POD_STATUS_PATCH: Final = "pod_status_patch"
POD_BINDING: Final = "pod_binding"

#: A call replaces a pending one of lower relevance. Upstream: apicalls.Relevances
RELEVANCES: Final = {POD_STATUS_PATCH: 1, POD_BINDING: 2}

#: Called when a call has finished: with the API server's error, or with None on success or if the call was dropped or replaced. Upstream:
#: APICallOptions.OnFinish
OnFinish = Callable[[StatusError | None], None]


class ApiCall(msgspec.Struct, frozen=True):
    """A pending write; the type is that of its instruction."""

    write: PatchPodStatus | BindPod
    on_finish: OnFinish | None = None

    @property
    def type(self) -> Literal["pod_status_patch", "pod_binding"]:
        """Upstream: CallType"""
        return POD_BINDING if isinstance(self.write, BindPod) else POD_STATUS_PATCH

    @property
    def is_no_op(self) -> bool:
        """Whether the call would change nothing. Upstream: IsNoOp"""
        write = self.write
        return isinstance(write, PatchPodStatus) and not (
            _renominates(write.pod.status, write.nominated_node_name) or _changes(write.pod.status, write.condition)
        )

    def merged_with(self, old: ApiCall) -> ApiCall:
        """The call with what only the pending call of the same type sets. Upstream: Merge"""
        write, before = self.write, old.write
        if not isinstance(write, PatchPodStatus) or not isinstance(before, PatchPodStatus):
            return self
        nominated = before.nominated_node_name if write.nominated_node_name is None else write.nominated_node_name
        condition = write.condition or before.condition
        return replace(self, write=PatchPodStatus(write.pod, condition, nominated))

    def to_view(self) -> ApiCallView:
        """The call as a page draws it."""
        write = self.write
        pod = write.pod
        if isinstance(write, BindPod):
            return ApiCallView(pod=pod.key, uid=pod.uid, type=POD_BINDING, node=write.node)
        return ApiCallView(
            pod=pod.key,
            uid=pod.uid,
            type=POD_STATUS_PATCH,
            reason="" if write.condition is None else write.condition.reason,
            nominated_node_name=write.nominated_node_name,
        )

    def finish(self, error: StatusError | None = None) -> None:
        if self.on_finish is not None:
            self.on_finish(error)


class ApiCallState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pending call in a checkpoint."""

    type: str
    #: The number of the pod.
    pod: int
    condition: PodCondition | None = None
    nominated_node_name: str | None = None
    node: str = ""


class ApiDispatcher:
    """The pending calls of a scheduler."""

    def __init__(self, host: Host, recorder: Recorder) -> None:
        self._host = host
        self._recorder = recorder
        #: By the uid of the pod, in the order in which they will be made.
        self._calls: dict[str, ApiCall] = {}

    @property
    def pending(self) -> list[tuple[str, str]]:
        """Type and pod uid of each pending call."""
        return [(call.type, uid) for uid, call in self._calls.items()]

    def add(self, call: ApiCall) -> None:
        """Add a call. It keeps the place of a pending call for the same pod. Upstream: callQueue.add"""
        uid = call.write.pod.uid
        old = self._calls.get(uid)
        if old is not None:
            if RELEVANCES[call.type] < RELEVANCES[old.type]:
                call.finish()
                return
            if call.type == old.type:
                call = call.merged_with(old)
            old.finish()
        if call.is_no_op:
            if self._calls.pop(uid, None) is not None:
                self._record(call, "unnecessary")
            call.finish()
            return
        self._put(call)

    def patch_pod_status(self, pod: Pod, condition: PodCondition | None, nominated_node_name: str | None) -> None:
        """Patch a pod's status later. Upstream: PriorityQueue.PatchPodStatus"""
        self.add(ApiCall(PatchPodStatus(pod, condition, nominated_node_name)))

    def bind(self, pod: Pod, node: str) -> StatusError | None:
        """Bind a pod, and make the pending calls until it is bound. Upstream: Cache.BindPod, APICache.WaitOnFinish"""
        errors: list[StatusError] = []

        def note(error: StatusError | None) -> None:
            if error is not None:
                errors.append(error)

        self.add(ApiCall(BindPod(pod, node), note))
        self.dispatch()
        return errors[0] if errors else None

    def dispatch(self) -> None:
        """Make all pending calls."""
        while self._calls:
            uid = next(iter(self._calls))
            call = self._calls.pop(uid)
            error = self._host.carry_out(call.write)
            self._record(call, "made", error)
            call.finish(error)

    def sync(self, pod: Pod) -> None:
        """Compare the pending call with a newer version of the pod: it may have become unnecessary. Upstream: callQueue.syncObject"""
        call = self._calls.get(pod.uid)
        if call is None or not isinstance(call.write, PatchPodStatus):
            return
        call = self._calls[pod.uid] = replace(call, write=replace(call.write, pod=pod))
        if call.is_no_op:
            del self._calls[pod.uid]
            self._record(call, "unnecessary")
            call.finish()

    def _put(self, call: ApiCall) -> None:
        self._calls[call.write.pod.uid] = call
        self._record(call, "pending")

    def _record(self, call: ApiCall, outcome: Literal["pending", "made", "unnecessary"], error: StatusError | None = None) -> None:
        pod = call.write.pod
        # Making a call can bring watch events, which can add the pod's next one.
        pending = self._calls.get(pod.uid)
        self._recorder.record(
            ApiCallChanged,
            pod=pod.key,
            uid=pod.uid,
            outcome=outcome,
            call=None if pending is None else pending.to_view(),
            error="" if error is None else error.message,
        )

    def to_view(self) -> list[ApiCallView]:
        """The pending calls as a page draws them, in the order in which they will be made."""
        return [call.to_view() for call in self._calls.values()]

    def to_state(self, table: ObjectTable) -> list[ApiCallState]:
        """The state for a checkpoint. No binding cycle waits for a call between two stages."""
        return [_state(call, table) for call in self._calls.values()]

    def load(self, states: Sequence[ApiCallState], table: ObjectTable) -> None:
        """Load the state of `to_state`."""
        for state in states:
            pod = table.pods[state.pod]
            write = (
                BindPod(pod, state.node) if state.type == POD_BINDING else PatchPodStatus(pod, state.condition, state.nominated_node_name)
            )
            self._calls[pod.uid] = ApiCall(write)


def _state(call: ApiCall, table: ObjectTable) -> ApiCallState:
    write = call.write
    if isinstance(write, BindPod):
        return ApiCallState(call.type, table.pod_ref(write.pod), node=write.node)
    return ApiCallState(call.type, table.pod_ref(write.pod), write.condition, write.nominated_node_name)


def _renominates(status: PodStatus, node: str | None) -> bool:
    return node is not None and node != status.nominated_node_name


def _changes(status: PodStatus, condition: PodCondition | None) -> bool:
    """Whether the pod's condition differs. Upstream: conditionNeedsUpdate"""
    if condition is None:
        return False
    old = condition_of(status.conditions, condition.type)
    return old is None or (old.status, old.reason, old.message) != (condition.status, condition.reason, condition.message)
