"""The name of `schedviz.web.server.head_limit` in start commands of deployments that were written for an earlier version."""

from schedviz.web.server.head_limit import HeadLimit

__all__ = ["HeadLimit"]
