"""`Cluster`: the simulated API server, and the host that carries out the scheduler's instructions.

Every write increases the resource version, is recorded, and causes a watch event unless it changed nothing. The pod watch excludes finished
pods, so for the scheduler a pod that finishes is deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from msgspec.structs import replace

from schedviz.engine.clock import SECOND, Clock
from schedviz.engine.cluster import claim_writes, pod_group_patch, status_patch, volume_controller
from schedviz.engine.cluster.admission import admitted, in_namespace, merged
from schedviz.engine.cluster.controllers import ControllerManager, ControllerSettings
from schedviz.engine.cluster.objects import ObjectStore, qualified_resource
from schedviz.engine.cluster.refusals import Refusal, not_found, why_not_bound, why_not_replaced
from schedviz.engine.cluster.watch import LossCause, LossScope, Verb, Watches, WatchEvent
from schedviz.engine.framework.listers import StorageObject
from schedviz.engine.framework.status import StatusError
from schedviz.engine.instructions import (
    AnyInstruction,
    ApplyPodCondition,
    BindPod,
    DeletePod,
    PatchExtendedResourceClaimStatus,
    PatchPodGroupStatus,
    PatchPodStatus,
    RecordEvent,
    UpdateObject,
    WriteClaim,
)
from schedviz.kube.core import Pod, PodCondition
from schedviz.kube.defaults import default_object
from schedviz.kube.devices import ResourceClaim
from schedviz.kube.kinds import BY_NAME, BY_TYPE, WATCHED_KINDS, any_object
from schedviz.kube.meta import KubeObject
from schedviz.kube.workloads import PodGroup
from schedviz.trace.events import ApiWritten, EventRecorded, WatchChanged, WatchDelivered, WatchSent, WriteVerb
from schedviz.trace.recorder import Recorder
from schedviz.trace.simulation_settings import GracefulVictims

Object = TypeVar("Object", bound=KubeObject)

TERMINATION_GRACE_PERIOD_SECONDS = 30
_WATCHED_KIND_NAMES = frozenset(kind.name for kind in WATCHED_KINDS)


class BindFailure:
    """The error that the next Bind call gets instead of the real result."""

    def __init__(self, message: str, *, after_write: bool) -> None:
        self.message = message
        self.after_write = after_write


class Cluster:
    """Objects, writes and watches. `deliver` receives watch events; it is the scheduler's informers."""

    def __init__(
        self,
        clock: Clock,
        recorder: Recorder,
        *,
        graceful_victims: GracefulVictims = False,
        controllers: ControllerSettings | None = None,
        pods_per_sync: int = 0,
        binding_clears_nomination: bool = False,
        shows_status_after_patch: bool = False,
        watched_kinds: frozenset[str] = _WATCHED_KIND_NAMES,
        refused_binding_confirms_earlier: bool = False,
    ) -> None:
        self.clock = clock
        self.recorder = recorder
        self.graceful_victims = graceful_victims
        #: Pods that a controller creates or deletes in one sync; 0: all of them.
        self.pods_per_sync = pods_per_sync
        #: Upstream: the gate ClearingNominatedNodeNameAfterBinding of the API server.
        self.binding_clears_nomination = binding_clears_nomination
        #: The record of a status patch has the values after it (FORMAT-1.36), not those in the patch (FORMAT).
        self.shows_status_after_patch = shows_status_after_patch
        #: What a refused binding does with the event of an earlier binding of the pod that waits for a confirm. True: it sends it
        #: (FORMAT-1.36). False: the event goes on waiting (FORMAT).
        self.refused_binding_confirms_earlier = refused_binding_confirms_earlier
        self.store = ObjectStore()
        self.watches = Watches()
        self.deliver: Callable[[WatchEvent], None] = _deliver_to_none
        self.bind_failure: BindFailure | None = None
        #: The error that every deletion by the scheduler gets; "": none.
        self.delete_failure = ""
        #: The scheduler's writes cause their watch events at once, not when its cycle has ended.
        self.delivers_at_once = False
        #: The pod that the running binding cycle has bound, or tried to: its later events are sent after that of its binding.
        self.bound_pod = ""
        #: The number of events at the front of `watches.held` that this binding cycle had caused before it bound the pod, such as the
        #: nomination's. They are sent before the event of the binding.
        self.held_before_binding = 0
        #: The kinds that the scheduler watches.
        self.watched_kinds = watched_kinds
        self.controllers = ControllerManager(self, controllers or ControllerSettings())

    # Writes of users.

    def create(self, obj: KubeObject, *, lost: LossScope = "") -> None:
        """Create an object and send watch events. Raises `Refusal`."""
        obj = in_namespace(obj)
        kind = BY_TYPE[type(obj)].name
        if self.store.get(kind, obj.key) is not None:
            raise Refusal(f'{qualified_resource(kind)} "{obj.name}" already exists')
        obj = self._stored(admitted(obj, self.store, self.clock))
        self._record_write("create", obj)
        self._send_at_once(self._event("ADDED", obj, None, lost))

    def update(self, obj: KubeObject, manifest: Mapping[str, Any], *, lost: LossScope = "") -> None:
        """Replace an object (`manifest`: as the user wrote it) and send watch events if it changed. Raises `Refusal`."""
        obj = in_namespace(obj)
        old = self._existing(BY_TYPE[type(obj)].name, obj.key)
        new = merged(obj, old, manifest)
        if _same(new, old):
            return
        new = self._stored(new)
        self._record_write("update", new)
        self._send_at_once(self._event("MODIFIED", new, old, lost))

    def delete(
        self, kind: str, namespace: str, name: str, *, graceful: bool = False, finalizers: bool = False, lost: LossScope = ""
    ) -> None:
        """Delete an object, and send watch events. A pod (`graceful`) or an object that has `finalizers` only starts to terminate.

        Raises `Refusal`.
        """
        old = self._existing(kind, f"{namespace}/{name}" if BY_NAME[kind].namespaced else name)
        event = self._remove(old, graceful=finalizers or (graceful and isinstance(old, Pod)), lost=lost)
        self._send_at_once(event)

    def bind_by_other_scheduler(self, pod_key: str, node: str) -> str:
        """Bind a pod as another scheduler would. Returns the API server's refusal; "": it is bound."""
        pod = self.store.get("Pod", pod_key)
        if not isinstance(pod, Pod):
            return f'pods "{pod_key.rpartition("/")[2]}" not found'
        refused = why_not_bound(pod, pod)
        if refused:
            return refused
        bound = self._bound(pod, node)
        self._record_write("create", bound, subresource="binding", detail=node)
        self._send_at_once(self._event("MODIFIED", bound, pod))
        return ""

    def load(self, obj: KubeObject) -> KubeObject:
        """Store an imported object, without watch events. Returns it as stored."""
        return self._stored(admitted(in_namespace(obj), self.store, self.clock))

    # Instructions of the scheduler.

    def carry_out(self, instruction: AnyInstruction) -> StatusError | None:
        """Carry out an instruction; its watch events are sent when the cycle has ended."""
        match instruction:
            case BindPod():
                return self._bind(instruction)
            case PatchPodStatus():
                return self._patch(instruction)
            case PatchPodGroupStatus():
                return self._patch_pod_group(instruction)
            case ApplyPodCondition():
                return self._apply_condition(instruction)
            case DeletePod():
                return self._delete_victim(instruction)
            case PatchExtendedResourceClaimStatus():
                return claim_writes.patch_extended_claim_status(self, instruction)
            case RecordEvent():
                self._record_event(instruction)
        return None

    def write_claim(self, instruction: WriteClaim) -> ResourceClaim | StatusError:
        """Write a claim; watch events are sent when the cycle has ended, that of a new claim at once."""
        return claim_writes.write(self, instruction)

    def update_object(self, instruction: UpdateObject[StorageObject]) -> StorageObject | StatusError:
        """Update a volume or a claim; watch events are sent at once, and the volume controller reacts."""
        stored = instruction.object
        kind = BY_TYPE[type(stored)].name
        current = self.store.get(kind, stored.key)
        error = why_not_replaced(stored, current)
        if error:
            self.record_scheduler_write("update", stored, error=error)
            return StatusError(error)
        # A watch event does not overtake those of earlier writes.
        self.send_held_events()
        self.record_scheduler_write("update", stored)
        current = self._existing(kind, stored.key)
        if _same(stored, current):
            new = replace(stored, metadata=current.metadata)
        else:
            new = self._stored(stored)
            self._send_at_once(self._event("MODIFIED", new, current))
        volume_controller.react(self, new)
        return new

    def find(self, kind: str, key: str) -> KubeObject | None:
        """The object, or None."""
        return self.store.get(kind, key)

    def put(self, obj: KubeObject) -> None:
        """Create or replace an object as a controller does, and send watch events at once if it changed."""
        if self.store.get(BY_TYPE[type(obj)].name, obj.key) is None:
            self.create(default_object(obj))
        else:
            self.replace(obj)

    def replace(self, obj: KubeObject, *, verb: Literal["update", "patch"] = "update", subresource: str = "", detail: str = "") -> None:
        """Replace an object as a controller does, record the write and send watch events, unless nothing changed."""
        current = self._existing(BY_TYPE[type(obj)].name, obj.key)
        if _same(obj, current):
            return
        new = self._stored(obj)
        self._record_write(verb, new, subresource=subresource, detail=detail)
        self._send_at_once(self._event("MODIFIED", new, current))

    def write_and_hold(self, new: Object, current: KubeObject | None) -> Object:
        """Store what the scheduler wrote; the watch event is sent when its cycle has ended. Nothing happens if nothing changed."""
        if current is not None and _same(new, current):
            return replace(new, metadata=current.metadata)
        new = self._stored(new)
        self._hold(self._event("ADDED" if current is None else "MODIFIED", new, current))
        return new

    def delete_and_hold(self, obj: KubeObject) -> None:
        """Delete an object as the scheduler does; the watch event is sent when its cycle has ended."""
        self._hold(self._remove(obj, graceful=False, by_scheduler=True))

    def _bind(self, instruction: BindPod) -> StatusError | None:
        failure, self.bind_failure = self.bind_failure, None
        pod, node = instruction.pod, instruction.node
        current = self.store.get("Pod", pod.key)
        error = failure.message if failure is not None and not failure.after_write else why_not_bound(current, pod)
        events: list[WatchEvent] | None = None
        # The nomination that the binding cycle wrote before.
        self.held_before_binding = len(self.watches.held)
        if isinstance(current, Pod) and not error:
            event = self._event("MODIFIED", self._bound(current, node), current)
            # A finished pod was bound; its watch does not show it.
            events = [] if event is None else [event]
            error = failure.message if failure is not None else ""
        self.record_scheduler_write("create", pod, subresource="binding", detail=node, error=error)
        self.bound_pod = "" if events is None and self.refused_binding_confirms_earlier else pod.key
        if events is not None:
            self.watches.unconfirmed.setdefault(pod.key, []).extend(events)
        if not error:
            return None
        return not_found(pod) if current is None and failure is None else StatusError(error)

    def _patch(self, instruction: PatchPodStatus) -> StatusError | None:
        base = instruction.pod
        condition = instruction.condition
        if condition is not None:
            condition = replace(condition, last_transition_time=self.clock.timestamp())
        patch = status_patch.between(base.status, condition, instruction.nominated_node_name)
        if patch is None:
            return None
        current = self.store.get("Pod", base.key)
        if not isinstance(current, Pod):
            error = not_found(base)
            detail = patch.detail_after(None) if self.shows_status_after_patch else patch.detail
            self.record_scheduler_write("patch", base, subresource="status", detail=detail, error=error.message)
            return error
        new = replace(_as_patched(current), status=patch.apply(current.status))
        detail = patch.detail_after(new.status) if self.shows_status_after_patch else patch.detail
        self.record_scheduler_write("patch", base, subresource="status", detail=detail)
        self.write_and_hold(new, current)
        return None

    def _patch_pod_group(self, instruction: PatchPodGroupStatus) -> StatusError | None:
        base, condition = instruction.group, instruction.condition
        changed = pod_group_patch.changed_condition(base.status, condition, self.clock.timestamp())
        if changed is None:
            return None
        current = self.store.get("PodGroup", base.key)
        error = "" if isinstance(current, PodGroup) else f'podgroups.scheduling.k8s.io "{base.name}" not found'
        detail = f"condition {condition.type}={condition.status} {condition.reason}"
        if not isinstance(current, PodGroup):
            self.record_scheduler_write("patch", base, subresource="status", detail=detail, error=error)
            return StatusError(error, "podgroups", base.name)
        self.record_scheduler_write("patch", base, subresource="status", detail=detail)
        self.write_and_hold(replace(current, status=pod_group_patch.merged(current.status, changed)), current)
        return None

    def _apply_condition(self, instruction: ApplyPodCondition) -> StatusError | None:
        pod, condition = instruction.pod, replace(instruction.condition, last_transition_time=self.clock.timestamp())
        current = self.store.get("Pod", pod.key)
        error = None if isinstance(current, Pod) else not_found(pod)
        if isinstance(current, Pod):
            self.write_and_hold(replace(_as_patched(current), status=status_patch.with_applied(current.status, condition)), current)
        detail = f"condition {condition.type}={condition.status} {condition.reason}"
        self.record_scheduler_write("patch", pod, subresource="status", detail=detail, error="" if error is None else error.message)
        return error

    def _delete_victim(self, instruction: DeletePod) -> StatusError | None:
        pod = instruction.pod
        if self.delete_failure:
            self.record_scheduler_write("delete", pod, error=self.delete_failure)
            return StatusError(self.delete_failure)
        current = self.store.get("Pod", pod.key)
        if not isinstance(current, Pod):
            error = not_found(pod)
            self.record_scheduler_write("delete", pod, error=error.message)
            return error
        graceful = _has_grace(current) if self.graceful_victims == "bound" else self.graceful_victims
        self._hold(self._remove(current, graceful=graceful, by_scheduler=True))
        return None

    def _record_event(self, instruction: RecordEvent) -> None:
        self.recorder.record(
            EventRecorded,
            type=instruction.type,
            reason=instruction.reason,
            action=instruction.action,
            note=instruction.note,
            pod=instruction.pod.key,
            related=instruction.related,
            component=instruction.component,
        )

    # Watch events.

    def send_held_events(self) -> None:
        """Send the watch events of the scheduler's writes, in order. Those of a running binding cycle's own pod follow its binding."""
        while self.watches.held:
            event = self.watches.held.pop(0)
            is_before_binding = self.held_before_binding > 0
            if is_before_binding:
                self.held_before_binding -= 1
            unconfirmed = self.watches.unconfirmed.get(event.key) if event.kind == "Pod" else None
            if unconfirmed is None or event.key != self.bound_pod:
                self._send(event)
            elif is_before_binding:
                self._send_or_lose(event)
            else:
                unconfirmed.append(event)

    def confirm(self, pod_key: str) -> bool:
        """Send the event of a pod's binding and the events behind it. False: there is none."""
        unconfirmed = self.watches.unconfirmed.pop(pod_key, None)
        for event in unconfirmed or ():
            self._send_or_lose(event)
        return unconfirmed is not None

    @property
    def next_due(self) -> int | None:
        """When the next watch event arrives, or the next controller acts."""
        return min((due for due in (self.watches.next_due, self.controllers.timers.next_due) if due is not None), default=None)

    def deliver_arrived(self) -> bool:
        """Deliver the next event whose latency has passed. False: there is none."""
        event = self.watches.arrived(self.clock.now)
        if event is None:
            return False
        self.send_to_informers(event)
        return True

    def _send_at_once(self, event: WatchEvent | None) -> None:
        if event is None:
            return
        if self.watches.waits_behind(event):
            self.watches.held.append(event)
        else:
            self._send(event)

    def _hold(self, event: WatchEvent | None) -> None:
        if event is not None:
            self.watches.held.append(event)
            if self.delivers_at_once:
                self.send_held_events()

    def _send(self, event: WatchEvent) -> None:
        if event.kind == "Pod":
            self.confirm(event.key)
        self._send_or_lose(event)

    def _send_or_lose(self, event: WatchEvent) -> None:
        if not self.watches.watched:
            return
        loss = self.watches.next_loss(event.kind)
        if loss:
            self.record_lost(event, loss)
            self.record_watch(event.kind)
            return
        sent = self.watches.send(event, self.clock.now)
        if sent is None:
            self.send_to_informers(event)
        else:
            self.recorder.record(
                WatchSent,
                id=sent.id,
                verb=sent.verb,
                resource=sent.resource,
                key=sent.key,
                due_seconds=sent.due / SECOND,
            )

    def send_to_informers(self, event: WatchEvent) -> None:
        """Deliver an event to the scheduler's informers, now."""
        self.recorder.record(
            WatchDelivered,
            id=event.id,
            verb=event.verb,
            resource=event.resource,
            key=event.key,
            lost=event.lost,
            final_state_unknown=event.final_state_unknown,
        )
        if event.lost != "watch":
            self.deliver(event)

    def record_lost(self, event: WatchEvent, lost: LossCause = "watch") -> None:
        """Record that an event will not arrive."""
        self.recorder.record(WatchDelivered, id=event.id, verb=event.verb, resource=event.resource, key=event.key, lost=lost)

    def record_watch(self, kind: str) -> None:
        """Record the state of a kind's watch."""
        watches = self.watches
        unseen = watches.unseen.get(kind)
        self.recorder.record(WatchChanged, kind=kind, connected=unseen is None, unseen=unseen or 0, drops=watches.drops.get(kind, 0))

    def _event(self, verb: Verb, new: KubeObject, old: KubeObject | None, lost: LossScope = "") -> WatchEvent | None:
        """The event that the scheduler's watch shows; None: none."""
        kind = BY_TYPE[type(new)].name
        if kind not in self.watched_kinds:
            return None
        if isinstance(new, Pod):
            seen_now, seen_before = not new.is_finished, isinstance(old, Pod) and not old.is_finished
            if verb == "DELETED":
                seen_before = seen_now
            if not seen_now and not seen_before:
                return None
            if verb == "MODIFIED" and seen_now != seen_before:
                verb = "ADDED" if seen_now else "DELETED"
        return WatchEvent(self.watches.next_id(), verb, kind, any_object(new), lost)

    # Writing.

    def ends_gracefully(self, pod: Pod) -> bool:
        """Whether a deleted pod ends after its grace period, because its node exists and the simulated kubelet is on, or at once."""
        return "kubelet" in self.controllers.delays and self.store.get("Node", pod.spec.node_name) is not None

    def _existing(self, kind: str, key: str) -> Any:
        old = self.store.get(kind, key)
        if old is None:
            raise Refusal(f'{qualified_resource(kind)} "{key.rpartition("/")[2]}" not found')
        return old

    def _stored(self, obj: Object) -> Object:
        version = self.store.next_resource_version()
        if obj.metadata.resource_version != version:
            obj = replace(obj, metadata=replace(obj.metadata, resource_version=version))
        self.store.put(obj)
        self.controllers.changed(obj)
        return obj

    def _bound(self, pod: Pod, node: str) -> Pod:
        condition = PodCondition(type="PodScheduled", status="True", last_transition_time=self.clock.timestamp())
        status = status_patch.with_condition(pod.status, condition)
        if self.binding_clears_nomination:
            status = replace(status, nominated_node_name="")
        return self._stored(replace(pod, spec=replace(pod.spec, node_name=node), status=status))

    def _remove(self, old: KubeObject, *, graceful: bool, lost: LossScope = "", by_scheduler: bool = False) -> WatchEvent | None:
        record = self.record_scheduler_write if by_scheduler else self._record_write
        if not graceful:
            self.store.remove(old)
            self.controllers.changed(old)
            deleted = replace(old, metadata=replace(old.metadata, resource_version=self.store.next_resource_version()))
            record("delete", old)
            return self._event("DELETED", deleted, old, lost)
        if old.metadata.deletion_timestamp is not None:
            record("delete", old)
            return None
        seconds = _grace_seconds(old)
        metadata = replace(
            old.metadata,
            deletion_timestamp=self.clock.exact_timestamp(after_seconds=seconds),
            deletion_grace_period_seconds=seconds,
        )
        new = self._stored(replace(old, metadata=metadata))
        record("delete", old)
        return self._event("MODIFIED", new, old, lost)

    def _record_write(self, verb: WriteVerb, obj: KubeObject, *, subresource: str = "", detail: str = "") -> None:
        """Record a write that is not the scheduler's: a user's, or a controller's."""
        self._record(verb, obj, subresource=subresource, detail=detail, controller=self.controllers.acting)

    def record_scheduler_write(self, verb: WriteVerb, obj: KubeObject, *, subresource: str = "", detail: str = "", error: str = "") -> None:
        """Record a write of the scheduler."""
        self._record(verb, obj, subresource=subresource, detail=detail, error=error, by_scheduler=True)

    def _record(
        self,
        verb: WriteVerb,
        obj: KubeObject,
        *,
        subresource: str,
        detail: str,
        error: str = "",
        by_scheduler: bool = False,
        controller: str = "",
    ) -> None:
        entry = BY_TYPE[type(obj)]
        self.recorder.record(
            ApiWritten,
            verb=verb,
            resource=entry.resource,
            kind=entry.name,
            key=obj.key,
            uid=_recorded_uid(verb, obj),
            count=self.store.count(entry.name),
            subresource=subresource,
            detail=detail,
            error=error,
            by_scheduler=by_scheduler,
            helper=controller,
        )


