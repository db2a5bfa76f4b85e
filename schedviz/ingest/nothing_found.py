"""The reason why an import has nothing to import, and what to do instead."""

from __future__ import annotations

from typing import Final

from schedviz.ingest.errors import IngestError, UnreadableFile
from schedviz.ingest.file_contents import MergedFiles
from schedviz.ingest.pasted_text import MAX_TEXT_LENGTH
from schedviz.ingest.refusals import Refusals
from schedviz.ingest.report import Dropped

EXPECTED: Final = "Expected nodes and pods: the output of `kubectl get nodes,pods -A -o json`."
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
    it_has = "it has" if len(names) == 1 else f"the {len(names)} files have"
    if merged.messages or merged.has_nameless_messages:
        pods = len(merged.messages)
        owner = "a pod" if pods <= 1 else f"{pods} pods"
        left_out = (
            f"{it_has} messages of the scheduler about {owner}, and no objects{'; ' + left_out if left_out else ''}; to have them "
            f"explained, drop or paste them alone on the start page, at most {MAX_TEXT_LENGTH:,} characters "
            "(`kubectl get events -A --field-selector reason=FailedScheduling -o json` prints no others), or run `schedviz explain -f FILE`"
        )
    elif merged.has_config:
        left_out = f"it is the configuration of a scheduler, which goes with objects{'; ' + left_out if left_out else ''}"
    elif merged.logs:
        count = sum(log.records for log in merged.logs)
        left_out = (
            f"it is a log of kube-scheduler with {count:,} record{'' if count == 1 else 's'}, without a SIGUSR2 dump and without a pod "
            f"that did not fit; send SIGUSR2 to kube-scheduler and bring the log again{'; ' + left_out if left_out else ''}"
        )
    problems = why_without_objects.lines[:_MAX_LISTED] if why_without_objects is not None else ()
    why = f"{said}{f' ({left_out})' if left_out else ''}. {EXPECTED}"
    return UnreadableFile(why, *problems, *refused.lines(_MAX_LISTED))


def _left_out(drop: Dropped) -> str:
    if drop.kind == "File":
        return f"{drop.count} file{'' if drop.count == 1 else 's'}: {drop.reason}"
    return f"{drop.count} × {drop.kind}: {drop.reason}"
