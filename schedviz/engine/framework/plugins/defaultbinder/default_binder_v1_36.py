"""DefaultBinder of v1.36. Upstream: framework/plugins/defaultbinder/default_binder.go"""

from __future__ import annotations

from collections.abc import Sequence

from schedviz.engine.framework.plugins.defaultbinder.default_binder import DefaultBinder
from schedviz.engine.framework.types import RegisteredEvent


class DefaultBinderV136(DefaultBinder):
    def events_to_register(self) -> Sequence[RegisteredEvent]:
        """None: it rejects no pod."""
        return ()
