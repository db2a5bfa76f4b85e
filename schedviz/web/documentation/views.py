"""The pages and files of the documentation. They contain no data of sessions and are public."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import mark_safe
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET

from schedviz.web.documentation import glossary, library
from schedviz.web.pages.shell import page as shell
from schedviz.web.pages.views import not_found
from schedviz.web.pages.words import language_of

_HOUR = 3600


@require_GET
def documentation_page(request: HttpRequest, name: str = "index") -> HttpResponse:
    """`/docs/<name>/`: one page, with the list of all pages."""
    page = library.page(name)
    if page is None:
        return not_found(request)
    if name == "glossary":
        return shell(
            request, "web/glossary.html", name=name, sections=library.sections(), glossary=glossary.in_language(language_of(request))
        )
    return shell(
        request,
        "web/documentation.html",
        page=page,
        name=name,
        sections=library.sections(),
        # From a renderer that takes HTML in the file as text.
        body=mark_safe(page.body),  # noqa: S308  # nosec B308 B703
    )


@require_GET
@cache_control(max_age=_HOUR, public=True)
def documentation_file(request: HttpRequest, name: str) -> HttpResponse:
    """`/docs/<name>`: a picture or another file of a page."""
    path = library.attachment(name)
    if path is None:
        return not_found(request)
    return HttpResponse(path.read_bytes(), content_type=library.MEDIA_TYPES[path.suffix])
