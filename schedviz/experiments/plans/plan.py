"""The members of a plan. docs/experiments.md describes them for users."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from schedviz.ingest.generate import GenerateSpec
from schedviz.kube.lines import ONE_LINE
from schedviz.trace.policies import Policies
from schedviz.trace.releases import ReleaseName

#: The value of the member `experiment`: the format's version.
FORMAT: Final = 1
MAX_TRIALS: Final = 10_000
MAX_SEEDS: Final = 1_000
#: For how long pods that back off are tried again, when nothing else is scheduled to happen.
BACKOFF_SECONDS: Final = 60.0
#: Values of all variants together. Each variant has a copy of what all share.
MAX_VALUES: Final = 1_000_000
#: Nodes that a variant can have, or add.
MAX_NODES: Final = 100_000
#: Copies of pods that a load can add.
MAX_COPIES: Final = 200_000
#: When the last pod of a workload can arrive: after 31 years of virtual time.
MAX_ARRIVAL_SECONDS: Final = 1e9
#: Characters of a variant's name; in a grid, the names of its values together.
MAX_VARIANT_NAME_LENGTH: Final = 1_000

Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=ONE_LINE)]
Count = Annotated[int, Meta(ge=0, le=MAX_NODES)]
Price = Annotated[float, Meta(ge=0, le=1e9)]
Seed = Annotated[int, Meta(ge=0, le=(1 << 53) - 1)]

INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
#: What a seed changes: which of tied nodes is selected, the order of the workload's pods, their drawn times, or the order of the nodes.
SeedVaries = Literal["ties", "order", "times", "nodes"]
#: `file.py:Name`, the file relative to the plan.
CodeName = Annotated[str, Meta(max_length=1000)]


class PlanPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    """Base class of the parts of a plan."""


class Base(PlanPart, frozen=True):
    """The cluster at the start of every trial. Exactly one of `files`, `generate` and `session` is set."""

    #: Paths relative to the plan: what `kubectl get … -o json` prints, or any other format of docs/readers.md.
    files: Annotated[list[Name], Meta(min_length=1, max_length=1000)] | None = None
    generate: GenerateSpec | None = None
    #: A session of the server, as of its newest event or as of `event`.
    session: Name | None = None
    event: Annotated[int, Meta(ge=0)] | None = None


class Arrivals(PlanPart, frozen=True):
    """When the workload's pods arrive. Exactly one of `rate` and `from`."""

    #: Pods per second of virtual time.
    rate: Annotated[float, Meta(gt=0, le=1e6)] | None = None
    #: `poisson`: exponential intervals between arrivals; `fixed`: equal ones.
    distribution: Literal["poisson", "fixed"] = "poisson"
    #: When the pods of the dump were created.
    source: Literal["creationTimestamps"] | None = msgspec.field(name="from", default=None)
    #: How many seconds of the dump are a second of virtual time.
    speed: Annotated[float, Meta(gt=0, le=1e9)] = 1.0


class Lifetimes(PlanPart, frozen=True):
    """How long the workload's pods run before they end. Exactly one of `mean` and `from`."""

    #: In seconds of virtual time.
    mean: Annotated[float, Meta(gt=0, le=1e8)] | None = None
    #: `uniform`: between 0 and twice the mean.
    distribution: Literal["exponential", "uniform", "fixed"] = "exponential"
    #: As long as finished pods of the same owner in the dump, or of the same kind of owner.
    source: Literal["finishedPods"] | None = msgspec.field(name="from", default=None)
    #: Kinds such as Job: only pods with such an owner end. All by default.
    owners: list[Name] = []


class Load(PlanPart, frozen=True):
    """How much of a resource the workload requests."""

    resource: Name
    #: Of the nodes' allocatable amount; 1.3: 130%.
    share: Annotated[float, Meta(gt=0, le=1000)]


