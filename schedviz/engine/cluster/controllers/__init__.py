"""Parts of Kubernetes around the scheduler, in virtual time: each is off unless a session asks for it."""

from schedviz.engine.cluster.controllers.switchboard import Helpers
from schedviz.trace.controllers import HelperSettings

__all__ = ["HelperSettings", "Helpers"]
