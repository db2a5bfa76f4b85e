"""`python -m schedviz.sessions.health_check`, for containers: exits with 0 if a worker of this host has a heartbeat, otherwise with 1."""

from __future__ import annotations

import os
import socket
import sys


def main() -> int:
    """The exit code. It is 0 without Redis, because restarting the worker would not repair Redis."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
    import redis

    from schedviz.sessions.redis import heartbeat

    try:
        return int(not any(name.endswith(f"@{socket.gethostname()}") for name in heartbeat.alive()))
    except (redis.RedisError, OSError):
        return 0


if __name__ == "__main__":
    sys.exit(main())
