"""The ASGI application: HTTP goes to Django, WebSockets go to the live sessions."""

from __future__ import annotations

import os

from channels.routing import ProtocolTypeRouter
from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")

_http = get_asgi_application()

# After Django is set up: these import models.
from schedviz.sessions import tracing  # noqa: E402
from schedviz.sessions.metrics import reporting  # noqa: E402
from schedviz.web.body_limit import BodyLimit  # noqa: E402
from schedviz.web.live.routing import sockets  # noqa: E402

reporting.begin("web")
if settings.TRACES:
    tracing.begin("web")
application = ProtocolTypeRouter({"http": BodyLimit(_http), "websocket": sockets})
