"""The cache of v1.14: a pod is in one of five states, each call is allowed in some of them and returns an error in the others.

       +-------------------------------------------+  +----+
       |                            Add            |  |    |
       |                                           |  |    | Update
       +      Assume                Add            v  v    |
    Initial +--------> Assumed +------------+---> Added <--+
       ^                +   +               |       +
       |                |   |               |       |
       |                |   |           Add |       | Remove
       |                |   |               |       |
       |                |   |               +       v
       +----------------+   +----------> Expired  Deleted
             Forget             Expire

In Initial, Expired and Deleted the cache does not know the pod, and its calls cannot tell these three apart.

What differs from v1.27.1: an Add that confirms an assumed pod on its node leaves the NodeInfo alone (the assumed version stays in
it and the generation does not change), errors name a pod by its uid alone, a Delete of a pod whose object names another node than the
cache's, or none (DeletedFinalStateUnknown), ends the process, and a pod that is taken off a node which is not in the cache is an error.

Upstream: v1.14 pkg/scheduler/internal/cache/cache.go schedulerCache, interface.go
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from schedviz.engine.cache import Cache, CacheError, SchedulerExitError
from schedviz.engine.cache.cache import PodState
from schedviz.engine.cache.cache_state import CacheState
from schedviz.engine.cache.changes import NodeInfoChanges
from schedviz.engine.framework.object_table import ObjectTable
from schedviz.engine.framework.types import PodInfo, PodNotFoundError
from schedviz.kube.core import Pod
from schedviz.trace.events import CacheCall, CacheMethod, PodStateName
from schedviz.trace.recorder import Recorder

_CORRUPTED: Final = "Schedulercache is corrupted and can badly affect scheduling decisions"
_NO_UID: Final = "Cannot get cache key for pod with empty UID"

#: The state of a pod after a call that removed it from the cache.
_STATE_AFTER_REMOVAL: Final[dict[str, PodStateName]] = {"ForgetPod": "Initial", "ExpirePod": "Expired", "RemovePod": "Deleted"}


class CacheV114(Cache):
    """v1.14's cache. Every call about a pod records a `CacheCall`, also one that returns an error."""

    keeps_binding_finished = True

    def __init__(self, recorder: Recorder, *args: object, **kwargs: object) -> None:
        super().__init__(recorder, *args, **kwargs)  # type: ignore[arg-type]  # as Cache takes them
        #: Uids of pods that expired or were deleted -> which of the two. A uid that is missing here was never known, or was forgotten.
        self.left: dict[str, PodStateName] = {}

    def state_of(self, uid: str) -> PodStateName:
        """The state of a pod."""
        if uid not in self.pod_states:
            return self.left.get(uid, "Initial")
        return "Assumed" if uid in self.assumed_pods else "Added"

    # The cache's methods

    def assume_pod(self, pod: PodInfo | Pod) -> None:
        """Allowed in Initial (or Expired, or Deleted). Raises CacheError. Upstream: AssumePod"""
        with self._call("AssumePod", pod) as info:
            if info.uid in self.pod_states:
                raise CacheError(f"pod {info.uid} is in the cache, so can't be assumed")
            super().assume_pod(info)

    def finish_binding(self, pod: PodInfo | Pod, now: int) -> None:
        """Set the deadline in Assumed; no effect in other states. Upstream: FinishBinding"""
        with self._call("FinishBinding", pod) as info:
            super().finish_binding(info, now)

    def forget_pod(self, pod: PodInfo | Pod) -> None:
        """Allowed in Assumed. Raises CacheError. Upstream: ForgetPod"""
        with self._call("ForgetPod", pod) as info:
            state = self.pod_states.get(info.uid)
            if state is not None and _node_of(state.info) != _node_of(info):
                raise CacheError(f"pod {info.uid} was assumed on {_node_of(info)} but assigned to {_node_of(state.info)}")
            if state is None or info.uid not in self.assumed_pods:
                raise CacheError(f"pod {info.uid} wasn't assumed so cannot be forgotten")
            self._remove_and_record("forget", info)

    def add_pod(self, pod: PodInfo | Pod) -> None:
        """Allowed in Assumed, or for a pod that the cache does not know: it expired, or another scheduler placed it.

        Raises CacheError. Upstream: AddPod
        """
        with self._call("AddPod", pod) as info:
            state = self.pod_states.get(info.uid)
            if state is not None and info.uid not in self.assumed_pods:
                raise CacheError(f"pod {info.uid} was already in added state")
            changes = NodeInfoChanges()
            if state is None:
                self._add_pod(info, changes, assume=False)
            else:
                self._confirm(state, info, changes)
            self._record_pod("add", info, changes)

    def _confirm(self, state: PodState, info: PodInfo, changes: NodeInfoChanges) -> None:
        if _node_of(state.info) != _node_of(info):
            # The pod was assumed on another node than the API server's: upstream logs a warning and cleans up.
            self._try_to_remove(state.info, changes)
            self._add_pod(info, changes, assume=False)
        confirmed = self.pod_states[info.uid] = PodState(info)
        confirmed.binding_finished = state.binding_finished
        self.assumed_pods.discard(info.uid)

    def update_pod(self, old: PodInfo | Pod, new: PodInfo | Pod) -> None:
        """Allowed in Added. Raises CacheError, SchedulerExitError. Upstream: UpdatePod"""
        with self._call("UpdatePod", old) as info:
            state = self.pod_states.get(info.uid)
            if state is None or info.uid in self.assumed_pods:
                raise CacheError(f"pod {info.uid} is not added to scheduler cache, so cannot be updated")
            new_info = self._info(new)
            if _node_of(state.info) != _node_of(new_info):
                raise SchedulerExitError(_CORRUPTED)
            changes = NodeInfoChanges()
            error = self._try_to_remove(info, changes)
            if error is None:
                self._add_pod(new_info, changes, assume=False)
                self.pod_states[new_info.uid].binding_finished = state.binding_finished
            self._record_pod("update", new_info, changes, instead_of=info.uid)
            if error is not None:
                raise error

    def remove_pod(self, pod: PodInfo | Pod) -> None:
        """Allowed in Added: an assumed pod whose Delete arrives first stays until it expires. Raises CacheError, SchedulerExitError.

        Upstream: RemovePod
        """
        with self._call("RemovePod", pod) as info:
            state = self.pod_states.get(info.uid)
            if state is None or info.uid in self.assumed_pods:
                raise CacheError(f"pod {info.uid} is not found in scheduler cache, so cannot be removed from it")
            if _node_of(state.info) != _node_of(info):
                raise SchedulerExitError(_CORRUPTED)
            self._remove_and_record("remove", state.info)

    def get_pod(self, pod: PodInfo | Pod) -> Pod:
        """The cache's version of a pod. Raises CacheError. Upstream: GetPod"""
        state = self.pod_states.get(self._info(pod).uid)
        if state is None:
            raise CacheError(f"pod {pod.uid} does not exist in scheduler cache")
        return state.info.pod

    def is_assumed_pod(self, pod: PodInfo | Pod) -> bool:
        """Whether the pod is in Assumed. Raises CacheError. Upstream: IsAssumedPod"""
        return self._info(pod).uid in self.assumed_pods

    def cleanup_assumed_pods(self, now: int) -> list[PodInfo]:
        """Remove assumed pods whose binding has finished and whose deadline has passed, in order of uid. Upstream: cleanupAssumedPods,
        expirePod
        """
        expired = []
        for uid in sorted(self.assumed_pods):
            state = self.pod_states.get(uid)
            if state is None:
                raise SchedulerExitError("Key found in assumed set but not in podStates. Potentially a logical error.")
            if state.binding_finished and state.deadline is not None and now > state.deadline:
                try:
                    with self._call("ExpirePod", state.info):
                        self._remove_and_record("expire", state.info)
                except CacheError:
                    continue  # Upstream logs the error, and tries again at the next cleanup.
                expired.append(state.info)
        return expired

    # Shared by the methods

    @contextmanager
    def _call(self, call: CacheMethod, pod: PodInfo | Pod) -> Iterator[PodInfo]:
        """Record the call when it ends, also with an error."""
        info = self._info(pod)
        source = self.state_of(info.uid)
        error = ""
        try:
            yield info
        except (CacheError, SchedulerExitError) as raised:
            error = str(raised)
            raise
        finally:
            self._note_leaving(call, info.uid, source)
            self._recorder.record(
                CacheCall, call=call, pod=info.key, uid=info.uid, source=source, target=self.state_of(info.uid), error=error
            )

    def _note_leaving(self, call: str, uid: str, source: PodStateName) -> None:
        if uid in self.pod_states:
            self.left.pop(uid, None)
        elif source in ("Assumed", "Added") and _STATE_AFTER_REMOVAL.get(call, "Initial") != "Initial":
            self.left[uid] = _STATE_AFTER_REMOVAL[call]

    def _info(self, pod: PodInfo | Pod) -> PodInfo:
        if not pod.uid:
            raise CacheError(_NO_UID)
        return super()._info(pod)

    def _try_to_remove(self, pod: PodInfo, changes: NodeInfoChanges, *, forget: bool = False) -> CacheError | None:  # noqa: ARG002
        """Remove a pod from its node; an error leaves it in podStates. Upstream: removePod"""
        node = _node_of(pod)
        if self.nodes.get(node) is None:
            return CacheError(f"node {node} is not found")
        try:
            self._remove_pod(pod, changes)
        except PodNotFoundError as error:
            return CacheError(str(error))
        return None

    # Checkpoints

    def to_state(self, table: ObjectTable) -> CacheState:
        """The state for a checkpoint, including how pods left."""
        return msgspec.structs.replace(super().to_state(table), left=dict(self.left))

    @classmethod
    def from_state(cls, state: CacheState, recorder: Recorder, table: ObjectTable) -> CacheV114:
        """The cache of a checkpoint."""
        cache = super().from_state(state, recorder, table)
        assert isinstance(cache, CacheV114)
        cache.left = dict(state.left)  # type: ignore[arg-type]  # names of states
        return cache


def _node_of(pod: PodInfo) -> str:
    return pod.pod.spec.node_name
