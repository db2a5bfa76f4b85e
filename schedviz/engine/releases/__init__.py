"""The releases of kube-scheduler that the engine simulates, as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from schedviz.engine.release import Release
from schedviz.engine.releases.v1_27 import RELEASE as V1_27
from schedviz.engine.releases.v1_36 import RELEASE as V1_36

#: By version.
RELEASES: Final[Mapping[str, Release]] = {release.version: release for release in (V1_27, V1_36)}

__all__ = ["RELEASES", "Release"]
