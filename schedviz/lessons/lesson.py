"""The parts of a lesson."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from schedviz.lessons.texts import Text
from schedviz.trace.commands import AnyCommand
from schedviz.trace.controllers import HelperSettings
from schedviz.trace.policies import Policies

#: The languages in which every lesson is told.
LANGUAGES = ("en", "zh-CN")

#: The parts of the course, in its order.
Part = Literal["workflow", "cache", "snapshot", "queue", "statuses", "scoring", "preemption", "history", "incident"]

Name = Annotated[str, Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Expression = Annotated[str, Meta(min_length=1, max_length=500)]
#: What the page points at: `pane/cache`, `node/node-a`, `pod/default/web`, `queue/activeQ`, `stage/Filter`, `plugin/NodeResourcesFit`.
Highlight = Annotated[str, Meta(pattern=r"^(pane|node|pod|queue|stage|plugin)/.+$", max_length=200)]


class Described(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    """A part of `lesson.yaml`."""


class Symbol(Described, frozen=True):
    """Where something is in upstream's source, below `pkg/scheduler` of v1.27.1."""

    file: str
    symbol: str


class Question(Described, frozen=True):
    """What is asked before `reveal` is done. The answer is an expression over what is so afterwards."""

    ask: Literal["choice", "number", "node", "nodes", "pod"]
    answer: Expression
    #: Of a choice: the answers to choose from. Their words are in the texts.
    options: list[str] = []


class Check(Described, frozen=True):
    """A claim: at the end of its stop the expression `that` is `is`."""

    that: Expression
    equals: Any = msgspec.field(name="is")


class LiveHint(Described, frozen=True):
    """What is said at a stop while `when` is true of the engine as it is, on the path or off it. Its words are in the texts.

    `after`: what somebody may do on arrival that makes it so; without, it is so on arrival or at the end of the stop.
    """

    id: Name
    when: Expression
    after: list[AnyCommand] = []


class Stop(Described, frozen=True):
    """One place on the path: what is done to get there, what is asked, what is done once the answer is given."""

    id: Name
    do: list[AnyCommand] = []
    highlight: list[Highlight] = []
    #: Names for expressions, to be used in the texts as `{name}`.
    facts: dict[Name, Expression] = {}
    question: Question | None = None
    hints: list[LiveHint] = []
    reveal: list[AnyCommand] = []
    check: list[Check] = []


class Settings(Described, frozen=True):
    """How the engine of the lesson is made: members of the engine's settings."""

    config: dict[str, Any] | None = None
    assumed_pod_ttl_seconds: float = 0
    pod_max_in_unschedulable_seconds: float = 300
    graceful_victims: bool = False
    fake_extenders: list[dict[str, Any]] = []
    helpers: HelperSettings = HelperSettings()
    policies: Policies = Policies()


class Plan(Described, frozen=True):
    """`lesson.yaml`."""

    part: Part
    #: Its place in its part.
    order: Annotated[int, Meta(ge=1, le=99)]
    minutes: Annotated[int, Meta(ge=3, le=10)]
    stops: Annotated[list[Stop], Meta(min_length=1, max_length=30)]
    #: Objects in the words of Kubernetes, or short (`shorthand.py`).
    cluster: list[dict[str, Any]] = []
    settings: Settings = Settings()
    upstream: list[Symbol] = []


class Lesson(msgspec.Struct, frozen=True):
    """A lesson, whole: its plan, and its text in each language that it has."""

    name: str
    plan: Plan
    #: Objects as Kubernetes writes them.
    objects: list[dict[str, Any]]
    texts: dict[str, Text]
    #: Tells whether it is the same lesson still: a digest of its files.
    version: str = ""

    @property
    def settings(self) -> dict[str, Any]:
        """The engine's settings as REST takes them; those that differ from the default alone."""
        written: dict[str, Any] = msgspec.to_builtins(self.plan.settings)
        return written
