"""Changes to the scheduler's configuration: an extender's verb, an argument of a plugin, a plugin switched off or on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any, Final

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.config.default_plugins import DEFAULT_PLUGINS
from schedviz.engine.config.plugin_args import PodTopologySpreadArgs
from schedviz.engine.config.types import Extender
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.plugins import names
from schedviz.explain.changes.change import Change, Config, shell
from schedviz.explain.doctor.differences import KnownScheduler
from schedviz.explain.doctor.nominations import silent_extenders
from schedviz.explain.explanation import Explanation
from schedviz.explain.extenders import known_extenders
from schedviz.explain.victims import could_preempt
from schedviz.kube.core import Pod, PodStatus
from schedviz.trace.phrase import phrase

_ENFORCED: Final = "node(s) didn't match scheduler-enforced node affinity"


def changes_of_configuration(simulation: Simulation, dry_run: DryRun, explanation: Explanation) -> Iterator[Change]:
    """All single changes to the configuration that answer an objection of some node."""
    objections = {
        (objection.plugin, reason) for verdict in explanation.matrix for objection in verdict.objections for reason in objection.reasons
    }
    plugins = {plugin for plugin, _ in objections}
    profile = dry_run.framework.profile_name
    if (names.NODE_AFFINITY, _ENFORCED) in objections:
        yield _without_added_affinity(profile)
    if names.POD_TOPOLOGY_SPREAD in plugins and not dry_run.pod.pod.spec.topology_spread_constraints:
        yield from _soft_defaults(dry_run, profile)
    # Upstream's own plugins exist for a reason that remains without them.
    default_plugins = {plugin.name for plugin in DEFAULT_PLUGINS[simulation.release.version].multi_point.enabled}
    for entry in dry_run.framework.list_plugins().filter.enabled:
        if entry.name in plugins - default_plugins:
            yield _without_plugin(profile, entry.name)


def verbs_for_preemption(simulation: Simulation, explanation: Explanation) -> Iterator[Change]:
    """A preemptVerb for each extender that preemption does not call, if a pod is nominated forever."""
    if not explanation.for_ever:
        return
    extenders = known_extenders(simulation)
    for url in silent_extenders(KnownScheduler((), extenders)):
        extender = next(extender for extender in extenders if extender.url_prefix == url)
        yield Change(
            "plugin",
            phrase("configure a `preemptVerb` for the extender `{extender}`", extender=url),
            against=frozenset({url}),
            config=partial(_with_preempt_verb, extender=extender),
        )


def made_again(pod: Pod) -> Change:
    """The same pod without its status."""
    kubectl = shell("kubectl", "delete", "pod", "-n", pod.namespace, names=[pod.name])
    return Change("again", phrase("delete and recreate {pod}", pod=pod.key), kubectl, frozenset(), pod=_without_status)


def _without_status(pod: Pod) -> Pod:
    return msgspec.structs.replace(pod, status=PodStatus())


def preemption_turned_on(dry_run: DryRun, explanation: Explanation) -> Iterator[Change]:
    """DefaultPreemption, if it is off and could make room."""
    if not dry_run.framework.has_post_filter_plugins and any(
        could_preempt(dry_run.pod, room.highest_priority) for room in explanation.room
    ):
        profile = dry_run.framework.profile_name
        yield Change(
            "plugin",
            phrase("enable the plugin `{plugin}` in the profile `{profile}`", plugin=names.DEFAULT_PREEMPTION, profile=profile),
            against=frozenset({names.DEFAULT_PREEMPTION}),
            config=partial(_edited, profile=profile, edit=_enable_preemption),
        )


def _without_added_affinity(profile: str) -> Change:
    return Change(
        "plugin",
        phrase("remove `addedAffinity` from the arguments of `NodeAffinity` in the profile `{profile}`", profile=profile),
        against=frozenset({names.NODE_AFFINITY}),
        config=partial(_edited, profile=profile, edit=partial(_edit_args, plugin=names.NODE_AFFINITY, edit=_drop_required)),
    )


def _drop_required(args: Config) -> None:
    """Remove the required terms, and keep the preferred ones."""
    args.get("addedAffinity", {}).pop("requiredDuringSchedulingIgnoredDuringExecution", None)
    if not args.get("addedAffinity"):
        args.pop("addedAffinity", None)


def _soft_defaults(dry_run: DryRun, profile: str) -> Iterator[Change]:
    args = dry_run.framework.plugins.args(names.POD_TOPOLOGY_SPREAD)
    if not isinstance(args, PodTopologySpreadArgs):
        return
    for index, constraint in enumerate(args.default_constraints):
        if constraint.when_unsatisfiable == "DoNotSchedule":
            soften = partial(_soften, index=index)
            yield Change(
                "plugin",
                phrase(
                    (
                        "set `whenUnsatisfiable: ScheduleAnyway` in the default topology spread constraint for `{key}` in the profile "
                        "`{profile}`"
                    ),
                    key=constraint.topology_key,
                    profile=profile,
                ),
                against=frozenset({names.POD_TOPOLOGY_SPREAD}),
                config=partial(_edited, profile=profile, edit=partial(_edit_args, plugin=names.POD_TOPOLOGY_SPREAD, edit=soften)),
            )


def _soften(args: Config, *, index: int) -> None:
    args["defaultConstraints"][index]["whenUnsatisfiable"] = "ScheduleAnyway"
    args["defaultConstraints"][index].pop("minDomains", None)


def _without_plugin(profile: str, plugin: str) -> Change:
    return Change(
        "plugin",
        phrase("disable the plugin `{plugin}` in the profile `{profile}`", plugin=plugin, profile=profile),
        against=frozenset({plugin}),
        amount=0.5,
        config=partial(_edited, profile=profile, edit=partial(_disable, plugin=plugin)),
    )


def _disable(profile: Config, *, plugin: str) -> None:
    plugins = profile.setdefault("plugins", {})
    for point in plugins.values():
        point["enabled"] = [enabled for enabled in point.get("enabled") or [] if enabled.get("name") != plugin]


def _enable_preemption(profile: Config) -> None:
    point = profile.setdefault("plugins", {}).setdefault("postFilter", {})
    point["disabled"] = [
        disabled for disabled in point.get("disabled") or [] if disabled.get("name") not in ("*", names.DEFAULT_PREEMPTION)
    ]
    point["enabled"] = [*(point.get("enabled") or []), {"name": names.DEFAULT_PREEMPTION}]


def _with_preempt_verb(config: Config, *, extender: Extender) -> Config:
    changed = deepcopy(config)
    extenders: list[Config] = list(changed.get("extenders") or [])
    config_entry = next((entry for entry in extenders if entry.get("urlPrefix") == extender.url_prefix), None)
    if config_entry is None:
        # The extender is declared by `fakeExtenders` (docs/extenders.md), and the configuration does not contain it.
        config_entry = msgspec.to_builtins(extender)
        extenders.append(config_entry)
    config_entry["preemptVerb"] = "preempt"
    return {**changed, "extenders": extenders}


def _edited(config: Config, *, profile: str, edit: Callable[[Config], object]) -> Config:
    """A copy of a configuration with one profile changed."""
    changed = deepcopy(config)
    profiles: list[Config] = changed.get("profiles") or [{}]
    for edited in profiles:
        if edited.get("schedulerName", "default-scheduler") == profile:
            edit(edited)
    return {**changed, "profiles": profiles}


def _edit_args(profile: Config, *, plugin: str, edit: Callable[[Config], object]) -> None:
    for plugin_config in profile.get("pluginConfig") or []:
        args: Any = plugin_config.get("args")
        if plugin_config.get("name") == plugin and isinstance(args, dict):
            edit(args)
