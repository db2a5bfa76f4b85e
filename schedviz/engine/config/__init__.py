"""KubeSchedulerConfiguration v1: what it says, what it means when it says nothing, and what is wrong with it.

`load_configuration` is the door: it decodes strictly, fills in defaults, decodes the arguments of each plugin, validates.
"""

from schedviz.engine.config.errors import ConfigurationError, Problem
from schedviz.engine.config.load import load_configuration
from schedviz.engine.config.types import Extender, KubeSchedulerConfiguration, KubeSchedulerProfile, Plugin, Plugins, PluginSet

__all__ = [
    "ConfigurationError",
    "Extender",
    "KubeSchedulerConfiguration",
    "KubeSchedulerProfile",
    "Plugin",
    "PluginSet",
    "Plugins",
    "Problem",
    "load_configuration",
]
