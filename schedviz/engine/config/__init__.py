"""KubeSchedulerConfiguration v1: decoding, defaults and validation.

The entry point is `load_configuration`: it decodes strictly, sets defaults, decodes the arguments of each plugin, and validates.
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
