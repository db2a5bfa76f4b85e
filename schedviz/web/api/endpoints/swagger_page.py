"""`/api/v1/docs/`: Swagger UI for the OpenAPI document. Everything is served from this server and without inline scripts, as the content
security policy requires.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt, ensure_csrf_cookie
from django.views.decorators.http import require_safe


@csrf_exempt
@require_safe
@ensure_csrf_cookie
def docs_page(request: HttpRequest) -> HttpResponse:
    """The page. "Try it out" uses the login of the browser, or a token."""
    return render(request, "web/api_docs.html")


@csrf_exempt
@require_safe
def to_schema(_request: HttpRequest) -> HttpResponse:
    """`/api/v1/`: the OpenAPI document."""
    return redirect("schema")
