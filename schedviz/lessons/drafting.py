"""Creates a lesson's folder from the commands of a session. Its plan is complete and correct; its texts remain to be written.

Each stop claims the facts at that stop, and a comment in each text describes what happens. `schedviz lesson check` reports every stop
without a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
import yaml

from schedviz.lessons.expressions import NOTHING
from schedviz.lessons.lesson import Check, Lesson, Plan, Settings, Stop
from schedviz.lessons.player import play
from schedviz.lessons.reading import PLAN
from schedviz.trace.commands import AnyCommand
from schedviz.trace.releases import DEFAULT_RELEASE, ReleaseName

#: The possible claims about a stop. Those that changed since the previous stop are used.
_CLAIMS: Final = (
    "cycle.outcome",
    "cycle.node",
    "state.queue.activeQ[].pod",
    "state.queue.backoffQ[].pod",
    "state.queue.unschedulable[].pod",
    "sort(state.cache.assumedPods)",
    "sort(state.cache.list[].name)",
)

_COMMENTS: Final = {
    "en": {
        "title": "What is it called? What is it about, in a sentence?",
        "happens": "What happens here",
        "facts": "Three to five facts.",
    },
    "zh-CN": {
        "title": "这一课叫什么？用一句话说明这一课讲什么。",
        "happens": "这里发生了什么",
        "facts": "三到五条要点。",
    },
}


class DraftStop(msgspec.Struct, frozen=True):
    """A selected moment: the commands since the previous one."""

    id: str
    commands: list[AnyCommand]


def draft(
    name: str,
    objects: list[dict[str, Any]],
    settings: Settings,
    stops: Sequence[DraftStop],
    release: ReleaseName = DEFAULT_RELEASE,
) -> dict[str, str]:
    """The files of the lesson, by name. Raises `ExpressionError` or `ConfigurationError`."""
    plan = Plan(part="workflow", order=99, minutes=5, settings=settings, stops=[_with_all_checks(stop) for stop in stops], release=release)
    claimed = _with_claims(Lesson(name, plan, objects, {}))
    document: dict[str, Any] = {**msgspec.to_builtins(claimed), "cluster": objects}
    ordered = {key: document[key] for key in ("part", "order", "minutes", "release", "settings", "cluster", "stops") if document.get(key)}
    texts = {f"{language}.md": _text(comments, claimed) for language, comments in _COMMENTS.items()}
    return {PLAN: yaml.safe_dump(ordered, sort_keys=False, allow_unicode=True, width=120), **texts}


def _with_all_checks(stop: DraftStop) -> Stop:
    """The stop with all possible checks; playing it determines their values."""
    return Stop(id=stop.id, do=stop.commands, highlight=["pane/cache"], check=[Check(claim, None) for claim in _CLAIMS])


def _with_claims(lesson: Lesson) -> Plan:
    before: dict[str, Any] = {}
    stops: list[Stop] = []
    for state in play(lesson):
        values = {checked.claim.that: checked.found for checked in state.checks}
        changed = [Check(that, value) for that, value in values.items() if value is not None and before.get(that, ...) != value]
        same = [Check("length(state.cache.list)", len(values["sort(state.cache.list[].name)"] or []))]
        stops.append(msgspec.structs.replace(state.stop, check=changed or same))
        before = values
    return msgspec.structs.replace(lesson.plan, stops=stops)


def _text(comments: dict[str, str], plan: Plan) -> str:
    parts = [f"# {NOTHING}\n\n<!-- {comments['title']} -->"]
    parts += [f"## {stop.id}\n\n<!-- {comments['happens']}: {'; '.join(_happens(stop))} -->" for stop in plan.stops]
    parts.append(f"## Take home\n\n<!-- {comments['facts']} -->")
    return "\n\n".join(parts) + "\n"


def _happens(stop: Stop) -> Iterator[str]:
    for command in stop.do:
        members: dict[str, Any] = msgspec.to_builtins(command)
        of = members.get("object", {})
        about = (
            [of.get("kind", ""), of.get("metadata", {}).get("name", "")]
            if of
            else [str(members.get(key, "")) for key in ("node", "pod", "name")]
        )
        yield " ".join(part for part in (members["op"], *about) if part)
    for check in stop.check:
        yield f"{check.that} = {msgspec.json.encode(check.equals).decode()}"
