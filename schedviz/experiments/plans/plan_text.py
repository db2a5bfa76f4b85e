"""Parses a plan and checks its form, with line numbers in errors; `validation` checks that it can run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.plan import FORMAT, Base, Plan, Workload
from schedviz.experiments.plans.trials import Trial, trials_of
from schedviz.experiments.plans.variants import Variant, expand
from schedviz.experiments.tuning.goal import validate_tuning
from schedviz.ingest.configuration.yaml_nodes import NotYamlError, YamlNodes, parse_yaml
from schedviz.kube.validation_errors import explain_validation_error

_MEMBERS = "experiment, base and variants"
_SOURCES = ("files", "generate", "session")
_UNSTORABLE = re.compile("[\\0\ud800-\udfff]")


class PlanText(msgspec.Struct, frozen=True):
    """A plan's text, and the decoded plan."""

    text: str
    plan: Plan
    variants: list[Variant]
    nodes: YamlNodes

    @property
    def trials(self) -> list[Trial]:
        """The trials, by number."""
        return trials_of(self.plan, self.variants)

    def located(self, error: PlanError) -> PlanError:
        """The error with the line numbers of its paths."""
        return _located(error, self.nodes)


def read_plan(path: Path) -> PlanText:
    """The plan in a file. Raises `PlanError`, `OSError`."""
    try:
        return parse_plan(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise PlanError.of("", f"it is not UTF-8: {error.reason} at byte {error.start}") from None


def parse_plan(text: str) -> PlanText:
    """The plan in a text. Raises `PlanError`, with every variant that is wrong."""
    try:
        nodes = parse_yaml(text, expected=_MEMBERS, aliases=False)
    except NotYamlError as error:
        raise PlanError.of("", str(error), line=error.line) from None
    _refuse_unstorable_text(nodes.document)
    plan = _decode(nodes)
    try:
        _check_base(plan.base)
        _check_workload(plan.workload)
        variants = expand(plan)
        if plan.tune is not None:
            validate_tuning(plan.tune)
    except PlanError as error:
        raise _located(error, nodes) from None
    return PlanText(text, plan, variants, nodes)


def _located(error: PlanError, nodes: YamlNodes) -> PlanError:
    return PlanError([msgspec.structs.replace(fault, line=fault.line or nodes.line_of(fault.path)) for fault in error.faults])


def _refuse_unstorable_text(value: Any) -> None:
    """Refuse U+0000 and lone surrogates, which an escape in YAML or JSON can produce and not every file or database can store."""
    if isinstance(value, str) and (found := _UNSTORABLE.search(value)) is not None:
        which = "U+0000" if found[0] == "\0" else "a lone surrogate, which is not a valid character"
        raise PlanError.of("", f"the text {value[:80]!a} contains {which}")
    for part in (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ():
        _refuse_unstorable_text(part)


def _decode(nodes: YamlNodes) -> Plan:
    document: dict[str, Any] = nodes.document
    if document.get("experiment") != FORMAT:
        message = f"expected `experiment: {FORMAT}`, the version of the format; found {document.get('experiment')!r}"
        raise PlanError.of("experiment", message, line=nodes.line_of("experiment"))
    try:
        return msgspec.convert(document, Plan)
    except msgspec.ValidationError as error:
        fault = explain_validation_error(error, document, Plan)
        raise PlanError.of(fault.path, fault.message, line=nodes.line_of(fault.path)) from None


def _check_base(base: Base) -> None:
    sources = [name for name in _SOURCES if getattr(base, name) is not None]
    if len(sources) != 1:
        found_sources = f"found {' and '.join(sources)}" if sources else "found none"
        raise PlanError.of("base", f"expected exactly one of {', '.join(_SOURCES)}; {found_sources}")
    if base.event is not None and base.session is None:
        raise PlanError.of("base.event", "allowed only together with session")


def _check_workload(workload: Workload) -> None:
    arrivals, lifetimes = workload.arrivals, workload.lifetimes
    if arrivals is not None:
        _check_one("workload.arrivals", {"rate": arrivals.rate, "from": arrivals.source})
    if lifetimes is not None:
        _check_one("workload.lifetimes", {"mean": lifetimes.mean, "from": lifetimes.source})


def _check_one(path: str, members: dict[str, object]) -> None:
    given = [name for name, value in members.items() if value is not None]
    if len(given) != 1:
        found = f"found {' and '.join(given)}" if given else "found neither"
        raise PlanError.of(path, f"expected exactly one of {' and '.join(members)}; {found}")
