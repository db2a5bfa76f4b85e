"""Validates the arguments of plugins. Upstream: apis/config/validation/validation_pluginargs.go"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from schedviz.engine.config.durations import format_duration, parse_duration
from schedviz.engine.config.errors import GoDuration, Problem, forbidden, required
from schedviz.engine.config.plugin_args import (
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    ResourceSpec,
    UtilizationShapePoint,
    VolumeBindingArgs,
)
from schedviz.engine.config.rules import Rules
from schedviz.engine.features import Features
from schedviz.kube.affinity import TopologySpreadConstraint
from schedviz.kube.label_names import key_faults
from schedviz.kube.node_affinity import node_selector, preferred_scheduling_terms
from schedviz.kube.selectors import SelectorError

_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_MAX_SHAPE_SCORE = 10
_SECOND = 10**9


class ArgsValidation(msgspec.Struct, frozen=True):
    """Validates the arguments of plugins for one release."""

    rules: Rules
    features: Features

    def _invalid(self, path: str, value: object, detail: str) -> Problem:
        return self.rules.errors.invalid(path, value, detail)

    def _duplicate(self, path: str, value: object) -> Problem:
        return self.rules.errors.duplicate(path, value)

    def validate(self, path: str, args: Any) -> Iterator[Problem]:
        """Every problem of one plugin's arguments; arguments of unknown plugins are not validated."""
        match args:
            case DefaultPreemptionArgs():
                yield from self._default_preemption(path, args)
            case InterPodAffinityArgs():
                if not 0 <= args.hard_pod_affinity_weight <= 100:
                    yield self._invalid(f"{path}.hardPodAffinityWeight", args.hard_pod_affinity_weight, "not in valid range [0, 100]")
            case NodeAffinityArgs():
                yield from self._node_affinity(path, args)
            case NodeResourcesBalancedAllocationArgs():
                yield from self._balanced_allocation(path, args)
            case NodeResourcesFitArgs():
                yield from self._fit(path, args)
            case PodTopologySpreadArgs():
                yield from self._spread(path, args)
            case VolumeBindingArgs():
                yield from self._volume_binding(path, args)
            case DynamicResourcesArgs():
                yield from self._dynamic_resources(path, args)
            case _:
                return

    def _default_preemption(self, path: str, args: DefaultPreemptionArgs) -> Iterator[Problem]:
        percentage, absolute = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
        percentage_path, absolute_path = f"{path}.minCandidateNodesPercentage", f"{path}.minCandidateNodesAbsolute"
        if not 0 <= percentage <= 100:
            yield self._invalid(percentage_path, percentage, "not in valid range [0, 100]")
        if absolute < 0:
            yield self._invalid(absolute_path, absolute, "not in valid range [0, inf)")
        if percentage == 0 and absolute == 0:
            yield self._invalid(percentage_path, percentage, "cannot be zero at the same time as minCandidateNodesAbsolute")
            yield self._invalid(absolute_path, absolute, "cannot be zero at the same time as minCandidateNodesPercentage")

    def _balanced_allocation(self, path: str, args: NodeResourcesBalancedAllocationArgs) -> Iterator[Problem]:
        seen: set[str] = set()
        for index, resource in enumerate(args.resources):
            if resource.name in seen:
                yield self._duplicate(f"{path}.resources[{index}].name", resource.name)
            seen.add(resource.name)
            if resource.weight != 1:
                yield self._invalid(f"{path}.resources[{index}].weight", resource.weight, "must be 1")

    def _fit(self, path: str, args: NodeResourcesFitArgs) -> Iterator[Problem]:
        for index, resource in enumerate(args.ignored_resources):
            yield from self.name_problems(f"{path}.ignoredResources[{index}]", resource)
        for index, group in enumerate(args.ignored_resource_groups):
            group_path = f"{path}.ignoredResourceGroups[{index}]"
            if "/" in group:
                yield self._invalid(group_path, group, "resource group name can't contain '/'")
            yield from self.name_problems(group_path, group)
        strategy, strategy_path = args.scoring_strategy, f"{path}.scoringStrategy"
        if strategy.type not in _STRATEGIES:
            yield self.rules.errors.not_supported(f"{strategy_path}.type", strategy.type, _STRATEGIES)
        yield from self._resources(f"{strategy_path}.resources", strategy.resources)
        ratio, ratio_path = strategy.requested_to_capacity_ratio, f"{strategy_path}.requestedToCapacityRatio"
        if not self.rules.strategy_decides_ratio:
            if ratio is not None:
                yield from self._shape(f"{strategy_path}.shape", ratio.shape)
        elif strategy.type == "RequestedToCapacityRatio":
            if ratio is None:
                yield required(ratio_path, "must be specified when type is RequestedToCapacityRatio")
            else:
                yield from self._shape(f"{ratio_path}.shape", ratio.shape)
        elif ratio is not None:
            yield forbidden(ratio_path, "must be nil when type is not RequestedToCapacityRatio")

    def _resources(self, path: str, resources: Sequence[ResourceSpec]) -> Iterator[Problem]:
        for index, resource in enumerate(resources):
            if not 0 < resource.weight <= 100:
                detail = f"resource weight of {resource.name} not in valid range (0, 100]"
                yield self._invalid(f"{path}[{index}].weight", resource.weight, detail)

    def _shape(self, path: str, shape: Sequence[UtilizationShapePoint]) -> Iterator[Problem]:
        if not shape:
            yield required(path, "at least one point must be specified")
            return
        for index in range(1, len(shape)):
            if shape[index - 1].utilization >= shape[index].utilization:
                detail = self.rules.shape_unsorted
                yield self._invalid(f"{path}[{index}].utilization", shape[index].utilization, detail)
                break
        for index, point in enumerate(shape):
            if not 0 <= point.utilization <= 100:
                yield self._invalid(f"{path}[{index}].utilization", point.utilization, "not in valid range [0, 100]")
            if not 0 <= point.score <= _MAX_SHAPE_SCORE:
                yield self._invalid(f"{path}[{index}].score", point.score, f"not in valid range [0, {_MAX_SHAPE_SCORE}]")

    def _spread(self, path: str, args: PodTopologySpreadArgs) -> Iterator[Problem]:
        type_path = f"{path}.defaultingType"
        if args.defaulting_type not in ("System", "List"):
            yield self.rules.errors.not_supported(type_path, args.defaulting_type, ("System", "List"))
        elif args.defaulting_type == "System" and args.default_constraints:
            yield self._invalid(type_path, args.defaulting_type, "when .defaultConstraints are not empty")
        seen: set[tuple[str, str]] = set()
        for index, constraint in enumerate(args.default_constraints):
            constraint_path = f"{path}.defaultConstraints[{index}]"
            yield from self._constraint(constraint_path, constraint)
            key = (constraint.topology_key, constraint.when_unsatisfiable)
            if key in seen:
                yield self._duplicate(constraint_path, f"{{{key[0]}, {key[1]}}}")
            seen.add(key)

    def _constraint(self, path: str, constraint: TopologySpreadConstraint) -> Iterator[Problem]:
        if constraint.max_skew <= 0:
            yield self._invalid(f"{path}.maxSkew", constraint.max_skew, "not in valid range (0, inf)")
        if not constraint.topology_key:
            yield required(f"{path}.topologyKey", "can not be empty")
        else:
            yield from self.name_problems(f"{path}.topologyKey", constraint.topology_key)
        if not constraint.when_unsatisfiable:
            yield required(f"{path}.whenUnsatisfiable", "can not be empty")
        elif constraint.when_unsatisfiable not in _ACTIONS:
            yield self.rules.errors.not_supported(f"{path}.whenUnsatisfiable", constraint.when_unsatisfiable, _ACTIONS)
        if constraint.label_selector is not None:
            yield forbidden(f"{path}.labelSelector", "constraint must not define a selector, as they deduced for each pod")

    def _volume_binding(self, path: str, args: VolumeBindingArgs) -> Iterator[Problem]:
        if args.bind_timeout_seconds < 0:
            detail = "invalid BindTimeoutSeconds, should not be a negative value"
            yield self._invalid(f"{path}.bindTimeoutSeconds", args.bind_timeout_seconds, detail)
        if self.features.storage_capacity_scoring:
            yield from self._shape(f"{path}.shape", args.shape or ())
        elif args.shape is not None:
            detail = f"unexpected field `shape`, remove it or turn on the feature gate {self.rules.shape_gate}"
            yield self._invalid(f"{path}.shape", args.shape, detail)

    def _dynamic_resources(self, path: str, args: DynamicResourcesArgs) -> Iterator[Problem]:
        """Upstream: ValidateDynamicResourcesArgs"""
        features, filtering, binding = self.features, _duration(args.filter_timeout), _duration(args.binding_timeout)
        if not features.dra_scheduler_filter_timeout:
            if filtering is not None:
                yield forbidden(f"{path}.filterTimeout", "DRASchedulingFilterTimeout feature gate is disabled")
        elif filtering is not None and filtering < 0:
            yield self._invalid(f"{path}.filterTimeout", GoDuration(format_duration(filtering)), "must be zero or positive")
        if not features.waits_for_binding_conditions:
            if binding is not None:
                detail = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
                yield forbidden(f"{path}.bindingTimeout", detail)
        elif binding is not None and binding < _SECOND:
            yield self._invalid(f"{path}.bindingTimeout", GoDuration(format_duration(binding)), "must be at least 1 second")

    def _node_affinity(self, path: str, args: NodeAffinityArgs) -> Iterator[Problem]:
        affinity = args.added_affinity
        if affinity is None:
            return
        lists_operators = self.rules.lists_operators
        path = f"{path}.addedAffinity"
        if affinity.required is not None:
            required_path = f"{path}.requiredDuringSchedulingIgnoredDuringExecution"
            try:
                node_selector(affinity.required, path=required_path, lists_operators=lists_operators)
            except SelectorError as error:
                yield from map(_located, error.faults)
        preferred_path = f"{path}.preferredDuringSchedulingIgnoredDuringExecution"
        try:
            preferred_scheduling_terms(affinity.preferred, path=preferred_path, lists_operators=lists_operators)
        except SelectorError as error:
            yield from map(_located, error.faults)

    def name_problems(self, path: str, name: str) -> Iterator[Problem]:
        """Errors in a qualified name. Upstream: apimachinery util/validation IsQualifiedName"""
        for fault in key_faults(name):
            yield self._invalid(path, name, fault)


def _duration(text: str | None) -> int | None:
    """Nanoseconds."""
    return None if text is None else parse_duration(text)


def _located(fault: str) -> Problem:
    """A selector's error, which starts with its path, as a problem."""
    path, _, message = fault.partition(": ")
    return Problem(path, message)