def _recorded_uid(verb: str, obj: KubeObject) -> str:
    """The uid, if the write creates or deletes a pod: a later pod may have the same name."""
    return obj.uid if isinstance(obj, Pod) and verb in ("create", "delete") else ""


def _grace_seconds(obj: KubeObject) -> int:
    """How long the object may take to end. Only pods have a grace period."""
    if not isinstance(obj, Pod):
        return 0
    grace = obj.spec.termination_grace_period_seconds
    return TERMINATION_GRACE_PERIOD_SECONDS if grace is None else grace


def _has_grace(pod: Pod) -> bool:
    """Whether the API server gives the pod a grace period, whatever is simulated; otherwise its deletion takes effect at once.

    Upstream: pkg/registry/core/pod/strategy.go CheckGracefulDelete
    """
    return bool(pod.spec.node_name) and not pod.is_finished


def _as_patched(pod: Pod) -> Pod:
    """A pod after a patch, even an empty one: its deletionTimestamp is truncated to seconds by serialization.

    So the first patch of a terminating pod always causes an event, in the recorded runs and with Go's fake API server.
    """
    deleted_at = pod.metadata.deletion_timestamp
    if deleted_at is None or "." not in deleted_at:
        return pod
    return replace(pod, metadata=replace(pod.metadata, deletion_timestamp=f"{deleted_at.partition('.')[0]}Z"))


def _same(new: KubeObject, old: KubeObject) -> bool:
    """Whether two versions differ only in their resource version."""
    return replace(new, metadata=replace(new.metadata, resource_version=old.metadata.resource_version)) == old


def _deliver_to_none(event: WatchEvent) -> None:
    del event
