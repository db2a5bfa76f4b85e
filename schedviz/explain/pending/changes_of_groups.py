"""Searches changes for the groups of an overview, and counts how many of their pods the changes place together."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.engine import Simulation
from schedviz.explain.changes.change import Change
from schedviz.explain.changes.placed_together import PodAndChanges, phrase_of_placed
from schedviz.explain.changes.smallest import search_change
from schedviz.explain.explanation import Explanation
from schedviz.explain.pending.pending_group import PendingGroup
from schedviz.explain.pending.waiting_reason import WaitingReason, is_too_large
from schedviz.explain.why import find_pod
from schedviz.trace.phrase import Phrase, phrase

#: The largest reduction of requests that is suggested, as a share of what the pod requests.
_MAX_REDUCTION: Final = 2 / 3
#: About a pod that no node is large enough for, and whose request would have to be lowered by more than that.
_LARGER: Final = phrase("lower the request, or add a larger node")


def may_have_change(explanation: Explanation) -> bool:
    """Whether to look for a change that places the pod."""
    return explanation.standing == "pending" and explanation.lacks_change and not explanation.group


def find_changes(simulation: Simulation, searched: dict[str, list[Explanation]], until: float) -> dict[str, tuple[Change, ...]]:
    """Pod -> the smallest change that would place it, for as many pods as there is time for; one pod of each reason first."""
    in_turn = (each for turn in itertools.zip_longest(*searched.values()) for each in turn if each is not None)
    found: dict[str, tuple[Change, ...]] = {}
    for explanation in in_turn:
        if time.perf_counter() > until:
            break
        smallest, search = search_change(simulation, explanation.pod, explanation)
        if smallest.suggestions and not _is_far_fetched(changes := search.changes_behind(smallest.suggestions[0])):
            found[explanation.pod] = changes
    return found


def _is_far_fetched(changes: Sequence[Change]) -> bool:
    """Whether general advice is better: to request a small fraction, to tolerate a taint of nodes for others, or to take nodes without
    the labels and add some of them.
    """
    kinds = {change.kind for change in changes}
    return any(_is_unlikely(change) for change in changes) or kinds == {"selector", "node"}


def _is_unlikely(change: Change) -> bool:
    return change.is_unlikely and (change.kind == "toleration" or (change.kind == "request" and change.amount > _MAX_REDUCTION))


def with_effects(simulation: Simulation, reason: WaitingReason, changes: dict[str, tuple[Change, ...]], until: float) -> WaitingReason:
    """The reason with how many of its pods its change places together, or each group with that of its own.

    Beside others with changes, a group that is too large for every node has what helps instead.
    """
    if reason.changes:
        effect = _effect(simulation, reason.groups, changes, until)
        return reason if effect is None else reason.with_phrases(effect=effect)
    effects = [_effect(simulation, [group], changes, until) for group in reason.groups]
    # The advice about all groups is left out if some have changes.
    if any(group.changes for group in reason.groups):
        effects = [
            _LARGER if not group.changes and is_too_large(group) else effect for group, effect in zip(reason.groups, effects, strict=True)
        ]
    if not any(effects):
        return reason
    groups_ = (group if effect is None else group.with_phrases(effect=effect) for group, effect in zip(reason.groups, effects, strict=True))
    return msgspec.structs.replace(reason, groups=tuple(groups_))


def _effect(simulation: Simulation, members: Sequence[PendingGroup], changes: dict[str, tuple[Change, ...]], until: float) -> Phrase | None:
    """How many of the pods of groups their changes place together; None if a group has none."""
    if not all(group.pods[0] in changes for group in members):
        return None
    keys = ((key, changes[group.pods[0]]) for group in members for key in group.pods)
    return phrase_of_placed(simulation, [PodAndChanges(find_pod(simulation, key), found) for key, found in keys], until)
