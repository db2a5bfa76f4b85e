"""What a plugin decides: `Status`, and its codes.

Statuses are values. Plugins create theirs once and return the same object for every node that they reject for the same reason, so the
verdicts for many nodes are an array of small numbers (`verdicts.Verdicts`), and counting reasons means counting numbers.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Code(StrEnum):
    """The kind of a decision. Upstream: framework/interface.go Code"""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    WAIT = "Wait"
    SKIP = "Skip"
    #: v1.36: the pod has to wait for something outside the scheduler. Once that arrives, the pod is retried without backoff.
    PENDING = "Pending"


class StatusError(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error as a value: its message, and the missing object if the API server (or a lister) returned NotFound.

    Wrapping keeps the cause, as `%w` does upstream: the failure handler checks for a deleted node.
    """

    message: str
    not_found_kind: str = ""
    not_found_name: str = ""

    @property
    def is_not_found(self) -> bool:
        return bool(self.not_found_kind)

    def wrap(self, prefix: str) -> StatusError:
        """The error with `prefix: ` before its message."""
        return StatusError(f"{prefix}: {self.message}", self.not_found_kind, self.not_found_name)

    def __str__(self) -> str:
        return self.message


class Status(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a plugin: a code, reasons, the error if there is one, and the plugin that rejected the pod.

    The framework, not the plugin, sets `failed_plugin`. Upstream: framework/interface.go Status
    """

    code: Code = Code.SUCCESS
    own_reasons: tuple[str, ...] = ()
    error: StatusError | None = None
    failed_plugin: str = ""

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons, the error's message first. Upstream: framework/interface.go Status.Reasons"""
        if self.error is not None:
            return (self.error.message, *self.own_reasons)
        return self.own_reasons

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)

    @property
    def is_success(self) -> bool:
        return self.code is Code.SUCCESS

    @property
    def is_wait(self) -> bool:
        return self.code is Code.WAIT

    @property
    def is_skip(self) -> bool:
        return self.code is Code.SKIP

    @property
    def is_unschedulable(self) -> bool:
        """Unschedulable, whether or not preemption may help."""
        return self.code is Code.UNSCHEDULABLE or self.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE

    @property
    def is_rejected(self) -> bool:
        """Unschedulable, or Pending. Upstream: kube-scheduler/framework/interface.go Status.IsRejected"""
        return self.is_unschedulable or self.code is Code.PENDING

    def as_error(self) -> StatusError | None:
        """The status as an error; None for Success, Wait and Skip. Upstream: framework/interface.go Status.AsError"""
        if self.code in (Code.SUCCESS, Code.WAIT, Code.SKIP):
            return None
        return self.error if self.error is not None else StatusError(self.message)

    def with_failed_plugin(self, plugin: str) -> Status:
        return self if self.failed_plugin == plugin else msgspec.structs.replace(self, failed_plugin=plugin)

    def with_reason(self, reason: str) -> Status:
        """The status with one more reason at the end. Upstream: framework/interface.go Status.AppendReason"""
        return msgspec.structs.replace(self, own_reasons=(*self.own_reasons, reason))


#: The status of a plugin without objections (upstream: nil).
SUCCESS = Status()

#: The status of a PreFilter or PreScore plugin whose Filter or Score can be skipped, of a Bind plugin that leaves the pod to the next one,
#: and of a PreBindPreFlight plugin whose PreBind has nothing to do.
SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    """The pod does not fit, but may fit if other pods are removed."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """The pod does not fit, and preemption would not change it."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def as_status(error: StatusError | str | None) -> Status:
    """An Error status around an error; Success for None. Upstream: framework/interface.go AsStatus"""
    if error is None:
        return SUCCESS
    return Status(Code.ERROR, error=StatusError(error) if isinstance(error, str) else error)


def wrapped(prefix: str, status: Status) -> Status:
    """An Error status with the message `prefix: ` and the status' own. Upstream: fmt.Errorf("...: %w", status.AsError())"""
    error = status.as_error()
    # `%w` of a nil error, which a plugin causes by returning Wait or Skip where neither is allowed.
    return as_status(error.wrap(prefix) if error is not None else f"{prefix}: %!w(<nil>)")
