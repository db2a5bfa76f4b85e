"""`preemption_note`: that pods of higher priority evicted the pod that is pending now."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from schedviz.explain.messages.parsed_message import shown_name
from schedviz.kube.event_reasons import PREEMPTED
from schedviz.kube.text_facts import PodFact, PodWarning
from schedviz.trace.phrase import Phrase, counted, phrase, some

#: The pod for which another was evicted. From 1.27 on, the event has its UID.
_BY: Final = re.compile(r"Preempted by (?:a )?(?:pod )?(?P<pod>[a-z0-9.*-]++/[a-z0-9.*-]++) on node")
#: Pods that are named.
_MAX_NAMED: Final = 5


def preemption_note(facts: Sequence[PodFact]) -> Phrase | None:
    """How often a pod was preempted, and by which pods, if the `facts` about it tell; None if it was not."""
    own = [fact for fact in facts if isinstance(fact, PodWarning) and fact.reason == PREEMPTED]
    if not own:
        return None
    # A pod is preempted once, and created again with the same name.
    times = counted(len(own), "once by a pod of higher priority", "{count} times by pods of higher priority")
    by = list(dict.fromkeys(shown_name(found["pod"]) for warning in own if (found := _BY.search(warning.message)) is not None))
    if not by:
        return phrase("The pod was preempted {times}, which may happen again.", times=times)
    return phrase("The pod was preempted {times} ({named}), which may happen again.", times=times, named=some(by, _MAX_NAMED))
