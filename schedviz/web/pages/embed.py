"""`/embed/<id>/<panel>/?link=`: a panel for an iframe of another site. Read-only, with a share link and without cookies."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from schedviz.sessions.models import Session
from schedviz.web.auth.actors import Verb
from schedviz.web.auth.permissions import holder_of, may
from schedviz.web.pages.assets import assets
from schedviz.web.pages.words import language_of, words_of

#: The panels of a session page, as they are named in addresses. The front end draws them.
PANELS: Final = ("api", "queue", "cycle", "cache", "loop")


@require_GET
@never_cache
def embedded_panel(request: HttpRequest, session_id: UUID, panel: str) -> HttpResponse:
    """The panel, for holders of a share link of the session, in frames of the sites of `SCHEDVIZ_EMBED_ORIGINS` only.

    The link stays in the address: the front end sends it with each request, so that nothing is stored in the browser. `?theme=dark` or
    `light`, `?at=` and `?select=` work as on the session page.
    """
    secret = request.GET.get("link", "")
    session = Session.objects.filter(pk=session_id).first()
    is_shown = panel in PANELS and session is not None and may(holder_of(secret), Verb.SEE, session)
    context = {
        "assets": assets(),
        "language": language_of(request),
        "words": words_of(request),
        "theme": request.GET.get("theme", ""),
        "csrf_token": "",  # The panel changes nothing, and a token would set a cookie.
    }
    if is_shown and session is not None:
        context |= {"session_id": str(session.pk), "session_name": session.name, "panel": panel, "embedded": True}
        response = render(request, "web/session.html", context)
    else:
        response = render(request, "web/not_embedded.html", context, status=404)
    response["Content-Security-Policy"] = policy(settings.EMBED_ORIGINS)
    if settings.EMBED_ORIGINS:
        # X-Frame-Options cannot list sites; the policy does. This is what Django's decorator of the same name sets.
        response.xframe_options_exempt = True
    response["Referrer-Policy"] = "no-referrer"  # The URL contains the share link.
    return response


def policy(origins: list[str]) -> str:
    """The content security policy of a page that these sites may show in a frame."""
    own: str = settings.CONTENT_SECURITY_POLICY
    return own.replace("frame-ancestors 'none'", f"frame-ancestors {' '.join(origins)}") if origins else own
