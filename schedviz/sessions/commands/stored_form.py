"""The stored form of commands. Fields that the scheduler does not read, and credentials, are dropped before storage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from schedviz.kube import codec, object_names
from schedviz.kube.errors import DecodeError
from schedviz.kube.kinds import BY_NAME
from schedviz.kube.nesting import TOO_DEEP, is_nested_deeper
from schedviz.kube.validation_errors import describe
from schedviz.sessions.commands.limits import validate_config, validate_replicas, validate_terms
from schedviz.sessions.errors import CommandRefused
from schedviz.trace.commands import MAX_LENGTHS, Advance, AnyCommand, Configure, Create, Delete, Latency, Schedule, Update, Watch
from schedviz.trace.config_credentials import without_credentials

_KINDS = ", ".join(sorted(BY_NAME))


def canonical(command: AnyCommand) -> AnyCommand:
    """The command with its object decoded and encoded again. Raises `CommandRefused` with the path of the invalid field.

    Only errors that do not depend on the cluster's state are refused here; the others appear in the command's outcome.
    """
    match command:
        case Create() | Update() if is_nested_deeper(command.object):
            raise CommandRefused(TOO_DEEP, path="object")
        case Configure() if is_nested_deeper(command.config):
            raise CommandRefused(TOO_DEEP, path="config")
        case Create() | Update():
            return _with_canonical_object(command)
        case Schedule():
            return _with_canonical_writes(command)
        case Configure():
            with _within("config"):
                validate_config(command.config)
            return msgspec.structs.replace(command, config=without_credentials(command.config))
        case Delete() if command.kind not in BY_NAME:
            raise CommandRefused(f"the scheduler does not read the kind {command.kind[:63]!r}; it reads {_KINDS}", path="kind")
        case Latency() | Watch() if command.kind != "*" and not _is_watched(command.kind):
            watched = ", ".join(sorted(filter(_is_watched, BY_NAME)))
            raise CommandRefused(
                f"the scheduler does not watch the kind {command.kind[:63]!r}; it watches {watched} (* for all)", path="kind"
            )
        case Watch() if sum((command.drop is not None, command.disconnect, command.reconnect)) != 1:
            raise CommandRefused("watch needs exactly one of drop, disconnect and reconnect")
        case Advance() if (command.seconds is None) == (command.to is None):
            raise CommandRefused('expected either a number of seconds, or "to": "next"', path="seconds")
    return command


def validate_names(command: AnyCommand) -> None:
    """Check that new objects have names that the API server accepts, and that names in references are short, single-line strings.

    Raises `CommandRefused` with the path of the invalid name.
    """
    for member, most in MAX_LENGTHS.items():
        named = getattr(command, member, None)
        if isinstance(named, str) and not (len(named.encode()) <= most if member == "message" else object_names.is_possible(named, most)):
            expected = f"at most {most} bytes" if member == "message" else f"at most {most} bytes in one line, as for object names"
            raise CommandRefused(f"expected {expected}, found {describe(named)}", path=member)
    if isinstance(command, Schedule):
        for number, write in enumerate(command.during):
            with _within(f"during[{number}]"):
                validate_names(write)
    if isinstance(command, Create | Update):
        try:
            object_names.validate_names(codec.from_dict(command.object), is_new=isinstance(command, Create))
        except DecodeError as error:
            raise refused_object(error) from None


def refused_object(error: DecodeError) -> CommandRefused:
    """The refusal of a command because of its object."""
    return CommandRefused(error.message, path=error.path).inside("object")


def _is_watched(kind: str) -> bool:
    return kind in BY_NAME and BY_NAME[kind].watched


def _with_canonical_object(command: Create | Update) -> AnyCommand:
    try:
        stripped = codec.to_dict(codec.from_dict(command.object, strict=True))
    except DecodeError as error:
        raise refused_object(error) from None
    with _within("object"):
        validate_replicas(stripped)
        validate_terms(stripped)
    return msgspec.structs.replace(command, object=stripped)


def _with_canonical_writes(command: Schedule) -> Schedule:
    """The command with the writes that happen while it schedules a pod in their stored form."""
    writes: list[Create | Update | Delete] = []
    for number, write in enumerate(command.during):
        with _within(f"during[{number}]"):
            form = canonical(write)
            assert isinstance(form, Create | Update | Delete)
            writes.append(form)
    return msgspec.structs.replace(command, during=writes)


@contextmanager
def _within(path: str) -> Iterator[None]:
    """Put a path before that of a `CommandRefused`."""
    try:
        yield
    except CommandRefused as error:
        raise error.inside(path) from None
