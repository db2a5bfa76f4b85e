"""Reads texts for `schedviz explain`: their messages, those about one pod, and those that the objects of the files do not explain."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from schedviz.cli.explanation_printing import named
from schedviz.cli.loading import STDIN, standard_input
from schedviz.terminal import say

if TYPE_CHECKING:
    from schedviz.engine import Simulation
    from schedviz.explain.messages.parsed_message import ParsedMessage
    from schedviz.explain.pasted.text_reading import TextReading
    from schedviz.ingest.load import Import
    from schedviz.kube.core import Pod

#: The longest text that is searched for messages, in characters or bytes.
_MAX_TEXT_BYTES: Final = 20_000_000


# --- Texts


def texts_in(paths: Sequence[Path]) -> list[str]:
    """The contents of text files, such as the output of `kubectl describe`. Says which are too long."""
    from schedviz.ingest.errors import IngestError
    from schedviz.ingest.files.source import Source
    from schedviz.ingest.files.whole_text import TextTooLongError, text_of

    texts: list[str] = []
    for path in paths:
        if path != STDIN and not path.is_file():
            continue
        source = standard_input() if path == STDIN else Source.of_path(path)
        try:
            texts.append(text_of(source, _MAX_TEXT_BYTES))
        except TextTooLongError:
            say(_too_long(source.name), err=True)
        except IngestError:
            # The import has named the reason.
            continue
    return texts


def text_of_standard_input() -> str:
    """The text. Raises `click.ClickException` if it is too long."""
    text = sys.stdin.read(_MAX_TEXT_BYTES + 1)
    if len(text) > _MAX_TEXT_BYTES:
        raise click.ClickException(_too_long("standard input"))
    return text


def _too_long(name: str) -> str:
    """That a text is too long, and what to keep of it."""
    return (
        f"{name}: the text has more than {_MAX_TEXT_BYTES:,} bytes. Keep only the scheduler's events: "
        "kubectl get events -A --field-selector reason=FailedScheduling -o json"
    )


def describing_command(texts: Sequence[str]) -> str:
    """The command whose output says why the first pending pod of a table waits; "": no text has such a table."""
    from schedviz.ingest.kubectl.tables import command_for
    from schedviz.ingest.pasted.plain_text import plain

    return next((command for text in texts if (command := command_for(plain(text)))), "")


def why_not_simulated(texts: Sequence[str]) -> str:
    """Why nothing is simulated: the input has no nodes, or descriptions of nodes that are cut."""
    from schedviz.ingest.kubectl.described_objects import described_nodes
    from schedviz.ingest.pasted.plain_text import plain

    nodes = list(dict.fromkeys(node.name for text in texts for node in described_nodes(plain(text))))
    if not nodes:
        return "the input contains no nodes"
    return f"the description of {nodes[0]} is incomplete" if len(nodes) == 1 else f"the descriptions of {named(nodes)} are incomplete"


# --- Readings


def reading_of_text(text: str, pods: Sequence[Pod] = ()) -> TextReading:
    """The messages in a text, and what else it says about their pods. `pods` as in `reading_of_texts`."""
    from schedviz.engine.framework.types import PodInfo
    from schedviz.explain.pasted.reader import read_text, with_only_pod
    from schedviz.ingest.pasted.contents import contents_of
    from schedviz.ingest.pasted.message_times import seconds_of_age

    contents = contents_of(text)
    found, facts = with_only_pod(contents.messages, contents.facts, [pod.key for pod in pods])
    described = {pod.key: PodInfo(pod) for pod in pods} | {key: PodInfo(pod) for key, pod in contents.pods.items()}
    return read_text(found, facts, described, seconds_of_age, contents.storage)


def reading_of_texts(texts: Sequence[str], pods: Sequence[Pod] = ()) -> TextReading:
    """The messages in texts. `pods`: those of the files' objects; if there is one, messages that name no pod are about it."""
    from schedviz.explain.pasted.text_reading import joined_readings

    return joined_readings([reading_of_text(text, pods) for text in texts])


def reading_about_pod(reading: TextReading, pod: str) -> TextReading:
    """The messages about a pod, which may lack its namespace; all if the texts name no pod. Raises `click.ClickException`."""
    import msgspec

    pods = list(dict.fromkeys(each.pod for each in reading.messages if each.pod))
    if not pods:
        return reading
    matching = matching_names(pods, pod)
    if len(matching) != 1:
        raise click.ClickException(f"The text contains no message about pod {pod}, only about {named(matching or pods)}.")
    return msgspec.structs.replace(reading, messages=tuple(each for each in reading.messages if each.pod == matching[0]))


def matching_names(names: Sequence[str], pod: str) -> list[str]:
    """Those of the names (`namespace/name`) that a user may mean by a pod's name, which may lack its namespace."""
    return [name for name in names if name in (pod, f"default/{pod}")] or [name for name in names if name.endswith(f"/{pod}")]


# --- Messages in files with objects


def reading_of_missing_pod(simulation: Simulation, imported: Import, paths: Sequence[Path], pod: str) -> TextReading | None:
    """The messages about a pod that the objects lack and one of the files describes; None if the objects have it, or no file does."""
    from schedviz.explain.why import the_pod

    cluster = simulation.cluster
    messages = dict.fromkeys(message.pod for message in imported.messages if message.pod)
    missing = [name for name in messages if cluster.find("Pod", name) is None]
    if not matching_names(missing, pod) or cluster.find("Pod", the_pod(simulation, pod)) is not None:
        return None
    reading = reading_about_pod(reading_of_texts(texts_in(paths)), pod)
    return reading if reading.messages else None


def reading_without_cluster(simulation: Simulation, paths: Sequence[Path]) -> TextReading | None:
    """The messages of files without pods, or of files without nodes whose pods have their messages elsewhere in the files.

    None: there are nodes and pods, no messages, or pods with their own. The volume in an issue and the manifest of a pod are such objects.
    """
    informers = simulation.scheduler.state.informers
    pods = list(informers.list("Pod"))
    if next(iter(informers.list("Node")), None) is not None:
        return None if pods else _reading_beside_objects(texts_in(paths))
    if any(condition.type == "PodScheduled" for pod in pods for condition in pod.status.conditions):
        return None
    known = [pod.key for pod in pods]
    reading = reading_of_texts(texts_in(paths), [pod for pod in pods if not pod.spec.node_name])
    is_told = not pods or any(each.pod not in known or not _is_untried(each) for each in reading.messages)
    return reading if reading.messages and is_told else None


def _reading_beside_objects(texts: Sequence[str]) -> TextReading | None:
    """The messages in texts, each read with the objects of the texts without messages; None if there are none."""
    without = [text for text in texts if not reading_of_text(text).messages]
    joined = ["\n---\n".join((text, *without)) for text in texts if text not in without]
    return reading_of_texts(joined) if joined else None


def _is_untried(message: ParsedMessage) -> bool:
    """Whether the message comes from the pod's object, which only shows that no scheduler has tried the pod."""
    from schedviz.explain.reason_tables.whole import POD_OBJECT

    return message.writer == POD_OBJECT
