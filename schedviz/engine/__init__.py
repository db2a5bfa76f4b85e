"""kube-scheduler v1.27.1 as a plain library: no Django, no Redis, no threads, no sockets, no wall clock, no global random state.

`Simulation` is the door: a scheduler with a simulated API server around it. Commands go in, trace events come out.
"""

from schedviz.engine.config import ConfigurationError
from schedviz.engine.outcome import Outcome
from schedviz.engine.simulation import Simulation
from schedviz.engine.trace_run import run_trace, settings_of
from schedviz.trace.simulation_settings import PODS_PER_SYNC, SimulationSettings, graceful_victims

__all__ = [
    "PODS_PER_SYNC",
    "ConfigurationError",
    "Outcome",
    "Simulation",
    "SimulationSettings",
    "graceful_victims",
    "run_trace",
    "settings_of",
]
