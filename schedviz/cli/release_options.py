"""The options `--release` and `--feature-gates`: which kube-scheduler a command simulates."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from schedviz.trace.releases import RELEASE_OF_FILES, RELEASES, not_simulated

if TYPE_CHECKING:
    from schedviz.engine import SimulationSettings
    from schedviz.ingest.trace_file import TraceFile

Command = TypeVar("Command", bound=Callable[..., Any])
_BOOLEANS = {"true": True, "false": False}


class ChosenRelease(NamedTuple):
    """What the options say; None: the option was not given, and the header of a trace or the default applies."""

    release: str | None = None
    feature_gates: dict[str, bool] | None = None

    def members(self) -> dict[str, Any]:
        """The chosen members of `SimulationSettings` and `TraceFile`."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    def body(self) -> dict[str, Any]:
        """The members of a JSON object, such as a request's or a trace's header."""
        named = {"release": self.release, "featureGates": self.feature_gates}
        return {name: value for name, value in named.items() if value is not None}

    def fields(self) -> dict[str, str]:
        """The fields of a form that creates a session."""
        return {name: value if isinstance(value, str) else json.dumps(value) for name, value in self.body().items()}

    def settings(self, settings: SimulationSettings) -> SimulationSettings:
        """The settings, with what was chosen."""
        import msgspec

        return msgspec.structs.replace(settings, **self.members())

    def trace(self, trace: TraceFile) -> TraceFile:
        """The trace, with what was chosen; its document, too."""
        import msgspec

        return msgspec.structs.replace(trace, **self.members(), document={**trace.document, **self.body()})


#: Neither option was given.
NO_CHOICE = ChosenRelease()


#: The defaults, as the help of `--release` names them.
BY_DEFAULT = RELEASES[0]
BY_TRACE = f"the release in the trace header, else {RELEASES[0]}"
BY_FILES = f"the release in the trace header, else the one that matches the kubelet versions in the dump, else {RELEASE_OF_FILES}"
BY_CLUSTER = f"the one that the cluster's version suggests, otherwise {RELEASES[0]}"
BY_SESSION = "that of the session"


def release_options(default: str) -> Callable[[Command], Command]:
    """Adds both options to a command, which gets them as `chosen`, a `ChosenRelease`. `default` is shown in the help."""
    return functools.partial(_with_release_options, default=default)


def _with_release_options(command: Command, *, default: str) -> Command:
    @click.option("--release", type=click.Choice(RELEASES), help=f"The simulated kube-scheduler. Default: {default}.")
    @click.option(
        "--feature-gates",
        metavar="NAME=true|false,...",
        callback=_parsed,
        help="Feature gates that differ from the release's defaults, in the format of kube-scheduler.",
    )
    @functools.wraps(command)
    def with_chosen(*args: Any, release: str | None, feature_gates: dict[str, bool] | None, **options: Any) -> Any:
        return command(*args, chosen=ChosenRelease(release, feature_gates), **options)

    return with_chosen  # type: ignore[return-value]  # click replaces it by a Command


def _parsed(_ctx: click.Context, _param: click.Parameter, text: str | None) -> dict[str, bool] | None:
    if text is None:
        return None
    gates = {}
    for pair in filter(None, text.split(",")):
        name, _, value = (part.strip() for part in pair.partition("="))
        if not name or value.lower() not in _BOOLEANS:
            raise click.BadParameter(f"{pair!r} is not a gate with its value, such as SchedulerAsyncPreemption=false.")
        gates[name] = _BOOLEANS[value.lower()]
    refused = not_simulated(gates)
    if refused is not None:
        raise click.BadParameter(refused[1])
    return gates
