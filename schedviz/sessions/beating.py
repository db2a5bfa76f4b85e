"""Whether a worker of this host beats: `python -m schedviz.sessions.beating`, for the health checks of containers. 0: one does, 1: none."""

from __future__ import annotations

import os
import socket
import sys


def main() -> int:
    """Look for a worker whose name ends with this host's."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
    import redis

    from schedviz.sessions.redis import heartbeat

    try:
        return int(not any(name.endswith(f"@{socket.gethostname()}") for name in heartbeat.alive()))
    except (redis.RedisError, OSError):
        # Starting the worker again would not bring Redis back.
        return 0


if __name__ == "__main__":
    sys.exit(main())
