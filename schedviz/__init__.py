"""schedviz: see how the Kubernetes scheduler thinks."""

__version__ = "0.1.0"
