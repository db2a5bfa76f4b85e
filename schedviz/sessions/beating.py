"""Deprecated alias of `schedviz.sessions.health_check`, for manifests of 0.1."""

from __future__ import annotations

import sys

from schedviz.sessions.health_check import main

if __name__ == "__main__":
    sys.exit(main())
