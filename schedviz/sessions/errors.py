"""What can go wrong with a session, each a sentence that can be shown to people."""

# The names say what happened and read as sentences where they are caught.
# ruff: noqa: N818

from __future__ import annotations


class SessionError(Exception):
    """Something that was asked of a session cannot be done. `code` is for programs, the message for people."""

    code = "session_error"


class CommandRefused(SessionError):
    """A command that is not accepted: something in it is wrong, and the message says where."""

    code = "invalid_command"


class KeyReused(SessionError):
    """An idempotency key that came again with another command."""

    code = "key_reused"


class HeadMoved(SessionError):
    """Something happened since whoever sends a command looked."""

    code = "changed"


class SessionGone(SessionError):
    """The session was deleted, or never was."""

    code = "not_found"


class SessionFailed(SessionError):
    """The session failed and takes no commands."""

    code = "session_failed"


class TooManyCommands(SessionError):
    """More commands wait for the engine than one session may have."""

    code = "too_many_commands"


class SourceRefused(SessionError):
    """What a session was to be made from cannot be used."""

    code = "invalid_source"


class SourceTooLarge(SourceRefused):
    """The source of a session has too many files or bytes. The message names the limit."""

    code = "too_large"


class Fenced(SessionError):
    """Another owner has taken the session: what this one did since its last commit is void."""

    code = "fenced"


class ReplayDiverged(SessionError):
    """Doing the stored commands again gave other events: the engine that wrote them was another version."""

    code = "replay_diverged"


class HistoryUnavailable(SessionError):
    """A moment that cannot be shown: it is in the future, or nothing stored leads there."""

    code = "history_unavailable"
