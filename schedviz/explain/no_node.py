"""`no_node` and `no_node_sentence`: that none of a cluster's nodes can run a pod."""

from __future__ import annotations

from schedviz.trace.phrase import Phrase, phrase


def no_node(count: int) -> Phrase:
    """That none of `count` nodes can run the pod, as a part of a sentence."""
    if count == 1:
        return phrase("the cluster's only node cannot run the pod")
    if count == 2:
        return phrase("neither node can run the pod")
    return phrase("none of the {count} nodes can run the pod", count=count)


def no_node_sentence(count: int) -> Phrase:
    """The same at the beginning of a sentence, without a full stop."""
    if count == 1:
        return phrase("The cluster's only node cannot run the pod")
    if count == 2:
        return phrase("Neither node can run the pod")
    return phrase("None of the {count} nodes can run the pod", count=count)
