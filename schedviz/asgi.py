"""The ASGI application: HTTP requests go to Django, WebSockets to `schedviz.web.live`."""

from __future__ import annotations

import os
import sys

from channels.routing import ProtocolTypeRouter
from django import setup
from django.conf import settings
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")

setup(set_prefix=False)

# Imported after Django is set up, because these import models.
from schedviz.kube.gc_tuning import freeze_loaded_objects  # noqa: E402
from schedviz.kube.struct_infos import prepare_structs  # noqa: E402
from schedviz.sessions import tracing  # noqa: E402
from schedviz.sessions.metrics import process_reports  # noqa: E402
from schedviz.web.live.routing import sockets  # noqa: E402
from schedviz.web.server import server_log  # noqa: E402
from schedviz.web.server.asgi_handler import ThreadedHandler  # noqa: E402
from schedviz.web.server.body_limit import BodyLimit  # noqa: E402

# With the default of 5 ms, the event loop waits that long for each thread that computes, whenever it has work.
sys.setswitchinterval(0.0005)
server_log.adopt()
process_reports.start_reporting("web")
if settings.TRACES:
    tracing.start_exporting("web")
application = ProtocolTypeRouter({"http": BodyLimit(ThreadedHandler()), "websocket": sockets})
# Otherwise the first request loads the views.
get_resolver().url_patterns  # noqa: B018 -- a property that loads them.
prepare_structs()
freeze_loaded_objects()
