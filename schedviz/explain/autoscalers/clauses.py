"""`clauses_of_autoscaler`: the clauses of a message of Karpenter or of the cluster autoscaler."""

from __future__ import annotations

from schedviz.explain.autoscalers.daemon_set_pods import explained_daemon_set_pod
from schedviz.explain.autoscalers.failed_scale_up import explained_failure
from schedviz.explain.autoscalers.karpenter import clauses_of
from schedviz.explain.autoscalers.karpenter_objects import clause_of_object
from schedviz.explain.autoscalers.node_groups import clauses_of_groups
from schedviz.explain.autoscalers.scale_up import writer_and_headline
from schedviz.explain.explanation import Clause
from schedviz.explain.reason_tables.autoscalers import CLUSTER_AUTOSCALER
from schedviz.trace.phrase import Phrase


def clauses_of_autoscaler(message: str) -> tuple[Clause, ...]:
    """The clauses; empty for the text of something else."""
    if clauses := clauses_of_groups(message) or clauses_of(message):
        return clauses
    if (of_object := clause_of_object(message)) is not None:
        return (of_object,)
    if (coming := writer_and_headline(message)) is not None:
        writer, headline = coming
        return (_clause(message, writer, headline, None),)
    if (failure := explained_failure(message) or explained_daemon_set_pod(message)) is not None:
        return (_clause(message, CLUSTER_AUTOSCALER, *failure),)
    return ()


def _clause(message: str, writer: str, said: Phrase, advice: Phrase | None) -> Clause:
    return Clause(0, message, writer, "", ()).with_phrases(headline=said, advice=advice)
