"""Simulated controllers and kubelets, in virtual time. Each is off unless a session enables it."""

from schedviz.engine.cluster.controllers.controller_manager import ControllerManager
from schedviz.trace.controllers import ControllerSettings

__all__ = ["ControllerManager", "ControllerSettings"]
