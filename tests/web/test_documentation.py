"""The documentation as pages: everybody may read it, its links lead somewhere, and nothing in a file is HTML."""

from __future__ import annotations

import re

import pytest
import yaml
from django.test import Client

from schedviz.web.documentation import glossary, library
from schedviz.web.documentation.rendering import render, slug
from tests.conftest import ROOT

pytestmark = pytest.mark.django_db

PAGES = [name for names in library.SECTIONS.values() for name in names]


def nav_of_the_site() -> dict[str, list[str]]:
    text = (ROOT / "mkdocs.yml").read_text()
    nav = yaml.safe_load(text)["nav"]
    return {title: [page.removesuffix(".md") for page in pages] for part in nav for title, pages in part.items()}


def test_the_navigation_equals_that_of_the_documentation_site() -> None:
    site = nav_of_the_site()
    assert {title: list(names) for title, names in library.SECTIONS.items()} == {title: site[title] for title in library.SECTIONS}
    assert set(site) - set(library.SECTIONS) == {"Measurements", "Decisions"}


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_public_and_its_links_resolve(name: str) -> None:
    client = Client()
    address = "/docs/" if name == "index" else f"/docs/{name}/"
    page = client.get(address)
    assert page.status_code == 200
    html = page.content.decode()
    for target in set(re.findall(r'(?:href|src)="(/docs/[^"]*)"', html)):
        path, _, place = target.partition("#")
        response = client.get(path)
        assert response.status_code == 200, target
        if place:
            assert f'id="{place}"' in response.content.decode(), target


def test_an_unknown_page_is_404_and_no_path_leaves_the_folder() -> None:
    for address in (
        "/docs/nothing/",
        "/docs/../README/",
        "/docs/pictures/nothing.png",
        "/docs/pictures/../../pyproject.png",
        "/docs/%2e%2e/README/",
    ):
        assert Client().get(address).status_code == 404, address


def test_a_picture_of_the_documentation_is_served() -> None:
    response = Client().get("/docs/pictures/session.png")
    assert (response.status_code, response["Content-Type"]) == (200, "image/png")


def test_html_in_a_file_is_shown_as_text_and_headings_have_ids() -> None:
    page = render("# Title\n\n<script>alert(1)</script>\n\n## One `two` *three*\n\n[a](explain.md#cards) ![b](pictures/c.png)\n", "tour")
    assert page.title == "Title"
    assert "&lt;script&gt;" in page.body
    assert page.headings == (("one-two-three", "One two three"),)
    assert 'href="/docs/explain/#cards"' in page.body
    assert 'src="/docs/pictures/c.png"' in page.body
    assert slug("What-if: how many copies fit") == "what-if-how-many-copies-fit"


@pytest.mark.parametrize("address", ["/login/", "/nowhere/", "/docs/", "/docs/glossary/"])
def test_the_header_of_pages_without_scripts_has_lessons_documentation_and_glossary(address: str) -> None:
    html = Client().get(address).content.decode()
    header = html[html.index("<header") : html.index("</header>")]
    for target in ("/cases/", "/lessons/", "/docs/", "/docs/glossary/"):
        assert f'href="{target}"' in header


def test_a_page_in_chinese_says_that_the_documentation_is_in_english() -> None:
    assert "data-docs-language" not in Client().get("/docs/tour/").content.decode()
    chinese = Client(headers={"accept-language": "zh-CN"}).get("/docs/tour/").content.decode()
    assert "文档只有英文版" in chinese


def test_the_glossary_has_its_letters_in_order() -> None:
    for section in glossary.in_language("en"):
        letters = [term.letter for term in section.terms if term.letter]
        assert letters == sorted({term.name[0].upper() for term in section.terms if term.name[0].isalpha()}) or not letters


def test_the_glossary_is_in_the_language_of_the_page() -> None:
    english = Client().get("/docs/glossary/").content.decode()
    assert "the pods that can be tried now" in english
    assert "可立即尝试调度" not in english
    chinese = Client(headers={"accept-language": "zh-CN"}).get("/docs/glossary/").content.decode()
    assert "可立即尝试调度的 Pod" in chinese
    assert "the pods that can be tried now" not in chinese
