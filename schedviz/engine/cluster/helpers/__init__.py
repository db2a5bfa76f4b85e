"""Parts of Kubernetes around the scheduler, in virtual time: each is off unless a session asks for it."""

from schedviz.engine.cluster.helpers.switchboard import Helpers
from schedviz.trace.helpers import HelperSettings

__all__ = ["HelperSettings", "Helpers"]
