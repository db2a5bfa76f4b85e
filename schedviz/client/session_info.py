"""What the server last returned about a session."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from schedviz.client import display


class SessionInfo:
    """Read-only attributes of a session, as of the last `refresh()`."""

    def __init__(self, info: dict[str, Any]) -> None:
        #: The session in REST's form (docs/rest.md).
        self.info = info

    @property
    def id(self) -> str:
        """The ID."""
        return str(self.info["id"])

    @property
    def name(self) -> str:
        """The name."""
        return str(self.info["name"])

    @property
    def page(self) -> str:
        """The URL of its page."""
        return str(self.info["page"])

    @property
    def status(self) -> str:
        """`importing`, `ready`, `running`, `paused` or `failed`, as of the last `refresh`."""
        return str(self.info["status"])

    @property
    def release(self) -> str:
        """The simulated release of kube-scheduler, such as `v1.36`."""
        return str(self.info["release"])

    @property
    def feature_gates(self) -> dict[str, bool]:
        """The feature gates that differ from the release's defaults."""
        return dict(self.info["featureGates"])

    @property
    def last_command_at(self) -> datetime | None:
        """When the last command was accepted, as of the last `refresh`; None if there is none."""
        accepted_at = self.info.get("lastCommandAt")
        return None if accepted_at is None else datetime.fromisoformat(str(accepted_at))

    def __repr__(self) -> str:
        return display.line(type(self).__name__, self.info)

    def _repr_html_(self) -> str:
        return display.card(self.info)
