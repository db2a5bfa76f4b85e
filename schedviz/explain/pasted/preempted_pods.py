"""`of_preemption`: that pods of higher priority evicted the pod that is pending now."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from schedviz.explain.messages.parsed_message import shown_name
from schedviz.explain.pasted.pod_answer import Event
from schedviz.kube.event_reasons import PREEMPTED
from schedviz.trace.phrase import Phrase, counted, phrase, some

#: The pod for which another was evicted. From 1.27 on, the event has its UID.
_BY: Final = re.compile(r"Preempted by (?:a )?(?:pod )?(?P<pod>[a-z0-9.*-]++/[a-z0-9.*-]++) on node")
#: Pods that are named.
_NAMED: Final = 5


def of_preemption(events: Sequence[Event]) -> Phrase | None:
    """How often a pod was preempted, and by which pods, if its `events` tell; None if it was not."""
    own = [event for event in events if event.reason == PREEMPTED]
    if not own:
        return None
    # A pod is preempted once, and created again with the same name.
    times = counted(len(own), "once by a pod of higher priority", "{count} times by pods of higher priority")
    by = list(dict.fromkeys(shown_name(found["pod"]) for event in own if (found := _BY.search(event.message)) is not None))
    if not by:
        return phrase("The pod was preempted {times}, which may happen again.", times=times)
    return phrase("The pod was preempted {times} ({named}), which may happen again.", times=times, named=some(by, _NAMED))
