"""schedviz: see how the Kubernetes scheduler decides."""

__version__ = "0.1.0"
