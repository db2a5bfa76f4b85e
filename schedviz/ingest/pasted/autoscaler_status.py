"""Reads from the status ConfigMap of the cluster autoscaler, as text or from 1.30 on as YAML, which node groups cannot be scaled up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from schedviz.ingest.scheduler_messages import PodMessage

_TEXT: Final = "Cluster-autoscaler status at "
_YAML: Final = "autoscalerStatus:"
#: The head of a node group, in the text and in the YAML.
_GROUP: Final = re.compile(r"^[ \t]*+(?:Name:[ \t]++|- name:[ \t]++)\"?(?P<name>\S+?)\"?[ \t]*+$", re.MULTILINE)
_HEALTH: Final = re.compile(r"(?:Health:|health:\s++status:)[ \t]++(?P<status>\w++)")
_SCALE_UP: Final = re.compile(r"(?:ScaleUp:|scaleUp:\s++status:)[ \t]++(?P<status>\w++)")
_TARGET: Final = re.compile(r"cloudProviderTarget[=:] ?(?P<target>\d{1,9})")
_MAXIMUM: Final = re.compile(r"maxSize[=:] ?(?P<maximum>\d{1,9})")
_REGISTERED: Final = re.compile(r"registered[=:] ?(?P<registered>\d{1,9})")
_UNREGISTERED: Final = re.compile(r"longUnregistered[=:] ?(?P<count>\d{1,9})")
_CODE: Final = re.compile(r"errorCode:[ \t]++\"?(?P<code>[^\"\n]{1,200})")
_ERROR: Final = re.compile(r"errorMessage:[ \t]++\"?(?P<message>[^\"\n]{1,400})")
#: A group has no more lines than these characters.
_MAX_LENGTH: Final = 4_000
_MAX_GROUPS: Final = 200


def messages_of_status(text: str) -> Iterator[PodMessage]:
    """The node groups that are in backoff, unhealthy or at their maximum, as one message that names no pod."""
    if _TEXT not in text and _YAML not in text:
        return
    heads = list(_GROUP.finditer(text, max(text.find("NodeGroups:"), text.find("nodeGroups:"), 0)))[:_MAX_GROUPS]
    ends = [*(head.start() for head in heads[1:]), len(text)]
    lines = [
        line
        for head, end in zip(heads, ends, strict=True)
        if (line := _line(head["name"], text[head.end() : min(end, head.end() + _MAX_LENGTH)]))
    ]
    if lines:
        yield PodMessage("", " | ".join(lines))


def _line(name: str, said: str) -> str:
    """What keeps a node group from being scaled up; "": nothing."""
    health, scale_up = _HEALTH.search(said), _SCALE_UP.search(said)
    if scale_up is not None and scale_up["status"] == "Backoff":
        errors = [found[1].strip() for found in (_CODE.search(said), _ERROR.search(said)) if found is not None]
        error = f", error: {', '.join(errors)}" if errors else ""
        return f"Node group {name}: ScaleUp: Backoff{error}"
    if health is not None and health["status"] == "Unhealthy":
        return f"Node group {name}: Health: Unhealthy"
    target, maximum = _TARGET.search(said), _MAXIMUM.search(said)
    if target is not None and maximum is not None and int(target["target"]) >= int(maximum["maximum"]) > 0:
        return f"Node group {name}: maximum size reached ({target['target']} of {maximum['maximum']} nodes)"
    registered, unregistered = _REGISTERED.search(said), _UNREGISTERED.search(said)
    if target is not None and registered is not None and unregistered is not None and int(unregistered["count"]):
        have = f"{registered['registered']} of {target['target']} nodes registered"
        return f"Node group {name}: {unregistered['count']} long unregistered ({have})"
    return ""
