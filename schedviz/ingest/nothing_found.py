"""The reason why an import has nothing to import, and what to do instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schedviz.ingest.errors import BadObjects, IngestError, NoObjects, UnreadableFile
from schedviz.ingest.file_contents import MergedFiles
from schedviz.ingest.refusals import Refusals
from schedviz.ingest.report import Dropped

#: The most useful input.
DUMP: Final = "kubectl get nodes,pods,pv,pvc,sc,events -A -o json"
EXPECTED: Final = f"Expected nodes and pods: the output of `{DUMP}`."
#: The most files and kinds that are listed.
_MAX_LISTED: Final = 5


def nothing_found(merged: MergedFiles, refused: Refusals, why_without_objects: IngestError | None) -> IngestError:
    """The reason why there is nothing to import. `why_without_objects`: why no object of a file with messages can be read."""
    if refused.count == 1 and refused.first and not merged.files:
        return refused.first
    if refused.count and not merged.files:
        return UnreadableFile(*refused.lines(_MAX_LISTED))
    dropped = merged.tally.dropped()
    left_out = "; ".join(_left_out(drop) for drop in dropped[:_MAX_LISTED])
    if len(dropped) > _MAX_LISTED:
        left_out += "; …"
    names = [file.name for file in merged.files]
    said = f"{names[0]}: it contains nothing to import" if len(names) == 1 else "There is nothing to import"
    if merged.messages or merged.has_nameless_messages:
        return UnreadableFile(*_only_messages(names, why_without_objects), *refused.lines(_MAX_LISTED))
    if merged.has_config:
        left_out = f"it is the configuration of a scheduler, which goes with objects{'; ' + left_out if left_out else ''}"
    elif merged.logs:
        count = sum(log.records for log in merged.logs)
        left_out = (
            f"it is a log of kube-scheduler with {count:,} record{'' if count == 1 else 's'}, without a SIGUSR2 dump and without a pod "
            f"that did not fit; send SIGUSR2 to kube-scheduler and bring the log again{'; ' + left_out if left_out else ''}"
        )
    why = f"{said}{f' ({left_out})' if left_out else ''}. {EXPECTED}"
    return UnreadableFile(why, *refused.lines(_MAX_LISTED))


def _only_messages(names: Sequence[str], why_without_objects: IngestError | None) -> tuple[str, ...]:
    """That files have messages alone, and where they are explained. What is wrong with objects is said only if the text has some."""
    where = f"{names[0]} contains" if len(names) == 1 else f"The {len(names)} files contain"
    # The command does not read the texts in an archive.
    each = " for each of them (unpack an archive first)" if len(names) > 1 else ""
    problems = why_without_objects.lines[:_MAX_LISTED] if _has_damaged_objects(why_without_objects) and why_without_objects else ()
    said = (
        f"{where} messages of the scheduler, but no Kubernetes objects. To read what the messages mean, paste them on the start page, or "
        f"run `schedviz explain -f FILE`{each}. To import a cluster, drop a dump: `{DUMP} > cluster.json`."
    )
    return said, *problems


def _has_damaged_objects(error: IngestError | None) -> bool:
    return isinstance(error, BadObjects) and not isinstance(error, NoObjects) and any(problem.path for problem in error.problems)


def _left_out(drop: Dropped) -> str:
    if drop.kind == "File":
        return f"{drop.count} file{'' if drop.count == 1 else 's'}: {drop.reason}"
    return f"{drop.count} × {drop.kind}: {drop.reason}"
