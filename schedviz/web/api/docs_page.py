"""`/api/v1/docs/`: Swagger UI over the OpenAPI document, served from here alone, with no inline script: the policy forbids both others."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET


@require_GET
@ensure_csrf_cookie
def docs_page(request: HttpRequest) -> HttpResponse:
    """The page; who is logged in tries things out as who they are, others with a token."""
    return render(request, "web/api_docs.html")
