"""Why pods enter, leave or change queues where upstream has no label for it. The names are schedviz's own; both releases have these causes.

The labelled ones are in `v1_27/events` and `v1_36/cluster_events`.
"""

from __future__ import annotations

from typing import Final

#: A pending pod was deleted, was assigned to a node by someone else, or lost its profile. Upstream: Delete
POD_DELETE: Final = "PodDelete"
#: The scheduler popped the pod. Upstream: Pop
POP: Final = "Pop"
#: The scheduler got another configuration. Upstream has no equivalent.
CONFIGURE: Final = "Configure"
