"""The data structures of a lesson."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from schedviz.lessons.texts import Text
from schedviz.trace.commands import AnyCommand
from schedviz.trace.controllers import ControllerSettings
from schedviz.trace.policies import Policies
from schedviz.trace.releases import DEFAULT_RELEASE, ReleaseName

#: The required languages of a lesson.
LANGUAGES = ("en", "zh-CN")

#: The parts of the course, in order.
Part = Literal["workflow", "cache", "snapshot", "queue", "statuses", "scoring", "preemption", "history", "incident", "newer"]

Name = Annotated[str, Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Expression = Annotated[str, Meta(min_length=1, max_length=500)]
#: Targets that the page can point at: `pane/cache`, `node/node-a`, `pod/default/web`, `queue/activeQ`, `stage/Filter`,
#: `plugin/NodeResourcesFit`.
Highlight = Annotated[str, Meta(pattern=r"^(pane|node|pod|queue|stage|plugin)/.+$", max_length=200)]


class Described(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    """Base class of the parts of `lesson.yaml`."""


class Symbol(Described, frozen=True):
    """A position in upstream's source, below `pkg/scheduler` of the lesson's release."""

    file: str
    symbol: str


class Question(Described, frozen=True):
    """A question before the commands of `reveal`. The answer is an expression over the state after them."""

    ask: Literal["choice", "number", "node", "nodes", "pod"]
    answer: Expression
    #: For a multiple choice: the options. Their wording is in the texts.
    options: list[str] = []


class Check(Described, frozen=True):
    """A claim: at the end of its stop, the expression `that` equals `is`."""

    that: Expression
    equals: Any = msgspec.field(name="is")


class LiveHint(Described, frozen=True):
    """A hint that is shown at a stop while `when` is true for the engine, on the path or off it. Its wording is in the texts.

    `after`: commands of the learner after arrival that make it true. Without them, it is true on arrival or at the end of the stop.
    """

    id: Name
    when: Expression
    after: list[AnyCommand] = []


class Stop(Described, frozen=True):
    """A stop on the path: the commands before it, the question, and the commands after the answer."""

    id: Name
    do: list[AnyCommand] = []
    highlight: list[Highlight] = []
    #: Named expressions for the texts, where they are written as `{name}`.
    facts: dict[Name, Expression] = {}
    question: Question | None = None
    hints: list[LiveHint] = []
    reveal: list[AnyCommand] = []
    check: list[Check] = []


class Settings(Described, frozen=True):
    """Members of the engine's settings."""

    config: dict[str, Any] | None = None
    assumed_pod_ttl_seconds: float = 0
    pod_max_in_unschedulable_seconds: float = 300
    graceful_victims: bool = False
    fake_extenders: list[dict[str, Any]] = []
    helpers: ControllerSettings = ControllerSettings()
    policies: Policies = Policies()
    #: Feature gates that differ from the defaults of v1.36.
    feature_gates: dict[str, bool] = {}
    #: v1.36: an asynchronous preemption deletes its victims only at a `preempt` command.
    hold_preemption: bool = False


class Plan(Described, frozen=True):
    """`lesson.yaml`."""

    part: Part
    #: The position in its part.
    order: Annotated[int, Meta(ge=1, le=99)]
    minutes: Annotated[int, Meta(ge=3, le=10)]
    stops: Annotated[list[Stop], Meta(min_length=1, max_length=30)]
    #: The release of kube-scheduler that the lesson teaches.
    release: ReleaseName = DEFAULT_RELEASE
    #: Another release, on which the same commands run too. Expressions read its state as `other`.
    compare_with: ReleaseName | None = None
    #: For each other release that the texts mention: the stops at which an answer or a check is different there.
    differences: dict[ReleaseName, list[Name]] = {}
    #: Kubernetes objects, or short forms (`shorthand.py`).
    cluster: list[dict[str, Any]] = []
    settings: Settings = Settings()
    upstream: list[Symbol] = []


class Lesson(msgspec.Struct, frozen=True):
    """A complete lesson: its plan, and its text in each language."""

    name: str
    plan: Plan
    #: Kubernetes objects.
    objects: list[dict[str, Any]]
    texts: dict[str, Text]
    #: A digest of the files, which identifies the lesson's version.
    version: str = ""

    @property
    def settings(self) -> dict[str, Any]:
        """The engine's settings in REST's form, without defaults."""
        settings: dict[str, Any] = msgspec.to_builtins(self.plan.settings)
        return settings if self.plan.release == DEFAULT_RELEASE else settings | {"release": self.plan.release}
