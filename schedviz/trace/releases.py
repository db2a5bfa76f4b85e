"""The releases of kube-scheduler that a session can simulate, by name. They live here, and not in the engine, so that the web server knows
them.
"""

from __future__ import annotations

from typing import Final

V1_27: Final = "v1.27.1"
V1_36: Final = "v1.36"

#: All releases, the oldest first.
RELEASES: Final = (V1_27, V1_36)

#: The release of a session, a trace or a lesson that names none.
DEFAULT_RELEASE: Final = V1_27


def unknown_release(name: str) -> str:
    """The sentence for a release that this build does not have."""
    return f"there is no release {name!r}; this version of schedviz simulates {' and '.join(RELEASES)}"