class Workload(PlanPart, frozen=True):
    """The pods to schedule: the base's pending pods, and those of the other members."""

    #: Whether the workload includes the base's pending pods.
    pending: bool = True
    #: Files with pods, or a trace whose steps run before the pods are scheduled.
    files: Annotated[list[Name], Meta(min_length=1, max_length=1000)] | None = None
    #: The pods of a generated cluster; its nodes are not used.
    generate: GenerateSpec | None = None
    #: Whether the base's bound pods become pending again, except those of DaemonSets.
    unbind: bool = False
    #: None: all pods are there from the beginning.
    arrivals: Arrivals | None = None
    #: None: pods run until the end.
    lifetimes: Lifetimes | None = None
    #: Copies of randomly drawn pods of the workload follow it, or randomly drawn pods are left out, until it requests this much.
    load: Load | None = None
    #: The priority of all pods of the workload, instead of their own.
    priority: Annotated[int, Meta(ge=-(2**31), le=10**9)] | None = None

    @property
    def is_timed(self) -> bool:
        """Whether pods arrive or end in virtual time."""
        return self.arrivals is not None or self.lifetimes is not None


class AddedNodes(PlanPart, frozen=True):
    """Copies of a node."""

    like: Name
    count: Annotated[int, Meta(ge=1, le=MAX_NODES)] = 1


class NodesPatch(PlanPart, frozen=True):
    """Changes of the base's nodes, in the order of the members.

    Pods of a removed node are pending again and belong to the workload, except those of DaemonSets, which are removed with
    the node.
    """

    remove: list[Name] = []
    #: The number of nodes: the first ones are kept; if there are fewer, copies of them are added in turn.
    count: Count | None = None
    add: list[AddedNodes] = []
    #: Allocatable amounts that replace those of every node, such as `cpu: 16`.
    allocatable: dict[str, str | int] = {}

    @property
    def max_nodes(self) -> int:
        """The number of nodes that `count` and `add` ask for, at most."""
        return (self.count or 0) + sum(added.count for added in self.add)

    @property
    def changes_nodes(self) -> bool:
        """Whether any member is given."""
        return self != NodesPatch()


class Patch(PlanPart, frozen=True):
    """Differences of a scheduler and its nodes: of `common` from the release's defaults, of a variant from `common`."""

    release: ReleaseName | None = None
    feature_gates: dict[str, bool] = {}
    #: Merged into the KubeSchedulerConfiguration as in RFC 7396: null removes a member, and a list replaces a list.
    config: dict[str, Any] = {}
    #: Plugin -> weight of its scores, in every profile.
    weights: dict[Name, Annotated[int, Meta(ge=1, le=2**31 - 1)]] = {}
    #: Plugin -> whether it is enabled, in every profile. This also enables plugins that users install.
    plugins: dict[Name, bool] = {}
    #: Plugin -> members that are merged into its arguments.
    plugin_args: dict[Name, dict[str, Any]] = {}
    percentage_of_nodes_to_score: Annotated[int, Meta(ge=0, le=100)] | None = None
    policies: Policies | None = None
    #: Which of several nodes with the highest score is selected; None: by `seeds`.
    ties: Literal["first", "random"] | None = None
    nodes: NodesPatch = NodesPatch()


class NamedPatch(Patch, frozen=True, kw_only=True):
    """A variant, or a value of an axis of the grid."""

    name: Name
    #: A sentence, shown in the report.
    note: Annotated[str, Meta(max_length=2000)] = ""


class Limits(PlanPart, frozen=True):
    """When a trial ends, even if pods are still pending."""

    cycles: Annotated[int, Meta(ge=1, le=100_000_000)] | None = None
    #: In virtual time. None: pods that back off are tried again for `BACKOFF_SECONDS`; all pods arrive.
    seconds: Annotated[float, Meta(ge=0, le=1e8)] | None = None


