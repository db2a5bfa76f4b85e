"""`ControllerManager`: the enabled controllers, and their timers."""

from __future__ import annotations

from typing import Final

from schedviz.engine.clock import nanoseconds
from schedviz.engine.cluster.controllers.controller import Controller, ControllerApi
from schedviz.engine.cluster.controllers.deployments import Deployments
from schedviz.engine.cluster.controllers.device_driver import DeviceDriver
from schedviz.engine.cluster.controllers.kubelet import Kubelet
from schedviz.engine.cluster.controllers.node_lifecycle import NodeLifecycle
from schedviz.engine.cluster.controllers.pdb_status import PDBStatus
from schedviz.engine.cluster.controllers.pod_gc import PodGC
from schedviz.engine.cluster.controllers.pv_binder import PVBinder
from schedviz.engine.cluster.controllers.replica_sets import ReplicaSets
from schedviz.engine.cluster.controllers.resource_claims import ResourceClaims
from schedviz.engine.cluster.timers import Timers
from schedviz.kube.meta import KubeObject
from schedviz.trace.controllers import QUARANTINE_SECONDS, RUNNING_AFTER_SECONDS, ControllerSettings

#: All controllers, in the order in which they are notified of a change.
_CONTROLLERS: Final[tuple[Controller, ...]] = (
    Kubelet(),
    NodeLifecycle(),
    PodGC(),
    Deployments(),
    ReplicaSets(),
    PVBinder(),
    PDBStatus(),
    ResourceClaims(),
    DeviceDriver(),
)
_BY_NAME: Final = {controller.name: controller for controller in _CONTROLLERS}

#: The default delays.
DELAYS: Final = {"kubelet": RUNNING_AFTER_SECONDS, "podGc": QUARANTINE_SECONDS}


class ControllerManager:
    """The controllers of one cluster. They act only when `act` is called, never during another write."""

    def __init__(self, api: ControllerApi, settings: ControllerSettings) -> None:
        self._api = api
        #: Enabled controllers -> their delay in seconds.
        self.delays: dict[str, float] = _enabled_delays(settings)
        self.timers = Timers()
        #: The controller that is acting.
        self.acting = ""
        #: The last sync was partial and the next one continues it, or there are more syncs than one unit of a command does.
        self.is_catching_up = False

    def switch(self, name: str, *, on: bool, seconds: float | None) -> bool:
        """Enable a controller (again, with another delay) or disable it. False: nothing changed. A new one reconciles all objects."""
        delay = DELAYS.get(name, 0.0) if seconds is None else seconds
        if not on:
            self.timers.drop(name)
            return self.delays.pop(name, None) is not None
        if self.delays.get(name) == delay:
            return False
        self.delays[name] = delay
        self.timers.drop(name)
        for obj in list(self._api.store):
            self._wake(_BY_NAME[name], obj)
        return True

    def changed(self, obj: KubeObject) -> None:
        """Notify the controllers of an object that was written or deleted."""
        if self.delays:
            for controller in _CONTROLLERS:
                if controller.name in self.delays:
                    self._wake(controller, obj)

    def act(self) -> bool:
        """Let one controller reconcile what is due. False: nothing is due."""
        self.is_catching_up = False
        timer = self.timers.pop(self._api.clock.now)
        if timer is None:
            return False
        self.acting = timer.owner
        try:
            self.is_catching_up = bool(_BY_NAME[timer.owner].reconcile(timer.key, self._api))
        finally:
            self.acting = ""
        if self.is_catching_up:
            self.timers.set(timer.owner, timer.key, self._api.clock.now)
        return True

    def _wake(self, controller: Controller, obj: KubeObject) -> None:
        for key, due in controller.wakes(obj, self._api, nanoseconds(self.delays[controller.name])):
            self.timers.set(controller.name, key, due)

    @staticmethod
    def has_delay(name: str) -> bool:
        """Whether the controller uses a delay."""
        return name in DELAYS


def _enabled_delays(settings: ControllerSettings) -> dict[str, float]:
    on = {
        "kubelet": (settings.kubelet, settings.kubelet_seconds),
        "nodeLifecycle": (settings.node_lifecycle, 0.0),
        "podGc": (settings.pod_gc, settings.pod_gc_seconds),
        "deployments": (settings.deployments, 0.0),
        "replicaSets": (settings.replica_sets, 0.0),
        "pvBinder": (settings.pv_binder, 0.0),
        "pdbStatus": (settings.pdb_status, 0.0),
        "resourceClaims": (settings.resource_claims, 0.0),
        "deviceDriver": (settings.device_driver, 0.0),
    }
    return {name: seconds for name, (is_on, seconds) in on.items() if is_on}
