"""kube-scheduler (v1.27.1 and v1.36) as a plain library: no Django, Redis, threads, sockets, wall clock or global random state.

`Simulation` is the entry point: a scheduler with a simulated API server around it. It takes commands and produces trace events.
"""

from schedviz.engine.config import ConfigurationError
from schedviz.engine.simulation import Simulation
from schedviz.engine.simulation_state import Outcome
from schedviz.engine.trace_run import run_trace, settings_of
from schedviz.trace.simulation_settings import PODS_PER_SYNC, RULES_OF_NEW_SESSIONS, SimulationSettings, graceful_victims

__all__ = [
    "PODS_PER_SYNC",
    "RULES_OF_NEW_SESSIONS",
    "ConfigurationError",
    "Outcome",
    "Simulation",
    "SimulationSettings",
    "graceful_victims",
    "run_trace",
    "settings_of",
]
