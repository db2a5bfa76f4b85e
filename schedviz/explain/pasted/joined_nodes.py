"""`joined_nodes`: that nodes have joined since an autoscaler added them for a pod, and why the pod still cannot use them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from schedviz.engine.framework.plugins import names
from schedviz.explain.autoscalers.scale_up import nominated_claim, what_was_added, when
from schedviz.explain.explanation import Clause
from schedviz.explain.messages.main_reason import is_of_volume
from schedviz.explain.messages.parsed_message import ParsedMessage
from schedviz.explain.messages.reasons import meaning_of
from schedviz.trace.phrase import Phrase, counted, phrase

#: The taints of nodes that cannot run pods, or not for long.
_BROKEN_TAINT: Final = re.compile(r"node\.kubernetes\.io/(?:memory-pressure|disk-pressure|pid-pressure|not-ready|unreachable)")
#: A reason that names no taint, and the taints of nodes that have not started yet.
_NAMELESS_TAINT: Final = re.compile(r"node\(s\) had (?:taints that the pod didn't tolerate|untolerated taint\(s\))")
_STARTING_TAINT: Final = re.compile(
    r"\{(?:node\.kubernetes\.io/(?:not-ready|network-unavailable)|node\.cloudprovider\.kubernetes\.io/uninitialized)"
)
_OF_TAINT: Final = phrase(
    "Look at the taints of the new node, which is the last one in `kubectl get nodes --sort-by=.metadata.creationTimestamp`: run `kubectl "
    "describe node` with its name. If it is not ready yet, wait: such a taint goes away by itself. A taint that the node group sets needs "
    "a toleration in the pod"
)
_OF_VOLUME: Final = phrase(
    "Compare the zone of the volume, which `kubectl describe pv` shows under `Node Affinity`, with the zone of the new node, which is the "
    "last one in `kubectl get nodes -L topology.kubernetes.io/zone --sort-by=.metadata.creationTimestamp`"
)


class Joined(NamedTuple):
    """What to read first, and the clause that is about the nodes that have joined; None: they are gone."""

    sentence: Phrase
    advice: Phrase | None
    clause: Clause | None


class _Said(Protocol):
    @property
    def at(self) -> str: ...
    @property
    def text(self) -> str: ...


def lost_nodes(said: _Said, earlier: Sequence[_Said], messages: Sequence[ParsedMessage], age: Callable[[str], float]) -> Joined | None:
    """That a broken node is gone since Karpenter nominated two NodeClaims one after the other; None if the messages do not show it.

    `earlier`: other messages of the autoscaler. `messages`: as in `joined_nodes`.
    """
    claim = nominated_claim(said.text)
    oldest = max((each for each in earlier if age(said.at) < age(each.at) < float("inf")), key=lambda each: age(each.at), default=None)
    before = nominated_claim(oldest.text) if oldest is not None else None
    if claim is None or before is None or before == claim or len(messages) < 2:
        return None
    now, then = messages[:2]
    counts, others = (Counter({clause.reason: clause.count for clause in each.message.clauses}) for each in (now, then))
    fewer = others - counts
    if len(fewer) != 1 or counts - others or fewer.total() != then.message.nodes - now.message.nodes or not now.message.nodes:
        return None
    taint = _BROKEN_TAINT.search(next(iter(fewer)))
    if taint is None:
        return None
    sentence = phrase(
        "Karpenter nominated {first} and then {next}, and the pod is still pending: kube-scheduler no longer counts {nodes} that had the "
        "taint `{taint}` ({before} → {now}).",
        first=before.phrase,
        next=claim.phrase,
        nodes=counted(fewer.total(), "{count} node", "{count} nodes"),
        taint=taint[0],
        before=then.message.nodes,
        now=now.message.nodes,
    )
    values = {"resource": claim.resource, "name": claim.name}
    advice = phrase("Run `kubectl describe {resource} {name}`: its conditions and events show what is wrong with the new node", **values)
    if taint[0].endswith("/memory-pressure"):
        advice = phrase(
            "Run `kubectl describe {resource} {name}`. If the new node also reports memory pressure, use larger instance types, or reserve "
            "more memory for the system",
            **values,
        )
    return Joined(sentence, advice, None)


def joined_nodes(said: _Said, messages: Sequence[ParsedMessage], age: Callable[[str], float]) -> Joined | None:
    """By the scheduler's messages before and after an autoscaler's event; None if they do not show one reason of as many nodes as joined.

    `messages`: those of the scheduler, the newest first.
    """
    added = what_was_added(said.text)
    now = next((each for each in messages if age(each.at) < age(said.at)), None)
    before = next((each for each in messages if float("inf") > age(each.at) >= age(said.at)), None)
    if added is None or now is None or before is None or not 0 < before.message.nodes < now.message.nodes:
        return None
    joined = now.message.nodes - before.message.nodes
    counts, earlier = (Counter({clause.reason: clause.count for clause in each.message.clauses}) for each in (now, before))
    more = counts - earlier
    if len(more) != 1 or more.total() != joined or earlier - counts:
        return None
    clause = next(clause for clause in now.message.clauses if clause.reason in more)
    meaning = meaning_of(clause.reason)
    if meaning is None or not meaning.of_nodes[0]:
        return None
    sentence = phrase(
        "Since {added} {when}, {nodes} joined ({before} → {now}), but {reason}.",
        added=added,
        when=when(said.at),
        nodes=counted(joined, "{count} node has", "{count} nodes have"),
        before=before.message.nodes,
        now=now.message.nodes,
        reason=meaning.headline(joined, phrase("it") if joined == 1 else phrase("they")),
    )
    return Joined(sentence, _advice(clause), clause)


def _advice(clause: Clause) -> Phrase | None:
    """What to do about the nodes that joined."""
    if is_of_volume(clause):
        return _OF_VOLUME
    if clause.plugin == names.TAINT_TOLERATION and (_NAMELESS_TAINT.match(clause.reason) or _STARTING_TAINT.search(clause.reason)):
        return _OF_TAINT
    return clause.advice_to_say
