"""`/api/v1/docs/`: Swagger UI over the OpenAPI document, served from here alone, with no inline script: the policy forbids both others."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt, ensure_csrf_cookie
from django.views.decorators.http import require_safe


@csrf_exempt
@require_safe
@ensure_csrf_cookie
def docs_page(request: HttpRequest) -> HttpResponse:
    """The page; who is logged in tries things out as who they are, others with a token."""
    return render(request, "web/api_docs.html")


@csrf_exempt
@require_safe
def to_schema(_request: HttpRequest) -> HttpResponse:
    """`/api/v1/`: the OpenAPI document."""
    return redirect("schema")
