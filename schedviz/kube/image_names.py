"""The tag of a container image's name, and the pull policy that follows from it."""

from __future__ import annotations

import re
from typing import Final

_PATH: Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_HOST: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_NAME: Final = re.compile(
    rf"(?:(?:{_HOST}(?:\.{_HOST})*|\[[0-9a-fA-F:]+\])(?::\d+)?/)?{_PATH}(?:/{_PATH})*"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?",
    re.ASCII,
)
_IDENTIFIER: Final = re.compile(r"[a-f0-9]{64}")


def pull_policy(image: str) -> str:
    """The default `imagePullPolicy` of an image: Always for the tag `latest` or no tag and no digest, IfNotPresent otherwise.

    An invalid name has no tag. Upstream: pkg/apis/core/v1/defaults.go SetDefaults_Container, pkg/util/parsers ParseImageName
    """
    match = _NAME.fullmatch(image)
    if match is None or _IDENTIFIER.fullmatch(image):
        return "IfNotPresent"
    is_latest = match["tag"] == "latest" or (match["tag"] is None and match["digest"] is None)
    return "Always" if is_latest else "IfNotPresent"
