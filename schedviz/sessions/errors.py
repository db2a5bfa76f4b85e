"""Exceptions about sessions. Each message can be shown to users."""

from __future__ import annotations

from uuid import UUID


class SessionError(Exception):
    """An operation on a session is not possible. `code` is for programs, the message for people."""

    code = "session_error"


class InvalidField(SessionError):
    """A field of a request is invalid.

    `path` is its position (`object.spec.replicas`); "": the request as a whole is. `message` leaves it out; the text of the error is
    `path: message`.
    """

    def __init__(self, message: str, *, path: str = "") -> None:
        self.message = message
        self.path = path
        super().__init__(f"{path}: {message}" if path else message)


class CommandRefused(InvalidField):
    """A command was refused."""

    code = "invalid_command"

    def inside(self, prefix: str) -> CommandRefused:
        """The same refusal of what is at `prefix` of a larger document."""
        return CommandRefused(self.message, path=f"{prefix}.{self.path}" if self.path else prefix)


class KeyReused(InvalidField):
    """An idempotency key was used again with a different command."""

    code = "key_reused"


class HeadMoved(SessionError):
    """The session advanced after the client last read it."""

    code = "changed"


class SessionGone(SessionError):
    """The session was deleted or never existed."""

    code = "not_found"


class SessionFailed(SessionError):
    """The session failed and accepts no commands."""

    code = "session_failed"


class TooManyCommands(SessionError):
    """The session's inbox is full."""

    code = "too_many_commands"


class SourceRefused(SessionError):
    """The source of a new session cannot be used."""

    code = "invalid_source"


class SourceTooLarge(SourceRefused):
    """The source of a session has too many files or bytes. The message names the limit."""

    code = "too_large"


class Fenced(SessionError):
    """Another owner has taken the session, or it was deleted, so nothing that this owner did since its last commit is stored."""

    code = "fenced"

    def __init__(self, session_id: UUID) -> None:
        super().__init__(f"Another owner has taken session {session_id}, or it was deleted.")


class ReplayDiverged(SessionError):
    """Replaying the stored commands produced other events: a different engine version wrote them."""

    code = "replay_diverged"


class HistoryUnavailable(SessionError):
    """A moment that cannot be shown: it is in the future, or no stored state leads to it."""

    code = "history_unavailable"


class NotExportable(SessionError):
    """The session cannot be exported in its present state, or not in this form. The message says why."""

    code = "not_exportable"