class Prices(PlanPart, frozen=True):
    """What nodes cost per hour, in any currency."""

    #: Value of `label` -> price.
    per_hour: dict[str, Price] = {}
    label: Name = INSTANCE_TYPE
    #: Of nodes with another value, or without the label. None: such a node is an error.
    default: Price | None = None


class Code(PlanPart, frozen=True):
    """Python code next to the plan: plugins and measures that are not installed. It runs with the rights of the user, who must allow it."""

    #: Name in configurations -> the plugin's class.
    plugins: dict[Name, CodeName] = {}
    #: Name in plans -> what schedviz's decorator `measure` made of a function.
    measures: dict[Name, CodeName] = {}


class TunedAxis(PlanPart, frozen=True):
    """What a search may choose: one of `choices`, or a number from `from` to `to` for the member of a variant that `set` names."""

    choices: Annotated[list[NamedPatch], Meta(min_length=2, max_length=1000)] | None = None
    #: Such as `weights.NodeResourcesFit`, `percentageOfNodesToScore` or `pluginArgs.Mine.scale`.
    set: Name | None = None
    from_: int | float | None = msgspec.field(name="from", default=None)
    to: int | float | None = None
    #: Whole numbers have step 1 by default, others none.
    step: int | float | None = None
    #: Small numbers are as likely as large ones.
    log: bool = False


class Tune(PlanPart, frozen=True):
    """A search for the variant that makes a measure smallest or largest (`schedviz experiment tune`)."""

    space: Annotated[dict[Name, TunedAxis], Meta(min_length=1, max_length=100)]
    #: A measure or a part of one, such as `utilization.cpu`; one of the two.
    minimize: Name | None = None
    maximize: Name | None = None
    #: Such as `placed >= baseline`, `victims <= 3` or `placed >= 0.99 * baseline`.
    constraints: Annotated[list[Name], Meta(max_length=100)] = []
    #: Variants to try, each with all seeds of the plan.
    candidates: Annotated[int, Meta(ge=1, le=MAX_TRIALS)] = 30
    #: Candidates that are proposed at a time, before their results are known. They run at once.
    batch: Annotated[int, Meta(ge=1, le=100)] = 4
    #: Of the search.
    seed: Annotated[int, Meta(ge=0, le=2**32 - 1)] = 1


class Plan(PlanPart, frozen=True):
    """A whole plan."""

    experiment: Literal[1]
    base: Base
    name: Name = "experiment"
    #: The question that the experiment answers, shown in the report.
    question: Annotated[str, Meta(max_length=2000)] = ""
    workload: Workload = Workload()
    #: Differences from the release's defaults that all variants share.
    common: Patch = Patch()
    variants: list[NamedPatch] = []
    #: Axis -> its values. Every combination of one value of each axis is a variant.
    grid: dict[Name, Annotated[list[NamedPatch], Meta(min_length=1)]] = {}
    #: The seeds of each variant, or their number. Without seeds, each variant has one trial, and the first of tied nodes is selected.
    seeds: Annotated[int, Meta(ge=1, le=MAX_SEEDS)] | Annotated[list[Seed], Meta(min_length=1, max_length=MAX_SEEDS)] | None = None
    seed_varies: Annotated[tuple[SeedVaries, ...], Meta(min_length=1)] = ("ties", "order", "times")
    #: The variant with which the others are compared; the first one by default.
    baseline: Name | None = None
    #: Names of measures; all by default.
    measures: Annotated[list[Name], Meta(min_length=1)] | None = None
    limits: Limits = Limits()
    #: For the measures `cost` and `totalCost`, and the series of the cost.
    prices: Prices | None = None
    code: Code = Code()
    tune: Tune | None = None

    @property
    def all_seeds(self) -> list[int | None]:
        """The seeds of each variant; None: without one."""
        if self.seeds is None:
            return [None]
        return list(range(1, self.seeds + 1)) if isinstance(self.seeds, int) else list(self.seeds)
