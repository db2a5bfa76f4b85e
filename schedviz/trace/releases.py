"""The releases of kube-scheduler that a session can simulate, by name. They live here, and not in the engine, so that the web server knows
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, cast, get_args

V1_27: Final = "v1.27.1"
V1_36: Final = "v1.36"

#: The name of a release that this build simulates.
ReleaseName = Literal["v1.27.1", "v1.36"]

#: All releases, the oldest first.
RELEASES: Final[tuple[ReleaseName, ...]] = get_args(ReleaseName)

#: The release of a session, a trace or a lesson that names none.
DEFAULT_RELEASE: Final = V1_27

#: The release that the page and the command line simulate for files of a cluster that tell none: clusters run v1.30 and later.
RELEASE_OF_FILES: Final = V1_36

#: Feature gates that a new session cannot enable, because what they switch on is not simulated. Stored sessions with one of them can be
#: opened; it has no effect there.
NOT_SIMULATED: Final[Mapping[str, str]] = {
    "DRANodeAllocatableResources": "devices that take a node's allocatable resources are not simulated",
    "DRAWorkloadResourceClaims": "claims of pod groups are not simulated",
}


def not_simulated(gates: Mapping[str, bool]) -> tuple[str, str] | None:
    """The first gate that a new session cannot enable, and the sentence that refuses it; None: there is none."""
    for name, is_on in gates.items():
        if is_on and name in NOT_SIMULATED:
            return name, f"cannot set feature gate {name} to true: {NOT_SIMULATED[name]} (docs/devices.md#limits)"
    return None


def release_in(settings: Mapping[str, Any]) -> str:
    """The release in stored settings, which can be one that this build does not have."""
    return cast("str", settings.get("release", DEFAULT_RELEASE))


def gates_in(settings: Mapping[str, Any]) -> dict[str, bool]:
    """The feature gates in stored settings that differ from the release's defaults."""
    return cast("dict[str, bool]", settings.get("feature_gates", {}))


def is_of_release(version: str, release: str) -> bool:
    """Whether a version such as "v1.36.0-beta.1" is one of a release such as "v1.36"."""
    return _minor(version) == _minor(release)


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def unknown_release(name: str) -> str:
    """The sentence for a release that this build does not have."""
    return f"there is no release {name!r}; this version of schedviz simulates {' and '.join(RELEASES)}"
