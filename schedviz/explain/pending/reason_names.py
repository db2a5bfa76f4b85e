"""Names the reason why a pod is pending: an overview collects groups of pods by it."""

from __future__ import annotations

from typing import Final

from schedviz.engine import Simulation
from schedviz.explain.explanation import Explanation
from schedviz.explain.messages.real_message import NODES, PODS, what_to_add
from schedviz.explain.messages.reasons import meaning_of
from schedviz.explain.pending.pending_group import QUOTED_NAME, said_clause
from schedviz.explain.queue_place import is_name_only
from schedviz.explain.why import find_pod
from schedviz.trace.phrase import Phrase, phrase

#: The reason of pods that the scheduler does not know.
UNKNOWN: Final = phrase("unknown to the scheduler")
#: Templates of reasons. `OF_CLAUSE` has the scheduler's own text; `JOINED` joins reasons that the same change answers.
NOT_EVALUATED: Final = "not evaluated: the files contain no {kind} objects"
OF_CLAUSE: Final = "{reason}"
JOINED: Final = "{first}; {next}"
OTHER_SCHEDULER: Final = "pending for another scheduler, {scheduler}"
TRIED_SOON: Final = "not tried yet: they fit on nodes now"


def reason_of(simulation: Simulation, explanation: Explanation) -> Phrase:
    if explanation.lacks not in ("", PODS, NODES):
        return phrase(NOT_EVALUATED, kind=explanation.lacks)
    match explanation.standing:
        case "gated" if is_name_only(explanation.queue):
            return phrase("only their names are known, from a SIGUSR2 dump")
        case "gated" if explanation.queue is not None and not explanation.queue.gated_by:
            return phrase("held back by {plugin}", plugin=explanation.queue.gating_plugin)
        case "gated":
            return phrase("held back by scheduling gates")
        case "ignored":
            pod = find_pod(simulation, explanation.pod)
            return phrase(OTHER_SCHEDULER, scheduler=pod.spec.scheduler_name)
        case "waiting":
            return phrase("their bindings are in progress")
        case "nominated":
            return phrase("nominated to a node")
    if explanation.group_holds_back:
        return phrase("their pod group is incomplete")
    if explanation.group and explanation.fits:
        return phrase("they fit on nodes one by one, but their pod group is scheduled as a whole")
    if explanation.fits:
        return phrase(TRIED_SOON)
    if explanation.main is not None:
        return Phrase(OF_CLAUSE, {"reason": QUOTED_NAME.sub('"…"', explanation.main.reason)})
    if (said := said_clause(explanation)) is not None:
        return Phrase(OF_CLAUSE, {"reason": QUOTED_NAME.sub('"…"', said.reason)})
    return phrase("every scheduling attempt fails with an error") if explanation.failed else phrase("not evaluated: there are no nodes")


def in_general(reason: Phrase) -> Phrase:
    """A reason of the scheduler in one plain sentence that is true for every pod; another reason as it is."""
    if reason.template == JOINED:
        return Phrase(JOINED, {name: in_general(part) for name, part in reason.values.items() if isinstance(part, Phrase)})
    if not is_quoted(reason):
        return reason
    meaning = meaning_of(reason.text)
    return reason if meaning is None else meaning.headline(0)


def is_quoted(reason: Phrase) -> bool:
    """Whether it is the scheduler's own text."""
    return reason.template in (OF_CLAUSE, JOINED)


def advice_of(explanation: Explanation) -> Phrase | None:
    """What to do about the explanation's reason."""
    if explanation.lacks not in ("", PODS, NODES):
        return phrase("add the output of `{command}`", command=what_to_add(explanation.lacks))
    if explanation.standing in ("gated", "nominated", "ignored"):
        return explanation.advice_phrase or as_phrase(explanation.advice)
    if explanation.group_holds_back:
        return None
    clause = explanation.main or said_clause(explanation)
    return None if clause is None else clause.advice_to_say


def as_phrase(text: str) -> Phrase | None:
    return Phrase(text, {}) if text else None
